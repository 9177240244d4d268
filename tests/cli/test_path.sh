#!/bin/bash
# `inquest path` as a user meets it: real crashes, lists of predictors, orders, several stacks, what
# was recorded as a constraint, the ways it is shown, near misses, exit statuses.
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the repository).
# timeout: 600
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

inquest=${INQUEST_BUILD:?the build directory}/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
if [ ! -x "$cc" ] || ! command -v clang-19 >/dev/null || ! command -v python3 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
source=${INQUEST_SRC:?the repository}
work=$(mktemp -d "${TMPDIR:-/tmp}/test_path.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache

# bad TEXT COMMAND...: trouble, in one line (a second one tells where help is), and nothing else.
bad() {
    expect 2 "$@"
    shift
    [ "$("$@" 2>&1 >/dev/null </dev/null | wc -l)" -le 2 ] || fail "more than two lines: $*"
    [ -z "$("$@" 2>/dev/null </dev/null)" ] || fail "output in spite of trouble: $*"
}

# line FILE MARK: its number.
line() {
    grep -n "/\\* $2 \\*/" "$1" | cut -d: -f1
}

# list EXE WHERE=SCORE[=PREDICATE]... [-- WHERE=SCORE...]: a list of predictors, -- between clusters.
# Where a line is, the last step of a path that ends there tells.
list() {
    python3 - "$inquest" "$@" <<'END' || fail "no list of $*"
import json, subprocess, sys
inquest, exe = sys.argv[1:3]
clusters = [[]]
for word in sys.argv[3:]:
    if word == "--":
        clusters.append([])
        continue
    where, score, *words = word.split("=", 2)
    out = subprocess.run([inquest, "path", "--json", "--no-dataflow", "--end", where, exe],
                         capture_output=True, check=True, text=True).stdout
    step = json.loads(out)["steps"][-1]
    clusters[-1].append({"module": step["module"], "function_index": step["index"],
                         "node": step["node"], "function": step["function"],
                         "file": step["file"], "line": step["line"], "kind": "branch",
                         "predicate": words[0] if words else where, "importance": float(score)})
json.dump({"inquest": "0", "schema": "predictors/1", "build_id": "", "complete": True,
           "clusters": [{"cluster": i + 1, "failing": 1, "predictors": c}
                        for i, c in enumerate(clusters)]}, sys.stdout)
END
}

# value 'EXPRESSION' COMMAND...: the Python expression over the JSON document `d`.
value() {
    local expression=$1
    shift
    "$@" --json 2>&1 | python3 -c "
import json, sys
d = json.load(sys.stdin)
lines = [s['line'] for s in d['steps']]
functions = [s['function'] for s in d['steps']]
hit = [s['line'] for s in d['steps'] if 'predictor' in s]
print($expression)"
}

# is EXPECTED 'EXPRESSION' COMMAND...
is() {
    local expected=$1 got
    shift
    got=$(value "$@")
    [ "$got" = "$expected" ] || fail "$* gives '$got', not '$expected'"
}

# ---- A table that grows, and memory that is found to be broken later (the story of bc)

cat >arrays.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long *arrays;
static int count, variables, guard = 1;

static void *checked_malloc(size_t size)
{
    if (guard != 1)
        abort(); /* crash */
    return malloc(size); /* malloc */
}

static void more_arrays(void)
{
    long *old = arrays; /* old */
    int before = count;

    count += 4;
    arrays = checked_malloc(sizeof(*arrays) * count); /* new */
    if (before > 0) { /* if */
        memcpy(arrays, old, sizeof(*old) * before); /* copy */
        guard = 0; /* overrun */
    }
}

static void init_storage(void)
{
    more_arrays(); /* init */
}

static int lookup(int name)
{
    while (name >= count) /* while */
        more_arrays(); /* grow */
    return name;
}

static char *copy_of(const char *text)
{
    char *copy = checked_malloc(strlen(text) + 1); /* pending */

    return strcpy(copy, text);
}

static void parse(int n, char **words)
{
    for (int i = 0; i < n; i++) { /* each */
        if (words[i][0] == '@')
            lookup(atoi(words[i] + 1)); /* lookup */
        else
            variables += 10; /* variable */
        free(copy_of(words[i])); /* copied */
    }
}

int main(int argc, char **argv)
{
    init_storage(); /* storage */
    parse(argc - 1, argv + 1); /* parse */
    return 0; /* done */
}
END
"$cc" -g -O0 -o arrays arrays.c || exit 1
"$inquest" run -n --core core -- ./arrays x @5 y >/dev/null 2>&1
[ -s core ] || { echo "no core was written"; exit 1; }
at() { echo "arrays.c:$(line arrays.c "$1")"; }
stack() { "$inquest" path --use stack --no-dataflow arrays core "$@"; }

list arrays "$(at copy)=0.9=old_count > 0" >one.json
list arrays "$(at copy)=0.9=old_count > 0" "$(at grow)=0.5" >two.json

# The top predictor alone is touched on the way through init_storage(), which is shorter.
is "(0.9, False, [$(line arrays.c copy)])" "(d['score'], 'lookup' in functions, hit)" \
    stack --suspects one.json
# Not before the storage is there: then it is lookup() that leads to it.
is "(0.9, True)" "(d['score'], 'lookup' in functions)" \
    stack --suspects one.json --before "$(at parse)" "$(at copy)"
is "(0.9, True)" "(d['score'], 'lookup' in functions)" \
    stack --suspects one.json "--before=$(at parse)" "$(at copy)"
expect 0 "--before: first this" stack --suspects one.json --before "$(at parse)" "$(at copy)"
# With the second predictor it is so by itself.
is "(1.4, True)" "(d['score'], 'lookup' in functions)" stack --suspects two.json
is "(0.9, False)" "(d['score'], 'lookup' in functions)" stack --suspects two.json --first 1
# And with values: there is nothing to copy before the first call has come back.
for list in one two; do
    is "(True, True, True)" "(d['feasible'], 'lookup' in functions, \
functions.index('parse') < lines.index($(line arrays.c copy)))" \
        "$inquest" path --use stack arrays core --suspects $list.json
done
expect 0 "old_count > 0" stack --suspects two.json
expect 0 "touches 2 of 2 predictors" stack --suspects two.json
expect 0 "optimal" stack --suspects two.json
expect 0 "+ checked_malloc()" stack --suspects two.json

# The stack is at the end of it, and steps are as many as it says.
is "True" "d['length'] == len(d['steps']) and functions[0] == 'main' and \
[s['function'] for s in d['steps'] if s.get('pending')] == ['main', 'parse', 'copy_of'] and \
lines[-1] == $(line arrays.c crash)" stack --suspects two.json
is "(True, True, None, 'path/1')" "(d['optimal'], d['complete'], d['feasible'], d['schema'])" \
    stack --suspects two.json

# Without the stack, where it ends is kept, and what is called before.
is "(1.4, True, $(line arrays.c crash))" "(d['score'], 'lookup' in functions, lines[-1])" \
    stack --suspects two.json --no-stack

# Both methods and both kinds of weights.
for method in forward backward; do
    for weights in sets diagrams; do
        is "$(value "(d['score'], d['length'])" stack --suspects two.json)" \
            "(d['score'], d['length'])" stack --suspects two.json --method $method --weights $weights
    done
done

# Places that are named; scores below 0 are kept out where that costs nothing, --avoid always.
is "(3.0, [$(line arrays.c grow)])" "(d['score'], hit)" stack --critical "$(at grow)=3"
is "(1.0, True)" "(d['score'], 'lookup' in functions)" stack --critical 'lookup()'
is "(0.0, False)" "(d['score'], 'lookup' in functions)" stack --critical lookup=-1
is "(-2.0, True)" "(d['score'], 'init_storage' in functions)" stack --critical init_storage=-2
is "(0.9, False)" "(d['score'], 'lookup' in functions)" stack --suspects two.json --avoid lookup
is "(0.9, False)" "(d['score'], $(line arrays.c grow) in lines)" \
    stack --suspects two.json --avoid "$(at grow)"
expect 1 "there is no such path" stack --avoid init_storage
is "(None, [], True)" "(d['score'], d['steps'], d['complete'])" stack --avoid main

# A step that costs more than a predictor brings.
is "False" "'lookup' in functions" stack --suspects two.json --per-step 1
is "True" "'lookup' in functions" stack --suspects two.json --per-step 0.001

# The best three: none is as another.
is "(3, True, True)" "(len(d['paths']), \
[p['score'] for p in d['paths']] == sorted((p['score'] for p in d['paths']), reverse=True), \
len({json.dumps(p['steps']) for p in d['paths']}) == 3)" stack --suspects two.json --top 3
expect 0 "2 of 3: " stack --suspects two.json --top 3

# Clusters: the same path is probably the same bug.
list arrays "$(at copy)=0.9" "$(at grow)=0.5" -- "$(at while)=0.4" "$(at copy)=0.3" \
    "$(at grow)=0.1" -- "$(at variable)=0.2" >three.json
expect 0 "cluster 2: score 0.8" stack --suspects three.json
expect 0 "the same path, so probably the same bug" stack --suspects three.json
expect 0 "cluster 3: score 0.2" stack --suspects three.json
is "[None, 1, None]" "[c['same_as'] for c in d['clusters']]" stack --suspects three.json
is "(0.2, [])" "(d['score'], d['clusters'])" stack --suspects three.json --cluster 3
is "(2.4, 6)" "(round(d['score'], 6), d['predictors'])" stack --suspects three.json --cluster all
is "(1.6, 3)" "(round(d['score'], 6), d['predictors'])" \
    stack --suspects three.json --cluster 1 --cluster 3
is "1.4" "round(d['score'], 6)" stack --suspects three.json --cluster 1 --cluster 3 --separate
# Several predictors on one node add up.
is "(1.8, 2)" "(d['score'], d['touched'])" \
    stack --suspects one.json --suspects one.json --cluster 1

# A graph of calls, in order.
stack --suspects two.json --dot calls.dot >/dev/null
for text in 'label="main", style=bold' 'label="lookup' 'style=dashed' 'old_count'; do
    grep -qF -- "$text" calls.dot || fail "the graph lacks $text"
done
[ "$(stack --suspects two.json --dot - | head -1)" = "digraph path {" ] || fail "--dot -"
[ -z "$(stack --suspects two.json --quiet)" ] || fail "--quiet prints"
expect 0 "return malloc(size);" stack --full

# ---- Evidence

# All that was recorded constrains it: every call that was made is visited.
recorded() { "$inquest" path --no-dataflow arrays core "$@"; }
is "True" "{'more_arrays', 'lookup', 'copy_of'} <= set(functions) and \
$(line arrays.c variable) in lines" recorded
is "(0.9, True, True)" "(d['score'], 'lookup' in functions, d['shortest'] and d['optimal'])" \
    recorded --suspects one.json
# A call that was not made is not on it.
"$inquest" run -n --core early -- ./arrays x y >/dev/null 2>&1
[ ! -s early ] || fail "it failed without growing"
# What is given is so.
is "(0.9, True)" "(d['score'], 'lookup' in functions)" \
    stack --suspects one.json --given 'lookup()'
is "(0.5, False)" "(d['score'], $(line arrays.c copy) in lines)" \
    stack --suspects two.json --given "never $(at copy)"
expect 1 "there is no such path" recorded --avoid lookup
expect 2 "the evidence contradicts itself" recorded --given 'never lookup()'

# A stack as text; two of them at once, of which the better is taken.
cat >copy.txt <<END
#0  0x0000000000401136 in abort () from /lib/libc.so.6
#1  0x0000000000401146 in checked_malloc (size=2) at arrays.c:$(line arrays.c crash)
#2  0x0000000000401156 in copy_of (text=0x0) at arrays.c:$(line arrays.c pending)
#3  0x0000000000401166 in parse (n=1, words=0x0) at arrays.c:$(line arrays.c copied)
#4  0x0000000000401176 in main (argc=1, argv=0x0) at arrays.c:$(line arrays.c parse)
END
cat >init.txt <<END
#0  0x0000000000401136 in abort () from /lib/libc.so.6
#1  0x0000000000401146 in checked_malloc (size=2) at arrays.c:$(line arrays.c crash)
#2  0x0000000000401156 in more_arrays () at arrays.c:$(line arrays.c new)
#3  0x0000000000401166 in init_storage () at arrays.c:$(line arrays.c init)
#4  0x0000000000401176 in main (argc=1, argv=0x0) at arrays.c:$(line arrays.c storage)
END
text() { "$inquest" path --no-dataflow arrays "$@"; }
is "(1.4, 'copy.txt')" "(d['score'], d['evidence'])" text init.txt copy.txt --suspects two.json
is "(1.4, 'copy.txt')" "(d['score'], d['evidence'])" text copy.txt init.txt --suspects two.json
is "(0.0, 'init.txt')" "(d['score'], d['evidence'])" text copy.txt init.txt
is "(1.4, 'core')" "(d['score'], d['evidence'])" text init.txt core --use stack --suspects two.json
is "(0.0, ['main', 'init_storage', 'more_arrays'])" \
    "(d['score'], [s['function'] for s in d['steps'] if 'pending' in s])" text init.txt
expect 0 "ends as 'copy.txt'" text init.txt copy.txt --suspects two.json
# Files of one run.
expect 0 "score 1.4" text core,copy.txt --use stack --suspects two.json
bad "--log is about one run" text copy.txt init.txt --log arrays.c

# No crash: a place to end at.
is "('main', $(line arrays.c done), 0.0)" "(functions[-1], lines[-1], d['score'])" \
    "$inquest" path --no-dataflow arrays --end main
is "(1.0, 'main')" "(d['score'], functions[-1])" \
    "$inquest" path --no-dataflow arrays --end main --critical lookup
is "(1.0, 'copy_of')" "(d['score'], functions[-1])" \
    "$inquest" path --no-dataflow arrays --end copy_of --critical lookup
is "$(line arrays.c copy)" "lines[-1]" "$inquest" path --no-dataflow arrays --end "$(at copy)"
# What the core says, the call of abort() among it, is not of a run that ends there.
expect 1 "there is no such path" "$inquest" path --no-dataflow arrays core --end main
bad "evidence of the failed run is missing" "$inquest" path arrays

# ---- What is wrong is said

bad "the program has no function 'lokup'; did you mean 'lookup'?" stack --critical lokup
bad "the program has no function 'more_array'; did you mean 'more_arrays'?" stack --avoid more_array
bad "the program has no file 'array.c'; did you mean 'arrays.c'?" stack --before array.c:3 main
bad "has no code; the nearest" stack --critical arrays.c:2
bad "has a column" stack --critical arrays.c:10:3
bad "is no score" stack --critical lookup=much
bad "are the same place" stack --before lookup lookup
bad "takes two places" stack --before=lookup
bad "--top is a number" stack --top 0
bad "--per-step" stack --per-step=-1
bad "--method is auto, forward or backward" stack --method sideways
bad "--suspects names their list" stack --first 3
bad "there is no cluster 9" stack --suspects one.json --cluster 9
bad "exclude each other" stack --end main --no-stack
bad "there is no choice of --solver" stack --solver utl
bad "No such file" stack --suspects nowhere.json
bad "No such file" "$inquest" path arrays nowhere
: >empty.json
bad "empty.json" stack --suspects empty.json
sed 's/predictors\/1/predictors\/9/' one.json >newer.json
bad "newer" stack --suspects newer.json
sed 's/"module": "0x[0-9a-f]*"/"module": "0x123"/' one.json >foreign.json
bad "not of this program, or of another build" stack --suspects foreign.json
sed 's/"node": [0-9]*/"node": 9999/' one.json >beyond.json
bad "none of number 9999" stack --suspects beyond.json
echo "int main(void) { return 0; }" >other.c && "$cc" -g -o other other.c
bad "not of this program, or of another build" "$inquest" path other --end main --suspects one.json

# ---- Values: a pointer that one caller checks and another does not (the story of ccrypt)

cat >prompt.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_line(FILE *in)
{
    char *buffer = malloc(100);
    char *got = fgets(buffer, 100, in);
    char *newline;

    if (got == NULL) { /* if */
        free(buffer); /* eof */
        return NULL;
    }
    newline = strchr(buffer, '\n');
    if (newline)
        *newline = '\0';
    for (char *at = buffer; *at; at++) /* lower */
        *at |= 32;
    return buffer; /* line */
}

static int prompt(FILE *in)
{
    char *answer = read_line(in); /* asked */

    return answer[0] == 'y'; /* crash */
}

int main(void)
{
    char *name = read_line(stdin); /* name */

    if (name == NULL) /* checked */
        return 1;
    free(name); /* freed */
    return prompt(stdin); /* prompt */
}
END
"$cc" -g -O0 -o prompt prompt.c && "$inquest" run -n --core prompt.core -- ./prompt <<<name \
    >/dev/null 2>&1
[ -s prompt.core ] || fail "prompt did not crash"
list prompt "prompt.c:$(line prompt.c eof)=0.7=got == NULL is true" >eof.json
values() { "$inquest" path prompt prompt.core --use stack --suspects eof.json "$@"; }
# callers 'LINE': the functions that read_line() had been called from when that line was reached.
callers="[[f for f, at in zip(functions[:i], range(i)) if f in ('main', 'prompt')][-1] \
for i, l in enumerate(lines) if l == $(line prompt.c eof)]"
# Without values the first call gets NULL, and main goes on as if it had not.
is "(0.7, True)" "(d['score'], 'main' in $callers)" values --no-dataflow
# With them it is prompt() that gets it.
is "(0.7, True, ['prompt'])" "(d['score'], d['feasible'], $callers)" values
expect 0 "feasible: the values that are known allow it" values
is "(0.7, ['prompt'])" "(d['score'], $callers)" values --no-dataflow \
    --before "prompt.c:$(line prompt.c freed)" "prompt.c:$(line prompt.c eof)"

# ---- Recursion, -O2, threads

cat >deep.c <<'END'
#include <stdlib.h>
static int total;
static void note(int n) { total += n; } /* note */
static int walk(int n)
{
    if (n % 7 == 3)
        note(n); /* noted */
    if (n == 0)
        abort(); /* crash */
    return walk(n - 1) / 2; /* recursion: no loop, since its result is divided */
}
int main(int argc, char **argv)
{
    return walk(argc > 1 ? atoi(argv[1]) : 20);
}
END
"$cc" -g -O2 -o deep deep.c && "$inquest" run -n --core deep.core -- ./deep 300 >/dev/null 2>&1
is "(2.0, True, $(line deep.c crash))" \
    "(d['score'], sum('pending' in s for s in d['steps']) >= 300, lines[-1])" \
    "$inquest" path deep deep.core --use stack --critical "deep.c:$(line deep.c noted)=2"

cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int ready;
static void prepare(void) { ready = 1; } /* prepare */
static void *work(void *argument)
{
    if (argument)
        prepare(); /* prepared */
    if (ready)
        abort(); /* crash */
    return NULL;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, &ready);
    pthread_join(thread, NULL);
    return 0;
}
END
"$cc" -g -O0 -pthread -o threads threads.c &&
    "$inquest" run -n --core threads.core -- ./threads >/dev/null 2>&1
is "(1.0, 'work', $(line threads.c crash), True)" \
    "(d['score'], functions[-1], lines[-1], 'main' not in functions)" \
    "$inquest" path threads threads.core --critical prepare

# ---- More calls that were made than the search takes: it goes by way of all of them

{
    echo '#include <stdlib.h>'
    echo 'static int total;'
    for i in $(seq 30); do echo "static void f$i(int n) { total += n * $i; }"; done
    echo 'static void never(int n) { total -= n; }'
    echo 'static void step(int n)'
    echo '{'
    echo '    switch (n) {'
    for i in $(seq 30); do echo "    case $i: f$i(n); break;"; done
    echo '    case 99: never(n); break; /* never */'
    echo '    default: total++; /* default */'
    echo '    }'
    echo '}'
    echo 'int main(int argc, char **argv)'
    echo '{'
    echo '    for (int i = 0; i < 31; i++)'
    echo '        step(i);'
    echo '    if (total)'
    echo '        abort(); /* crash */'
    echo '    return 0;'
    echo '}'
} >many.c
"$cc" -g -O0 -o many many.c && "$inquest" run -n --core many.core -- ./many >/dev/null 2>&1
every="all('f%d' % i in functions for i in range(1, 31)) and 'never' not in functions"
is "(True, False, 1.0)" "($every, d['shortest'], d['score'])" "$inquest" path --no-dataflow many \
    many.core --critical "many.c:$(line many.c default)"
is "(True, 0.0)" "($every, d['score'])" "$inquest" path --no-dataflow many many.core \
    --critical never=5
expect 0 "visits every call that was made" "$inquest" path --no-dataflow many many.core
# Orders hold on the way as well.
is "(True, True)" "($every, functions.index('f30') < functions.index('f1'))" \
    "$inquest" path --no-dataflow many many.core --before f30 f1

# ---- The examples

for example in words calc json; do
    "$cc" -g -O2 -o $example "$source/examples/$example.c" || fail "$example does not compile"
    "$inquest" run -n --core $example.core -- ./$example <"$source/examples/inputs/$example.crash" \
        >/dev/null 2>&1
    [ -s $example.core ] || fail "$example did not crash"
    is "True" "d['length'] == len(d['steps']) and bool(d['steps'] or d['missed'])" \
        "$inquest" path $example $example.core
done
is "(2.0, True)" "(d['score'], d['length'] == len(d['steps']) and 'bucket_find' in functions)" \
    "$inquest" path words words.core --use stack --critical bucket_find=2

# ---- A model without instructions

for subject in "$source"/../shared/pldi17/tcas__v1__*; do
    [ -d "$subject" ] || continue
    graph=$(find "$subject" -name '*.graphml*' | head -1) report=$(find "$subject" -name '*.json' | head -1)
    is "True" "d['length'] == len(d['steps']) > 0 and d['feasible'] is None and \
str(d['steps'][0]['node']).startswith('n')" "$inquest" path "$graph" "$report"
    is "1.0" "d['score']" "$inquest" path "$graph" --end main --critical alt_sep_test
done

[ "$failed" = 0 ] && echo "path: all as expected"
exit "$failed"

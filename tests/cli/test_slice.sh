#!/bin/bash
# `inquest slice` as a user meets it: what is kept and what is not in a real crash, the ways it is
# shown, near misses, exit statuses.
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the repository).
# timeout: 600
set -u -o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

inquest=${INQUEST_BUILD:?the build directory}/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
if [ ! -x "$cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/test_slice.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache

# bad TEXT COMMAND...: trouble, in one line, and nothing else.
bad() {
    expect 2 "$@"
    shift
    [ "$("$@" 2>&1 >/dev/null </dev/null | wc -l)" = 1 ] || fail "not one line: $*"
    [ -z "$("$@" 2>/dev/null </dev/null)" ] || fail "output in spite of trouble: $*"
}

# The list has one item and is asked for two. What is counted has no part in it; the other item is
# never made; nothing is reported.
cat >list.c <<'END'
#include <stdio.h>
#include <stdlib.h>

struct item {
    int value;
    struct item *next;
};

static int counted;

static void count(int by)
{
    counted += by; /* count */
}

static struct item *make(int value)
{
    struct item *item = malloc(sizeof(*item)); /* malloc */

    if (!item)
        abort();
    item->value = value; /* value */
    item->next = NULL; /* null */
    return item;
}

static int sum(const struct item *item, int length)
{
    int total = 0; /* total */

    for (int i = 0; i < length; i++) { /* loop */
        total += item->value; /* crash */
        item = item->next; /* next */
    }
    return total;
}

static void report(int total)
{
    printf("%d\n", total); /* report */
}

int main(int argc, char **argv)
{
    int length = argc > 1 ? atoi(argv[1]) : 2; /* length */
    struct item *item = make(1); /* make */

    if (argc > 5)
        item->next = make(2); /* other */
    count(length); /* counted */
    report(sum(item, length)); /* sum */
    return 0;
}
END
# line MARK: its number in list.c.
line() {
    grep -n "/\\* $1 \\*/" list.c | cut -d: -f1
}
"$cc" -g -O0 -o list list.c || exit 1
"$inquest" run -n --core core -- ./list >/dev/null 2>&1
[ -s core ] || { echo "no core was written"; exit 1; }

# lists has|lacks 'MARKS' ARGUMENTS...: what --lines prints.
lists() {
    local how=$1 marks=$2 mark out
    shift 2
    out=$("$inquest" slice --lines list core "$@") || fail "slice --lines $* exits with $?"
    for mark in $marks; do
        if grep -qxF "list.c:$(line "$mark")" <<<"$out"; then
            [ "$how" = has ] || fail "'$mark' is in: slice $*"
        else
            [ "$how" = lacks ] || fail "'$mark' is not in: slice $*"
        fi
    done
}

echo "--- what is kept"
lists has 'crash loop next null malloc make length sum'
lists lacks 'count counted report other'
lists has 'crash loop null make other' --stack
lists lacks 'count counted report' --stack
lists has 'crash loop null make other' --static
lists lacks 'count counted report' --static
lists has 'crash next loop sum make length' --intra
lists lacks 'null malloc count counted other' --intra
lists has "count counted length" --at "list.c:$(line count)"
lists lacks 'null value crash sum' --at "list.c:$(line count)"
lists has 'total crash' --at "list.c:$(line crash):total"
lists has 'null make' --at "list.c:$(line crash):item"
lists has 'loop crash next counted count' --forward --at "list.c:$(line length)"
lists lacks 'null value malloc report' --forward --at "list.c:$(line length)"
lists has 'report' --static --at "list.c:$(line report)"

echo "--- text"
expect 0 "  >     $(line crash) |" "$inquest" slice list core
expect 0 '#0   sum in list.c' "$inquest" slice list core
expect 0 '#1   main in list.c' "$inquest" slice list core
expect 0 'in calls that had come back' "$inquest" slice list core
expect 0 'with the stack alone (--stack):' "$inquest" slice list core
expect 0 ': store ' "$inquest" slice -v list core
expect 0 "what may depend on list.c:$(line length) in main()" \
    "$inquest" slice --forward --at "list.c:$(line length)" list core
"$inquest" slice --quick list core | grep -q -- '--stack' && fail "--quick compares"
[ -z "$("$inquest" slice -q list core)" ] || fail "--quiet prints"
NO_COLOR='' CLICOLOR_FORCE=1 "$inquest" slice list core | grep -q $'\033' || fail "no colour"
"$inquest" slice list core | grep -q $'\033' && fail "colour in spite of NO_COLOR"
LC_ALL=C "$inquest" slice list core | LC_ALL=C grep -q '[^ -~]' && fail "more than ASCII"
mkdir moved && mv list.c moved/
expect 0 'the source is not there' "$inquest" slice list core
expect 0 '/* crash */' "$inquest" slice --source-dir moved list core
mv moved/list.c .

echo "--- why"
expect 0 "list.c:$(line null):  item->next = NULL;" \
    "$inquest" slice --why "list.c:$(line null)" list core
expect 1 'is not in the slice: it did not run' \
    "$inquest" slice --why "list.c:$(line other)" list core
expect 1 'is not in the slice' "$inquest" slice --why "list.c:$(line counted)" list core
expect 0 'is in the slice' "$inquest" slice --stack --why "list.c:$(line other)" list core

echo "--- JSON"
"$inquest" slice --json --why "list.c:$(line null)" list core >slice.json || fail "--json"
"$inquest" slice --json --stack list core >stack.json || fail "--json --stack"
"$inquest" slice --json --static list core >static.json || fail "--json --static"
"$inquest" slice --json --intra list core >intra.json || fail "--json --intra"
"$inquest" slice --lines list core >lines.txt
"$inquest" slice --dot slice.dot -q list core || fail "--dot"
python3 - "$(line crash)" "$(line null)" <<'END' || fail "--json"
import json, os, re, sys
crash, null = map(int, sys.argv[1:])
kept, stack, static, intra = (json.load(open(n + ".json")) for n in ("slice", "stack", "static", "intra"))
for document, kind in (kept, "restricted"), (stack, "stack"), (static, "static"), (intra, "restricted"):
    assert document["schema"] == "slice/1" and document["kind"] == kind and document["complete"]
    assert document["kept_nodes"] == len(document["nodes"]) > 0
    assert document["kept_lines"] == len(document["lines"]) > 0
    assert document["kept_insns"] == sum(len(n["insns"]) for n in document["nodes"])
    assert all(n["insns"] and n["module"].startswith("0x") for n in document["nodes"])
    assert document["criterion"] and document["direction"] == "backward"
# sizes are those of the other slices, which hold it
assert kept["stack_nodes"] == stack["kept_nodes"] and kept["static_nodes"] == static["kept_nodes"]
assert kept["stack_lines"] == stack["kept_lines"] and kept["static_lines"] == static["kept_lines"]
assert abs(kept["reduction"] - 100 * (1 - kept["kept_nodes"] / stack["kept_nodes"])) < 1e-6
assert kept["reduction"] > 0 and static["reduction"] is None
def insns(document):
    return {(n["module"], i) for n in document["nodes"] for i in n["insns"]}
assert insns(intra) <= insns(kept) < insns(stack) <= insns(static)
assert any(c["line"] == crash and c["frame"] == 0 for c in kept["criterion"])
assert {(c["module"], c["insn"]) for c in kept["criterion"]} <= insns(kept)
assert all(c["frame"] is None for c in static["criterion"])
# the same lines as --lines
assert [f"{os.path.basename(l['file'])}:{l['line']}" for l in kept["lines"]] == open("lines.txt").read().split()
# frames by themselves
assert [f["function"] for f in intra["frames"]] == ["sum", "main"]
assert {n["function"] for n in intra["nodes"]} == {"sum", "main"}
assert all(f["kept_nodes"] <= f["stack_nodes"] <= f["static_nodes"] for f in intra["frames"])
# the way to the line begins with the criterion and stays in the slice
why = kept["why"]
assert why[0]["reason"] == "criterion" and why[-1]["line"] == null
assert all(w["reason"] != "criterion" for w in why[1:])
assert {(w["module"], w["insn"]) for w in why} <= insns(kept)
# the graph has every node once, and each but the criterion's has a way out of it
text = open("slice.dot").read()
vertices = re.findall(r"^ +n(\d+) \[label=", text, re.M)
edges = re.findall(r"^ +n(\d+) -> n(\d+) ", text, re.M)
assert text.startswith("digraph") and len(vertices) == len(set(vertices)) == kept["kept_nodes"]
assert {v for e in edges for v in e} <= set(vertices)
starts = set(re.findall(r"^ +n(\d+) .*penwidth", text, re.M))
assert starts and set(vertices) - starts <= {e[0] for e in edges}
END
expect 0 digraph "$inquest" slice --dot - list core

echo "--- evidence of another kind"
"$inquest" report list core -o evidence.json 2>/dev/null
"$inquest" slice --lines list evidence.json | diff - lines.txt || fail "evidence JSON differs"

echo "--- near misses"
bad "did you mean 'list.c'?" "$inquest" slice --at lisp.c:31 list core
bad 'has no code; the nearest with code are' "$inquest" slice --at list.c:28 list core
bad 'has no code; the nearest with code is' "$inquest" slice --at list.c:2000 list core
bad "did you mean 'total'?" "$inquest" slice --at "list.c:$(line crash):totl" list core
bad "neither reads nor writes a variable 'quux'; it has '" \
    "$inquest" slice --at "list.c:$(line crash):quux" list core
bad 'has a column' "$inquest" slice --at list.c:31:5 list core
bad 'is FILE:LINE or FILE:LINE:VARIABLE' "$inquest" slice --at list.c list core
bad 'is FILE:LINE or FILE:LINE:VARIABLE' "$inquest" slice --at :12 list core
bad 'is FILE:LINE or FILE:LINE:VARIABLE' "$inquest" slice --at list.c:31: list core
bad "is FILE:LINE, not" "$inquest" slice --why list.c:31:item list core
bad 'has no code' "$inquest" slice --why list.c:1 list core
bad 'exclude each other' "$inquest" slice --stack --static list core
bad '--lines' "$inquest" slice --lines --json list core
bad '--dot -' "$inquest" slice --dot - --json list core
bad 'csi' "$inquest" slice --solver csi list core
bad "'--ta'" "$inquest" slice --ta list.c:31 list core
bad 'nothing' "$inquest" slice --use coverage list core
bad 'nowhere/x.dot' "$inquest" slice --dot nowhere/x.dot -q list core
"$inquest" dump list >model.txt
bad 'read from text or GraphML' "$inquest" slice model.txt evidence.json

echo "--- nothing there, and no time"
expect 1 'its line did not run' "$inquest" slice --at "list.c:$(line report)" list core
expect 3 'was used up' "$inquest" slice --memory 1K list core
expect 3 'used up' "$inquest" slice --memory 1K --why "list.c:$(line null)" list core
"$inquest" slice --memory 1K --json list core >short.json
[ $? = 3 ] || fail "no memory: not 3"
"$inquest" slice --memory 1K --lines list core | sort >short.txt
sort lines.txt | comm -23 - short.txt | grep . && fail "cut short, it has lost lines"
python3 -c '
import json
d = json.load(open("short.json"))
assert d["complete"] is False and d["stack_nodes"] is None and d["static_nodes"] is None' ||
    fail "cut short: $(head -n 20 short.json)"

echo "--- a recursion"
cat >deep.c <<'END'
static int *pointers[4];
static int down(int n)
{
    if (n == 0)
        return *pointers[n]; /* zero */
    return down(n - 1) + n; /* down */
}
int main(void)
{
    return down(50); /* main */
}
END
"$cc" -g -O0 -o deep deep.c && "$inquest" run -n --core deep.core -- ./deep >/dev/null 2>&1
expect 0 '#0, #1, #2, #3, ... down in deep.c' "$inquest" slice deep deep.core
expect 0 '#1-#50 down in deep.c' "$inquest" slice --intra deep deep.core
expect 0 '#51  main in deep.c' "$inquest" slice --intra deep deep.core

echo "--- an example, optimised"
cp "${INQUEST_SRC:?the repository}/examples/words.c" . && "$cc" -g -O2 -o words words.c
"$inquest" run -n --core words.core -- ./words <"$INQUEST_SRC/examples/inputs/words.crash" >/dev/null 2>&1
"$inquest" slice --lines words words.core >words.txt || fail "words exits with $?"
for text in 'before->next = entry->next;' '\*before = NULL;' 'bucket_remove(bucket, entry, before);'; do
    grep -qx "words.c:$(grep -n "$text" words.c | head -n 1 | cut -d: -f1)" words.txt || fail "words: '$text' is not kept"
done
first=$(grep -n '^static.* words_print(' words.c | cut -d: -f1)
[ -n "$first" ] || fail "words_print is not there"
awk -F: -v first="$first" '$2 >= first && $2 < first + 8' words.txt | grep . && fail "words_print never ran"

[ $failed = 0 ] && echo "all as expected"
exit $failed

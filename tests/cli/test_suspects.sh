#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `inquest run --suspects` and `inquest suspects`, with real programs: two modules and a library, fork
# and exec, crashes, exit statuses, oracles, expected output, runs at once, runs that are killed. What
# reports hold is read by suspects_reports.py, which shares no code with Inquest.
# timeout: 300
# shellcheck disable=SC2016,SC1091
set -u -o pipefail

inquest=$INQUEST_BUILD/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
reports=$INQUEST_SRC/tests/cli/suspects_reports.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache
. "$INQUEST_SRC/tests/cli/expect.sh"

# equal WHAT GOT WANTED
equal() {
    [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# json EXPRESSION: of the document `d` on standard input.
json() {
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# column N: of the reports in ./runs, sorted
column() {
    "$reports" runs runs | cut -f "$1" | sort | tr '\n' ' '
}

cat >main.c <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int *find(int key);
int twice(int value);
static int use(int key)
{
    int *entry = find(key);
    return *entry + twice(key);
}
int main(int argc, char **argv)
{
    int key = argc > 1 ? atoi(argv[1]) : 0;
    const char *mode = argc > 2 ? argv[2] : "";
    if (!strcmp(mode, "exec"))
        execl(argv[0], argv[0], argv[1], (char *)NULL);
    if (!strcmp(mode, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(mode, "hang"))
        pause();
    if (!strcmp(mode, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            use(key);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        return 0;
    }
    printf("%d\n", use(key));
    if (key == 8)
        return 3;
    return 0;
}
SOURCE
sed -i 's/#include <stdlib.h>/#include <signal.h>\n&/' main.c
cat >table.c <<'SOURCE'
#include <stddef.h>
static int table[10];
int *find(int key)
{
    if (key > 9)
        return NULL;
    return &table[key];
}
SOURCE
cat >twice.c <<'SOURCE'
int twice(int value)
{
    return value < 5 ? value + value : 2 * value;
}
SOURCE
flags="-g -O1 -fno-inline -finquest=paths,suspects"
# shellcheck disable=SC2086
{
    "$cc" $flags -shared -fPIC -o libtwice.so twice.c &&
        "$cc" $flags -o prog main.c table.c -L. -ltwice -Wl,-rpath,"$work"
} || { echo "cannot build"; exit 1; }

# --- one report an image and process, labelled

expect 1 "2 reports in 'runs'" "$inquest" run -v --suspects runs -- ./prog 3
equal "outcome" "$(column 1)" "passed passed "
expect 0 "failed: SIGSEGV" "$inquest" run --suspects runs -- ./prog 12
equal "outcomes" "$(column 1)" "failed failed passed passed "
equal "signals" "$(column 2)" "0 0 11 11 "
all=$("$reports" runs runs)
grep -qP '^failed\t11\t0\t1\t\d+:\d+,\d+:\d+\t' <<<"$all" || fail "no stack: $all"
equal "more than reports is left" "$(find runs -mindepth 1 ! -name '*.report')" ""
ls core* inquest.core* 2>/dev/null && fail "a core was left"
expect 0 "failed: exit status 3" "$inquest" run --suspects runs -- ./prog 8
equal "statuses" "$("$reports" runs runs | cut -f 3 | sort -n | tail -1)" 3
out=$("$inquest" run -q --suspects runs -- ./prog 4 2>&1)
equal "the program's output, and nothing else" "$out" 8
out=$("$inquest" run -q --suspects runs -- ./prog 12 2>&1)
equal "quiet" "$out" ""

# --- forked, executed, killed

rm -rf runs
expect 1 "passed" "$inquest" run -v --suspects runs -- ./prog 12 fork
equal "the child has failed, its parent has not" \
    "$("$reports" runs runs | cut -f 1,2 | sort | tr '\t\n' '  ')" \
    "failed 11 failed 11 passed 0 passed 0 "
rm -rf runs
expect 1 "passed; 4 reports" "$inquest" run -v --suspects runs -- ./prog 3 exec
rm -rf runs
expect 0 "failed: signal 9" "$inquest" run --suspects runs -- ./prog 3 kill
equal "killed" "$(column 2)" "9 9 "
[ "$("$reports" runs runs | cut -f 6 | sort -n | tail -1)" -ge 2 ] || fail "counters of a killed process are lost"

# --- time, expected output, oracles

rm -rf runs
expect 0 "still running" "$inquest" run --suspects runs --timeout 500ms -- ./prog 3 hang
equal "too long" "$("$reports" runs runs | cut -f 1,2 | sort -u | tr '\t\n' '  ')" "failed 0 "
rm -rf runs
echo 6 >right
expect 1 "passed" "$inquest" run -v --suspects runs --expect right -- ./prog 3
expect 0 "failed" "$inquest" run --suspects runs --expect right -- ./prog 4
equal "expected output" "$(column 1)" "failed failed passed passed "
rm -rf runs
expect 0 "failed" "$inquest" run --suspects runs --oracle 'grep -q 6 "$INQUEST_STDOUT"' -- ./prog 4
expect 1 "6" "$inquest" run --suspects runs --oracle 'grep -q 6 "$INQUEST_STDOUT"' -- ./prog 3
expect 1 "" "$inquest" run --suspects runs --oracle '[ "$INQUEST_EXIT_STATUS" = 3 ]' -- ./prog 8
expect 1 "" "$inquest" run --suspects runs --oracle '[ "$INQUEST_SIGNAL" = 11 ] && [ -z "$INQUEST_EXIT_STATUS" ]' -- ./prog 12
equal "oracles" "$(column 1)" "failed failed passed passed passed passed passed passed "
expect 3 "the outcome is unknown" "$inquest" run --suspects runs --oracle 'exit 7' -- ./prog 3
equal "does not know" "$("$reports" runs runs | grep -c '^unknown')" 2
out=$(INQUEST_OPTIONS=rate=7 "$inquest" run -q --suspects runs --oracle 'echo "<$INQUEST_OPTIONS>"' -- ./prog 3)
equal "INQUEST_OPTIONS is the user's again" "$out" "6
<rate=7>"

# --- rate, seed, names of directories

rm -rf runs
"$inquest" run -q --suspects "runs" --rate 50 --seed 3 -- ./prog 3 >/dev/null
"$inquest" run -q --suspects "runs" --rate 1/50 --seed 3 -- ./prog 3 >/dev/null
INQUEST_OPTIONS=seed=3:rate=50 "$inquest" run -q --suspects "runs" -- ./prog 3 >/dev/null
equal "rates" "$(column 4)" "50 50 50 50 50 50 "
equal "the same seed samples the same" "$("$reports" runs runs | cut -f 6,7 | sort | uniq -c | awk '$1 % 3' | wc -l)" 0
mkdir "a: b%'"
"$inquest" run -q --suspects "a: b%'" -- ./prog 12
equal "odd name" "$(ls "a: b%'" | wc -l)" 2
expect 2 "'--rate x' is not a number" "$inquest" run --suspects runs --rate x -- ./prog 3
expect 2 "one in 0" "$inquest" run --suspects runs --rate 0 -- ./prog 3
expect 2 "'--seed -1' is not a number" "$inquest" run --suspects runs --seed -1 -- ./prog 3
expect 2 "'--oracle' needs '--suspects DIR'" "$inquest" run --oracle true -- ./prog 3
expect 2 "no report: nothing that 'true' ran was built to sample" "$inquest" run --suspects runs -- true
expect 2 "cannot" "$inquest" run --suspects main.c/runs -- ./prog 3

# --- a core on request; exit statuses passed on

rm -rf runs
"$inquest" run --suspects runs --core kept --no-summary -- ./prog 12 >/dev/null 2>&1 || fail "with a core: $?"
[ -s kept ] || fail "no core was kept"
"$inquest" run -q --pass-exit --suspects runs -- ./prog 8 >/dev/null
equal "exit status" $? 3

# --- many at once into one directory, then into a store

rm -rf runs
seq 0 59 | xargs -P 8 -I{} sh -c '"$0" run -q --suspects runs -- ./prog $(({} % 15)); true' "$inquest" >/dev/null
equal "reports of 60 runs" "$(ls runs | wc -l)" 120
equal "leftovers" "$(find runs -mindepth 1 ! -name '*.report')" ""
expect 0 "120 added, 0 known already, 0 refused" "$inquest" suspects add store.db ./prog runs
expect 0 "0 added, 120 known already, 0 refused" "$inquest" suspects add store.db runs
equal "two builds" "$("$inquest" suspects show --json store.db | json 'len(d["builds"])')" 2
equal "runs" "$("$inquest" suspects show --json store.db | json 'sorted((b["failed"], b["passed"], b["unknown"]) for b in d["builds"])')" \
    "[(24, 36, 0), (24, 36, 0)]"
equal "runs, one by one" "$("$inquest" suspects show --json --runs --build ./prog store.db | json 'len([r for r in d["runs"] if r["signal"] == 11 and [f["function"] for f in r["frames"]] == ["use", "main"]])')" 20
equal "runs as lines" "$("$inquest" suspects show --runs --build ./prog store.db | grep -c 'failed   SIGSEGV .* use < main$')" 20
expect 2 "several" "$inquest" suspects rank store.db

# --- counts are those that another program finds in the same reports

"$reports" true prog runs | awk -F '\t' '{ print $1, $6, $7 }' | sort >wanted
"$inquest" suspects show --json --build ./prog store.db "" |
    json '"\n".join("%s:%d:%d %d %d" % (p["file"], p["line"], p["column"], p["failing"], p["passing"]) for p in d["predicates"])' | sort >got
[ -s wanted ] || fail "nothing was true"
diff wanted got >/dev/null || fail "counts: $(diff wanted got | head)"
equal "predicates of a line" "$("$inquest" suspects show --json --build ./prog store.db table.c:5 | json 'sorted((p["predicate"], p["failing"], p["passing"]) for p in d["predicates"] if p["kind"] == "branch")')" \
    "[('key > 9 is false', 4, 36), ('key > 9 is true', 20, 0)]"

# --- ranking: as text, JSON, CSV, and for `path`

"$inquest" suspects rank --build ./prog store.db >text || fail "rank: $?"
grep -q "find() returned 0" text || fail "no predictor 'find() returned 0': $(cat text)"
grep -q "key > 9 is true" text || fail "no predictor 'key > 9 is true': $(cat text)"
grep -q "5 | if (key > 9)" text || fail "no source line: $(cat text)"
LC_ALL=C "$inquest" suspects rank --build ./prog store.db | LC_ALL=C grep -q '[^ -~]' && fail "not ASCII without UTF-8"
NO_COLOR='' CLICOLOR_FORCE=1 "$inquest" suspects rank --build ./prog store.db | grep $'\033' >/dev/null || fail "no colour"
"$inquest" suspects rank --json --build ./prog store.db >rank.json || fail "rank --json: $?"
equal "schema" "$(json 'd["schema"], d["complete"], d["failing"], d["passing"]' <rank.json)" "('suspects/1', True, 24, 36)"
equal "the crash explains 20 runs" "$(json 'd["clusters"][0]["failing"]' <rank.json)" 20
equal "keys" "$(json 'all(set(("file", "line", "column", "function", "node", "predicate", "importance", "increase", "failing", "passing")) <= set(p) for c in d["clusters"] for p in c["predictors"])' <rank.json)" True
equal "lower bound" "$(json 'all(0 < p["increase_low"] <= p["increase"] and 0 < p["importance"] <= 1 for c in d["clusters"] for p in c["predictors"])' <rank.json)" True
"$inquest" suspects rank --csv --build ./prog store.db >rank.csv || fail "rank --csv: $?"
python3 - <<'CHECK' || fail "CSV and JSON differ"
import csv, json
rows = list(csv.DictReader(open("rank.csv")))
flat = [(c["cluster"], p) for c in json.load(open("rank.json"))["clusters"] for p in c["predictors"]]
assert rows and len(rows) == len(flat)
for row, (cluster, p) in zip(rows, flat):
    assert int(row["cluster"]) == cluster
    for key in "predicate", "function", "file", "module", "kind":
        assert row[key] == p[key], key
    for key in "line", "failing", "passing", "node", "failing_observed", "site":
        assert int(row[key]) == p[key], key
    for key in "importance", "increase", "increase_low", "ochiai":
        assert abs(float(row[key]) - p[key]) < 1e-8, key
CHECK
"$inquest" suspects rank -q --cluster 1 --first 2 --export two.json --build ./prog store.db || fail "export: $?"
equal "export" "$(json 'd["schema"], len(d["clusters"]), [len(c["predictors"]) for c in d["clusters"]]' <two.json)" "('predictors/1', 1, [2])"
"$inquest" suspects rank -q --export - --build ./prog store.db >all.json
equal "condition" "$(json '[p["condition"] for c in d["clusters"] for p in c["predictors"] if p["predicate"] == "key > 9 is true"]' <all.json)" \
    "[{'variable': 'key', 'operator': '>', 'constant': 9, 'unsigned': False, 'at': 'begin'}]"
for measure in ochiai tarantula; do
    equal "by $measure" "$("$inquest" suspects rank --json --by $measure --build ./prog store.db | json '[p["'$measure'"] for p in d["clusters"][0]["predictors"]] == sorted((p["'$measure'"] for p in d["clusters"][0]["predictors"]), reverse=True)')" True
done
id=$(json 'd["build_id"]' <rank.json)
"$inquest" suspects rank --json --build "${id:0:6}" store.db | diff rank.json - >/dev/null || fail "a build by its id"
expect 0 "twice" "$inquest" suspects show --build libtwice.so store.db twice
expect 1 "" "$inquest" suspects show --build ./prog store.db nowhere.c:1

# --- wrong command lines

expect 2 "did you mean 'rank'?" "$inquest" suspects rnak store.db
expect 2 "suspects needs a command" "$inquest" suspects
expect 2 "did you mean 'ochiai'?" "$inquest" suspects rank --by ochai store.db
expect 2 "there is no cluster 99" "$inquest" suspects rank --cluster 99 --build ./prog store.db
expect 2 "'--first 0' is not a number from 1" "$inquest" suspects rank --first 0 store.db
expect 2 "is not from 0.5 up to 1" "$inquest" suspects rank --confidence 1 store.db
expect 2 "no build of the store is 'zzz'" "$inquest" suspects rank --build zzz store.db
expect 2 "'--csv' and '--json' exclude each other" "$inquest" suspects rank --csv --json store.db
expect 2 "none.db" "$inquest" suspects rank none.db
[ ! -e none.db ] || fail "rank made a store"
expect 2 "too few arguments" "$inquest" suspects add store.db
expect 2 "no table of sites" "$inquest" suspects add other.db "$inquest" runs
expect 2 "no reports in 'cache'" "$inquest" suspects add other.db cache
for command in add rank show merge; do
    expect 0 "usage: inquest suspects $command" "$inquest" suspects "$command" --help
done

# --- what is refused, one by one

one=$(ls runs | head -1)
mkdir bad
head -c 50 "runs/$one" >bad/cut.report
{ head -c 30 "runs/$one"; printf x; tail -c +32 "runs/$one"; } >bad/changed.report
echo hello >bad/text.report
cp "runs/$one" bad/
expect 2 "0 added, 0 known already, 4 refused" "$inquest" suspects add third.db bad
expect 0 "1 added, 0 known already, 3 refused" "$inquest" suspects add third.db ./prog bad
expect 0 "cut.report" "$inquest" suspects add third.db bad
expect 0 "truncated report" "$inquest" suspects add third.db bad
expect 0 "its hash is wrong" "$inquest" suspects add third.db bad
expect 0 "not a report of a run" "$inquest" suspects add third.db bad
equal "refusals as JSON" "$("$inquest" suspects add --json third.db bad | json 'd["added"], d["known"], len(d["refused"])')" "(0, 1, 3)"

# --- stores into stores

expect 0 "120 added, 0 known already" "$inquest" suspects merge all.db store.db
expect 0 "0 added, 121 known already" "$inquest" suspects merge all.db store.db third.db
"$inquest" suspects rank --json --build ./prog all.db | json 'd["clusters"]' >a
json 'd["clusters"]' <rank.json | diff - a >/dev/null || fail "a merged store ranks otherwise"

# --- inquest killed in the middle: its live files are still good

rm -rf runs
("$inquest" run -q --suspects runs -- ./prog 3 hang & echo $! >pid)
pid=$(cat pid)
until ls runs/.run.*/*.live >/dev/null 2>&1; do sleep 0.05; done
expect 2 "no reports in 'runs'" "$inquest" suspects add killed.db ./prog runs
kill -9 "$pid"
until flock -n runs/.run.* true; do sleep 0.05; done
expect 2 "left by a run that was not finished" "$inquest" suspects add killed.db ./prog runs
expect 0 "2 added, 0 known already, 0 refused" "$inquest" suspects add --outcome failed killed.db ./prog runs
expect 2 "neither 'passed' nor 'failed'" "$inquest" suspects add --outcome bad killed.db ./prog runs

exit $failed

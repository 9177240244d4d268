#!/bin/bash
# Calls through pointers to nowhere: who called is certain where the call, made again with the registers and the memory of the core,
# leads to where control is, and what stands below answers. Where a tail call may have led there, frames may be missing.
# timeout: 120
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >prog.c <<'END'
#include <stdlib.h>
#include <string.h>
typedef int callee(int);
struct ops { int n; callee *first, *second; };
static int one(int x) { return x + 1; }
callee *volatile pointer = one;
struct ops table[4], *volatile ops = table;
volatile int sum;
__attribute__((noinline)) static int by_variable(int n)
{
    int k = pointer(n);
    return k + 1;
}
__attribute__((noinline)) static int by_table(int n)
{
    int k = ops[n & 3].second(n);
    return k + 2;
}
__attribute__((noinline)) static int by_argument(callee *f, int n)
{
    int k = f(n) + f(n + 1);
    return k + 3;
}
__attribute__((noinline)) static int prepare(const char *how, callee *bad)
{
    for (int i = 0; i < 4; i++)
        table[i].first = table[i].second = one;
    if (strcmp(how, "variable") == 0)
        pointer = bad;
    if (strcmp(how, "table") == 0)
        table[2].second = bad;
    return 2;
}
int main(int argc, char **argv)
{
    callee *bad = (callee *)strtoul(argv[2], NULL, 0);
    if (strcmp(argv[2], "data") == 0)
        bad = (callee *)&sum;
    int n = prepare(argv[1], bad);
    sum += by_variable(n);
    sum += by_table(n);
    sum += by_argument(strcmp(argv[1], "argument") == 0 ? bad : one, n);
    return sum;
}
END
for flags in -O0 -O1 -O2 -O3 -Os "-O2 -fcf-protection"; do
    # shellcheck disable=SC2086
    "$build/bin/inquest-cc" -g -w $flags prog.c -o prog
    for how in variable table argument; do
        for bad in 0 16 0xdead000000000000 data; do
            rm -f core
            ./prog $how $bad 2>/dev/null || true
            [ -f core ] || { echo "skipped: no core was written"; exit 77; }
            "$build/bin/inquest" report prog core >report.json
            python3 - "$how" <<'END' || { echo "FAIL: $flags, $how, $bad"; exit 1; }
import json, sys
how = sys.argv[1]
frames = json.load(open("report.json"))["threads"][0]["frames"]
names = [f.get("function") for f in frames if f["kind"] == "model"]
if names[:2] != ["by_" + how, "main"]:
    sys.exit(f"frames {names}")
if any(f.get("guessed") for f in frames):
    sys.exit("guessed")
END
            status=0
            "$build/bin/inquest" ask prog core "prepare() then by_$how()" >answer 2>&1 || status=$?
            [ $status = 0 ] || { echo "FAIL: $flags, $how, $bad: $(cat answer)"; exit 1; }
            status=0
            "$build/bin/inquest" ask prog core "never by_$how()" >answer 2>&1 || status=$?
            [ $status = 1 ] || { echo "FAIL: $flags, $how, $bad: never: $(cat answer)"; exit 1; }
            "$build/bin/inquest" slice prog core >/dev/null || { echo "FAIL: $flags, $how, $bad: no slice"; exit 1; }
        done
    done
done
echo "all passed"

#!/bin/bash
# What `coverage` says of lines, where nodes have the lines of others: of a line that ends with "ran" it is never no, of
# one that ends with "never" never yes, and some of each are told for certain.
# timeout: 300
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >jumps.c <<'END'
#include <stdlib.h>
volatile int n, one = 1;
static int labels(int x)
{
    if (x) // ran
        goto second; // ran
    n = 1; // never
second:;
first:;
    n += 2; // ran
    if (n == 100) // ran
        goto first; // never
    return n; // ran
}
static int cases(int x)
{
    switch (x) { // ran
    case 3:
        n = 3; // never
    case 4:
        ;
    case 5:
        ;
    default:;
    }
    return n; // ran
}
static int breaks(int x)
{
    for (int i = 0; i < 3; i++) { // ran
        if (i == x) // ran
            break; // ran
        switch (i) { // ran
        case 7:
            break; // never
        case 0:
            ;
        case 9:
            ;
        default:
            break; // ran
        }
        if (i == 50) // ran
            continue; // never
    }
    return n; // ran
}
static int nested(int x)
{
    if (x == 5) { // ran
        n++; // never
    } else if (x == 6) { // ran
        n--; // never
    }
last:;
end:;
    while (n == 1000) // ran
        goto last; // never
    do {
        if (x == 7) // ran
            goto end; // never
    } while (n == 1001); // ran
    return n; // ran
}
int main(void)
{
    labels(one); // ran
    cases(one + 3); // ran
    breaks(one); // ran
    nested(one); // ran
    abort(); // ran
}
END
for flags in -O0 "-O0 -finquest=calls" -O1 -O2 "-O2 -finquest=full" "-O1 -fno-inline" -Os; do
    # shellcheck disable=SC2086
    "$build/bin/inquest-cc" -g $flags jumps.c -o jumps
    rm -f core
    ./jumps 2>/dev/null || true
    [ -f core ] || { echo "skipped: no core was written"; exit 77; }
    for solver in utl vpa csi; do
        "$build/bin/inquest" coverage --json --solver "$solver" jumps core | python3 -c '
import json, sys
answers = {line["line"]: line["answer"] for line in json.load(sys.stdin)["lines"]}
right = {"ran": 0, "never": 0}
for number, text in enumerate(open("jumps.c"), 1):
    truth = text.partition("// ")[2].strip()
    answer = answers.get(number)
    if (truth, answer) in (("ran", "no"), ("never", "yes")):
        sys.exit(f"line {number} {truth}, answer is {answer}: {text.strip()}")
    right["ran"] += (truth, answer) == ("ran", "yes")
    right["never"] += (truth, answer) == ("never", "no")
if right["ran"] < 5:
    sys.exit(f"too little is told: {right}")' || { echo "FAIL: $flags, $solver"; exit 1; }
    done
done
echo "all passed"

#!/bin/bash
# From sampled runs to a path: a program with one bug, many runs, the ranking, and the path to one of
# its crashes through what predicts them.
#
# Environment: INQUEST_BUILD (the build directory).
# timeout: 900
set -u -o pipefail

inquest=${INQUEST_BUILD:?the build directory}/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
if [ ! -x "$cc" ] || ! command -v clang-19 >/dev/null || ! command -v python3 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/test_path_suspects.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache

# What lookup() makes grow is overrun where there are more variables than places; it is found out
# when memory is asked for the next time, in another function.
cat >arrays.c <<'END'
#include <stdlib.h>
#include <string.h>

static long *arrays;
static int count, variables, guard = 1;

static void *checked_malloc(size_t size)
{
    if (guard != 1)
        abort(); /* crash */
    return malloc(size);
}

static void more_arrays(void)
{
    long *old = arrays;
    int before = count;

    count += 4;
    arrays = checked_malloc(sizeof(*arrays) * count);
    if (before > 0) {
        memcpy(arrays, old, sizeof(*old) * before);
        guard = before > variables; /* overrun */
    }
}

static int lookup(int name)
{
    while (name >= count)
        more_arrays();
    return name;
}

static char *copy_of(const char *text)
{
    char *copy = checked_malloc(strlen(text) + 1);

    return strcpy(copy, text);
}

static void parse(int n, char **words)
{
    for (int i = 0; i < n; i++) {
        if (words[i][0] == '@')
            lookup(atoi(words[i] + 1));
        else
            variables += 10;
        free(copy_of(words[i]));
    }
}

int main(int argc, char **argv)
{
    more_arrays();
    parse(argc - 1, argv + 1);
    return 0;
}
END
"$cc" -g -O0 -finquest=paths,suspects -o arrays arrays.c || exit 1
run() { "$inquest" run -q -n --core "core.$1" --suspects runs -- ./arrays "${@:2}" >/dev/null 2>&1; }
number=0
for words in "" "x" "@1" "@5" "x @1" "@7" "x y z" "@2 x" "@9 x" "x @3 y" "@6 @7" "@3 @2"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    run $number $words
done
for words in "x @5" "y @6 z" "x x @9" "x @1 @8 y" "@2 x @4" "x y @7" "z @5 @6" "@1 x y @9"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    run $number $words
done
core=$(ls core.* 2>/dev/null | head -1)
[ -s "$core" ] || { echo "FAIL: nothing crashed"; exit 1; }
"$inquest" suspects add runs.db ./arrays runs >/dev/null || { echo "FAIL: suspects add"; exit 1; }
"$inquest" suspects rank runs.db --export bug.json >/dev/null || { echo "FAIL: suspects rank"; exit 1; }

crash=$(grep -n '/\* crash \*/' arrays.c | cut -d: -f1)
for options in "" "--use stack" "--no-stack" "--no-dataflow"; do
    # shellcheck disable=SC2086
    "$inquest" path arrays "$core" --suspects bug.json --first 2 $options --json >path.json ||
        { echo "FAIL: path $options exits with $?"; exit 1; }
    python3 - "$crash" "$options" <<'END' || exit 1
import json, sys
crash, options = int(sys.argv[1]), sys.argv[2]
d = json.load(open("path.json"))
predictors = json.load(open("bug.json"))["clusters"][0]["predictors"][:2]
functions = [s["function"] for s in d["steps"]]
touched = [p for s in d["steps"] if "predictor" in s for p in s.get("predictors", [s["predictor"]])]
def check(good, what):
    if not good:
        print(f"FAIL: path {options}: {what}")
        sys.exit(1)
check("more_arrays" in functions, "it does not pass through the faulty function")
check(d["steps"][-1]["line"] == crash, "it does not end where the run did")
check(abs(sum(p["score"] for p in touched) - d["score"]) < 1e-9, "its score is not the sum")
check(d["score"] <= sum(p["importance"] for p in predictors) + 1e-9, "it scores too much")
check(d["touched"] >= 1, "it touches nothing")
check(len(d["steps"]) == d["length"], "its length")
END
done
# Another build's list is refused.
sed 's/count += 4/count += 5/' arrays.c >other.c
"$cc" -g -O0 -finquest=paths,suspects -o other other.c || exit 1
"$inquest" path other --end main --suspects bug.json >/dev/null 2>&1
[ $? = 2 ] || { echo "FAIL: another build's list is taken"; exit 1; }
echo "from runs to a path: as expected"

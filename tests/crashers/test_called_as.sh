#!/bin/bash
# Functions that are called without being asked for, or by another name than their own: of a line that ends with "ran"
# `coverage` never says no, and `ask` does not say that the function cannot have been entered.
# timeout: 300
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check PROGRAM FUNCTION FILE...: crashes it and asks.
check() {
    local program=$1 function=$2 solver
    shift 2
    rm -f core
    "./$program" 2>/dev/null || true
    [ -f core ] || { echo "skipped: no core was written"; exit 77; }
    for solver in utl fsa vpa csi; do
        "$build/bin/inquest" coverage --json --solver "$solver" "$program" core | python3 -c '
import json, os, sys
answers = {(os.path.basename(line["file"]), line["line"]): line["answer"] for line in json.load(sys.stdin)["lines"]}
for name in sys.argv[1:]:
    for number, text in enumerate(open(name), 1):
        answer = answers.get((name, number))
        if (text.partition("// ")[2].strip(), answer) in (("ran", "no"), ("never", "yes")):
            sys.exit(f"{name}: answer is {answer}: {text.strip()}")' "$@" || { echo "FAIL: $program, $solver, $flags"; exit 1; }
    done
    "$build/bin/inquest" ask "$program" core "$function()" >answer || { echo "FAIL: $program, $function(), $flags:" && cat answer && exit 1; }
    "$build/bin/inquest" "$program" core >summary
    ! grep -q damaged summary || { echo "FAIL: $program, $flags: nothing is damaged" && exit 1; }
    ! grep -q 'calls made:.*abort' summary || grep -q '// ran, abort' "$@" || { echo "FAIL: $program, $flags: abort was not called" && exit 1; }
}

# The compiler makes an instruction, or a call, of what has a name in the library.
cat >floor.c <<'END'
#include <math.h>
#include <stdlib.h>
volatile float in = 2.5f, out;
float floorf(float x)
{
    int i = (int)x; // ran
    return i > x ? i - 1 : i;
}
int main(void)
{
    out = floorf(in); // ran
    if (out == 2.0f)
        abort(); // ran, abort
    return 0;
}
END
cat >round.c <<'END'
#include <math.h>
#include <stdlib.h>
volatile float in = 2.5f, out;
volatile float *volatile nowhere;
static __attribute__((noinline)) int helper(int k)
{
    return abs(k); // ran
}
float roundf(float x)
{
    int i = helper((int)x); // ran
    if (in > 2)
        return *nowhere;
    return i; // never
}
int main(int argc, char **argv)
{
    in += argc; // ran
    out = roundf(in);
    abort(); // never
}
END
# No prototype: what is not used may be left out.
cat >unprototyped.c <<'END'
volatile int s;
int *volatile nowhere;
static __attribute__((noinline)) int takes(int a, int unused)
{
    return a + s; // ran
}
static int (*const table[2])() = {(int (*)())takes, (int (*)())takes};
int main(int argc, char **argv)
{
    s = table[argc](4); // ran
    *nowhere = 1;
}
END
cat >alias.c <<'END'
#include <stdlib.h>
volatile int s;
void alias_name(void);
void real(void)
{
    s++; // ran
}
int main(void)
{
    alias_name(); // ran
    abort(); // ran, abort
}
END
cat >user.c <<'END'
#include <stdlib.h>
void xx_vendored(void);
int main(void)
{
    xx_vendored(); // ran
    abort(); // ran, abort
}
END
cat >vendored.c <<'END'
void vendored(void)
{
    volatile int a = 3; // ran
    a++; // ran
}
END
for flags in -O0 -O2 "-O2 -finquest=full" "-O1 -finquest=calls"; do
    compile() {
        # shellcheck disable=SC2086
        "$build/bin/inquest-cc" -g -w $flags "$@"
    }
    compile floor.c -o floor
    check floor floorf floor.c
    compile round.c -o round
    check round roundf round.c
    compile -std=gnu89 unprototyped.c -o unprototyped
    check unprototyped takes unprototyped.c
    compile alias.c -Wl,--defsym=alias_name=real -o alias
    check alias real alias.c
    objcopy --only-keep-debug alias alias.debug
    strip alias
    objcopy --add-gnu-debuglink=alias.debug alias
    check alias real alias.c
    compile -c vendored.c
    objcopy --prefix-symbols=xx_ vendored.o
    compile user.c vendored.o -o user
    check user vendored user.c vendored.c
done
echo "all passed"

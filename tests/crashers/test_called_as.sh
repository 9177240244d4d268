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
# The compiler sinks calls that have no effect but their result, and keeps their rows.
cat >stopped.c <<'END'
#include <signal.h>
#include <unistd.h>
double floor(double x)
{
    kill(getpid(), SIGSEGV);
    return x;
}
double cbrt(double x)
{
    kill(getpid(), SIGSEGV);
    return x;
}
END
gcc -w -shared -fPIC -fno-builtin -O1 stopped.c -o libstopped.so
for name in floor cbrt; do
    sed "s/WHAT/$name/" >"sunk_$name.c" <<'END'
double WHAT(double);
int printf(const char *, ...), puts(const char *), fflush(void *);
volatile int state;
static double half(double x)
{
    state = 1;
    return WHAT(x / 2);
}
int main(int argc, char **argv)
{
    double d = half(argc * 500.5);
    fflush(0);
    state = 2;
    if (argc < 4)
        printf("%g\n", d);
    state = 3; // never
    return 0; // never
}
END
done
# What the core's `state` says.
mark_sunk() {
    local state
    state=$(gdb -q -batch -ex 'print state' "$1" core 2>/dev/null | sed -n 's/.* = //p')
    case $state in
    1) sed -i 's,\(state = 2;\|fflush(0);\|if (argc < 4)\).*,\1 // never,' "$1.c" ;;
    2) sed -i 's,\(state = 2;\|fflush(0);\).*,\1 // ran,' "$1.c" ;;
    *) echo "FAIL: $1: state is '$state'" && exit 1 ;;
    esac
}
# Division that the processor lacks is a call, in the middle of a node.
cat >divide.c <<'END'
volatile __int128 a = 7, b;
int printf(const char *, ...);
__attribute__((noinline)) static int use(long q)
{
    return (int)q + 1; // never
}
int main(void)
{
    long q;
    int r;
    q = (long)(a / b);
    r = use(q); // never
    printf("%d\n", r); // never
    return 0; // never
}
END
# Names that are swapped, and versions of one function: plain copies have their symbols.
cat >swapped.c <<'END'
#include <stdlib.h>
int first(int) __asm__("second");
int second(int) __asm__("first");
volatile int state;
__attribute__((noinline)) int first(int x)
{
    state++; // ran
    abort(); // ran, abort
}
__attribute__((noinline)) int second(int x)
{
    state += 2; // never
    abort(); // never
}
__attribute__((target("default"))) int version(int x)
{
    state += 3; // never
    return x; // never
}
__attribute__((target("sse2"))) int version(int x)
{
    state += 4; // ran
    return x; // ran
}
int main(int argc, char **argv)
{
    argc += version(argc); // ran
    if (argc > 9)
        return second(argc); // never
    return first(argc); // ran
}
END
# Two libraries that define the same function: the linker takes the first, wherever it lies in memory.
cat >lib_a.c <<'END'
int a;
void common(void)
{
    a++; // ran
}
END
cat >lib_b.c <<'END'
int b;
void common(void)
{
    b = 3; // never
}
void only(void)
{
    b--; // ran
}
END
cat >two.c <<'END'
#include <stdlib.h>
void common(void), only(void);
int main(void)
{
    common(); // ran
    only(); // ran
    abort(); // ran, abort
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
    for name in sunk_floor sunk_cbrt; do
        compile "$name.c" -L. -Wl,-rpath,"$work" -lstopped -o "$name"
        rm -f core
        "./$name" >/dev/null 2>&1 || true
        [ -f core ] || { echo "skipped: no core was written"; exit 77; }
        cp "$name.c" "$name.kept"
        mark_sunk "$name"
        check "$name" main "$name.c"
        mv "$name.kept" "$name.c"
    done
    compile divide.c -o divide
    check divide main divide.c
    for off in '' '*'; do
        compile swapped.c -o swapped
        [ -z "$off" ] || "$build/bin/inquest" tune swapped --off "$off" >/dev/null
        check swapped main swapped.c
    done
    compile -fPIC -shared lib_a.c -o liba.so
    compile -fPIC -shared lib_b.c -o libb.so
    for order in '-la -lb' '-lb -la'; do
        # shellcheck disable=SC2086
        compile two.c -L. -Wl,--no-as-needed -Wl,-rpath,"$work" $order -o two
        if [ "$order" = '-la -lb' ]; then check two main two.c lib_a.c lib_b.c; else check two main two.c; fi
    done
done
echo "all passed"

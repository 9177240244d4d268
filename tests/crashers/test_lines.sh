#!/bin/bash
# What `coverage` says of lines, where nodes have the lines of others, where handlers jump, where the compiler knows the
# program's own functions by name, where the first thread is gone or main is over, where lines are shared or are a block's end: of a line that ends with "ran" it is never no, of one that ends with "never" never yes, and
# some are told for certain.
# timeout: 300
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
command -v gdb >/dev/null || { echo "skipped: 'gdb' is not installed"; exit 77; }
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
cat >handler.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
sigjmp_buf env;
volatile int *volatile p, x;
void handler(int s)
{
    siglongjmp(env, 1); // ran
}
__attribute__((noinline)) void leaf(int y)
{
    if (y) // ran
        *p = 1;
    x = 2; // never
}
int main(void)
{
    signal(SIGSEGV, handler); // ran
    if (sigsetjmp(env, 1) == 0) { // ran
        leaf(1); // ran
        x = 3; // never
    } else {
        x = 4; // ran
    }
    abort(); // ran
}
END
cat >own.c <<'END'
#include <stdlib.h>
#include <string.h>
int used, other;
char b[8];
size_t strlen(const char *s)
{
    used = 1; // never
    return s[0]; // never
}
void *calloc(size_t n, size_t m)
{
    if (n == 12345)
        used = 2; // never
    return 0;
}
int main(int argc, char **argv)
{
    (void)strlen(argv[0]); // ran
    other = 1; // ran
    other += argc; // ran
    calloc(3, 1);
    other += 3; // ran
    if (other == 77) // ran
        exit(2); // never
    abort(); // ran
}
END
cat >gone.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
volatile int x;
void early(void)
{
    x = 1; // ran
    getpid(); // ran
    x = 2; // ran
}
void *late(void *a)
{
    pthread_join(*(pthread_t *)a, 0); // ran
    abort(); // ran
}
pthread_t first;
int main(void)
{
    pthread_t t;
    first = pthread_self(); // ran
    early(); // ran
    pthread_create(&t, 0, late, &first); // ran
    pthread_exit(0); // ran
}
END
cat >shared.c <<'END'
#include <stdlib.h>
volatile int n, one = 1;
void two(void)
{
    n = 2; // never
}
static void leaves(int x)
{
    if (x) {
        n++; // ran
        return; } two(); // ran
}
static void goes(int x)
{
    switch (x) { // ran
    case 1:
        n++; // ran
        goto out; case 2: two(); // ran
    }
out:;
}
static int fills(int x)
{
    if (x > 0) { // ran
        int a[4];
        a[x] = n; // ran
        if (a[x] != 1000) // ran
            return a[1]; // ran
        two(); // never
    } // never
    return 0; // never
}
int main(void)
{
    for (int i = 0; i < 3; i++) {
        switch (one) { // ran
        case 1:
            n++; // ran
            break; case 2: two(); // ran
        }
        if (one) { // ran
            n++; // ran
            continue; } else { two(); } // ran
    }
    leaves(one); // ran
    goes(one); // ran
    fills(one); // ran
    abort(); // ran
}
END
cat >builtin.c <<'END'
#include <stdlib.h>
void *buffer[5];
volatile int n;
__attribute__((noinline)) void leaf(int x)
{
    n = x; // ran
    if (x > 2) // ran
        __builtin_longjmp(buffer, 1); // ran
    n = 7; // ran
}
__attribute__((noinline)) int work(int x)
{
    if (__builtin_setjmp(buffer) == 0) { // ran
        leaf(x); // ran
        n = 8; // ran
    } else
        n = 3; // ran
    return n; // ran
}
int main(int argc, char **argv)
{
    work(argc); // ran
    work(argc + 2); // ran
    abort(); // ran
}
END
cat >child.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int n;
__attribute__((noinline)) void ends(int x)
{
    n = x; // ran
    *(volatile int *)8 = x; // ran
    n = 2; // never
}
__attribute__((noinline)) void child(int x)
{
    ends(x); // ran
    _exit(1); // never
}
int main(int argc, char **argv)
{
    pid_t pid = vfork(); // ran
    if (pid == 0) { // ran
        child(argc); // ran
        n = 6; // never
    }
    waitpid(pid, 0, 0); // ran
    abort(); // ran
}
END
cat >behind.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
static ssize_t put(void *cookie, const char *bytes, size_t size)
{
    if (size == 5) // ran
        abort(); // ran
    return size; // never
}
static void set_up(void)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put}); // ran
    fputs("hello", f); // ran
}
int main(void)
{
    set_up(); // ran
    puts("done"); // ran
    return 0; // ran
}
END
cat >sunk.c <<'END'
#include <stdio.h>
volatile unsigned at;
unsigned fuel = 9, out;
static unsigned given(unsigned x)
{
    at = 6; // ran
    if (fuel == 0) // ran
        return 7; // never
    at = 9;
    out = x;
    return x + 1;
}
__attribute__((noinline)) static unsigned gives(unsigned x, unsigned d)
{
    at = 1; // ran
    return given(x / d);
}
int main(int argc, char **argv)
{
    unsigned r = gives(argc, argc - 1); // ran
    printf("%u %u\n", r, out); // never
    return 0; // never
}
END
cat >assembly.c <<'END'
volatile unsigned at;
int *volatile nowhere;
__attribute__((noinline, used)) int target(int x)
{
    return *nowhere + x;
}
__attribute__((noinline)) static int calls(int x)
{
    int r;
    at = 9;
    __asm__ volatile("call target" : "=a"(r) : "D"(x) : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
    at = 11; // never
    return r; // never
}
int main(int argc, char **argv)
{
    return calls(argc); // ran
}
END
cat >fall.c <<'END'
#include <stdlib.h>
int a = 1, b = 1, g;
__attribute__((noinline)) static int second(void) { return b; }
__attribute__((noinline)) static void work(int v) { g += v; }
__attribute__((noinline)) static void falls(int c)
{
    switch (c) { // ran
    case 0:
        g++; // ran
        if (a || // ran
            second()) { // never
            work(1); // ran
            g += 2; // ran
        }
        /* fall through */
    default:
        while (1) { // ran
            if (a ||
                second()) break; // ran
            g += 3; // never
        }
        abort(); // ran
    }
}
int main(int argc, char **argv)
{
    falls(argc - 1); // ran
    return 0; // never
}
END
# of jumps.c most is told
least() {
    case $1 in jumps) echo 5 ;; *) echo 1 ;; esac
}
# csi wants the first thread's stack
solvers() {
    case $1 in gone) echo utl fsa vpa ;; *) echo utl vpa csi ;; esac
}
for flags in -O0 "-O0 -finquest=calls" -O1 -O2 "-O2 -finquest=full" "-O1 -fno-inline" -Os; do
    for program in jumps handler own gone shared builtin child behind sunk assembly fall; do
        # shellcheck disable=SC2086
        "$build/bin/inquest-cc" -g -w -pthread -mno-red-zone $flags $program.c -o $program
        rm -f core
        ./$program 2>/dev/null || true
        [ -f core ] || { echo "skipped: no core was written"; exit 77; }
        # whether the division is made late is the compiler's choice
        [ $program != sunk ] || [ "$(gdb -batch -ex 'output at' sunk core 2>/dev/null | tail -n 1)" = 6 ] || continue
        for solver in $(solvers $program); do
            "$build/bin/inquest" coverage --json --solver "$solver" $program core | python3 -c '
import json, sys
answers = {line["line"]: line["answer"] for line in json.load(sys.stdin)["lines"]}
right = 0
for number, text in enumerate(open(sys.argv[1]), 1):
    truth = text.partition("// ")[2].strip()
    answer = answers.get(number)
    if (truth, answer) in (("ran", "no"), ("never", "yes")):
        sys.exit(f"{sys.argv[1]}: line {number} {truth}, answer is {answer}: {text.strip()}")
    right += (truth, answer) == ("ran", "yes")
if right < int(sys.argv[2]):
    sys.exit(f"{sys.argv[1]}: too little is told: {right} lines")' $program.c "$(least $program)" || { echo "FAIL: $flags, $solver"; exit 1; }
        done
    done
done
# Stopped right behind setjmp, when a jump has led back there: what came before the jump has run.
cat >again.c <<'END'
#include <setjmp.h>
static jmp_buf back;
int g;
__attribute__((noinline)) static void work(int n)
{
    g += n;
    if (g == 1)
        longjmp(back, 1);
}
__attribute__((noinline)) static void returns(void)
{
    if (setjmp(back) == 0) {
        work(1);
        g += 2;
    } else {
        g += 4;
    }
}
int main(void)
{
    returns();
    return 0;
}
END
for flags in -O0 -O2 "-O2 -finquest=full"; do
    # shellcheck disable=SC2086
    "$build/bin/inquest-cc" -g -no-pie $flags again.c -o again
    behind=$(objdump -d --no-show-raw-insn again | awk '/<returns>:/ { f = 1 } f && /call.*_setjmp/ { getline; print $1; exit }')
    rm -f core
    gdb -q -batch -ex "break *0x${behind%:}" -ex run -ex continue -ex 'signal SIGQUIT' ./again >/dev/null 2>&1 || true
    [ -f core ] || { echo "skipped: no core was written"; exit 77; }
    for solver in utl fsa vpa csi; do
        "$build/bin/inquest" coverage --json --solver $solver again core | python3 -c '
import json, sys
told = {line["line"]: line["answer"] for line in json.load(sys.stdin)["lines"]}
sys.exit("no" in (told[6], told[8], told[13]) or "yes" in (told[14], told[16]))' ||
            { echo "FAIL: behind setjmp again, $flags, $solver"; exit 1; }
    done
done
# A function of a library, replaced by one of a library without a model.
cat >part.c <<'END'
int n;
__attribute__((noinline)) int helper(int x)
{
    n = x; // never
    return 3; // never
}
int part(int x)
{
    return helper(x) + 1; // ran
}
END
echo 'int helper(int x) { return 4; }' >instead.c
echo 'int part(int); void abort(void); int main(void) { part(1); abort(); }' >uses.c
clang-19 -fPIC -shared instead.c -o libinstead.so
for flags in -O0 -O2 "-O2 -fsemantic-interposition"; do
    # shellcheck disable=SC2086
    "$build/bin/inquest-cc" -g $flags -fPIC -shared part.c -o libpart.so
    # shellcheck disable=SC2086
    "$build/bin/inquest-cc" -g $flags uses.c -o uses -L. -lpart -Wl,-rpath,"$work"
    for preload in "$work/libinstead.so" ""; do
        rm -f core
        LD_PRELOAD=$preload ./uses 2>/dev/null || true
        for solver in utl vpa csi; do
            "$build/bin/inquest" coverage --json --solver "$solver" uses core | python3 -c '
import json, sys
told = {line["line"]: line["answer"] for line in json.load(sys.stdin)["lines"] if line["file"].endswith("part.c")}
sys.exit(told[4] == ("yes" if sys.argv[1] else "no") or told[9] != "yes")' "$preload" ||
                { echo "FAIL: replaced function, $flags, $solver, preload '$preload'"; exit 1; }
        done
    done
done
echo "all passed"

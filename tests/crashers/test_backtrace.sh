#!/bin/bash
# Stacks as text (gdb, glibc's backtrace(), sanitizers) of programs built without instrumentation,
# crashed for real: what is made of the text must be what the core of the same crash gives, or less
# certain, never something else.
# timeout: 900
set -u -o pipefail

inquest=$INQUEST_BUILD/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
for tool in clang-19 gdb python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
[ -x "$cc" ] || { echo "skipped: inquest-cc is not built"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/test_backtrace.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache DEBUGINFOD_URLS=
failures=0
checks=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

cat >compare.py <<'END_PYTHON'
"""compare.py CORE TEXT MODE: JSON reports of the same crash. Modes: all; signal: from the signal
frame on outwards; tail: the text has the last frames only."""
import json
import sys

core, text = (json.load(open(name)) for name in sys.argv[1:3])
mode = sys.argv[3]
problems = []


def failed(report):
    frames = report["threads"][0]["frames"]
    if mode == "signal":
        start = [i for i, frame in enumerate(frames) if frame["kind"] == "signal"]
        if not start:
            sys.exit("no signal frame in %s" % [frame["function"] for frame in frames])
        frames = frames[start[0]:]
    return report["threads"][0], [frame for frame in frames if frame["kind"] == "model"]


(thread, expected), (other, found) = failed(core), failed(text)
if mode == "tail":
    expected = expected[len(expected) - len(found):]
    first = text["threads"][0]["frames"][0]
    if first["kind"] != "foreign" or not first.get("gap"):
        problems.append("nothing says that the innermost frames are missing")
if text["kind"] != "backtrace" or not found:
    problems.append("no backtrace")
names = [[frame["function"] for frame in frames] for frames in (expected, found)]
if names[0] != names[1]:
    problems.append("functions %s, the core has %s" % (names[1], names[0]))
for a, b in zip(expected, found):
    want, have = set(a["candidates"]), set(b["candidates"])
    if (a["module"], a.get("index", 0)) != (b["module"], b.get("index", 0)):
        problems.append("another function called '%s'" % a["function"])
    elif not (want <= have if len(want) == 1 else want & have):
        problems.append("%s is at %s, the core has %s" % (a["function"], have, want))
    if a.get("gap") and not b.get("gap"):
        problems.append("no gap behind '%s'" % a["function"])
    if mode == "all" and bool(a.get("inlined")) > bool(b.get("inlined")) and "exact" in sys.argv[4:]:
        problems.append("'%s' is inlined" % a["function"])
    if "exact" in sys.argv[4:] and want != have:
        problems.append("%s is at %s, not exactly %s" % (a["function"], have, want))
if other.get("whole") and not thread.get("whole"):
    problems.append("the stack is not whole")
if text["warnings"] and "quiet" in sys.argv[4:]:
    problems.append("warnings: %s" % text["warnings"])
for problem in problems:
    print("     ", problem)
sys.exit(bool(problems))
END_PYTHON

# same NAME PROGRAM TEXT CORE_REPORT MODE...
same() {
    local name=$1 program=$2 text=$3 core=$4
    shift 4
    checks=$((checks + 1))
    if ! "$inquest" report "$program" "$text" >text.json 2>err; then
        fail "$name: $(cat err)"
    elif ! python3 compare.py "$core" text.json "$@"; then
        fail "$name"
        sed 's/^/      | /' "$text" | head -n 20
    fi
}

# refused NAME PATTERN ARGUMENTS...: exit status 2, one line.
refused() {
    local name=$1 pattern=$2 got=0
    shift 2
    checks=$((checks + 1))
    "$inquest" report "$@" >out 2>err || got=$?
    [ "$got" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -- "$pattern" err ||
        fail "$name: status $got, $(head -n 2 err)"
}

core_of() { # PROGRAM ARGUMENTS...: its report in core.json
    rm -f core
    timeout 60 "$inquest" run --no-summary --core core -- "$@" >/dev/null 2>&1 </dev/null
    "$inquest" report "$1" core >core.json
}

cat >first.c <<'END_C'
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int second(int n, int *volatile *cell);
static int *volatile cell;

static int step(int n)
{
    return second(n, &cell) +
           n;
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (x == 3)
        return step(x);
    return x - y;
}

static __attribute__((noinline)) int sorted(int *data, size_t count)
{
    qsort(data, count, sizeof(*data), compare);
    return data[0];
}

static int middle(int n)
{
    int data[4] = {4, 1, 3, n};
    if (n > 100)
        puts("large"); else return sorted(data, 4) + n;
    return sorted(data, 3);
}

static void handler(int number)
{
    void *frames[64];
    int count = backtrace(frames, 64);
    (void)number;
    backtrace_symbols_fd(frames, count, 2);
    abort();
}

static void *waiting(void *unused)
{
    pause();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && strchr(argv[1], 'h'))
        signal(SIGSEGV, handler);
    if (argc > 1 && strchr(argv[1], 't'))
        pthread_create(&thread, NULL, waiting, NULL);
    if (argc > 1 && strchr(argv[1], 'a'))
        abort();
    return middle(argc);
}
END_C
cat >second.c <<'END_C'
int second(int n, int *volatile *cell);

static int step(int n, int *volatile *cell)
{
    if (n > 7)
        return n;
    return n + **cell;
}

static __attribute__((noinline)) int down(int n, int *volatile *cell)
{
    if (n > 1)
        return down(n - 1, cell) + 1;
    return step(n, cell) * 2;
}

int second(int n, int *volatile *cell)
{
    return down(n, cell);
}
END_C

without_addresses() {
    sed -E 's/^(#[0-9]+ +)0x[0-9a-f]+ in /\1/'
}

for flags in "-O0" "-O1" "-O2" "-O2 -no-pie" "-O2 -finquest=paths"; do
    echo "--- $flags"
    # shellcheck disable=SC2086
    "$cc" -finquest=none -g $flags -rdynamic -o prog first.c second.c -lpthread || fail "inquest-cc"
    core_of ./prog
    gdb -q -batch -ex bt ./prog core >gdb.txt 2>&1
    same "gdb $flags" ./prog gdb.txt core.json all exact quiet
    gdb -q -batch -ex 'bt full' ./prog core >full.txt 2>&1
    same "gdb bt full $flags" ./prog full.txt core.json all exact quiet
    gdb -q -batch -ex 'thread apply all bt' ./prog core >threads.txt 2>&1
    same "gdb threads $flags" ./prog threads.txt core.json all exact quiet
    gdb -q -batch -ex 'bt -3' ./prog core 2>&1 | grep -v '^#0' >last.txt
    same "gdb bt -3 $flags" ./prog last.txt core.json tail
    without_addresses <gdb.txt >names.txt
    same "gdb without addresses $flags" ./prog names.txt core.json all
    gdb -q -batch -ex run -ex bt --args ./prog t >live.txt 2>&1
    same "gdb live $flags" ./prog live.txt core.json all
    # another build of the same sources: names and lines
    # shellcheck disable=SC2086
    "$cc" -finquest=none -g $flags -falign-functions=64 -o other first.c second.c -lpthread
    gdb -q -batch -ex run -ex bt ./other >other.txt 2>&1
    "$inquest" report ./prog other.txt >text.json 2>err || fail "another build: $(cat err)"
    grep -q 'not of this build' text.json || fail "another build is not noticed, $flags"
    same "gdb of another build $flags" ./prog other.txt core.json all

    core_of ./prog h
    ./prog h >glibc.txt 2>&1
    same "glibc $flags" ./prog glibc.txt core.json signal quiet
    sed -E 's/\([^)]*\)//' glibc.txt >bare.txt # ./prog[0x...]
    case $flags in *no-pie*) same "glibc, addresses only $flags" ./prog bare.txt core.json signal ;; esac
    gdb -q -batch -ex bt ./prog core >gdb.txt 2>&1
    same "gdb, in a handler $flags" ./prog gdb.txt core.json all quiet
    checks=$((checks + 1))
    "$inquest" report ./prog core gdb.txt glibc.txt >both.json 2>err || fail "joined: $(cat err)"
    grep -q '"kind": "core"' both.json || fail "joined: not the core's"
    core_of ./prog a
    gdb -q -batch -ex bt ./prog core >gdb.txt 2>&1
    same "gdb of abort $flags" ./prog gdb.txt core.json all exact quiet
    refused "two runs $flags" "'core' and 'glibc.txt' are not of the same run" ./prog core glibc.txt
    refused "two cores" "both cores" ./prog core core
done

echo "--- hazards"
for name in qsort_callback signal_handler sigaltstack noreturn switch inlined_call threads musttail \
    pure_const setjmp_longjmp varargs static_program division library_fault; do
    for level in -O0 -O2; do
        extra=
        [ $name = static_program ] && extra=-static
        # shellcheck disable=SC2086
        "$cc" -finquest=none -g $level -w $extra -o "$name" "$INQUEST_SRC/tests/crashers/$name.c" \
            -lpthread -lm || fail "inquest-cc $name"
        core_of "./$name"
        gdb -q -batch -ex bt "./$name" core >gdb.txt 2>&1
        same "gdb $name $level" "./$name" gdb.txt core.json all quiet
        without_addresses <gdb.txt >names.txt
        same "gdb without addresses $name $level" "./$name" names.txt core.json all
    done
done
# a call that must be a tail call leaves no frame, and at -O0 no debug information
"$cc" -finquest=none -g -O0 -w -o musttail "$INQUEST_SRC/tests/crashers/musttail.c"
core_of ./musttail
gdb -q -batch -ex bt ./musttail core >gdb.txt 2>&1
"$inquest" report ./musttail gdb.txt | grep '"function":"accept"' | grep -q '"gap":true' ||
    fail "musttail: no gap"
# a library function that a function of the program left to by a tail call
cat >left.c <<'END_C'
#include <stdlib.h>
static void (*volatile pointer)(void *);
static void release(void *p) { free(p); }
int main(int argc, char **argv)
{
    (void)argv;
    pointer = release;
    pointer((void *)(long)(argc + 7));
    return argc;
}
END_C
"$cc" -finquest=none -g -O2 -o left left.c
core_of ./left
gdb -q -batch -ex bt ./left core >gdb.txt 2>&1
"$inquest" report ./left gdb.txt | grep -B 1 '"function":"main"' | head -n 1 | grep -q '"gap":true' ||
    fail "a tail call to a library function: no gap"
# printed by a function that does not return, and by one that does
cat >fatal.c <<'END_C'
#include <execinfo.h>
#include <stdlib.h>
static __attribute__((noinline)) void print(void)
{
    void *frames[32];
    backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
}
static __attribute__((noinline)) int check(int n)
{
    if (n > 0) {
        print();
        exit(n);
    }
    return n;
}
int main(int argc, char **argv) { (void)argv; return check(argc) + 1; }
END_C
for level in -O0 -O2; do
    "$cc" -finquest=none -g $level -o fatal fatal.c
    ./fatal >fatal.txt 2>&1
    "$inquest" report ./fatal fatal.txt >text.json || fail "fatal"
    python3 - $level <<'END_PYTHON' || fail "fatal $level"
import json, sys
thread = json.load(open("text.json"))["threads"][0]
frames = thread["frames"]
names = [frame["function"] for frame in frames]
assert names[:3] == ["??", "check", "main"], names
assert frames[0]["gap"] and frames[1]["interrupted"] and thread["whole"], frames
assert len(frames[1]["candidates"]) > 1, "control went on to exit()"
assert len(frames[2]["candidates"]) == 1
END_PYTHON
done

if ! echo 'int main(void) { return 0; }' | clang-19 -x c -fsanitize=address,undefined -o probe - 2>/dev/null; then
    echo "the sanitizers' run-time libraries are not installed"
else
    echo "--- sanitizers"
    for level in -O0 -O1 -O2; do
        "$cc" -finquest=none -g $level -fsanitize=address -o sanitized first.c second.c || fail "asan"
        ASAN_OPTIONS=handle_segv=0:detect_leaks=0 core_of ./sanitized
        ASAN_OPTIONS=detect_leaks=0 ./sanitized >asan.txt 2>&1
        same "asan $level" ./sanitized asan.txt core.json all quiet
        ASAN_OPTIONS=detect_leaks=0:symbolize=0 ./sanitized >asan.txt 2>&1
        same "asan, not symbolised $level" ./sanitized asan.txt core.json all quiet
        refused "asan of another program $level" "another build" ./prog <(sed 's/sanitized+/prog+/' asan.txt)
        "$cc" -finquest=none -g $level -o plain first.c second.c
        core_of ./plain
        ASAN_OPTIONS=detect_leaks=0 ./sanitized >asan.txt 2>&1
        same "asan, against the build without $level" ./plain asan.txt core.json all
    done
    cat >freed.c <<'END_C'
#include <stdlib.h>
static __attribute__((noinline)) int *give(int n)
{
    int *p = malloc(4 * (size_t)n);
    p[0] = n;
    free(p);
    return p;
}
static __attribute__((noinline)) int use(const int *p, int n)
{
    return n > 5 ? 0 : p[0] + 1;
}
static int add(int a, int b)
{
    return a + b;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return add(argc, 2147483647) > 0;
    return use(give(argc), argc) + 1;
}
END_C
    "$cc" -finquest=none -g -O1 -fsanitize=address -o freed freed.c
    ASAN_OPTIONS=detect_leaks=0 ./freed >asan.txt 2>&1
    "$inquest" report ./freed asan.txt >text.json || fail "use after free"
    "$cc" -finquest=none -g -O0 -fsanitize=undefined -fno-sanitize-recover=all -o undefined freed.c
    UBSAN_OPTIONS=print_stacktrace=1 ./undefined 1 >ubsan.txt 2>&1
    "$inquest" report ./undefined ubsan.txt >ubsan.json || fail "ubsan"
    ./undefined 1 >place.txt 2>&1
    "$inquest" report ./undefined place.txt >place.json || fail "ubsan without a stack"
    python3 - <<'END_PYTHON' || fail "reports"
import json
def stack(name):
    frames = json.load(open(name))["threads"][0]["frames"]
    return [(frame["function"], frame["line"]) for frame in frames if frame["kind"] == "model"]
assert stack("text.json") == [("use", 11), ("main", 22)], stack("text.json")
assert stack("ubsan.json") == [("add", 15), ("main", 21)], stack("ubsan.json")
assert stack("place.json") == [("add", 15)], stack("place.json")
END_PYTHON
    "$cc" -finquest=none -g -O0 -fsanitize=undefined -o recovers freed.c
    UBSAN_OPTIONS=print_stacktrace=1 ./recovers 1 >ubsan.txt 2>&1
    echo "done" >>ubsan.txt
    refused "a report that the program went on from" "went on" ./recovers ubsan.txt
fi

echo "$checks checks, $failures failures"
[ "$failures" -eq 0 ]

#!/bin/bash
# Queries about processes of several threads: what any of them did is never impossible, whether it is there, has ended or was left
# behind by fork(); what none of them did is not possible to leave out; ask and coverage say the same of each line.
# timeout: 240
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect ANSWER QUERY; with "not-" in front, anything but that.
expect() {
    local answer status=0
    # shellcheck disable=SC2086
    answer=$("$build/bin/inquest" ask $solver prog core "$2" 2>&1) || status=$?
    [ "$status" -le 1 ] || [ "$status" -eq 3 ] || { echo "FAIL: $name $flags $solver: $2: status $status: $answer"; exit 1; }
    case $1:$answer in
    not-*) [ "${answer%%:*}" != "${1#not-}" ] || { echo "FAIL: $name $flags $solver: $2 is $answer" && exit 1; } ;;
    "${answer%%:*}":*) ;;
    *) echo "FAIL: $name $flags $solver: $2 is not $1: $answer" && exit 1 ;;
    esac
    case $answer in *'found is none'*) echo "FAIL: $name $flags $solver: $2: $answer" && exit 1 ;; esac
}

# What coverage says of each line, ask says of the line and of `never` it; csi contradicts nobody.
compare() {
    local code line
    for code in vpa fsa utl; do
        "$build/bin/inquest" coverage --json --solver $code prog core >$code.json || { echo "FAIL: $name $flags: coverage $code"; exit 1; }
    done
    "$build/bin/inquest" coverage --json --solver csi prog core >csi.json || { echo "FAIL: $name $flags: coverage csi"; exit 1; }
    python3 - "$build/bin/inquest" "$name $flags" <<'END_OF_PYTHON'
import json, os, subprocess, sys

inquest, name = sys.argv[1:]
def lines(solver):
    return {f"{os.path.basename(l['file'])}:{l['line']}": l["answer"] for l in json.load(open(solver + ".json"))["lines"]}

failed = False
def wrong(*words):
    global failed
    print("FAIL:", name, *words)
    failed = True

csi, vpa = lines("csi"), lines("vpa")
for line, answer in csi.items():
    if {answer, vpa[line]} == {"yes", "no"}:
        wrong(line, "csi says", answer, "and vpa", vpa[line])
for solver in "vpa", "fsa", "utl":
    told = lines(solver)
    text = "".join(f"{line}\nnever {line}\n" for line in told)
    out = subprocess.run([inquest, "ask", "--json", "--solver", solver, "prog", "core"], input=text, stdout=subprocess.PIPE, text=True).stdout
    decoder, at, answers = json.JSONDecoder(), 0, {}
    while at < len(out.rstrip()):
        answer, at = decoder.raw_decode(out, at)
        at += len(out[at:]) - len(out[at:].lstrip())
        answers[answer["query"]] = answer
        if answer["scope"] != "process":
            wrong(answer["query"], "has the scope", answer["scope"])
    for line, answer in told.items():
        happens, never = answers[line]["answer"], answers["never " + line]["answer"]
        if (answer == "no") != (happens == "impossible"):
            wrong(solver, line, "is", answer, "and that it happens is", happens)
        if answer == "yes" and never != "impossible":
            wrong(solver, line, "is", answer, "and that it does not is", never)
sys.exit(failed)
END_OF_PYTHON
}

solvers=('' '--solver fsa' '--solver utl')
run() {
    for flags in -O0 -O2; do
        # shellcheck disable=SC2086
        "$build/bin/inquest-cc" -g -w $flags -pthread prog.c -o prog
        rm -f core
        ./prog 2>/dev/null || true
        [ -f core ] || { echo "skipped: no core was written"; exit 77; }
        for solver in "${solvers[@]}"; do
            "queries_of_$name"
        done
        compare
    done
}

# ---- A thread that waits has done what the one that fails has not; another has ended.
name=beside
cat >prog.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t ready, never;
static volatile int opened, closed, counted, missed;
static __attribute__((noinline)) void open_it(void) { opened++; }
static __attribute__((noinline)) void close_it(void) { closed++; }
static __attribute__((noinline)) void count_it(void) { counted++; }
static __attribute__((noinline)) void miss_it(void) { missed++; }
static void *waits(void *argument)
{
    open_it();
    sem_post(&ready);
    sem_wait(&never);
    if (argument)
        miss_it();
    close_it();
    return NULL;
}
static void *ends(void *argument)
{
    count_it();
    return argument;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&b, NULL, ends, NULL);
    pthread_join(b, NULL);
    pthread_create(&a, NULL, waits, NULL);
    sem_wait(&ready);
    abort();
}
END
queries_of_beside() {
    expect possible 'open_it()'
    expect possible 'count_it()'
    expect possible 'open_it() and count_it()'
    expect possible 'open_it() then count_it()'
    expect possible 'count_it() then open_it()'
    expect possible 'open_it() without count_it() before it'
    expect possible 'main() then never open_it()'
    expect impossible 'never open_it()'
    expect impossible 'never prog.c:22' # where it is called
    expect impossible 'never prog.c:13' # where the thread waits
    expect impossible 'close_it()'
    expect impossible 'miss_it()'
    expect impossible 'miss_it() or close_it()'
    expect impossible 'open_it() then close_it()'
    expect impossible 'count_it() and never open_it()'
    expect possible 'never close_it()'
    expect not-impossible 'never (open_it() then count_it())'
    expect not-impossible 'never (count_it() then open_it())'
    expect not-impossible '(open_it() then count_it()) and (main() then open_it())'
    expect not-impossible 'call open_it inside waits()'
    [ "$solver" ] || expect impossible 'call open_it inside ends()'
    [ "$solver" ] || expect possible 'open_it() only inside waits()'
    [ "$solver" ] || expect impossible '(open_it() then count_it()) inside waits()'
}
run
"$build/bin/inquest" ask prog core 'main() and open_it()' >told.txt
grep -q 'shows its part' told.txt || { echo "FAIL: whose run it is is not told"; exit 1; }
"$build/bin/inquest" ask --json prog core 'never close_it()' >told.txt
grep -q '"witness_thread"' told.txt || { echo "FAIL: no witness_thread"; exit 1; }

# ---- The first thread is not there any more.
name=first_gone
cat >prog.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile int state;
static pthread_t first;
static __attribute__((noinline)) void prepare(void) { state = 1; }
static __attribute__((noinline)) void tidy(void) { state = 2; }
static void *work(void *argument)
{
    pthread_join(first, NULL);
    abort();
}
int main(int argc, char **argv)
{
    pthread_t a;
    first = pthread_self();
    prepare();
    pthread_create(&a, NULL, work, NULL);
    if (argc > 1)
        tidy();
    pthread_exit(NULL);
}
END
queries_of_first_gone() {
    expect possible 'prepare()'
    expect impossible 'never prepare()'
    expect impossible 'tidy()'
    expect possible 'prepare() then work()'
    expect not-impossible 'main() then prepare() then work()'
}
run

# ---- The child of a thread's fork().
name=forked
cat >prog.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int state;
static __attribute__((noinline)) void prepare(void) { state = 1; }
static __attribute__((noinline)) void alone(void) { state = 2; }
static void *work(void *argument)
{
    if (fork() == 0) {
        alone();
        abort();
    }
    wait(NULL);
    return NULL;
}
int main(void)
{
    pthread_t a;
    prepare();
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
END
queries_of_forked() {
    expect possible 'prepare()'
    expect impossible 'never prepare()'
    expect impossible 'never alone()'
    expect not-impossible 'prepare() then alone()'
}
run
echo "all passed"

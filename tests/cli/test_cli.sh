#!/bin/bash
# The command line as a whole: help, suggestions, exit statuses, completions, and a real program
# that is built, crashed, summarised, reported and tuned.
set -u -o pipefail

inquest=$INQUEST_BUILD/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
work=$(mktemp -d "${TMPDIR:-/tmp}/test_cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# status N COMMAND...: the command exits with N; its output is in $out, its messages in $err.
status() {
    local expected=$1 got=0
    shift
    out=$("$@" 2>"$work/stderr" </dev/null) || got=$?
    err=$(cat "$work/stderr")
    [ "$got" -eq "$expected" ] || fail "exit status $got, expected $expected: $* ($err)"
}

# one_line: what went wrong was said in one line.
one_line() {
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "not one line on standard error: $err"
}

has() {
    case $1 in
    *"$2"*) ;;
    *) fail "'$2' is not in: $1" ;;
    esac
}

has_not() {
    case $1 in
    *"$2"*) fail "'$2' is in: $1" ;;
    esac
}

# json EXPRESSION: of the document `d` on standard input.
json() {
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# --- help and suggestions

status 0 "$inquest" --help
has "$out" "usage: inquest EXE CORE"
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$out" | grep -v '^help$')
[ -n "$commands" ] || fail "no commands in --help"
status 0 "$inquest" --version
has "$out" "inquest "
for command in $commands; do
    status 0 "$inquest" help "$command"
    has "$out" "usage: inquest $command"
    has "$out" "example: "
    for option in --json --quiet --time --memory --verbose --help; do
        has "$out" "$option"
    done
    help_text=$out
    status 0 "$inquest" "$command" --help
    [ "$out" = "$help_text" ] || fail "help $command and $command --help differ"
    # every option is known to every completion
    for option in $(grep -o -- '^  \(-., \)\?--[a-z-]*' <<<"$help_text" | grep -o -- '--[a-z-]*'); do
        for shell in inquest.bash _inquest; do
            grep -q -- "$option\b" "$INQUEST_SRC/completions/$shell" ||
                fail "$shell lacks $option of $command"
        done
        grep -q -- "-l ${option#--}\b" "$INQUEST_SRC/completions/inquest.fish" ||
            fail "inquest.fish lacks $option of $command"
    done
    for file in completions/inquest.bash completions/_inquest completions/inquest.fish \
        docs/commands.md docs/man/inquest.1; do
        grep -q "\b$command\b" "$INQUEST_SRC/$file" || fail "$file lacks $command"
    done
done
bash -n "$INQUEST_SRC/completions/inquest.bash" || fail "inquest.bash does not parse"

status 2 "$inquest"
one_line
status 2 "$inquest" sumary a b
one_line
has "$err" "did you mean 'inquest summary'?"
status 2 "$inquest" report --outptu x a b
one_line
has "$err" "did you mean '--output'?"
status 2 "$inquest" doctor --zzzzzzzz
one_line
has "$err" "unknown option '--zzzzzzzz'"
status 2 "$inquest" report a
one_line
has "$err" "too few arguments"
status 2 "$inquest" dump a b
one_line
has "$err" "unexpected argument 'b'"
status 2 "$inquest" report a b -o
one_line
has "$err" "needs a value"
status 2 "$inquest" summary a b --time never
one_line
status 2 "$inquest" summary a b --json=yes
one_line

# --- doctor

got=0
"$inquest" doctor --json >doctor.json || got=$?
[ "$(json 'd["schema"]' <doctor.json)" = doctor/1 ] || fail "doctor --json"
worst=$(json 'd["status"]' <doctor.json)
[ "$worst" = fail ] && expected=1 || expected=0
[ "$got" -eq "$expected" ] || fail "doctor says $worst and exits with $got"
[ "$(json 'all(c["status"] == "ok" or c["advice"] for c in d["checks"])' <doctor.json)" = True ] ||
    fail "doctor finds something and gives no advice"
case $(cat /proc/sys/kernel/core_pattern) in
'|'*) ;;
*)
    status 1 bash -c "ulimit -c 0; exec '$inquest' doctor --quiet"
    has "$out" "fail core size limit"
    has_not "$out" "ok "
    ;;
esac

# --- a real program

if [ ! -x "$cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built: the rest is skipped"
    [ "$failures" -eq 0 ]
    exit
fi

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static int *volatile cell;

static int helper(int n)
{
    return n > 7 ? n + 1 : n;
}

static int never(int n)
{
    if (n)
        n--;
    return n;
}

int deep(int n)
{
    if (n == 0)
        return *cell;
    if (n < 0)
        return never(n);
    return deep(n - 1) + helper(n);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3;
    printf("%d\n", helper(n));
    return deep(n);
}
END
"$cc" -g -O0 -o prog prog.c || fail "inquest-cc"
"$inquest" run --no-summary --core core -- ./prog >/dev/null 2>&1 || fail "inquest run"
[ -s core ] || { fail "no core"; exit 1; }

status 0 "$inquest" ./prog core
has "$out" "SIGSEGV: invalid memory access at address 0x0 (nothing is mapped there): a null pointer"
has "$out" "#0   deep at prog.c:21"
has "$out" ">     21 |         return *cell;"
has "$out" "never made: never (23), deep (24), helper (24)"
summary=$out
status 0 "$inquest" summary ./prog core
[ "$out" = "$summary" ] || fail "summary and no command differ"

# evidence JSON stands for the core, and comes back the same
status 0 "$inquest" report ./prog core -o report.json
status 0 "$inquest" ./prog report.json
[ "$out" = "$summary" ] || fail "the summary of the report is another than that of the core"
status 0 "$inquest" report ./prog report.json -o again.json
cmp -s report.json again.json || fail "the report is not read back losslessly"
status 0 "$inquest" --json ./prog core
[ "$(json 'd["threads"][0]["frames"][0]["function"]' <<<"$out")" = deep ] || fail "--json"
document=$out
status 0 "$inquest" --json ./prog report.json
[ "$(json 'd | {"source": 0}' <<<"$out")" = "$(json 'd | {"source": 0}' <<<"$document")" ] ||
    fail "--json of report and core differ"
status 2 "$inquest" report ./prog core -o "$work/no/such/folder"
one_line
status 2 "$inquest" report ./prog core -o /dev/full/x
one_line
if [ -w /dev/full ]; then
    "$inquest" report ./prog core >/dev/full 2>stderr
    [ $? -eq 2 ] || fail "a full disk is not trouble"
fi
zstd -q core -o core.zst 2>/dev/null && {
    status 0 "$inquest" ./prog core.zst
    [ "$out" = "$summary" ] || fail "the summary of the compressed core is another"
}

# the wrong program, and what is no program
sed 's/n > 7/n > 8/' prog.c >other.c
"$cc" -g -O0 -o other other.c
for wrong in ./other /bin/true ./prog.c; do
    status 2 "$inquest" "$wrong" core
    one_line
    status 2 "$inquest" "$wrong" report.json
    one_line
done
status 2 "$inquest" ./prog ./prog
one_line
for length in 0 1 64 4096 20000; do
    head -c "$length" core >cut
    status 2 "$inquest" ./prog cut
    one_line
done

# deep recursion is short, and quick
"$inquest" run --no-summary --core core.deep -- ./prog 60000 >/dev/null 2>&1
status 0 "$inquest" ./prog core.deep
has "$out" "frames of deep repeated"
[ "$(wc -l <<<"$out")" -lt 40 ] || fail "a deep stack is long"
status 0 "$inquest" --json ./prog core.deep
[ "$(json 'len(d["threads"][0]["frames"])' <<<"$out")" -gt 60000 ] || fail "frames are missing"
status 3 "$inquest" --json --time 1ms ./prog core.deep
[ "$(json 'd["complete"]' <<<"$out")" = False ] || fail "not marked incomplete"

# --- tune

on() {
    "$inquest" tune "$1" --list | sed -n 's/^on  *\([a-z]*\) .*/\1/p' | sort | tr '\n' ' '
}
cp prog tuned
chmod 4751 tuned
[ "$(on tuned)" = "deep helper main never " ] || fail "not all on: $(on tuned)"
status 0 "$inquest" tune tuned --off '*' --on 'h*'
has "$out" "1 of 4 functions record, 3 changed"
[ "$(on tuned)" = "helper " ] || fail "--off --on: $(on tuned)"
[ "$(stat -c %a tuned)" = 4751 ] || fail "the mode is not kept"
cp tuned before
status 1 "$inquest" tune tuned --on deep --on 'no_such_*'
one_line
cmp -s tuned before || fail "changed in spite of a pattern that matches nothing"
status 0 "$inquest" tune tuned --off '*' --on 'prog.c:main'
[ "$(on tuned)" = "main " ] || fail "FILE:PATTERN: $(on tuned)"
status 0 "$inquest" tune tuned --on-stack core report.json
[ "$(on tuned)" = "deep main " ] || fail "--on-stack: $(on tuned)"
strip -o stripped tuned
[ "$(on stripped)" = "deep main " ] || fail "stripped: $(on stripped)"
status 0 "$inquest" tune stripped --off '*'
[ "$(on stripped)" = "" ] || fail "stripped, off: $(on stripped)"
ln -s stripped link
status 0 "$inquest" tune link --on main
[ -L link ] || fail "the symbolic link is gone"
[ "$(on stripped)" = "main " ] || fail "through a link: $(on stripped)"

# it still runs, and what is off is said
cp prog off
"$inquest" tune off --off '*' --quiet
"$inquest" run --no-summary --core core.off -- ./off >/dev/null 2>&1
status 0 "$inquest" ./off core.off
has "$out" "this function was switched off"

# a program that runs is refused: the reader at the other end keeps this one waiting
cat >wait.c <<'END'
#include <unistd.h>
int main(void)
{
    char byte;
    return write(1, "!", 1) == 1 && read(0, &byte, 1) < 0;
}
END
"$cc" -g -o wait wait.c
mkfifo to from
./wait <to >from &
waiting=$!
exec 3>to 4<from
read -r -n 1 <&4
status 2 "$inquest" tune wait --off '*'
one_line
has "$err" "running"
exec 3>&-
wait "$waiting"
status 2 "$inquest" tune /bin/true --list
one_line
has "$err" "not built with inquest-cc"
status 2 "$inquest" tune prog
one_line
status 2 "$inquest" tune nothing --list
one_line

[ "$failures" -eq 0 ] && echo "all good"
[ "$failures" -eq 0 ]

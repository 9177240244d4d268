#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `inquest run`: which failures are caught, what the cores are worth to gdb, and that the program runs
# as it would by itself. The programs are the modes of run_victim.c.
# timeout: 300
set -u

inquest=$INQUEST_BUILD/bin/inquest
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
victim=./victim
failed=0

fail() {
    echo "FAILED: $*" >&2
    failed=1
}

# equal WHAT GOT WANTED
equal() {
    [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# contains WHAT FILE PATTERN
contains() {
    grep -q -- "$3" "$2" || fail "$1: no '$3' in: $(head -c 2000 "$2")"
}

# run STATUS WHAT ARGUMENT...: `inquest run` with that exit status; its core, if any, is ./core.
# Output goes to out and err.
run() {
    local wanted=$1 what=$2
    shift 2
    rm -f core
    timeout -s KILL 60 "$inquest" run --no-summary --core core "$@" >out 2>err </dev/null
    local status=$?
    [ "$status" = "$wanted" ] || fail "$what: exit status $status, wanted $wanted: $(cat err)"
    if [ "$wanted" = 0 ]; then
        [ -s core ] || fail "$what: no core"
    else
        [ ! -e core ] || fail "$what: a core"
    fi
}

have_gdb=$(command -v gdb || true)

# stack FILE [COMMAND]: what gdb makes of a core.
stack() {
    gdb -q -nx -batch -ex "set print thread-events off" -ex "${2:-bt}" "$victim" "$1" 2>/dev/null |
        grep -a '^#\|^Thread\|^=>'
}

# told FILE SIGINFO: all that gdb reads out of a core, but for thread ids.
told() {
    gdb -q -nx -batch -ex 'bt 50' -ex 'x/i $pc' -ex 'info registers rip rsp rbp' -ex "p $2" \
        -ex 'info proc mappings' "$victim" "$1" 2>/dev/null | grep -a '=\|0x\|^#' | grep -av 'LWP'
}

# in_stack WHAT FUNCTION...: these functions are frames of ./core, in that order.
in_stack() {
    [ -n "$have_gdb" ] || return 0
    local what=$1 rest
    shift
    rest=$(stack core | sed 's/(.*//' | tr '\n' ' ')
    local frames=$rest
    for function in "$@"; do
        case $rest in
        *" $function "*) rest=${rest#*" $function "} ;;
        *) fail "$what: no frame of $function in: $frames" && return ;;
        esac
    done
}

"${CC:-cc}" -g -O0 -w -o victim "$INQUEST_SRC/tests/cli/run_victim.c" -lpthread || exit 1

"$inquest" run --no-summary --core core -- $victim exit 0 >out 2>err
status=$?
if [ $status = 2 ] && grep -q 'cannot trace' err; then
    cat err
    exit 77
fi
equal "a program without failure" $status 1

# --- every kind of crash, with cores disabled ---
ulimit -S -c 0
while read -r signal mode; do
    # shellcheck disable=SC2086
    run 0 "$mode" -- $victim $mode
    contains "$mode" err "SIG$signal "
done <<'END'
SEGV segv
ABRT abort
FPE fpe
ILL ill
TRAP trap
BUS bus
QUIT raise 3
XCPU raise 24
XFSZ raise 25
SYS raise 31
SEGV blocked
SEGV ignored
SEGV reraise
SEGV overflow
SEGV overflow-handled
SEGV thread-exec
SYS seccomp-kill
SEGV child
ABRT spawn
SEGV threads
SEGV churn
ABRT sparse
END

run 0 "a fault" -- $victim segv
in_stack "a fault" fault fault fault fault fault mode_segv main
run 0 "an abort" -- $victim abort
in_stack "an abort" mode_abort main

# --- signals that are the program's own business, and exit codes ---
run 1 "handled signals" -- $victim handled
run 1 "SIGTERM" -- $victim raise 15
run 1 "SIGKILL" -- $victim raise 9
run 1 "SIGSTOP and SIGCONT" -- $victim stop
for mode in "exit 0" "exit 1" "exit 2" "exit 77" "exit 255" handled stop child spawn segv abort "raise 15" "raise 9" threads; do
    # shellcheck disable=SC2086
    { $victim $mode; own=$?; } >/dev/null 2>&1
    # shellcheck disable=SC2086
    { "$inquest" run -n --quiet --pass-exit --core core -- $victim $mode; ours=$?; } >/dev/null 2>&1
    equal "--pass-exit of $mode" $ours $own
done

# --- the program sees nothing of us ---
$victim dispositions >own
"$inquest" run -n -- $victim dispositions >ours
equal "signals and descriptors" "$(grep -v SigQ ours)" "$(grep -v SigQ own)"
(
    trap '' INT CHLD USR1
    $victim dispositions >own
    "$inquest" run -n -- $victim dispositions >ours
)
equal "ignored signals" "$(grep -v SigQ ours)" "$(grep -v SigQ own)"
equal "standard input" "$(echo text | "$inquest" run -n -- cat)" text
equal "arguments" "$("$inquest" run -n -- printf '%s|' a 'b c' '' --json)" 'a|b c||--json|'

# --- signals sent to us go to the program, once ---
mkfifo fifo
"$inquest" run -n --pass-exit -- $victim wait-term >fifo &
read -r _ <fifo
kill -TERM $!
wait $!
equal "SIGTERM passed on" $? 12

# --- a daemon is left behind, untraced ---
run 1 "a daemon" -- $victim daemon pid
until [ -s pid ]; do :; done
equal "tracer of the daemon" "$(sed -n 's/^TracerPid:\t//p' "/proc/$(cat pid)/status")" 0
kill "$(cat pid)"

# --- children ---
run 0 "two failures, the first kept" -- $victim two-children
contains "the second failure" err "no core kept"
rm -f core*
"$inquest" run -n --all --core core.%p -- $victim two-children 2>/dev/null
equal "--all" "$(find . -name 'core.*' | wc -l)" 2
rm -f core*
run 1 "--no-follow" --no-follow -- $victim child

# --- the name of the core, and compression ---
"$inquest" run -n -- $victim segv 2>/dev/null
equal "the default name" "$(find . -name 'inquest.core.[0-9]*' | wc -l)" 1
equal "its mode" "$(stat -c %a inquest.core.*)" 600
rm -f inquest.core.*
"$inquest" run -n --core 'dump-%e' -- $victim segv 2>/dev/null
[ -s dump-victim ] || fail "%e in the name"
run 0 "a sparse core" -- $victim sparse
[ "$(stat -c '%b * %B / 1048576' core | xargs expr)" -lt 64 ] || fail "the core is not sparse"
if command -v zstd >/dev/null; then
    run 0 "a compressed core" --zstd -- $victim segv
    mv core core.zst
    zstd -qdf core.zst -o core || fail "zstd does not take the compressed core"
    in_stack "a compressed core" fault mode_segv main
fi

# --- gdb sees in our core what it sees in the kernel's (of a process with the same stack) ---
compared=0
setarch=$(command -v setarch)
if [ -n "$have_gdb" ] && "$setarch" -R true 2>/dev/null; then
    for mode in segv abort fpe overflow-handled threads; do
        rm -rf kernel core
        mkdir kernel
        (
            cd kernel && ulimit -S -c unlimited 2>/dev/null && cp ../victim . &&
                env -i "$setarch" -R ./victim $mode >/dev/null 2>&1
        ) 2>/dev/null
        theirs=$(find kernel -name 'core*' | head -n 1)
        [ -n "$theirs" ] || break # cores are piped away here
        (cd kernel && "$inquest" run -n --core ../core -- env -i "$setarch" -R ./victim $mode) >/dev/null 2>&1
        victim=kernel/victim
        siginfo='$_siginfo._sifields._sigfault'
        [ $mode != abort ] || siginfo='$_siginfo.si_signo' # the rest has a process id
        told core "$siginfo" >ours
        told "$theirs" "$siginfo" >kernels
        diff ours kernels >&2 || fail "gdb tells another story of $mode from our core"
        contains "$mode" ours '^#0'
        contains "$mode" ours '^=> '
        compared=$((compared + 1))
        victim=./victim
    done
    run 0 "threads" -- $victim threads
    equal "threads in the core" "$(stack core 'thread apply all bt 1' | grep -c '^Thread')" 5
    in_stack "the failed thread" fault fault fault fault_in_thread
fi

# --- wrong output ---
printf 'line 1\nline 2\nline 3\nline 4\n' >right
printf 'line 1\nline 2\nline X\nline 4\n' >wrong
for how in --follow --no-seccomp --unbuffered; do
    for mode in print-right write-bytes child-rest stderr-noise "sendfile right"; do
        # shellcheck disable=SC2086
        run 1 "$mode $how" $how --expect right -- $victim $mode
        cmp -s out right || fail "$mode $how: the output is changed"
    done
    while read -r byte function mode; do
        # shellcheck disable=SC2086
        run 0 "$mode $how" $how --expect right -- $victim $mode
        contains "$mode $how" err "from byte $byte "
        in_stack "$mode $how" "$function"
    done <<'END'
20 mode_sendfile sendfile wrong
16 mode_writev_wrong writev-wrong
20 mode_dup_wrong dup-wrong
13 mode_child_wrong child-wrong
END
    run 0 "missing output $how" $how --expect right -- $victim print-short
    contains "missing output $how" err "from byte 15 .*got the end"
    run 0 "a crash $how" $how --expect right -- $victim segv-after-output
    contains "a crash $how" err SIGSEGV
done
# Buffered, the byte goes out when the program ends; unbuffered, in the call that made it.
run 0 "buffered" --expect right -- $victim print-wrong
contains "buffered" err "from byte 20 (line 3, column 6): expected '3.n', got 'three.n'"
if [ -n "$have_gdb" ] && stack core | grep -q say_wrong; then
    fail "buffered: say_wrong is on the stack"
fi
run 0 "unbuffered" --unbuffered --expect right -- $victim print-wrong
in_stack "unbuffered" say_wrong mode_print_wrong main
cmp -s -n 14 out right && [ "$(stat -c %s out)" = 14 ] || fail "what was right is not all there"
run 0 "too much output" -u --expect right -- $victim print-long
contains "too much output" err "from byte 29 .*expected the end"
in_stack "too much output" say_right mode_print_long
head -c 4000 /dev/zero | tr '\0' x >many
run 1 "threads and processes that write" --expect many -- $victim many-writers
cmp -s out many || fail "threads and processes that write: changed"
"$inquest" run -n --expect right -- $victim stderr-noise >both 2>&1
equal "one open file for output and errors" $? 1
printf 'good\ngood\n' >right.err
run 0 "--expect-stderr" --expect-stderr right.err -- $victim stderr-wrong
contains "--expect-stderr" err "standard error: wrong from byte 6 "
run 1 "other programs" --expect right -- cat right
run 0 "a pipeline" --expect right -- sh -c 'cat wrong | cat'

# --- hangs ---
run 0 "a hang" --timeout 300ms -- $victim hang
in_stack "a hang" mode_hang main
run 0 "a child that hangs" --timeout 300ms -- $victim hang-child
in_stack "a child that hangs" mode_hang mode_hang_child main
run 1 "no hang" --timeout 50 -- $victim exit 0

# --- trouble ---
# trouble PATTERN ARGUMENT...
trouble() {
    local pattern=$1
    shift
    "$inquest" run --no-summary "$@" >out 2>err
    equal "exit status of $*" $? 2
    contains "$*" err "$pattern"
    equal "lines of trouble with $*" "$(wc -l <err)" 1
}
trouble "no such command" -- no-such-command-anywhere
trouble "No such file" -- ./no-such-file
trouble "Is a directory" -- /
trouble "Permission denied" -- ./right
trouble "cannot open 'none'" --expect none -- $victim exit 0
trouble "not a time" --timeout soon -- $victim exit 0
trouble "needs '--no-seccomp'" --expect right --no-follow -- $victim exit 0
trouble "usage" --core core
trouble "did you mean '--expect'" --expct right -- $victim exit 0
printf '#!/no/such/interpreter\n' >script
chmod +x script
trouble "cannot run" -- ./script
"$inquest" run -n --core no/such/folder/core -- $victim segv 2>err
equal "a core that cannot be written" $? 2
contains "a core that cannot be written" err "cannot create 'no/such/folder/core'"
# A sanitizer's leak check cannot work in a traced process.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
"$inquest" run -n --no-follow --core core -- "$inquest" run -n -- $victim exit 0 2>err
equal "tracing a tracer" $? 1
"$inquest" run -n --pass-exit --core core -- "$inquest" run -n -- $victim exit 0 2>err
equal "being traced already" $? 2
contains "being traced already" err "already traced by process"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp "$(command -v id)" privileged
    chmod 4755 privileged
    chmod 755 "$work"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$inquest" run -- ./privileged >out 2>err
    equal "a set-user-ID program" $? 2
    contains "a set-user-ID program" err "set-user-ID"
fi

# --- the summary comes after ---
if "$inquest" run --core core -- $victim segv >out 2>err; then
    [ -s out ] || fail "no summary"
    "$inquest" run --core core --json --output summary.json -- $victim segv >out 2>/dev/null
    contains "--json --output" summary.json '{'
    equal "standard output with --output" "$(cat out)" ""
else
    echo "no summary: $(head -n 3 err)"
fi

echo "$compared cores compared with the kernel's"
[ $failed = 0 ] && echo "all of \`inquest run\` as it should be"
exit $failed

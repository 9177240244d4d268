#!/bin/bash
# The order of lines that follow each other, with a death in the middle: what ran in an order is never impossible in it, nothing is
# possible the other way round, and what is behind the death need not have run.
# timeout: 120
#
# Environment: INQUEST_BUILD (the build directory).
set -eu -o pipefail
build=$(realpath "${INQUEST_BUILD:?the build directory}")
ulimit -c unlimited 2>/dev/null || { echo "skipped: no core dumps"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect NOT QUERY: the answer is anything but that.
expect() {
    local answer status=0
    # shellcheck disable=SC2086
    answer=$("$build/bin/inquest" ask $solver prog core "$2" 2>&1) || status=$?
    case $answer in *'has no code'*) return ;; esac # behind abort() there is none
    [ "$status" -le 1 ] || { echo "FAIL: $flags: $2: status $status: $answer"; exit 1; }
    case $answer in
    "$1"*) echo "FAIL: $flags $solver, $death: $2 is $answer" && exit 1 ;;
    esac
}

died=6 # the line
for death in 'abort();' 'y = *p;' 'y = (int)(wide / none);' 'sink(strlen((char *)p));'; do
    cat >prog.c <<END
#include <stdlib.h>
#include <string.h>
volatile int x, y, z; int *volatile p; volatile __int128 wide = 3, none; __attribute__((noinline)) void sink(long n) { z = (int)n; }
int main(void) { x = 1;
    y = 2; z = x;
    $death
    z = 3;
    x = z + 1;
    return x;
}
END
    for flags in -O0 -O2; do
        # shellcheck disable=SC2086
        "$build/bin/inquest-cc" -g -w $flags prog.c -o prog
        rm -f core
        ./prog 2>/dev/null || true
        [ -f core ] || { echo "skipped: no core was written"; exit 77; }
        for solver in '' '--solver fsa' '--solver utl'; do
            expect impossible 'prog.c:4 then prog.c:5'
            expect impossible "prog.c:4 then prog.c:5 then prog.c:$died"
            expect impossible "prog.c:5 and never prog.c:$((died + 1))"
            expect impossible "never prog.c:$((died + 2))"
            expect impossible "prog.c:5 without prog.c:$died before it"
            [ "$solver" = '--solver utl' ] || expect possible "prog.c:$died then prog.c:5"
            [ "$solver" = '--solver utl' ] || expect possible "prog.c:5 without prog.c:4 before it"
            expect possible 'never prog.c:4'
        done
    done
done
echo "all passed"

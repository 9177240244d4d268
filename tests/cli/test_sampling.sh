#!/bin/bash
# Programs that sample predicates (-finquest=LEVEL,suspects): what is counted, at full rate and in part; what is left when
# a process dies; threads, forks, libraries; the manners of the runtime. Counts are compared with what the program says
# of itself, and with clang's own coverage.
# timeout: 600
set -u -o pipefail

build=$(realpath "${INQUEST_BUILD:?the build directory}")
source=$(realpath "${INQUEST_SRC:?the source directory}")
cc=$build/bin/inquest-cc
here=$source/tests/cli
for tool in clang-19 llvm-profdata-19 llvm-cov-19 opt-19 gcc python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/test_sampling.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8
unset INQUEST_OPTIONS
failures=0
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
check() { # check NAME COMMAND...
    local name=$1
    shift
    "$@" >log 2>&1 || { cat log; fail "$name"; }
}
# sampled DIRECTORY OPTIONS COMMAND...: runs it with an empty directory for its counters.
sampled() {
    local directory=$1 options=$2
    shift 2
    rm -rf "$directory"
    mkdir "$directory"
    INQUEST_OPTIONS="suspects=$directory:$options" "$@"
}

echo "== gaps"
gcc -O2 -mgeneral-regs-only -I "$source/src" -c "$source/src/runtime/gap.c" -o gap.o &&
    gcc -O1 "$here/sampling_gaps.c" gap.o -lm -o gaps || fail "gaps do not compile"
check gaps ./gaps

echo "== known counts"
for flags in "-O0 none" "-O2 none" "-O2 -flto none" "-O0 paths" "-O2 paths" "-O2 -fno-inquest-tunable full" "-O2 -static none" \
    "-O1 -fno-pie -no-pie calls"; do
    level=${flags##* }
    # shellcheck disable=SC2086
    $cc ${flags% *} -finquest="$level,suspects" "$here/sampling_known.c" -lm -o known || { fail "compile $flags"; continue; }
    sampled d rate=1 ./known || fail "known, $flags: exit status $?"
    check "known counts, $flags" "$here/sampling.py" known "$here/sampling_known.c" ./known d
    ./known || fail "known without sampling, $flags"
    sampled d rate=1/7:seed=3 ./known || fail "known at 1/7, $flags"
done
$cc -g0 -O2 -finquest=none,suspects "$here/sampling_known.c" -lm -o known && sampled d "" ./known || fail "no debug info"
check "sites without names" "$here/sampling.py" calls ./known d sign 9

echo "== the header elsewhere"
for compiler in "gcc -std=c99 -pedantic -Werror" "clang-19 -Weverything -Wno-error" "$cc -finquest=none" "g++ -x c++ -fpermissive -w"; do
    $compiler -I "$source/include" "$here/sampling_known.c" -c -o header.o 2>log || { cat log; fail "inquest.h with $compiler"; }
done
$cc -E -finquest=none,suspects "$here/sampling_known.c" | grep __builtin_annotation >/dev/null || fail "-E knows of the scheme"
if $cc -finquest=paths,suspect "$here/sampling_known.c" -c 2>log; then fail "an unknown scheme is taken"; fi
grep -q "did you mean 'suspects'" log || fail "no hint: $(cat log)"
if $cc -finquest=paths,nonsense "$here/sampling_known.c" -c 2>log; then fail "an unknown scheme is taken"; fi

echo "== against clang's coverage"
cover() { # cover NAME OPTIMISATION SOURCE INPUT
    local name=$1 opt=$2 from=$3 input=$4
    clang-19 -O0 -g -fprofile-instr-generate -fcoverage-mapping "$from" -lm -o "$name.plain" &&
        $cc "$opt" -finquest=none,suspects "$from" -lm -o "$name" || { fail "compile $name"; return; }
    LLVM_PROFILE_FILE=$name.raw "./$name.plain" <"$input" >plain.out 2>&1
    local code=$?
    sampled d "" "./$name" <"$input" >ours.out 2>&1
    [ $? = $code ] || fail "$name $opt: another exit status"
    cmp -s plain.out ours.out || fail "$name $opt: other output"
    llvm-profdata-19 merge "$name.raw" -o "$name.data" && llvm-cov-19 export "$name.plain" -instr-profile="$name.data" >"$name.json"
    check "coverage of $name $opt" "$here/sampling.py" coverage "$name.json" "$name" d
    tail -1 log
}
for example in "$source"/examples/*.c; do
    grep -q longjmp "$example" && continue # what it passes over, clang still counts
    name=$(basename "$example" .c)
    for input in "$source"/examples/inputs/"$name".ok*; do
        [ -f "$input" ] || continue
        cover "$name" -O0 "$example" "$input"
        cover "$name" -O2 "$example" "$input"
        break
    done
done

echo "== ends"
$cc -O2 -finquest=none,suspects "$here/sampling_ends.c" -pthread -ldl -o ends || fail "compile ends"
ends() { # ends HOW STATUS COUNT...
    local how=$1 status=$2
    shift 2
    (ulimit -c 0; sampled d rate=1 ./ends $how) >/dev/null 2>&1
    local code=$?
    [ $code = "$status" ] || fail "$how: exit status $code"
    check "$how" "$here/sampling.py" calls ./ends d work "$@"
}
ends return 0 1000
ends exit 0 1000
ends kill 137 1000
ends abort 134 1000
ends crash 139 1000
ends threads 0 201000
ends fork 0 1200 300
ends raw 0 1200 300
ends vfork 0 1200 1000
ends signals 0 1500
ends manners 0 1100
echo 'int in_library(int x) { return x ? x : 1; }' >library.c
$cc -O2 -finquest=none,suspects -fPIC -shared library.c -o library.so || fail "compile a library"
ends "library ./library.so" 0 1000
check "library" "$here/sampling.py" calls ./library.so d in_library 70

echo "== nothing can be written"
(INQUEST_OPTIONS=suspects=/nonexistent/directory ./ends) || fail "no directory"
sampled d "rate=0" ./ends || fail "a bad rate"
[ -z "$(ls d)" ] || fail "a bad rate is taken"
(ulimit -f 0; sampled d "" ./ends) || fail "no room for a file"
[ -z "$(ls d)" ] || fail "a file without room is left"
(cd d && INQUEST_OPTIONS=suspects=. ../ends fork) || fail "a relative directory"
[ "$(ls d | wc -l)" = 2 ] || fail "a relative directory: $(ls d)"

echo "== evidence"
# The stack of a crash is that of a build without sampling, in either copy of the code; and so are the last
# paths, where the optimiser does not make one store of two and leaves open which one failed.
shown() { # shown LEVEL DIRECTORY: what `inquest run` says, without numbers that change
    $cc "$opt" -finquest="$1" "$source/examples/$name.c" -lm -o "$name" || fail "compile $name $1"
    (ulimit -c 0; NO_COLOR=1 "$build/bin/inquest" run -- "./$name" <"$source/examples/inputs/$name.crash") 2>&1 |
        sed -E "s/process [0-9]+|thread [0-9]+|core\.[0-9]+|0x[0-9a-f]+|:[0-9]+:[0-9]+| \[inlined\]//g; /^ +\|/d" |
        if [ "$opt" = -O0 ]; then cat; else sed -En 's/^(#[0-9]+ +[^ ]+) .*/\1/p'; fi
}
if [ -x "$build/bin/inquest" ]; then
    for name in calc cache json words; do
        for opt in -O0 -O2; do
            shown paths >expected
            grep -q "^#[0-9]* *main" expected || fail "no stack: $(cat expected)"
            shown paths,suspects >found
            cmp -s expected found || { diff expected found; fail "evidence of $name $opt, not sampled"; }
            for rate in 1 3; do
                mkdir "d.$name$opt.$rate"
                export INQUEST_OPTIONS=suspects=$work/d.$name$opt.$rate:rate=$rate:seed=5
                shown paths,suspects >found
                unset INQUEST_OPTIONS
                cmp -s expected found || { diff expected found; fail "evidence of $name $opt, 1/$rate"; }
                [ -n "$(ls "d.$name$opt.$rate")" ] || fail "$name: nothing was sampled"
            done
        done
    done
fi

echo "== rates"
cat >rates.c <<'END'
#include <stdlib.h>
static int a[64], found;
static int look(int x) { if (x % 3 == 0) return x; found += x & 1; return -x; }
int main(void)
{
    unsigned r = 1;
    for (int i = 0; i < 6000; i++) {
        r = r * 1103515245 + 12345;
        int v = look((int)(r >> 8));
        for (int k = 0; k < 8; k++)
            a[(v + k) & 63] += k;
        if (v > 100000)
            found++;
        else if (abs(v) % 50 == 0)
            found--;
    }
    return found == -12345;
}
END
for opt in -O0 -O2; do
    $cc $opt -finquest=none,suspects rates.c -o rates || fail "compile rates"
    sampled full "" ./rates
    rm -rf part
    mkdir part
    for seed in $(seq 150); do
        INQUEST_OPTIONS=suspects=part:rate=1/100:first=0:seed=$seed ./rates || fail "rates"
    done
    check "rates $opt" "$here/sampling.py" rate ./rates full part 100
    tail -1 log
    INQUEST_OPTIONS=suspects=part:rate=100:first=0:seed=7 ./rates
    python3 - "$here" <<'END' || fail "the same seed gives other counts"
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import suspects_files
same = [list(live.counts.values()) for live in suspects_files.read_directory("part") if live.seed == 7]
sys.exit(0 if len(same) == 2 and same[0] == same[1] else 1)
END
    # as rare as can be: what is new to the process is counted all the same, once
    rm -rf part
    mkdir part
    INQUEST_OPTIONS=suspects=part:rate=1000000000:seed=1 ./rates
    python3 "$here/suspects_files.py" counts ./rates part/*.live >once
    grep -q "^entry .* main .* 1$" once && grep -q "^entry .* look .* 1$" once ||
        { cat once; fail "a first pass is not counted, or more than that"; }
done

echo "== verified"
for level in none paths; do
    for opt in -O0 -O2; do
        for from in "$source"/examples/*.c "$here/sampling_known.c" "$source"/tests/crashers/{computed_goto,setjmp_longjmp,irreducible,asm_labels}.c; do
            $cc $opt -finquest=$level,suspects -S -emit-llvm -Xclang -disable-llvm-verifier "$from" -o ir.ll 2>/dev/null &&
                opt-19 -passes=verify -disable-output ir.ll || fail "not valid: $opt $level $from"
        done
    done
done
[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "all as expected"

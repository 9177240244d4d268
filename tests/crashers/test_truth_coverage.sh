#!/bin/bash
# What `inquest coverage` says of real crashes, with every solver, against the truth: the examples, and programs of this
# folder that have threads, longjmp, callbacks, signal handlers, constructors, plug-ins and tail calls.
# timeout: 1200
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 llvm-objdump-19 llvm-dwarfdump-19 llvm-symbolizer-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
"${INQUEST_SRC:?}/tests/truth/campaign" --build "${INQUEST_BUILD:?}" --seed 7 --count 30 --programs examples --coverage
cd "$INQUEST_SRC/tests/crashers"
files=()
for name in threads setjmp longjmp callback callbacks signal signals handler constructor constructors dlopen plugin qsort loop_left musttail; do
    for file in "$name"*.c; do
        [ -e "$file" ] && files+=("$file")
    done
done
[ ${#files[@]} -ge 4 ] || { echo "programs are missing"; exit 1; }
TRUTH_COVERAGE=1 exec ../truth/hazards --build "$INQUEST_BUILD" "${files[@]}"

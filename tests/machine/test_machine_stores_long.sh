#!/bin/bash
# The stores of coverage in machine code: whole packages, the examples and the crashers, all levels and optimisations.
# labels: long
# timeout: 21600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu -o pipefail
for tool in llvm-objdump-19 llvm-dwarfdump-19 ld.lld-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
machine=${INQUEST_SRC:?}/tests/machine
here=$INQUEST_SRC/tests/real # for compare.bash
work=${INQUEST_BUILD:?}/machine-long
. "$here/compare.bash"
fetch_packages bzip2 gzip bc sed grep lua5.4 sqlite3 || exit $?
programs=("$INQUEST_SRC"/examples/*.c)
for file in "$INQUEST_SRC"/tests/crashers/*.c; do
    grep -qE "^int main\(" "$file" && programs+=("$file")
done
opts=-O0,-O1,-O2,-O3,-Os
"$machine/survey" --work "$work" --opts "$opts,-O2 -flto" "${programs[@]}"
# single commands: archives of bitcode need the archiver of the same LLVM
"$machine/survey" --work "$work" --opts "$opts,-O2 -flto" bzip2 lua5.4 sqlite3
"$machine/survey" --work "$work" --opts "$opts" gzip bc sed grep
"$machine/selftest" --count 25 "$work"/json.paths-O2 "$work"/calc.calls-O3 "$work"/words.full-Os "$work"/bzip2.paths-O2

#!/bin/bash
# The stores of coverage in machine code: the examples at all levels, the programs of tests/crashers with levels in turn,
# at -O0 and -O2; and that the check notices executables that are damaged.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu -o pipefail
for tool in llvm-objdump-19 llvm-dwarfdump-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
here=${INQUEST_SRC:?}/tests/machine
work=${INQUEST_BUILD:?}/machine
rm -rf "$work"
crashers=()
for file in "$INQUEST_SRC"/tests/crashers/*.c; do
    grep -qE "^int main\(" "$file" && crashers+=("$file")
done
[ ${#crashers[@]} -ge 25 ] || { echo "programs are missing"; exit 1; }
"$here/survey" --work "$work" "$INQUEST_SRC"/examples/*.c
"$here/survey" --work "$work" --rotate "${crashers[@]}" | tail -n 30
"$here/selftest" --count 5 "$work"/json.paths-O2 "$work"/calc.calls-O2 "$work"/words.full-O0

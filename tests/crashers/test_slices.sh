#!/bin/bash
# A sample of crashes whose slices are compared with what they really depended on: the examples, and the
# small programs of tests/truth/dynamic. test_slices_long.sh has more.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/truth/slices" --build "${INQUEST_BUILD:?}" --programs dynamic,examples --count 20 --seed 5

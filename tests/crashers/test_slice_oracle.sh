#!/bin/bash
# The oracle of slices itself: dynamic slices of small programs, checked by hand (tests/truth/dynamic).
# timeout: 300
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/truth/slices" --build "${INQUEST_BUILD:?}" --self-test

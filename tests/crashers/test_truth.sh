#!/bin/bash
# A sample of the campaign: the examples, crashed for real at -O0 and -O2, against the truth. All of it
# is tests/truth/long.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 llvm-objdump-19 llvm-dwarfdump-19 llvm-symbolizer-19 llvm-profdata-19 llvm-cov-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
"${INQUEST_SRC:?}/tests/truth/selftest" --build "${INQUEST_BUILD:?}"
exec "$INQUEST_SRC/tests/truth/campaign" --build "$INQUEST_BUILD" --count 90 --seed 1

#!/bin/bash
# A sample of stray writes, tests/stray/campaign: what they damage is noticed, and nothing false is said.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 llvm-objdump-19 llvm-dwarfdump-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
campaign=${INQUEST_SRC:?}/tests/stray/campaign
"$campaign" --build "${INQUEST_BUILD:?}" --count 66 --seed 7 --programs loops,machine,inlined
# Who looks for false claims must find those that are made on purpose.
"$campaign" --build "$INQUEST_BUILD" --count 6 --programs machine --opt=-O0 --levels paths --forge | tail -1
exit "${PIPESTATUS[0]}"

#!/bin/bash
# Points-to against real runs of thousands of random programs.
# labels: long
# timeout: 7200
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/truth/points_to" --build "${INQUEST_BUILD:?}" --count 3000 --seed 1000

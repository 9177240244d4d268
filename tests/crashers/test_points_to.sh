#!/bin/bash
# Points-to against real runs of random programs; a sample.
# timeout: 300
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/truth/points_to" --build "${INQUEST_BUILD:?}" --count 25 --seed 1

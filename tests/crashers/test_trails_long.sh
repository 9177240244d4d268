#!/bin/bash
# Random programs that keep a trail of their own, stopped at random instructions: places, paths and lines against the trail.
# labels: long
# timeout: 21600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 ld.lld-19 python3 nm readelf; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/truth/trails" --build "${INQUEST_BUILD:?}" --seed 2 --programs 1000 --stops 12

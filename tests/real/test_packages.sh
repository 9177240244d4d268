#!/bin/bash
# The two fastest packages, at -O0 and -O2: inquest-cc against plain clang-19.
# timeout: 600
# CTest sets INQUEST_BUILD and INQUEST_SRC; exit status 77 is "skipped".
set -eu -o pipefail

here=$INQUEST_SRC/tests/real
work=$INQUEST_BUILD/real/fastest
ours_cc=$INQUEST_BUILD/bin/inquest-cc
ours_cxx=$INQUEST_BUILD/bin/inquest-c++
. "$here/compare.bash"

fetch_packages bzip2 bc || exit $?
status=0
compare_header
for package in bzip2 bc; do
    for opt in -O0 -O2; do
        compare_package "$package" "$opt" || status=1
    done
done
exit $status

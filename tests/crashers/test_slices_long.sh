#!/bin/bash
# More than 300 crashes over the examples and four real packages, whose slices are compared with what they
# really depended on, and every access to memory with what points-to says. Hours on a small machine.
# labels: long
# timeout: 43200
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -u
worst=0

slices() {
    echo "== $*"
    "${INQUEST_SRC:?}/tests/truth/slices" --build "${INQUEST_BUILD:?}" --seed 1 "$@"
    local status=$?
    # something missing outweighs trouble, trouble outweighs nothing to do
    case $status in
    1) worst=1 ;;
    0) ;;
    *) [ "$worst" = 0 ] && worst=$status ;;
    esac
}

slices --programs dynamic,examples --count 160
for package in bzip2 gzip lua sqlite3; do
    slices --programs "$package" --count 40
done
exit "$worst"

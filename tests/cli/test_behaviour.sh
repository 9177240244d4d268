#!/bin/bash
# Programs built with inquest-cc behave as plain clang's do: a small sample of tests/behaviour, and whether it would notice.
# timeout: 900
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ ! -x "${INQUEST_BUILD:?the build directory}/bin/inquest-cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nice "$here/../behaviour/selftest" || exit 1
nice "$here/../behaviour/known/check" --build "$INQUEST_BUILD" || exit 1
# A seed whose first programs have musttail, setjmp, varargs, bit-fields, computed goto, assembly, recursion and threads.
nice "$here/../behaviour/campaign" --seed check4 --builds 60 --work "$work"

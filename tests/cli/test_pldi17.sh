#!/bin/bash
# Every node of every case of paper 000's subjects equals the reference: utl with the stack alone and with coverage, vpa
# with the stack where there is a reference; elsewhere vpa is never less definite than utl and never contradicts it.
# Skipped (77) where ../shared is absent; with PLDI17_REQUIRED set that is a failure.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=$(realpath -m "$here/../../../shared/pldi17")
inquest=${INQUEST_BUILD:?the build directory}/bin/inquest
if [ ! -d "$data" ]; then
    echo "test_pldi17: skipped: no ../shared/pldi17"
    [ -n "${PLDI17_REQUIRED:-}" ] && exit 1
    exit 77
fi
exec python3 "$here/pldi17.py" "$inquest" "$data"

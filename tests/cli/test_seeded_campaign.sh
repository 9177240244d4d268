#!/bin/bash
# From runs of seeded programs to the faulty function: reports are labelled and counted as an independent reader
# does, the top predictor is in the faulty function or one call away, and the path passes through it.
# timeout: 900
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ ! -x "${INQUEST_BUILD:?the build directory}/bin/inquest-cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
exec nice "$here/../seeded/campaign" --runs 200 --rates 1 --least 3 --through 3 --verbose calc ini lz

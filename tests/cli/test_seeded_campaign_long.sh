#!/bin/bash
# All seeded programs, 2,000 runs each, at full rate and at 1/100 (docs/seeded-bugs.md).
# labels: long
# timeout: 14400
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ ! -x "${INQUEST_BUILD:?the build directory}/bin/inquest-cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
exec nice "$here/../seeded/campaign" --runs 2000 --rates 1,100 --least 10 --paths 3 --verbose

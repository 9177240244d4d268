#!/bin/bash
# 20,000 builds of random programs, csmith's, the seeded ones and the examples, against plain clang (tests/behaviour/README.md).
# labels: long
# timeout: 86400
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ ! -x "${INQUEST_BUILD:?the build directory}/bin/inquest-cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
exec nice "$here/../behaviour/campaign" --seed 1 --builds 20000 --jobs "$(nproc)"

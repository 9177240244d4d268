#!/bin/bash
# Samples of what else the campaign crashes: threads, links with -flto, faults in the C library and of variables by name; also
# against clang's own counters. All of it is tests/truth/long.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 llvm-objdump-19 llvm-dwarfdump-19 llvm-symbolizer-19 \
    llvm-profdata-19 llvm-cov-19 ld.lld python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
campaign() {
    "${INQUEST_SRC:?}/tests/truth/campaign" --build "${INQUEST_BUILD:?}" --seed 1 --lines "$@"
}
campaign --programs relay,pool,handler,detached --count 32 --kind fault,abort
campaign --programs json,stages --count 16 --kind global,library
campaign --programs calc --count 9 --opt='-O2 -flto -fuse-ld=lld'

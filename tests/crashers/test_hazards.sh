#!/bin/bash
# What is hard on instrumentation and decoding, one small program each, crashed for real at -O0 and -O2.
# A program's head says what it is and what must be found; tests/truth/hazards --help has the words.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 clang++-19 opt-19 llvm-config-19 llvm-objdump-19 llvm-dwarfdump-19 llvm-symbolizer-19 python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
cd "${INQUEST_SRC:?}/tests/crashers"
exec ../truth/hazards --build "${INQUEST_BUILD:?}" ./*.c ./*.cc

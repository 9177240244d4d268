#!/bin/bash
# Hardening is as in plain clang-19: canaries, PIE, RELRO, NX, FORTIFY, endbr64, stack clash, initialisation.
# timeout: 600
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu
for tool in clang-19 llvm-dwarfdump-19 objdump readelf python3; do
    command -v "$tool" >/dev/null || { echo "skipped: '$tool' is not installed"; exit 77; }
done
exec "${INQUEST_SRC:?}/tests/hardening/hardening" --build "${INQUEST_BUILD:?}"

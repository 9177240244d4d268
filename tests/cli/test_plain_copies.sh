#!/bin/bash
# The plain copy of a function calls what the function calls that plain clang-19 makes: copies are inlined into each
# other as the functions are. The replacer has a cycle of two functions, of which either can be inlined into the other.
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
set -eu -o pipefail
source=${INQUEST_SRC:?}/bench/overhead/subjects/replacer/replacer.c
inquest_cc=${INQUEST_BUILD:?}/bin/inquest-cc
command -v clang-19 >/dev/null || { echo "skipped: 'clang-19' is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# calls KIND COMPILER...: 'FUNCTION CALLEE', of copies (KIND 1, their suffix taken off) or of all else (0).
calls() {
    local kind=$1
    shift
    "$@" -O2 -g -S -emit-llvm -o "$work/code.ll" "$source"
    awk -v kind="$kind" '
        function name(line) { sub(/^[^@]*@/, "", line); sub(/\(.*/, "", line); return line }
        /^define / { caller = name($0); copy = sub(/\.inquest\.plain$/, "", caller) }
        / call / && /@[A-Za-z_0-9.]+\(/ && !/@llvm\./ && copy == kind {
            callee = name($0); sub(/\.inquest\.plain$/, "", callee); print caller, callee }' "$work/code.ll" | sort -u
}

calls 0 clang-19 >"$work/plain"
calls 1 "$inquest_cc" >"$work/copies"
grep -qx "match_from match_many" "$work/plain" || { echo "FAIL: the program has no cycle of two functions"; exit 1; }
diff "$work/plain" "$work/copies" || { echo "FAIL: copies are inlined otherwise than plain functions"; exit 1; }

#!/bin/bash
# What the plugin makes of every example and crasher is well-formed LLVM IR, at every level, debug info
# included: a release clang does not look, and fails later in ways that are hard to read.
# timeout: 600
set -eu
build=${INQUEST_BUILD:?} src=${INQUEST_SRC:?}
command -v opt-19 >/dev/null || { echo "skipped: 'opt-19' is not installed"; exit 77; }
failed=0 count=0
check() { # COMPILER SOURCE OPTION...
    local out
    if ! out=$("$@" -w -S -emit-llvm -o - | opt-19 -passes=verify -disable-output 2>&1) || [ -n "$out" ]; then
        printf 'FAIL %s\n%s\n' "$*" "$out" | head -5
        failed=1
    fi
    count=$((count + 1))
}
for source in "$src"/examples/*.c "$src"/tests/crashers/*.c; do
    for option in "-O0 -finquest=paths" "-O2 -finquest=paths" "-O2 -finquest=full -fno-inquest-tunable" "-O1 -finquest=calls"; do
        # shellcheck disable=SC2086
        check "$build/bin/inquest-cc" "$source" $option
    done
done
for source in "$src"/tests/crashers/*.cc; do
    for option in -O0 -O2; do
        check "$build/bin/inquest-c++" "$source" $option
    done
done
echo "$count compilations"
exit $failed

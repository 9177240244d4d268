#!/bin/bash
# scripts/check-folders: right arrows pass, each kind of wrong one is found.
set -eu -o pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/check-folders.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{common,program,evidence/core,ask,slice,layout}

# include FILE LINE STATUS: FILE, which holds LINE alone, gives this exit status.
include() {
    local got=0
    printf '%s\n' "$2" >"$work/$1"
    "$INQUEST_SRC/scripts/check-folders" --quiet "$work" 2>"$work/errors" || got=$?
    rm "$work/$1"
    if [ "$got" -ne "$3" ]; then
        echo "$1: $2: exit status $got, expected $3"
        cat "$work/errors"
        exit 1
    fi
    [ "$3" -eq 0 ] || grep -q "^$1:1: " "$work/errors"
}

include program/a.c '#include "common/error.h"' 0
include program/a.c '#include "program/b.h"' 0
include program/a.c '#include <stdio.h>' 0
include common/a.c '#include "program/model.h"' 1
include program/a.c '#include "evidence/evidence.h"' 1
include ask/a.c '#include "slice/slice.h"' 1
include ask/a.c '# include  "report/text.h"' 1
include ask/a.c '#include "nowhere/a.h"' 1
include layout/a.h '#include "common/error.h"' 1
include layout/a.h '#include "common/hash.h"' 0
include program/from_bitcode_types.c '#include <llvm-c/Core.h>' 0
include program/model.c '#include <llvm-c/Core.h>' 1
include program/model.c '#include "llvm-c/Core.h"' 1
include evidence/core/open.c '#include <elfutils/libdwfl.h>' 0
include evidence/text.c '#include <elfutils/libdwfl.h>' 1
include evidence/text.c '#include <gelf.h>' 1
include evidence/text.c '#include <jansson.h>' 0
include ask/a.c '#include <jansson.h>' 1

// SPDX-License-Identifier: Apache-2.0
// What inquest-bitcode.so is loaded for; see from_bitcode_apart.c.
#include <llvm-c/ErrorHandling.h>

#include "program/from_bitcode.h"

const struct from_bitcode_reader from_bitcode_reader = {
    .read = from_bitcode,
    .on_fatal = LLVMInstallFatalErrorHandler,
};

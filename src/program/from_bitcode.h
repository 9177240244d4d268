// SPDX-License-Identifier: Apache-2.0
/*
 * From LLVM bitcode to the tables of insn.h. Nothing behind this header sees LLVM.
 *
 *     struct code *code;
 *     struct error *err = from_bitcode(bitcode, length, &code);
 */
#ifndef PROGRAM_FROM_BITCODE_H
#define PROGRAM_FROM_BITCODE_H

#include <stddef.h>

struct code;
struct error;

// Bitcode that cannot be read is ERROR_FORMAT. *ret is the caller's to code_destroy.
struct error *from_bitcode(const void *bitcode, size_t length, struct code **ret);
// The same in a child process, for bitcode that comes from a file: LLVM may crash on it.
struct error *from_bitcode_apart(const void *bitcode, size_t length, struct code **ret);

// What the module that has LLVM in it offers under the name `from_bitcode_reader`.
struct from_bitcode_reader {
    struct error *(*read)(const void *bitcode, size_t length, struct code **ret);
    void (*on_fatal)(void (*handler)(const char *reason)); // called by LLVM when it gives up
};
extern const struct from_bitcode_reader from_bitcode_reader
    __attribute__((__visibility__("default")));

#endif

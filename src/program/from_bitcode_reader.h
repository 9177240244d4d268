// SPDX-License-Identifier: Apache-2.0
/*
 * What the files from_bitcode*.c share: one reader a module. Only they include it.
 */
#ifndef PROGRAM_FROM_BITCODE_READER_H
#define PROGRAM_FROM_BITCODE_READER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "common/map.h"
#include "program/code_build.h"
#include "program/split.h"

MAP_DEFINE_U64(pointer_map, uint32_t);

// Enum attributes and intrinsics by number, looked up once.
struct reader_names {
    unsigned byval, sret, signext, zeroext, noalias, memory, noreturn, returns_twice, nounwind,
        optnone, naked, noprofile, alwaysinline;
    unsigned dbg_declare, dbg_value, dbg_assign, dbg_label;
    unsigned lifetime_end, builtin_setjmp, builtin_longjmp;
    unsigned dbg_kind; // of metadata: !dbg
};

struct reader {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    struct code_builder *builder;
    struct reader_names names;
    struct pointer_map types;       // LLVMTypeRef
    struct pointer_map globals;     // LLVMValueRef
    struct pointer_map functions;   // LLVMValueRef, those with a body
    struct pointer_map constants;   // LLVMValueRef -> operand bits
    struct pointer_map asms;        // LLVMValueRef
    struct pointer_map blocks;      // LLVMBasicBlockRef -> first node
    struct pointer_map block_ends;  // LLVMBasicBlockRef -> last node
    struct pointer_map values;      // instructions and arguments of the function -> operand bits
    struct pointer_map files;       // DIFile
    struct pointer_map scopes;      // DIScope -> file
    struct pointer_map places;      // DILocation
    struct pointer_map debug_types; // DIType
};

static inline uint64_t reader_key(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

// from_bitcode_types.c
struct type_id reader_type(struct reader *reader, LLVMTypeRef type);
void reader_count_argument(const struct reader *reader, LLVMTypeRef type, bool byval,
                           struct signature *signature);

// from_bitcode_globals.c
void reader_number_globals(struct reader *reader);
void reader_read_globals(struct reader *reader); // once every block is numbered

// from_bitcode_values.c
struct operand reader_operand(struct reader *reader, LLVMValueRef value);
struct operand reader_integer(struct reader *reader, uint64_t value); // an i32 constant
uint32_t reader_gep(struct reader *reader, LLVMValueRef gep);
uint8_t reader_log2(uint64_t alignment);
enum insn_opcode reader_opcode(LLVMOpcode opcode);

// from_bitcode_insns.c
void reader_read_body(struct reader *reader, uint32_t function, const struct split *split);

// from_bitcode_debug.c
struct place_id reader_place(struct reader *reader, LLVMMetadataRef location);
struct place_id reader_place_of(struct reader *reader, LLVMMetadataRef file, unsigned line,
                                unsigned column);
struct debug_type_id reader_debug_type(struct reader *reader, LLVMValueRef node);
bool reader_is_debug(const struct reader *reader, LLVMValueRef instruction);
void reader_variable(struct reader *reader, uint32_t function, LLVMValueRef intrinsic,
                     uint32_t next_insn);
void reader_name_function(struct reader *reader, LLVMValueRef function,
                          struct code_function *entry);
void reader_name_global(struct reader *reader, LLVMValueRef variable, struct global *entry);

#endif

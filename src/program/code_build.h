// SPDX-License-Identifier: Apache-2.0
/*
 * Making a `struct code` (insn.h): tables that grow, then one block.
 *
 *     struct code_builder builder;
 *     code_builder_init(&builder);
 *     struct string_id name = code_builder_string(&builder, "main");
 *     code_functions_push(&builder.functions, function);
 *     struct code *code = code_builder_finish(&builder);     // deinits the builder
 *
 * A new builder holds the entries that index 0 stands for (see insn.h).
 */
#ifndef PROGRAM_CODE_BUILD_H
#define PROGRAM_CODE_BUILD_H

#include "common/arena.h"
#include "common/map.h"
#include "common/vec.h"
#include "program/insn.h"

#define X(name, type) VEC_DEFINE(code_##name, type);
CODE_TABLES(X)
#undef X

MAP_DEFINE_STRING(code_string_map, uint32_t);

struct code_builder {
#define X(name, type) struct code_##name name;
    CODE_TABLES(X)
#undef X
    struct string_id source;
    struct string_id module_asm;
    struct code_string_map interned;
    struct arena arena; // keys of `interned`
};

void code_builder_init(struct code_builder *builder);
void code_builder_deinit(struct code_builder *builder);

// The same string has the same id. NULL is "".
struct string_id code_builder_string(struct code_builder *builder, const char *string);
struct string_id code_builder_string_n(struct code_builder *builder, const char *string,
                                       size_t length);

struct code *code_builder_finish(struct code_builder *builder) __attribute__((__returns_nonnull__));

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Who uses the values of one function, and what becomes of a pointer: enough to tell what a local
 * variable or a local buffer may hold.
 *
 *     const struct log_uses *uses = log_uses_of(resolver, place);
 *     struct log_use_list list = log_uses_find(uses, code, operand);
 *     for (uint32_t i = 0; i < list.count; i++)
 *             use(list.data[i].insn, list.data[i].operand);
 */
#ifndef EVIDENCE_LOG_USES_H
#define EVIDENCE_LOG_USES_H

#include "evidence/log_text.h"

struct log_use {
    uint32_t insn;    // in the module
    uint32_t operand; // its number
};

struct log_use_list { // borrowed
    const struct log_use *data;
    uint32_t count;
};

// Of a function: made on first use, lives as long as the resolver.
const struct log_uses *log_uses_of(struct log_resolver *resolver, struct log_place place);
// Uses of an instruction's or argument's value within its function.
struct log_use_list log_uses_find(const struct log_uses *uses, struct operand value);

// The values stored in a local variable; false when others may write to it, too.
VEC_DEFINE(log_operands, struct operand);
bool log_stored_values(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                       struct log_operands *out);

// What fills a local buffer.
struct log_buffer {
    struct log_operands writers; // calls of snprintf and its like, strftime: as OPERAND_INSN
    bool is_cleared;             // may be the empty text
};
// False when it may hold anything.
bool log_buffer_writers(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                        struct log_buffer *out);

// snprintf and its like: which arguments are the size (CODE_NONE: no limit) and the format.
bool log_is_formatter(const char *name, uint32_t *ret_size, uint32_t *ret_format);
bool log_is_time_formatter(const char *name);

#endif

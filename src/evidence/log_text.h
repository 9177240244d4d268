// SPDX-License-Identifier: Apache-2.0
/*
 * The texts that a pointer of the program may lead to, as far as its code says.
 *
 *     struct log_resolver resolver;
 *     log_resolver_init(&resolver, model);
 *     log_resolve_text(&resolver, (struct log_place){module, function}, operand, &alternatives);
 *     log_resolver_deinit(&resolver);
 *
 * Literals are followed through choices, local variables, constant tables, what functions return,
 * translation (taken to be the identity) and local buffers that snprintf fills. The alternatives
 * hold every text that is possible; what cannot be followed is LOG_TEXT. Parameters of the function
 * stay parameters. The model must be complete and have instructions.
 */
#ifndef EVIDENCE_LOG_TEXT_H
#define EVIDENCE_LOG_TEXT_H

#include "common/arena.h"
#include "common/map.h"
#include "evidence/log_pattern.h"
#include "program/insn.h"

struct model;
struct log_uses;

MAP_DEFINE_U64(log_uses_map, struct log_uses *);

struct log_resolver {
    struct model *model;
    struct arena arena;       // all patterns
    struct log_uses_map uses; // by function
    uint32_t shortest_cut;    // texts of this length and more may have been cut by snprintf
};

// A function of the model.
struct log_place {
    uint32_t module;
    uint32_t function; // in its module's code
};

void log_resolver_init(struct log_resolver *resolver, struct model *model);
void log_resolver_deinit(struct log_resolver *resolver);

const struct code *log_code(const struct log_resolver *resolver, struct log_place place);

// The name of the C library's function that a call (an index in insns) runs; NULL when it may be
// another one, or none.
const char *log_library_callee(const struct log_resolver *resolver, uint32_t module, uint32_t insn);

void log_resolve_text(struct log_resolver *resolver, struct log_place place, struct operand operand,
                      struct log_patterns *out);
// The outputs of a format; `first_argument` is the call's argument that its first conversion takes,
// or CODE_NONE when they are not told.
void log_resolve_format(struct log_resolver *resolver, struct log_place place, uint32_t call,
                        struct operand format, uint32_t first_argument, struct log_patterns *out);
// What a pattern of a callee is with the arguments of this call; calls that pass too few give
// holes.
void log_bind(struct log_resolver *resolver, struct log_pattern pattern, struct log_place place,
              uint32_t call, struct log_patterns *out);

#endif

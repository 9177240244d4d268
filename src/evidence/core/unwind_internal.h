// SPDX-License-Identifier: Apache-2.0
/* Rows of call frame information, and the caches of an unwinder. */
#ifndef INQUEST_EVIDENCE_CORE_UNWIND_INTERNAL_H
#define INQUEST_EVIDENCE_CORE_UNWIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "common/arena.h"
#include "common/map.h"
#include "common/vec.h"
#include "evidence/core/unwind.h"

/* Registers that a call keeps (psABI 3.2.1). */
#define UNWIND_CALLEE_SAVED                                                                        \
    (1u << CORE_RBX | 1u << CORE_RBP | 1u << CORE_R12 | 1u << CORE_R13 | 1u << CORE_R14 |          \
     1u << CORE_R15)

enum unwind_rule_kind {
    UNWIND_RULE_UNDEFINED,
    UNWIND_RULE_SAME,
    UNWIND_RULE_MEMORY,     // at cfa + offset
    UNWIND_RULE_VALUE,      // cfa + offset
    UNWIND_RULE_EXPRESSION, // a location, by ops
};

struct unwind_rule {
    enum unwind_rule_kind kind;
    int64_t offset;
    const Dwarf_Op *ops;
    size_t op_count;
};

/* How to get from a frame at one pc to its caller. */
struct unwind_row {
    bool is_signal;
    bool
        is_trampoline; // the code of rt_sigreturn, without call frame information of a signal frame
    bool has_cfi;
    bool cfa_is_simple; // cfa_register + cfa_offset
    unsigned cfa_register;
    int64_t cfa_offset;
    const Dwarf_Op *cfa_ops;
    size_t cfa_op_count;
    struct unwind_rule rules[CORE_REGISTERS];
};

struct unwind_module {
    Dwarf_CFI *eh_frame;
    Dwarf_CFI *debug_frame; // owned by libdw
    bool debug_frame_was_sought;
};

MAP_DEFINE_U64(unwind_row_map, struct unwind_row *);
MAP_DEFINE_U64(unwind_module_map, struct unwind_module); // by the pointer to the module
VEC_DEFINE(unwind_kept_vec, Dwarf_Frame *);
VEC_DEFINE(unwind_frame_vec, struct unwind_frame);

struct unwinder {
    const struct modules *modules;
    struct arena arena;
    struct unwind_row_map exact_rows;  // by pc, for frames that are UNWIND_EXACT
    struct unwind_row_map caller_rows; // by pc, for the others
    struct unwind_module_map tables;
    struct unwind_kept_vec kept; // what ops in rows point into
};

/* Registers where more than the callee-saved ones are known. */
struct unwind_registers {
    uint64_t values[CORE_REGISTERS];
    struct unwind_registers *next;
};

/* All registers of a frame, while it is being made. */
struct unwind_state {
    uint64_t values[CORE_REGISTERS];
    uint32_t known;
};

struct unwind_outcome {
    bool has_caller;
    bool is_guess;
    struct unwind_state caller;
    enum unwind_end end;
    uint64_t address;
    char *text;
};

/* unwind_row.c; never NULL. */
const struct unwind_row *unwind_row_at(struct unwinder *unwinder, struct module *module,
                                       uint64_t pc, bool is_exact);
void unwind_rows_deinit(struct unwinder *unwinder);

/* unwind_guess.c: the caller of a frame without call frame information, if anything plausible is
 * found. *ret_certain: it is more than that. */
bool unwind_guess(const struct unwinder *unwinder, const struct unwind_frame *frame,
                  struct unwind_state *ret, bool *ret_certain);
/* The interrupted state, by the kernel's struct rt_sigframe. */
bool unwind_trampoline(const struct unwinder *unwinder, const struct unwind_frame *frame,
                       struct unwind_state *ret);

#endif

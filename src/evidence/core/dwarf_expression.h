// SPDX-License-Identifier: Apache-2.0
/*
 * DWARF expressions, evaluated against the registers of a frame and the memory of the failed
 * process. Used for call frame information and for variables alike.
 *
 *     struct debug_machine machine = {.modules = modules, .frame = frame, .bias = bias};
 *     struct debug_location location;
 *     debug_evaluate(&machine, ops, count, &attribute, &location);
 *
 * Never fails: a piece that needs what is not known is DEBUG_PIECE_ABSENT, and machine.fault says
 * why the last such piece is. A bounded number of steps, a bounded stack.
 */
#ifndef INQUEST_EVIDENCE_CORE_DWARF_EXPRESSION_H
#define INQUEST_EVIDENCE_CORE_DWARF_EXPRESSION_H

#include <elfutils/libdw.h>

#include "evidence/core/dwarf.h"

struct modules;
struct unwind_frame;

enum debug_fault {
    DEBUG_FAULT_NONE,
    DEBUG_FAULT_MEMORY,      // at fault_address
    DEBUG_FAULT_REGISTER,    // number fault_address
    DEBUG_FAULT_UNSUPPORTED, // an operation that has no meaning here, or a broken expression
};

struct debug_machine {
    const struct modules *modules;
    const struct unwind_frame *frame;
    uint64_t bias; // of the module that the expression is from
    uint64_t cfa;
    uint64_t frame_base;
    bool has_cfa;
    bool has_frame_base;
    enum debug_fault fault;
    uint64_t fault_address;
};

/* attribute is what the operations are of; NULL for call frame information. */
void debug_evaluate(struct debug_machine *machine, const Dwarf_Op *ops, size_t count,
                    Dwarf_Attribute *attribute, struct debug_location *ret);

/* The value of an expression that is not a location: the top of its stack. */
bool debug_evaluate_value(struct debug_machine *machine, const Dwarf_Op *ops, size_t count,
                          uint64_t *ret);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/unwind.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "evidence/core/dwarf_expression.h"
#include "evidence/core/modules_internal.h"
#include "evidence/core/unwind_internal.h"

/* How often a stack may go downwards: signal handlers on stacks of their own. */
#define UNWIND_SWITCHES_MAX 64u

struct unwinder *unwinder_create(const struct modules *modules)
{
    struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));
    unwinder->modules = modules;
    return unwinder;
}

void unwinder_destroy(struct unwinder *unwinder)
{
    if (!unwinder)
        return;
    unwind_rows_deinit(unwinder);
    arena_deinit(&unwinder->arena);
    free(unwinder);
}

const struct modules *unwinder_modules(const struct unwinder *unwinder)
{
    return unwinder->modules;
}

bool unwind_frame_register(const struct unwind_frame *frame, unsigned number, uint64_t *ret)
{
    if (number >= CORE_REGISTERS || !(frame->known >> number & 1))
        return false;
    if (frame->all) {
        *ret = frame->all[number];
        return true;
    }
    switch (number) {
    case CORE_RBX:
        *ret = frame->rbx;
        return true;
    case CORE_RBP:
        *ret = frame->rbp;
        return true;
    case CORE_RSP:
        *ret = frame->rsp;
        return true;
    case CORE_R12:
        *ret = frame->r12;
        return true;
    case CORE_R13:
        *ret = frame->r13;
        return true;
    case CORE_R14:
        *ret = frame->r14;
        return true;
    case CORE_R15:
        *ret = frame->r15;
        return true;
    case CORE_RIP:
        *ret = frame->pc;
        return true;
    default:
        assert(!"a register that is known has a place");
        return false;
    }
}

/* --- one step --- */

static void unwind_stop(struct unwind_outcome *outcome, enum unwind_end end, uint64_t address,
                        char *text)
{
    outcome->end = end;
    outcome->address = address;
    outcome->text = text;
}

static void unwind_stop_fault(struct unwind_outcome *outcome, const struct debug_machine *machine,
                              const struct unwind_frame *frame, const char *what)
{
    if (machine->fault == DEBUG_FAULT_MEMORY)
        unwind_stop(outcome, UNWIND_END_UNREADABLE, machine->fault_address,
                    xasprintf("%s of the frame at 0x%" PRIx64
                              " is in memory that the core lacks, at 0x%" PRIx64,
                              what, frame->pc, machine->fault_address));
    else
        unwind_stop(
            outcome, UNWIND_END_UNKNOWN, frame->pc,
            xasprintf("%s of the frame at 0x%" PRIx64 " cannot be computed", what, frame->pc));
}

static bool unwind_find_cfa(const struct unwind_row *row, struct debug_machine *machine,
                            const struct unwind_frame *frame)
{
    uint64_t value;
    if (!row->cfa_is_simple)
        return debug_evaluate_value(machine, row->cfa_ops, row->cfa_op_count, &machine->cfa);
    if (!unwind_frame_register(frame, row->cfa_register, &value)) {
        machine->fault = DEBUG_FAULT_REGISTER;
        return false;
    }
    machine->cfa = value + (uint64_t)row->cfa_offset;
    return true;
}

static bool unwind_evaluate(struct debug_machine *machine, const struct unwind_rule *rule,
                            uint64_t *ret)
{
    struct debug_location location;
    debug_evaluate(machine, rule->ops, rule->op_count, NULL, &location);
    if (location.count != 1 || location.pieces[0].size != UINT64_MAX)
        return false;
    const struct debug_piece *piece = &location.pieces[0];
    if (piece->kind == DEBUG_PIECE_VALUE) {
        *ret = piece->value;
        return true;
    }
    if (piece->kind != DEBUG_PIECE_MEMORY)
        return false;
    machine->fault = DEBUG_FAULT_MEMORY;
    machine->fault_address = piece->address;
    return modules_read_u64(machine->modules, piece->address, ret);
}

/* What the caller has in a register; false when not known. */
static bool unwind_apply(struct debug_machine *machine, const struct unwind_row *row,
                         unsigned number, uint64_t *ret)
{
    const struct unwind_rule *rule = &row->rules[number];
    machine->fault = DEBUG_FAULT_NONE;
    switch (rule->kind) {
    case UNWIND_RULE_UNDEFINED:
        return false;
    case UNWIND_RULE_SAME:
        // What a call does not keep is only said to be the same for want of a rule.
        if (!row->is_signal && !(UNWIND_CALLEE_SAVED >> number & 1))
            return false;
        return unwind_frame_register(machine->frame, number, ret);
    case UNWIND_RULE_VALUE:
        *ret = machine->cfa + (uint64_t)rule->offset;
        return true;
    case UNWIND_RULE_MEMORY:
        machine->fault = DEBUG_FAULT_MEMORY;
        machine->fault_address = machine->cfa + (uint64_t)rule->offset;
        return modules_read_u64(machine->modules, machine->fault_address, ret);
    case UNWIND_RULE_EXPRESSION:
        return unwind_evaluate(machine, rule, ret);
    }
    return false;
}

static void unwind_by_row(const struct unwinder *unwinder, const struct unwind_row *row,
                          struct unwind_frame *frame, struct unwind_outcome *outcome)
{
    struct debug_machine machine = {.modules = unwinder->modules,
                                    .frame = frame,
                                    .bias = frame->module ? frame->module->info.bias : 0};
    if (row->rules[CORE_RIP].kind == UNWIND_RULE_UNDEFINED) {
        frame->has_cfa = unwind_find_cfa(row, &machine, frame);
        frame->cfa = machine.cfa;
        unwind_stop(outcome, UNWIND_END_COMPLETE, 0, NULL);
        return;
    }
    if (!unwind_find_cfa(row, &machine, frame)) {
        unwind_stop_fault(outcome, &machine, frame, "the base");
        return;
    }
    machine.has_cfa = true;
    frame->has_cfa = true;
    frame->cfa = machine.cfa;
    struct unwind_state *caller = &outcome->caller;
    caller->known = 0;
    for (unsigned i = 0; i < CORE_REGISTERS; i++) {
        if (unwind_apply(&machine, row, i, &caller->values[i]))
            caller->known |= 1u << i;
        else if (i == CORE_RIP)
            unwind_stop_fault(outcome, &machine, frame, "the return address");
    }
    if (!(caller->known & 1u << CORE_RSP)) {
        caller->values[CORE_RSP] = machine.cfa;
        caller->known |= 1u << CORE_RSP;
    }
    outcome->has_caller = caller->known & 1u << CORE_RIP;
}

static void unwind_without_row(const struct unwinder *unwinder, const struct unwind_row *row,
                               const struct unwind_frame *frame, struct unwind_outcome *outcome)
{
    if (row->is_trampoline) {
        outcome->has_caller = unwind_trampoline(unwinder, frame, &outcome->caller);
        if (!outcome->has_caller)
            unwind_stop(outcome, UNWIND_END_UNREADABLE, frame->rsp,
                        xasprintf("the core lacks the signal frame at 0x%" PRIx64, frame->rsp));
        return;
    }
    bool is_certain;
    outcome->has_caller = unwind_guess(unwinder, frame, &outcome->caller, &is_certain);
    outcome->is_guess = outcome->has_caller && !is_certain;
    if (outcome->has_caller)
        return;
    if (!modules_is_code(unwinder->modules, frame->pc))
        unwind_stop(outcome, UNWIND_END_NO_CODE, frame->pc,
                    xasprintf("there is no code at 0x%" PRIx64, frame->pc));
    else
        unwind_stop(outcome, UNWIND_END_NO_CFI, frame->pc,
                    xasprintf("there is no call frame information for 0x%" PRIx64 " in '%s'",
                              frame->pc, frame->module ? frame->module->info.path : "?"));
}

/* Whether the caller that was found can be one. */
static void unwind_check_caller(const struct unwinder *unwinder, const struct unwind_frame *frame,
                                unsigned *switches, struct unwind_outcome *outcome)
{
    uint64_t pc = outcome->caller.values[CORE_RIP];
    uint64_t rsp = outcome->caller.values[CORE_RSP];
    bool is_signal = frame->flags & UNWIND_SIGNAL;
    bool grows = rsp > frame->rsp || !(frame->known & 1u << CORE_RSP);
    if (!grows && is_signal)
        grows = ++*switches <= UNWIND_SWITCHES_MAX;
    if (!grows) {
        outcome->has_caller = false;
        unwind_stop(
            outcome, UNWIND_END_NOT_GROWING, rsp,
            xasprintf("the caller of the frame at 0x%" PRIx64 " would have its stack at 0x%" PRIx64
                      ", not above 0x%" PRIx64 ": the stack is overwritten",
                      frame->pc, rsp, frame->rsp));
        return;
    }
    // An interrupted function may have been anywhere, as after a jump to nowhere.
    if (is_signal || modules_is_code(unwinder->modules, pc - 1))
        return;
    outcome->has_caller = false;
    unwind_stop(outcome, UNWIND_END_NO_CODE, pc,
                xasprintf("the return address 0x%" PRIx64 " of the frame at 0x%" PRIx64
                          " is not code: the stack is overwritten",
                          pc, frame->pc));
}

static void unwind_step(struct unwinder *unwinder, struct unwind_frame *frame, unsigned *switches,
                        struct unwind_outcome *outcome)
{
    const struct unwind_row *row =
        unwind_row_at(unwinder, frame->module, frame->pc, frame->flags & UNWIND_EXACT);
    outcome->has_caller = false;
    outcome->is_guess = false;
    outcome->text = NULL;
    if (row->is_signal)
        frame->flags |= UNWIND_SIGNAL;
    if (row->has_cfi)
        unwind_by_row(unwinder, row, frame, outcome);
    else
        unwind_without_row(unwinder, row, frame, outcome);
    if (outcome->has_caller)
        unwind_check_caller(unwinder, frame, switches, outcome);
}

/* --- all steps --- */

static struct unwind_frame unwind_make_frame(const struct unwinder *unwinder,
                                             const struct unwind_state *state, unsigned flags,
                                             struct unwind_stack *stack)
{
    struct unwind_frame frame = {
        .pc = state->values[CORE_RIP],
        .rsp = state->values[CORE_RSP],
        .rbx = state->values[CORE_RBX],
        .rbp = state->values[CORE_RBP],
        .r12 = state->values[CORE_R12],
        .r13 = state->values[CORE_R13],
        .r14 = state->values[CORE_R14],
        .r15 = state->values[CORE_R15],
        .known = state->known,
        .flags = (uint16_t)flags,
    };
    uint32_t kept = UNWIND_CALLEE_SAVED | 1u << CORE_RSP | 1u << CORE_RIP;
    if (state->known & ~kept) {
        struct unwind_registers *registers = xmalloc(sizeof(*registers));
        memcpy(registers->values, state->values, sizeof(registers->values));
        registers->next = stack->registers;
        stack->registers = registers;
        frame.all = registers->values;
    }
    bool is_exact = flags & UNWIND_EXACT;
    frame.module = modules_find(unwinder->modules, is_exact ? frame.pc : frame.pc - 1);
    return frame;
}

static void unwind_all(struct unwinder *unwinder, const struct unwind_state *first,
                       struct unwind_frame_vec *frames, struct unwind_stack *stack,
                       struct unwind_outcome *outcome)
{
    unsigned flags = UNWIND_EXACT, switches = 0;
    const struct unwind_state *state = first;
    for (;;) {
        unwind_frame_vec_push(frames, unwind_make_frame(unwinder, state, flags, stack));
        struct unwind_frame *frame = unwind_frame_vec_last(frames);
        unwind_step(unwinder, frame, &switches, outcome);
        if (!outcome->has_caller)
            return;
        if (frames->length == UNWIND_FRAMES_MAX) {
            unwind_stop(outcome, UNWIND_END_LIMIT, 0,
                        xasprintf("the stack has more than %u frames", UNWIND_FRAMES_MAX));
            return;
        }
        bool is_guess = outcome->is_guess || frame->flags & UNWIND_GUESSED;
        flags = frame->flags & UNWIND_SIGNAL ? UNWIND_EXACT : 0;
        flags |= is_guess ? UNWIND_GUESSED : 0;
        state = &outcome->caller;
    }
}

void unwind_thread(struct unwinder *unwinder, const struct core_thread *thread,
                   struct unwind_stack *ret)
{
    struct unwind_frame_vec frames = VEC_INIT;
    struct unwind_stack stack = {.registers = NULL};
    struct unwind_state first = {.known = (1u << CORE_REGISTERS) - 1};
    struct unwind_outcome outcome = {.text = NULL};
    memcpy(first.values, thread->registers, sizeof(first.values));
    unwind_all(unwinder, &first, &frames, &stack, &outcome);
    stack.end = outcome.end;
    stack.end_address = outcome.address;
    stack.end_text = outcome.text;
    stack.count = frames.length;
    stack.frames = unwind_frame_vec_steal(&frames);
    *ret = stack;
}

void unwind_stack_deinit(struct unwind_stack *stack)
{
    while (stack->registers) {
        struct unwind_registers *next = stack->registers->next;
        free(stack->registers);
        stack->registers = next;
    }
    free(stack->frames);
    free(stack->end_text);
    *stack = (struct unwind_stack){.frames = NULL};
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of threads in a core, physical frames only (dwarf.h tells the inlined ones).
 *
 *     struct unwinder *unwinder = unwinder_create(modules);
 *     struct unwind_stack stack;
 *     unwind_thread(unwinder, core_thread_at(core, 0), &stack);
 *     for (size_t i = 0; i < stack.count; i++)
 *             use(&stack.frames[i]);                     // innermost first
 *     if (stack.end != UNWIND_END_COMPLETE)
 *             say(stack.end_text);
 *     unwind_stack_deinit(&stack);
 *     unwinder_destroy(unwinder);
 *
 * By call frame information (.eh_frame, .debug_frame), one cached row a pc, so that deep recursion
 * costs a few memory reads a frame. Signal frames are followed. There is always at least one frame,
 * what the registers say. Unwinding never fails: it ends, and says where and why. What is not
 * certain is marked UNWIND_GUESSED, and so are all frames behind it.
 */
#ifndef INQUEST_EVIDENCE_CORE_UNWIND_H
#define INQUEST_EVIDENCE_CORE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/core/core.h"

struct module;
struct modules;
struct unwind_registers;
struct unwinder;

enum unwind_flag {
    UNWIND_EXACT =
        1u << 0, // pc is the next instruction, not a return address: innermost, or interrupted
    UNWIND_SIGNAL = 1u << 1,  // the signal trampoline; the frame behind it was interrupted
    UNWIND_GUESSED = 1u << 2, // found without call frame information, or behind such a frame
};

struct unwind_frame {
    uint64_t pc;  // where it will go on
    uint64_t cfa; // the stack pointer before the call, when has_cfa
    uint64_t rsp;
    uint64_t rbx, rbp, r12, r13, r14, r15;
    const uint64_t
        *all; // CORE_REGISTERS of them, where more are known (innermost, interrupted); or NULL
    struct module *module; // that holds pc, or NULL
    uint32_t known;        // bit r: register r is known
    uint16_t flags;        // enum unwind_flag
    bool has_cfa;
};

enum unwind_end {
    UNWIND_END_COMPLETE,    // the outermost frame was reached (_start, clone)
    UNWIND_END_NO_CODE,     // the return address, end_address, is in no executable mapping
    UNWIND_END_NO_CFI,      // there is no call frame information for the last frame
    UNWIND_END_UNREADABLE,  // memory that is needed is absent: end_address
    UNWIND_END_NOT_GROWING, // the caller's frame would not lie above: overwritten stack
    UNWIND_END_UNKNOWN, // a register that is needed is not known, or the rule cannot be evaluated
    UNWIND_END_LIMIT,   // more than UNWIND_FRAMES_MAX
};

#define UNWIND_FRAMES_MAX 16000000u

struct unwind_stack {
    struct unwind_frame *frames;
    size_t count;
    enum unwind_end end;
    uint64_t end_address; // what could not be read, or followed; 0 where it has no meaning
    char *end_text;       // a sentence for people: where and why it ended
    struct unwind_registers *registers; // those behind frames[].all
};

/* Cannot fail: nothing is read before it is needed. The modules outlive it. */
struct unwinder *unwinder_create(const struct modules *modules);
/* NULL is fine. */
void unwinder_destroy(struct unwinder *unwinder);
const struct modules *unwinder_modules(const struct unwinder *unwinder);

void unwind_thread(struct unwinder *unwinder, const struct core_thread *thread,
                   struct unwind_stack *ret);
void unwind_stack_deinit(struct unwind_stack *stack);

/* Register number (enum core_register) as the frame's function has it; false when not known. */
bool unwind_frame_register(const struct unwind_frame *frame, unsigned number, uint64_t *ret);

/* The address to look the frame's code up with: pc when exact, else pc - 1, inside the call. */
static inline uint64_t unwind_frame_lookup(const struct unwind_frame *frame)
{
    return frame->flags & (UNWIND_EXACT | UNWIND_SIGNAL) ? frame->pc : frame->pc - 1;
}

#endif

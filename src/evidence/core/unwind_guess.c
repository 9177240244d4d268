// SPDX-License-Identifier: Apache-2.0
/*
 * Frames without call frame information. Three cases are worth a guess, each checked against the
 * code: a return address is taken only when a call instruction stands before it.
 *
 *   - a call through a bad pointer: the pc is no code, nothing ran since the call, so the return
 *     address is on top of the stack;
 *   - an entry of the procedure linkage table (lld writes no information for it): the same, or one
 *     word below, and the call goes to this entry;
 *   - code that keeps a frame pointer.
 */
#include <string.h>

#include "evidence/core/modules.h"
#include "evidence/core/unwind_internal.h"

#define UNWIND_ENTRY_SIZE 16u

/* Whether the instruction before address may be a call; *ret_target is its target when direct. */
static bool unwind_is_after_call(const struct unwinder *unwinder, uint64_t address,
                                 uint64_t *ret_target)
{
    unsigned char code[8];
    *ret_target = 0;
    if (!modules_is_code(unwinder->modules, address - 1) ||
        modules_read(unwinder->modules, address - sizeof(code), code, sizeof(code)) != sizeof(code))
        return false;
    if (code[3] == 0xe8) {
        int32_t distance;
        memcpy(&distance, code + 4, sizeof(distance));
        *ret_target = address + (uint64_t)(int64_t)distance;
        return true;
    }
    // ff /2 by length: register or memory, with SIB byte, 8-bit or 32-bit displacement.
    static const unsigned char lengths[] = {2, 3, 4, 6, 7};
    for (size_t i = 0; i < sizeof(lengths); i++) {
        const unsigned char *at = code + sizeof(code) - lengths[i];
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* The state in the caller when its return address is at address and nothing else changed. */
static bool unwind_return(const struct unwinder *unwinder, const struct unwind_frame *frame,
                          uint64_t address, uint64_t *ret_target, struct unwind_state *ret)
{
    uint64_t pc;
    if (!modules_read_u64(unwinder->modules, address, &pc) ||
        !unwind_is_after_call(unwinder, pc, ret_target))
        return false;
    struct unwind_state state = {.known = frame->known & UNWIND_CALLEE_SAVED};
    for (unsigned i = 0; i < CORE_REGISTERS; i++)
        unwind_frame_register(frame, i, &state.values[i]);
    state.values[CORE_RSP] = address + 8;
    state.values[CORE_RIP] = pc;
    state.known |= 1u << CORE_RSP | 1u << CORE_RIP;
    *ret = state;
    return true;
}

static bool unwind_guess_linkage(const struct unwinder *unwinder, const struct unwind_frame *frame,
                                 struct unwind_state *ret)
{
    for (uint64_t down = 0; down <= 8; down += 8) {
        uint64_t target;
        struct unwind_state state;
        if (unwind_return(unwinder, frame, frame->rsp + down, &target, &state) &&
            frame->pc - target < UNWIND_ENTRY_SIZE) {
            *ret = state;
            return true;
        }
    }
    return false;
}

static bool unwind_guess_frame_pointer(const struct unwinder *unwinder,
                                       const struct unwind_frame *frame, struct unwind_state *ret)
{
    const struct core *core = modules_core(unwinder->modules);
    uint64_t target, saved;
    if (!(frame->known & 1u << CORE_RBP) || frame->rbp < frame->rsp || frame->rbp % 8 != 0 ||
        core_segment_of(core, frame->rbp) != core_segment_of(core, frame->rsp))
        return false;
    if (!modules_read_u64(unwinder->modules, frame->rbp, &saved) ||
        !unwind_return(unwinder, frame, frame->rbp + 8, &target, ret))
        return false;
    ret->values[CORE_RBP] = saved;
    // The others may have been saved anywhere.
    ret->known = 1u << CORE_RBP | 1u << CORE_RSP | 1u << CORE_RIP;
    return true;
}

bool unwind_guess(const struct unwinder *unwinder, const struct unwind_frame *frame,
                  struct unwind_state *ret)
{
    uint64_t target;
    if (!(frame->known & 1u << CORE_RSP))
        return false;
    bool is_exact = frame->flags & UNWIND_EXACT;
    if (is_exact && !modules_is_code(unwinder->modules, frame->pc))
        return unwind_return(unwinder, frame, frame->rsp, &target, ret);
    if (is_exact && unwind_guess_linkage(unwinder, frame, ret))
        return true;
    return unwind_guess_frame_pointer(unwinder, frame, ret);
}

/*
 * Linux, struct rt_sigframe: the return address (popped by the handler), then struct ucontext,
 * whose general registers (struct sigcontext_64) start at offset 40.
 */
bool unwind_trampoline(const struct unwinder *unwinder, const struct unwind_frame *frame,
                       struct unwind_state *ret)
{
    static const unsigned char order[] = {
        CORE_R8,  CORE_R9,  CORE_R10, CORE_R11, CORE_R12, CORE_R13, CORE_R14, CORE_R15, CORE_RDI,
        CORE_RSI, CORE_RBP, CORE_RBX, CORE_RDX, CORE_RAX, CORE_RCX, CORE_RSP, CORE_RIP};
    struct unwind_state state = {.known = (1u << CORE_REGISTERS) - 1};
    for (size_t i = 0; i < sizeof(order); i++) {
        if (!modules_read_u64(unwinder->modules, frame->rsp + 40 + 8 * i, &state.values[order[i]]))
            return false;
    }
    *ret = state;
    return true;
}

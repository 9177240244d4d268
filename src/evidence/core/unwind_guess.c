// SPDX-License-Identifier: Apache-2.0
/*
 * Frames without call frame information. Three cases are worth a guess, each checked against the
 * code: a return address is taken only when a call instruction stands before it.
 *
 *   - a call through a bad pointer: the pc is no code, nothing ran since the call, so the return
 *     address is on top of the stack. It is certain if the call before that address, made again
 *     with the registers and the memory as they are, leads to this pc;
 *   - an entry of the procedure linkage table (lld writes no information for it): the same, or one
 *     word below, and the call goes to this entry;
 *   - code that keeps a frame pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "evidence/core/machine.h"
#include "evidence/core/modules.h"
#include "evidence/core/unwind_internal.h"

#define UNWIND_ENTRY_SIZE   16u
#define UNWIND_FUNCTION_MAX (1u << 20)

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

static bool unwind_read(const void *modules, uint64_t address, uint64_t *ret)
{
    return modules_read_u64(modules, address, ret);
}

/* The size of the instruction that ends at address, told from where its function begins; 0: not
 * known. */
static size_t unwind_last_size(const struct unwinder *unwinder, uint64_t address)
{
    struct module *module = modules_find(unwinder->modules, address - 1);
    struct module_symbol symbol;
    struct machine_code code = {0};
    size_t size = 0;
    if (!module || !module_symbol_at(module, address - 1, &symbol) || symbol.size == 0 ||
        address - symbol.address > UNWIND_FUNCTION_MAX)
        return 0;
    size_t length = (size_t)(address - symbol.address);
    unsigned char *bytes = xmalloc(length);
    if (modules_read(unwinder->modules, symbol.address, bytes, length) == length &&
        machine_decode(&code, bytes, length, symbol.address) && code.count)
        size = code.insns[code.count - 1].size;
    machine_deinit(&code);
    free(bytes);
    return size;
}

/* Did the call before this return address lead to where the frame is? Where the bytes before it
 * can be read as several calls, all of them have to. */
static bool unwind_leads_here(const struct unwinder *unwinder, const struct unwind_frame *frame,
                              uint64_t return_address)
{
    unsigned char code[9];
    uint64_t registers[CORE_REGISTERS], target;
    size_t told = unwind_last_size(unwinder, return_address);
    bool leads = false;
    if (modules_read(unwinder->modules, return_address - sizeof(code), code, sizeof(code)) !=
        sizeof(code))
        return false;
    for (unsigned i = 0; i < CORE_REGISTERS; i++)
        if (!unwind_frame_register(frame, i, &registers[i]))
            return false;
    registers[CORE_RSP] += 8; /* as it was before the call */
    for (size_t size = 2; size <= sizeof(code); size++) {
        if ((told && size != told) ||
            !machine_call_target(code + sizeof(code) - size, size, return_address, registers,
                                 unwind_read, unwinder->modules, &target))
            continue;
        if (target != frame->pc)
            return false;
        leads = true;
    }
    return leads;
}

bool unwind_guess(const struct unwinder *unwinder, const struct unwind_frame *frame,
                  struct unwind_state *ret, bool *ret_certain)
{
    uint64_t target;
    *ret_certain = false;
    if (!(frame->known & 1u << CORE_RSP))
        return false;
    bool is_exact = frame->flags & UNWIND_EXACT;
    if (is_exact && !modules_is_code(unwinder->modules, frame->pc)) {
        if (!unwind_return(unwinder, frame, frame->rsp, &target, ret))
            return false;
        *ret_certain = unwind_leads_here(unwinder, frame, ret->values[CORE_RIP]);
        return true;
    }
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

// SPDX-License-Identifier: Apache-2.0
/*
 * Locals whose address never leaves their activation: it is used to load, to store, to be compared
 * and by intrinsics that fill and copy memory, at once or through getelementptr and casts; nobody
 * stores it, passes it or returns it. Such a local can be meant by instructions of its own
 * activation only, also where the function is recursive. It has to be in the entry block, which is
 * entered once: there is one piece of memory of it in an activation.
 */
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

static bool is_step(const struct insn *insn)
{
    return insn->opcode == INSN_GEP || insn->opcode == INSN_BITCAST ||
           insn->opcode == INSN_ADDRSPACECAST || insn->opcode == INSN_FREEZE;
}

static bool is_number(const struct code *code, struct operand operand)
{
    return operand_kind(operand) == OPERAND_CONSTANT &&
           code->constants[operand_index(operand)].kind == CONSTANT_INT;
}

// The alloca that an operand is derived from, or CODE_NONE. *ret_offset: the distance, when
// *ret_constant.
static uint32_t base_of(const struct code *code, struct operand operand, int64_t *ret_offset,
                        bool *ret_constant)
{
    *ret_offset = 0;
    *ret_constant = true;
    // unreachable code may refer to itself: no more steps than instructions
    for (uint32_t steps = 0; steps <= code->insns_count; steps++) {
        if (operand_kind(operand) != OPERAND_INSN)
            return CODE_NONE;
        const struct insn *insn = &code->insns[operand_index(operand)];
        if (insn->opcode == INSN_ALLOCA)
            return operand_index(operand);
        if (!is_step(insn))
            return CODE_NONE;
        if (insn->opcode == INSN_GEP) {
            const struct gep *gep = &code->geps[insn->detail];
            *ret_offset = (int64_t)((uint64_t)*ret_offset + (uint64_t)gep->offset);
            for (uint32_t s = 0; s < gep->step_count; s++)
                *ret_constant &= is_number(code, code->gep_steps[gep->first_step + s].index);
        }
        operand = code_operand(code, insn, 0);
    }
    return CODE_NONE;
}

bool locals_address(const struct code *code, struct operand address, uint32_t *ret_alloca,
                    int64_t *ret_offset)
{
    bool is_constant;
    uint32_t found = base_of(code, address, ret_offset, &is_constant);

    *ret_alloca = found;
    return found != CODE_NONE && is_constant;
}

// Does the address stay when this instruction has it as that operand?
static bool keeps(const struct code *code, const struct insn *insn, uint32_t operand)
{
    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD:
    case INSN_CMPXCHG:
    case INSN_RMW:
    case INSN_VAARG:
        return operand == 0;
    case INSN_STORE:
        return operand == 1;
    case INSN_ICMP:
        return true;
    case INSN_CALL:
        return code_is_memory_intrinsic(code, insn);
    default:
        return is_step(insn) && operand == 0;
    }
}

static void find_in_module(const struct code *code, struct bitset *stays)
{
    bitset_init(stays, code->insns_count);
    for (uint32_t i = 0; i < code->insns_count; i++)
        if (code->insns[i].opcode == INSN_ALLOCA && code->nodes[code->insns[i].node].block == 0)
            bitset_set(stays, i);
    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        for (uint32_t o = 0; o < insn->operand_count; o++) {
            struct operand operand = code_operand(code, insn, o);
            int64_t offset;
            bool is_constant;
            if (operand_kind(operand) != OPERAND_INSN || keeps(code, insn, o))
                continue;
            uint32_t local = base_of(code, operand, &offset, &is_constant);
            if (local != CODE_NONE)
                bitset_clear(stays, local);
        }
    }
}

struct bitset *locals_find(const struct model *model)
{
    struct bitset *stays = xcalloc(model->module_count + 1u, sizeof(*stays));

    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].code)
            find_in_module(model->modules[m].code, &stays[m]);
    return stays;
}

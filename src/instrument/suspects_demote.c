// SPDX-License-Identifier: Apache-2.0
/*
 * Values that are used in other blocks than their own, and PHIs, go through stack slots, so that
 * blocks can be copied and joined freely; the optimiser undoes it. Front ends make few of them.
 */
#include "instrument/suspects.h"

VEC_DEFINE(value_vec, LLVMValueRef);

LLVMValueRef suspects_first_insertion_point(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMGetInstructionOpcode(i) == LLVMPHI)
        i = LLVMGetNextInstruction(i);
    return LLVMGetInstructionOpcode(i) == LLVMLandingPad ? LLVMGetNextInstruction(i) : i;
}

static bool crosses(LLVMValueRef i)
{
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) &&
            LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i))
            return true;
    }
    return false;
}

static bool has_one_predecessor(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));

    return use && !LLVMGetNextUse(use);
}

static bool can_demote(LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);

    if (LLVMGetTypeKind(type) == LLVMTokenTypeKind)
        return !crosses(i);
    if (LLVMGetInstructionOpcode(i) == LLVMPHI) {
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            if (LLVMGetIncomingValue(i, k) ==
                LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(i, k)))
                return false;
        return true;
    }
    if (LLVMIsATerminatorInst(i) && crosses(i))
        return LLVMGetInstructionOpcode(i) == LLVMInvoke &&
               has_one_predecessor(LLVMGetNormalDest(i));
    return true;
}

static LLVMValueRef add_slot(const struct suspects *suspects, LLVMValueRef function,
                             LLVMTypeRef type)
{
    LLVMBuilderRef builder = suspects->module->builder;

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    return LLVMBuildAlloca(builder, type, "");
}

static void store_before(const struct suspects *suspects, LLVMValueRef value, LLVMValueRef slot,
                         LLVMValueRef before)
{
    LLVMPositionBuilderBefore(suspects->module->builder, before);
    LLVMBuildStore(suspects->module->builder, value, slot);
}

static void demote_phi(const struct suspects *suspects, LLVMValueRef function, LLVMValueRef phi)
{
    LLVMBuilderRef builder = suspects->module->builder;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);
    LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMValueRef slot = add_slot(suspects, function, type);

    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        store_before(suspects, LLVMGetIncomingValue(phi, k), slot,
                     LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k)));
    LLVMPositionBuilderBefore(builder, suspects_first_insertion_point(block));
    LLVMValueRef load = LLVMBuildLoad2(builder, type, slot, "");
    LLVMInstructionSetDebugLoc(load, LLVMInstructionGetDebugLoc(phi));
    LLVMReplaceAllUsesWith(phi, load);
    LLVMInstructionEraseFromParent(phi);
}

static void demote_value(const struct suspects *suspects, LLVMValueRef function, LLVMValueRef i)
{
    LLVMBuilderRef builder = suspects->module->builder;
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef slot = add_slot(suspects, function, type);
    struct value_vec users = VEC_INIT;

    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAInstruction(user) &&
            LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i))
            value_vec_push(&users, user);
    }
    for (size_t u = 0; u < users.length; u++) {
        LLVMPositionBuilderBefore(builder, users.data[u]);
        LLVMValueRef load = LLVMBuildLoad2(builder, type, slot, "");
        LLVMInstructionSetDebugLoc(load, LLVMInstructionGetDebugLoc(users.data[u]));
        for (int o = 0; o < LLVMGetNumOperands(users.data[u]); o++)
            if (LLVMGetOperand(users.data[u], (unsigned)o) == i)
                LLVMSetOperand(users.data[u], (unsigned)o, load);
    }
    store_before(suspects, i, slot,
                 LLVMGetInstructionOpcode(i) == LLVMInvoke
                     ? suspects_first_insertion_point(LLVMGetNormalDest(i))
                     : LLVMGetNextInstruction(i));
    value_vec_deinit(&users);
}

// All instructions but static slots of the entry block; `phis` only, or all others that cross.
static void collect(LLVMValueRef function, bool phis, struct value_vec *ret)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);

    for (LLVMBasicBlockRef block = entry; block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            bool phi = LLVMGetInstructionOpcode(i) == LLVMPHI;

            if (phi != phis || (block == entry && clone_is_static_alloca(i)))
                continue;
            if (phi || crosses(i))
                value_vec_push(ret, i);
        }
}

bool suspects_demote(const struct suspects *suspects, LLVMValueRef function)
{
    struct value_vec phis = VEC_INIT, values = VEC_INIT;
    bool can = true;

    LLVMSetCurrentDebugLocation2(suspects->module->builder, NULL);
    collect(function, true, &phis);
    collect(function, false, &values);
    for (size_t i = 0; i < phis.length; i++)
        can &= can_demote(phis.data[i]);
    for (size_t i = 0; i < values.length; i++)
        can &= can_demote(values.data[i]);
    if (can) {
        for (size_t i = 0; i < phis.length; i++)
            demote_phi(suspects, function, phis.data[i]);
        value_vec_clear(&values);
        collect(function, false, &values);
        for (size_t i = 0; i < values.length; i++)
            demote_value(suspects, function, values.data[i]);
    }
    value_vec_deinit(&phis);
    value_vec_deinit(&values);
    return can;
}

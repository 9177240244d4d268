// SPDX-License-Identifier: Apache-2.0
#include "instrument/clone.h"

#include "instrument/instrument.h"

bool clone_is_argument_store(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMStore && LLVMIsAArgument(LLVMGetOperand(i, 0)) &&
           LLVMIsAAllocaInst(LLVMGetOperand(i, 1));
}

bool clone_is_static_alloca(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMAlloca && LLVMIsAConstantInt(LLVMGetOperand(i, 0));
}

static void clone_block(const struct instrumented_module *module, LLVMBasicBlockRef block,
                        LLVMBasicBlockRef copy, struct value_map *map)
{
    LLVMPositionBuilderAtEnd(module->builder, copy);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
        LLVMValueRef clone;

        if (LLVMGetInstructionOpcode(i) == LLVMPHI)
            clone = LLVMBuildPhi(module->builder, LLVMTypeOf(i), "");
        else {
            clone = LLVMInstructionClone(i);
            LLVMInsertIntoBuilder(module->builder, clone);
        }
        LLVMInstructionSetDebugLoc(clone, location);
        *value_map_put(map, (uintptr_t)i) = clone;
    }
}

LLVMValueRef clone_of(const struct value_map *map, LLVMValueRef value)
{
    LLVMValueRef *found = value ? value_map_get(map, (uintptr_t)value) : NULL;

    return found ? *found : value;
}

LLVMBasicBlockRef clone_of_block(const struct value_map *map, LLVMBasicBlockRef block)
{
    return LLVMValueAsBasicBlock(clone_of(map, LLVMBasicBlockAsValue(block)));
}

static void remap_phi(const struct value_map *map, LLVMValueRef phi, LLVMValueRef clone)
{
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef value = clone_of(map, LLVMGetIncomingValue(phi, k));
        LLVMBasicBlockRef from = clone_of_block(map, LLVMGetIncomingBlock(phi, k));

        LLVMAddIncoming(clone, &value, &from, 1);
    }
}

static void remap_block(LLVMBasicBlockRef block, const struct value_map *map)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef clone = clone_of(map, i);

        if (LLVMGetInstructionOpcode(i) == LLVMPHI) {
            remap_phi(map, i, clone);
            continue;
        }
        for (int o = 0; o < LLVMGetNumOperands(clone); o++) {
            LLVMValueRef operand = LLVMGetOperand(clone, (unsigned)o);
            LLVMValueRef to = clone_of(map, operand);

            if (to != operand)
                LLVMSetOperand(clone, (unsigned)o, to);
        }
    }
}

void clone_blocks(const struct instrumented_module *module, LLVMValueRef function,
                  const LLVMBasicBlockRef *blocks, uint32_t count, struct value_map *map)
{
    for (uint32_t b = 0; b < count; b++) {
        LLVMBasicBlockRef copy = LLVMAppendBasicBlockInContext(module->context, function, "");

        *value_map_put(map, (uintptr_t)LLVMBasicBlockAsValue(blocks[b])) =
            LLVMBasicBlockAsValue(copy);
    }
    for (uint32_t b = 0; b < count; b++)
        clone_block(module, blocks[b], clone_of_block(map, blocks[b]), map);
    for (uint32_t b = 0; b < count; b++)
        remap_block(blocks[b], map);
}

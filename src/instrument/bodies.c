// SPDX-License-Identifier: Apache-2.0
/*
 * Two bodies in one function: the recording one and one that keeps only call coverage, chosen at
 * entry by the function's flag byte (paper 001, section III-A).
 *
 * Requires: nothing was added to the function yet. The copy shares the stack slots, which move with
 * the stores of arguments into a new entry block: so debug info needs no copy, and arguments are in
 * their slots before a debugger's first stop.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "instrument/clone.h"

#include <stdlib.h>
#include <string.h>

// Does assembly text define a label that could not stand twice? `1:` may, `name:` may not.
static bool asm_defines_label(const char *text, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (text[i] == ':' && text[i - 1] != '{' && !(text[i - 1] >= '0' && text[i - 1] <= '9'))
            return true;
    return false;
}

bool bodies_can_clone_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;

    if (LLVMIsAInlineAsm(callee)) {
        const char *text = LLVMGetInlineAsmAsmString(callee, &length);
        return !asm_defines_label(text, length);
    }
    return !split_call_has_attribute(call, "noduplicate");
}

static bool instruction_can_clone(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMIndirectBr:
    case LLVMCallBr:
    case LLVMCatchSwitch:
    case LLVMCatchPad:
    case LLVMCleanupPad:
        return false;
    case LLVMCall:
    case LLVMInvoke:
        return bodies_can_clone_call(i);
    default:
        return true;
    }
}

bool bodies_can_clone(const struct instrumented_function *function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block)) {
        // a block whose address is taken
        for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
             use = LLVMGetNextUse(use))
            if (LLVMIsABlockAddress(LLVMGetUser(use)))
                return false;
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (!instruction_can_clone(i))
                return false;
    }
    return true;
}

// Slots and argument stores at the head of the old entry go into the new one.
static void move_prologue(const struct instrumented_module *module, LLVMBasicBlockRef from,
                          LLVMBasicBlockRef to)
{
    LLVMValueRef next;

    LLVMPositionBuilderAtEnd(module->builder, to);
    for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!clone_is_static_alloca(i) && !clone_is_argument_store(i))
            break;
        LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(module->builder, i);
        LLVMInstructionSetDebugLoc(i, location);
    }
}

static void choose_body(const struct instrumented_module *module,
                        const struct instrumented_function *function, LLVMBasicBlockRef entry)
{
    LLVMValueRef index = instrument_i64(module, function->index);

    LLVMPositionBuilderAtEnd(module->builder, entry);
    // the builder still has the location of where it stood, perhaps in another function
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
    LLVMValueRef address =
        LLVMBuildInBoundsGEP2(module->builder, module->type_i8, module->flags, &index, 1, "");
    LLVMValueRef flag = LLVMBuildLoad2(module->builder, module->type_i8, address, "");
    LLVMValueRef on = LLVMBuildICmp(module->builder, LLVMIntNE, flag,
                                    LLVMConstInt(module->type_i8, 0, false), "");
    LLVMBuildCondBr(module->builder, on, function->body_entry, function->plain_entry);
}

void bodies_clone(struct instrumented_module *module, struct instrumented_function *function)
{
    uint32_t count = LLVMCountBasicBlocks(function->function);
    LLVMBasicBlockRef *blocks = xmalloc_array(count, sizeof(*blocks));
    struct value_map map = MAP_INIT;

    LLVMGetBasicBlocks(function->function, blocks);
    LLVMBasicBlockRef entry =
        LLVMInsertBasicBlockInContext(module->context, blocks[0], "inquest.entry");
    move_prologue(module, blocks[0], entry);
    clone_blocks(module, function->function, blocks, count, &map);
    function->body_entry = blocks[0];
    function->plain_entry = clone_of_block(&map, blocks[0]);
    function->plain_calls =
        xmalloc_array(function->split.site_count + 1u, sizeof(*function->plain_calls));
    for (uint32_t s = 0; s < function->split.site_count; s++)
        function->plain_calls[s] =
            clone_of(&map, function->split.nodes[function->split.site_node[s]].call);
    choose_body(module, function, entry);
    free(blocks);
    value_map_deinit(&map);
}

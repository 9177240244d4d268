// SPDX-License-Identifier: Apache-2.0
/*
 * Plain copies: functions of their own that record nothing, for `inquest tune --off`, which writes
 * a jump to the copy over the entry of the function that records. So a function that is on tests
 * nothing, one that is off costs a jump, and each is inlined and optimised as if the other were not
 * there.
 *
 * Requires: discriminators are there, nothing else was added. A copy calls the copies of what it
 * calls by name in this module, so that a program that is off altogether runs plain code only:
 * readers take what those did for unknown.
 *
 * Before the entry of the recording function stands struct layout_switch, as prefix data: it is in
 * the code exactly where the function is, however the program was linked or stripped.
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

bool plain_can_copy_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;

    if (LLVMIsAInlineAsm(callee)) {
        const char *text = LLVMGetInlineAsmAsmString(callee, &length);
        return !asm_defines_label(text, length);
    }
    return !split_call_has_attribute(call, "noduplicate");
}

static bool can_copy_instruction(LLVMValueRef i)
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
        return plain_can_copy_call(i);
    default:
        return true;
    }
}

static bool can_copy_body(LLVMValueRef f)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
        // a block whose address is taken: a table of them would lead into the other copy
        for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
             use = LLVMGetNextUse(use))
            if (LLVMIsABlockAddress(LLVMGetUser(use)))
                return false;
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (!can_copy_instruction(i))
                return false;
    }
    return true;
}

// A body that a header gives to the optimiser only has no code of its own; a copy of it would have.
// Where it is always inlined, neither has.
static bool is_only_for_inlining(LLVMValueRef f)
{
    return LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage;
}

bool plain_can_copy(LLVMValueRef f)
{
    if (plugin_has_prefix(f) || instrument_has_attribute(f, "naked"))
        return false;
    if (is_only_for_inlining(f) && !instrument_has_attribute(f, "alwaysinline"))
        return false;
    return can_copy_body(f);
}

// LLVM moves functions of this section away from the others.
static void place(LLVMValueRef plain)
{
    if (!LLVMGetSection(plain) || !*LLVMGetSection(plain))
        LLVMSetSection(plain, ".text.unlikely.inquest");
}

void plain_copy(struct instrumented_function *function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function->function, &length);
    char *copy_name = xasprintf("%.*s" LAYOUT_PLAIN_SUFFIX, (int)length, name);
    LLVMValueRef plain = plugin_copy_function(function->function);

    LLVMSetValueName2(plain, copy_name, strlen(copy_name));
    free(copy_name);
    LLVMSetLinkage(plain, LLVMInternalLinkage);
    LLVMSetVisibility(plain, LLVMDefaultVisibility);
    place(plain);
    function->plain = plain;
}

static void redirect_call(LLVMValueRef call, const struct value_map *copies)
{
    LLVMValueRef *copy = value_map_get(copies, (uintptr_t)LLVMGetCalledValue(call));

    if (copy)
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, *copy);
}

static LLVMValueRef switch_data(const struct instrumented_module *module,
                                const struct instrumented_function *function)
{
    LLVMValueRef distance = LLVMConstSub(LLVMConstPtrToInt(function->plain, module->type_i64),
                                         LLVMConstPtrToInt(function->function, module->type_i64));
    LLVMValueRef members[] = {
        instrument_i64(module, LAYOUT_SWITCH_MAGIC),
        instrument_i64(module, module->module_id),
        instrument_i32(module, function->index),
        LLVMConstTrunc(distance, module->type_i32),
        LLVMConstNull(LLVMArrayType2(module->type_i8, sizeof(((struct layout_switch *)0)->saved))),
    };

    return LLVMConstStructInContext(module->context, members, 5, false);
}

static void redirect_calls(LLVMValueRef plain, const struct value_map *copies)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(plain); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (split_is_call(i))
                redirect_call(i, copies);
}

void plain_connect(struct instrumented_module *module)
{
    struct value_map copies = MAP_INIT;

    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f].plain)
            *value_map_put(&copies, (uintptr_t)module->functions[f].function) =
                module->functions[f].plain;
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f].plain)
            redirect_calls(module->functions[f].plain, &copies);
    value_map_deinit(&copies);
}

void plain_add_switches(struct instrumented_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct instrumented_function *function = &module->functions[f];

        if (function->plain && !is_only_for_inlining(function->function))
            plugin_set_prefix(function->function, switch_data(module, function));
    }
}

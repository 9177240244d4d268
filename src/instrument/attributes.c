// SPDX-License-Identifier: Apache-2.0
/*
 * A call that is known to have no effect may be moved, merged or dropped after its coverage was
 * stored, and the evidence would speak of a call that never was. So what says that is taken off
 * every function and call but intrinsics.
 */
#include "instrument/instrument.h"

#include <string.h>

static const char *const stripped[] = {"memory", "speculatable", "willreturn"};
enum { STRIPPED = sizeof(stripped) / sizeof(stripped[0]) };

static void strip_calls(LLVMValueRef function, const unsigned kinds[STRIPPED])
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!split_is_call(i))
                continue;
            for (int k = 0; k < STRIPPED; k++)
                LLVMRemoveCallSiteEnumAttribute(i, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                                kinds[k]);
        }
}

void attributes_strip(struct instrumented_module *module)
{
    unsigned kinds[STRIPPED];

    for (int k = 0; k < STRIPPED; k++)
        kinds[k] = LLVMGetEnumAttributeKindForName(stripped[k], strlen(stripped[k]));
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetIntrinsicID(f))
            continue;
        for (int k = 0; k < STRIPPED; k++)
            LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                           kinds[k]);
        strip_calls(f, kinds);
    }
}

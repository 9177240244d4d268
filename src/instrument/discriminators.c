// SPDX-License-Identifier: Apache-2.0
/*
 * Gives every instruction that has a location the discriminator (node + 1), so that a row of the
 * line table names its node whatever was inlined, moved or duplicated. No code changes. Numbers
 * past the nodes name edges (paths.c). Where the optimiser merges locations the discriminator goes,
 * which readers take for "not told".
 */
#include "instrument/instrument.h"

LLVMMetadataRef discriminators_locate(const struct instrumented_module *module,
                                      LLVMMetadataRef location, uint32_t node)
{
    LLVMMetadataRef scope = LLVMDILocationGetScope(location);
    LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
    LLVMMetadataRef block =
        LLVMDIBuilderCreateLexicalBlockFile(module->debug, scope, file, node + 1);

    return LLVMDIBuilderCreateDebugLocation(module->context, LLVMDILocationGetLine(location),
                                            LLVMDILocationGetColumn(location), block,
                                            LLVMDILocationGetInlinedAt(location));
}

void discriminators_add(struct instrumented_module *module, struct instrumented_function *function)
{
    if (!function->subprogram)
        return;
    for (uint32_t n = 0; n < function->split.graph.node_count; n++) {
        const struct split_node *node = &function->split.nodes[n];

        for (LLVMValueRef i = node->first;; i = LLVMGetNextInstruction(i)) {
            LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);

            if (location)
                LLVMInstructionSetDebugLoc(i, discriminators_locate(module, location, n));
            if (i == node->last)
                break;
        }
    }
}

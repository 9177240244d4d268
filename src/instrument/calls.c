// SPDX-License-Identifier: Apache-2.0
/*
 * Call coverage: before each call, the pending site and the local byte go into the record and the
 * global byte is set. So a byte that is 0 means "never about to be entered", whatever longjmp,
 * unwinding or exit did.
 *
 * These stores are not volatile: memory is known to a callee, so that they are made before any real
 * call; between calls the optimiser may drop or delay them, which readers allow for in the frame
 * that was interrupted.
 */
#include "instrument/instrument.h"

static void cover(const struct instrumented_module *module,
                  const struct instrumented_function *function, LLVMValueRef call, uint32_t site,
                  bool recording)
{
    LLVMValueRef one = LLVMConstInt(module->type_i8, 1, false);
    LLVMValueRef index = instrument_i64(module, function->first_site + site);

    LLVMPositionBuilderBefore(module->builder, call);
    // the stores belong to the call's line, not to whatever row came before
    LLVMSetCurrentDebugLocation2(module->builder, LLVMInstructionGetDebugLoc(call));
    if (function->record) {
        LLVMBuildStore(module->builder, instrument_i32(module, site + 1),
                       record_address(module, function, function->frame.pending));
        struct path_chain chain = path_chain(function->numbers, function->split.site_node[site]);

        if (chain.stores && path_keeps_calls(&function->shape, function->level, recording))
            LLVMBuildStore(module->builder, one,
                           record_address(module, function, function->frame.calls + chain.byte));
    }
    LLVMBuildStore(
        module->builder, one,
        LLVMBuildInBoundsGEP2(module->builder, module->type_i8, module->coverage, &index, 1, ""));
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
}

void calls_add(struct instrumented_module *module, struct instrumented_function *function)
{
    if (function->level < SECTION_LEVEL_CALLS)
        return;
    for (uint32_t s = 0; s < function->split.site_count; s++) {
        cover(module, function, function->split.nodes[function->split.site_node[s]].call, s, true);
        if (function->plain_calls)
            cover(module, function, function->plain_calls[s], s, false);
    }
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The frame record: one escaped stack slot an activation (layout/frame.h), described in DWARF as
 * one variable.
 *
 * `asm sideeffect "", "=*m"` on the slot emits nothing, but the optimiser then believes that the
 * slot is known elsewhere: it is not split into scattered bytes, stores before calls stay.
 *
 * The cookie is stored last at entry. In functions that may be inlined it is cleared at exit: two
 * inlined copies may share one slot, and that of an activation that is left must not be taken for a
 * live one. Where a function is not inlined, the reader sees from the code whether the store at
 * entry was made.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>

LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value)
{
    return LLVMConstInt(module->type_i32, value, false);
}

LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value)
{
    return LLVMConstInt(module->type_i64, value, false);
}

LLVMValueRef record_address(const struct instrumented_module *module,
                            const struct instrumented_function *function, uint32_t offset)
{
    if (offset == 0)
        return function->record;
    LLVMValueRef index = instrument_i64(module, offset);
    return LLVMBuildInBoundsGEP2(module->builder, module->type_i8, function->record, &index, 1, "");
}

void record_store(const struct instrumented_module *module,
                  const struct instrumented_function *function, uint32_t offset, LLVMValueRef value)
{
    LLVMValueRef store =
        LLVMBuildStore(module->builder, value, record_address(module, function, offset));

    LLVMSetVolatile(store, true);
}

void instrument_pin(const struct instrumented_module *module)
{
    LLVMTypeRef type = LLVMFunctionType(module->type_void, NULL, 0, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);

    LLVMBuildCall2(module->builder, type, code, NULL, 0, "");
}

static void escape(const struct instrumented_module *module,
                   const struct instrumented_function *function, LLVMTypeRef slot)
{
    static const char constraint[] = "=*m";
    LLVMTypeRef type =
        LLVMFunctionType(module->type_void, (LLVMTypeRef *)&module->type_ptr, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, "", 0, constraint, sizeof(constraint) - 1, true,
                                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef argument = function->record;
    LLVMValueRef call = LLVMBuildCall2(module->builder, type, code, &argument, 1, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));

    LLVMAddCallSiteAttribute(call, 1, LLVMCreateTypeAttribute(module->context, kind, slot));
}

struct member {
    const char *name;
    uint32_t offset;
    LLVMMetadataRef type;
    uint64_t bits;
};

static LLVMMetadataRef array_type(const struct instrumented_module *module, LLVMMetadataRef element,
                                  uint64_t bits, uint32_t count)
{
    LLVMMetadataRef range = LLVMDIBuilderGetOrCreateSubrange(module->debug, 0, count);

    return LLVMDIBuilderCreateArrayType(module->debug, bits * count, (uint32_t)bits, element,
                                        &range, 1);
}

// The struct as debuggers see it.
static LLVMMetadataRef record_type(const struct instrumented_module *module,
                                   const struct instrumented_function *function)
{
    enum { ENCODING_UNSIGNED = 7, ENCODING_BOOLEAN = 2 };
    const struct layout_shape *shape = &function->shape;
    const struct layout_frame *frame = &function->frame;
    LLVMMetadataRef u32 =
        LLVMDIBuilderCreateBasicType(module->debug, "unsigned int", 12, 32, ENCODING_UNSIGNED, 0);
    LLVMMetadataRef u64 =
        LLVMDIBuilderCreateBasicType(module->debug, "unsigned long", 13, 64, ENCODING_UNSIGNED, 0);
    LLVMMetadataRef flag =
        LLVMDIBuilderCreateBasicType(module->debug, "_Bool", 5, 8, ENCODING_BOOLEAN, 0);
    LLVMMetadataRef file = LLVMDIScopeGetFile(function->subprogram);
    struct member members[6];
    unsigned count = 0;

    members[count++] = (struct member){"cookie", frame->cookie, u32, 32};
    members[count++] = (struct member){"pending", frame->pending, u32, 32};
    if (shape->has_sum)
        members[count++] = (struct member){"sum", frame->sum, u64, 64};
    if (shape->has_ring) {
        members[count++] = (struct member){"ring_count", frame->ring_count, u64, 64};
        members[count++] =
            (struct member){"ring", frame->ring, array_type(module, u64, 64, LAYOUT_RING_SLOTS),
                            64 * LAYOUT_RING_SLOTS};
    }
    if (shape->local_sites)
        members[count++] =
            (struct member){"calls", frame->calls, array_type(module, flag, 8, shape->local_sites),
                            8ull * shape->local_sites};

    LLVMMetadataRef types[6];
    for (unsigned m = 0; m < count; m++)
        types[m] = LLVMDIBuilderCreateMemberType(
            module->debug, file, members[m].name, strlen(members[m].name), file, 0, members[m].bits,
            8, 8ull * members[m].offset, LLVMDIFlagZero, members[m].type);
    return LLVMDIBuilderCreateStructType(
        module->debug, file, LAYOUT_FRAME_VARIABLE, strlen(LAYOUT_FRAME_VARIABLE), file, 0,
        8ull * frame->size, 64, LLVMDIFlagArtificial, NULL, types, count, 0, NULL, "", 0);
}

static void declare(const struct instrumented_module *module,
                    const struct instrumented_function *function, LLVMValueRef before)
{
    unsigned line = LLVMDISubprogramGetLine(function->subprogram);
    LLVMMetadataRef variable = LLVMDIBuilderCreateAutoVariable(
        module->debug, function->subprogram, LAYOUT_FRAME_VARIABLE, strlen(LAYOUT_FRAME_VARIABLE),
        LLVMDIScopeGetFile(function->subprogram), line, record_type(module, function), true,
        LLVMDIFlagArtificial, 64);
    LLVMMetadataRef location =
        LLVMDIBuilderCreateDebugLocation(module->context, line, 0, function->subprogram, NULL);

    LLVMDIBuilderInsertDeclareRecordBefore(module->debug, function->record, variable,
                                           LLVMDIBuilderCreateExpression(module->debug, NULL, 0),
                                           location, before);
}

static void clear_calls(const struct instrumented_module *module,
                        const struct instrumented_function *function)
{
    uint32_t bytes = function->frame.size - function->frame.calls;

    if (bytes > 64) {
        LLVMBuildMemSet(module->builder, record_address(module, function, function->frame.calls),
                        LLVMConstInt(module->type_i8, 0, false), instrument_i64(module, bytes), 8);
        return;
    }
    for (uint32_t offset = function->frame.calls; offset < function->frame.size; offset += 8)
        LLVMSetAlignment(LLVMBuildStore(module->builder, instrument_i64(module, 0),
                                        record_address(module, function, offset)),
                         8);
}

// Initialisation of one body, at the builder's position.
static void initialize(const struct instrumented_module *module,
                       const struct instrumented_function *function, bool recording)
{
    const struct layout_frame *frame = &function->frame;

    if (path_keeps_calls(&function->shape, function->level, recording))
        clear_calls(module, function);
    if (recording && function->shape.has_ring)
        record_store(module, function, frame->ring_count, instrument_i64(module, 0));
    if (recording && function->shape.has_sum) {
        LLVMValueRef start = instrument_i64(module, path_start(function->numbers, 0));

        if (function->sum_register)
            LLVMBuildStore(module->builder, start, function->sum_register);
        record_store(module, function, frame->sum, start);
    }
    // the cookie, and 0 for the pending site beside it
    record_store(
        module, function, frame->cookie,
        instrument_i64(module, layout_cookie(module->module_id, function->index, recording)));
}

static LLVMValueRef first_after_allocas(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMGetInstructionOpcode(i) == LLVMAlloca || LLVMGetInstructionOpcode(i) == LLVMPHI)
        i = LLVMGetNextInstruction(i);
    return i;
}

static void clear_cookie_before(const struct instrumented_module *module,
                                const struct instrumented_function *function, LLVMValueRef before)
{
    LLVMPositionBuilderBefore(module->builder, before);
    LLVMSetCurrentDebugLocation2(module->builder, LLVMInstructionGetDebugLoc(before));
    record_store(module, function, function->frame.cookie, instrument_i32(module, 0));
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
}

// Where an activation ends: returns, resumed unwinding, and calls that replace this frame.
static void clear_at_exits(const struct instrumented_module *module,
                           const struct instrumented_function *function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block), leave = terminator;
        LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator);

        if (opcode != LLVMRet && opcode != LLVMResume && opcode != LLVMCleanupRet)
            continue;
        // a call that must be a tail call: nothing may come after it
        for (LLVMValueRef i = LLVMGetPreviousInstruction(terminator); i;
             i = LLVMGetPreviousInstruction(i)) {
            if (LLVMGetInstructionOpcode(i) == LLVMBitCast)
                continue;
            if (LLVMGetInstructionOpcode(i) == LLVMCall &&
                LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail)
                leave = i;
            break;
        }
        clear_cookie_before(module, function, leave);
    }
}

void record_pin(struct instrumented_module *module, struct instrumented_function *function)
{
    LLVMPositionBuilderBefore(module->builder,
                              first_after_allocas(LLVMGetEntryBasicBlock(function->function)));
    instrument_pin(module);
}

// Requires: bodies are cloned. The pending stores before tail calls come after the cookie is
// cleared; that does no harm.
void record_add(struct instrumented_module *module, struct instrumented_function *function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function->function);
    LLVMValueRef at = first_after_allocas(entry);

    if (!function->shape.has_record) {
        record_pin(module, function);
        return;
    }
    LLVMTypeRef slot = LLVMArrayType2(module->type_i64, function->frame.size / 8);
    LLVMPositionBuilderBefore(module->builder, LLVMGetFirstInstruction(entry));
    function->record = LLVMBuildAlloca(module->builder, slot, LAYOUT_FRAME_VARIABLE);
    LLVMSetAlignment(function->record, 8);
    if (function->shape.has_sum && function->optimized)
        function->sum_register = LLVMBuildAlloca(module->builder, module->type_i64, "");
    declare(module, function, at);
    LLVMPositionBuilderBefore(module->builder, at);
    escape(module, function, slot);
    if (function->plain_entry) {
        LLVMPositionBuilderBefore(module->builder, first_after_allocas(function->plain_entry));
        initialize(module, function, false);
        LLVMPositionBuilderBefore(module->builder, first_after_allocas(function->body_entry));
    }
    initialize(module, function, true);
    if (function->flags & SECTION_FUNCTION_CLEARS)
        clear_at_exits(module, function);
}

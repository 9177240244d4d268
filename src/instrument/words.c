// SPDX-License-Identifier: Apache-2.0
/*
 * The frame words of an activation (layout/frame.h): stack slots, their debug info, what they hold
 * at entry.
 *
 * A slot is a scalar that only volatile stores (and, without optimisation, volatile loads) use. So
 * it stays in memory (mem2reg and SROA promote no slot with volatile accesses), no store of it is
 * dropped, doubled or moved to where it was not (LangRef, "Volatile Memory Accesses"), its address
 * is known to no callee, and it is an array to no stack protector.
 *
 * The values themselves live in slots that the optimiser may keep in registers.
 */
#include "instrument/instrument.h"

#include <string.h>

LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value)
{
    return LLVMConstInt(module->type_i32, value, false);
}

LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value)
{
    return LLVMConstInt(module->type_i64, value, false);
}

void instrument_pin(const struct instrumented_module *module)
{
    LLVMTypeRef type = LLVMFunctionType(module->type_void, NULL, 0, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);

    LLVMBuildCall2(module->builder, type, code, NULL, 0, "");
}

LLVMValueRef words_path_value(const struct instrumented_function *function, uint64_t word)
{
    return LLVMConstInt(function->path_type, word, false);
}

void words_store(const struct instrumented_module *module, LLVMValueRef slot, LLVMValueRef value)
{
    LLVMSetVolatile(LLVMBuildStore(module->builder, value, slot), true);
}

static void declare(const struct instrumented_module *module,
                    const struct instrumented_function *function, const char *name,
                    LLVMValueRef slot, LLVMValueRef before)
{
    enum { ENCODING_UNSIGNED = 7 };
    bool wide = LLVMGetAllocatedType(slot) == module->type_i64;
    unsigned line = LLVMDISubprogramGetLine(function->subprogram);
    const char *type_name = wide ? "unsigned long" : "unsigned int";
    LLVMMetadataRef type =
        LLVMDIBuilderCreateBasicType(module->debug, type_name, strlen(type_name), wide ? 64 : 32,
                                     ENCODING_UNSIGNED, LLVMDIFlagZero);
    LLVMMetadataRef variable = LLVMDIBuilderCreateAutoVariable(
        module->debug, function->subprogram, name, strlen(name),
        LLVMDIScopeGetFile(function->subprogram), line, type, true, LLVMDIFlagArtificial, 0);
    LLVMMetadataRef location =
        LLVMDIBuilderCreateDebugLocation(module->context, line, 0, function->subprogram, NULL);

    LLVMDIBuilderInsertDeclareRecordBefore(module->debug, slot, variable,
                                           LLVMDIBuilderCreateExpression(module->debug, NULL, 0),
                                           location, before);
}

static LLVMValueRef first_after_allocas(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMGetInstructionOpcode(i) == LLVMAlloca || LLVMGetInstructionOpcode(i) == LLVMPHI)
        i = LLVMGetNextInstruction(i);
    return i;
}

static LLVMValueRef add_slot(const struct instrumented_module *module,
                             const struct instrumented_function *function, LLVMTypeRef type,
                             const char *name)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function->function);

    LLVMPositionBuilderBefore(module->builder, LLVMGetFirstInstruction(entry));
    return LLVMBuildAlloca(module->builder, type, name);
}

// With optimisation, the values from which the words are stored.
static void add_registers(const struct instrumented_module *module,
                          struct instrumented_function *function)
{
    if (function->optimized)
        function->path_register = add_slot(module, function, function->path_type, "");
    if (function->shape.has_older) {
        function->last_register = add_slot(module, function, module->type_i64, "");
        function->older_register = add_slot(module, function, module->type_i64, "");
    }
}

static void initialize(const struct instrumented_module *module,
                       const struct instrumented_function *function)
{
    uint64_t start = layout_encode(&function->code, path_start(function->numbers, 0));
    LLVMValueRef path = words_path_value(function, start);

    if (function->path_register)
        LLVMBuildStore(module->builder, path, function->path_register);
    if (function->shape.has_older) {
        LLVMBuildStore(module->builder, instrument_i64(module, 0), function->last_register);
        LLVMBuildStore(module->builder, instrument_i64(module, 0), function->older_register);
    }
    if (function->shape.eager)
        words_store(module, function->path, path);
}

// The function has an effect that must not be moved or dropped: what its callers recorded of
// calling it would speak of a call that never was.
void words_pin(struct instrumented_module *module, struct instrumented_function *function)
{
    LLVMPositionBuilderBefore(module->builder,
                              first_after_allocas(LLVMGetEntryBasicBlock(function->function)));
    instrument_pin(module);
}

void words_add(struct instrumented_module *module, struct instrumented_function *function)
{
    const struct layout_shape *shape = &function->shape;
    LLVMValueRef at = first_after_allocas(LLVMGetEntryBasicBlock(function->function));

    words_pin(module, function);
    if (!shape->has_path)
        return;
    function->path_type = shape->wide ? module->type_i64 : module->type_i32;
    function->path = add_slot(module, function, function->path_type, LAYOUT_PATH_VARIABLE);
    declare(module, function, LAYOUT_PATH_VARIABLE, function->path, at);
    if (shape->has_last) {
        LLVMTypeRef type = shape->has_older ? module->type_i64 : function->path_type;

        function->last = add_slot(module, function, type, LAYOUT_LAST_VARIABLE);
        declare(module, function, LAYOUT_LAST_VARIABLE, function->last, at);
    }
    if (shape->has_older) {
        function->older = add_slot(module, function, module->type_i64, LAYOUT_OLDER_VARIABLE);
        declare(module, function, LAYOUT_OLDER_VARIABLE, function->older, at);
    }
    add_registers(module, function);
    LLVMPositionBuilderBefore(module->builder, at);
    initialize(module, function);
}

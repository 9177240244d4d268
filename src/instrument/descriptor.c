// SPDX-License-Identifier: Apache-2.0
/*
 * The module's loaded data: coverage bytes, flag bytes, and the descriptor that leads to both. The
 * descriptor is also what ties the compile unit's DWARF to the bitcode, through its name.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `count` bytes of one value, with `guard` others before and behind them.
static LLVMValueRef same_bytes(const struct instrumented_module *module, uint32_t count,
                               uint8_t value, uint32_t guard)
{
    uint32_t size = count + 2 * guard;
    LLVMValueRef *bytes = xmalloc_array(size + 1u, sizeof(*bytes));

    for (uint32_t i = 0; i <= size; i++)
        bytes[i] = LLVMConstInt(module->type_i8,
                                i < guard || i >= guard + count ? LAYOUT_GUARD : value, false);
    LLVMValueRef array = LLVMConstArray2(module->type_i8, bytes, size ? size : 1);
    free(bytes);
    return array;
}

static LLVMValueRef add_array(const struct instrumented_module *module, const char *prefix,
                              const char *section, LLVMValueRef bytes)
{
    char name[64];

    snprintf(name, sizeof(name), "%s%016" PRIx64, prefix, module->module_id);
    LLVMValueRef array = LLVMAddGlobal(module->module, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(array, bytes);
    LLVMSetLinkage(array, LLVMInternalLinkage);
    LLVMSetSection(array, section);
    LLVMSetAlignment(array, 1);
    return array;
}

static LLVMValueRef offset_from(const struct instrumented_module *module, LLVMValueRef target,
                                LLVMValueRef base)
{
    LLVMValueRef difference = LLVMConstSub(LLVMConstPtrToInt(target, module->type_i64),
                                           LLVMConstPtrToInt(base, module->type_i64));

    return LLVMConstTrunc(difference, module->type_i32);
}

static LLVMTypeRef descriptor_type(const struct instrumented_module *module)
{
    LLVMTypeRef i32 = module->type_i32, i64 = module->type_i64;
    LLVMTypeRef members[] = {i64, i64, i32, i32, i32, i32, i32, i32, i32, i32};

    return LLVMStructTypeInContext(module->context, members, 10, false);
}

// Appends the descriptor to the globals of a compile unit: operand 6 of DICompileUnit.
static void tie_unit(const struct instrumented_module *module, LLVMValueRef unit,
                     LLVMMetadataRef expression)
{
    enum { GLOBALS = 6 };
    int operand_count = LLVMGetMDNodeNumOperands(unit);
    if (operand_count <= GLOBALS)
        return;
    LLVMValueRef *operands = xcalloc((size_t)operand_count, sizeof(*operands));
    LLVMGetMDNodeOperands(unit, operands);
    LLVMValueRef old = operands[GLOBALS];
    free(operands);

    unsigned count = old ? (unsigned)LLVMGetMDNodeNumOperands(old) : 0;
    LLVMValueRef *old_globals = xcalloc(count + 1u, sizeof(*old_globals));
    LLVMMetadataRef *globals = xcalloc(count + 1u, sizeof(*globals));
    if (old)
        LLVMGetMDNodeOperands(old, old_globals);
    for (unsigned i = 0; i < count; i++)
        globals[i] = LLVMValueAsMetadata(old_globals[i]);
    globals[count] = expression;
    LLVMReplaceMDNodeOperandWith(unit, GLOBALS,
                                 LLVMMDNodeInContext2(module->context, globals, count + 1u));
    free(old_globals);
    free(globals);
}

static void tie_units(const struct instrumented_module *module, LLVMValueRef descriptor,
                      const char *name)
{
    unsigned count = LLVMGetNamedMetadataNumOperands(module->module, "llvm.dbg.cu");
    LLVMValueRef *units = xcalloc(count + 1u, sizeof(*units));

    LLVMGetNamedMetadataOperands(module->module, "llvm.dbg.cu", units);
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef unit = LLVMValueAsMetadata(units[i]);
        LLVMMetadataRef file = LLVMDIScopeGetFile(unit);
        LLVMMetadataRef byte =
            LLVMDIBuilderCreateBasicType(module->debug, "unsigned char", 13, 8, 8, 0);
        LLVMMetadataRef expression = LLVMDIBuilderCreateGlobalVariableExpression(
            module->debug, unit, name, strlen(name), "", 0, file, 0, byte, true,
            LLVMDIBuilderCreateExpression(module->debug, NULL, 0), NULL, 0);

        LLVMGlobalSetMetadata(descriptor, LLVMGetMDKindIDInContext(module->context, "dbg", 3),
                              expression);
        tie_unit(module, units[i], expression);
    }
    free(units);
}

void descriptor_keep(LLVMModuleRef module, const char *name, const LLVMValueRef *globals,
                     unsigned count)
{
    LLVMValueRef old = LLVMGetNamedGlobal(module, name);
    LLVMValueRef list = old ? LLVMGetInitializer(old) : NULL;
    unsigned before = list ? (unsigned)LLVMGetNumOperands(list) : 0;
    LLVMValueRef *values = xmalloc_array(before + count + 1ull, sizeof(*values));

    for (unsigned i = 0; i < before; i++)
        values[i] = LLVMGetOperand(list, i);
    for (unsigned i = 0; i < count; i++)
        values[before + i] = globals[i];
    if (old) // appending means replacing
        LLVMDeleteGlobal(old);
    list = LLVMConstArray2(LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0), values,
                           before + count);
    LLVMValueRef variable = LLVMAddGlobal(module, LLVMTypeOf(list), name);
    LLVMSetInitializer(variable, list);
    LLVMSetLinkage(variable, LLVMAppendingLinkage);
    LLVMSetSection(variable, "llvm.metadata");
    free(values);
}

void descriptor_add(struct instrumented_module *module)
{
    char name[64];

    LLVMValueRef bytes =
        add_array(module, "__inquest_cov_", LAYOUT_COVERAGE_SECTION,
                  same_bytes(module, module->site_count, LAYOUT_UNCALLED, LAYOUT_GUARD_SIZE));
    LLVMValueRef guard = instrument_i64(module, LAYOUT_GUARD_SIZE);
    module->coverage = LLVMConstInBoundsGEP2(module->type_i8, bytes, &guard, 1);
    LLVMValueRef flags = add_array(module, "__inquest_flags_", LAYOUT_FLAGS_SECTION,
                                   same_bytes(module, module->function_count, LAYOUT_FLAG_ON, 0));

    snprintf(name, sizeof(name), LAYOUT_MODULE_VARIABLE "%016" PRIx64, module->module_id);
    LLVMValueRef descriptor = LLVMAddGlobal(module->module, descriptor_type(module), name);
    LLVMValueRef members[] = {
        instrument_i64(module, LAYOUT_DESCRIPTOR_MAGIC),
        instrument_i64(module, module->module_id),
        offset_from(module, module->coverage, descriptor),
        instrument_i32(module, module->site_count),
        offset_from(module, flags, descriptor),
        instrument_i32(module, module->function_count),
        instrument_i32(module, LAYOUT_VERSION),
        instrument_i32(module, module->options.level),
        offset_from(module, module->coverage, descriptor),
        offset_from(module, flags, descriptor),
    };
    LLVMSetInitializer(descriptor, LLVMConstStructInContext(module->context, members, 10, false));
    LLVMSetLinkage(descriptor, LLVMInternalLinkage);
    LLVMSetSection(descriptor, LAYOUT_DESCRIPTOR_SECTION);
    LLVMSetAlignment(descriptor, 8);
    LLVMSetGlobalConstant(descriptor, true);
    descriptor_keep(module->module, "llvm.used", &descriptor, 1);
    tie_units(module, descriptor, name);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The frame words of an activation (layout/frame.h): stack slots, their debug info, what is stored
 * in them.
 *
 * A slot is a scalar that only volatile stores (and, without optimisation, volatile loads) use. So
 * it stays in memory (mem2reg and SROA promote no slot with volatile accesses), no store of it is
 * dropped, doubled or moved to where it was not (LangRef, "Volatile Memory Accesses"), its address
 * is known to no callee, and it is an array to no stack protector.
 *
 * The sums themselves live in slots that the optimiser may keep in registers, so that increments
 * fold into constants; without optimisation, in the words.
 */
#include "instrument/instrument.h"

#include <stdio.h>
#include <string.h>

LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value)
{
    return LLVMConstInt(module->type_i32, value, false);
}

LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value)
{
    return LLVMConstInt(module->type_i64, value, false);
}

static const char INLINE_COST[] = "call-inline-cost";

// llvm::MemoryEffects: two bits each for memory of arguments, inaccessible memory, and the rest.
#define MEMORY_INACCESSIBLE (3u << 2)

LLVMValueRef instrument_pin(const struct instrumented_module *module, uint64_t number)
{
    LLVMTypeRef argument = module->type_i64;
    LLVMTypeRef type = LLVMFunctionType(module->type_void, &argument, 1, false);
    LLVMValueRef value = instrument_i64(module, number);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, "", 0, "i", 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef pin = LLVMBuildCall2(module->builder, type, code, &value, 1, "");

    LLVMAddCallSiteAttribute(
        pin, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(module->context, LLVMGetEnumAttributeKindForName("nounwind", 8),
                                0));
    LLVMAddCallSiteAttribute(
        pin, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(module->context, LLVMGetEnumAttributeKindForName("willreturn", 10),
                                0));
    // it is no code, so that it counts nothing when functions are considered for inlining
    LLVMAddCallSiteAttribute(
        pin, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(module->context, INLINE_COST, sizeof(INLINE_COST) - 1, "0", 1));
    // memory that nobody else can reach: what the program has loaded need not be loaded again
    LLVMAddCallSiteAttribute(
        pin, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(module->context, LLVMGetEnumAttributeKindForName("memory", 6),
                                MEMORY_INACCESSIBLE));
    return pin;
}

// A volatile store: kept, and kept in order with other volatile accesses. Lazy ones are marked, for
// trim.c.
static void store_word(const struct instrumented_module *module,
                       const struct instrumented_function *function, uint32_t word,
                       LLVMValueRef value)
{
    LLVMValueRef store = LLVMBuildStore(module->builder, value, function->word[word]);
    unsigned kind =
        LLVMGetMDKindIDInContext(module->context, WORDS_METADATA, strlen(WORDS_METADATA));

    LLVMSetVolatile(store, true);
    instrument_unsanitized(module, store);
    if (!function->shape.eager)
        LLVMSetMetadata(
            store, kind,
            LLVMMetadataAsValue(module->context, LLVMMDNodeInContext2(module->context, NULL, 0)));
}

static LLVMValueRef load_sum(const struct instrumented_module *module,
                             const struct instrumented_function *function, uint32_t word)
{
    LLVMValueRef slot = function->sum[word];
    LLVMValueRef sum = LLVMBuildLoad2(module->builder, function->word_type,
                                      slot ? slot : function->word[word], "");

    LLVMSetVolatile(sum, !slot);
    instrument_unsanitized(module, sum);
    return sum;
}

static void change(const struct instrumented_module *module, struct instrumented_function *function,
                   const struct path_action *action)
{
    struct layout_code code = path_code(function->numbers, &function->shape, module->module_id,
                                        function->index, action->region);
    LLVMValueRef sum = action->sets ? NULL : load_sum(module, function, action->word);

    if (action->sets)
        sum = LLVMConstInt(function->word_type, layout_encode(&code, action->value), false);
    else if (action->value)
        sum = LLVMBuildAdd(
            module->builder, sum,
            LLVMConstInt(function->word_type, layout_increment(&code, action->value), false), "");
    if (function->sum[action->word] && (action->sets || action->value))
        LLVMBuildStore(module->builder, sum, function->sum[action->word]);
    if (function->shape.eager || action->stores)
        store_word(module, function, action->word, sum);
    function->added += function->shape.eager || action->stores; // additions fold into constants
}

void words_change(const struct instrumented_module *module, struct instrumented_function *function,
                  const struct path_action *actions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        change(module, function, &actions[i]);
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
                             const struct instrumented_function *function, const char *name)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function->function);

    LLVMPositionBuilderBefore(module->builder, LLVMGetFirstInstruction(entry));
    return LLVMBuildAlloca(module->builder, function->word_type, name);
}

// A slot without markers gets some when the function is inlined, and one that ends it behind a last
// call would keep that from being a tail call.
static void begin_lifetime(const struct instrumented_module *module, LLVMValueRef slot)
{
    static const char name[] = "llvm.lifetime.start";
    LLVMTypeRef pointer = LLVMTypeOf(slot);
    LLVMValueRef start = LLVMGetIntrinsicDeclaration(
        module->module, LLVMLookupIntrinsicID(name, sizeof(name) - 1), &pointer, 1);
    uint64_t size = LLVMGetIntTypeWidth(LLVMGetAllocatedType(slot)) / 8;
    LLVMValueRef arguments[] = {instrument_i64(module, size), slot};

    LLVMBuildCall2(module->builder, LLVMGlobalGetValueType(start), start, arguments, 2, "");
}

// The function has an effect that must not be moved or dropped: what its callers recorded of
// calling it would speak of a call that never was.
void words_pin(struct instrumented_module *module, struct instrumented_function *function)
{
    LLVMPositionBuilderBefore(module->builder,
                              first_after_allocas(LLVMGetEntryBasicBlock(function->function)));
    function->pin = instrument_pin(module, function->index);
}

/*
 * LLVM counts 5 for an instruction when it considers a function for inlining, and takes this
 * attribute's word for what a call inside of it counts. The pin stays where it is when the function
 * is inlined, so that the sum is right for whoever is considered next.
 */
void words_weigh(struct instrumented_module *module, struct instrumented_function *function)
{
    char value[16];
    int length = snprintf(value, sizeof(value), "%d", -5 * (int)function->added);

    if (function->pin)
        LLVMAddCallSiteAttribute(
            function->pin, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(module->context, INLINE_COST, sizeof(INLINE_COST) - 1, value,
                                      (unsigned)length));
}

void words_add(struct instrumented_module *module, struct instrumented_function *function)
{
    LLVMValueRef at = first_after_allocas(LLVMGetEntryBasicBlock(function->function));
    struct path_action actions[PATH_MOST_ACTIONS];

    words_pin(module, function);
    function->word_type = function->shape.wide ? module->type_i64 : module->type_i32;
    for (uint32_t w = 0; w < function->shape.words; w++) {
        char name[] = LAYOUT_WORD_VARIABLE "0";

        name[sizeof(name) - 2] = (char)('0' + w);
        function->word[w] = add_slot(module, function, name);
        declare(module, function, name, function->word[w], at);
        if (function->optimized)
            function->sum[w] = add_slot(module, function, "");
    }
    LLVMPositionBuilderBefore(module->builder, at);
    for (uint32_t w = 0; function->optimized && function->flags & SECTION_FUNCTION_TAIL_CALLS &&
                         w < function->shape.words;
         w++)
        begin_lifetime(module, function->word[w]);
    words_change(module, function, actions,
                 path_entry_actions(function->numbers, &function->shape, actions));
}

// SPDX-License-Identifier: Apache-2.0
/*
 * What LLVM may assume of callees.
 *
 * A call that is known to have no effect but on what it returns may be moved, merged or dropped
 * after it was announced, and the evidence would speak of a call that never was; and what follows a
 * call that is known to return may be moved to before it. So every function and call but intrinsics
 * is *held*: whatever it does, it also writes memory that nobody else can reach
 * (`inaccessiblemem: readwrite`), as a volatile access does, and it may not return. Everything else
 * that is known stays, so that what the program has loaded need not be loaded again.
 *
 * *Loose* are library functions that only read, as LLVM knows them by name (strlen, strcmp): they
 * are left alone, since programs count on strlen being moved out of loops. Their calls are marked
 * in the model, so that readers do not take them for where they stand.
 *
 * Other library functions LLVM knows by name are declared `nobuiltin`, so that their effects are
 * not assumed again. Calls marked `builtin` may be simplified all the same (printf to puts); those
 * that keep their caller's frame (`notail`) are not. Calls that allocate are not marked, since
 * alias analysis goes by their names too.
 *
 * Plain copies keep what their calls had, and are simplified as ever.
 */
#include "instrument/instrument.h"

#include <string.h>

static const LLVMAttributeIndex ON_FUNCTION = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static unsigned kind_of(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool allocates(const char *name)
{
    static const char *const names[] = {
        "malloc",  "calloc",         "realloc",    "reallocarray",  "memalign",
        "valloc",  "posix_memalign", "pvalloc",    "aligned_alloc", "strdup",
        "strndup", "vec_malloc",     "vec_calloc", "vec_realloc"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool is_library(LLVMValueRef f)
{
    return LLVMIsAFunction(f) && LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f);
}

// Is a call of it a call of the library function of that name? Not with -fno-builtin.
static bool is_builtin_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    return is_library(callee) && !split_call_has_attribute(call, "nobuiltin");
}

static bool is_trap(LLVMValueRef f)
{
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);

    return !strcmp(name, "llvm.trap") || !strcmp(name, "llvm.ubsantrap") ||
           !strcmp(name, "llvm.debugtrap");
}

typedef void call_action(struct instrumented_module *module, LLVMValueRef call);

static void for_each_call(struct instrumented_module *module, LLVMValueRef function,
                          call_action *action)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (split_is_call(i))
                action(module, i);
}

static bool is_loose(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, ON_FUNCTION, SPLIT_LOOSE, strlen(SPLIT_LOOSE));
}

static void mark_loose(struct instrumented_module *module, LLVMValueRef call)
{
    if (is_builtin_call(call) && is_loose(LLVMGetCalledValue(call)))
        LLVMAddCallSiteAttribute(
            call, ON_FUNCTION,
            LLVMCreateStringAttribute(module->context, SPLIT_LOOSE, strlen(SPLIT_LOOSE), "", 0));
}

static bool has_no_builtins(LLVMValueRef function)
{
    static const char key[] = "no-builtins";

    return LLVMGetStringAttributeAtIndex(function, ON_FUNCTION, key, sizeof(key) - 1);
}

void attributes_mark(struct instrumented_module *module)
{
    bool builtins = true;

    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        builtins &= LLVMIsDeclaration(f) || !has_no_builtins(f);
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); builtins && f;
         f = LLVMGetNextFunction(f))
        if (is_library(f) && !instrument_has_attribute(f, "nobuiltin") && plugin_infer_library(f))
            LLVMAddAttributeAtIndex(f, ON_FUNCTION,
                                    LLVMCreateStringAttribute(module->context, SPLIT_LOOSE,
                                                              strlen(SPLIT_LOOSE), "", 0));
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for_each_call(module, f, mark_loose);
}

// A direct call of a declared function stays one of a library function, for those that simplify it.
static void keep_builtin(struct instrumented_module *module, LLVMValueRef call)
{
    if (is_builtin_call(call) && !is_loose(LLVMGetCalledValue(call)))
        LLVMAddCallSiteAttribute(call, ON_FUNCTION,
                                 LLVMCreateEnumAttribute(module->context, kind_of("builtin"), 0));
}

/*
 * strcpy and its like keep their argument only by returning it. Plain clang makes some of these
 * calls stores, so that an array of a function does not escape that ends with a tail call; where
 * the result is not used it does not escape here either.
 */
static void keep_unescaped(struct instrumented_module *module, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!is_builtin_call(call) || LLVMGetFirstUse(call))
        return;
    for (unsigned i = 1; i <= LLVMCountParams(callee); i++)
        if (LLVMGetEnumAttributeAtIndex(callee, i, kind_of("returned")))
            LLVMAddCallSiteAttribute(
                call, i, LLVMCreateEnumAttribute(module->context, kind_of("nocapture"), 0));
}

static void hold_call(struct instrumented_module *module, LLVMValueRef call)
{
    size_t length;

    if (split_is_loose(call))
        return;
    keep_unescaped(module, call);
    if (!is_builtin_call(call) || !allocates(LLVMGetValueName2(LLVMGetCalledValue(call), &length)))
        keep_builtin(module, call);
    plugin_hold(call);
}

/*
 * Traps stay apart, so that the address of each names its node. LLVM merges them late, whatever
 * their attributes; so before each stands assembly without code, with a number of its own.
 */
static void part_traps(struct instrumented_module *module,
                       const struct instrumented_function *function)
{
    uint32_t number = 0;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAIntrinsicInst(i) || !is_trap(LLVMGetCalledValue(i)))
                continue;
            LLVMPositionBuilderBefore(module->builder, i);
            LLVMSetCurrentDebugLocation2(module->builder, LLVMInstructionGetDebugLoc(i));
            instrument_pin(module, (uint64_t)function->index << 32 | ++number);
            LLVMSetCurrentDebugLocation2(module->builder, NULL);
        }
}

// In a plain copy. Calls stay apart there too, so that their addresses name their places.
static void keep_call(struct instrumented_module *module, LLVMValueRef call)
{
    LLVMAddCallSiteAttribute(call, ON_FUNCTION,
                             LLVMCreateEnumAttribute(module->context, kind_of("nomerge"), 0));
    plugin_keep_attributes(call);
    keep_builtin(module, call);
}

void attributes_hold(struct instrumented_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        for_each_call(module, module->functions[f].function, hold_call);
        if (module->functions[f].level >= SECTION_LEVEL_CALLS)
            part_traps(module, &module->functions[f]);
        if (module->functions[f].plain)
            for_each_call(module, module->functions[f].plain, keep_call);
    }
    for (uint32_t f = 0; f < module->function_count; f++)
        plugin_hold(module->functions[f].function);
    // last: until here it told which calls the front end already keeps from being simplified
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f)) {
        if (!is_library(f) || is_loose(f) || split_is_accessor(f))
            continue;
        plugin_hold(f);
        plugin_keep_held(f);
        LLVMAddAttributeAtIndex(f, ON_FUNCTION,
                                LLVMCreateEnumAttribute(module->context, kind_of("nobuiltin"), 0));
    }
}

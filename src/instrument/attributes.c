// SPDX-License-Identifier: Apache-2.0
/*
 * A call that is known to have no effect may be moved, merged or dropped after its coverage was
 * stored, and the evidence would speak of a call that never was. So what says that is taken off
 * every function and call but intrinsics.
 *
 * LLVM also knows library functions by name, and would put the same attributes back onto their
 * declarations: strlen reads its argument only, so stores to our records could wait until after it,
 * or be dropped. A declaration marked `nobuiltin` is left alone. Calls marked `builtin` are
 * optimised as ever (printf to puts); calls that allocate are not marked, since alias analysis goes
 * by their names too.
 */
#include "instrument/instrument.h"

#include <string.h>

static const char *const stripped[] = {"memory", "speculatable", "willreturn"};
enum { STRIPPED = sizeof(stripped) / sizeof(stripped[0]) };

static LLVMAttributeRef attribute(const struct instrumented_module *module, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return LLVMCreateEnumAttribute(module->context, kind, 0);
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

// A direct call of a declared function stays one of a library function, for those that simplify it.
static void keep_builtin(const struct instrumented_module *module, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned nobuiltin = LLVMGetEnumAttributeKindForName("nobuiltin", strlen("nobuiltin"));
    size_t length;

    if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee) ||
        LLVMGetCallSiteEnumAttribute(call, index, nobuiltin) ||
        LLVMGetEnumAttributeAtIndex(callee, index, nobuiltin) ||
        allocates(LLVMGetValueName2(callee, &length)))
        return;
    LLVMAddCallSiteAttribute(call, index, attribute(module, "builtin"));
}

static void strip_calls(const struct instrumented_module *module, LLVMValueRef function,
                        const unsigned kinds[STRIPPED])
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!split_is_call(i))
                continue;
            keep_builtin(module, i);
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
        strip_calls(module, f, kinds);
    }
    // last: until here it told which calls the front end already keeps from being simplified
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                    attribute(module, "nobuiltin"));
}

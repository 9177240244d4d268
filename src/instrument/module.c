// SPDX-License-Identifier: Apache-2.0
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/hash.h"
#include "instrument/suspects.h"

#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DONE_MARK "inquest.instrumented"

bool instrument_has_attribute(LLVMValueRef function, const char *name)
{
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

void instrument_unsanitized(const struct instrumented_module *module, LLVMValueRef access)
{
    static const char name[] = "nosanitize";
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(module->context, NULL, 0);

    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(module->context, name, sizeof(name) - 1),
                    LLVMMetadataAsValue(module->context, nothing));
}

bool instrument_address_taken(LLVMValueRef f)
{
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
            return true;
        if (LLVMGetCalledValue(user) != f)
            return true;
        for (unsigned a = 0; a < LLVMGetNumArgOperands(user); a++)
            if (LLVMGetOperand(user, a) == f)
                return true;
    }
    return false;
}

// __builtin_setjmp is no call that splits a node, but control comes back behind it all the same:
// what such a function would record cannot be relied on.
static bool uses_builtin_setjmp(LLVMValueRef f)
{
    static const char name[] = "llvm.eh.sjlj.setjmp";
    unsigned id = LLVMLookupIntrinsicID(name, sizeof(name) - 1);

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAIntrinsicInst(i) && LLVMGetIntrinsicID(LLVMGetCalledValue(i)) == id)
                return true;
    return false;
}

// LLVM 19 may write a structure that such a call passes over one that is still to be read: more
// likely so the more is around it.
static bool passes_copy_in_place(LLVMValueRef call)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);

    if (!LLVMIsACallInst(call) || LLVMGetTailCallKind(call) != LLVMTailCallKindMustTail)
        return false;
    for (unsigned a = 0; a < LLVMGetNumArgOperands(call); a++)
        if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)(a + 1), byval))
            return true;
    return false;
}

// Is what the function does at stake where something is stored in it?
static bool is_delicate(LLVMValueRef f)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (passes_copy_in_place(i))
                return true;
    return false;
}

// Has the source `__attribute__((annotate(TEXT)))` on this function?
static bool is_annotated(const struct instrumented_module *module, LLVMValueRef f, const char *text)
{
    LLVMValueRef all = LLVMGetNamedGlobal(module->module, "llvm.global.annotations");
    LLVMValueRef list = all ? LLVMGetInitializer(all) : NULL;

    for (int i = 0; list && i < LLVMGetNumOperands(list); i++) {
        LLVMValueRef entry = LLVMGetOperand(list, (unsigned)i);
        LLVMValueRef name = LLVMIsAGlobalVariable(LLVMGetOperand(entry, 1));
        LLVMValueRef string = name ? LLVMGetInitializer(name) : NULL;
        size_t length;

        if (LLVMGetOperand(entry, 0) != f || !string || !LLVMIsConstantString(string))
            continue;
        const char *value = LLVMGetAsString(string, &length);
        if (length == strlen(text) + 1 && !memcmp(value, text, length))
            return true;
    }
    return false;
}

static bool wanted(const struct instrumented_module *module, LLVMValueRef f)
{
    size_t length;

    if (instrument_has_attribute(f, "naked") || is_annotated(module, f, "inquest:off"))
        return false;
    if (is_annotated(module, f, "inquest:on"))
        return true;
    // `no_profile_instrument_function`, of the attributes of C
    if (instrument_has_attribute(f, "noprofile") || instrument_has_attribute(f, "skipprofile"))
        return false;
    return instrument_options_wants(&module->options, LLVMGetValueName2(f, &length));
}

static void function_init(struct instrumented_module *module, LLVMValueRef f, uint32_t index)
{
    struct instrumented_function *function = &module->functions[index];

    *function = (struct instrumented_function){.function = f,
                                               .index = index,
                                               .first_site = module->site_count,
                                               .subprogram = LLVMGetSubprogram(f),
                                               .optimized = !instrument_has_attribute(f, "optnone"),
                                               .level = module->options.level};
    split_init(&function->split, f);
    module->site_count += function->split.site_count;
    function->checksum = path_graph_checksum(&function->split.graph);
    function->left_out = !wanted(module, f) || uses_builtin_setjmp(f) || is_delicate(f);
    if (function->left_out)
        function->level = SECTION_LEVEL_NONE;
    if (!function->subprogram)
        function->flags |= SECTION_FUNCTION_NO_RECORD;
    if (!module->is_for_lto) // plugin.cc sees to it; the linker may join others
        function->flags |= SECTION_FUNCTION_LOADS_APART;
}

// What the function keeps; requires that its tail calls are known.
static void choose_shape(const struct instrumented_module *module,
                         struct instrumented_function *function)
{
    bool eager = section_function_is_eager(function->level, function->flags, function->optimized);

    function->numbers = path_numbering_create(
        &function->split.graph, function->level != SECTION_LEVEL_FULL,
        section_function_has_words(function->level, function->flags) && eager);
    if (!(function->flags & SECTION_FUNCTION_NO_RECORD))
        function->shape = path_shape(function->numbers, function->level, eager);
    bool records = function->level >= SECTION_LEVEL_CALLS &&
                   (function->split.site_count > 0 || function->shape.words > 0);
    function->copied = module->options.tunable && function->level >= SECTION_LEVEL_CALLS &&
                       !function->unique && plain_can_copy(function->function);
    // where there is nothing to record, only plain code calls the copy
    if (function->copied && records)
        function->flags |= SECTION_FUNCTION_TUNABLE;
}

static void module_init(struct instrumented_module *module, LLVMModuleRef m)
{
    uint32_t count = 0;

    module->builder = LLVMCreateBuilderInContext(module->context);
    module->debug = LLVMCreateDIBuilder(m);
    module->type_i8 = LLVMInt8TypeInContext(module->context);
    module->type_i32 = LLVMInt32TypeInContext(module->context);
    module->type_i64 = LLVMInt64TypeInContext(module->context);
    module->type_ptr = LLVMPointerTypeInContext(module->context, 0);
    module->type_void = LLVMVoidTypeInContext(module->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        module->function_count += !LLVMIsDeclaration(f);
    module->functions = xcalloc(module->function_count + 1u, sizeof(*module->functions));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            function_init(module, f, count++);
    tailcalls_find(module);
    plain_find_unique(module);
    for (uint32_t f = 0; f < module->function_count; f++)
        choose_shape(module, &module->functions[f]);
}

static void module_deinit(struct instrumented_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        path_numbering_destroy(module->functions[f].numbers);
        free(module->functions[f].takes_frame);
        split_deinit(&module->functions[f].split);
    }
    free(module->functions);
    free(module->component);
    suspects_destroy(module->suspects);
    LLVMDisposeDIBuilder(module->debug);
    LLVMDisposeBuilder(module->builder);
    instrument_options_deinit(&module->options);
}

static void make_copies(struct instrumented_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        discriminators_add(module, &module->functions[f]);
        if (module->functions[f].copied)
            plain_copy(module, &module->functions[f]);
    }
    plain_connect(module);
}

static void instrument_function(struct instrumented_module *module,
                                struct instrumented_function *function)
{
    if (function->level == SECTION_LEVEL_NONE) {
        // its callers' evidence must not be moved past calls of it either
        if (module->options.level > SECTION_LEVEL_NONE &&
            !instrument_has_attribute(function->function, "naked"))
            words_pin(module, function);
    } else {
        words_add(module, function);
        calls_add(module, function);
        paths_add(module, function);
    }
    words_weigh(module, function);
}

// A module must be instrumented once, also when it goes through the pipeline again (-flto).
static bool already_done(LLVMModuleRef m)
{
    if (LLVMGetNamedMetadata(m, DONE_MARK, strlen(DONE_MARK)))
        return true;
    LLVMGetOrInsertNamedMetadata(m, DONE_MARK, strlen(DONE_MARK));
    return false;
}

// The module as the front end made it. Clang maps prefixes of paths in debug information, but not
// in the name of the source, so that two build directories would give two modules.
static LLVMMemoryBufferRef write_bitcode(struct instrument_options *options, LLVMModuleRef m)
{
    size_t length;
    const char *name = LLVMGetSourceFileName(m, &length);
    const char *source = arena_strndup(&options->arena, name, length);
    const char *mapped = prefix_map_path(&options->map, &options->arena, source);

    LLVMSetSourceFileName(m, mapped, strlen(mapped));
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(m);
    LLVMSetSourceFileName(m, source, length);
    return bitcode;
}

// Is code made of it only when it is linked? Clang marks such modules, each kind with its own flag.
bool instrument_is_for_lto(LLVMModuleRef module)
{
    static const char *const flags[] = {"ThinLTO", "EnableSplitLTOUnit"};

    for (int i = 0; i < 2; i++)
        if (LLVMGetModuleFlag(module, flags[i], strlen(flags[i])))
            return true;
    return false;
}

bool instrument_module(LLVMModuleRef m)
{
    struct instrumented_module module = {0};
    const char *problem = NULL;

    if (already_done(m))
        return false;
    if (!instrument_options_init(&module.options, getenv("INQUEST_PLUGIN"), &problem)) {
        fprintf(stderr, "inquest-cc: warning: compiled plainly: bad plugin option at '%s'\n",
                problem);
        return false;
    }
    module.module = m;
    module.context = LLVMGetModuleContext(m);
    module.is_for_lto = instrument_is_for_lto(m);
    // functions are cloned at the link with all that says where their copies are, wrongly
    module.options.tunable &= !module.is_for_lto;
    memory_calls_show(&module);
    if (module.options.level > SECTION_LEVEL_NONE)
        attributes_mark(&module);
    LLVMMemoryBufferRef bitcode = write_bitcode(&module.options, m);
    module.module_id =
        hash_bytes(HASH_SEED, LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode));
    module_init(&module, m);
    if (module.options.suspects)
        suspects_find(&module); // sites are numbered as the front end made the code
    make_copies(&module);
    if (module.options.level > SECTION_LEVEL_NONE) {
        attributes_hold(&module);
        calls_init(&module);
        tailcalls_limit(&module);
    }
    embed_model(&module, bitcode); // with what was found out about each function
    LLVMDisposeMemoryBuffer(bitcode);
    descriptor_add(&module);
    for (uint32_t f = 0; f < module.function_count; f++)
        instrument_function(&module, &module.functions[f]);
    if (module.suspects)
        suspects_apply(&module);
    memory_calls_hide(&module);
    module_deinit(&module);
    return true;
}

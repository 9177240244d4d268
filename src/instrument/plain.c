// SPDX-License-Identifier: Apache-2.0
/*
 * Plain copies: functions of their own that record nothing, for `inquest tune --off`, which writes
 * a jump to the copy over the entry of the function that records. So a function that is on tests
 * nothing, one that is off costs a jump, and each is inlined and optimised as if the other were not
 * there.
 *
 * Requires: discriminators are there, nothing else was added. A copy calls the copies of what it
 * calls by name in this module, so that a program that is off altogether runs plain code only:
 * readers take what those did for unknown.
 *
 * A function that only this module can name, and only by calling it, may be inlined everywhere and
 * be gone; so may its copy, each for itself. A function whose copy is gone cannot be switched off
 * alone: whoever calls it can. All other copies are kept.
 *
 * Whoever calls a function calls its copy while it is off: so both have the arguments that the
 * source gives them, all of them and in the same places, and no value of them is known. But of a
 * function that nothing but calls refers to LLVM drops arguments, and takes for granted what all
 * calls pass; so such functions and their copies stand in a list that is gone while LLVM inlines,
 * since it inlines the last call of a function more readily (plain_hold_locals). What changes
 * arguments in between, promoting them, does not run (plugin.cc).
 *
 * Code that cannot stand twice (a label in assembly, a call that must not be duplicated) is not
 * copied, nor inlined, since both its callers and their copies would do so; not without copies
 * either, since callers of callers may be inlined where plain clang's are not.
 *
 * Last of all each function that has a copy gets struct layout_switch, as prefix data: it stands
 * right before its entry, however the program was linked or stripped.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "instrument/clone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Does assembly text define a label that could not stand twice? `1:` may, `name:` may not.
static bool asm_defines_label(const char *text, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (text[i] == ':' && text[i - 1] != '{' && !(text[i - 1] >= '0' && text[i - 1] <= '9'))
            return true;
    return false;
}

bool plain_can_copy_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;

    if (LLVMIsAInlineAsm(callee)) {
        const char *text = LLVMGetInlineAsmAsmString(callee, &length);
        return !asm_defines_label(text, length);
    }
    return !split_call_has_attribute(call, "noduplicate") &&
           !(LLVMIsAFunction(callee) && instrument_has_attribute(callee, "noduplicate"));
}

static bool can_copy_instruction(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCatchSwitch:
    case LLVMCatchPad:
    case LLVMCleanupPad:
        return false;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        return plain_can_copy_call(i);
    default:
        return true;
    }
}

static bool can_copy_body(LLVMValueRef f)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (!can_copy_instruction(i))
                return false;
    return plugin_can_copy_tables(f);
}

// Does it hold code that cannot stand twice, its own or that of what is inlined whatever happens?
static bool has_unique_code(LLVMValueRef f, const struct value_map *unique)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i) && !LLVMIsACallBrInst(i))
                continue;
            LLVMValueRef callee = LLVMGetCalledValue(i);
            if (!plain_can_copy_call(i) || (value_map_get(unique, (uintptr_t)callee) &&
                                            instrument_has_attribute(callee, "alwaysinline")))
                return true;
        }
    return false;
}

void plain_find_unique(struct instrumented_module *module)
{
    struct value_map unique = MAP_INIT;
    unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t f = 0; f < module->function_count; f++) {
            struct instrumented_function *function = &module->functions[f];

            if (function->unique || !has_unique_code(function->function, &unique))
                continue;
            *value_map_put(&unique, (uintptr_t)function->function) = function->function;
            function->unique = changed = true;
            if (!instrument_has_attribute(function->function, "alwaysinline"))
                LLVMAddAttributeAtIndex(function->function,
                                        (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                        LLVMCreateEnumAttribute(module->context, noinline, 0));
        }
    }
    value_map_deinit(&unique);
}

// A body that a header gives to the optimiser only has no code of its own; a copy of it would have.
// Where it is always inlined, neither has.
static bool is_only_for_inlining(LLVMValueRef f)
{
    return LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage;
}

bool plain_can_copy(LLVMValueRef f)
{
    if (plugin_has_prefix(f) || instrument_has_attribute(f, "naked"))
        return false;
    if (is_only_for_inlining(f) && !instrument_has_attribute(f, "alwaysinline"))
        return false;
    return can_copy_body(f);
}

#define SWITCH_ATTRIBUTE "inquest-switch" // of copies: module and function
#define KEPT_COPIES      "__inquest_kept_copies"
#define HELD_LOCALS      "__inquest_held_locals"

// Linkers keep functions of this prefix away from the others.
static void place(const struct instrumented_module *module, LLVMValueRef plain)
{
    static const char kind[] = "section_prefix", name[] = "function_section_prefix",
                      prefix[] = "unlikely";
    LLVMMetadataRef words[] = {LLVMMDStringInContext2(module->context, name, sizeof(name) - 1),
                               LLVMMDStringInContext2(module->context, prefix, sizeof(prefix) - 1)};

    LLVMGlobalSetMetadata(plain, LLVMGetMDKindIDInContext(module->context, kind, sizeof(kind) - 1),
                          LLVMMDNodeInContext2(module->context, words, 2));
}

static void add_string(const struct instrumented_module *module, LLVMValueRef f, const char *key,
                       const char *value)
{
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(module->context, key, (unsigned)strlen(key),
                                                      value, (unsigned)strlen(value)));
}

/*
 * LLVM makes no call of memset of a loop in memset itself, and none of calloc of malloc and memset
 * in calloc: it knows them by their names, which the copy has not.
 */
static void keep_from_calling_itself(const struct instrumented_module *module, LLVMValueRef plain,
                                     const char *name, size_t length)
{
    char *own = xasprintf("no-builtin-%.*s", (int)length, name);
    bool is_memory = (length == 6 && (!memcmp(name, "memset", 6) || !memcmp(name, "memcpy", 6)));

    if (plugin_is_library(plain, name, length))
        add_string(module, plain, own, "");
    free(own);
    if (is_memory) { // then loops become neither
        add_string(module, plain, "no-builtin-memset", "");
        add_string(module, plain, "no-builtin-memcpy", "");
    }
}

void plain_copy(struct instrumented_module *module, struct instrumented_function *function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function->function, &length);
    char *copy_name = xasprintf("%.*s" LAYOUT_PLAIN_SUFFIX, (int)length, name);
    char value[32];

    snprintf(value, sizeof(value), "%016" PRIx64 ":%u", module->module_id, function->index);
    function->plain = plugin_copy_function(function->function, copy_name);
    free(copy_name);
    keep_from_calling_itself(module, function->plain, name, length);
    LLVMSetLinkage(function->plain, LLVMInternalLinkage);
    LLVMSetVisibility(function->plain, LLVMDefaultVisibility);
    if (function->flags & SECTION_FUNCTION_TUNABLE)
        add_string(module, function->plain, SWITCH_ATTRIBUTE, value);
    place(module, function->plain);
}

static void redirect_call(LLVMValueRef call, const struct value_map *copies)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    LLVMValueRef *copy = value_map_get(copies, (uintptr_t)callee);

    // one that another module's may replace is left to the linker
    if (copy && plugin_is_final(callee))
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, *copy);
}

static void redirect_calls(LLVMValueRef plain, const struct value_map *copies)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(plain); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (split_is_call(i))
                redirect_call(i, copies);
}

static bool is_local(LLVMValueRef f)
{
    LLVMLinkage linkage = LLVMGetLinkage(f);

    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

/*
 * Copies of what can be called from elsewhere stay, whoever else calls them.
 *
 * The list is in reverse order: LLVM's call graph visits functions that other modules can name in
 * the module's order, but what a list holds from its end (LazyCallGraph.cpp, visitReferences), and
 * where it begins decides which function of a recursive cycle is inlined into which. So copies are
 * inlined as the functions would be in a plain build.
 */
static void keep_copies(struct instrumented_module *module)
{
    LLVMValueRef *kept = xmalloc_array(module->function_count + 1u, sizeof(*kept));
    uint32_t count = 0;

    for (uint32_t f = module->function_count; f-- > 0;) {
        const struct instrumented_function *function = &module->functions[f];

        if (function->flags & SECTION_FUNCTION_TUNABLE &&
            !is_only_for_inlining(function->function) &&
            (!is_local(function->function) || instrument_address_taken(function->function)))
            kept[count++] = function->plain;
    }
    if (count)
        descriptor_keep(module->module, KEPT_COPIES, kept, count);
    free(kept);
}

// Copies of functions that record nothing are for other copies alone.
static void drop_unused(struct instrumented_module *module)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t f = 0; f < module->function_count; f++) {
            struct instrumented_function *function = &module->functions[f];

            if (!function->plain || function->flags & SECTION_FUNCTION_TUNABLE ||
                LLVMGetFirstUse(function->plain))
                continue;
            LLVMDeleteFunction(function->plain);
            function->plain = NULL;
            changed = true;
        }
    }
}

// ---- Arguments stay

static const char *switch_text(LLVMValueRef f)
{
    LLVMAttributeRef attribute =
        LLVMIsDeclaration(f)
            ? NULL
            : LLVMGetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                            SWITCH_ATTRIBUTE, sizeof(SWITCH_ATTRIBUTE) - 1);
    unsigned length;

    return attribute ? LLVMGetStringAttributeValue(attribute, &length) : NULL;
}

bool plain_is_name(const char *name, size_t length)
{
    size_t suffix = strlen(LAYOUT_PLAIN_SUFFIX);

    return length > suffix && !memcmp(name + length - suffix, LAYOUT_PLAIN_SUFFIX, suffix);
}

// The function that a copy was made of, if it is still there; else NULL.
static LLVMValueRef original_of(LLVMModuleRef module, LLVMValueRef plain)
{
    size_t length;
    const char *name = LLVMGetValueName2(plain, &length);

    if (!plain_is_name(name, length))
        return NULL;
    char *original = xasprintf("%.*s", (int)(length - strlen(LAYOUT_PLAIN_SUFFIX)), name);
    LLVMValueRef found = LLVMGetNamedFunction(module, original);
    free(original);
    return found && !LLVMIsDeclaration(found) && !is_only_for_inlining(found) ? found : NULL;
}

void plain_hold_locals(LLVMModuleRef module)
{
    unsigned count = 0, room = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        room += 2;
    LLVMValueRef *held = xmalloc_array(room + 1u, sizeof(*held));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        LLVMValueRef original = switch_text(f) ? original_of(module, f) : NULL;

        if (original && is_local(original)) {
            held[count++] = original;
            held[count++] = f;
        }
    }
    plain_release_locals(module);
    if (count)
        descriptor_keep(module, HELD_LOCALS, held, count);
    free(held);
}

void plain_release_locals(LLVMModuleRef module)
{
    LLVMValueRef held = LLVMGetNamedGlobal(module, HELD_LOCALS);

    if (held)
        LLVMDeleteGlobal(held);
}

void plain_connect(struct instrumented_module *module)
{
    struct value_map copies = MAP_INIT;

    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f].plain)
            *value_map_put(&copies, (uintptr_t)module->functions[f].function) =
                module->functions[f].plain;
    keep_copies(module);
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f].plain)
            redirect_calls(module->functions[f].plain, &copies);
    drop_unused(module);
    plain_hold_locals(module->module);
    value_map_deinit(&copies);
}

// ---- Last of all

static LLVMValueRef constant_i32(LLVMContextRef context, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(context), value, false);
}

// struct layout_switch, of a copy whose attribute says this.
static LLVMValueRef switch_data(LLVMValueRef function, LLVMValueRef plain, const char *text)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMTypeRef type_i64 = LLVMInt64TypeInContext(context);
    LLVMTypeRef saved =
        LLVMArrayType2(LLVMInt8TypeInContext(context), sizeof(((struct layout_switch *)0)->saved));
    LLVMValueRef distance =
        LLVMConstSub(LLVMConstPtrToInt(plain, type_i64), LLVMConstPtrToInt(function, type_i64));
    char *rest;
    uint64_t module_id = strtoull(text, &rest, 16);
    LLVMValueRef members[] = {
        LLVMConstInt(type_i64, LAYOUT_SWITCH_MAGIC, false),
        LLVMConstInt(type_i64, module_id, false),
        constant_i32(context, (uint32_t)strtoul(rest + 1, NULL, 10)),
        LLVMConstTrunc(distance, LLVMInt32TypeInContext(context)),
        LLVMConstNull(saved),
    };

    return LLVMConstStructInContext(context, members, 5, false);
}

void instrument_finish(LLVMModuleRef module)
{
    LLVMValueRef kept = LLVMGetNamedGlobal(module, KEPT_COPIES);

    plain_release_locals(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        const char *text = switch_text(f);
        LLVMValueRef original = text ? original_of(module, f) : NULL;

        if (!original)
            continue;
        // a distance to what has no address of its own would be to an entry of the linkage table
        LLVMSetUnnamedAddress(f, LLVMNoUnnamedAddr);
        plugin_set_prefix(original, switch_data(original, f, text));
    }
    if (kept)
        LLVMDeleteGlobal(kept);
}

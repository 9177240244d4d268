// SPDX-License-Identifier: Apache-2.0
// Functions, variables, aliases and ifuncs: numbers first, contents once every block has its node.
#include <llvm-c/Comdat.h>
#include <string.h>

#include "program/from_bitcode_reader.h"

static enum global_linkage linkage_of(LLVMValueRef value)
{
    switch (LLVMGetLinkage(value)) {
    case LLVMInternalLinkage:
    case LLVMPrivateLinkage:
        return LINKAGE_INTERNAL;
    case LLVMWeakAnyLinkage:
        return LINKAGE_WEAK;
    case LLVMWeakODRLinkage:
        return LINKAGE_WEAK_ODR;
    case LLVMLinkOnceAnyLinkage:
        return LINKAGE_LINKONCE;
    case LLVMLinkOnceODRLinkage:
    case LLVMLinkOnceODRAutoHideLinkage:
        return LINKAGE_LINKONCE_ODR;
    case LLVMAvailableExternallyLinkage:
        return LINKAGE_AVAILABLE_EXTERNALLY;
    case LLVMCommonLinkage:
        return LINKAGE_COMMON;
    case LLVMExternalWeakLinkage:
        return LINKAGE_EXTERN_WEAK;
    case LLVMAppendingLinkage:
        return LINKAGE_APPENDING;
    default:
        return LINKAGE_EXTERNAL;
    }
}

// Lists that name functions without letting anyone call them through a pointer.
static bool is_bookkeeping(LLVMValueRef variable)
{
    size_t length;
    const char *name = LLVMGetValueName2(variable, &length);

    return strcmp(name, "llvm.used") == 0 || strcmp(name, "llvm.compiler.used") == 0 ||
           strcmp(name, "llvm.global_ctors") == 0 || strcmp(name, "llvm.global_dtors") == 0;
}

static bool call_passes(LLVMValueRef call, LLVMValueRef value)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetOperand(call, i) == value)
            return true;
    return LLVMGetCalledValue(call) != value; // in an operand bundle
}

static bool is_taken(LLVMValueRef value);

static bool use_takes(LLVMValueRef user, LLVMValueRef value)
{
    if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user) || LLVMIsACallBrInst(user))
        return call_passes(user, value);
    if (LLVMIsAInstruction(user))
        return true;
    if (LLVMIsAGlobalVariable(user))
        return !is_bookkeeping(user);
    if (LLVMIsAFunction(user) || LLVMIsAGlobalIFunc(user) || LLVMIsABlockAddress(user))
        return false;      // a personality, a resolver, a block's address
    return is_taken(user); // constants and aliases hand it on
}

// Is the address used otherwise than as the function that a call names?
static bool is_taken(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (use_takes(LLVMGetUser(use), value))
            return true;
    return false;
}

static struct global global_common(struct reader *reader, LLVMValueRef value, enum global_kind kind)
{
    size_t length;
    const char *name = LLVMGetValueName2(value, &length);
    struct global global = {
        .kind = (uint8_t)kind,
        .linkage = (uint8_t)linkage_of(value),
        .name = code_builder_string_n(reader->builder, name, length),
        .target = CODE_NONE,
        .type = reader_type(reader, LLVMGlobalGetValueType(value)),
    };
    LLVMVisibility visibility = LLVMGetVisibility(value);

    // "\1name" keeps the name as it is
    if (length && name[0] == 1)
        global.name = code_builder_string_n(reader->builder, name + 1, length - 1);
    if (LLVMIsDeclaration(value))
        global.flags |= GLOBAL_DECLARED;
    if (visibility == LLVMHiddenVisibility)
        global.flags |= GLOBAL_HIDDEN;
    if (visibility == LLVMProtectedVisibility)
        global.flags |= GLOBAL_PROTECTED;
    if (kind != GLOBAL_IFUNC && is_taken(value))
        global.flags |= GLOBAL_ADDRESS_TAKEN;
    return global;
}

static void push_global(struct reader *reader, LLVMValueRef value, struct global global)
{
    *pointer_map_put(&reader->globals, reader_key(value)) =
        (uint32_t)reader->builder->globals.length;
    code_globals_push(&reader->builder->globals, global);
}

static void number_functions(struct reader *reader)
{
    uint32_t index = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(reader->module); f; f = LLVMGetNextFunction(f)) {
        struct global global = global_common(reader, f, GLOBAL_FUNCTION);

        if (LLVMGetIntrinsicID(f))
            global.flags |= GLOBAL_INTRINSIC;
        if (LLVMGetComdat(f))
            global.flags |= GLOBAL_COMDAT;
        if (!LLVMIsDeclaration(f)) {
            *pointer_map_put(&reader->functions, reader_key(f)) = index;
            global.target = index++;
            global.section = code_builder_string(reader->builder, LLVMGetSection(f));
        }
        push_global(reader, f, global);
    }
}

static void number_variables(struct reader *reader)
{
    for (LLVMValueRef v = LLVMGetFirstGlobal(reader->module); v; v = LLVMGetNextGlobal(v)) {
        struct global global = global_common(reader, v, GLOBAL_VARIABLE);

        if (LLVMGetComdat(v))
            global.flags |= GLOBAL_COMDAT;
        if (LLVMIsGlobalConstant(v))
            global.flags |= GLOBAL_CONSTANT;
        if (LLVMIsThreadLocal(v))
            global.flags |= GLOBAL_THREAD_LOCAL;
        global.alignment = reader_log2(LLVMGetAlignment(v));
        global.section = code_builder_string(reader->builder, LLVMGetSection(v));
        push_global(reader, v, global);
    }
}

void reader_number_globals(struct reader *reader)
{
    LLVMModuleRef module = reader->module;

    number_functions(reader);
    number_variables(reader);
    for (LLVMValueRef a = LLVMGetFirstGlobalAlias(module); a; a = LLVMGetNextGlobalAlias(a))
        push_global(reader, a, global_common(reader, a, GLOBAL_ALIAS));
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(module); i; i = LLVMGetNextGlobalIFunc(i))
        push_global(reader, i, global_common(reader, i, GLOBAL_IFUNC));
}

static struct global *global_of(struct reader *reader, LLVMValueRef value)
{
    const uint32_t *index = pointer_map_get(&reader->globals, reader_key(value));

    return index ? &reader->builder->globals.data[*index] : NULL;
}

// The global that a constant comes down to, through casts, offsets and aliases; or NULL.
static LLVMValueRef base_of(LLVMValueRef value)
{
    while (value && !LLVMIsAGlobalValue(value) && LLVMIsAConstantExpr(value))
        value = LLVMGetOperand(value, 0);
    while (value && LLVMIsAGlobalAlias(value))
        value = base_of(LLVMAliasGetAliasee(value));
    return value && LLVMIsAGlobalValue(value) ? value : NULL;
}

// Marks what the members of an array name: themselves, or the field `field` of each.
static void mark_listed(struct reader *reader, const char *list, int field, uint32_t flag)
{
    LLVMValueRef variable = LLVMGetNamedGlobal(reader->module, list);
    LLVMValueRef array = variable ? LLVMGetInitializer(variable) : NULL;

    for (int i = 0; array && i < LLVMGetNumOperands(array); i++) {
        LLVMValueRef member = LLVMGetOperand(array, (unsigned)i);
        if (field >= 0 && LLVMGetNumOperands(member) <= field)
            continue;
        LLVMValueRef base = base_of(field < 0 ? member : LLVMGetOperand(member, (unsigned)field));
        struct global *global = base ? global_of(reader, base) : NULL;
        if (global)
            global->flags |= flag;
    }
}

static void set_initialiser(struct reader *reader, LLVMValueRef value, LLVMValueRef initialiser)
{
    if (!initialiser)
        return;
    struct operand operand = reader_operand(reader, initialiser);
    global_of(reader, value)->initialiser = operand;
}

void reader_read_globals(struct reader *reader)
{
    LLVMModuleRef module = reader->module;

    for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
        set_initialiser(reader, v, LLVMIsDeclaration(v) ? NULL : LLVMGetInitializer(v));
        reader_name_global(reader, v, global_of(reader, v));
    }
    for (LLVMValueRef a = LLVMGetFirstGlobalAlias(module); a; a = LLVMGetNextGlobalAlias(a))
        set_initialiser(reader, a, LLVMAliasGetAliasee(a));
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(module); i; i = LLVMGetNextGlobalIFunc(i)) {
        LLVMValueRef resolver = LLVMGetGlobalIFuncResolver(i), base = base_of(resolver);
        const uint32_t *f = base ? pointer_map_get(&reader->functions, reader_key(base)) : NULL;

        set_initialiser(reader, i, resolver);
        if (f)
            reader->builder->functions.data[*f].flags |= FUNCTION_IFUNC_RESOLVER;
    }
    mark_listed(reader, "llvm.used", -1, GLOBAL_USED);
    mark_listed(reader, "llvm.compiler.used", -1, GLOBAL_USED);
    mark_listed(reader, "llvm.global_ctors", 1, GLOBAL_CONSTRUCTOR);
    mark_listed(reader, "llvm.global_dtors", 1, GLOBAL_DESTRUCTOR);
}

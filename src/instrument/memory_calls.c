// SPDX-License-Identifier: Apache-2.0
/*
 * memcpy, memmove and memset of the source.
 *
 * Clang makes intrinsics of them at once, and the same intrinsics of assignments of structures. So
 * that those of the source are call sites, they are made calls before the model is stored, and
 * intrinsics again when all is announced: the optimiser sees what it would have seen. They may be
 * moved, merged or become a few instructions, so they are loose (attributes.c).
 *
 * Which is which the source says: where the intrinsic's location points, the function's name and a
 * parenthesis stand. In a macro they do not, and where the source cannot be read: no call site
 * then.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/error.h"
#include "common/file.h"
#include "common/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN "inquest-memory" // of a call that was an intrinsic

static const LLVMAttributeIndex ON_FUNCTION = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

MAP_DEFINE_STRING(source_map, struct file_bytes);

struct kind {
    const char *name;
    const char *intrinsic; // what its name begins with
};

static const struct kind kinds[] = {
    {"memcpy", "llvm.memcpy.p0"}, {"memmove", "llvm.memmove.p0"}, {"memset", "llvm.memset.p0"}};

// Which kind of intrinsic it is, or NULL.
static const struct kind *kind_of_intrinsic(LLVMValueRef i)
{
    size_t length;

    if (!LLVMIsAMemIntrinsic(i))
        return NULL;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        if (!strncmp(name, kinds[k].intrinsic, strlen(kinds[k].intrinsic)))
            return &kinds[k];
    return NULL;
}

// The source that debug information names, empty when it cannot be read.
static const struct file_bytes *source_of(struct source_map *sources, LLVMMetadataRef file)
{
    unsigned directory_length, name_length;
    const char *directory = LLVMDIFileGetDirectory(file, &directory_length);
    const char *name = LLVMDIFileGetFilename(file, &name_length);
    char *folder = xstrndup(directory, directory_length), *base = xstrndup(name, name_length);
    char *path = base[0] == '/' || !folder[0] ? xstrdup(base) : file_join(folder, base);
    struct file_bytes *found = source_map_get(sources, path);

    free(folder);
    free(base);
    if (found) {
        free(path);
        return found;
    }
    struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    error_destroy(err);
    found = source_map_put(sources, path); // which keeps it
    *found = err ? (struct file_bytes)FILE_BYTES_INIT : bytes;
    return found;
}

// The rest of the text from a line and column on, both from 1; NULL when there is none.
static const char *text_at(const struct file_bytes *source, unsigned line, unsigned column)
{
    const char *at = (const char *)source->data, *end = at ? at + source->size : NULL;

    for (unsigned l = 1; at && l < line; l++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return at && column && (size_t)(end - at) >= column ? at + column - 1 : NULL;
}

// Does the text call this function? What follows the file's last byte is a NUL.
static bool says_call(const char *text, const char *name)
{
    static const char builtin[] = "__builtin_";

    if (!strncmp(text, builtin, sizeof(builtin) - 1))
        text += sizeof(builtin) - 1;
    if (strncmp(text, name, strlen(name)) != 0)
        return false;
    text += strlen(name);
    while (isspace((unsigned char)*text))
        text++;
    return *text == '(';
}

static bool is_of_source(struct source_map *sources, LLVMValueRef i, const struct kind *kind)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
    LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned last = (unsigned)LLVMGetNumArgOperands(i) - 1;

    if (!file || LLVMConstIntGetZExtValue(LLVMGetOperand(i, last)) != 0) // volatile
        return false;
    const char *text = text_at(source_of(sources, file), LLVMDILocationGetLine(location),
                               LLVMDILocationGetColumn(location));
    return text && says_call(text, kind->name);
}

static LLVMTypeRef function_type(const struct instrumented_module *module, bool sets)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(module->context, 0);
    LLVMTypeRef parameters[] = {pointer, sets ? LLVMInt32TypeInContext(module->context) : pointer,
                                LLVMInt64TypeInContext(module->context)};

    return LLVMFunctionType(pointer, parameters, 3, false);
}

// The declaration; NULL where the module has its own idea of the name.
static LLVMValueRef declaration(const struct instrumented_module *module, const struct kind *kind,
                                LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(module->module, kind->name);

    if (!f)
        return LLVMAddFunction(module->module, kind->name, type);
    return LLVMIsDeclaration(f) && LLVMGlobalGetValueType(f) == type ? f : NULL;
}

static unsigned alignment(LLVMValueRef call, unsigned argument)
{
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(
        call, argument + 1, LLVMGetEnumAttributeKindForName("align", strlen("align")));

    return align ? (unsigned)LLVMGetEnumAttributeValue(align) : 1;
}

static void set_alignment(const struct instrumented_module *module, LLVMValueRef call,
                          unsigned argument, unsigned value)
{
    LLVMAddCallSiteAttribute(
        call, argument + 1,
        LLVMCreateEnumAttribute(module->context,
                                LLVMGetEnumAttributeKindForName("align", strlen("align")), value));
}

static void add_mark(const struct instrumented_module *module, LLVMValueRef call, const char *name)
{
    LLVMAddCallSiteAttribute(
        call, ON_FUNCTION,
        LLVMCreateStringAttribute(module->context, name, (unsigned)strlen(name), "", 0));
}

static void show(const struct instrumented_module *module, LLVMBuilderRef builder, LLVMValueRef i,
                 const struct kind *kind)
{
    bool sets = !strcmp(kind->name, "memset");
    LLVMTypeRef type = function_type(module, sets);
    LLVMValueRef function = declaration(module, kind, type);

    if (!function || LLVMTypeOf(LLVMGetOperand(i, 2)) != LLVMInt64TypeInContext(module->context))
        return;
    LLVMPositionBuilderBefore(builder, i);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef second = LLVMGetOperand(i, 1);
    if (sets)
        second = LLVMBuildZExt(builder, second, LLVMInt32TypeInContext(module->context), "");
    LLVMValueRef arguments[] = {LLVMGetOperand(i, 0), second, LLVMGetOperand(i, 2)};
    LLVMValueRef call = LLVMBuildCall2(builder, type, function, arguments, 3, "");
    set_alignment(module, call, 0, alignment(i, 0));
    if (!sets)
        set_alignment(module, call, 1, alignment(i, 1));
    add_mark(module, call, SHOWN);
    add_mark(module, call, SPLIT_LOOSE);
    LLVMInstructionEraseFromParent(i);
}

static void hide(const struct instrumented_module *module, LLVMBuilderRef builder,
                 LLVMValueRef call)
{
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
    LLVMValueRef to = LLVMGetOperand(call, 0), second = LLVMGetOperand(call, 1);
    LLVMValueRef size = LLVMGetOperand(call, 2);

    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    if (!strcmp(name, "memset")) {
        LLVMValueRef value =
            LLVMIsAZExtInst(second)
                ? LLVMGetOperand(second, 0)
                : LLVMBuildTrunc(builder, second, LLVMInt8TypeInContext(module->context), "");

        LLVMBuildMemSet(builder, to, value, size, alignment(call, 0));
        LLVMInstructionEraseFromParent(call);
        if (LLVMIsAZExtInst(second) && !LLVMGetFirstUse(second))
            LLVMInstructionEraseFromParent(second);
        return;
    }
    if (!strcmp(name, "memcpy"))
        LLVMBuildMemCpy(builder, to, alignment(call, 0), second, alignment(call, 1), size);
    else
        LLVMBuildMemMove(builder, to, alignment(call, 0), second, alignment(call, 1), size);
    LLVMInstructionEraseFromParent(call);
}

bool memory_calls_is_shown(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMCall &&
           LLVMGetCallSiteStringAttribute(i, ON_FUNCTION, SHOWN, strlen(SHOWN));
}

void memory_calls_show(struct instrumented_module *module)
{
    struct source_map sources = MAP_INIT;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(module->context);

    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                const struct kind *kind = kind_of_intrinsic(i);

                next = LLVMGetNextInstruction(i);
                if (kind && is_of_source(&sources, i, kind))
                    show(module, builder, i, kind);
            }
    MAP_FOREACH (source_map, &sources, entry) {
        file_bytes_deinit(&entry->value);
        free((char *)entry->key);
    }
    source_map_deinit(&sources);
    LLVMDisposeBuilder(builder);
}

void memory_calls_hide(struct instrumented_module *module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(module->context);

    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (memory_calls_is_shown(i))
                    hide(module, builder, i);
            }
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        LLVMValueRef f = LLVMGetNamedFunction(module->module, kinds[k].name);

        if (f && LLVMIsDeclaration(f) && !LLVMGetFirstUse(f))
            LLVMDeleteFunction(f);
    }
    LLVMDisposeBuilder(builder);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Two passes over a module: the first numbers globals and splits every function into nodes, so that
 * anything may refer to anything; the second reads instructions and initialisers.
 *
 * Requires the module as the front end made it. Debug records are turned into the older debug
 * intrinsics first: LLVM-C of LLVM 19 can read those only. They are no calls, so nodes stay the
 * same.
 */
#include "program/from_bitcode.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "common/error.h"
#include "program/from_bitcode_reader.h"

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static unsigned intrinsic_id(const char *name)
{
    return LLVMLookupIntrinsicID(name, strlen(name));
}

static struct reader_names look_up_names(LLVMContextRef context)
{
    return (struct reader_names){
        .byval = attribute_kind("byval"),
        .sret = attribute_kind("sret"),
        .signext = attribute_kind("signext"),
        .zeroext = attribute_kind("zeroext"),
        .noalias = attribute_kind("noalias"),
        .memory = attribute_kind("memory"),
        .noreturn = attribute_kind("noreturn"),
        .returns_twice = attribute_kind("returns_twice"),
        .nounwind = attribute_kind("nounwind"),
        .optnone = attribute_kind("optnone"),
        .naked = attribute_kind("naked"),
        .noprofile = attribute_kind("noprofile"),
        .alwaysinline = attribute_kind("alwaysinline"),
        .dbg_declare = intrinsic_id("llvm.dbg.declare"),
        .dbg_value = intrinsic_id("llvm.dbg.value"),
        .dbg_assign = intrinsic_id("llvm.dbg.assign"),
        .dbg_label = intrinsic_id("llvm.dbg.label"),
        .lifetime_end = intrinsic_id("llvm.lifetime.end"),
        .builtin_setjmp = intrinsic_id("llvm.eh.sjlj.setjmp"),
        .builtin_longjmp = intrinsic_id("llvm.eh.sjlj.longjmp"),
        .dbg_kind = LLVMGetMDKindIDInContext(context, "dbg", 3),
    };
}

// ---- Functions as such

static bool function_has(LLVMValueRef function, unsigned kind)
{
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       kind) != NULL;
}

static uint32_t linkage_flags(const struct global *global)
{
    uint32_t flags = 0;

    switch ((enum global_linkage)global->linkage) {
    case LINKAGE_WEAK:
    case LINKAGE_WEAK_ODR:
    case LINKAGE_LINKONCE:
    case LINKAGE_LINKONCE_ODR:
        flags |= FUNCTION_WEAK;
        break;
    case LINKAGE_INTERNAL:
        flags |= FUNCTION_INTERNAL;
        break;
    case LINKAGE_AVAILABLE_EXTERNALLY:
        flags |= FUNCTION_AVAILABLE_EXTERNALLY;
        break;
    default:
        break;
    }
    if (global->flags & (GLOBAL_HIDDEN | GLOBAL_PROTECTED))
        flags |= FUNCTION_HIDDEN;
    if (global->flags & GLOBAL_COMDAT)
        flags |= FUNCTION_COMDAT;
    if (global->flags & GLOBAL_ADDRESS_TAKEN)
        flags |= FUNCTION_ADDRESS_TAKEN;
    return flags;
}

static uint32_t attribute_flags(const struct reader *reader, LLVMValueRef function)
{
    const struct reader_names *names = &reader->names;
    uint32_t flags = 0;

    flags |= function_has(function, names->optnone) ? FUNCTION_OPTNONE : 0;
    flags |= function_has(function, names->naked) ? FUNCTION_NAKED : 0;
    flags |= function_has(function, names->noreturn) ? FUNCTION_NORETURN : 0;
    flags |= function_has(function, names->nounwind) ? FUNCTION_NOUNWIND : 0;
    flags |= function_has(function, names->noprofile) ? FUNCTION_NO_INSTRUMENT : 0;
    flags |= function_has(function, names->alwaysinline) ? FUNCTION_ALWAYS_INLINE : 0;
    flags |= LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) ? FUNCTION_VARARGS : 0;
    return flags;
}

static void push_argument(struct reader *reader, LLVMValueRef function, LLVMValueRef value,
                          uint32_t number, struct code_function *entry)
{
    const struct reader_names *names = &reader->names;
    const struct {
        unsigned kind;
        uint32_t flag;
    } attributes[] = {
        {names->byval, ARGUMENT_BYVAL},     {names->sret, ARGUMENT_SRET},
        {names->signext, ARGUMENT_SIGNEXT}, {names->zeroext, ARGUMENT_ZEROEXT},
        {names->noalias, ARGUMENT_NOALIAS},
    };
    struct argument argument = {.type = reader_type(reader, LLVMTypeOf(value)),
                                .variable = CODE_NONE,
                                .function = (uint32_t)reader->builder->functions.length};

    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        LLVMAttributeRef found =
            LLVMGetEnumAttributeAtIndex(function, number + 1, attributes[i].kind);
        if (!found)
            continue;
        argument.flags |= attributes[i].flag;
        if (LLVMIsTypeAttribute(found))
            argument.pointee = reader_type(reader, LLVMGetTypeAttributeValue(found));
    }
    reader_count_argument(reader, LLVMTypeOf(value), argument.flags & ARGUMENT_BYVAL,
                          &entry->signature);
    code_arguments_push(&reader->builder->arguments, argument);
}

static void push_function(struct reader *reader, LLVMValueRef function, const struct split *split)
{
    struct code_builder *builder = reader->builder;
    uint32_t global = *pointer_map_get(&reader->globals, reader_key(function)), number = 0;
    const struct global *described = &builder->globals.data[global];
    struct code_function entry = {
        .global = global,
        .name = described->name,
        .flags = linkage_flags(described) | attribute_flags(reader, function),
        .type = described->type,
        .first_node = (uint32_t)builder->nodes.length,
        .node_count = split->graph.node_count,
        .first_edge = (uint32_t)builder->edge_targets.length,
        .edge_count = split->graph.successor_start[split->graph.node_count],
        .site_count = split->site_count,
        .first_argument = (uint32_t)builder->arguments.length,
        .argument_count = LLVMCountParams(function),
        .checksum = path_graph_checksum(&split->graph),
    };

    if (builder->functions.length) {
        const struct code_function *previous = code_functions_last(&builder->functions);
        entry.first_site = previous->first_site + previous->site_count;
    }
    for (LLVMValueRef a = LLVMGetFirstParam(function); a; a = LLVMGetNextParam(a))
        push_argument(reader, function, a, number++, &entry);
    entry.signature.varargs = (entry.flags & FUNCTION_VARARGS) != 0;
    reader_name_function(reader, function, &entry);
    code_functions_push(&builder->functions, entry);
}

// ---- Passes

static void push_nodes(struct reader *reader, const struct split *split)
{
    struct code_builder *builder = reader->builder;
    const struct path_graph *graph = &split->graph;
    uint32_t function = (uint32_t)builder->functions.length - 1, block = CODE_NONE;
    uint32_t first_edge = (uint32_t)builder->edge_targets.length;
    uint32_t edge_count = graph->successor_start[graph->node_count];

    for (uint32_t n = 0; n < graph->node_count; n++) {
        uint32_t id = (uint32_t)builder->nodes.length;
        bool starts = n == 0 || split->nodes[n].block != split->nodes[n - 1].block;
        struct code_node node = {.function = function,
                                 .block = starts ? ++block : block,
                                 .first_edge = first_edge + graph->successor_start[n],
                                 .site = CODE_NONE,
                                 .flags = graph->node_flags[n] | (starts ? NODE_BLOCK_START : 0)};
        if (starts)
            *pointer_map_put(&reader->blocks, reader_key(split->nodes[n].block)) = id;
        *pointer_map_put(&reader->block_ends, reader_key(split->nodes[n].block)) = id;
        code_nodes_push(&builder->nodes, node);
    }
    code_edge_targets_append(&builder->edge_targets, graph->successor, edge_count);
    code_edge_flags_append(&builder->edge_flags, graph->edge_flags, edge_count);
}

VEC_DEFINE(split_vec, struct split);

static void split_functions(struct reader *reader, struct split_vec *splits)
{
    static_assert((int)NODE_CALL == (int)PATH_NODE_CALL &&
                      (int)NODE_RETURNS_TWICE == (int)PATH_NODE_RETURNS_TWICE,
                  "node flags begin as the path graph's");
    for (LLVMValueRef f = LLVMGetFirstFunction(reader->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        struct split split;
        split_init(&split, f);
        push_function(reader, f, &split);
        push_nodes(reader, &split);
        split_vec_push(splits, split);
    }
}

static void finish_functions(struct reader *reader)
{
    for (size_t f = 0; f < reader->builder->functions.length; f++) {
        struct code_function *function = &reader->builder->functions.data[f];
        if (reader->builder->globals.data[function->global].flags & GLOBAL_USED)
            function->flags |= FUNCTION_USED;
    }
}

static void read_module(struct reader *reader)
{
    struct split_vec splits = VEC_INIT;
    size_t length;
    const char *text = LLVMGetSourceFileName(reader->module, &length);

    reader->builder->source = code_builder_string_n(reader->builder, text, length);
    text = LLVMGetModuleInlineAsm(reader->module, &length);
    reader->builder->module_asm = code_builder_string_n(reader->builder, text, length);
    reader_number_globals(reader);
    split_functions(reader, &splits);
    for (size_t f = 0; f < splits.length; f++) {
        reader_read_body(reader, (uint32_t)f, &splits.data[f]);
        split_deinit(&splits.data[f]);
    }
    split_vec_deinit(&splits);
    reader_read_globals(reader);
    finish_functions(reader);
}

static void reader_deinit(struct reader *reader)
{
    struct pointer_map *maps[] = {&reader->types,      &reader->globals, &reader->functions,
                                  &reader->constants,  &reader->asms,    &reader->blocks,
                                  &reader->block_ends, &reader->values,  &reader->files,
                                  &reader->scopes,     &reader->places,  &reader->debug_types};

    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        pointer_map_deinit(maps[i]);
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *seen)
{
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
        *(bool *)seen = true;
}

struct error *from_bitcode(const void *bitcode, size_t length, struct code **ret)
{
    LLVMContextRef context = LLVMContextCreate();
    bool failed = false;
    LLVMModuleRef module = NULL;
    struct error *err = NULL;

    LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, &failed);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "bitcode", false);
    if (LLVMParseBitcodeInContext2(context, buffer, &module) || failed) {
        err = error_create(ERROR_FORMAT, "bitcode of the model cannot be read");
    } else {
        struct code_builder builder;
        LLVMSetIsNewDbgInfoFormat(module, false);
        code_builder_init(&builder);
        struct reader reader = {.context = context,
                                .module = module,
                                .layout = LLVMGetModuleDataLayout(module),
                                .builder = &builder,
                                .names = look_up_names(context)};
        read_module(&reader);
        reader_deinit(&reader);
        *ret = code_builder_finish(&builder);
    }
    LLVMDisposeMemoryBuffer(buffer);
    if (module && !failed)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return err;
}

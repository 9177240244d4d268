// SPDX-License-Identifier: Apache-2.0
/*
 * The table of sites, the module's counters and the descriptor that the runtime finds them by.
 *
 * The counters are a whole number of pages, at a page's start, so that the runtime can map a file
 * over them.
 */
#include "instrument/suspects.h"

#include "common/hash.h"

#include <inttypes.h>
#include <stdio.h>

enum { PRESERVE_MOST = 14 }; // calling convention: the caller keeps its registers

uint32_t suspects_string(struct suspects *suspects, const char *text)
{
    bool is_new;
    const char *key = arena_strdup(&suspects->arena, text);
    uint32_t *offset = suspects_strings_put_new(&suspects->string_offsets, key, &is_new);

    if (is_new) {
        *offset = (uint32_t)suspects->strings.length;
        strbuf_append_bytes(&suspects->strings, text, strlen(text) + 1);
    }
    return *offset;
}

static uint32_t file_string(struct suspects *suspects, LLVMMetadataRef scope)
{
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned length;

    if (!file)
        return suspects_string(suspects, "");
    const char *text = LLVMDIFileGetFilename(file, &length);
    return suspects_string(suspects, arena_strndup(&suspects->arena, text, length));
}

struct suspects_point *suspects_add(struct suspects *suspects,
                                    const struct instrumented_function *function, uint32_t kind,
                                    uint32_t node, LLVMMetadataRef location)
{
    size_t length;
    const char *name = LLVMGetValueName2(function->function, &length);
    struct suspects_site site = {
        .kind = kind,
        .function = function->index,
        .node = node,
        .node_false = SUSPECTS_NONE,
        .node_true = SUSPECTS_NONE,
        .line = location ? LLVMDILocationGetLine(location) : 0,
        .column = location ? LLVMDILocationGetColumn(location) : 0,
        .left = suspects_string(suspects, ""),
        .right = suspects_string(suspects, ""),
        .file = file_string(suspects, location ? LLVMDILocationGetScope(location) : NULL),
        .function_name = suspects_string(suspects, name),
        .first_counter = suspects->counter_count,
        .first_predicate = suspects->predicate_count,
    };

    suspects->counter_count += suspects_counters(kind);
    suspects->predicate_count += suspects_predicates(kind);
    suspects_points_push(&suspects->points, (struct suspects_point){.site = site});
    return suspects_points_last(&suspects->points);
}

void suspects_mark(const struct suspects *suspects, LLVMValueRef instruction, uint32_t first)
{
    const struct instrumented_module *module = suspects->module;
    uint32_t count = (uint32_t)suspects->points.length - first;
    LLVMMetadataRef numbers[] = {LLVMValueAsMetadata(instrument_i32(module, first)),
                                 LLVMValueAsMetadata(instrument_i32(module, count))};

    if (count)
        LLVMSetMetadata(instruction, suspects->mark,
                        LLVMMetadataAsValue(module->context,
                                            LLVMMDNodeInContext2(module->context, numbers, 2)));
}

bool suspects_marked(const struct suspects *suspects, LLVMValueRef instruction, uint32_t *first,
                     uint32_t *count)
{
    LLVMValueRef node =
        LLVMHasMetadata(instruction) ? LLVMGetMetadata(instruction, suspects->mark) : NULL;
    LLVMValueRef numbers[2];

    if (!node)
        return false;
    LLVMGetMDNodeOperands(node, numbers);
    *first = (uint32_t)LLVMConstIntGetZExtValue(numbers[0]);
    *count = (uint32_t)LLVMConstIntGetZExtValue(numbers[1]);
    return true;
}

// From one place of this module, and from nowhere else?
static bool is_called_once(LLVMValueRef function)
{
    LLVMUseRef use = LLVMGetFirstUse(function);
    LLVMValueRef user = use ? LLVMGetUser(use) : NULL;

    return LLVMGetLinkage(function) == LLVMInternalLinkage && user && !LLVMGetNextUse(use) &&
           LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function;
}

void suspects_find(struct instrumented_module *module)
{
    static const char mark[] = "inquest.site";
    static const char target[] = "x86_64-";
    bool records = LLVMIsNewDbgInfoFormat(module->module);

    if (strncmp(LLVMGetTarget(module->module), target, sizeof(target) - 1) != 0)
        return; // there is no runtime for it
    struct suspects *suspects = xcalloc(1, sizeof(*suspects));

    module->suspects = suspects;
    suspects->module = module;
    arena_init(&suspects->arena);
    strbuf_init(&suspects->strings);
    suspects_string(suspects, "");
    suspects->mark = LLVMGetMDKindIDInContext(module->context, mark, sizeof(mark) - 1);
    suspects->entry_point = xmalloc_array(module->function_count + 1u, sizeof(uint32_t));
    // the C API shows declarations of variables in this form only
    LLVMSetIsNewDbgInfoFormat(module->module, false);
    suspects_globals_find(suspects);
    suspects->called_once = xcalloc(module->function_count + 1u, 1);
    for (uint32_t f = 0; f < module->function_count; f++) {
        suspects->called_once[f] = is_called_once(module->functions[f].function);
        suspects->entry_point[f] = SUSPECTS_NONE;
        if (!module->functions[f].left_out)
            suspects_find_in(suspects, &module->functions[f]);
    }
    LLVMSetIsNewDbgInfoFormat(module->module, records);
}

// ---- What is written into the object

static void embed_table(const struct suspects *suspects)
{
    const struct instrumented_module *module = suspects->module;
    struct suspects_module head = {.module_id = module->module_id,
                                   .site_count = (uint32_t)suspects->points.length,
                                   .counter_count = suspects->counter_count,
                                   .predicate_count = suspects->predicate_count,
                                   .string_length = (uint32_t)suspects->strings.length};
    struct section_header header = {.version = SECTION_VERSION, .kind = SECTION_KIND_SUSPECTS};
    struct strbuf frame = STRBUF_INIT;

    memcpy(header.magic, SECTION_MAGIC, sizeof(header.magic));
    strbuf_append_bytes(&frame, &header, sizeof(header));
    strbuf_append_bytes(&frame, &head, sizeof(head));
    for (size_t i = 0; i < suspects->points.length; i++)
        strbuf_append_bytes(&frame, &suspects->points.data[i].site, sizeof(struct suspects_site));
    strbuf_append_bytes(&frame, suspects->strings.data, suspects->strings.length);
    header.payload_length = frame.length - sizeof(header);
    header.payload_hash =
        hash_bytes(HASH_SEED, frame.data + sizeof(header), (size_t)header.payload_length);
    memcpy(frame.data, &header, sizeof(header));
    strbuf_append_repeated(&frame, '\0', -frame.length % EMBED_UNIT);
    embed_section(module, SECTION_SUSPECTS, (const unsigned char *)frame.data, frame.length);
    strbuf_deinit(&frame);
}

static LLVMValueRef add_counters(const struct suspects *suspects)
{
    const struct instrumented_module *module = suspects->module;
    uint64_t per_page = SUSPECTS_PAGE / sizeof(uint32_t);
    uint64_t count = (suspects->counter_count + per_page - 1) / per_page * per_page;
    LLVMTypeRef type = LLVMArrayType2(module->type_i32, count);
    char name[64];

    snprintf(name, sizeof(name), "__inquest_suspects_%016" PRIx64, module->module_id);
    LLVMValueRef counters = LLVMAddGlobal(module->module, type, name);
    LLVMSetInitializer(counters, LLVMConstNull(type));
    LLVMSetLinkage(counters, LLVMInternalLinkage);
    LLVMSetAlignment(counters, SUSPECTS_PAGE);
    return counters;
}

static void add_descriptor(const struct suspects *suspects)
{
    const struct instrumented_module *module = suspects->module;
    LLVMTypeRef types[] = {module->type_i64, module->type_i64, module->type_i32, module->type_i32};
    LLVMTypeRef type = LLVMStructTypeInContext(module->context, types, 4, false);
    char name[64];

    snprintf(name, sizeof(name), "__inquest_sampled_%016" PRIx64, module->module_id);
    LLVMValueRef descriptor = LLVMAddGlobal(module->module, type, name);
    LLVMValueRef members[] = {
        instrument_i64(module, module->module_id),
        LLVMConstSub(LLVMConstPtrToInt(suspects->counters, module->type_i64),
                     LLVMConstPtrToInt(descriptor, module->type_i64)),
        instrument_i32(module, suspects->counter_count),
        instrument_i32(module, 0),
    };
    LLVMSetInitializer(descriptor, LLVMConstStructInContext(module->context, members, 4, false));
    LLVMSetLinkage(descriptor, LLVMInternalLinkage);
    LLVMSetSection(descriptor, SUSPECTS_DESCRIPTOR_SECTION);
    LLVMSetAlignment(descriptor, 8);
    LLVMSetGlobalConstant(descriptor, true);
    descriptor_keep(module->module, "llvm.used", &descriptor, 1);
}

// A function of the runtime. It touches nothing that the program knows of, so that code may be
// moved past it as if it were not there.
static struct suspects_callee declare(const struct suspects *suspects, const char *name,
                                      LLVMTypeRef result, LLVMTypeRef *parameters, unsigned count)
{
    enum { INACCESSIBLE_READ_WRITE = 3 << 2 };
    static const struct {
        const char *name;
        uint64_t value;
    } attributes[] = {
        {"nounwind", 0}, {"willreturn", 0}, {"nocallback", 0}, {"memory", INACCESSIBLE_READ_WRITE}};
    const struct instrumented_module *module = suspects->module;
    LLVMTypeRef type = LLVMFunctionType(result, parameters, count, false);
    LLVMValueRef function = LLVMAddFunction(module->module, name, type);

    LLVMSetFunctionCallConv(function, PRESERVE_MOST);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    for (unsigned i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        LLVMAddAttributeAtIndex(
            function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(
                module->context,
                LLVMGetEnumAttributeKindForName(attributes[i].name, strlen(attributes[i].name)),
                attributes[i].value));
    return (struct suspects_callee){function, type};
}

LLVMValueRef suspects_call(const struct suspects *suspects, const struct suspects_callee *callee,
                           LLVMValueRef *arguments, unsigned count)
{
    LLVMValueRef call = LLVMBuildCall2(suspects->module->builder, callee->type, callee->function,
                                       arguments, count, "");

    LLVMSetInstructionCallConv(call, PRESERVE_MOST);
    return call;
}

static void declare_runtime(struct suspects *suspects)
{
    const struct instrumented_module *module = suspects->module;
    LLVMTypeRef i64 = module->type_i64, none = module->type_void, ptr = module->type_ptr;
    LLVMTypeRef wide[] = {ptr, i64, i64}, narrow[] = {ptr, module->type_i32};
    LLVMTypeRef numbers[] = {i64, i64};

    suspects->next = declare(suspects, "__inquest_next", i64, numbers, 2);
    suspects->due = declare(suspects, "__inquest_due", ptr, wide, 1);
    suspects->count = declare(suspects, "__inquest_count", none, wide, 2);
    suspects->compare = declare(suspects, "__inquest_compare", none, wide, 3);
    suspects->compare_unsigned = declare(suspects, "__inquest_compare_unsigned", none, wide, 3);
    suspects->kind = declare(suspects, "__inquest_float", none, wide, 2);
    suspects->kind_32 = declare(suspects, "__inquest_float_32", none, narrow, 2);
    suspects->countdown = LLVMAddGlobal(module->module, i64, "__inquest_countdown");
    LLVMSetThreadLocalMode(suspects->countdown, LLVMInitialExecTLSModel);
    LLVMSetVisibility(suspects->countdown, LLVMHiddenVisibility);
    suspects->thresholds = LLVMAddGlobal(module->module, i64, "__inquest_thresholds.");
}

LLVMValueRef suspects_add_threshold(struct suspects *suspects)
{
    LLVMValueRef index = instrument_i64(suspects->module, suspects->threshold_count++);

    return LLVMConstInBoundsGEP2(suspects->module->type_i64, suspects->thresholds, &index, 1);
}

// Kept, so that the optimiser does not make anything else of it.
static void make_thresholds(struct suspects *suspects)
{
    const struct instrumented_module *module = suspects->module;
    uint32_t count = suspects->threshold_count;

    if (count) {
        LLVMValueRef *values = xmalloc_array(count, sizeof(*values));
        for (uint32_t i = 0; i < count; i++)
            values[i] = instrument_i64(module, INT64_MAX);
        LLVMValueRef list = LLVMConstArray2(module->type_i64, values, count);
        LLVMValueRef array =
            LLVMAddGlobal(module->module, LLVMTypeOf(list), "__inquest_thresholds");
        LLVMSetInitializer(array, list);
        LLVMSetLinkage(array, LLVMInternalLinkage);
        descriptor_keep(module->module, "llvm.used", &array, 1);
        LLVMReplaceAllUsesWith(suspects->thresholds, array);
        free(values);
    }
    LLVMDeleteGlobal(suspects->thresholds);
}

static void drop_unused(const struct suspects *suspects)
{
    const struct suspects_callee *callees[] = {
        &suspects->next,
        &suspects->due,
        &suspects->count,
        &suspects->compare,
        &suspects->compare_unsigned,
        &suspects->kind,
        &suspects->kind_32,
    };

    for (size_t i = 0; i < sizeof(callees) / sizeof(callees[0]); i++)
        if (!LLVMGetFirstUse(callees[i]->function))
            LLVMDeleteFunction(callees[i]->function);
}

void suspects_apply(struct instrumented_module *module)
{
    struct suspects *suspects = module->suspects;

    embed_table(suspects);
    if (!suspects->points.length)
        return;
    suspects->counters = add_counters(suspects);
    add_descriptor(suspects);
    declare_runtime(suspects);
    for (uint32_t f = 0; f < module->function_count; f++) {
        LLVMValueRef plain = module->functions[f].plain;

        if (module->functions[f].has_takers)
            plugin_forget_addresses(module->functions[f].function);
        if (module->functions[f].has_takers && plain)
            plugin_forget_addresses(plain);
        for (LLVMBasicBlockRef block = plain ? LLVMGetFirstBasicBlock(plain) : NULL; block;
             block = LLVMGetNextBasicBlock(block))
            suspects_clean_block(suspects, block);
        suspects_apply_to(suspects, &module->functions[f]);
    }
    make_thresholds(suspects);
    drop_unused(suspects);
}

void suspects_destroy(struct suspects *suspects)
{
    if (!suspects)
        return;
    suspects_points_deinit(&suspects->points);
    strbuf_deinit(&suspects->strings);
    suspects_strings_deinit(&suspects->string_offsets);
    suspects_variables_deinit(&suspects->globals);
    suspects_index_deinit(&suspects->global_index);
    arena_deinit(&suspects->arena);
    free(suspects->entry_point);
    free(suspects->called_once);
    free(suspects);
}

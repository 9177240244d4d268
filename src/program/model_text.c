// SPDX-License-Identifier: Apache-2.0
// The model as text. docs/formats/model.md has the grammar; model_parse.c reads it.
#include "program/model_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "layout/section.h"
#include "program/model.h"
#include "program/path_number.h"

static const char *const function_flags[] = {"optnone",
                                             "naked",
                                             "varargs",
                                             "noreturn",
                                             "weak",
                                             "comdat",
                                             "available-externally",
                                             "internal",
                                             "setjmp",
                                             "address-taken",
                                             "no-instrument",
                                             "modelless-use",
                                             "exported",
                                             "hidden",
                                             "block-address",
                                             "indirect-branch",
                                             "musttail",
                                             "asm",
                                             "always-inline",
                                             "nounwind",
                                             "invoke",
                                             "used",
                                             "ifunc-resolver"};
static const char *const node_flags[] = {"call",          "returns-twice", "return",  "unreachable",
                                         "resume",        "asm",           "landing", "block",
                                         "block-address", "setjmp",        "longjmp"};
static const char *const site_flags[] = {
    "indirect", "noreturn", "returns-twice", "nounwind",    "invoke",       "longjmp",
    "musttail", "external", "calls-back",    "may-longjmp", "thread-start", "signal-setup",
    "at-exit",  "ifunc",    "exits",         "loose"};
static const char *const root_reasons[] = {
    "main",   "constructor", "destructor", "exported", "ifunc-resolver", "modelless", "escaped",
    "signal", "thread",      "at-exit",    "assembly", "used",           "builtin"};
static const char *const levels[] = {"none", "calls", "paths", "full"};
static const char *const linked_names[] = {"unknown", "yes", "no"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static_assert(COUNT(root_reasons) == ROOT_REASON_COUNT, "every reason has a name");

const char *function_flag_name(unsigned bit)
{
    return bit < COUNT(function_flags) ? function_flags[bit] : NULL;
}

const char *node_flag_name(unsigned bit)
{
    return bit < COUNT(node_flags) ? node_flags[bit] : NULL;
}

const char *site_flag_name(unsigned bit)
{
    return bit < COUNT(site_flags) ? site_flags[bit] : NULL;
}

const char *root_reason_name(enum root_reason reason)
{
    return reason < ROOT_REASON_COUNT ? root_reasons[reason] : NULL;
}

const char *model_level_name(unsigned level)
{
    return level < COUNT(levels) ? levels[level] : NULL;
}

const char *linked_name(unsigned linked)
{
    return linked < COUNT(linked_names) ? linked_names[linked] : NULL;
}

// ---- Pieces

static void put_string(FILE *stream, const char *string)
{
    putc('"', stream);
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(stream, "\\x%02x", c);
        else
            putc(c, stream);
    }
    putc('"', stream);
}

static void put_flags(FILE *stream, uint32_t flags, const char *(*name)(unsigned bit))
{
    const char *separator = " flags ";

    for (unsigned bit = 0; bit < 32; bit++)
        if (flags >> bit & 1 && name(bit)) {
            fprintf(stream, "%s%s", separator, name(bit));
            separator = ",";
        }
}

static void put_place(FILE *stream, struct file_id file, uint32_t line)
{
    if (file.value == MODEL_NONE)
        fputs(" at -", stream);
    else
        fprintf(stream, " at %u:%u", file.value, line);
}

// ---- Functions

static void put_insns(const struct model *model, struct node_id node, FILE *stream)
{
    const struct code *code = model_code(model, model_node(model, node)->function);

    if (!code)
        return;
    const struct code_node *in = model_code_node(model, node);
    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        const struct place *place = code_place(code, code->insns[i].place);
        char *text = insn_text(code, i);
        if (place)
            fprintf(stream, "    | %s  !%u:%u\n", text, place->line, place->column);
        else
            fprintf(stream, "    | %s\n", text);
        free(text);
    }
}

static void put_successors(const struct model *model, struct node_id node, FILE *stream)
{
    uint32_t start = model->successor_start[node.value];
    uint32_t first = model->functions[model->nodes[node.value].function.value].first_node;

    if (start == model->successor_start[node.value + 1])
        return;
    fputs(" ->", stream);
    for (uint32_t e = start; e < model->successor_start[node.value + 1]; e++)
        fprintf(stream, " %u%s", model->successor[e].value - first,
                model->edge_flags[e] & PATH_EDGE_SHARED ? "!" : "");
}

static void put_names(const struct model *model, struct function_list list, const char *word,
                      FILE *stream)
{
    if (list.count == 0)
        return;
    fprintf(stream, "  # %s", word);
    if (list.count > 6) {
        fprintf(stream, " %u functions", list.count);
        return;
    }
    for (uint32_t i = 0; i < list.count; i++)
        fprintf(stream, "%s%s", i ? ", " : " ", model->functions[list.data[i].value].name);
}

static void put_site(const struct model *model, struct site_id id, FILE *stream)
{
    const struct model_site *site = model_site(model, id);

    fputs("    site ", stream);
    if (site->callee)
        put_string(stream, site->callee);
    else
        putc('*', stream);
    put_flags(stream, site->flags, site_flag_name);
    if (model->complete) {
        fprintf(stream, " callees %u callbacks %u", model->callees.callees_of_site[id.value],
                model->callees.callbacks_of_site[id.value]);
        put_names(model, model_callees(model, id), "calls", stream);
        put_names(model, model_callbacks(model, id), "back", stream);
    }
    putc('\n', stream);
}

static void put_node(const struct model *model, struct node_id id, bool verbose, FILE *stream)
{
    const struct model_node *node = model_node(model, id);

    fprintf(stream, "  node %u", model_node_index(model, id));
    put_place(stream, node->file, node->line);
    if (node->file.value != MODEL_NONE)
        fprintf(stream, ":%u", node->column);
    put_flags(stream, node->flags, node_flag_name);
    if (model->node_names) {
        fputs(" name ", stream);
        put_string(stream, model->node_names[id.value]);
    }
    put_successors(model, id, stream);
    putc('\n', stream);
    if (verbose)
        put_insns(model, id, stream);
    if (node->site.value != MODEL_NONE)
        put_site(model, node->site, stream);
}

static void put_function(const struct model *model, struct function_id id, bool verbose,
                         FILE *stream)
{
    const struct model_function *function = model_function(model, id);

    fprintf(stream, "function %u module %u ", id.value, function->module.value);
    if (!model->modules[function->module.value].loaded) {
        fputs("not loaded\n", stream);
        return;
    }
    put_string(stream, function->name);
    fputs(" debug ", stream);
    put_string(stream, function->debug_name);
    fputs(" source ", stream);
    put_string(stream, function->source_name);
    put_place(stream, function->file, function->line);
    fprintf(stream, " linked %s level %s record %u", linked_name(function->linked),
            model_level_name(function->level), function->record_flags);
    put_flags(stream, function->flags, function_flag_name);
    putc('\n', stream);
    for (uint32_t n = 0; n < function->node_count; n++)
        put_node(model, (struct node_id){function->first_node + n}, verbose, stream);
}

// ---- The whole

static void put_head(const struct model *model, FILE *stream)
{
    fputs("inquest-model 1\n", stream);
    for (uint32_t i = 0; i < model->file_count; i++) {
        fprintf(stream, "file %u ", i);
        put_string(stream, model->files[i].directory);
        putc(' ', stream);
        put_string(stream, model->files[i].name);
        putc('\n', stream);
    }
    for (uint32_t i = 0; i < model->image_count; i++) {
        fprintf(stream, "image %u %s ", i,
                model->images[i].is_executable ? "executable" : "library");
        put_string(stream, model->images[i].path);
        putc('\n', stream);
    }
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct model_module *module = &model->modules[m];
        fprintf(stream, "module %u image %u id %016llx level %s flags %u source ", m,
                module->image.value, (unsigned long long)module->id,
                model_level_name(module->level), module->flags);
        put_string(stream, module->source ? module->source : "");
        putc('\n', stream);
    }
}

static void put_sets(const struct model *model, FILE *stream)
{
    const struct callee_table *table = &model->callees;

    for (uint32_t s = 1; s < table->set_count; s++) {
        struct function_list list = callee_table_set(table, s);
        fprintf(stream, "set %u", s);
        for (uint32_t i = 0; i < list.count; i++)
            fprintf(stream, " %u", list.data[i].value);
        putc('\n', stream);
    }
    for (uint32_t r = 0; r < model->root_count; r++)
        fprintf(stream, "root %u %s  # %s\n", model->roots[r].function.value,
                root_reason_name(model->roots[r].reason),
                model->functions[model->roots[r].function.value].name);
}

void model_write_text(const struct model *model, struct function_id only, bool verbose,
                      FILE *stream)
{
    if (only.value != MODEL_NONE) {
        put_function(model, only, verbose, stream);
        return;
    }
    put_head(model, stream);
    for (uint32_t f = 0; f < model->function_count; f++)
        put_function(model, (struct function_id){f}, verbose, stream);
    if (model->complete)
        put_sets(model, stream);
}

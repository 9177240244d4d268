// SPDX-License-Identifier: Apache-2.0
// Points-to as text (docs/formats/points_to.md), and figures.
#include <inttypes.h>
#include <string.h>

#include "analysis/points_to_result.h"
#include "common/strbuf.h"

static const char *const state_names[EFFECT_STATE_COUNT] = {
    "errno",  "heap",    "streams", "files",  "environment", "locale", "time",
    "random", "process", "threads", "tokens", "database",    "strings"};

static void append_place(const struct code *code, struct place_id id, struct strbuf *text)
{
    const struct place *place = code_place(code, id);

    if (!place)
        return;
    const char *name = code_string(code, code->files[place->file].name);
    const char *slash = strrchr(name, '/');
    strbuf_printf(text, "%s:%" PRIu32, slash ? slash + 1 : name, place->line);
}

static const char *local_name(const struct code *code, const struct insn *insn, uint32_t index,
                              struct place_id *ret)
{
    const struct code_function *function = &code->functions[code->nodes[insn->node].function];

    *ret = insn->place;
    for (uint32_t v = 0; v < function->variable_count; v++) {
        const struct variable *variable = &code->variables[function->first_variable + v];
        if (variable->storage.bits == operand_make(OPERAND_INSN, index).bits) {
            *ret = variable->place;
            return code_string(code, variable->name);
        }
    }
    return "(temporary)";
}

static void append_local(const struct points_to *pt, const struct object *object,
                         struct strbuf *text)
{
    const struct code *code = pt->model->modules[object->module].code;
    const struct insn *insn = &code->insns[object->index];
    struct place_id place;
    const char *name = local_name(code, insn, object->index, &place);

    append_place(code, place, text);
    strbuf_printf(text, "%s%s", place.value ? " " : "", name);
    strbuf_printf(text, " of %s",
                  code_string(code, code->functions[code->nodes[insn->node].function].source_name));
}

static void append_heap(const struct points_to *pt, const struct object *object,
                        struct strbuf *text)
{
    const struct model *model = pt->model;
    const struct code *code = model->modules[object->module].code;
    const struct insn *insn = &code->insns[object->index];
    uint32_t site = code_call(code, insn)->site;
    const char *callee =
        site == CODE_NONE ? NULL
                          : model->sites[model->modules[object->module].first_site + site].callee;

    strbuf_printf(text, "%s at ", callee ? callee : "*");
    append_place(code, insn->place, text);
    if (object->context == MODEL_NONE)
        return;
    const struct model_function *by =
        &model->functions[model_site_function(model, (struct site_id){object->context}).value];
    const struct model_module *module = &model->modules[by->module.value];
    const struct code_site *outer = &module->code->sites[object->context - module->first_site];
    strbuf_append(text, " for ");
    append_place(module->code, module->code->insns[outer->insn].place, text);
}

static void append_global(const struct points_to *pt, const struct object *object,
                          struct strbuf *text)
{
    const struct code *code = pt->model->modules[object->module].code;
    const struct global *global = &code->globals[object->index];

    append_place(code, global->place, text);
    strbuf_printf(text, "%s%s", global->place.value ? " " : "", code_string(code, global->name));
}

static void append_object(const struct points_to *pt, const struct object *object,
                          struct strbuf *text)
{
    const struct model *model = pt->model;
    const struct code *code =
        object->module == MODEL_NONE ? NULL : model->modules[object->module].code;

    switch ((enum object_kind)object->kind) {
    case OBJECT_WORLD:
        strbuf_append(text, "world");
        break;
    case OBJECT_GLOBAL:
        append_global(pt, object, text);
        break;
    case OBJECT_LOCAL:
        append_local(pt, object, text);
        break;
    case OBJECT_HEAP:
        append_heap(pt, object, text);
        break;
    case OBJECT_BYVAL: {
        const struct argument *argument = &code->arguments[object->index];
        strbuf_printf(text, "argument %" PRIu32 " of %s",
                      object->index - code->functions[argument->function].first_argument,
                      code_string(code, code->functions[argument->function].source_name));
        break;
    }
    case OBJECT_FUNCTION:
        strbuf_printf(text, "%s()",
                      code ? code_string(code, code->globals[object->index].name)
                           : model->functions[object->index].name);
        break;
    case OBJECT_VARIADIC:
        strbuf_printf(text, "variadic arguments of %s", model->functions[object->index].name);
        break;
    case OBJECT_ARGUMENT:
        strbuf_append(text, "arguments of the program");
        break;
    case OBJECT_CONSTANTS:
        strbuf_append(text, "constants");
        break;
    case OBJECT_STATE:
        strbuf_printf(text, "library's %s", state_names[object->index]);
        break;
    }
}

const char *points_to_cell_name(const struct points_to *pt, struct cell_id id, struct strbuf *text)
{
    const struct cell *cell = points_to_cell(pt, id);
    const struct object *object = points_to_object(pt, cell->object);

    strbuf_clear(text);
    append_object(pt, object, text);
    if (cell->stride == 1 && cell->offset == 0 && object->cell_count > 1 && cell->length == 0)
        strbuf_append(text, " (rest)");
    else if (cell->offset && object->kind == OBJECT_HEAP)
        strbuf_printf(text, " +%" PRIu64, cell->offset);
    else if (cell->offset)
        strbuf_printf(text, "[%" PRIu64 "]", cell->offset);
    return text->data;
}

// ---- All

static const char *const kind_names[] = {"world",    "global",   "local",    "heap",  "byval",
                                         "function", "variadic", "argument", "state", "constants"};

static void write_set(struct cell_set set, struct strbuf *text)
{
    for (uint32_t i = 0; i < set.count; i++)
        strbuf_printf(text, " %" PRIu32, set.data[i].value);
    strbuf_append_char(text, '\n');
}

static void write_object(const struct points_to *pt, uint32_t index, struct strbuf *text)
{
    const struct object *object = points_to_object(pt, (struct object_id){index});
    _cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

    append_object(pt, object, &name);
    strbuf_printf(text, "object %" PRIu32 " %s", index, kind_names[object->kind]);
    if (object->size)
        strbuf_printf(text, " size %" PRIu64, object->size);
    strbuf_printf(text, "%s%s \"", object->is_single ? " single" : "",
                  object->escapes ? " escapes" : "");
    strbuf_append_escaped(text, name.data);
    strbuf_append(text, "\"\n");
    for (uint32_t c = object->first_cell; c < object->first_cell + object->cell_count; c++) {
        const struct cell *cell = points_to_cell(pt, (struct cell_id){c});
        strbuf_printf(text,
                      "  cell %" PRIu32 " offset %" PRIu64 " stride %" PRIu64 " length %" PRIu64
                      " holds",
                      c, cell->offset, cell->stride, cell->length);
        write_set(results_cell(pt, c), text);
    }
}

static void write_accesses(const struct points_to *pt, uint32_t m, struct strbuf *text)
{
    const struct code *code = pt->model->modules[m].code;

    for (uint32_t i = 0; i < code->insns_count; i++) {
        struct accesses accesses = points_to_accesses(pt, (struct module_id){m}, i);
        const struct place *place = code_place(code, code->insns[i].place);
        if (!accesses.reads.count && !accesses.writes.count)
            continue;
        strbuf_printf(text, "access %" PRIu32 " %" PRIu32 " line %" PRIu32 " %s\n", m, i,
                      place ? place->line : 0, insn_opcode_name(code->insns[i].opcode));
        if (accesses.reads.count) {
            strbuf_append(text, "  reads");
            write_set(accesses.reads, text);
        }
        if (accesses.writes.count) {
            strbuf_append(text, "  writes");
            write_set(accesses.writes, text);
        }
        if (accesses.certain.count) {
            strbuf_append(text, "  certain");
            write_set(accesses.certain, text);
        }
    }
}

void points_to_write_text(const struct points_to *pt, struct strbuf *text)
{
    strbuf_printf(text, "inquest-points-to 1%s\n", pt->is_complete ? "" : " incomplete");
    for (uint32_t o = 0; o < points_to_object_count(pt); o++)
        write_object(pt, o, text);
    for (uint32_t m = 0; pt->is_complete && m < pt->model->module_count; m++)
        write_accesses(pt, m, text);
}

// ---- Figures

struct points_to_figures points_to_figures(const struct points_to *pt)
{
    struct points_to_figures figures = {.nodes = (uint32_t)pt->nodes.length,
                                        .constraints = (uint32_t)pt->constraints.length,
                                        .collapsed = pt->united};
    uint64_t total = 0, count = 0;

    for (uint32_t m = 0; pt->is_complete && m < pt->model->module_count; m++) {
        const struct code *code = pt->model->modules[m].code;
        for (uint32_t i = 0; i < code->insns_count; i++) {
            const struct insn *insn = &code->insns[i];
            if (insn->opcode != INSN_LOAD && insn->opcode != INSN_STORE)
                continue;
            struct cell_set set = points_to_value(
                pt, (struct module_id){m}, code_operand(code, insn, insn->opcode == INSN_STORE));
            total += set.count;
            count++;
            figures.largest_set = set.count > figures.largest_set ? set.count : figures.largest_set;
            struct operand address = code_operand(code, insn, insn->opcode == INSN_STORE);
            if (!value_is_point(results_operand(pt, m, address))) {
                figures.mean_set += set.count;
                figures.pointers++;
            }
        }
    }
    figures.mean_set = figures.pointers ? figures.mean_set / figures.pointers : 0;
    figures.mean_load_store_set = count ? (double)total / (double)count : 0;
    return figures;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_points_to.h"

#include <stdio.h>
#include <string.h>

#include "analysis/points_to.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/json.h"
#include "common/map.h"
#include "common/strbuf.h"
#include "program/model.h"

static uint64_t set_hash(struct cell_set set)
{
    uint64_t hash = set.count;

    for (uint32_t i = 0; i < set.count; i++)
        hash = hash_mix(hash ^ set.data[i].value);
    return hash;
}

static bool set_equal(struct cell_set a, struct cell_set b)
{
    return a.count == b.count && memcmp(a.data, b.data, a.count * sizeof(*a.data)) == 0;
}

MAP_DEFINE(set_numbers, struct cell_set, uint32_t, set_hash, set_equal);

// Sets are long, and many instructions share them: each is written once, and named by its number.
struct sets {
    struct set_numbers numbers;
    json_t *array;
};

// ---- Objects

static const char *const kind_names[] = {
    [OBJECT_WORLD] = "world",        [OBJECT_GLOBAL] = "global",     [OBJECT_LOCAL] = "local",
    [OBJECT_HEAP] = "heap",          [OBJECT_BYVAL] = "byval",       [OBJECT_FUNCTION] = "function",
    [OBJECT_VARIADIC] = "variadic",  [OBJECT_ARGUMENT] = "argument", [OBJECT_STATE] = "state",
    [OBJECT_CONSTANTS] = "constants"};

static void set_variable(json_t *item, const struct model *model, const struct object *object)
{
    const struct code *code = model->modules[object->module].code;
    const struct global *global = &code->globals[object->index];

    json_set(item, "variable", json_text(code_string(code, global->name)));
    json_set(item, "shared", json_boolean(global->linkage != LINKAGE_INTERNAL));
}

// The call of the wrapper that allocates.
static void set_context(json_t *item, const struct model *model, const struct object *object)
{
    if (object->context == MODEL_NONE)
        return;
    struct function_id by = model_site_function(model, (struct site_id){object->context});
    const struct model_module *module = &model->modules[model_function(model, by)->module.value];
    json_t *context = json_object();

    json_set(context, "module", json_address(module->id));
    json_set(context, "insn",
             json_integer(module->code->sites[object->context - module->first_site].insn));
    json_set(item, "for", context);
}

static void set_identity(json_t *item, const struct model *model, const struct object *object)
{
    if (object->module != MODEL_NONE)
        json_set(item, "module", json_address(model->modules[object->module].id));
    if (object->kind == OBJECT_GLOBAL)
        set_variable(item, model, object);
    if (object->kind == OBJECT_LOCAL || object->kind == OBJECT_HEAP)
        json_set(item, "insn", json_integer(object->index));
    if (object->kind == OBJECT_HEAP)
        set_context(item, model, object);
}

static json_t *cells_json(const struct points_to *points_to, const struct object *object)
{
    json_t *array = json_array();

    for (uint32_t c = 0; c < object->cell_count; c++) {
        const struct cell *cell =
            points_to_cell(points_to, (struct cell_id){object->first_cell + c});
        json_t *item = json_object();
        json_set(item, "offset", json_integer((json_int_t)cell->offset));
        json_set(item, "stride", json_integer((json_int_t)cell->stride));
        json_set(item, "length", json_integer((json_int_t)cell->length));
        json_push(array, item);
    }
    return array;
}

static json_t *object_json(const struct points_to *points_to, const struct model *model,
                           const struct object *object)
{
    _cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
    json_t *item = json_object();

    json_set(item, "kind", json_text(kind_names[object->kind]));
    json_set(
        item, "name",
        json_text(points_to_cell_name(points_to, (struct cell_id){object->first_cell}, &name)));
    set_identity(item, model, object);
    json_set(item, "size", object->size ? json_integer((json_int_t)object->size) : json_null());
    json_set(item, "single", json_boolean(object->is_single));
    json_set(item, "escapes", json_boolean(object->escapes));
    json_set(item, "first_cell", json_integer(object->first_cell));
    json_set(item, "cells", cells_json(points_to, object));
    return item;
}

// ---- Accesses

static void set_number(json_t *item, const char *key, struct cell_set set, struct sets *sets)
{
    bool is_new;

    if (set.count == 0)
        return;
    uint32_t *number = set_numbers_put_new(&sets->numbers, set, &is_new);
    if (is_new) {
        json_t *array = json_array();
        for (uint32_t i = 0; i < set.count; i++)
            json_push(array, json_integer(set.data[i].value));
        *number = (uint32_t)json_array_size(sets->array);
        json_push(sets->array, array);
    }
    json_set(item, key, json_integer(*number));
}

static void push_accesses(const struct points_to *points_to, const struct model *model, uint32_t m,
                          struct sets *sets, json_t *array)
{
    const struct model_module *module = &model->modules[m];

    for (uint32_t i = 0; i < module->code->insns_count; i++) {
        struct accesses accesses = points_to_accesses(points_to, (struct module_id){m}, i);
        if (!accesses.reads.count && !accesses.writes.count)
            continue;
        json_t *item = json_object();
        json_set(item, "module", json_address(module->id));
        json_set(item, "insn", json_integer(i));
        set_number(item, "reads", accesses.reads, sets);
        set_number(item, "writes", accesses.writes, sets);
        set_number(item, "certain", accesses.certain, sets);
        json_push(array, item);
    }
}

static struct error *write_json(const struct points_to *points_to, const struct model *model)
{
    bool complete = points_to_is_complete(points_to);
    _cleanup_json_ json_t *document = json_document_create("points_to/1", complete);
    json_t *objects = json_array(), *accesses = json_array();
    struct sets sets = {MAP_INIT, json_array()};

    for (uint32_t o = 0; complete && o < points_to_object_count(points_to); o++)
        json_push(objects, object_json(points_to, model,
                                       points_to_object(points_to, (struct object_id){o})));
    for (uint32_t m = 0; complete && m < model->module_count; m++)
        push_accesses(points_to, model, m, &sets, accesses);
    json_set(document, "objects", objects);
    json_set(document, "sets", sets.array);
    json_set(document, "accesses", accesses);
    set_numbers_deinit(&sets.numbers);
    return json_document_write(document, stdout);
}

// ---- All

static struct error *write_text(const struct points_to *points_to)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    points_to_write_text(points_to, &text);
    fwrite(text.data, 1, text.length, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_create(ERROR_OTHER, "cannot write the output");
    return NULL;
}

struct error *dump_points_to(struct model *model, struct budget *budget, bool json,
                             bool *ret_complete)
{
    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].node_count && !model->modules[m].code)
            return error_create(ERROR_UNSUPPORTED,
                                "pointers are followed in a program's instructions, and a model "
                                "that was read from text or GraphML has none");
    struct points_to *points_to = points_to_create(model, budget);
    *ret_complete = points_to_is_complete(points_to);
    struct error *err = json ? write_json(points_to, model) : write_text(points_to);
    points_to_destroy(points_to);
    return err;
}

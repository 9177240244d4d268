// SPDX-License-Identifier: Apache-2.0
// Instructions by number, classes and what instructions do to them; making and freeing. See
// dependence.h.
#include "analysis/dependence.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"
#include "common/strbuf.h"

struct dependence *dependence_create(struct model *model, const struct points_to *points_to)
{
    struct dependence *dependence = xcalloc(1, sizeof(*dependence));

    assert(model->complete);
    dependence->model = model;
    dependence->points_to = points_to;
    arena_init(&dependence->arena);
    dependence->insn_start = xcalloc(model->module_count + 1u, sizeof(uint32_t));
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        uint32_t count = code ? code->insns_count : 0;
        assert(count < UINT32_MAX - dependence->insn_start[m]);
        dependence->insn_start[m + 1] = dependence->insn_start[m] + count;
    }
    call_graph_init(&dependence->calls, model);
    dependence->controls = xcalloc(model->function_count + 1u, sizeof(*dependence->controls));
    dependence->flows = xcalloc(model->function_count + 1u, sizeof(*dependence->flows));
    dependence->effects = xcalloc(dependence->calls.components.count, sizeof(*dependence->effects));
    classes_build(dependence);
    return dependence;
}

static void destroy_function(struct dependence *dependence, uint32_t f)
{
    struct function_control *control = dependence->controls[f];
    struct function_flow *flow = dependence->flows[f];

    if (control) {
        free(control->start);
        free(control->nodes);
        bitset_deinit(&control->is_entry);
        free(control);
    }
    if (flow) {
        free(flow->insn_start);
        free(flow->before_start);
        free(flow->before);
        free(flow->twice);
        free(flow->leaving);
        free(flow->events);
        free(flow);
    }
}

void dependence_destroy(struct dependence *dependence)
{
    if (!dependence)
        return;
    for (uint32_t f = 0; f < dependence->model->function_count; f++)
        destroy_function(dependence, f);
    MAP_FOREACH (definitions_map, &dependence->definitions, entry)
        definitions_deinit(&entry->value);
    MAP_FOREACH (uses_map, &dependence->uses, entry)
        uses_deinit(&entry->value);
    definitions_map_deinit(&dependence->definitions);
    uses_map_deinit(&dependence->uses);
    event_map_deinit(&dependence->events);
    for (size_t i = 0; i < 4; i++)
        insn_list_map_deinit(&dependence->async_lists[i]);
    async_deinit(&dependence->async);
    effects_deinit(dependence);
    classes_deinit(&dependence->classes);
    call_graph_deinit(&dependence->calls);
    free(dependence->controls);
    free(dependence->flows);
    free(dependence->insn_start);
    arena_deinit(&dependence->arena);
    free(dependence);
}

// ---- Instructions

uint32_t dependence_insn_count(const struct dependence *dependence)
{
    return dependence->insn_start[dependence->model->module_count];
}

struct insn_id dependence_insn(const struct dependence *dependence, struct module_id module,
                               uint32_t insn)
{
    assert(module.value < dependence->model->module_count);
    assert(insn < dependence->insn_start[module.value + 1] - dependence->insn_start[module.value]);
    return (struct insn_id){dependence->insn_start[module.value] + insn};
}

const struct insn *dependence_insn_at(const struct dependence *dependence, struct insn_id insn,
                                      struct module_id *ret_module, uint32_t *ret_index)
{
    uint32_t low = 0, high = dependence->model->module_count;

    assert(insn.value < dependence_insn_count(dependence));
    while (high - low > 1) { // the last module that begins at or before it
        uint32_t middle = low + (high - low) / 2;
        if (dependence->insn_start[middle] <= insn.value)
            low = middle;
        else
            high = middle;
    }
    uint32_t index = insn.value - dependence->insn_start[low];
    if (ret_module)
        ret_module->value = low;
    if (ret_index)
        *ret_index = index;
    return &dependence->model->modules[low].code->insns[index];
}

struct node_id dependence_insn_node(const struct dependence *dependence, struct insn_id insn)
{
    struct module_id module;
    const struct insn *at = dependence_insn_at(dependence, insn, &module, NULL);

    return (struct node_id){dependence->model->modules[module.value].first_node + at->node};
}

// ---- Classes

uint32_t dependence_class_count(const struct dependence *dependence)
{
    return (uint32_t)dependence->classes.list.length;
}

bool dependence_overlap(const struct dependence *dependence, struct class_id a, struct class_id b)
{
    assert(a.value < dependence->classes.list.length && b.value < dependence->classes.list.length);
    return a.value == b.value || a.value == CLASS_ANYTHING || b.value == CLASS_ANYTHING;
}

bool dependence_is_own(const struct dependence *dependence, struct function_id function,
                       struct class_id id)
{
    const struct memory_class *class = &dependence->classes.list.data[id.value];

    return class->owner == function.value && class->dies;
}

const char *dependence_class_name(const struct dependence *dependence, struct class_id id,
                                  struct strbuf *text)
{
    assert(id.value < dependence->classes.list.length);
    if (id.value != CLASS_ANYTHING)
        return points_to_cell_name(dependence->points_to,
                                   dependence->classes.list.data[id.value].cell, text);
    strbuf_clear(text);
    strbuf_append(text, "anything");
    return text->data;
}

bool class_set_has(struct class_set set, struct class_id id)
{
    uint32_t low = 0, high = set.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set.data[middle].value == id.value)
            return true;
        if (set.data[middle].value < id.value)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool class_set_meets(const struct dependence *dependence, struct class_set set, struct class_id id)
{
    assert(id.value < dependence->classes.list.length);
    if (set.count == 0)
        return false;
    return id.value == CLASS_ANYTHING || set.data[0].value == CLASS_ANYTHING ||
           class_set_has(set, id);
}

const struct access_triple *access_of(const struct dependence *dependence, struct insn_id insn)
{
    assert(insn.value < dependence_insn_count(dependence));
    return &dependence->classes.triples.data[dependence->classes.triple_of_insn[insn.value]];
}

struct class_accesses dependence_accesses(struct dependence *dependence, struct insn_id insn)
{
    const struct access_triple *triple = access_of(dependence, insn);
    const struct access_set *sets = dependence->classes.sets.data;

    return (struct class_accesses){sets[triple->reads].classes, sets[triple->writes].classes,
                                   sets[triple->certain].killed};
}

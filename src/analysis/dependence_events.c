// SPDX-License-Identifier: Apache-2.0
// What one function does to one class, in the order of its instructions.
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"

VEC_DEFINE(event_vec, struct event);

// By functions that the call at this node's end may enter.
static uint32_t call_flags(struct dependence *dependence, struct site_id site, struct class_id id)
{
    const struct callee_table *table = &dependence->model->callees;
    uint32_t callees = dependence->calls.node_of_set[table->callees_of_site[site.value]];
    uint32_t callbacks = dependence->calls.node_of_set[table->callbacks_of_site[site.value]];
    uint32_t flags = 0;

    if (callees != DIGRAPH_NONE) {
        const struct component_effects *effects = effects_get(dependence, callees);
        flags |= effects_meet(&effects->mod, id) ? EVENT_CALL_WRITES : 0;
        flags |= effects_meet(&effects->ref, id) ? EVENT_CALL_READS : 0;
    }
    if (callbacks != DIGRAPH_NONE) {
        const struct component_effects *effects = effects_get(dependence, callbacks);
        flags |= effects_meet(&effects->mod, id) ? EVENT_CALL_WRITES | EVENT_CALLBACK_WRITES : 0;
        flags |= effects_meet(&effects->ref, id) ? EVENT_CALL_READS : 0;
    }
    return flags;
}

static uint32_t event_flags(struct dependence *dependence, struct insn_id insn, struct class_id id)
{
    struct class_accesses accesses = dependence_accesses(dependence, insn);
    uint32_t flags = 0, end;

    flags |= class_set_meets(dependence, accesses.writes, id) ? EVENT_WRITES : 0;
    flags |= class_set_meets(dependence, accesses.reads, id) ? EVENT_READS : 0;
    flags |= class_set_has(accesses.certain, id) ? EVENT_KILLS : 0; // never of anything
    struct node_id node = dependence_insn_node(dependence, insn);
    struct site_id site = model_node(dependence->model, node)->site;
    node_first_insn(dependence, node, &end);
    if (site.value != MODEL_NONE && insn.value + 1 == end)
        flags |= call_flags(dependence, site, id);
    return flags;
}

struct event_list events_get(struct dependence *dependence, struct function_id function,
                             struct class_id id)
{
    uint64_t key = (uint64_t)function.value << 32 | id.value;
    const struct event_list *known = event_map_get(&dependence->events, key);
    const struct function_flow *flow = flow_get(dependence, function);
    struct event_vec events = VEC_INIT;

    if (known)
        return *known;
    for (uint32_t e = 0; e < flow->event_count; e++) {
        uint32_t flags = event_flags(dependence, flow->events[e], id);
        if (flags)
            event_vec_push(&events, (struct event){flow->events[e], flags});
    }
    struct event_list list = {NULL, (uint32_t)events.length};
    if (events.length)
        list.data =
            arena_memdup(&dependence->arena, events.data, events.length * sizeof(*events.data));
    event_vec_deinit(&events);
    return *event_map_put(&dependence->events, key) = list;
}

uint32_t events_from(struct event_list events, struct insn_id insn)
{
    uint32_t low = 0, high = events.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events.data[middle].insn.value < insn.value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_insns(const void *a, const void *b)
{
    const struct insn_id *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

void insn_vec_sort(struct insn_vec *insns)
{
    size_t kept = 0;

    if (insns->length)
        qsort(insns->data, insns->length, sizeof(*insns->data), compare_insns);
    for (size_t i = 0; i < insns->length; i++)
        if (kept == 0 || insns->data[kept - 1].value != insns->data[i].value)
            insns->data[kept++] = insns->data[i];
    insns->length = kept;
}

// SPDX-License-Identifier: Apache-2.0
// Who may read what an instruction wrote: the search of dependence_reaching.c, forwards.
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

struct search {
    struct dependence *dependence;
    const struct function_flow *flow;
    struct event_list events;
    const struct reaching_limits *limits;
    struct bitset seen; // by node: the value is there where it begins
    uint32_t *work, work_count;
    bool has_jumped; // it has been taken to where jumps land
    bool has_exit;   // the class can be there when the function is left
    struct uses *ret;
};

static void push(struct search *search, uint32_t node)
{
    if (limits_allow(search->limits, search->flow->first_node + node) &&
        !bitset_test_and_set(&search->seen, node))
        search->work[search->work_count++] = node;
}

static void push_behind(struct search *search, uint32_t node)
{
    const struct model *model = search->dependence->model;
    struct node_id from = {search->flow->first_node + node};

    for (uint32_t e = model->successor_start[from.value];
         e < model->successor_start[from.value + 1]; e++)
        if (limits_allow_edge(search->limits, e) && edge_is_real(model, from, model->successor[e]))
            push(search, model->successor[e].value - search->flow->first_node);
}

static void jump(struct search *search)
{
    if (search->has_jumped)
        return;
    search->has_jumped = true;
    search->ret->to_jump |= search->has_exit;
    for (uint32_t i = 0; i < search->flow->twice_count; i++)
        push_behind(search, search->flow->twice[i]);
}

// Through the node from instruction `from` on, and to wherever it leads.
static void pass(struct search *search, uint32_t node, struct insn_id from)
{
    const struct dependence *dependence = search->dependence;
    struct node_id id = {search->flow->first_node + node};
    uint32_t flags = dependence->model->nodes[id.value].flags;
    uint32_t end = search->flow->insn_start[node + 1];

    if (dependence->calls.handler_jumps)
        jump(search);
    for (uint32_t e = events_from(search->events, from);
         e < search->events.count && search->events.data[e].insn.value < end; e++) {
        const struct event *event = &search->events.data[e];
        if (event->flags & EVENT_READS)
            insn_vec_push(&search->ret->readers, event->insn);
        if (event->flags & EVENT_CALL_READS)
            insn_vec_push(&search->ret->calls, event->insn);
        if (!(event->flags & EVENT_KILLS))
            continue;
        if (event->insn.value + 1 == end && call_may_jump(dependence, id))
            jump(search); // it may be left before it writes
        return;
    }
    if (call_may_jump(dependence, id))
        jump(search);
    search->ret->to_exit |= search->has_exit && flags & NODE_RETURN;
    search->ret->to_jump |= search->has_exit && flags & NODE_RESUME;
    push_behind(search, node);
}

static void run(struct dependence *dependence, struct insn_id insn, struct class_id id,
                const struct reaching_limits *limits, struct uses *ret)
{
    struct node_id node = dependence_insn_node(dependence, insn);
    struct function_id function = model_node(dependence->model, node)->function;
    const struct memory_class *class = &dependence->classes.list.data[id.value];
    struct search search = {.dependence = dependence,
                            .flow = flow_get(dependence, function),
                            .events = events_get(dependence, function, id),
                            .limits = limits,
                            .has_exit = class->owner != function.value || !class->dies,
                            .ret = ret};

    *ret = (struct uses){.asynchronous = async_list(dependence, function, id, false)};
    bitset_init(&search.seen, search.flow->node_count);
    search.work = xmalloc_array(search.flow->node_count + 1u, sizeof(uint32_t));
    pass(&search, node.value - search.flow->first_node, (struct insn_id){insn.value + 1});
    while (search.work_count) {
        uint32_t n = search.work[--search.work_count];
        pass(&search, n, (struct insn_id){search.flow->insn_start[n]});
    }
    insn_vec_sort(&ret->readers);
    insn_vec_sort(&ret->calls);
    bitset_deinit(&search.seen);
    free(search.work);
}

void dependence_reached(struct dependence *dependence, struct insn_id insn, struct class_id id,
                        const struct reaching_limits *limits, struct uses *ret)
{
    assert(id.value < dependence->classes.list.length);
    if (limits) {
        run(dependence, insn, id, limits, ret);
        return;
    }
    uint64_t key = (uint64_t)insn.value << 32 | id.value;
    const struct uses *known = uses_map_get(&dependence->uses, key);
    if (!known) {
        struct uses found;
        run(dependence, insn, id, NULL, &found);
        struct uses *place = uses_map_put(&dependence->uses, key);
        *place = found;
        known = place;
    }
    *ret = *known;
    insn_vec_init(&ret->readers);
    insn_vec_init(&ret->calls);
    insn_vec_append(&ret->readers, known->readers.data, known->readers.length);
    insn_vec_append(&ret->calls, known->calls.data, known->calls.length);
}

void uses_deinit(struct uses *uses)
{
    insn_vec_deinit(&uses->readers);
    insn_vec_deinit(&uses->calls);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Who may have written a class last: a search backwards through one activation.
 *
 * A node is come to at its end, in one of three ways: it was executed to its end; its call was left
 * by a jump or by unwinding, so that nothing the call does is certain; or a signal handler jumped
 * away from somewhere within it, so that none of its writes is. A jump lands behind a call that
 * returns twice, from any call of the function that may jump.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

enum way {
    WAY_WHOLE,
    WAY_JUMP,
    WAY_PART,
    WAY_COUNT,
};

struct search {
    struct dependence *dependence;
    struct function_id function;
    const struct function_flow *flow;
    struct event_list events;
    const struct reaching_limits *limits;
    struct bitset seen[WAY_COUNT]; // by node
    uint32_t *work, work_count;    // node * WAY_COUNT + way
    bool has_entry;                // the class can be there when the function is entered
    struct definitions *ret;
};

static void push(struct search *search, uint32_t node, enum way way)
{
    if (limits_allow(search->limits, search->flow->first_node + node) &&
        !bitset_test_and_set(&search->seen[way], node))
        search->work[search->work_count++] = node * WAY_COUNT + way;
}

static void push_jumps(struct search *search)
{
    const struct function_flow *flow = search->flow;

    for (uint32_t i = 0; i < flow->leaving_count; i++)
        push(search, flow->leaving[i], WAY_JUMP);
    for (uint32_t n = 0; search->dependence->calls.handler_jumps && n < flow->node_count; n++)
        push(search, n, WAY_PART);
}

// What the class holds where the node begins is what it held at the end of one of these.
static void push_before(struct search *search, uint32_t node)
{
    const struct function_flow *flow = search->flow;
    const struct model *model = search->dependence->model;
    bool is_pad = model->nodes[flow->first_node + node].flags & NODE_LANDING;

    if (node == 0)
        search->ret->from_entry |= search->has_entry;
    for (uint32_t i = flow->before_start[node]; i < flow->before_start[node + 1]; i++) {
        struct flow_edge before = flow->before[i];
        if (!limits_allow_edge(search->limits, before.edge))
            continue;
        push(search, before.node, is_pad ? WAY_JUMP : WAY_WHOLE);
        if (model->nodes[flow->first_node + before.node].flags & NODE_RETURNS_TWICE)
            push_jumps(search);
    }
}

// The events of a node before `end`, the last first. Whether the search goes on before the node.
static bool scan(struct search *search, uint32_t node, uint32_t end, enum way way)
{
    uint32_t first = search->flow->insn_start[node], behind = search->flow->insn_start[node + 1];

    for (uint32_t e = events_from(search->events, (struct insn_id){end});
         e > 0 && search->events.data[e - 1].insn.value >= first; e--) {
        const struct event *event = &search->events.data[e - 1];
        bool is_left = way == WAY_JUMP && event->insn.value + 1 == behind;
        if (event->flags & EVENT_WRITES)
            insn_vec_push(&search->ret->writers, event->insn);
        if (event->flags & EVENT_CALL_WRITES)
            insn_vec_push(way == WAY_WHOLE ? &search->ret->calls : &search->ret->jumps,
                          event->insn);
        if (event->flags & EVENT_KILLS && way != WAY_PART && !is_left)
            return false;
    }
    return true;
}

static void search_init(struct search *search, struct dependence *dependence,
                        struct function_id function, struct class_id id,
                        const struct reaching_limits *limits, struct definitions *ret)
{
    assert(id.value < dependence->classes.list.length);
    *ret = (struct definitions){.asynchronous = async_list(dependence, function, id, true)};
    *search = (struct search){.dependence = dependence,
                              .function = function,
                              .flow = flow_get(dependence, function),
                              .events = events_get(dependence, function, id),
                              .limits = limits,
                              .has_entry = !dependence_is_own(dependence, function, id),
                              .ret = ret};
    for (int way = 0; way < WAY_COUNT; way++)
        bitset_init(&search->seen[way], search->flow->node_count);
    search->work = xmalloc_array(WAY_COUNT * (search->flow->node_count + 1u), sizeof(uint32_t));
}

static void search_run(struct search *search)
{
    while (search->work_count) {
        uint32_t item = search->work[--search->work_count], node = item / WAY_COUNT;
        if (scan(search, node, search->flow->insn_start[node + 1], item % WAY_COUNT))
            push_before(search, node);
    }
    insn_vec_sort(&search->ret->writers);
    insn_vec_sort(&search->ret->calls);
    insn_vec_sort(&search->ret->jumps);
    for (int way = 0; way < WAY_COUNT; way++)
        bitset_deinit(&search->seen[way]);
    free(search->work);
}

static void search_from(struct dependence *dependence, struct insn_id insn, struct class_id id,
                        const struct reaching_limits *limits, bool with_call,
                        struct definitions *ret)
{
    struct node_id node = dependence_insn_node(dependence, insn);
    struct search search;

    search_init(&search, dependence, model_node(dependence->model, node)->function, id, limits,
                ret);
    uint32_t e = events_from(search.events, insn);
    if (with_call && e < search.events.count && search.events.data[e].insn.value == insn.value) {
        if (search.events.data[e].flags & EVENT_WRITES)
            insn_vec_push(&ret->writers, insn);
        if (search.events.data[e].flags & EVENT_CALLBACK_WRITES)
            insn_vec_push(&ret->calls, insn);
    }
    if (scan(&search, node.value - search.flow->first_node, insn.value, WAY_WHOLE))
        push_before(&search, node.value - search.flow->first_node);
    search_run(&search);
}

static void copy_insns(struct insn_vec *to, const struct insn_vec *from)
{
    insn_vec_init(to);
    insn_vec_append(to, from->data, from->length);
}

// Instructions with no event between them and none before the one that follows have one answer: it
// is kept for the first event of the node from there on, or for the node's last instruction.
static struct insn_id kept_for(struct dependence *dependence, struct insn_id insn,
                               struct class_id id)
{
    struct node_id node = dependence_insn_node(dependence, insn);
    struct event_list events =
        events_get(dependence, model_node(dependence->model, node)->function, id);
    uint32_t end, e = events_from(events, insn);

    node_first_insn(dependence, node, &end);
    if (e < events.count && events.data[e].insn.value < end)
        return events.data[e].insn;
    return (struct insn_id){end - 1};
}

void dependence_reaching(struct dependence *dependence, struct insn_id insn, struct class_id id,
                         const struct reaching_limits *limits, struct definitions *ret)
{
    if (limits) {
        search_from(dependence, insn, id, limits, false, ret);
        return;
    }
    uint64_t key = (uint64_t)kept_for(dependence, insn, id).value << 32 | id.value;
    const struct definitions *known = definitions_map_get(&dependence->definitions, key);
    if (!known) {
        struct definitions found;
        search_from(dependence, insn, id, NULL, false, &found);
        struct definitions *place = definitions_map_put(&dependence->definitions, key);
        *place = found;
        known = place;
    }
    *ret = *known;
    copy_insns(&ret->writers, &known->writers);
    copy_insns(&ret->calls, &known->calls);
    copy_insns(&ret->jumps, &known->jumps);
}

void dependence_reaching_callee(struct dependence *dependence, struct insn_id insn,
                                struct class_id id, const struct reaching_limits *limits,
                                struct definitions *ret)
{
    search_from(dependence, insn, id, limits, true, ret);
}

static void search_ends(struct dependence *dependence, struct function_id function,
                        struct class_id id, const struct reaching_limits *limits, bool by_jump,
                        struct definitions *ret)
{
    struct search search;

    search_init(&search, dependence, function, id, limits, ret);
    for (uint32_t n = 0; n < search.flow->node_count; n++)
        if (dependence->model->nodes[search.flow->first_node + n].flags &
            (by_jump ? NODE_RESUME : NODE_RETURN))
            push(&search, n, WAY_WHOLE);
    if (by_jump)
        push_jumps(&search);
    search_run(&search);
}

void dependence_reaching_exit(struct dependence *dependence, struct function_id function,
                              struct class_id id, const struct reaching_limits *limits,
                              struct definitions *ret)
{
    search_ends(dependence, function, id, limits, false, ret);
}

void dependence_reaching_jump(struct dependence *dependence, struct function_id function,
                              struct class_id id, const struct reaching_limits *limits,
                              struct definitions *ret)
{
    search_ends(dependence, function, id, limits, true, ret);
}

void definitions_deinit(struct definitions *definitions)
{
    insn_vec_deinit(&definitions->writers);
    insn_vec_deinit(&definitions->calls);
    insn_vec_deinit(&definitions->jumps);
}

struct insn_list dependence_asynchronous(struct dependence *dependence, struct function_id function,
                                         struct class_id id)
{
    return async_list(dependence, function, id, true);
}

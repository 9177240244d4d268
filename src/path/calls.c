// SPDX-License-Identifier: Apache-2.0
#include "path/calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "path/queue.h"

// Of `how`: a handler did it, not a callee.
#define BY_HANDLER (1u << 3)
// What is longer is as good as not there; sums of two fit into 32 bits.
#define LENGTH_MOST (UINT32_C(1) << 30)

static const uint32_t flag_of_end[CALL_END_COUNT] = {FLOW_BEHIND, FLOW_LANDS};

struct search {
    struct calls *calls;
    struct path_queue queue; // nodes; behind them ends: node_count + function * 2 + kind
    bool *settled;           // as they are numbered in the queue
    // The settled nodes that call a set, as lists: by set the first, by node the next.
    uint32_t *first_caller, *next_caller;
};

static uint32_t *filled(size_t count)
{
    uint32_t *ids = xmalloc_array(count + 1, sizeof(*ids));

    memset(ids, 0xff, (count + 1) * sizeof(*ids));
    return ids;
}

static void reach(struct search *search, uint32_t from, uint32_t how, uint32_t node,
                  uint32_t length)
{
    struct calls *calls = search->calls;

    if (length >= calls->length[node] || length > LENGTH_MOST ||
        bitset_test(calls->facts.blocked, node))
        return;
    calls->length[node] = length;
    calls->before[node] = from;
    calls->how[node] = (uint8_t)how;
    path_queue_push(&search->queue, length, node);
}

static void end_function(struct search *search, uint32_t node, enum call_end end, uint32_t how,
                         uint32_t length)
{
    struct calls *calls = search->calls;
    uint32_t f = calls->flow->node_function[node];

    if (length >= calls->ends[end][f] || length > LENGTH_MOST)
        return;
    calls->ends[end][f] = length;
    calls->end_node[end][f] = node;
    calls->end_how[end][f] = (uint8_t)how;
    path_queue_push(&search->queue, length, calls->flow->node_count + f * 2 + end);
}

// What the node called has ended, behind so many nodes.
static void callee_ended(struct search *search, uint32_t node, enum call_end end, uint32_t how,
                         uint32_t callee)
{
    struct calls *calls = search->calls;
    uint32_t length = calls->length[node] + callee;
    struct flow_edges next = flow_edges(calls->flow, node);

    for (uint32_t k = 0; k < next.count && !bitset_test(calls->facts.closed, node); k++)
        if (next.data[k].flags & flag_of_end[end])
            reach(search, node, how, next.data[k].target, length + 1);
    if (end == CALL_JUMPS)
        end_function(search, node, CALL_JUMPS, how, length);
}

static void settle_node(struct search *search, uint32_t node)
{
    struct calls *calls = search->calls;
    const struct flow *flow = calls->flow;
    uint32_t length = calls->length[node], set = flow->node_set[node];
    struct flow_edges next = flow_edges(flow, node);

    if (flow->signals != FLOW_NONE && search->settled[flow->node_count + flow->signals * 2 + 1])
        callee_ended(search, node, CALL_JUMPS, FLOW_LANDS | BY_HANDLER,
                     calls->ends[CALL_JUMPS][flow->signals]);
    if (bitset_test(calls->facts.closed, node))
        return;
    if (flow->node_flags[node] & FLOW_RETURNS)
        end_function(search, node, CALL_RETURNS, 0, length);
    if (flow->node_flags[node] & FLOW_JUMPS)
        end_function(search, node, CALL_JUMPS, 0, length);
    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & FLOW_PAST)
            reach(search, node, FLOW_PAST, next.data[k].target, length + 1);
    if (!set)
        return;
    search->next_caller[node] = search->first_caller[set];
    search->first_caller[set] = node;
    for (enum call_end end = 0; end < CALL_END_COUNT; end++)
        if (calls->set_ends[end][set] != CALLS_FAR)
            callee_ended(search, node, end, flag_of_end[end], calls->set_ends[end][set]);
}

static void settle_end(struct search *search, uint32_t function, enum call_end end)
{
    struct calls *calls = search->calls;
    const struct flow *flow = calls->flow;
    uint32_t length = calls->ends[end][function];

    for (uint32_t i = calls->in_start[function]; i < calls->in_start[function + 1]; i++) {
        uint32_t set = calls->in_sets[i];

        if (calls->set_ends[end][set] != CALLS_FAR)
            continue;
        calls->set_ends[end][set] = length;
        calls->set_best[end][set] = function;
        for (uint32_t n = search->first_caller[set]; n != FLOW_NONE; n = search->next_caller[n])
            callee_ended(search, n, end, flag_of_end[end], length);
    }
    for (uint32_t n = 0; function == flow->signals && end == CALL_JUMPS && n < flow->node_count;
         n++)
        if (search->settled[n])
            callee_ended(search, n, CALL_JUMPS, FLOW_LANDS | BY_HANDLER, length);
}

static void find_lengths(struct search *search)
{
    const struct flow *flow = search->calls->flow;

    for (uint32_t f = 0; f < flow->function_count; f++)
        if (flow->functions[f].node_count)
            reach(search, FLOW_NONE, 0, flow->functions[f].entry, 1);
    for (struct path_queue_entry entry; path_queue_pop(&search->queue, &entry);) {
        if (search->settled[entry.id])
            continue;
        search->settled[entry.id] = true;
        if (entry.id < flow->node_count)
            settle_node(search, entry.id);
        else
            settle_end(search, (entry.id - flow->node_count) / 2,
                       (enum call_end)((entry.id - flow->node_count) % 2));
    }
}

// ---- What matters

// Can a completed call of the node's function go on from the node by such an edge?
static bool takes(const struct calls *calls, uint32_t node, uint32_t flags)
{
    const struct flow *flow = calls->flow;
    uint32_t set = flow->node_set[node];
    bool handler_jumps =
        flow->signals != FLOW_NONE && calls->ends[CALL_JUMPS][flow->signals] != CALLS_FAR;

    if (bitset_test(calls->facts.closed, node))
        return false;
    return flags & FLOW_PAST ||
           (flags & FLOW_BEHIND && calls->set_ends[CALL_RETURNS][set] != CALLS_FAR) ||
           (flags & FLOW_LANDS && (calls->set_ends[CALL_JUMPS][set] != CALLS_FAR || handler_jumps));
}

static bool is_end(const struct calls *calls, uint32_t node)
{
    const struct flow *flow = calls->flow;

    if (flow->signals != FLOW_NONE && calls->ends[CALL_JUMPS][flow->signals] != CALLS_FAR)
        return true;
    return !bitset_test(calls->facts.closed, node) &&
           (flow->node_flags[node] & (FLOW_RETURNS | FLOW_JUMPS) ||
            calls->set_ends[CALL_JUMPS][flow->node_set[node]] != CALLS_FAR);
}

// Backwards from the ends. Edges by target are made for it.
static void find_onward(struct calls *calls)
{
    const struct flow *flow = calls->flow;
    uint32_t total = flow->edge_start[flow->node_count], count = 0;
    uint32_t *start = xcalloc(flow->node_count + 2u, sizeof(*start));
    uint32_t *source = xmalloc_array(total + 1u, sizeof(*source));
    uint32_t *work = xmalloc_array(flow->node_count + 1u, sizeof(*work));

    for (uint32_t e = 0; e < total; e++)
        start[flow->edges[e].target + 2]++;
    for (uint32_t n = 0; n < flow->node_count; n++)
        start[n + 2] += start[n + 1];
    for (uint32_t n = 0; n < flow->node_count; n++)
        for (uint32_t e = flow->edge_start[n]; e < flow->edge_start[n + 1]; e++)
            if (calls->length[n] != CALLS_FAR && takes(calls, n, flow->edges[e].flags))
                source[start[flow->edges[e].target + 1]++] = n;
            else
                source[start[flow->edges[e].target + 1]++] = FLOW_NONE;
    bitset_init(&calls->onward, flow->node_count);
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (calls->length[n] != CALLS_FAR && is_end(calls, n)) {
            bitset_set(&calls->onward, n);
            work[count++] = n;
        }
    while (count) {
        uint32_t node = work[--count];

        for (uint32_t e = start[node]; e < start[node + 1]; e++)
            if (source[e] != FLOW_NONE && !bitset_test_and_set(&calls->onward, source[e]))
                work[count++] = source[e];
    }
    free(start);
    free(source);
    free(work);
}

static void note(struct calls *calls, uint32_t function, struct path_id_vec *work)
{
    if (!bitset_test_and_set(&calls->matters, function))
        path_id_vec_push(work, function);
}

// By set: the nodes on the way that call it, in lists.
static void find_matters(struct calls *calls, struct search *search)
{
    const struct flow *flow = calls->flow;
    struct path_id_vec work = VEC_INIT;
    bool *told = xcalloc(flow->set_count + 1u, sizeof(*told));

    bitset_init(&calls->matters, flow->function_count);
    memset(search->first_caller, 0xff, (flow->set_count + 1u) * sizeof(uint32_t));
    for (uint32_t n = 0; n < flow->node_count; n++) {
        uint32_t set = flow->node_set[n];

        if (!bitset_test(&calls->onward, n))
            continue;
        if (bitset_test(calls->facts.noticed, n))
            note(calls, flow->node_function[n], &work);
        if (!set || bitset_test(calls->facts.closed, n))
            continue;
        search->next_caller[n] = search->first_caller[set];
        search->first_caller[set] = n;
    }
    while (work.length) {
        uint32_t f = path_id_vec_pop(&work);

        for (uint32_t i = calls->in_start[f]; i < calls->in_start[f + 1]; i++) {
            uint32_t set = calls->in_sets[i];

            for (uint32_t n = search->first_caller[set]; !told[set] && n != FLOW_NONE;
                 n = search->next_caller[n])
                note(calls, flow->node_function[n], &work);
            told[set] = true;
        }
    }
    // handlers come at any node
    calls->handlers_matter =
        flow->signals != FLOW_NONE && (bitset_test(&calls->matters, flow->signals) ||
                                       calls->ends[CALL_JUMPS][flow->signals] != CALLS_FAR);
    if (calls->handlers_matter)
        bitset_set_all(&calls->matters);
    path_id_vec_deinit(&work);
    free(told);
}

void calls_init(struct calls *calls, const struct calls_facts *facts)
{
    const struct flow *flow = facts->flow;
    struct search search = {.calls = calls};

    *calls = (struct calls){.facts = *facts, .flow = flow};
    flow_sets_of_functions(calls->flow, &calls->in_start, &calls->in_sets);
    calls->length = filled(flow->node_count);
    calls->before = filled(flow->node_count);
    calls->how = xcalloc(flow->node_count + 1u, 1);
    for (enum call_end end = 0; end < CALL_END_COUNT; end++) {
        calls->ends[end] = filled(flow->function_count);
        calls->end_node[end] = filled(flow->function_count);
        calls->end_how[end] = xcalloc(flow->function_count + 1u, 1);
        calls->set_ends[end] = filled(flow->set_count);
        calls->set_best[end] = filled(flow->set_count);
    }
    search.settled = xcalloc(flow->node_count + flow->function_count * (size_t)2 + 1u, 1);
    search.first_caller = filled(flow->set_count);
    search.next_caller = filled(flow->node_count);
    find_lengths(&search);
    find_onward(calls);
    find_matters(calls, &search);
    path_queue_deinit(&search.queue);
    free(search.settled);
    free(search.first_caller);
    free(search.next_caller);
}

void calls_deinit(struct calls *calls)
{
    free(calls->in_start);
    free(calls->in_sets);
    free(calls->length);
    free(calls->before);
    free(calls->how);
    for (enum call_end end = 0; end < CALL_END_COUNT; end++) {
        free(calls->ends[end]);
        free(calls->end_node[end]);
        free(calls->end_how[end]);
        free(calls->set_ends[end]);
        free(calls->set_best[end]);
    }
    bitset_deinit(&calls->onward);
    bitset_deinit(&calls->matters);
}

// ---- Telling

// What is still to be told, backwards: an event, or a node with all that leads to it, or the end of
// a function.
struct told {
    enum { TOLD_EVENT, TOLD_NODE, TOLD_RETURN, TOLD_JUMP } kind;
    struct run_event event; // or .node, .function
};
VEC_DEFINE(told_vec, struct told);

// The call at `node` that ended so, and what led to the node.
static void tell_call(const struct calls *calls, uint32_t node, uint32_t how, struct told_vec *todo,
                      struct path_event_vec *events)
{
    const struct flow *flow = calls->flow;
    enum call_end end = how & FLOW_LANDS ? CALL_JUMPS : CALL_RETURNS;
    uint32_t callee = how & BY_HANDLER ? flow->signals : calls->set_best[end][flow->node_set[node]];
    struct told inside = {.kind = end == CALL_JUMPS ? TOLD_JUMP : TOLD_RETURN,
                          .event = {.function = callee}};

    path_event_vec_push(events, (struct run_event){RUN_LEAVE, node, callee, 0});
    told_vec_push(todo, (struct told){TOLD_NODE, {.node = node}});
    told_vec_push(todo, (struct told){TOLD_EVENT, {RUN_CALL, node, callee, 0}});
    told_vec_push(todo, inside);
}

static void tell_one(const struct calls *calls, struct told told, struct told_vec *todo,
                     struct path_event_vec *events)
{
    uint32_t node = told.event.node, how;

    if (told.kind == TOLD_EVENT) {
        path_event_vec_push(events, told.event);
        return;
    }
    if (told.kind != TOLD_NODE) {
        enum call_end end = told.kind == TOLD_JUMP ? CALL_JUMPS : CALL_RETURNS;

        assert(calls->ends[end][told.event.function] != CALLS_FAR);
        node = calls->end_node[end][told.event.function];
        how = calls->end_how[end][told.event.function];
        if (how)
            tell_call(calls, node, how, todo, events);
        else
            told_vec_push(todo, (struct told){TOLD_NODE, {.node = node}});
        return;
    }
    path_event_vec_push(events, (struct run_event){RUN_STEP, node, FLOW_NONE, 0});
    if (calls->before[node] == FLOW_NONE)
        return;
    how = calls->how[node];
    if (how == FLOW_PAST)
        told_vec_push(todo, (struct told){TOLD_NODE, {.node = calls->before[node]}});
    else
        tell_call(calls, calls->before[node], how, todo, events);
}

void calls_tell(const struct calls *calls, uint32_t function, enum call_end end,
                struct path_event_vec *events)
{
    struct told_vec todo = VEC_INIT;
    size_t first = events->length;

    told_vec_push(
        &todo, (struct told){end == CALL_JUMPS ? TOLD_JUMP : TOLD_RETURN, {.function = function}});
    while (todo.length)
        tell_one(calls, told_vec_pop(&todo), &todo, events);
    told_vec_deinit(&todo);
    for (size_t i = first, k = events->length; i + 1 < k; i++) {
        struct run_event event = events->data[i];

        events->data[i] = events->data[--k];
        events->data[k] = event;
    }
}

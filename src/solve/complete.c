// SPDX-License-Identifier: Apache-2.0
#include "solve/complete.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

// Of function_ends, while searching: it is on the list.
#define FUNCTION_JUMPS_LATER (1u << 7)

struct search {
    struct complete *complete;
    uint32_t *work; // nodes reached and not looked at
    uint32_t work_count;
    uint32_t *jumped; // functions that a callee's jump leaves, not looked at
    uint32_t jumped_count;
    // The reached nodes that call a set, as lists: by set the first, by node the next.
    uint32_t *first_caller, *next_caller;
};

static void reach(struct search *search, uint32_t node)
{
    if (!bitset_test_and_set(&search->complete->reached, node))
        search->work[search->work_count++] = node;
}

// Chains of jumps are as long as the call graph is deep: not by recursion.
static void jump(struct search *search, uint32_t function)
{
    if (search->complete->function_ends[function] & FUNCTION_JUMPS_LATER)
        return;
    search->complete->function_ends[function] |= FUNCTION_JUMPS_LATER;
    search->jumped[search->jumped_count++] = function;
}

// A callee of the node has ended in a new way.
static void callee_ended(struct search *search, uint32_t node, uint32_t how)
{
    const struct flow *flow = search->complete->flow;
    struct flow_edges next = flow_edges(flow, node);

    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & how)
            reach(search, next.data[k].target);
    if (how == FLOW_LANDS)
        jump(search, flow->node_function[node]);
}

// A handler has jumped while control was at the node.
static void interrupted(struct search *search, uint32_t node)
{
    if (bitset_test(search->complete->closed, node))
        jump(search, search->complete->flow->node_function[node]);
    else
        callee_ended(search, node, FLOW_LANDS);
}

static void function_ends(struct search *search, uint32_t function, uint32_t how)
{
    struct complete *complete = search->complete;

    if (complete->function_ends[function] & how)
        return;
    complete->function_ends[function] |= (uint8_t)how;
    if (function == complete->flow->signals) {
        complete->signal_ends |= (uint8_t)how;
        for (uint32_t n = 0; how == FLOW_LANDS && n < complete->flow->node_count; n++)
            if (bitset_test(&complete->reached, n))
                interrupted(search, n);
    }
    for (uint32_t i = complete->in_start[function]; i < complete->in_start[function + 1]; i++) {
        uint32_t set = complete->in_sets[i];

        if (complete->set_ends[set] & how)
            continue;
        complete->set_ends[set] |= (uint8_t)how;
        for (uint32_t n = search->first_caller[set]; n != FLOW_NONE; n = search->next_caller[n])
            callee_ended(search, n, how);
    }
}

static void look_at(struct search *search, uint32_t node)
{
    struct complete *complete = search->complete;
    const struct flow *flow = complete->flow;
    uint32_t function = flow->node_function[node], set = flow->node_set[node];
    struct flow_edges next = flow_edges(flow, node);

    if (bitset_test(complete->closed, node)) {
        if (complete->signal_ends & FLOW_LANDS)
            jump(search, function);
        return;
    }
    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & FLOW_PAST)
            reach(search, next.data[k].target);
    if (flow->node_flags[node] & FLOW_RETURNS)
        function_ends(search, function, FLOW_BEHIND);
    if (flow->node_flags[node] & FLOW_JUMPS)
        jump(search, function);
    if (complete->signal_ends & FLOW_LANDS)
        callee_ended(search, node, FLOW_LANDS);
    if (!set)
        return;
    search->next_caller[node] = search->first_caller[set];
    search->first_caller[set] = node;
    for (uint32_t how = FLOW_BEHIND; how <= FLOW_LANDS; how <<= 1)
        if (complete->set_ends[set] & how)
            callee_ended(search, node, how);
}

void complete_init(struct complete *complete, const struct flow *flow, const struct bitset *closed)
{
    struct search search = {.complete = complete};

    *complete = (struct complete){.flow = flow, .closed = closed};
    flow_sets_of_functions(complete->flow, &complete->in_start, &complete->in_sets);
    complete->function_ends = xcalloc(flow->function_count + 1u, 1);
    complete->set_ends = xcalloc(flow->set_count + 1u, 1);
    bitset_init(&complete->reached, flow->node_count);
    search.work = xmalloc_array(flow->node_count + 1u, sizeof(uint32_t));
    search.jumped = xmalloc_array(flow->function_count + 1u, sizeof(uint32_t));
    search.first_caller = xmalloc_array(flow->set_count + 1u, sizeof(uint32_t));
    search.next_caller = xmalloc_array(flow->node_count + 1u, sizeof(uint32_t));
    memset(search.first_caller, 0xff, flow->set_count * sizeof(uint32_t));
    for (uint32_t f = 0; f < flow->function_count; f++)
        if (flow->functions[f].node_count)
            reach(&search, flow->functions[f].entry);
    while (search.work_count || search.jumped_count)
        if (search.jumped_count)
            function_ends(&search, search.jumped[--search.jumped_count], FLOW_LANDS);
        else
            look_at(&search, search.work[--search.work_count]);
    for (uint32_t f = 0; f < flow->function_count; f++)
        complete->function_ends[f] &= FLOW_BEHIND | FLOW_LANDS;
    free(search.work);
    free(search.jumped);
    free(search.first_caller);
    free(search.next_caller);
}

void complete_deinit(struct complete *complete)
{
    free(complete->in_start);
    free(complete->in_sets);
    free(complete->function_ends);
    free(complete->set_ends);
    bitset_deinit(&complete->reached);
}

// SPDX-License-Identifier: Apache-2.0
#include "solve/consequence.h"

#include <stdlib.h>

#include "analysis/digraph.h"
#include "common/alloc.h"

struct consequence {
    const struct consequence_problem *problem;
    const struct flow *flow;
    struct bitset *certain;
    struct bitset returned; // by function: a call of it has returned
    struct bitset waiting;  // by function: in the list
    uint32_t *list;         // of functions that something new is known of
    uint32_t list_count;
};

static void look_again(struct consequence *c, uint32_t function)
{
    if (!bitset_test_and_set(&c->waiting, function))
        c->list[c->list_count++] = function;
}

static bool is_closed(const struct consequence *c, uint32_t node)
{
    return bitset_test(c->problem->closed, node);
}

// Control went on from the node: if it can only have been called one function, that has returned.
static void call_returned(struct consequence *c, uint32_t node)
{
    struct flow_callees callees = flow_callees(c->flow, node);
    struct flow_edges edges = flow_edges(c->flow, node);

    if (callees.count != 1 || is_closed(c, node))
        return;
    for (uint32_t e = 0; e < edges.count; e++)
        if (edges.data[e].flags != FLOW_BEHIND)
            return;
    if (!bitset_test_and_set(&c->returned, callees.data[0]))
        look_again(c, callees.data[0]);
}

// The function's graph without what leads on from closed nodes. Behind the nodes: its end.
static void build_graph(const struct consequence *c, const struct flow_function *f,
                        struct digraph *graph)
{
    digraph_init(graph, f->node_count + 1);
    for (uint32_t i = 0; i < f->node_count; i++) {
        uint32_t node = f->first_node + i;
        struct flow_edges edges = flow_edges(c->flow, node);

        for (uint32_t e = 0; e < edges.count && !is_closed(c, node); e++)
            digraph_add(graph, i, edges.data[e].target - f->first_node);
    }
}

static void add_returns(const struct consequence *c, const struct flow_function *f,
                        struct digraph *graph)
{
    for (uint32_t i = 0; i < f->node_count; i++)
        if (c->flow->node_flags[f->first_node + i] & FLOW_RETURNS &&
            !is_closed(c, f->first_node + i))
            digraph_add(graph, i, f->node_count);
}

static void add_stands(const struct consequence *c, const struct flow_function *f,
                       struct digraph *graph)
{
    for (uint32_t i = 0; i < f->node_count; i++)
        if (bitset_test(c->problem->stands, f->first_node + i))
            digraph_add(graph, i, f->node_count);
}

// All that dominates node `i`; `passed`: they have been passed, so that their calls returned.
static void add_dominators(struct consequence *c, const struct flow_function *f,
                           const uint32_t *dominator, uint32_t i, bool passed)
{
    if (dominator[i] == DIGRAPH_NONE)
        return;
    while (dominator[i] != i) {
        i = dominator[i];
        if (i == f->node_count) // the end
            return;
        if (!bitset_test_and_set(c->certain, f->first_node + i))
            look_again(c, c->flow->node_function[f->first_node]);
        if (passed)
            call_returned(c, f->first_node + i);
    }
}

static void look_back(struct consequence *c, uint32_t function)
{
    const struct flow_function *f = &c->flow->functions[function];
    struct digraph graph, reverse;

    build_graph(c, f, &graph);
    add_returns(c, f, &graph);
    digraph_close(&graph);
    digraph_init_reverse(&reverse, &graph);
    uint32_t *dominator = digraph_dominators(&graph, &reverse, f->entry - f->first_node);
    for (uint32_t i = 0; i < f->node_count; i++)
        if (bitset_test(c->certain, f->first_node + i))
            add_dominators(c, f, dominator, i, true);
    if (bitset_test(&c->returned, function))
        add_dominators(c, f, dominator, f->node_count, true);
    free(dominator);
    digraph_deinit(&graph);
    digraph_deinit(&reverse);
}

static void look_ahead(struct consequence *c, uint32_t function)
{
    const struct flow_function *f = &c->flow->functions[function];
    struct digraph graph, reverse;

    build_graph(c, f, &graph);
    if (!bitset_test(c->problem->once, function))
        add_returns(c, f, &graph);
    add_stands(c, f, &graph);
    digraph_close(&graph);
    digraph_init_reverse(&reverse, &graph);
    uint32_t *dominator = digraph_dominators(&reverse, &graph, f->node_count);
    for (uint32_t i = 0; i < f->node_count; i++) {
        if (!bitset_test(c->certain, f->first_node + i))
            continue;
        add_dominators(c, f, dominator, i, false);
        if (!bitset_test(c->problem->stands, f->first_node + i))
            call_returned(c, f->first_node + i);
    }
    free(dominator);
    digraph_deinit(&graph);
    digraph_deinit(&reverse);
}

void consequence_add(const struct consequence_problem *problem, struct bitset *certain)
{
    const struct flow *flow = problem->flow;
    struct consequence c = {.problem = problem, .flow = flow, .certain = certain};

    bitset_init(&c.returned, flow->function_count);
    bitset_init(&c.waiting, flow->function_count);
    c.list = xmalloc_array(flow->function_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (bitset_test(certain, n))
            look_again(&c, flow->node_function[n]);
    while (c.list_count) {
        uint32_t function = c.list[--c.list_count];

        bitset_clear(&c.waiting, function);
        if (problem->accounted || bitset_test(problem->once, function))
            look_ahead(&c, function);
        look_back(&c, function);
    }
    bitset_deinit(&c.returned);
    bitset_deinit(&c.waiting);
    free(c.list);
}

// SPDX-License-Identifier: Apache-2.0
#include "solve/utl.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "solve/utl_chain.h"

/*
 * The context-insensitive graph: the flow's nodes first; then for each set of callees where its
 * calls enter it, where they return and where their jumps come out; for each function where it has
 * returned and where a jump leaves it; for each pending call a node on its edge; and the end.
 * Signal handlers are called from the start only: where a return may go to any call, they would
 * lead from everywhere to everywhere.
 */
struct layout {
    uint32_t set_in, set_out, set_jump, function_out, function_jump, links, end, count;
};

static struct layout layout_of(const struct utl_problem *problem)
{
    const struct flow *flow = problem->flow;
    struct layout layout;

    layout.set_in = flow->node_count;
    layout.set_out = layout.set_in + flow->set_count;
    layout.set_jump = layout.set_out + flow->set_count;
    layout.function_out = layout.set_jump + flow->set_count;
    layout.function_jump = layout.function_out + flow->function_count;
    layout.links = layout.function_jump + flow->function_count;
    layout.end = layout.links + problem->link_count;
    layout.count = layout.end + 1;
    return layout;
}

static void add_node(const struct utl_problem *problem, const struct layout *layout,
                     struct digraph *graph, uint32_t node)
{
    const struct flow *flow = problem->flow;
    uint32_t set = flow->node_set[node], function = flow->node_function[node];
    struct flow_edges next = flow_edges(flow, node);

    // a handler that does not come back may have come here
    if (flow->signals != FLOW_NONE && flow->has_jumps) {
        digraph_add(graph, node, layout->function_jump + function);
        for (uint32_t k = 0; k < next.count; k++)
            if (next.data[k].flags & FLOW_LANDS)
                digraph_add(graph, node, next.data[k].target);
    }
    if (bitset_test(problem->closed, node))
        return;
    if (flow->node_flags[node] & FLOW_RETURNS)
        digraph_add(graph, node, layout->function_out + function);
    if (flow->node_flags[node] & FLOW_JUMPS)
        digraph_add(graph, node, layout->function_jump + function);
    for (uint32_t k = 0; k < next.count; k++) {
        uint32_t target = next.data[k].target, flags = next.data[k].flags;

        if (flags & FLOW_PAST)
            digraph_add(graph, node, target);
        if (set && flags & FLOW_BEHIND)
            digraph_add(graph, layout->set_out + set, target);
        if (set && flags & FLOW_LANDS)
            digraph_add(graph, layout->set_jump + set, target);
        if (flow->signals != FLOW_NONE && flags & FLOW_LANDS)
            digraph_add(graph, layout->function_jump + flow->signals, target);
    }
    if (set) {
        digraph_add(graph, node, layout->set_in + set);
        digraph_add(graph, layout->set_jump + set, layout->function_jump + function);
    }
    if (flow->signals != FLOW_NONE && flow->has_jumps)
        digraph_add(graph, layout->function_jump + flow->signals, layout->function_jump + function);
}

static void add_sets(const struct flow *flow, const struct layout *layout, struct digraph *graph)
{
    for (uint32_t set = 1; set < flow->set_count; set++) {
        struct flow_callees members = flow_set(flow, set);

        for (uint32_t i = 0; i < members.count; i++) {
            uint32_t f = members.data[i];

            if (flow->functions[f].node_count)
                digraph_add(graph, layout->set_in + set, flow->functions[f].entry);
            digraph_add(graph, layout->function_out + f, layout->set_out + set);
            digraph_add(graph, layout->function_jump + f, layout->set_jump + set);
        }
    }
    if (flow->signals == FLOW_NONE)
        return;
    for (uint32_t s = 0; s < 2; s++) {
        uint32_t start = flow->functions[s ? flow->thread_start : flow->start].entry;

        digraph_add(graph, start, flow->functions[flow->signals].entry);
        digraph_add(graph, layout->function_out + flow->signals, start);
    }
}

static bool set_has(const struct flow *flow, uint32_t set, uint32_t function)
{
    struct flow_callees members = flow_set(flow, set);

    for (uint32_t i = 0; i < members.count; i++)
        if (members.data[i] == function)
            return true;
    return false;
}

static void add_links(const struct utl_problem *problem, const struct layout *layout,
                      struct digraph *graph)
{
    const struct flow *flow = problem->flow;

    for (uint32_t i = 0; i < problem->link_count; i++) {
        const struct utl_link *link = &problem->links[i];
        uint32_t on_edge = layout->links + i;

        for (uint32_t k = 0; k < link->count; k++) {
            bool gap = link->function == FLOW_NONE, calls = flow->node_set[link->nodes[k]] != 0;

            if (!gap || calls || link->is_direct || i + 1 == problem->link_count ||
                flow->signals != FLOW_NONE)
                digraph_add(graph, link->nodes[k], on_edge);
            if (gap && calls)
                digraph_add(graph, on_edge, layout->set_in + flow->node_set[link->nodes[k]]);
        }
        if (link->function == FLOW_NONE) {
            if (i + 1 == problem->link_count)
                digraph_add(graph, on_edge, layout->end);
            else if (link->is_direct)
                digraph_add(graph, on_edge, on_edge + 1);
            // a handler may be among the frames that are missing, but not before anything runs
            uint32_t nowhere = flow->functions[flow->any_start].entry;
            for (uint32_t n = 0; flow->signals != FLOW_NONE && n < flow->node_count; n++)
                if (n != nowhere)
                    digraph_add(graph, n, flow->functions[flow->signals].entry);
            if (flow->signals != FLOW_NONE && link->nodes[0] != nowhere)
                digraph_add(graph, on_edge, flow->functions[flow->signals].entry);
            continue;
        }
        digraph_add(graph, on_edge, flow->functions[link->function].entry);
        for (uint32_t set = 1; !link->count && set < flow->set_count; set++)
            if (set_has(flow, set, link->function))
                digraph_add(graph, layout->set_in + set, on_edge);
        // a handler may have come anywhere
        for (uint32_t n = 0;
             !link->count && link->function == flow->signals && n < flow->node_count; n++)
            if (n != flow->functions[flow->any_start].entry)
                digraph_add(graph, n, on_edge);
    }
    for (uint32_t i = 0; i < problem->end_count; i++)
        digraph_add(graph, problem->ends[i], layout->end);
    for (uint32_t n = 0; !problem->end_count && n < problem->flow->node_count; n++)
        digraph_add(graph, n, layout->end);
}

struct utl {
    struct layout layout;
    struct digraph graph;
    struct chain_trace *traces;
    uint32_t *links; // the trace of pending calls
    struct chain_problem chain;
};

static void utl_init(struct utl *utl, const struct utl_problem *problem)
{
    const struct flow *flow = problem->flow;

    utl->layout = layout_of(problem);
    digraph_init(&utl->graph, utl->layout.count);
    for (uint32_t n = 0; n < flow->node_count; n++)
        add_node(problem, &utl->layout, &utl->graph, n);
    add_sets(flow, &utl->layout, &utl->graph);
    add_links(problem, &utl->layout, &utl->graph);
    digraph_close(&utl->graph);
    utl->traces = xmalloc_array(problem->trace_count + 2u, sizeof(*utl->traces));
    utl->links = xmalloc_array(problem->link_count + 1u, sizeof(*utl->links));
    for (uint32_t i = 0; i < problem->link_count; i++)
        utl->links[i] = utl->layout.links + i;
    utl->traces[0] = (struct chain_trace){utl->links, problem->link_count};
    for (uint32_t t = 0; t < problem->trace_count; t++)
        utl->traces[t + 1] =
            (struct chain_trace){problem->traces[t].nodes, problem->traces[t].count};
    utl->chain = (struct chain_problem){&utl->graph, flow->functions[problem->start].entry,
                                        utl->layout.end, utl->traces, problem->trace_count + 1};
}

static void utl_deinit(struct utl *utl)
{
    digraph_deinit(&utl->graph);
    free(utl->traces);
    free(utl->links);
}

bool utl_possible(const struct utl_problem *problem)
{
    struct utl utl;

    utl_init(&utl, problem);
    bool possible = chain_possible(&utl.chain, DIGRAPH_NONE);
    utl_deinit(&utl);
    return possible;
}

void utl_cover(const struct utl_problem *problem, struct budget *budget, struct utl_coverage *ret)
{
    struct utl utl;

    *ret = (struct utl_coverage){.complete = true};
    utl_init(&utl, problem);
    bitset_init(&ret->may, utl.layout.count);
    bitset_init(&ret->must, utl.layout.count);
    ret->possible = chain_cover(&utl.chain, budget, &ret->may, &ret->must, &ret->complete);
    bitset_resize(&ret->may, problem->flow->node_count);
    bitset_resize(&ret->must, problem->flow->node_count);
    utl_deinit(&utl);
}

void utl_coverage_deinit(struct utl_coverage *coverage)
{
    bitset_deinit(&coverage->may);
    bitset_deinit(&coverage->must);
}

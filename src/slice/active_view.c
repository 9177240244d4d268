// SPDX-License-Identifier: Apache-2.0
// One pending activation: what can have run in it, and what must have.
#include <stdlib.h>

#include "analysis/digraph.h"
#include "ask/case.h"
#include "common/alloc.h"
#include "common/vec.h"
#include "slice/active_internal.h"

bool active_crosses(const struct ask_case *ask, bool closed, const struct flow_edge *edge)
{
    return !closed || (ask->flow->signals != FLOW_NONE && edge->flags & FLOW_LANDS);
}

// ---- Reachability

struct search {
    const struct ask_case *ask;
    const struct view *view;
    bool free;
    uint32_t *work, count;
};

static bool is_open(const struct search *search, uint32_t copy, uint32_t e)
{
    const struct view *view = search->view;
    bool closed = view->closed[copy] || bitset_test(&search->ask->closed, view->node[copy]);

    return search->free || active_crosses(search->ask, closed, &view->edges[e]);
}

static void come(struct search *search, bool *seen, uint32_t copy)
{
    bool absent = bitset_test(&search->ask->absent, search->view->node[copy]) && !search->free;

    if (seen[copy] || absent)
        return;
    seen[copy] = true;
    search->work[search->count++] = copy;
}

static void go_forward(struct search *search, bool *seen)
{
    const struct view *view = search->view;

    for (uint32_t i = 0; i < view->start_count; i++)
        come(search, seen, view->start[i]);
    while (search->count) {
        uint32_t copy = search->work[--search->count];

        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (is_open(search, copy, e))
                come(search, seen, view->edges[e].target);
    }
}

// Keeps of what was reached forward what leads to an end.
static void go_backward(struct search *search, const bool *reached, bool *seen)
{
    const struct view *view = search->view;
    struct digraph reverse;

    digraph_init(&reverse, view->count);
    for (uint32_t copy = 0; copy < view->count; copy++)
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (reached[copy] && reached[view->edges[e].target] && is_open(search, copy, e))
                digraph_add(&reverse, view->edges[e].target, copy);
    digraph_close(&reverse);
    for (uint32_t i = 0; i < view->end_count; i++)
        if (reached[view->end[i]])
            come(search, seen, view->end[i]);
    while (search->count) {
        uint32_t copy = search->work[--search->count];

        for (uint32_t e = reverse.start[copy]; e < reverse.start[copy + 1]; e++)
            come(search, seen, reverse.target[e]);
    }
    digraph_deinit(&reverse);
}

void active_reach_init(struct active_reach *reach, const struct ask_case *ask,
                       const struct view *view, bool free_of_calls)
{
    struct search search = {.ask = ask, .view = view, .free = free_of_calls};
    bool *forward = xcalloc(view->count + 1u, sizeof(bool));

    *reach = (struct active_reach){.possible = false};
    reach->copies = xcalloc(view->count + 1u, sizeof(bool));
    reach->edges = xcalloc(view->edge_start[view->count] + 1u, sizeof(bool));
    search.work = xmalloc_array(view->count + 1u, sizeof(uint32_t));
    go_forward(&search, forward);
    go_backward(&search, forward, reach->copies);
    for (uint32_t copy = 0; copy < view->count; copy++) {
        reach->possible |= reach->copies[copy];
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            reach->edges[e] = reach->copies[copy] && reach->copies[view->edges[e].target] &&
                              is_open(&search, copy, e);
    }
    free(forward);
    free(search.work);
}

void active_reach_deinit(struct active_reach *reach)
{
    free(reach->copies);
    free(reach->edges);
    *reach = (struct active_reach){0};
}

// ---- Certainty

// From one place to another, over an edge of the model or ACTIVE_NONE.
struct link {
    uint32_t from, to, edge;
};
VEC_DEFINE(link_vec, struct link);

// The places that every way from a start to an end passes, and the edges. A link is a place, too:
// places, links, the start, the end.
static void find_certain(uint32_t place_count, const struct link_vec *links, const bool *is_start,
                         const bool *is_end, bool *places, struct bitset *edges)
{
    uint32_t start = place_count + (uint32_t)links->length, end = start + 1;
    struct digraph graph, reverse;

    digraph_init(&graph, end + 1);
    for (uint32_t i = 0; i < links->length; i++) {
        digraph_add(&graph, links->data[i].from, place_count + i);
        digraph_add(&graph, place_count + i, links->data[i].to);
    }
    for (uint32_t p = 0; p < place_count; p++) {
        if (is_start[p])
            digraph_add(&graph, start, p);
        if (is_end[p])
            digraph_add(&graph, p, end);
    }
    digraph_close(&graph);
    digraph_init_reverse(&reverse, &graph);
    uint32_t *above = digraph_dominators(&graph, &reverse, start);
    for (uint32_t at = above[end]; at != start && at != DIGRAPH_NONE; at = above[at]) {
        if (at < place_count)
            places[at] = true;
        else if (links->data[at - place_count].edge != ACTIVE_NONE)
            bitset_set(edges, links->data[at - place_count].edge);
    }
    free(above);
    digraph_deinit(&graph);
    digraph_deinit(&reverse);
}

// The model's edge that going from one node to the other is sure to be: not where it may also be a
// jump.
static uint32_t edge_surely(const struct active *active, uint32_t from, uint32_t to)
{
    return active_is_jump(active, from, to) ? ACTIVE_NONE : active_edge(active, from, to);
}

static bool has_link(const struct link_vec *links, size_t first, uint32_t to)
{
    for (size_t i = first; i < links->length; i++)
        if (links->data[i].to == to)
            return true;
    return false;
}

// Ways through the graph of copies.
static void certain_copies(const struct active *active, const struct view *view,
                           const struct active_reach *reach, struct bitset *nodes,
                           struct bitset *edges)
{
    bool *is_start = xcalloc(3 * (view->count + 1u), sizeof(bool));
    bool *is_end = is_start + view->count + 1, *certain = is_end + view->count + 1;
    struct link_vec links = VEC_INIT;

    for (uint32_t copy = 0; copy < view->count; copy++) {
        size_t first = links.length;

        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++) {
            uint32_t to = view->edges[e].target;

            if (reach->edges[e] && !has_link(&links, first, to))
                link_vec_push(
                    &links,
                    (struct link){copy, to, edge_surely(active, view->node[copy], view->node[to])});
        }
    }
    for (uint32_t i = 0; i < view->start_count; i++)
        is_start[view->start[i]] = reach->copies[view->start[i]];
    for (uint32_t i = 0; i < view->end_count; i++)
        is_end[view->end[i]] = reach->copies[view->end[i]];
    find_certain(view->count, &links, is_start, is_end, certain, edges);
    for (uint32_t copy = 0; copy < view->count; copy++)
        if (certain[copy])
            bitset_set(nodes, view->node[copy]);
    link_vec_deinit(&links);
    free(is_start);
}

void active_certain(const struct active *active, const struct view *view,
                    const struct active_reach *reach, struct bitset *nodes, struct bitset *edges)
{
    certain_copies(active, view, reach, nodes, edges);
    for (uint32_t i = 0; i < view->ran_count; i++)
        bitset_set(nodes, view->ran[i]);
}

// SPDX-License-Identifier: Apache-2.0
#include "path/bounds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"

// Sums of two stay below BOUNDS_FAR.
#define LENGTH_MOST (UINT32_C(1) << 30)

// One search: lengths by number, only ever smaller.
struct nearest {
    uint32_t *length;
    struct path_queue queue;
};

static void nearer(struct nearest *nearest, uint32_t id, uint64_t length)
{
    if (length < nearest->length[id] && length <= LENGTH_MOST) {
        nearest->length[id] = (uint32_t)length;
        path_queue_push(&nearest->queue, length, id);
    }
}

// The next one whose length is final.
static bool take(struct nearest *nearest, struct bounds *bounds, uint32_t *ret)
{
    for (struct path_queue_entry entry; path_queue_pop(&nearest->queue, &entry);) {
        if (entry.key != nearest->length[entry.id])
            continue;
        if (budget_is_spent(bounds->budget)) {
            bounds->complete = false;
            return false;
        }
        *ret = entry.id;
        return true;
    }
    return false;
}

static uint32_t *all_far(size_t count)
{
    uint32_t *lengths = xmalloc_array(count + 1, sizeof(*lengths));

    memset(lengths, 0xff, (count + 1) * sizeof(*lengths));
    return lengths;
}

static const struct graph_edge *edge_at(const struct bounds *bounds, uint32_t edge)
{
    return &bounds->graph->edges.data[edge];
}

static uint64_t bits_of(const struct bounds *bounds, const struct graph_edge *edge)
{
    return bounds->graph->masks.data[edge->mask];
}

static bool has(const struct bounds *bounds, const struct graph_edge *edge, uint32_t bit)
{
    return bits_of(bounds, edge) >> bit & 1;
}

static uint64_t entry_bits(const struct bounds *bounds, uint32_t entry)
{
    const struct graph *graph = bounds->graph;

    return marks_of_node(graph->marks, graph->vertices.data[entry].node) & ~graph->marks->assumed;
}

// What an edge takes, with the completed call; far where that cannot be completed.
static uint64_t cost_of(const struct bounds *bounds, const struct graph_edge *edge)
{
    if (edge->through == FLOW_NONE)
        return edge->length;
    uint32_t inside = bounds->plain.inside[edge->through];
    return inside == BOUNDS_FAR ? BOUNDS_FAR : (uint64_t)inside + edge->length;
}

// The same with the mark met on it.
static uint64_t cost_with(const struct bounds *bounds, const struct graph_edge *edge, uint32_t bit)
{
    if (has(bounds, edge, bit))
        return cost_of(bounds, edge);
    if (edge->through == FLOW_NONE)
        return BOUNDS_FAR;
    uint32_t inside = bounds->layer[bit].inside[edge->through];
    return inside == BOUNDS_FAR ? BOUNDS_FAR : (uint64_t)inside + edge->length;
}

// ---- From the entry

static void find_inside(struct bounds *bounds)
{
    const struct graph *graph = bounds->graph;
    struct nearest nearest = {.length = all_far(graph->vertices.length)};
    uint32_t v;

    bounds->plain.inside = nearest.length;
    nearer(&nearest, graph->origin, 0);
    for (size_t p = 0; p < graph->procedures.length; p++)
        if (graph->procedures.data[p].entry != FLOW_NONE)
            nearer(&nearest, graph->procedures.data[p].entry, 1);
    while (take(&nearest, bounds, &v)) {
        uint32_t length = nearest.length[v];

        for (uint32_t i = graph->out_start[v]; i < graph->out_start[v + 1]; i++) {
            const struct graph_edge *edge = edge_at(bounds, graph->out_edges[i]);

            nearer(&nearest, edge->to, length + cost_of(bounds, edge));
        }
        for (uint32_t i = graph->through_start[v]; i < graph->through_start[v + 1]; i++) {
            const struct graph_edge *edge = edge_at(bounds, graph->through_edges[i]);

            nearer(&nearest, edge->to,
                   (uint64_t)length + nearest.length[edge->from] + edge->length);
        }
    }
    path_queue_deinit(&nearest.queue);
}

static void find_inside_with(struct bounds *bounds, uint32_t bit)
{
    const struct graph *graph = bounds->graph;
    const uint32_t *plain = bounds->plain.inside;
    struct nearest nearest = {.length = all_far(graph->vertices.length)};
    uint32_t v;

    bounds->layer[bit].inside = nearest.length;
    for (size_t p = 0; p < graph->procedures.length; p++) {
        uint32_t entry = graph->procedures.data[p].entry;

        if (entry != FLOW_NONE && entry_bits(bounds, entry) >> bit & 1)
            nearer(&nearest, entry, 1);
    }
    for (uint32_t i = 0; i < graph->live_edges; i++) {
        const struct graph_edge *edge = edge_at(bounds, graph->out_edges[i]);

        if (has(bounds, edge, bit))
            nearer(&nearest, edge->to, plain[edge->from] + cost_of(bounds, edge));
    }
    while (take(&nearest, bounds, &v)) {
        uint32_t length = nearest.length[v];

        for (uint32_t i = graph->out_start[v]; i < graph->out_start[v + 1]; i++) {
            const struct graph_edge *edge = edge_at(bounds, graph->out_edges[i]);

            nearer(&nearest, edge->to, length + cost_of(bounds, edge));
        }
        for (uint32_t i = graph->through_start[v]; i < graph->through_start[v + 1]; i++) {
            const struct graph_edge *edge = edge_at(bounds, graph->through_edges[i]);

            nearer(&nearest, edge->to, (uint64_t)length + plain[edge->from] + edge->length);
        }
    }
    path_queue_deinit(&nearest.queue);
}

// ---- To the entry

// By procedure: edges of calls in it, and of dispatchers: the lifts into it.
static void list_calls(struct bounds *bounds)
{
    const struct graph *graph = bounds->graph;
    size_t count = graph->procedures.length;

    bounds->call_start = xcalloc(count + 2, sizeof(uint32_t));
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->live_edges; i++) {
            const struct graph_edge *edge = edge_at(bounds, graph->out_edges[i]);
            uint32_t by = edge->kind == EDGE_LIFTS ? edge->to : edge->from;

            if (edge->through == FLOW_NONE && edge->kind != EDGE_LIFTS)
                continue;
            uint32_t procedure = graph->vertices.data[by].procedure;
            if (pass == 0)
                bounds->call_start[procedure + 2]++;
            else
                bounds->call_edges[bounds->call_start[procedure + 1]++] = graph->out_edges[i];
        }
        for (size_t p = 0; pass == 0 && p < count; p++)
            bounds->call_start[p + 2] += bounds->call_start[p + 1];
        if (pass == 0)
            bounds->call_edges =
                xmalloc_array(bounds->call_start[count + 1] + 1u, sizeof(uint32_t));
    }
}

static bool is_in_spine(const struct bounds *bounds, uint32_t vertex)
{
    return bounds->graph->vertices.data[vertex].procedure == GRAPH_SPINE_PROCEDURE;
}

// From the entry of its procedure to a call. What a path takes up to a call in the spine counts
// behind the call: so it cannot set out early in the spine and come back late.
static uint64_t up_to_call(const struct bounds *bounds, const struct graph_edge *edge,
                           const uint32_t *inside)
{
    if (!is_in_spine(bounds, edge->from) || inside[edge->from] == BOUNDS_FAR)
        return inside[edge->from];
    return inside[edge->from] - bounds->plain.inside[edge->from];
}

static uint64_t left_for_behind(const struct bounds *bounds, const struct graph_edge *edge)
{
    return is_in_spine(bounds, edge->from) ? bounds->plain.inside[edge->from] : 0;
}

// Where a procedure is called, those that are called there come so late. `inside`: to the calls.
static void pass_on(struct bounds *bounds, struct nearest *nearest, uint32_t procedure,
                    uint64_t before, const uint32_t *inside)
{
    const struct graph *graph = bounds->graph;

    for (uint32_t i = bounds->call_start[procedure]; i < bounds->call_start[procedure + 1]; i++) {
        const struct graph_edge *edge = edge_at(bounds, bounds->call_edges[i]);

        if (edge->kind == EDGE_LIFTS)
            nearer(nearest, graph->vertices.data[edge->from].procedure, before);
        else
            nearer(nearest, graph->vertices.data[edge->through].procedure,
                   before + up_to_call(bounds, edge, inside));
    }
}

static void find_before(struct bounds *bounds, uint32_t bit, bool with_bit)
{
    const struct graph *graph = bounds->graph;
    struct nearest nearest = {.length = all_far(graph->procedures.length)};
    uint32_t p;

    if (with_bit) {
        bounds->layer[bit].before = nearest.length;
        // met in the procedure that calls, or before that
        for (p = 0; p < graph->procedures.length; p++)
            for (uint32_t i = bounds->call_start[p]; i < bounds->call_start[p + 1]; i++) {
                const struct graph_edge *edge = edge_at(bounds, bounds->call_edges[i]);

                if (edge->kind != EDGE_LIFTS)
                    nearer(&nearest, graph->vertices.data[edge->through].procedure,
                           bounds->plain.before[p] +
                               up_to_call(bounds, edge, bounds->layer[bit].inside));
            }
    } else {
        bounds->plain.before = nearest.length;
        nearer(&nearest, GRAPH_SPINE_PROCEDURE, 0);
    }
    while (take(&nearest, bounds, &p))
        pass_on(bounds, &nearest, p, nearest.length[p], bounds->plain.inside);
    path_queue_deinit(&nearest.queue);
}

// ---- To the end

static void list_incoming(struct bounds *bounds)
{
    const struct graph *graph = bounds->graph;
    uint32_t *start = xcalloc(graph->vertices.length + 2, sizeof(*start));
    uint32_t *edges = xmalloc_array(graph->live_edges + 1u, sizeof(*edges));

    for (uint32_t i = 0; i < graph->live_edges; i++)
        start[edge_at(bounds, graph->out_edges[i])->to + 2]++;
    for (size_t v = 0; v < graph->vertices.length; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t i = 0; i < graph->live_edges; i++)
        edges[start[edge_at(bounds, graph->out_edges[i])->to + 1]++] = graph->out_edges[i];
    bounds->in_start = start;
    bounds->in_edges = edges;
}

// Everything that leads to the vertex is so far from the end.
static void pass_back(struct bounds *bounds, struct nearest *nearest, uint32_t vertex)
{
    uint64_t length = nearest->length[vertex];

    for (uint32_t i = bounds->in_start[vertex]; i < bounds->in_start[vertex + 1]; i++) {
        const struct graph_edge *edge = edge_at(bounds, bounds->in_edges[i]);

        nearer(nearest, edge->from, length + cost_of(bounds, edge));
        if (edge->through != FLOW_NONE)
            nearer(nearest, edge->through, length + edge->length + left_for_behind(bounds, edge));
    }
}

static void find_behind(struct bounds *bounds, uint32_t bit, bool with_bit)
{
    const struct graph *graph = bounds->graph;
    struct nearest nearest = {.length = all_far(graph->vertices.length)};
    const uint32_t *plain = bounds->plain.behind;
    uint32_t v;

    *(with_bit ? &bounds->layer[bit].behind : &bounds->plain.behind) = nearest.length;
    for (size_t i = 0; !with_bit && i < graph->goals.length; i++)
        nearer(&nearest, graph->goals.data[i].vertex, 0);
    for (uint32_t i = 0; with_bit && i < graph->live_edges; i++) {
        const struct graph_edge *edge = edge_at(bounds, graph->out_edges[i]);

        nearer(&nearest, edge->from, plain[edge->to] + cost_with(bounds, edge, bit));
        if (edge->through != FLOW_NONE && has(bounds, edge, bit))
            nearer(&nearest, edge->through,
                   (uint64_t)plain[edge->to] + edge->length + left_for_behind(bounds, edge));
    }
    while (take(&nearest, bounds, &v))
        pass_back(bounds, &nearest, v);
    path_queue_deinit(&nearest.queue);
}

// ----

void bounds_init(struct bounds *bounds, const struct graph *graph, struct budget *budget)
{
    *bounds = (struct bounds){.graph = graph, .budget = budget, .complete = true};
    list_incoming(bounds);
    list_calls(bounds);
    find_inside(bounds);
    find_before(bounds, 0, false);
    find_behind(bounds, 0, false);
}

void bounds_add_inside(struct bounds *bounds, uint32_t bit)
{
    if (!bounds->layer[bit].inside)
        find_inside_with(bounds, bit);
}

void bounds_add(struct bounds *bounds, uint32_t bit)
{
    assert(!(bounds->bits >> bit & 1));
    bounds_add_inside(bounds, bit);
    find_before(bounds, bit, true);
    find_behind(bounds, bit, true);
    bounds->bits |= UINT64_C(1) << bit;
}

void bounds_deinit(struct bounds *bounds)
{
    free(bounds->in_start);
    free(bounds->in_edges);
    free(bounds->call_start);
    free(bounds->call_edges);
    free(bounds->plain.inside);
    free(bounds->plain.before);
    free(bounds->plain.behind);
    for (uint32_t b = 0; b < 64; b++) {
        free(bounds->layer[b].inside);
        free(bounds->layer[b].before);
        free(bounds->layer[b].behind);
    }
}

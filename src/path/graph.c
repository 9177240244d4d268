// SPDX-License-Identifier: Apache-2.0
#include "path/graph.h"

#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"

void graph_destroy(struct graph *graph)
{
    if (!graph)
        return;
    graph_vertex_vec_deinit(&graph->vertices);
    graph_edge_vec_deinit(&graph->edges);
    graph_procedure_vec_deinit(&graph->procedures);
    graph_mask_vec_deinit(&graph->masks);
    graph_goal_vec_deinit(&graph->goals);
    graph_call_vec_deinit(&graph->calls_made);
    free(graph->out_start);
    free(graph->out_edges);
    free(graph->through_start);
    free(graph->through_edges);
    free(graph);
}

// Lists of edges by one of their vertices; FLOW_NONE: on no list.
static void list_edges(const struct graph *graph, const struct bitset *live, bool by_through,
                       uint32_t **ret_start, uint32_t **ret_edges)
{
    uint32_t *start = xcalloc(graph->vertices.length + 2, sizeof(*start)), total = 0;

    for (uint32_t e = 0; e < graph->edges.length; e++) {
        const struct graph_edge *edge = &graph->edges.data[e];
        uint32_t key = by_through ? edge->through : edge->from;

        if (key == FLOW_NONE || (live && !bitset_test(live, e)))
            continue;
        start[key + 2]++;
        total++;
    }
    for (size_t v = 0; v < graph->vertices.length; v++)
        start[v + 2] += start[v + 1];
    uint32_t *edges = xmalloc_array(total + 1u, sizeof(*edges));
    for (uint32_t e = 0; e < graph->edges.length; e++) {
        const struct graph_edge *edge = &graph->edges.data[e];
        uint32_t key = by_through ? edge->through : edge->from;

        if (key != FLOW_NONE && (!live || bitset_test(live, e)))
            edges[start[key + 1]++] = e;
    }
    *ret_start = start;
    *ret_edges = edges;
}

void graph_index(struct graph *graph, const struct bitset *live)
{
    free(graph->out_start);
    free(graph->out_edges);
    free(graph->through_start);
    free(graph->through_edges);
    list_edges(graph, live, false, &graph->out_start, &graph->out_edges);
    list_edges(graph, live, true, &graph->through_start, &graph->through_edges);
    graph->live_edges = graph->out_start[graph->vertices.length];
}

// ---- What is on no path

static void mark(struct bitset *useful, uint32_t vertex, struct path_id_vec *work)
{
    if (!bitset_test_and_set(useful, vertex))
        path_id_vec_push(work, vertex);
}

// Edges by target.
static void list_incoming(const struct graph *graph, uint32_t **ret_start, uint32_t **ret_edges)
{
    uint32_t *start = xcalloc(graph->vertices.length + 2, sizeof(*start));
    uint32_t *edges = xmalloc_array(graph->edges.length + 1, sizeof(*edges));

    for (uint32_t e = 0; e < graph->edges.length; e++)
        start[graph->edges.data[e].to + 2]++;
    for (size_t v = 0; v < graph->vertices.length; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t e = 0; e < graph->edges.length; e++)
        edges[start[graph->edges.data[e].to + 1]++] = e;
    *ret_start = start;
    *ret_edges = edges;
}

// Backwards from the goals; into a procedure from each of its exits that is gone through.
void graph_cut(struct graph *graph)
{
    struct bitset useful, live;
    struct path_id_vec work = VEC_INIT;
    uint32_t *start, *edges;

    bitset_init(&useful, graph->vertices.length);
    bitset_init(&live, graph->edges.length);
    list_incoming(graph, &start, &edges);
    for (size_t i = 0; i < graph->goals.length; i++)
        mark(&useful, graph->goals.data[i].vertex, &work);
    while (work.length) {
        uint32_t vertex = path_id_vec_pop(&work);

        for (uint32_t i = start[vertex]; i < start[vertex + 1]; i++) {
            const struct graph_edge *edge = &graph->edges.data[edges[i]];

            bitset_set(&live, edges[i]);
            mark(&useful, edge->from, &work);
            if (edge->through != FLOW_NONE)
                mark(&useful, edge->through, &work);
        }
    }
    for (size_t p = 1; p < graph->procedures.length; p++) {
        uint32_t *entry = &graph->procedures.data[p].entry;

        if (*entry != FLOW_NONE && !bitset_test(&useful, *entry))
            *entry = FLOW_NONE;
    }
    graph_index(graph, &live);
    path_id_vec_deinit(&work);
    bitset_deinit(&useful);
    bitset_deinit(&live);
    free(start);
    free(edges);
}

void graph_expand(const struct graph *graph, uint32_t edge, struct path_id_vec *edges)
{
    struct path_id_vec todo = VEC_INIT;

    path_id_vec_push(&todo, edge);
    while (todo.length) {
        uint32_t next = path_id_vec_pop(&todo);
        const struct graph_edge *joined = &graph->edges.data[next];

        if (joined->kind != EDGE_JOINED) {
            path_id_vec_push(edges, next);
            continue;
        }
        path_id_vec_push(&todo, joined->second);
        path_id_vec_push(&todo, joined->function);
    }
    path_id_vec_deinit(&todo);
}

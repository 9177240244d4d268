// SPDX-License-Identifier: Apache-2.0
/*
 * A plain directed graph, its strongly connected components and its dominators.
 *
 *     struct digraph graph;
 *     digraph_init(&graph, node_count);
 *     digraph_add(&graph, from, to); ...
 *     digraph_close(&graph);                       // now it can be walked
 *     for (uint32_t e = graph.start[n]; e < graph.start[n + 1]; e++) use(graph.target[e]);
 *
 *     struct components components;
 *     components_init(&components, &graph, root, DIGRAPH_NONE);
 *
 * Edges may be given in any order and more than once.
 */
#ifndef ANALYSIS_DIGRAPH_H
#define ANALYSIS_DIGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define DIGRAPH_NONE UINT32_MAX

struct digraph {
    uint32_t count;
    uint32_t *start; // count + 1, once closed
    uint32_t *target;
    uint32_t edge_count, edge_capacity;
    uint32_t *sources, *targets; // until it is closed
};

void digraph_init(struct digraph *graph, uint32_t count);
void digraph_add(struct digraph *graph, uint32_t from, uint32_t to);
void digraph_close(struct digraph *graph);
void digraph_deinit(struct digraph *graph);
// All edges turned round; closed.
void digraph_init_reverse(struct digraph *graph, const struct digraph *source);

// What is reachable from a root. Components are numbered in topological order: an edge never leads
// to a smaller number.
struct components {
    uint32_t count;
    uint32_t *of_node; // DIGRAPH_NONE: not reachable
    bool *is_cyclic;   // by component: a node of it can be visited again
};
// `removed` is left out (DIGRAPH_NONE: nothing is).
void components_init(struct components *components, const struct digraph *graph, uint32_t root,
                     uint32_t removed);
void components_deinit(struct components *components);

// Immediate dominators, by node: the root's is itself, DIGRAPH_NONE where a node is not reachable.
// To be freed.
uint32_t *digraph_dominators(const struct digraph *graph, const struct digraph *reverse,
                             uint32_t root);

#endif

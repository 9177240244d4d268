// SPDX-License-Identifier: Apache-2.0
#include "analysis/digraph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

void digraph_init(struct digraph *graph, uint32_t count)
{
    *graph = (struct digraph){.count = count};
}

void digraph_add(struct digraph *graph, uint32_t from, uint32_t to)
{
    assert(from < graph->count && to < graph->count && !graph->start);
    if (graph->edge_count == graph->edge_capacity) {
        graph->edge_capacity += graph->edge_capacity / 2 + 64;
        graph->sources = xrealloc_array(graph->sources, graph->edge_capacity, sizeof(uint32_t));
        graph->targets = xrealloc_array(graph->targets, graph->edge_capacity, sizeof(uint32_t));
    }
    graph->sources[graph->edge_count] = from;
    graph->targets[graph->edge_count++] = to;
}

// Counting sort of the edges by source.
static void sort_edges(struct digraph *graph, const uint32_t *sources, const uint32_t *targets)
{
    uint32_t *start = xcalloc(graph->count + 2u, sizeof(*start));

    graph->target = xmalloc_array(graph->edge_count + 1u, sizeof(uint32_t));
    for (uint32_t e = 0; e < graph->edge_count; e++)
        start[sources[e] + 2]++;
    for (uint32_t n = 0; n < graph->count; n++)
        start[n + 2] += start[n + 1];
    for (uint32_t e = 0; e < graph->edge_count; e++)
        graph->target[start[sources[e] + 1]++] = targets[e];
    graph->start = start;
}

void digraph_close(struct digraph *graph)
{
    sort_edges(graph, graph->sources, graph->targets);
    free(graph->sources);
    free(graph->targets);
    graph->sources = graph->targets = NULL;
}

void digraph_init_reverse(struct digraph *graph, const struct digraph *source)
{
    uint32_t *sources = xmalloc_array(source->edge_count + 1u, sizeof(*sources));

    *graph = (struct digraph){.count = source->count, .edge_count = source->edge_count};
    for (uint32_t n = 0; n < source->count; n++)
        for (uint32_t e = source->start[n]; e < source->start[n + 1]; e++)
            sources[e] = n;
    sort_edges(graph, source->target, sources);
    free(sources);
}

void digraph_deinit(struct digraph *graph)
{
    free(graph->start);
    free(graph->target);
    free(graph->sources);
    free(graph->targets);
    *graph = (struct digraph){0};
}

// ---- Components (Tarjan), without recursion

struct tarjan {
    const struct digraph *graph;
    struct components *components;
    uint32_t removed;
    uint32_t *low, *number; // 0: not met
    uint32_t *stack, stack_count;
    uint32_t *path, path_count; // pairs: node, next edge
    uint32_t met;
};

static void meet_node(struct tarjan *tarjan, uint32_t node)
{
    tarjan->low[node] = tarjan->number[node] = ++tarjan->met;
    tarjan->stack[tarjan->stack_count++] = node;
    tarjan->path[tarjan->path_count++] = node;
    tarjan->path[tarjan->path_count++] = tarjan->graph->start[node];
}

static void close_component(struct tarjan *tarjan, uint32_t node)
{
    struct components *components = tarjan->components;
    uint32_t size = 0, member;

    do {
        member = tarjan->stack[--tarjan->stack_count];
        components->of_node[member] = components->count;
        size++;
    } while (member != node);
    bool cyclic = size > 1;
    for (uint32_t e = tarjan->graph->start[node]; !cyclic && e < tarjan->graph->start[node + 1];
         e++)
        cyclic = tarjan->graph->target[e] == node;
    components->is_cyclic[components->count++] = cyclic;
}

static void visit(struct tarjan *tarjan, uint32_t root)
{
    meet_node(tarjan, root);
    while (tarjan->path_count) {
        uint32_t node = tarjan->path[tarjan->path_count - 2];
        uint32_t edge = tarjan->path[tarjan->path_count - 1]++;

        if (edge < tarjan->graph->start[node + 1]) {
            uint32_t next = tarjan->graph->target[edge];

            if (next == tarjan->removed)
                continue;
            if (!tarjan->number[next])
                meet_node(tarjan, next);
            else if (tarjan->components->of_node[next] == DIGRAPH_NONE &&
                     tarjan->number[next] < tarjan->low[node])
                tarjan->low[node] = tarjan->number[next];
            continue;
        }
        tarjan->path_count -= 2;
        if (tarjan->low[node] == tarjan->number[node])
            close_component(tarjan, node);
        if (tarjan->path_count) {
            uint32_t before = tarjan->path[tarjan->path_count - 2];
            if (tarjan->low[node] < tarjan->low[before])
                tarjan->low[before] = tarjan->low[node];
        }
    }
}

// Tarjan closes components from the last to the first.
static void turn_round(struct components *components, uint32_t node_count)
{
    uint32_t count = components->count;

    for (uint32_t n = 0; n < node_count; n++)
        if (components->of_node[n] != DIGRAPH_NONE)
            components->of_node[n] = count - 1 - components->of_node[n];
    for (uint32_t i = 0, k = count; i + 1 < k; i++) {
        bool first = components->is_cyclic[i];
        components->is_cyclic[i] = components->is_cyclic[--k];
        components->is_cyclic[k] = first;
    }
}

void components_init(struct components *components, const struct digraph *graph, uint32_t root,
                     uint32_t removed)
{
    struct tarjan tarjan = {.graph = graph, .components = components, .removed = removed};

    assert(root != removed);
    *components = (struct components){0};
    components->of_node = xmalloc_array(graph->count + 1u, sizeof(uint32_t));
    memset(components->of_node, 0xff, graph->count * sizeof(uint32_t));
    components->is_cyclic = xcalloc(graph->count + 1u, sizeof(bool));
    tarjan.low = xcalloc(graph->count + 1u, sizeof(uint32_t));
    tarjan.number = xcalloc(graph->count + 1u, sizeof(uint32_t));
    tarjan.stack = xmalloc_array(graph->count + 1u, sizeof(uint32_t));
    tarjan.path = xmalloc_array(2u * graph->count + 2u, sizeof(uint32_t));
    visit(&tarjan, root);
    turn_round(components, graph->count);
    free(tarjan.low);
    free(tarjan.number);
    free(tarjan.stack);
    free(tarjan.path);
}

void components_deinit(struct components *components)
{
    free(components->of_node);
    free(components->is_cyclic);
    *components = (struct components){0};
}

// ---- Dominators (Cooper, Harvey, Kennedy: A simple, fast dominance algorithm)

// Nodes in reverse postorder from the root; how many. position: by node, DIGRAPH_NONE when not
// reachable.
static uint32_t reverse_postorder(const struct digraph *graph, uint32_t root, uint32_t *order,
                                  uint32_t *position)
{
    uint32_t *path = xmalloc_array(2u * graph->count + 2u, sizeof(*path)), top = 0;
    uint32_t at = graph->count;

    memset(position, 0xff, graph->count * sizeof(*position));
    position[root] = 0;
    path[top++] = root;
    path[top++] = graph->start[root];
    while (top) {
        uint32_t node = path[top - 2], edge = path[top - 1]++;

        if (edge == graph->start[node + 1]) {
            order[--at] = node;
            top -= 2;
        } else if (position[graph->target[edge]] == DIGRAPH_NONE) {
            uint32_t next = graph->target[edge];

            position[next] = 0;
            path[top++] = next;
            path[top++] = graph->start[next];
        }
    }
    uint32_t count = graph->count - at;
    memmove(order, order + at, count * sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        position[order[i]] = i;
    free(path);
    return count;
}

uint32_t *digraph_dominators(const struct digraph *graph, const struct digraph *reverse,
                             uint32_t root)
{
    uint32_t *order = xmalloc_array(graph->count + 1u, sizeof(*order));
    uint32_t *position = xmalloc_array(graph->count + 1u, sizeof(*position));
    uint32_t *dominator = xmalloc_array(graph->count + 1u, sizeof(*dominator));
    uint32_t count = reverse_postorder(graph, root, order, position);

    memset(dominator, 0xff, graph->count * sizeof(*dominator));
    dominator[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < count; i++) {
            uint32_t node = order[i], found = DIGRAPH_NONE;

            for (uint32_t e = reverse->start[node]; e < reverse->start[node + 1]; e++) {
                uint32_t before = reverse->target[e];

                if (position[before] == DIGRAPH_NONE || dominator[before] == DIGRAPH_NONE)
                    continue;
                if (found == DIGRAPH_NONE)
                    found = before;
                while (found != before)
                    if (position[found] > position[before])
                        found = dominator[found];
                    else
                        before = dominator[before];
            }
            changed |= dominator[node] != found;
            dominator[node] = found;
        }
    }
    free(order);
    free(position);
    return dominator;
}

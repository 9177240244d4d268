// SPDX-License-Identifier: Apache-2.0
// The loops of a function, as regions inside each other; see path_number.h.
#include "program/path_internal.h"

#include "common/alloc.h"
#include "common/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

VEC_DEFINE(id_vec, uint32_t);
VEC_DEFINE(region_vec, struct path_region);

struct finder {
    struct path_numbering *numbers;
    struct region_vec regions;
    struct id_vec first_member; // by region, and one more: in `members`
    struct id_vec members;      // nodes
    // Tarjan's algorithm over the nodes of one region.
    struct id_vec stack, component;
    uint32_t *number, *low; // by node; number 0: not yet visited
    uint8_t *on_stack;
    struct id_vec visits; // pairs: node, next edge
    uint32_t counter;
};

// Depth-first search in successor order: reachable nodes, reverse post-order.
static void search(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t *stack = xmalloc_array(graph->node_count + 1u, sizeof(*stack));
    uint32_t *next = xmalloc_array(graph->node_count + 1u, sizeof(*next));
    uint32_t top = 0, finished = graph->node_count;

    stack[top] = 0;
    next[top++] = graph->successor_start[0];
    numbers->reachable[0] = 1;
    while (top) {
        uint32_t node = stack[top - 1], e = next[top - 1];

        if (e == graph->successor_start[node + 1]) {
            numbers->order[--finished] = node;
            top--;
            continue;
        }
        next[top - 1]++;
        uint32_t target = graph->successor[e];
        assert(target < graph->node_count);
        if (numbers->reachable[target])
            continue;
        numbers->reachable[target] = 1;
        stack[top] = target;
        next[top++] = graph->successor_start[target];
    }
    numbers->order_count = graph->node_count - finished;
    memmove(numbers->order, numbers->order + finished, numbers->order_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < numbers->order_count; i++)
        numbers->position[numbers->order[i]] = i;
    free(stack);
    free(next);
}

static bool leads_to_itself(const struct path_graph *graph, uint32_t node)
{
    for (uint32_t e = graph->successor_start[node]; e < graph->successor_start[node + 1]; e++)
        if (graph->successor[e] == node)
            return true;
    return false;
}

// May nothing more be told of it?
static bool is_opaque(const struct path_numbering *numbers, const struct path_region *region)
{
    return region->depth >= LAYOUT_MOST_WORDS || (numbers->collapse && !region->calls);
}

static bool has_shared_edge(const struct path_graph *graph, uint32_t node)
{
    for (uint32_t e = graph->successor_start[node]; e < graph->successor_start[node + 1]; e++)
        if (graph->edge_flags[e] & PATH_EDGE_SHARED)
            return true;
    return false;
}

// The component's nodes are a loop inside of `parent`.
static void add_loop(struct finder *finder, uint32_t parent)
{
    struct path_numbering *numbers = finder->numbers;
    const struct path_graph *graph = numbers->graph;
    uint32_t id = (uint32_t)finder->regions.length;
    struct path_region region = {.parent = parent,
                                 .header = finder->component.data[0],
                                 .depth = finder->regions.data[parent].depth + 1};

    for (size_t i = 0; i < finder->component.length; i++) {
        uint32_t node = finder->component.data[i];

        if (numbers->position[node] < numbers->position[region.header])
            region.header = node;
        region.calls |= graph->node_flags[node] != 0 || has_shared_edge(graph, node);
        region.twice |= (graph->node_flags[node] & PATH_NODE_RETURNS_TWICE) != 0;
        numbers->region[node] = id;
    }
    region.opaque = is_opaque(numbers, &region);
    region_vec_push(&finder->regions, region);
    id_vec_append(&finder->members, finder->component.data, finder->component.length);
    id_vec_push(&finder->first_member, (uint32_t)finder->members.length);
}

static void visit(struct finder *finder, uint32_t node)
{
    finder->number[node] = finder->low[node] = ++finder->counter;
    finder->on_stack[node] = 1;
    id_vec_push(&finder->stack, node);
    id_vec_push(&finder->visits, node);
    id_vec_push(&finder->visits, finder->numbers->graph->successor_start[node]);
}

// All that `node` leads to was seen: it may be the first of a component.
static void leave(struct finder *finder, uint32_t region, uint32_t node)
{
    finder->visits.length -= 2;
    if (finder->visits.length) {
        uint32_t before = finder->visits.data[finder->visits.length - 2];

        if (finder->low[before] > finder->low[node])
            finder->low[before] = finder->low[node];
    }
    if (finder->low[node] != finder->number[node])
        return;
    finder->component.length = 0;
    uint32_t member;
    do {
        member = id_vec_pop(&finder->stack);
        finder->on_stack[member] = 0;
        id_vec_push(&finder->component, member);
    } while (member != node);
    if (finder->component.length > 1 || leads_to_itself(finder->numbers->graph, node))
        add_loop(finder, region);
}

// Tarjan's algorithm from `root`, over the members of the region.
static void find_components(struct finder *finder, uint32_t region, uint32_t root)
{
    const struct path_graph *graph = finder->numbers->graph;

    visit(finder, root);
    while (finder->visits.length) {
        uint32_t node = finder->visits.data[finder->visits.length - 2];
        uint32_t e = finder->visits.data[finder->visits.length - 1]++;

        if (e == graph->successor_start[node + 1]) {
            leave(finder, region, node);
            continue;
        }
        uint32_t target = graph->successor[e];
        // a component that was found has another region by now; the header is no member
        if (finder->numbers->region[target] != region ||
            target == finder->regions.data[region].header)
            continue;
        if (!finder->number[target])
            visit(finder, target);
        else if (finder->on_stack[target] && finder->number[target] < finder->low[node])
            finder->low[node] = finder->number[target];
    }
}

// The loops directly inside of a region: the components of its nodes but the header.
static void refine(struct finder *finder, uint32_t region)
{
    struct path_numbering *numbers = finder->numbers;
    uint32_t first = finder->first_member.data[region], end = finder->first_member.data[region + 1];

    for (uint32_t i = first; i < end; i++)
        finder->number[finder->members.data[i]] = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = finder->members.data[i];

        if (numbers->region[node] == region && !finder->number[node] &&
            node != finder->regions.data[region].header)
            find_components(finder, region, node);
    }
}

// The function: no node of it is left out, since none of its edges leads back to where it starts.
static void add_function(struct finder *finder)
{
    struct path_numbering *numbers = finder->numbers;
    struct path_region region = {.parent = PATH_NONE, .header = PATH_NONE};

    for (uint32_t i = 0; i < numbers->order_count; i++) {
        uint8_t flags = numbers->graph->node_flags[numbers->order[i]];

        region.calls |= flags != 0;
        region.twice |= (flags & PATH_NODE_RETURNS_TWICE) != 0;
    }
    region_vec_push(&finder->regions, region);
    id_vec_append(&finder->members, numbers->order, numbers->order_count);
    id_vec_push(&finder->first_member, 0);
    id_vec_push(&finder->first_member, numbers->order_count);
}

void path_find_loops(struct path_numbering *numbers)
{
    uint32_t nodes = numbers->graph->node_count;
    struct finder finder = {.numbers = numbers,
                            .number = xcalloc(nodes, sizeof(uint32_t)),
                            .low = xcalloc(nodes, sizeof(uint32_t)),
                            .on_stack = xcalloc(nodes, 1)};

    search(numbers);
    add_function(&finder);
    for (uint32_t region = 0; region < finder.regions.length; region++)
        if (!finder.regions.data[region].opaque)
            refine(&finder, region);
    finder.regions.data[0].header = 0;
    numbers->region_count = (uint32_t)finder.regions.length;
    numbers->regions = region_vec_steal(&finder.regions);
    id_vec_deinit(&finder.first_member);
    id_vec_deinit(&finder.members);
    id_vec_deinit(&finder.stack);
    id_vec_deinit(&finder.component);
    id_vec_deinit(&finder.visits);
    free(finder.number);
    free(finder.low);
    free(finder.on_stack);
}

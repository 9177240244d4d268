// SPDX-License-Identifier: Apache-2.0
/*
 * Requires: a graph whose node 0 is the entry. Keeps: the graph is only read.
 *
 * The steps, in order: depth-first search (retreating edges, reverse post-order), loops to
 * collapse, numbering edges between units, path counts with extra cuts, edge values, a spanning
 * tree of the edges thought hot, potentials. After T. Ball and J. Larus, "Efficient path profiling"
 * (MICRO'96), sections 3.1 to 3.4; differences: starts are shared by all cut edges with the same
 * target, and the edge from exit back to entry is not in the tree, since the reader can add
 * potentials.
 *
 * A value sum S along a path from the start to u and the chord sum C that the program keeps are
 * related by S = C + potential(u) - potential(start). Out-edges of a unit have ascending values
 * that begin with 0, so the unfinished path at u with value sum S is a prefix of the finished path
 * S.
 */
#include "program/path_number.h"

#include "common/alloc.h"
#include "common/hash.h"
#include "layout/section.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE       UINT32_MAX
#define PATH_LIMIT LAYOUT_MOST_PATHS

// An edge of the numbering graph. `from` and `to` are units (header nodes), or START / EXIT.
struct edge {
    uint32_t from, to;
    uint32_t origin; // index in graph.successor; for exits of a terminal node: NONE
    uint32_t source; // the node it leaves (a member of unit `from`), NONE for starts
    uint32_t target; // the node it enters; NONE for terminal exits and where it is one of several
    uint64_t weight; // estimated frequency
    uint64_t value;
    bool forced; // must be in the tree
};

struct path_numbering {
    const struct path_graph *graph;
    uint32_t node_count;
    bool has_cuts;
    uint8_t *reachable;
    uint8_t *cut;     // by graph edge
    uint32_t *unit;   // by node
    uint8_t *is_loop; // by node: header of a collapsed loop
    uint8_t *starts;  // by node
    uint32_t *order;  // reachable nodes in reverse post-order
    uint32_t order_count;
    uint16_t *depth;

    struct edge *edges; // sorted by `from`, in value order
    uint32_t edge_count;
    uint32_t *first_edge; // by unit, node_count + 3 entries
    uint32_t *edge_of;    // by graph edge: numbering edge; NONE when there is none
    uint32_t *start_edge; // by node
    uint64_t *count;      // by unit
    uint64_t *potential;  // by unit

    uint8_t *stores; // by node: path_stores()
};

// The two units that are not nodes.
static uint32_t unit_start(const struct path_numbering *numbers)
{
    return numbers->node_count;
}

static uint32_t unit_exit(const struct path_numbering *numbers)
{
    return numbers->node_count + 1;
}

static uint32_t first_parallel(const struct path_graph *graph, uint32_t node, uint32_t edge)
{
    for (uint32_t e = graph->successor_start[node]; e < edge; e++)
        if (graph->successor[e] == graph->successor[edge])
            return e;
    return edge;
}

// Depth-first search in successor order: reachable nodes, reverse post-order, retreating edges.
static void search(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t *stack = xmalloc_array(graph->node_count + 1u, sizeof(*stack));
    uint32_t *next = xmalloc_array(graph->node_count + 1u, sizeof(*next));
    uint8_t *open = xcalloc(graph->node_count + 1u, 1);
    uint32_t top = 0, finished = graph->node_count;

    stack[top] = 0;
    next[top++] = graph->successor_start[0];
    numbers->reachable[0] = open[0] = 1;
    while (top) {
        uint32_t node = stack[top - 1], e = next[top - 1];

        if (e == graph->successor_start[node + 1]) {
            open[node] = 0;
            numbers->order[--finished] = node;
            top--;
            continue;
        }
        next[top - 1]++;
        uint32_t target = graph->successor[e];
        assert(target < graph->node_count);
        if (open[target])
            numbers->cut[e] = 1;
        else if (!numbers->reachable[target]) {
            numbers->reachable[target] = open[target] = 1;
            stack[top] = target;
            next[top++] = graph->successor_start[target];
        }
    }
    numbers->order_count = graph->node_count - finished;
    memmove(numbers->order, numbers->order + finished, numbers->order_count * sizeof(uint32_t));
    free(stack);
    free(next);
    free(open);
}

// Immediate dominators over reverse post-order positions (Cooper, Harvey, Kennedy).
static uint32_t *dominators(const struct path_numbering *numbers, const uint32_t *position)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t *idom = xmalloc_array(graph->node_count + 1u, sizeof(*idom));
    bool changed = true;

    memset(idom, 0xff, (graph->node_count + 1u) * sizeof(*idom));
    idom[0] = 0;
    while (changed) {
        changed = false;
        // Pushing along successors visits each edge once a round, which needs no predecessor lists.
        for (uint32_t i = 0; i < numbers->order_count; i++) {
            uint32_t node = numbers->order[i];

            if (idom[node] == NONE)
                continue;
            for (uint32_t e = graph->successor_start[node]; e < graph->successor_start[node + 1];
                 e++) {
                uint32_t target = graph->successor[e], a = node, b = idom[target];

                if (target == 0)
                    continue;
                if (b == NONE) {
                    idom[target] = node;
                    changed = true;
                    continue;
                }
                while (a != b) {
                    while (position[a] > position[b])
                        a = idom[a];
                    while (position[b] > position[a])
                        b = idom[b];
                }
                if (a != idom[target]) {
                    idom[target] = a;
                    changed = true;
                }
            }
        }
    }
    return idom;
}

static bool dominates(const uint32_t *idom, const uint32_t *position, uint32_t a, uint32_t b)
{
    while (position[b] > position[a])
        b = idom[b];
    return a == b;
}

struct predecessors {
    uint32_t *start, *source;
};

static struct predecessors predecessors_of(const struct path_graph *graph)
{
    uint32_t edges = graph->successor_start[graph->node_count];
    struct predecessors preds = {xcalloc(graph->node_count + 2u, sizeof(uint32_t)),
                                 xmalloc_array(edges + 1u, sizeof(uint32_t))};

    for (uint32_t e = 0; e < edges; e++)
        preds.start[graph->successor[e] + 2]++;
    for (uint32_t n = 0; n < graph->node_count; n++)
        preds.start[n + 2] += preds.start[n + 1];
    for (uint32_t n = 0; n < graph->node_count; n++)
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++)
            preds.source[preds.start[graph->successor[e] + 1]++] = n;
    return preds;
}

// The body of the natural loop with this header into `body`; its length. `mark[n] == header + 1`
// for members.
static uint32_t loop_body(const struct path_numbering *numbers, const struct predecessors *preds,
                          const uint32_t *idom, const uint32_t *position, uint32_t header,
                          uint32_t *mark, uint32_t *body)
{
    uint32_t length = 0, done = 0;

    mark[header] = header + 1;
    body[length++] = header;
    done = 1;
    for (uint32_t p = preds->start[header]; p < preds->start[header + 1]; p++) {
        uint32_t source = preds->source[p];

        if (numbers->reachable[source] && mark[source] != header + 1 &&
            dominates(idom, position, header, source)) {
            mark[source] = header + 1;
            body[length++] = source;
        }
    }
    for (; done < length; done++)
        for (uint32_t p = preds->start[body[done]]; p < preds->start[body[done] + 1]; p++) {
            uint32_t source = preds->source[p];

            if (numbers->reachable[source] && mark[source] != header + 1) {
                mark[source] = header + 1;
                body[length++] = source;
            }
        }
    return length;
}

// May this loop be one unit? No call inside, no retreating edge but to its header, no shared edge.
static bool loop_collapses(const struct path_numbering *numbers, uint32_t header,
                           const uint32_t *body, uint32_t length)
{
    const struct path_graph *graph = numbers->graph;

    for (uint32_t i = 0; i < length; i++) {
        uint32_t node = body[i];

        if (graph->node_flags[node])
            return false;
        for (uint32_t e = graph->successor_start[node]; e < graph->successor_start[node + 1]; e++) {
            if (graph->edge_flags[e] & PATH_EDGE_SHARED)
                return false;
            if (numbers->cut[e] && graph->successor[e] != header)
                return false;
        }
    }
    return true;
}

static void find_loops(struct path_numbering *numbers, bool collapse)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t *position = xmalloc_array(graph->node_count + 1u, sizeof(*position));
    uint32_t *mark = xcalloc(graph->node_count + 1u, sizeof(*mark));
    uint32_t *body = xmalloc_array(graph->node_count + 1u, sizeof(*body));
    struct predecessors preds = predecessors_of(graph);

    for (uint32_t i = 0; i < numbers->order_count; i++)
        position[numbers->order[i]] = i;
    uint32_t *idom = dominators(numbers, position);
    for (uint32_t i = 0; i < numbers->order_count; i++) {
        uint32_t header = numbers->order[i], back_edges = 0;

        for (uint32_t p = preds.start[header]; p < preds.start[header + 1]; p++)
            if (numbers->reachable[preds.source[p]] &&
                dominates(idom, position, header, preds.source[p]))
                back_edges++;
        if (!back_edges)
            continue;
        uint32_t length = loop_body(numbers, &preds, idom, position, header, mark, body);
        for (uint32_t k = 0; k < length; k++)
            numbers->depth[body[k]]++;
        if (collapse && loop_collapses(numbers, header, body, length)) {
            numbers->is_loop[header] = 1;
            for (uint32_t k = 0; k < length; k++)
                numbers->unit[body[k]] = header;
        }
    }
    free(position);
    free(mark);
    free(body);
    free(idom);
    free(preds.start);
    free(preds.source);
}

static uint64_t frequency(uint32_t depth)
{
    return 1ull << (3u * (depth < 8 ? depth : 8));
}

static void add_edge(struct path_numbering *numbers, struct edge edge)
{
    numbers->edges[numbers->edge_count++] = edge;
}

static void cut_edges(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;

    for (uint32_t n = 0; n < graph->node_count; n++)
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            if (!numbers->reachable[n] || (graph->node_flags[n] & PATH_NODE_RETURNS_TWICE) ||
                (graph->edge_flags[e] & PATH_EDGE_SHARED))
                numbers->cut[e] = 1;
            if (numbers->unit[n] == numbers->unit[graph->successor[e]] &&
                numbers->is_loop[numbers->unit[n]])
                numbers->cut[e] = 0;
        }
}

// Out-edges of one unit's member node, in successor order.
static void number_node_edges(struct path_numbering *numbers, uint32_t node)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t unit = numbers->unit[node], exit = unit_exit(numbers);
    uint32_t begin = graph->successor_start[node], end = graph->successor_start[node + 1];
    uint32_t shared = NONE;

    for (uint32_t e = begin; e < end; e++) {
        uint32_t target = graph->successor[e], first = first_parallel(graph, node, e);

        if (first != e) {
            numbers->edge_of[e] = numbers->edge_of[first];
            numbers->cut[e] = numbers->cut[first];
            continue;
        }
        // Shared edges of one node are one exit: the code that stores the sum is common to them.
        if ((graph->edge_flags[e] & PATH_EDGE_SHARED) && shared != NONE) {
            numbers->edge_of[e] = shared;
            numbers->edges[shared].target = NONE;
            continue;
        }
        if (graph->edge_flags[e] & PATH_EDGE_SHARED)
            shared = numbers->edge_count;
        if (numbers->unit[target] == unit && numbers->is_loop[unit])
            continue;
        uint16_t depth = numbers->depth[node] < numbers->depth[target] ? numbers->depth[node]
                                                                       : numbers->depth[target];
        numbers->edge_of[e] = numbers->edge_count;
        add_edge(numbers, (struct edge){
                              .from = unit,
                              .to = numbers->cut[e] ? exit : numbers->unit[target],
                              .origin = e,
                              .source = node,
                              .target = target,
                              .weight = frequency(depth),
                              .forced = (graph->edge_flags[e] & PATH_EDGE_SHARED) ||
                                        (graph->node_flags[node] & PATH_NODE_RETURNS_TWICE),
                          });
    }
    if (begin == end)
        add_edge(numbers, (struct edge){.from = unit,
                                        .to = exit,
                                        .origin = NONE,
                                        .source = node,
                                        .target = NONE,
                                        .weight = frequency(numbers->depth[node])});
}

// Members of units in ascending node order, so that a unit's edges have one order for everybody.
static void number_edges(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t *unit_size = xcalloc(graph->node_count + 2u, sizeof(uint32_t));
    uint32_t *members = xmalloc_array(graph->node_count + 1u, sizeof(uint32_t));

    for (uint32_t n = 0; n < graph->node_count; n++)
        unit_size[numbers->unit[n] + 1]++;
    for (uint32_t n = 0; n < graph->node_count; n++)
        unit_size[n + 1] += unit_size[n];
    uint32_t *fill = xmemdup(unit_size, (graph->node_count + 2u) * sizeof(uint32_t));
    for (uint32_t n = 0; n < graph->node_count; n++)
        members[fill[numbers->unit[n]]++] = n;
    free(fill);
    for (uint32_t u = 0; u < graph->node_count; u++) {
        numbers->first_edge[u] = numbers->edge_count;
        if (numbers->unit[u] == u && numbers->reachable[u])
            for (uint32_t k = unit_size[u]; k < unit_size[u + 1]; k++)
                number_node_edges(numbers, members[k]);
        // a loop that is never left: the path ends inside
        if (numbers->is_loop[u] && numbers->first_edge[u] == numbers->edge_count)
            add_edge(numbers, (struct edge){.from = u,
                                            .to = unit_exit(numbers),
                                            .origin = NONE,
                                            .source = u,
                                            .target = NONE});
    }
    numbers->first_edge[unit_start(numbers)] = numbers->edge_count;
    free(unit_size);
    free(members);
}

// Cut the heaviest out-edges of a unit until its paths fit the limit.
static uint64_t count_unit(struct path_numbering *numbers, uint32_t unit, uint64_t limit)
{
    for (;;) {
        uint64_t total = 0;
        struct edge *heaviest = NULL;

        for (uint32_t e = numbers->first_edge[unit]; e < numbers->first_edge[unit + 1]; e++) {
            struct edge *edge = &numbers->edges[e];

            total += numbers->count[edge->to];
            if (edge->to != unit_exit(numbers) &&
                (!heaviest || numbers->count[edge->to] > numbers->count[heaviest->to]))
                heaviest = edge;
        }
        if (total <= limit || !heaviest)
            return total;
        heaviest->to = unit_exit(numbers);
        numbers->cut[heaviest->origin] = 1;
    }
}

static void count_paths(struct path_numbering *numbers)
{
    // Each addend is at most the limit, and a unit has at most node_count of them; starts too.
    uint64_t limit = PATH_LIMIT / (numbers->node_count + 1ull);

    numbers->count[unit_exit(numbers)] = 1;
    for (uint32_t i = numbers->order_count; i-- > 0;) {
        uint32_t node = numbers->order[i];

        // Every other member of a collapsed loop comes after its header in the order, and every
        // target of an exit edge after the member it leaves: at the header all are counted.
        if (numbers->unit[node] == node)
            numbers->count[node] = count_unit(numbers, node, limit);
    }
}

static void mark_cuts_and_starts(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;

    numbers->starts[0] = 1;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (!numbers->reachable[n])
            continue;
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            numbers->cut[e] = numbers->cut[first_parallel(graph, n, e)];
            if (!numbers->cut[e])
                continue;
            numbers->has_cuts = true;
            numbers->starts[graph->successor[e]] = 1;
        }
    }
    for (uint32_t n = 0; n < graph->node_count; n++)
        if (numbers->starts[n]) {
            numbers->start_edge[n] = numbers->edge_count;
            add_edge(numbers, (struct edge){.from = unit_start(numbers),
                                            .to = numbers->unit[n],
                                            .origin = NONE,
                                            .source = NONE,
                                            .target = n,
                                            .weight = 0});
        }
    numbers->first_edge[unit_exit(numbers)] = numbers->edge_count;
    numbers->first_edge[unit_exit(numbers) + 1] = numbers->edge_count;
}

static void assign_values(struct path_numbering *numbers)
{
    for (uint32_t unit = 0; unit <= unit_start(numbers); unit++) {
        uint64_t value = 0;

        for (uint32_t e = numbers->first_edge[unit]; e < numbers->first_edge[unit + 1]; e++) {
            numbers->edges[e].value = value;
            value += numbers->count[numbers->edges[e].to];
        }
        if (unit == unit_start(numbers))
            numbers->count[unit] = value;
    }
    assert(numbers->count[unit_start(numbers)] <= PATH_LIMIT);
}

static uint32_t set_find(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

struct tree_key {
    uint64_t weight;
    uint32_t edge;
    bool forced;
};

static int compare_tree_keys(const void *a, const void *b)
{
    const struct tree_key *x = a, *y = b;

    if (x->forced != y->forced)
        return x->forced ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

// Maximum spanning forest (Kruskal), then potentials along it.
static void span(struct path_numbering *numbers)
{
    uint32_t units = numbers->node_count + 2;
    uint32_t *parent = xmalloc_array(units, sizeof(*parent));
    struct tree_key *keys = xmalloc_array(numbers->edge_count + 1u, sizeof(*keys));
    uint32_t *degree = xcalloc(units + 1u, sizeof(*degree));
    uint8_t *in_tree = xcalloc(numbers->edge_count + 1u, 1);

    for (uint32_t u = 0; u < units; u++)
        parent[u] = u;
    for (uint32_t e = 0; e < numbers->edge_count; e++)
        keys[e] = (struct tree_key){numbers->edges[e].weight, e, numbers->edges[e].forced};
    qsort(keys, numbers->edge_count, sizeof(*keys), compare_tree_keys);
    for (uint32_t k = 0; k < numbers->edge_count; k++) {
        struct edge *edge = &numbers->edges[keys[k].edge];
        uint32_t a = set_find(parent, edge->from), b = set_find(parent, edge->to);

        if (a == b)
            continue;
        parent[a] = b;
        in_tree[keys[k].edge] = 1;
        degree[edge->from]++;
        degree[edge->to]++;
    }
    // Walk the tree from the exit, over an adjacency list.
    uint32_t *at = xcalloc(units + 1u, sizeof(*at));
    for (uint32_t u = 0; u < units; u++)
        at[u + 1] = at[u] + degree[u];
    uint32_t *adjacent = xmalloc_array(at[units] + 1u, sizeof(*adjacent));
    uint32_t *fill = xmemdup(at, (units + 1u) * sizeof(*at));
    for (uint32_t e = 0; e < numbers->edge_count; e++)
        if (in_tree[e]) {
            adjacent[fill[numbers->edges[e].from]++] = e;
            adjacent[fill[numbers->edges[e].to]++] = e;
        }
    uint32_t *queue = xmalloc_array(units, sizeof(*queue));
    uint8_t *seen = xcalloc(units, 1);
    uint32_t head = 0, tail = 0;
    queue[tail++] = unit_exit(numbers);
    seen[unit_exit(numbers)] = 1;
    while (head < tail) {
        uint32_t u = queue[head++];

        for (uint32_t k = at[u]; k < at[u + 1]; k++) {
            const struct edge *edge = &numbers->edges[adjacent[k]];
            uint32_t other = edge->from == u ? edge->to : edge->from;

            if (seen[other])
                continue;
            seen[other] = 1;
            numbers->potential[other] = edge->from == u ? numbers->potential[u] + edge->value
                                                        : numbers->potential[u] - edge->value;
            queue[tail++] = other;
        }
    }
    free(parent);
    free(keys);
    free(degree);
    free(in_tree);
    free(at);
    free(adjacent);
    free(fill);
    free(queue);
    free(seen);
}

static bool changes_sum(const struct path_numbering *numbers, uint32_t edge)
{
    struct path_edge_action action = path_edge_action(numbers, edge);

    return !action.inside && (action.cut || action.increment);
}

// One round: the nodes at whose start the word holds the sum on every way there. Returns whether
// any is no longer among them.
static bool spread_stale(const struct path_numbering *numbers, uint8_t *fresh)
{
    const struct path_graph *graph = numbers->graph;
    bool changed = false;

    for (uint32_t i = 0; i < numbers->order_count; i++) {
        uint32_t n = numbers->order[i];
        bool twice = graph->node_flags[n] & PATH_NODE_RETURNS_TWICE;
        bool after = !twice && (fresh[n] || (graph->node_flags[n] & PATH_NODE_CALL));

        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            uint32_t to = graph->successor[e];

            if (!fresh[to] || (after && !changes_sum(numbers, e)))
                continue;
            fresh[to] = 0;
            changed = true;
        }
    }
    return changed;
}

static void find_stores(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;
    uint8_t *fresh = xmalloc(graph->node_count + 1u);

    memset(fresh, 1, graph->node_count);
    fresh[0] = 0;
    while (spread_stale(numbers, fresh))
        ;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        bool twice = graph->node_flags[n] & PATH_NODE_RETURNS_TWICE;
        bool calls = graph->node_flags[n] & PATH_NODE_CALL;

        numbers->stores[n] = numbers->reachable[n] && calls && (twice || !fresh[n]);
    }
    free(fresh);
}

bool path_stores(const struct path_numbering *numbers, uint32_t node)
{
    return numbers->stores[node];
}

struct path_numbering *path_numbering_create(const struct path_graph *graph, bool collapse)
{
    uint32_t nodes = graph->node_count, edges = graph->successor_start[nodes];
    struct path_numbering *numbers = xcalloc(1, sizeof(*numbers));

    assert(nodes > 0);
    numbers->graph = graph;
    numbers->node_count = nodes;
    numbers->reachable = xcalloc(nodes, 1);
    numbers->cut = xcalloc(edges + 1u, 1);
    numbers->unit = xmalloc_array(nodes, sizeof(uint32_t));
    numbers->is_loop = xcalloc(nodes, 1);
    numbers->starts = xcalloc(nodes, 1);
    numbers->stores = xcalloc(nodes, 1);
    numbers->order = xmalloc_array(nodes, sizeof(uint32_t));
    numbers->depth = xcalloc(nodes, sizeof(uint16_t));
    // every graph edge, an exit a node, a start a node
    numbers->edges = xcalloc(edges + 2ull * nodes + 1, sizeof(*numbers->edges));
    numbers->first_edge = xcalloc(nodes + 3ull, sizeof(uint32_t));
    numbers->edge_of = xmalloc_array(edges + 1ull, sizeof(uint32_t));
    numbers->start_edge = xcalloc(nodes, sizeof(uint32_t));
    numbers->count = xcalloc(nodes + 2ull, sizeof(uint64_t));
    numbers->potential = xcalloc(nodes + 2ull, sizeof(uint64_t));
    for (uint32_t n = 0; n < nodes; n++)
        numbers->unit[n] = n;
    memset(numbers->edge_of, 0xff, (edges + 1ull) * sizeof(uint32_t));

    search(numbers);
    find_loops(numbers, collapse);
    cut_edges(numbers);
    number_edges(numbers);
    count_paths(numbers);
    mark_cuts_and_starts(numbers);
    assign_values(numbers);
    span(numbers);
    find_stores(numbers);
    return numbers;
}

void path_numbering_destroy(struct path_numbering *numbers)
{
    if (!numbers)
        return;
    free(numbers->reachable);
    free(numbers->cut);
    free(numbers->unit);
    free(numbers->is_loop);
    free(numbers->starts);
    free(numbers->order);
    free(numbers->depth);
    free(numbers->edges);
    free(numbers->first_edge);
    free(numbers->edge_of);
    free(numbers->start_edge);
    free(numbers->count);
    free(numbers->potential);
    free(numbers->stores);
    free(numbers);
}

uint64_t path_count(const struct path_numbering *numbers)
{
    return numbers->count[unit_start(numbers)];
}

uint64_t path_range(const struct path_numbering *numbers)
{
    uint64_t start = numbers->potential[unit_start(numbers)], most = 0;

    for (uint32_t unit = 0; unit <= unit_exit(numbers); unit++) {
        uint64_t up = numbers->potential[unit] - start, down = start - numbers->potential[unit];
        uint64_t distance = up < down ? up : down;

        if (most < distance)
            most = distance;
    }
    return path_count(numbers) + most;
}

bool path_has_cuts(const struct path_numbering *numbers)
{
    return numbers->has_cuts;
}

bool path_reachable(const struct path_numbering *numbers, uint32_t node)
{
    return numbers->reachable[node];
}

uint32_t path_unit(const struct path_numbering *numbers, uint32_t node)
{
    return numbers->unit[node];
}

bool path_is_start(const struct path_numbering *numbers, uint32_t node)
{
    return numbers->starts[node];
}

static uint64_t chord(const struct path_numbering *numbers, const struct edge *edge)
{
    return edge->value + numbers->potential[edge->from] - numbers->potential[edge->to];
}

struct path_edge_action path_edge_action(const struct path_numbering *numbers, uint32_t edge)
{
    uint32_t e = numbers->edge_of[edge];

    if (e == NONE)
        return (struct path_edge_action){.inside = true};
    return (struct path_edge_action){.cut = numbers->cut[edge],
                                     .increment = chord(numbers, &numbers->edges[e])};
}

uint64_t path_start(const struct path_numbering *numbers, uint32_t node)
{
    assert(numbers->starts[node]);
    return chord(numbers, &numbers->edges[numbers->start_edge[node]]);
}

static void push_step(struct path *path, uint32_t *capacity, uint32_t node,
                      enum path_step_kind kind)
{
    if (path->step_count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        path->steps = xrealloc_array(path->steps, *capacity, sizeof(*path->steps));
    }
    path->steps[path->step_count++] = (struct path_step){node, kind};
}

// Steps for arriving at `node`, which begins its unit.
static void push_arrival(const struct path_numbering *numbers, struct path *path,
                         uint32_t *capacity, uint32_t node)
{
    bool loop = numbers->is_loop[numbers->unit[node]];

    push_step(path, capacity, numbers->unit[node], loop ? PATH_STEP_LOOP : PATH_STEP_NODE);
}

// The edge of `unit` whose value range holds `rest`.
static const struct edge *choose_edge(const struct path_numbering *numbers, uint32_t unit,
                                      uint64_t rest)
{
    uint32_t low = numbers->first_edge[unit], high = numbers->first_edge[unit + 1];

    assert(low < high && rest < numbers->count[unit]);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (numbers->edges[middle].value <= rest)
            low = middle;
        else
            high = middle;
    }
    return &numbers->edges[low];
}

// Follow value sum `rest` from the start until `stop` (a unit) is reached.
static bool follow(const struct path_numbering *numbers, uint64_t rest, uint32_t stop,
                   struct path *out)
{
    struct path path = {0};
    uint32_t capacity = 0, unit = unit_start(numbers);

    if (rest >= path_count(numbers))
        return false;
    for (;;) {
        const struct edge *edge = choose_edge(numbers, unit, rest);

        rest -= edge->value;
        if (unit == unit_start(numbers))
            path.start = edge->target;
        else if (numbers->is_loop[unit])
            push_step(&path, &capacity, edge->source, PATH_STEP_NODE);
        if (edge->to == unit_exit(numbers)) {
            path.end = edge->origin == NONE ? PATH_END_EXIT : PATH_END_CUT;
            path.next = edge->target;
            break;
        }
        unit = edge->to;
        push_arrival(numbers, &path, &capacity, edge->target);
        if (unit == stop) {
            path.end = PATH_END_HERE;
            path.next = NONE;
            break;
        }
    }
    if (rest != 0 || (stop != NONE) != (path.end == PATH_END_HERE)) {
        path_deinit(&path);
        return false;
    }
    *out = path;
    return true;
}

bool path_numbering_decode_finished(const struct path_numbering *numbers, uint64_t sum,
                                    struct path *out)
{
    uint64_t value =
        sum + numbers->potential[unit_exit(numbers)] - numbers->potential[unit_start(numbers)];

    return follow(numbers, value, NONE, out);
}

bool path_numbering_decode(const struct path_numbering *numbers, uint64_t sum, uint32_t node,
                           struct path *out)
{
    if (node >= numbers->node_count || !numbers->reachable[node])
        return false;
    uint64_t value =
        sum + numbers->potential[numbers->unit[node]] - numbers->potential[unit_start(numbers)];

    return follow(numbers, value, numbers->unit[node], out);
}

void path_deinit(struct path *path)
{
    free(path->steps);
    *path = (struct path){0};
}

uint64_t path_graph_checksum(const struct path_graph *graph)
{
    uint32_t edges = graph->successor_start[graph->node_count];
    uint64_t hash = hash_u64(HASH_SEED, graph->node_count);

    hash = hash_bytes(hash, graph->successor_start, (graph->node_count + 1ull) * sizeof(uint32_t));
    hash = hash_bytes(hash, graph->successor, edges * sizeof(uint32_t));
    hash = hash_bytes(hash, graph->node_flags, graph->node_count);
    return hash_bytes(hash, graph->edge_flags, edges);
}

struct layout_shape path_shape(const struct path_numbering *numbers, uint32_t site_count,
                               uint32_t level, bool optimized)
{
    struct layout_shape shape = {.eager = level == SECTION_LEVEL_FULL || !optimized};

    shape.has_path =
        level >= SECTION_LEVEL_PATHS && path_count(numbers) > 1 && (shape.eager || site_count > 0);
    shape.has_last = shape.has_path && path_has_cuts(numbers);
    shape.has_older = shape.has_last && level == SECTION_LEVEL_FULL;
    shape.wide = path_range(numbers) > LAYOUT_NARROW_RANGE;
    return shape;
}

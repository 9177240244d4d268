// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers, increments, and where they are stored; see path_number.h.
 *
 * Numbers follow Ball and Larus, "Efficient path profiling" (MICRO'96), sections 3.1 to 3.3, turned
 * round: an edge's value counts the paths that come to its target before it, so that a path is
 * known by its sum and the unit where it stands, finished or not. Increments are chords of a
 * spanning tree as there; a sum is never read at a region's end, so the tree needs no edge back.
 */
#include "program/path_internal.h"

#include "common/alloc.h"
#include "common/hash.h"
#include "layout/section.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t path_region_of(const struct path_numbering *numbers, uint32_t node)
{
    uint32_t region = numbers->region[node];

    return numbers->regions[region].opaque ? numbers->regions[region].parent : region;
}

bool path_region_holds(const struct path_numbering *numbers, uint32_t region, uint32_t inner)
{
    while (inner != region && inner != PATH_NONE)
        inner = numbers->regions[inner].parent;
    return inner == region;
}

uint32_t path_unit_in(const struct path_numbering *numbers, uint32_t region, uint32_t node)
{
    uint32_t inner = numbers->region[node];

    if (inner == region)
        return node;
    while (numbers->regions[inner].parent != region)
        inner = numbers->regions[inner].parent;
    return path_loop_unit(numbers, inner);
}

bool path_reachable(const struct path_numbering *numbers, uint32_t node)
{
    return numbers->reachable[node];
}

bool path_in_loop(const struct path_numbering *numbers, uint32_t header, uint32_t node)
{
    if (!numbers->reachable[node])
        return false;
    for (uint32_t r = numbers->region[node]; r != 0; r = numbers->regions[r].parent)
        if (numbers->regions[r].header == header)
            return true;
    return false;
}

// ---- Edges of regions

static uint32_t first_parallel(const struct path_graph *graph, uint32_t node, uint32_t edge)
{
    for (uint32_t e = graph->successor_start[node]; e < edge; e++)
        if (graph->successor[e] == graph->successor[edge])
            return e;
    return edge;
}

// The innermost region that holds both and is not opaque.
static uint32_t common_region(const struct path_numbering *numbers, uint32_t a, uint32_t b)
{
    uint32_t region = path_region_of(numbers, a), other = path_region_of(numbers, b);

    while (!path_region_holds(numbers, region, other))
        region = numbers->regions[region].parent;
    return region;
}

// Is what was kept of the region perhaps wrong when control goes on from there? A jump has led back
// to behind a call, perhaps into a loop that had been left.
static bool comes_from_twice(const struct path_numbering *numbers, uint32_t node, uint32_t from)
{
    return path_unit_is_loop(numbers, from)
               ? path_unit_loop(numbers, from)->twice
               : (numbers->graph->node_flags[node] & PATH_NODE_RETURNS_TWICE) != 0;
}

static struct path_edge classify(const struct path_numbering *numbers, uint32_t node, uint32_t e)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t target = graph->successor[e];
    struct path_edge edge = {.source = node, .target = target};

    if (!numbers->reachable[node] || first_parallel(graph, node, e) != e)
        return edge;
    edge.region = common_region(numbers, node, target);
    edge.from = path_unit_in(numbers, edge.region, node);
    edge.to = path_unit_in(numbers, edge.region, target);
    if (graph->edge_flags[e] & PATH_EDGE_SHARED)
        edge.kind = PATH_EDGE_AT_TARGET;
    else if (edge.region && numbers->regions[edge.region].header == target)
        edge.kind = PATH_EDGE_BACK;
    else if (edge.from == edge.to && path_unit_is_loop(numbers, edge.to))
        edge.kind = PATH_EDGE_NOTHING;
    else if (comes_from_twice(numbers, node, edge.from))
        edge.kind = PATH_EDGE_RESTART;
    else
        edge.kind = PATH_EDGE_PLAIN;
    return edge;
}

// Paths may begin at the units that hold `node`, from region `top` inwards.
static void add_starts(struct path_numbering *numbers, uint32_t top, uint32_t node, bool twice)
{
    for (uint32_t r = path_region_of(numbers, node);; r = numbers->regions[r].parent) {
        struct path_unit *unit = &numbers->units[path_unit_in(numbers, r, node)];

        unit->starts = 1;
        unit->from_twice |= twice;
        if (r == top)
            break;
    }
}

// The loops that control enters by this edge.
static void enter_loops(struct path_numbering *numbers, const struct path_edge *edge)
{
    for (uint32_t r = numbers->region[edge->target]; r != edge->region;
         r = numbers->regions[r].parent) {
        struct path_region *loop = &numbers->regions[r];

        if (edge->from == edge->to) // an opaque one, of which this is an edge
            return;
        loop->sideways |= edge->target != loop->header;
        if (!loop->opaque)
            numbers->units[path_unit_in(numbers, r, edge->target)].starts = 1;
    }
}

static void find_edges(struct path_numbering *numbers)
{
    const struct path_graph *graph = numbers->graph;

    for (uint32_t n = 0; n < graph->node_count; n++)
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            struct path_edge *edge = &numbers->edges[e];

            *edge = classify(numbers, n, e);
            if (edge->kind == PATH_EDGE_NOTHING)
                continue;
            uint32_t *top = &numbers->shared_top[edge->target];
            if (edge->kind == PATH_EDGE_AT_TARGET &&
                (*top == PATH_NONE || path_region_holds(numbers, edge->region, *top)))
                *top = edge->region;
            if (edge->kind == PATH_EDGE_BACK || edge->kind == PATH_EDGE_RESTART)
                add_starts(numbers, edge->region, edge->target,
                           comes_from_twice(numbers, n, edge->from));
            enter_loops(numbers, edge);
        }
    for (uint32_t n = 0; n < graph->node_count; n++)
        if (numbers->shared_top[n] != PATH_NONE)
            add_starts(numbers, numbers->shared_top[n], n, false);
    add_starts(numbers, 0, 0, false);
}

/*
 * In an eager function a pass through a loop begins with one constant when control enters it, and
 * with another when it comes round: two paths that lead to the header, without one instruction
 * more. Not where an edge cannot tell which it is.
 */
static void find_rounds(struct path_numbering *numbers)
{
    for (uint32_t r = 1; r < numbers->region_count; r++) {
        struct path_region *loop = &numbers->regions[r];
        struct path_unit *header = &numbers->units[loop->header];

        loop->counts_rounds = !loop->opaque && !loop->twice && !loop->sideways && header->starts &&
                              !header->from_twice && numbers->shared_top[loop->header] == PATH_NONE;
        if (loop->counts_rounds)
            header->starts = 2;
    }
}

// Plain edges by the unit they lead to, in the order of their sources.
static void index_edges(struct path_numbering *numbers)
{
    uint32_t count = numbers->graph->successor_start[numbers->graph->node_count];
    uint32_t units = path_start_unit(numbers, numbers->region_count);

    numbers->in_start = xcalloc(units + 2ull, sizeof(uint32_t));
    numbers->in_edge = xmalloc_array(count + 1ull, sizeof(uint32_t));
    for (uint32_t e = 0; e < count; e++)
        if (numbers->edges[e].kind == PATH_EDGE_PLAIN)
            numbers->in_start[numbers->edges[e].to + 2]++;
    for (uint32_t u = 0; u < units; u++)
        numbers->in_start[u + 2] += numbers->in_start[u + 1];
    for (uint32_t e = 0; e < count; e++)
        if (numbers->edges[e].kind == PATH_EDGE_PLAIN)
            numbers->in_edge[numbers->in_start[numbers->edges[e].to + 1]++] = e;
}

// ---- Numbers

// All units but starting points, each after those that lead to it.
static uint32_t *sort_units(const struct path_numbering *numbers, uint32_t *ret_count)
{
    const struct path_graph *graph = numbers->graph;
    uint32_t units = path_start_unit(numbers, 0), edges = graph->successor_start[graph->node_count];
    uint32_t *sorted = xmalloc_array(units + 1u, sizeof(*sorted)), count = 0;
    uint32_t *waiting = xcalloc(units + 1u, sizeof(*waiting));
    uint32_t *out_start = xcalloc(units + 2u, sizeof(*out_start));
    uint32_t *out = xmalloc_array(edges + 1u, sizeof(*out));

    for (uint32_t e = 0; e < edges; e++)
        if (numbers->edges[e].kind == PATH_EDGE_PLAIN) {
            waiting[numbers->edges[e].to]++;
            out_start[numbers->edges[e].from + 2]++;
        }
    for (uint32_t u = 0; u < units; u++)
        out_start[u + 2] += out_start[u + 1];
    for (uint32_t e = 0; e < edges; e++)
        if (numbers->edges[e].kind == PATH_EDGE_PLAIN)
            out[out_start[numbers->edges[e].from + 1]++] = numbers->edges[e].to;
    for (uint32_t u = 0; u < units; u++)
        if (!waiting[u])
            sorted[count++] = u;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = out_start[sorted[i]]; k < out_start[sorted[i] + 1]; k++)
            if (--waiting[out[k]] == 0)
                sorted[count++] = out[k];
    assert(count == units);
    free(waiting);
    free(out_start);
    free(out);
    *ret_count = count;
    return sorted;
}

static void count_unit(struct path_numbering *numbers, uint32_t u)
{
    struct path_unit *unit = &numbers->units[u];
    uint64_t reach = unit->starts;

    for (uint32_t k = numbers->in_start[u]; k < numbers->in_start[u + 1]; k++) {
        struct path_edge *edge = &numbers->edges[numbers->in_edge[k]];

        edge->value = reach;
        reach += numbers->units[edge->from].reach;
        // each addend is at most the limit, and edges are fewer than 2^32
        if (reach > LAYOUT_MOST_PATHS)
            break;
    }
    unit->reach = reach;
    if (reach <= LAYOUT_MOST_PATHS)
        return;
    for (uint32_t k = numbers->in_start[u]; k < numbers->in_start[u + 1]; k++)
        numbers->edges[numbers->in_edge[k]].kind = PATH_EDGE_RESTART;
    unit->starts = 1;
    unit->reach = 1;
}

// ---- Chords

static uint32_t set_find(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

// An edge of the spanning tree, or one that may become it: of the graph, or the start of a region.
struct tree_edge {
    uint32_t from, to, weight, order;
    uint64_t value;
};

static int compare_tree_edges(const void *a, const void *b)
{
    const struct tree_edge *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Deeper loops run more often. Starts are constants, whatever their value.
static uint32_t weight_of(const struct path_numbering *numbers, const struct path_edge *edge)
{
    return 1 + numbers->regions[edge->region].depth;
}

static struct tree_edge *tree_candidates(const struct path_numbering *numbers, uint32_t *ret_count)
{
    uint32_t edges = numbers->graph->successor_start[numbers->graph->node_count];
    uint32_t units = path_start_unit(numbers, 0), count = 0;
    struct tree_edge *all = xmalloc_array(edges + units + 1ull, sizeof(*all));

    for (uint32_t e = 0; e < edges; e++) {
        const struct path_edge *edge = &numbers->edges[e];

        if (edge->kind == PATH_EDGE_PLAIN)
            all[count++] =
                (struct tree_edge){edge->from, edge->to, weight_of(numbers, edge), e, edge->value};
    }
    for (uint32_t u = 0; u < units; u++) {
        if (!numbers->units[u].starts)
            continue;
        uint32_t region =
            path_unit_is_loop(numbers, u) ? path_unit_loop(numbers, u)->parent : numbers->region[u];
        all[count++] = (struct tree_edge){path_start_unit(numbers, region), u, 0, edges + u, 0};
    }
    qsort(all, count, sizeof(*all), compare_tree_edges);
    *ret_count = count;
    return all;
}

// Keeps of the candidates those of a maximum spanning forest (Kruskal); how many.
static uint32_t span(struct tree_edge *edges, uint32_t count, uint32_t units)
{
    uint32_t *parent = xmalloc_array(units + 1u, sizeof(*parent)), kept = 0;

    for (uint32_t u = 0; u < units; u++)
        parent[u] = u;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = set_find(parent, edges[i].from), b = set_find(parent, edges[i].to);

        if (a == b)
            continue;
        parent[a] = b;
        edges[kept++] = edges[i];
    }
    free(parent);
    return kept;
}

// Potentials along the tree, from the starting points: so that its edges add nothing.
static void assign_potentials(struct path_numbering *numbers)
{
    uint32_t units = path_start_unit(numbers, numbers->region_count), count, head = 0, tail = 0;
    struct tree_edge *tree = tree_candidates(numbers, &count);

    count = span(tree, count, units);
    uint32_t *at = xcalloc(units + 2u, sizeof(*at));
    uint32_t *adjacent = xmalloc_array(2ull * count + 1, sizeof(*adjacent));
    uint32_t *queue = xmalloc_array(units + 1u, sizeof(*queue));
    uint8_t *seen = xcalloc(units + 1u, 1);

    for (uint32_t i = 0; i < count; i++) {
        at[tree[i].from + 2]++;
        at[tree[i].to + 2]++;
    }
    for (uint32_t u = 0; u < units; u++)
        at[u + 2] += at[u + 1];
    for (uint32_t i = 0; i < count; i++) {
        adjacent[at[tree[i].from + 1]++] = i;
        adjacent[at[tree[i].to + 1]++] = i;
    }
    for (uint32_t r = 0; r < numbers->region_count; r++) {
        queue[tail++] = path_start_unit(numbers, r);
        seen[path_start_unit(numbers, r)] = 1;
    }
    while (head < tail) {
        uint32_t u = queue[head++];

        for (uint32_t k = at[u]; k < at[u + 1]; k++) {
            const struct tree_edge *edge = &tree[adjacent[k]];
            uint32_t other = edge->from == u ? edge->to : edge->from;

            if (seen[other])
                continue;
            seen[other] = 1;
            numbers->units[other].potential = edge->from == u
                                                  ? numbers->units[u].potential + edge->value
                                                  : numbers->units[u].potential - edge->value;
            queue[tail++] = other;
        }
    }
    free(tree);
    free(at);
    free(adjacent);
    free(queue);
    free(seen);
}

// value + potential of the source - potential of the target: 0 along the tree.
static uint64_t chord(const struct path_numbering *numbers, const struct path_edge *edge)
{
    return edge->value + numbers->units[edge->from].potential - numbers->units[edge->to].potential;
}

static uint64_t distance(uint64_t sum)
{
    return sum < 0 - sum ? sum : 0 - sum;
}

static void find_range(struct path_numbering *numbers)
{
    for (uint32_t u = 0; u < path_start_unit(numbers, 0); u++) {
        const struct path_unit *unit = &numbers->units[u];
        uint64_t first = 0 - unit->potential, most;

        if (!unit->reach)
            continue;
        most = distance(first) + unit->reach;
        if (numbers->range < most)
            numbers->range = most;
    }
}

// ---- Words

// Does somebody ask how control came to this unit? Of an eager function, everywhere.
static bool is_asked_for(const struct path_numbering *numbers, uint32_t unit, bool eager)
{
    if (numbers->units[unit].reach < 2)
        return false;
    if (eager)
        return true;
    return path_unit_is_loop(numbers, unit) ? path_unit_loop(numbers, unit)->calls
                                            : numbers->graph->node_flags[unit] != 0;
}

static void find_words(struct path_numbering *numbers)
{
    uint8_t *lazy = xcalloc(numbers->region_count + 1u, 1);
    uint8_t *eager = xcalloc(numbers->region_count + 1u, 1);

    for (uint32_t u = 0; u < path_start_unit(numbers, 0); u++) {
        bool loop = path_unit_is_loop(numbers, u);

        if (loop ? path_unit_loop(numbers, u)->parent == PATH_NONE : !numbers->reachable[u])
            continue;
        uint32_t region = loop ? path_unit_loop(numbers, u)->parent : numbers->region[u];
        lazy[region] |= is_asked_for(numbers, u, false);
        eager[region] |= is_asked_for(numbers, u, true);
    }
    for (uint32_t r = 0; r < numbers->region_count; r++) {
        struct path_region *region = &numbers->regions[r];

        region->word = lazy[r] ? 0 : PATH_NONE;
        region->word_if_eager = eager[r] ? 0 : PATH_NONE;
        // a parent has a smaller number
        for (uint32_t p = region->parent; p != PATH_NONE; p = numbers->regions[p].parent) {
            if (lazy[r])
                region->word += lazy[p];
            if (eager[r])
                region->word_if_eager += eager[p];
        }
    }
    free(lazy);
    free(eager);
}

uint32_t path_region_word(const struct path_numbering *numbers, const struct layout_shape *shape,
                          uint32_t region)
{
    const struct path_region *r = &numbers->regions[region];
    uint32_t word = shape->eager ? r->word_if_eager : r->word;

    return word < shape->words ? word : PATH_NONE;
}

/*
 * Lazy functions store a region's sum before each call and on each edge into a loop with calls,
 * where somebody asks for it and the word does not hold it on every way there. `fresh` is by unit:
 * does the word hold the sum when control leaves it?
 */
static void find_stores_of(struct path_numbering *numbers, uint32_t u, uint8_t *fresh)
{
    struct path_unit *unit = &numbers->units[u];
    bool loop = path_unit_is_loop(numbers, u), asked = is_asked_for(numbers, u, false);
    bool all = !unit->starts || (loop && asked); // start_region() stores it

    for (uint32_t k = numbers->in_start[u]; k < numbers->in_start[u + 1]; k++) {
        struct path_edge *edge = &numbers->edges[numbers->in_edge[k]];
        bool holds = edge->kind == PATH_EDGE_PLAIN && fresh[edge->from] && !chord(numbers, edge);

        edge->stores = asked && loop && edge->kind == PATH_EDGE_PLAIN && !holds;
        all &= holds || (asked && loop);
    }
    unit->stores = asked && !loop && !all;
    fresh[u] = all || unit->stores;
}

static void number(struct path_numbering *numbers)
{
    uint32_t count, *sorted = sort_units(numbers, &count);
    uint8_t *fresh = xcalloc(path_start_unit(numbers, 0) + 1u, 1);

    for (uint32_t i = 0; i < count; i++)
        count_unit(numbers, sorted[i]);
    assign_potentials(numbers);
    find_range(numbers);
    find_words(numbers);
    for (uint32_t i = 0; i < count; i++)
        find_stores_of(numbers, sorted[i], fresh);
    free(sorted);
    free(fresh);
}

struct path_numbering *path_numbering_create(const struct path_graph *graph, bool collapse,
                                             bool eager)
{
    uint32_t nodes = graph->node_count, edges = graph->successor_start[nodes];
    struct path_numbering *numbers = xcalloc(1, sizeof(*numbers));

    assert(nodes > 0);
    numbers->graph = graph;
    numbers->collapse = collapse;
    numbers->reachable = xcalloc(nodes, 1);
    numbers->order = xmalloc_array(nodes, sizeof(uint32_t));
    numbers->position = xcalloc(nodes, sizeof(uint32_t));
    numbers->region = xcalloc(nodes, sizeof(uint32_t));
    numbers->edges = xcalloc(edges + 1ull, sizeof(*numbers->edges));
    numbers->shared_top = xmalloc_array(nodes, sizeof(uint32_t));
    memset(numbers->shared_top, 0xff, nodes * sizeof(uint32_t));
    path_find_loops(numbers);
    numbers->units =
        xcalloc(path_start_unit(numbers, numbers->region_count) + 1ull, sizeof(*numbers->units));
    find_edges(numbers);
    if (eager)
        find_rounds(numbers);
    index_edges(numbers);
    number(numbers);
    return numbers;
}

void path_numbering_destroy(struct path_numbering *numbers)
{
    if (!numbers)
        return;
    free(numbers->reachable);
    free(numbers->order);
    free(numbers->position);
    free(numbers->regions);
    free(numbers->region);
    free(numbers->edges);
    free(numbers->units);
    free(numbers->in_start);
    free(numbers->in_edge);
    free(numbers->shared_top);
    free(numbers);
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

struct layout_shape path_shape(const struct path_numbering *numbers, uint32_t level, bool eager)
{
    struct layout_shape shape = {.eager = eager, .wide = numbers->range > LAYOUT_NARROW_RANGE};

    for (uint32_t r = 0; level >= SECTION_LEVEL_PATHS && r < numbers->region_count; r++) {
        const struct path_region *region = &numbers->regions[r];
        uint32_t word = shape.eager ? region->word_if_eager : region->word;

        if (word != PATH_NONE && word >= shape.words)
            shape.words = (uint8_t)(word + 1);
    }
    assert(shape.words <= LAYOUT_MOST_WORDS);
    return shape;
}

// ---- Actions

struct action_list {
    const struct path_numbering *numbers;
    const struct layout_shape *shape;
    struct path_action *actions;
    uint32_t count;
};

static void add_action(struct action_list *list, uint32_t region, bool sets, bool stores,
                       uint64_t value)
{
    uint32_t word = path_region_word(list->numbers, list->shape, region);

    if (word == PATH_NONE || (!sets && !stores && !value))
        return;
    list->actions[list->count++] = (struct path_action){.word = word,
                                                        .region = region,
                                                        .sets = sets,
                                                        .stores = stores && !list->shape->eager,
                                                        .value = value};
}

// A path of the region begins at the unit that holds `node`. Where that is a loop with calls it is
// stored right away. `again`: at its header, to which control has come round.
static void start_region(struct action_list *list, uint32_t region, uint32_t node, bool again)
{
    uint32_t unit = path_unit_in(list->numbers, region, node);
    bool stores =
        path_unit_is_loop(list->numbers, unit) && is_asked_for(list->numbers, unit, false);

    add_action(list, region, true, stores,
               (uint64_t)(again && list->numbers->regions[region].counts_rounds) -
                   list->numbers->units[unit].potential);
}

// Paths begin in the regions around `node`, from `top` inwards; `top` itself not with `below`.
// `again`: it is the header of `top`.
static void start_regions(struct action_list *list, uint32_t top, bool below, uint32_t node,
                          bool again)
{
    uint32_t chain[LAYOUT_MOST_WORDS + 1], depth = 0;

    for (uint32_t r = path_region_of(list->numbers, node); r != top;
         r = list->numbers->regions[r].parent)
        chain[depth++] = r;
    if (!below)
        chain[depth++] = top;
    for (; depth; depth--)
        start_region(list, chain[depth - 1], node, again && chain[depth - 1] == top);
}

uint32_t path_edge_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                           uint32_t edge, struct path_action actions[PATH_MOST_ACTIONS])
{
    struct action_list list = {numbers, shape, actions, 0};
    const struct path_edge *e = &numbers->edges[edge];

    switch (e->kind) {
    case PATH_EDGE_NOTHING:
    case PATH_EDGE_AT_TARGET:
        break;
    case PATH_EDGE_PLAIN:
        add_action(&list, e->region, false, e->stores, chord(numbers, e));
        start_regions(&list, e->region, true, e->target, false);
        break;
    case PATH_EDGE_BACK:
    case PATH_EDGE_RESTART:
        start_regions(&list, e->region, false, e->target, e->kind == PATH_EDGE_BACK);
        break;
    }
    return list.count;
}

uint32_t path_shared_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                             uint32_t target, struct path_action actions[PATH_MOST_ACTIONS])
{
    struct action_list list = {numbers, shape, actions, 0};

    if (numbers->shared_top[target] != PATH_NONE)
        start_regions(&list, numbers->shared_top[target], false, target, false);
    return list.count;
}

uint32_t path_entry_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                            struct path_action actions[PATH_MOST_ACTIONS])
{
    struct action_list list = {numbers, shape, actions, 0};

    start_regions(&list, 0, false, 0, false);
    return list.count;
}

bool path_call_stores(const struct path_numbering *numbers, const struct layout_shape *shape,
                      uint32_t node, struct path_action *action)
{
    if (shape->eager || !numbers->reachable[node])
        return false;
    struct action_list list = {numbers, shape, action, 0};
    // a call inside of an opaque loop: what leads to it was stored when the loop was entered
    if (!numbers->regions[numbers->region[node]].opaque && numbers->units[node].stores)
        add_action(&list, numbers->region[node], false, true, 0);
    return list.count > 0;
}

struct layout_code path_code(const struct path_numbering *numbers, const struct layout_shape *shape,
                             uint64_t module_id, uint32_t index, uint32_t region)
{
    return layout_code_of(module_id, index, region, numbers->range, shape->wide);
}

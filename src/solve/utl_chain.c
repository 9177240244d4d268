// SPDX-License-Identifier: Apache-2.0
#include "solve/utl_chain.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/vec.h"

VEC_DEFINE(chain_vec, uint32_t);
VEC_DEFINE(chain_trace_vec, struct chain_trace);

struct chain {
    const struct chain_problem *problem;
    struct components components;
    bool *required;          // by component
    struct chain_vec points; // required components, in order
    uint32_t *points_before; // by component: how many of them have a smaller number
};

// Can a way take an edge between these components? Not over a way-point.
static bool is_on_way(const struct chain *chain, uint32_t from, uint32_t to)
{
    return from != DIGRAPH_NONE && to != DIGRAPH_NONE &&
           chain->points_before[to] - chain->points_before[from] <= chain->required[from];
}

// Marks the components of the symbols. False: a trace goes against the order of components.
static bool require_trace(struct chain *chain, const struct chain_trace *trace)
{
    const struct components *components = &chain->components;
    uint32_t last = DIGRAPH_NONE;

    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t component = components->of_node[trace->nodes[i]];

        if (component == DIGRAPH_NONE ||
            (last != DIGRAPH_NONE &&
             (component < last || (component == last && !components->is_cyclic[component]))))
            return false;
        chain->required[component] = true;
        last = component;
    }
    return true;
}

// Do the way-points form a chain? Between two of them only components between their numbers can
// lie.
static bool follow_chain(const struct chain *chain)
{
    const struct digraph *graph = chain->problem->graph;
    const uint32_t *of_node = chain->components.of_node;
    uint32_t *nodes = xmalloc_array(graph->count + 1u, sizeof(*nodes));
    uint32_t *begin = xcalloc(chain->components.count + 2u, sizeof(*begin));
    bool *reached = xcalloc(chain->components.count + 1u, sizeof(*reached));
    bool ok = true;

    for (uint32_t n = 0; n < graph->count; n++)
        if (of_node[n] != DIGRAPH_NONE)
            begin[of_node[n] + 2]++;
    for (uint32_t c = 0; c < chain->components.count; c++)
        begin[c + 2] += begin[c + 1];
    for (uint32_t n = 0; n < graph->count; n++)
        if (of_node[n] != DIGRAPH_NONE)
            nodes[begin[of_node[n] + 1]++] = n;
    for (size_t p = 0; ok && p + 1 < chain->points.length; p++) {
        uint32_t from = chain->points.data[p], to = chain->points.data[p + 1];

        reached[from] = true;
        for (uint32_t c = from; c < to && !reached[to]; c++)
            for (uint32_t i = begin[c]; reached[c] && i < begin[c + 1]; i++)
                for (uint32_t e = graph->start[nodes[i]]; e < graph->start[nodes[i] + 1]; e++)
                    if (of_node[graph->target[e]] <= to) // DIGRAPH_NONE is greater
                        reached[of_node[graph->target[e]]] = true;
        ok = reached[to];
        // what lies between does not count for what comes behind
        for (uint32_t c = from; c < to; c++)
            reached[c] = false;
    }
    free(nodes);
    free(begin);
    free(reached);
    return ok;
}

static bool chain_init(struct chain *chain, const struct chain_problem *problem, uint32_t removed)
{
    *chain = (struct chain){.problem = problem};
    components_init(&chain->components, problem->graph, problem->source, removed);
    chain->required = xcalloc(chain->components.count + 1u, sizeof(bool));
    uint32_t end = chain->components.of_node[problem->sink];
    if (end == DIGRAPH_NONE)
        return false;
    chain->required[chain->components.of_node[problem->source]] = true;
    chain->required[end] = true;
    for (uint32_t t = 0; t < problem->trace_count; t++)
        if (!require_trace(chain, &problem->traces[t]))
            return false;
    chain->points_before = xmalloc_array(chain->components.count + 1u, sizeof(uint32_t));
    for (uint32_t c = 0; c < chain->components.count; c++) {
        chain->points_before[c] = (uint32_t)chain->points.length;
        if (chain->required[c])
            chain_vec_push(&chain->points, c);
    }
    // nothing is visited behind the component that holds the sink
    if (chain->points.data[chain->points.length - 1] != end)
        return false;
    return follow_chain(chain);
}

static void chain_deinit(struct chain *chain)
{
    components_deinit(&chain->components);
    free(chain->required);
    free(chain->points_before);
    chain_vec_deinit(&chain->points);
}

bool chain_possible(const struct chain_problem *problem, uint32_t removed)
{
    struct chain chain;

    if (removed == problem->source || removed == problem->sink)
        return false;
    bool possible = chain_init(&chain, problem, removed);
    chain_deinit(&chain);
    return possible;
}

// ---- What lies between way-points

// By component: 1 reached from the way-point before it, 2 leads to the one behind it.
static uint8_t *useful_components(const struct chain *chain, const struct digraph *reverse)
{
    const struct digraph *graph = chain->problem->graph;
    const uint32_t *of_node = chain->components.of_node;
    uint32_t count = chain->components.count;
    uint8_t *useful = xcalloc(count + 1u, 1);
    uint32_t *nodes = xmalloc_array(graph->count + 1u, sizeof(*nodes));
    uint32_t *begin = xcalloc(count + 2u, sizeof(*begin));

    for (uint32_t n = 0; n < graph->count; n++)
        if (of_node[n] != DIGRAPH_NONE)
            begin[of_node[n] + 2]++;
    for (uint32_t c = 0; c < count; c++)
        begin[c + 2] += begin[c + 1];
    for (uint32_t n = 0; n < graph->count; n++)
        if (of_node[n] != DIGRAPH_NONE)
            nodes[begin[of_node[n] + 1]++] = n;
    for (uint32_t c = 0, seen = 0; c < count; c++) {
        // an edge over a way-point leads nowhere
        uint32_t limit = count;
        if (chain->required[c]) {
            useful[c] |= 1;
            seen++;
        }
        if (seen < chain->points.length)
            limit = chain->points.data[seen];
        for (uint32_t i = begin[c]; useful[c] & 1 && i < begin[c + 1]; i++)
            for (uint32_t e = graph->start[nodes[i]]; e < graph->start[nodes[i] + 1]; e++)
                if (of_node[graph->target[e]] <= limit && of_node[graph->target[e]] < count)
                    useful[of_node[graph->target[e]]] |= 1;
    }
    for (uint32_t c = count, left = (uint32_t)chain->points.length; c-- > 0;) {
        uint32_t limit = 0;
        if (chain->required[c]) {
            useful[c] |= 2;
            left--;
        }
        if (left)
            limit = chain->points.data[left - 1];
        for (uint32_t i = begin[c]; useful[c] & 2 && i < begin[c + 1]; i++)
            for (uint32_t e = reverse->start[nodes[i]]; e < reverse->start[nodes[i] + 1]; e++) {
                uint32_t from = of_node[reverse->target[e]];

                if (from != DIGRAPH_NONE && from >= limit)
                    useful[from] |= 2;
            }
    }
    free(nodes);
    free(begin);
    return useful;
}

// By component: no useful edge leads past it.
static bool *unavoidable_components(const struct chain *chain, const uint8_t *useful)
{
    const struct digraph *graph = chain->problem->graph;
    const uint32_t *of_node = chain->components.of_node;
    uint32_t count = chain->components.count;
    int32_t *over =
        xcalloc(count + 2u, sizeof(*over)); // edges that begin to, and cease to, pass over
    bool *unavoidable = xcalloc(count + 1u, sizeof(*unavoidable));
    int32_t depth = 0;

    for (uint32_t n = 0; n < graph->count; n++)
        for (uint32_t e = graph->start[n]; e < graph->start[n + 1]; e++) {
            uint32_t from = of_node[n], to = of_node[graph->target[e]];

            if (!is_on_way(chain, from, to) || useful[from] != 3 || useful[to] != 3 ||
                to <= from + 1)
                continue;
            over[from + 1]++;
            over[to]--;
        }
    for (uint32_t c = 0; c < count; c++) {
        depth += over[c];
        unavoidable[c] = useful[c] == 3 && (depth == 0 || chain->required[c]);
    }
    free(over);
    return unavoidable;
}

// ---- Inside of one component

// The component as a problem of its own, with a source before its ways in and a sink behind its
// ways out.
struct inside {
    struct digraph graph, reverse;
    uint32_t *node; // of the whole graph
    uint32_t count; // nodes of the component: 0 .. count-1; source, sink follow
    struct chain_trace_vec traces;
    struct chain_vec symbols; // all traces' nodes
    struct chain_problem problem;
};

static void inside_traces(struct inside *inside, const struct chain *chain, uint32_t component,
                          const uint32_t *local)
{
    const uint32_t *of_node = chain->components.of_node;
    struct chain_vec starts = VEC_INIT;

    for (uint32_t t = 0; t < chain->problem->trace_count; t++) {
        const struct chain_trace *trace = &chain->problem->traces[t];
        uint32_t first = (uint32_t)inside->symbols.length;

        for (uint32_t i = 0; i < trace->count; i++)
            if (of_node[trace->nodes[i]] == component)
                chain_vec_push(&inside->symbols, local[trace->nodes[i]]);
        if (inside->symbols.length > first)
            chain_vec_push(&starts, first);
    }
    chain_vec_push(&starts, (uint32_t)inside->symbols.length);
    for (size_t s = 0; s + 1 < starts.length; s++)
        chain_trace_vec_push(&inside->traces,
                             (struct chain_trace){inside->symbols.data + starts.data[s],
                                                  starts.data[s + 1] - starts.data[s]});
    chain_vec_deinit(&starts);
}

static void inside_init(struct inside *inside, const struct chain *chain, const uint8_t *useful,
                        uint32_t component, const uint32_t *members, uint32_t count,
                        uint32_t *local)
{
    const struct digraph *graph = chain->problem->graph;
    const uint32_t *of_node = chain->components.of_node;
    uint32_t source = count, sink = count + 1;

    *inside = (struct inside){.count = count};
    inside->node = xmalloc_array(count + 1u, sizeof(uint32_t));
    memcpy(inside->node, members, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++)
        local[members[i]] = i;
    digraph_init(&inside->graph, count + 2);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = graph->start[members[i]]; e < graph->start[members[i] + 1]; e++) {
            uint32_t target = graph->target[e], to = of_node[target];

            if (to == component)
                digraph_add(&inside->graph, i, local[target]);
            else if (is_on_way(chain, component, to) && useful[to] == 3)
                digraph_add(&inside->graph, i, sink);
        }
    inside->problem = (struct chain_problem){&inside->graph, source, sink, NULL, 0};
    inside_traces(inside, chain, component, local);
    inside->problem.traces = inside->traces.data;
    inside->problem.trace_count = (uint32_t)inside->traces.length;
}

// The ways in: useful edges from before; and the whole problem's own source and sink.
static void inside_ends(struct inside *inside, const struct chain *chain, const uint8_t *useful,
                        const struct digraph *reverse, uint32_t component)
{
    const uint32_t *of_node = chain->components.of_node;

    for (uint32_t i = 0; i < inside->count; i++) {
        uint32_t node = inside->node[i];

        if (node == chain->problem->source)
            digraph_add(&inside->graph, inside->problem.source, i);
        if (node == chain->problem->sink)
            digraph_add(&inside->graph, i, inside->problem.sink);
        for (uint32_t e = reverse->start[node]; e < reverse->start[node + 1]; e++) {
            uint32_t from = of_node[reverse->target[e]];

            if (from != component && is_on_way(chain, from, component) && useful[from] == 3)
                digraph_add(&inside->graph, inside->problem.source, i);
        }
    }
    digraph_close(&inside->graph);
    digraph_init_reverse(&inside->reverse, &inside->graph);
}

static void inside_deinit(struct inside *inside)
{
    digraph_deinit(&inside->graph);
    digraph_deinit(&inside->reverse);
    free(inside->node);
    chain_trace_vec_deinit(&inside->traces);
    chain_vec_deinit(&inside->symbols);
}

// Marks the dominators of `node`, up to the root.
static void mark_dominators(const uint32_t *dominator, uint32_t node, uint8_t *mark, uint8_t bit)
{
    while (!(mark[node] & bit)) {
        mark[node] |= bit;
        if (dominator[node] == node || dominator[node] == DIGRAPH_NONE)
            return;
        node = dominator[node];
    }
}

enum {
    MARK_MUST = 1u << 0, // on every way from the source, or to the sink
    MARK_FROM = 1u << 1, // between the first symbol and another
    MARK_TO = 1u << 2,   // between another and the first symbol
    MARK_SYMBOL = 1u << 3,
};

/*
 * Certain: symbols, and what dominates one from the source or the sink. Certain not: what lies on
 * no way that is needed to keep all symbols in one component with the first of them, since then
 * they can be visited in any order, any number of times. The rest is tried.
 */
static void inside_marks(const struct inside *inside, uint8_t *mark)
{
    uint32_t source = inside->problem.source, sink = inside->problem.sink;
    uint32_t *down = digraph_dominators(&inside->graph, &inside->reverse, source);
    uint32_t *up = digraph_dominators(&inside->reverse, &inside->graph, sink);

    mark_dominators(down, sink, mark, MARK_MUST);
    for (size_t s = 0; s < inside->symbols.length; s++) {
        mark[inside->symbols.data[s]] |= MARK_SYMBOL;
        mark_dominators(down, inside->symbols.data[s], mark, MARK_MUST);
    }
    // the bit stops the walk where the other tree went: a mark of its own for the other direction
    uint8_t *other = xcalloc(inside->graph.count + 1u, 1);
    mark_dominators(up, source, other, MARK_MUST);
    for (size_t s = 0; s < inside->symbols.length; s++)
        mark_dominators(up, inside->symbols.data[s], other, MARK_MUST);
    for (uint32_t i = 0; i < inside->graph.count; i++)
        mark[i] |= other[i];
    free(other);
    free(down);
    free(up);
    if (!inside->symbols.length)
        return;
    uint32_t first = inside->symbols.data[0];
    down = digraph_dominators(&inside->graph, &inside->reverse, first);
    up = digraph_dominators(&inside->reverse, &inside->graph, first);
    for (size_t s = 1; s < inside->symbols.length; s++) {
        mark_dominators(down, inside->symbols.data[s], mark, MARK_FROM);
        mark_dominators(up, inside->symbols.data[s], mark, MARK_TO);
    }
    free(down);
    free(up);
}

// One node that has to be visited several times: whatever breaks its cycles counts.
static bool repeats_one_node(const struct inside *inside)
{
    for (size_t s = 1; s < inside->symbols.length; s++)
        if (inside->symbols.data[s] != inside->symbols.data[0])
            return false;
    for (size_t t = 0; t < inside->traces.length; t++)
        if (inside->traces.data[t].count > 1)
            return true;
    return false;
}

static void inside_must(const struct inside *inside, struct budget *budget, struct bitset *must,
                        bool *complete)
{
    uint8_t *mark = xcalloc(inside->graph.count + 1u, 1);
    bool all = repeats_one_node(inside);

    inside_marks(inside, mark);
    for (uint32_t i = 0; i < inside->count; i++) {
        bool is_must = mark[i] & (MARK_MUST | MARK_SYMBOL);

        if (!is_must && (all || mark[i] & (MARK_FROM | MARK_TO))) {
            if (budget_is_spent(budget))
                *complete = false;
            else
                is_must = !chain_possible(&inside->problem, i);
        }
        if (is_must)
            bitset_set(must, inside->node[i]);
    }
    free(mark);
}

bool chain_cover(const struct chain_problem *problem, struct budget *budget, struct bitset *may,
                 struct bitset *must, bool *complete)
{
    const struct digraph *graph = problem->graph;
    struct chain chain;
    struct digraph reverse;

    if (!chain_init(&chain, problem, DIGRAPH_NONE)) {
        chain_deinit(&chain);
        return false;
    }
    digraph_init_reverse(&reverse, graph);
    uint8_t *useful = useful_components(&chain, &reverse);
    bool *unavoidable = unavoidable_components(&chain, useful);
    uint32_t count = chain.components.count;
    uint32_t *begin = xcalloc(count + 2u, sizeof(*begin));
    uint32_t *nodes = xmalloc_array(graph->count + 1u, sizeof(*nodes));
    uint32_t *local = xmalloc_array(graph->count + 1u, sizeof(*local));

    for (uint32_t n = 0; n < graph->count; n++) {
        uint32_t c = chain.components.of_node[n];

        if (c == DIGRAPH_NONE)
            continue;
        begin[c + 2]++;
        if (useful[c] == 3)
            bitset_set(may, n);
    }
    for (uint32_t c = 0; c < count; c++)
        begin[c + 2] += begin[c + 1];
    for (uint32_t n = 0; n < graph->count; n++)
        if (chain.components.of_node[n] != DIGRAPH_NONE)
            nodes[begin[chain.components.of_node[n] + 1]++] = n;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t size = begin[c + 1] - begin[c];
        struct inside inside;

        if (!unavoidable[c])
            continue;
        if (size == 1) {
            bitset_set(must, nodes[begin[c]]);
            continue;
        }
        inside_init(&inside, &chain, useful, c, nodes + begin[c], size, local);
        inside_ends(&inside, &chain, useful, &reverse, c);
        inside_must(&inside, budget, must, complete);
        inside_deinit(&inside);
    }
    free(begin);
    free(nodes);
    free(local);
    free(useful);
    free(unavoidable);
    digraph_deinit(&reverse);
    chain_deinit(&chain);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A run that visits many nodes. Which of them can be visited together is hard to say in general,
 * but nearly all can be had for nothing: whatever lies in a cycle of the product can be visited and
 * left again, in the same state of the automaton, and a call that is made anyway can take any way
 * through its function that ends in the same exit. So: the shortest run, and wherever it passes a
 * cycle or a call, everything that is still missing and can be had there.
 *
 * For every exit it is known what some way to it visits, and how: by a state on the way, or by a
 * call on it, through an exit of which that was known before. So telling how always ends.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/digraph.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "common/worklist.h"
#include "solve/product_internal.h"
#include "solve/view.h"

#define DEPTH_MOST   40u                // detours inside of detours
#define COLLECT_MOST UINT64_C(60000000) // exits times nodes

// How an exit, or a cycle, comes to a node that is wanted.
struct reason {
    uint32_t state; // visit it, or
    uint32_t edge;  // go through the call on this edge; FLOW_NONE
};

// The ways to one exit: states from which it can be reached.
struct way {
    uint32_t exit;
    uint32_t *states;
    uint32_t count;
    uint32_t *calls; // edges on it through other exits, one for each of these
    uint32_t call_count;
    struct reason *how; // by wanted node
    uint64_t *has;      // which of them there is a reason for
    bool is_spent;      // none of them is missing any more
};

// Edges of the product that lie on some run, by state; numbers are the product's.
struct adjacency {
    uint32_t *start, *edges;
};

struct collect {
    const struct product *product;
    struct adjacency out, in;
    struct shortest shortest;
    struct budget *budget;
    uint32_t *wanted_of;          // by node of the flow: its number, FLOW_NONE
    uint32_t first_own;           // numbers from here on are of one activation alone:
    struct product_id_vec own;    // the node of each
    uint32_t *wanted_state;       // by state: what is had there; FLOW_NONE
    uint32_t wanted_count, words; // words: of a set of them
    uint64_t *pending;            // which of them are missing
    uint32_t pending_count;
    uint32_t *way_of; // by state: number of the exit's ways; FLOW_NONE
    struct way *ways;
    uint32_t way_count;
    struct components components;
    uint32_t *member_start, *members; // states of each component
    bool *is_spent;                   // by component: it has nothing that is missing any more
    uint32_t *from_edge;              // scratch: the edge that a search came by
    uint32_t *seen_before, *seen_behind, mark; // scratch: by state, the last search that met it
    struct run_event_vec events;
    uint32_t depth;
};

static const struct product_edge *edge_at(const struct collect *collect, uint32_t edge)
{
    return &collect->product->edges.data[edge];
}

static bool is_useful_edge(const struct product *product, const struct product_edge *edge)
{
    return bitset_test(&product->useful, edge->from) && bitset_test(&product->useful, edge->to) &&
           (edge->through == FLOW_NONE || bitset_test(&product->useful, edge->through));
}

static void adjacency_init(struct adjacency *adjacency, const struct product *product,
                           const uint32_t *start, const uint32_t *edges)
{
    uint32_t count = (uint32_t)product->states.length, used = 0;

    adjacency->start = xmalloc_array(count + 1u, sizeof(uint32_t));
    adjacency->edges = xmalloc_array(start[count] + 1u, sizeof(uint32_t));
    for (uint32_t s = 0; s < count; s++) {
        adjacency->start[s] = used;
        for (uint32_t k = start[s]; k < start[s + 1]; k++)
            if (is_useful_edge(product, &product->edges.data[edges[k]]))
                adjacency->edges[used++] = edges[k];
    }
    adjacency->start[count] = used;
}

static void adjacency_deinit(struct adjacency *adjacency)
{
    free(adjacency->start);
    free(adjacency->edges);
}

static uint32_t wanted_at(const struct collect *collect, uint32_t state)
{
    return collect->wanted_state[state];
}

// ---- What can be had on the way to each exit

// Backwards from the exit, in its instance.
static void find_way(struct collect *collect, struct way *way)
{
    struct product_id_vec states = VEC_INIT;

    product_id_vec_push(&states, way->exit);
    collect->from_edge[way->exit] = FLOW_NONE - 1;
    for (size_t i = 0; i < states.length; i++) {
        uint32_t state = states.data[i];

        for (uint32_t k = collect->in.start[state]; k < collect->in.start[state + 1]; k++) {
            const struct product_edge *edge = edge_at(collect, collect->in.edges[k]);

            if (collect->from_edge[edge->from] != FLOW_NONE)
                continue;
            collect->from_edge[edge->from] = collect->in.edges[k];
            product_id_vec_push(&states, edge->from);
        }
    }
    way->count = (uint32_t)states.length;
    way->states = product_id_vec_steal(&states);
    for (uint32_t i = 0; i < way->count; i++)
        collect->from_edge[way->states[i]] = FLOW_NONE;
}

static bool has_reason(const struct way *way, uint32_t wanted)
{
    return way->has[wanted / 64] >> (wanted % 64) & 1;
}

static void take_reason(struct way *way, uint32_t wanted, struct reason reason)
{
    way->has[wanted / 64] |= UINT64_C(1) << (wanted % 64);
    way->how[wanted] = reason;
}

// What calls on the way have; whether anything is new.
static bool grow_way(struct collect *collect, struct way *way)
{
    bool grown = false;

    for (uint32_t i = 0; i < way->call_count; i++) {
        const struct way *inner =
            &collect->ways[collect->way_of[edge_at(collect, way->calls[i])->through]];

        for (uint32_t w = 0; w < collect->words; w++)
            for (uint64_t more = inner->has[w] & ~way->has[w]; more; more &= more - 1) {
                take_reason(way, w * 64 + (uint32_t)__builtin_ctzll(more),
                            (struct reason){FLOW_NONE, way->calls[i]});
                grown = true;
            }
    }
    return grown;
}

// An edge on the way for each exit that can be gone through there.
static void find_calls(struct collect *collect, struct way *way, uint32_t *seen, uint32_t mark)
{
    struct product_id_vec calls = VEC_INIT;

    for (uint32_t i = 0; i < way->count; i++)
        for (uint32_t k = collect->in.start[way->states[i]];
             k < collect->in.start[way->states[i] + 1]; k++) {
            uint32_t through = edge_at(collect, collect->in.edges[k])->through;

            if (through == FLOW_NONE || seen[through] == mark)
                continue;
            seen[through] = mark;
            product_id_vec_push(&calls, collect->in.edges[k]);
        }
    way->call_count = (uint32_t)calls.length;
    way->calls = product_id_vec_steal(&calls);
}

// Until nothing grows: whoever goes through a way that has grown looks again.
static void grow_ways(struct collect *collect)
{
    struct digraph users;
    struct worklist work;

    digraph_init(&users, collect->way_count);
    worklist_init(&work, collect->way_count, NULL);
    for (uint32_t w = 0; w < collect->way_count; w++) {
        struct way *way = &collect->ways[w];

        for (uint32_t i = 0; i < way->call_count; i++)
            digraph_add(&users, collect->way_of[edge_at(collect, way->calls[i])->through], w);
        worklist_push(&work, w);
    }
    digraph_close(&users);
    for (uint32_t w; !budget_is_spent(collect->budget) && worklist_pop(&work, &w);) {
        if (!grow_way(collect, &collect->ways[w]))
            continue;
        for (uint32_t k = users.start[w]; k < users.start[w + 1]; k++)
            worklist_push(&work, users.target[k]);
    }
    worklist_deinit(&work);
    digraph_deinit(&users);
}

static bool find_ways(struct collect *collect)
{
    const struct product *product = collect->product;

    for (uint32_t s = 0; s < product->states.length; s++)
        collect->way_count +=
            product->states.data[s].node == FLOW_NONE && bitset_test(&product->useful, s);
    if ((uint64_t)collect->way_count * collect->wanted_count > COLLECT_MOST)
        return false;
    collect->ways = xcalloc(collect->way_count + 1u, sizeof(*collect->ways));
    for (uint32_t s = 0, w = 0; s < product->states.length; s++) {
        if (product->states.data[s].node != FLOW_NONE || !bitset_test(&product->useful, s))
            continue;
        struct way *way = &collect->ways[w];
        collect->way_of[s] = w++;
        way->exit = s;
        find_way(collect, way);
        find_calls(collect, way, collect->seen_before, ++collect->mark);
        way->how = xmalloc_array(collect->wanted_count + 1u, sizeof(*way->how));
        way->has = xcalloc(collect->words + 1u, sizeof(uint64_t));
        for (uint32_t i = 0; i < way->count; i++)
            if (wanted_at(collect, way->states[i]) != FLOW_NONE &&
                !has_reason(way, wanted_at(collect, way->states[i])))
                take_reason(way, wanted_at(collect, way->states[i]),
                            (struct reason){way->states[i], FLOW_NONE});
    }
    grow_ways(collect);
    return collect->budget->state == BUDGET_LEFT;
}

// ---- Cycles

static void find_components(struct collect *collect)
{
    const struct product *product = collect->product;
    uint32_t count = (uint32_t)product->states.length;
    struct digraph graph;

    // one more node leads to everything
    digraph_init(&graph, count + 1);
    for (uint32_t k = 0; k < collect->out.start[count]; k++) {
        const struct product_edge *edge = edge_at(collect, collect->out.edges[k]);

        digraph_add(&graph, edge->from, edge->to);
    }
    for (uint32_t s = 0; s < count; s++)
        digraph_add(&graph, count, s);
    digraph_close(&graph);
    components_init(&collect->components, &graph, count, DIGRAPH_NONE);
    digraph_deinit(&graph);
    uint32_t *start = xcalloc(collect->components.count + 2u, sizeof(*start));
    collect->members = xmalloc_array(count + 1u, sizeof(uint32_t));
    for (uint32_t s = 0; s < count; s++)
        start[collect->components.of_node[s] + 2]++;
    for (uint32_t c = 0; c < collect->components.count; c++)
        start[c + 2] += start[c + 1];
    for (uint32_t s = 0; s < count; s++)
        collect->members[start[collect->components.of_node[s] + 1]++] = s;
    collect->member_start = start;
    collect->is_spent = xcalloc(collect->components.count + 1u, sizeof(bool));
}

// ---- Telling

static void tell_exit(struct collect *collect, uint32_t exit, uint32_t wanted);

static bool is_pending(const struct collect *collect, uint32_t wanted)
{
    return collect->pending[wanted / 64] >> (wanted % 64) & 1;
}

// From now on it is on its way, and nobody else looks for it.
static void claim(struct collect *collect, uint32_t wanted)
{
    collect->pending_count -= is_pending(collect, wanted);
    collect->pending[wanted / 64] &= ~(UINT64_C(1) << (wanted % 64));
    // what its own activation has to visit may have been wanted anywhere, too
    if (wanted >= collect->first_own &&
        collect->wanted_of[collect->own.data[wanted - collect->first_own]] != FLOW_NONE)
        claim(collect, collect->wanted_of[collect->own.data[wanted - collect->first_own]]);
}

static void tell_step(struct collect *collect, uint32_t state)
{
    uint32_t node = collect->product->states.data[state].node, wanted = wanted_at(collect, state);

    if (node == FLOW_NONE)
        return;
    run_event_vec_push(&collect->events, product_step_event(collect->product, state));
    if (wanted != FLOW_NONE)
        claim(collect, wanted);
}

// Something that is missing and that the ways to this exit have, claimed; FLOW_NONE. Not while much
// else is on its way.
static uint32_t choose(struct collect *collect, uint32_t exit)
{
    uint32_t number = collect->way_of[exit];

    if (number == FLOW_NONE || collect->ways[number].is_spent || !collect->pending_count ||
        collect->depth > DEPTH_MOST)
        return FLOW_NONE;
    for (uint32_t i = 0; i < collect->words; i++) {
        uint64_t both = collect->pending[i] & collect->ways[number].has[i];

        if (both) {
            uint32_t wanted = i * 64 + (uint32_t)__builtin_ctzll(both);
            claim(collect, wanted);
            return wanted;
        }
    }
    collect->ways[number].is_spent = true;
    return FLOW_NONE;
}

// Along one edge. wanted: what the call on it is to visit; FLOW_NONE: anything that is missing.
static void tell_edge(struct collect *collect, uint32_t number, uint32_t wanted)
{
    const struct product_edge *edge = edge_at(collect, number);
    uint32_t node = collect->product->states.data[edge->from].node;

    if (edge->pends)
        run_event_vec_push(&collect->events, (struct run_event){RUN_CALL, node, edge->callee, 0});
    if (edge->through != FLOW_NONE) {
        run_event_vec_push(&collect->events, (struct run_event){RUN_CALL, node, edge->callee, 0});
        tell_exit(collect, edge->through,
                  wanted != FLOW_NONE ? wanted : choose(collect, edge->through));
        run_event_vec_push(&collect->events, (struct run_event){RUN_LEAVE, node, edge->callee, 0});
    }
    if (!edge->resumes)
        tell_step(collect, edge->to);
}

static void tell_cycle(struct collect *collect, uint32_t state);

// From one state to another: within their cycle, or by any way; then with what cycles on it have.
static void tell_between(struct collect *collect, uint32_t from, uint32_t to, bool in_cycle)
{
    uint32_t component = collect->components.of_node[from], found = FLOW_NONE;
    struct product_id_vec states = VEC_INIT, path = VEC_INIT;

    if (from == to)
        return;
    product_id_vec_push(&states, from);
    collect->from_edge[from] = FLOW_NONE - 1;
    for (size_t i = 0; i < states.length && found == FLOW_NONE; i++) {
        uint32_t state = states.data[i];

        for (uint32_t k = collect->out.start[state]; k < collect->out.start[state + 1]; k++) {
            const struct product_edge *edge = edge_at(collect, collect->out.edges[k]);

            if ((in_cycle && collect->components.of_node[edge->to] != component) ||
                collect->from_edge[edge->to] != FLOW_NONE)
                continue;
            collect->from_edge[edge->to] = collect->out.edges[k];
            product_id_vec_push(&states, edge->to);
            if (edge->to == to)
                found = to;
        }
    }
    for (uint32_t s = found; s != FLOW_NONE && s != from;
         s = edge_at(collect, collect->from_edge[s])->from)
        product_id_vec_push(&path, collect->from_edge[s]);
    for (size_t i = 0; i < states.length; i++)
        collect->from_edge[states.data[i]] = FLOW_NONE;
    product_id_vec_deinit(&states);
    for (size_t i = path.length; i-- > 0;) {
        tell_edge(collect, path.data[i], FLOW_NONE);
        if (!in_cycle)
            tell_cycle(collect, edge_at(collect, path.data[i])->to);
    }
    product_id_vec_deinit(&path);
    assert(found == to);
}

static void tell_around(struct collect *collect, uint32_t from, uint32_t to)
{
    tell_between(collect, from, to, true);
}

// Everything that is missing and that the cycle around this state has.
static void tell_cycle(struct collect *collect, uint32_t state)
{
    const struct product *product = collect->product;
    uint32_t component = collect->components.of_node[state];

    if (!collect->components.is_cyclic[component] || collect->is_spent[component] ||
        collect->depth >= DEPTH_MOST)
        return;
    collect->depth++;
    for (uint32_t i = collect->member_start[component];
         i < collect->member_start[component + 1] && collect->pending_count; i++) {
        uint32_t member = collect->members[i], wanted = wanted_at(collect, member);

        if (budget_is_spent(collect->budget) || !bitset_test(&product->useful, member))
            continue;
        if (wanted != FLOW_NONE && is_pending(collect, wanted)) {
            claim(collect, wanted);
            tell_around(collect, state, member);
            tell_around(collect, member, state);
        }
        for (uint32_t k = collect->out.start[member]; k < collect->out.start[member + 1]; k++) {
            const struct product_edge *edge = edge_at(collect, collect->out.edges[k]);

            if (edge->through == FLOW_NONE || collect->components.of_node[edge->to] != component)
                continue;
            for (uint32_t w; !budget_is_spent(collect->budget) &&
                             (w = choose(collect, edge->through)) != FLOW_NONE;) {
                tell_around(collect, state, member);
                tell_edge(collect, collect->out.edges[k], w);
                tell_around(collect, edge->to, state);
            }
        }
    }
    collect->is_spent[component] = true;
    collect->depth--;
}

// The shortest way to a state from the entry of its instance, or from the start.
static void tell_to(struct collect *collect, uint32_t state)
{
    struct product_id_vec path = VEC_INIT;
    uint32_t first = state;

    for (; collect->shortest.by[first] != FLOW_NONE;
         first = edge_at(collect, collect->shortest.by[first])->from)
        product_id_vec_push(&path, collect->shortest.by[first]);
    tell_step(collect, first);
    tell_cycle(collect, first);
    for (size_t i = path.length; i-- > 0;) {
        tell_edge(collect, path.data[i], FLOW_NONE);
        if (collect->product->states.data[edge_at(collect, path.data[i])->to].node != FLOW_NONE)
            tell_cycle(collect, edge_at(collect, path.data[i])->to);
    }
    product_id_vec_deinit(&path);
}

// ---- Way-points: what is missing and can only be had on the way

struct point {
    uint32_t begin, end; // states; the same when it is visited, else those of the edge
    uint32_t edge, wanted;
};
VEC_DEFINE(point_vec, struct point);

// Marks all states of the same instance that lead to this one, or that it leads to.
static void reach_of(const struct collect *collect, uint32_t state,
                     const struct adjacency *adjacency, uint32_t *seen)
{
    bool back = adjacency == &collect->in;
    struct product_id_vec work = VEC_INIT;

    seen[state] = collect->mark;
    product_id_vec_push(&work, state);
    while (work.length) {
        uint32_t at = work.data[--work.length];

        for (uint32_t k = adjacency->start[at]; k < adjacency->start[at + 1]; k++) {
            const struct product_edge *edge = edge_at(collect, adjacency->edges[k]);
            uint32_t next = back ? edge->from : edge->to;

            if (seen[next] == collect->mark)
                continue;
            seen[next] = collect->mark;
            product_id_vec_push(&work, next);
        }
    }
    product_id_vec_deinit(&work);
}

// Puts a point between two others, where a way leads from the one to the other by it.
static bool insert_point(struct collect *collect, struct point_vec *points, struct point point)
{
    collect->mark++;
    reach_of(collect, point.begin, &collect->in, collect->seen_before);
    reach_of(collect, point.end, &collect->out, collect->seen_behind);
    for (size_t i = 0; i + 1 < points->length; i++) {
        if (collect->seen_before[points->data[i].end] != collect->mark ||
            collect->seen_behind[points->data[i + 1].begin] != collect->mark)
            continue;
        point_vec_push(points, point);
        for (size_t k = points->length - 1; k > i + 1; k--)
            points->data[k] = points->data[k - 1];
        points->data[i + 1] = point;
        return true;
    }
    return false;
}

// From the first point to the last, which are there.
static void tell_points(struct collect *collect, const struct point_vec *points)
{
    tell_step(collect, points->data[0].begin);
    tell_cycle(collect, points->data[0].begin);
    for (size_t i = 0; i + 1 < points->length; i++) {
        const struct point *next = &points->data[i + 1];

        tell_between(collect, points->data[i].end, next->begin, false);
        if (next->edge == FLOW_NONE)
            continue;
        tell_edge(collect, next->edge, next->wanted);
        tell_cycle(collect, next->end);
    }
}

// How the wanted node is had on the way to an exit, as a point.
static struct point point_of(const struct collect *collect, const struct way *way, uint32_t wanted)
{
    struct reason how = way->how[wanted];

    if (how.edge == FLOW_NONE)
        return (struct point){how.state, how.state, FLOW_NONE, wanted};
    return (struct point){edge_at(collect, how.edge)->from, edge_at(collect, how.edge)->to,
                          how.edge, wanted};
}

// A call, from its entry to this exit; by way of `wanted` unless that is FLOW_NONE, and of all else
// that is missing and that fits between.
static void tell_exit(struct collect *collect, uint32_t exit, uint32_t wanted)
{
    const struct way *way = &collect->ways[collect->way_of[exit]];
    uint32_t entry =
        collect->product->instances.data[collect->product->states.data[exit].instance].entry;
    struct point_vec points = VEC_INIT;

    if (wanted == FLOW_NONE || !has_reason(way, wanted)) {
        tell_to(collect, exit);
        return;
    }
    collect->depth++;
    point_vec_push(&points, (struct point){entry, entry, FLOW_NONE, FLOW_NONE});
    point_vec_push(&points, (struct point){exit, exit, FLOW_NONE, FLOW_NONE});
    insert_point(collect, &points, point_of(collect, way, wanted));
    for (uint32_t w = 0; collect->depth < DEPTH_MOST && w < collect->wanted_count; w++)
        if (is_pending(collect, w) && has_reason(way, w) &&
            insert_point(collect, &points, point_of(collect, way, w)))
            claim(collect, w);
    tell_points(collect, &points);
    point_vec_deinit(&points);
    collect->depth--;
}

// Somewhere on the spine where the wanted node can be had. False: it cannot be put on the way.
static bool add_point(struct collect *collect, uint32_t wanted, struct point_vec *points)
{
    const struct product *product = collect->product;
    uint32_t tries = 0;

    for (uint32_t s = 0; s < product->states.length && tries < 16; s++) {
        if (product->states.data[s].instance != PRODUCT_SPINE || !bitset_test(&product->useful, s))
            continue;
        if (wanted_at(collect, s) == wanted && ++tries &&
            insert_point(collect, points, (struct point){s, s, FLOW_NONE, wanted}))
            return true;
        for (uint32_t k = collect->out.start[s]; k < collect->out.start[s + 1] && tries < 16; k++) {
            const struct product_edge *edge = edge_at(collect, collect->out.edges[k]);

            if (edge->through == FLOW_NONE ||
                !has_reason(&collect->ways[collect->way_of[edge->through]], wanted))
                continue;
            tries++;
            if (insert_point(collect, points,
                             (struct point){s, edge->to, collect->out.edges[k], wanted}))
                return true;
        }
    }
    return false;
}

static void all_pending(struct collect *collect)
{
    for (uint32_t w = 0; w < collect->wanted_count; w++)
        collect->pending[w / 64] |= UINT64_C(1) << (w % 64);
    collect->pending_count = collect->wanted_count;
    memset(collect->is_spent, 0, collect->components.count);
    for (uint32_t w = 0; w < collect->way_count; w++)
        collect->ways[w].is_spent = false;
}

// The shortest run with all that can be had on its way; then by way of what is still missing.
static void tell_run(struct collect *collect, uint32_t end)
{
    struct point_vec points = VEC_INIT;
    uint32_t first = end;

    while (collect->shortest.by[first] != FLOW_NONE)
        first = edge_at(collect, collect->shortest.by[first])->from;
    point_vec_push(&points, (struct point){first, first, FLOW_NONE, FLOW_NONE});
    point_vec_push(&points, (struct point){end, end, FLOW_NONE, FLOW_NONE});
    for (uint32_t round = 0; round < 8 && !budget_is_spent(collect->budget); round++) {
        bool added = false;

        collect->events.length = 0;
        all_pending(collect);
        for (size_t i = 0; i < points.length; i++)
            if (points.data[i].wanted != FLOW_NONE)
                claim(collect, points.data[i].wanted);
        tell_points(collect, &points);
        if (round == 7)
            break;
        for (uint32_t w = 0; w < collect->wanted_count && collect->pending_count; w++)
            added |= is_pending(collect, w) && add_point(collect, w, &points);
        if (!added)
            break;
    }
    point_vec_deinit(&points);
}

// ----

// What a pending activation has to have visited itself, where that is not in the product's modes.
static void want_own(struct collect *collect)
{
    const struct product *product = collect->product;

    collect->first_own = collect->wanted_count;
    for (uint32_t v = 0; !product->problem.flat && v < product->problem.view_count; v++) {
        const struct view *view = product->problem.views[v];

        if (view->ran_count <= PRODUCT_OWN_RAN)
            continue;
        for (uint32_t s = 0; s < product->states.length; s++) {
            const struct product_state *state = &product->states.data[s];

            if (state->instance != PRODUCT_SPINE || state->place < product->view_base[v] ||
                state->place >= product->view_base[v + 1])
                continue;
            for (uint32_t r = 0; r < view->ran_count; r++)
                if (view->ran[r] == state->node)
                    collect->wanted_state[s] = collect->wanted_count + r;
        }
        for (uint32_t r = 0; r < view->ran_count; r++)
            product_id_vec_push(&collect->own, view->ran[r]);
        collect->wanted_count += view->ran_count;
    }
}

static void collect_init(struct collect *collect, const uint32_t *nodes, uint32_t count)
{
    const struct product *product = collect->product;
    size_t states = product->states.length;

    collect->wanted_of = xmalloc_array(product->flow->node_count + 1u, sizeof(uint32_t));
    memset(collect->wanted_of, 0xff, product->flow->node_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++)
        if (collect->wanted_of[nodes[i]] == FLOW_NONE)
            collect->wanted_of[nodes[i]] = collect->wanted_count++;
    collect->wanted_state = xmalloc_array(states + 1, sizeof(uint32_t));
    for (size_t s = 0; s < states; s++) {
        uint32_t node = product->states.data[s].node;

        collect->wanted_state[s] = node == FLOW_NONE ? FLOW_NONE : collect->wanted_of[node];
    }
    want_own(collect);
    collect->pending = xcalloc(collect->wanted_count / 64 + 2u, sizeof(uint64_t));
    for (uint32_t w = 0; w < collect->wanted_count; w++)
        collect->pending[w / 64] |= UINT64_C(1) << (w % 64);
    collect->pending_count = collect->wanted_count;
    collect->words = (collect->wanted_count + 63) / 64;
    collect->way_of = xmalloc_array(states + 1, sizeof(uint32_t));
    memset(collect->way_of, 0xff, states * sizeof(uint32_t));
    collect->from_edge = xmalloc_array(states + 1, sizeof(uint32_t));
    memset(collect->from_edge, 0xff, states * sizeof(uint32_t));
    collect->seen_before = xcalloc(states + 1, sizeof(uint32_t));
    collect->seen_behind = xcalloc(states + 1, sizeof(uint32_t));
    adjacency_init(&collect->out, product, product->out_start, product->out_edges);
    adjacency_init(&collect->in, product, product->in_start, product->in_edges);
}

static void collect_deinit(struct collect *collect)
{
    for (uint32_t w = 0; collect->ways && w < collect->way_count; w++) {
        free(collect->ways[w].states);
        free(collect->ways[w].calls);
        free(collect->ways[w].how);
        free(collect->ways[w].has);
    }
    free(collect->ways);
    free(collect->way_of);
    free(collect->wanted_of);
    free(collect->wanted_state);
    product_id_vec_deinit(&collect->own);
    free(collect->pending);
    free(collect->from_edge);
    free(collect->seen_before);
    free(collect->seen_behind);
    adjacency_deinit(&collect->out);
    adjacency_deinit(&collect->in);
    free(collect->member_start);
    free(collect->members);
    free(collect->is_spent);
    components_deinit(&collect->components);
    shortest_deinit(&collect->shortest);
    run_event_vec_deinit(&collect->events);
}

bool product_collect(const struct product *product, const uint32_t *nodes, uint32_t count,
                     struct budget *budget, struct run *ret, uint32_t **missed,
                     uint32_t *missed_count)
{
    struct collect collect = {.product = product, .budget = budget};
    uint32_t end = shortest_init(&collect.shortest, product, true, budget);

    collect_init(&collect, nodes, count);
    bool done = end != FLOW_NONE && find_ways(&collect);
    if (done) {
        find_components(&collect);
        tell_run(&collect, end);
        *missed = xmalloc_array(collect.pending_count + 1u, sizeof(uint32_t));
        *missed_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t w = collect.wanted_of[nodes[i]];
            if (is_pending(&collect, w))
                (*missed)[(*missed_count)++] = nodes[i];
            claim(&collect, w);
        }
        ret->count = (uint32_t)collect.events.length;
        ret->events = run_event_vec_steal(&collect.events);
    }
    collect_deinit(&collect);
    return done;
}

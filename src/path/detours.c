// SPDX-License-Identifier: Apache-2.0
#include "path/detours.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/digraph.h"
#include "common/alloc.h"

#define LENGTH_MOST (UINT32_C(1) << 30)
// So many edges are looked at in all; with a large spine only few places are tried.
#define WORK_MOST 4000000u

static uint32_t sum(uint32_t a, uint32_t b)
{
    return a > LENGTH_MOST || b > LENGTH_MOST || a + b > LENGTH_MOST ? BOUNDS_FAR : a + b;
}

// ---- Places that every path comes by

// The vertices of the spine, and one behind all goals.
static void spine_graph(const struct graph *graph, struct digraph *ret, uint32_t *edge_count)
{
    uint32_t end = (uint32_t)graph->vertices.length;

    *edge_count = 0;
    digraph_init(ret, end + 1);
    for (uint32_t i = 0; i < graph->live_edges; i++) {
        const struct graph_edge *edge = &graph->edges.data[graph->out_edges[i]];

        if (graph->vertices.data[edge->from].procedure != GRAPH_SPINE_PROCEDURE)
            continue;
        digraph_add(ret, edge->from, edge->to);
        ++*edge_count;
    }
    for (size_t g = 0; g < graph->goals.length; g++)
        digraph_add(ret, graph->goals.data[g].vertex, end);
    digraph_close(ret);
}

static void sure_places(const struct graph *graph, struct path_id_vec *ret, uint32_t *edge_count)
{
    struct digraph spine, reverse;
    uint32_t end = (uint32_t)graph->vertices.length;

    spine_graph(graph, &spine, edge_count);
    digraph_init_reverse(&reverse, &spine);
    uint32_t *dominators = digraph_dominators(&spine, &reverse, graph->origin);
    for (uint32_t v = end; dominators[v] != DIGRAPH_NONE && dominators[v] != v;) {
        v = dominators[v];
        path_id_vec_push(ret, v);
    }
    free(dominators);
    digraph_deinit(&spine);
    digraph_deinit(&reverse);
}

// ---- Detours from one of them

struct round_trip {
    const struct bounds *bounds;
    uint32_t bit;
    uint32_t *length; // by vertex * 2, + 1 where the mark has been met
    uint32_t *by;     // the same: the edge, and
    uint32_t *from;   // what it came from
    struct path_queue queue;
    struct path_id_vec touched;
};

static void nearer(struct round_trip *trip, uint32_t place, uint32_t length, uint32_t from,
                   uint32_t edge)
{
    if (length >= trip->length[place] || length > LENGTH_MOST)
        return;
    if (trip->length[place] == BOUNDS_FAR)
        path_id_vec_push(&trip->touched, place);
    trip->length[place] = length;
    trip->by[place] = edge;
    trip->from[place] = from;
    path_queue_push(&trip->queue, length, place);
}

static void go_by(struct round_trip *trip, uint32_t edge_id, uint32_t place, uint32_t length)
{
    const struct bounds *bounds = trip->bounds;
    const struct graph_edge *edge = &bounds->graph->edges.data[edge_id];
    bool meets = bounds->graph->masks.data[edge->mask] >> trip->bit & 1;
    uint32_t plain = edge->length, with = BOUNDS_FAR;

    if (edge->through != FLOW_NONE) {
        plain = sum(bounds->plain.inside[edge->through], edge->length);
        with = sum(bounds->layer[trip->bit].inside[edge->through], edge->length);
    }
    nearer(trip, edge->to * 2 + ((place & 1) | meets), sum(length, plain), place, edge_id);
    nearer(trip, edge->to * 2 + 1, sum(length, with), place, edge_id);
}

// From the vertex and back to it, with the mark met on the way.
static uint32_t trip_from(struct round_trip *trip, uint32_t vertex)
{
    const struct graph *graph = trip->bounds->graph;
    uint32_t found = BOUNDS_FAR;

    nearer(trip, vertex * 2, 0, FLOW_NONE, FLOW_NONE);
    for (struct path_queue_entry entry; path_queue_pop(&trip->queue, &entry);) {
        if (entry.key != trip->length[entry.id])
            continue;
        if (entry.id == vertex * 2 + 1) {
            found = (uint32_t)entry.key;
            break;
        }
        uint32_t v = entry.id / 2;
        for (uint32_t i = graph->out_start[v]; i < graph->out_start[v + 1]; i++)
            go_by(trip, graph->out_edges[i], entry.id, (uint32_t)entry.key);
    }
    path_queue_deinit(&trip->queue);
    return found;
}

static void forget_trip(struct round_trip *trip)
{
    for (size_t i = 0; i < trip->touched.length; i++)
        trip->length[trip->touched.data[i]] = BOUNDS_FAR;
    path_id_vec_clear(&trip->touched);
}

// ---- What lies on a detour

// A completed call by its exit, with the mark met in it (1) or not.
struct trace {
    const struct bounds *bounds;
    uint32_t bit;
    struct bitset *near;
    struct path_id_vec todo; // exits * 2, + 1
    struct bitset seen[2];
};

static void trace_call(struct trace *trace, uint32_t exit, uint32_t with)
{
    if (!bitset_test_and_set(&trace->seen[with], exit))
        path_id_vec_push(&trace->todo, exit * 2 + with);
}

static uint32_t inside_of(const struct trace *trace, uint32_t vertex, uint32_t with)
{
    return with ? trace->bounds->layer[trace->bit].inside[vertex]
                : trace->bounds->plain.inside[vertex];
}

// Does the edge lead to its end in the shortest way? *with: what it has to come from.
static bool leads(struct trace *trace, const struct graph_edge *edge, uint32_t *with)
{
    const struct bounds *bounds = trace->bounds;
    uint32_t here = inside_of(trace, edge->to, *with);
    bool meets = bounds->graph->masks.data[edge->mask] >> trace->bit & 1;
    uint32_t call = edge->through == FLOW_NONE ? 0 : bounds->plain.inside[edge->through];
    uint32_t cost = sum(call, edge->length);

    if (sum(inside_of(trace, edge->from, *with), cost) == here) {
        if (edge->through != FLOW_NONE)
            trace_call(trace, edge->through, 0);
        return true;
    }
    if (!*with)
        return false;
    if (meets && sum(bounds->plain.inside[edge->from], cost) == here) {
        *with = 0;
        if (edge->through != FLOW_NONE)
            trace_call(trace, edge->through, 0);
        return true;
    }
    if (edge->through == FLOW_NONE ||
        sum(sum(bounds->plain.inside[edge->from], inside_of(trace, edge->through, 1)),
            edge->length) != here)
        return false;
    *with = 0;
    trace_call(trace, edge->through, 1);
    return true;
}

// From a vertex back to the entry of its procedure.
static void trace_back(struct trace *trace, uint32_t vertex, uint32_t with)
{
    const struct bounds *bounds = trace->bounds;
    bool found = inside_of(trace, vertex, with) != BOUNDS_FAR;

    while (found) {
        bitset_set(trace->near, vertex);
        found = false;
        for (uint32_t i = bounds->in_start[vertex]; !found && i < bounds->in_start[vertex + 1];
             i++) {
            const struct graph_edge *edge = &bounds->graph->edges.data[bounds->in_edges[i]];

            found = leads(trace, edge, &with);
            vertex = found ? edge->from : vertex;
        }
    }
}

static void trace_calls(struct trace *trace)
{
    while (trace->todo.length) {
        uint32_t call = path_id_vec_pop(&trace->todo);

        trace_back(trace, call / 2, call & 1);
    }
}

// The round trip that was just found.
static void trace_trip(struct trace *trace, const struct round_trip *trip, uint32_t place)
{
    const struct graph *graph = trip->bounds->graph;

    for (; trip->by[place] != FLOW_NONE; place = trip->from[place]) {
        const struct graph_edge *edge = &graph->edges.data[trip->by[place]];
        bool meets = graph->masks.data[edge->mask] >> trip->bit & 1;
        bool turns = !(trip->from[place] & 1) && place & 1 && !meets;

        bitset_set(trace->near, place / 2);
        if (edge->through != FLOW_NONE)
            trace_call(trace, edge->through, turns);
    }
    bitset_set(trace->near, place / 2);
}

static void find_cheapest(struct detours *detours, struct round_trip *trip,
                          const struct path_id_vec *places, uint32_t edge_count, uint32_t *votes)
{
    uint64_t most = WORK_MOST / (64u * (edge_count + 1ull)) + 2;
    uint32_t least = BOUNDS_FAR;
    size_t best = 0;

    for (size_t i = 0; i < places->length; i++) {
        // spread over all of them
        if (places->length > most && i % (places->length / most + 1))
            continue;
        uint32_t cost = trip_from(trip, places->data[i]);

        forget_trip(trip);
        best = cost < least ? i : best;
        least = cost < least ? cost : least;
    }
    detours->single[trip->bit] = least;
    if (least == BOUNDS_FAR)
        return;
    detours->own_place[trip->bit] = places->data[best];
    votes[best]++;
}

static void make_rows(struct detours *detours, size_t sets)
{
    detours->rows = xmalloc_array(sets * sets, sizeof(uint32_t));
    for (size_t had = 0; had < sets; had++)
        for (size_t set = 0; set < sets; set++) {
            uint32_t cost = detours->cost[set & ~had];

            detours->rows[had * sets + set] =
                cost >= DETOURS_FAR ? DETOURS_FAR : cost + (cost != 0);
        }
}

// Two detours, one behind the other.
static void add_up(struct detours *detours, size_t sets)
{
    for (size_t set = 1; set < sets; set++)
        for (size_t some = (set - 1) & set; some; some = (some - 1) & set) {
            uint32_t both = sum(detours->cost[some], detours->cost[set & ~some]);

            if (both < detours->cost[set])
                detours->cost[set] = both;
        }
    free(detours->rows);
    make_rows(detours, sets);
}

uint32_t detours_of(const struct detours *detours, uint64_t bits)
{
    uint32_t all = 0;

    if (detours->cost)
        return detours->cost[bits];
    for (; bits; bits &= bits - 1)
        all = sum(all, detours->single[__builtin_ctzll(bits)]);
    return all;
}

void detours_lower(struct detours *detours, const uint32_t *cost)
{
    size_t sets = (size_t)1 << detours->bit_count;

    for (size_t set = 0; set < sets; set++)
        if (cost[set] < detours->cost[set])
            detours->cost[set] = cost[set];
    // a detour that meets more will do
    for (uint32_t bit = 0; bit < detours->bit_count; bit++)
        for (size_t set = 0; set < sets; set++)
            if (!(set >> bit & 1) && detours->cost[set | (size_t)1 << bit] < detours->cost[set])
                detours->cost[set] = detours->cost[set | (size_t)1 << bit];
    add_up(detours, sets);
}

static void add_trip(struct trace *trace, struct round_trip *trip, uint32_t place)
{
    if (place != FLOW_NONE && trip_from(trip, place) != BOUNDS_FAR)
        trace_trip(trace, trip, place * 2 + 1);
    forget_trip(trip);
}

// All that lies on a shortest path and on the detours from one place.
static void find_near(struct detours *detours, struct round_trip *trip, uint64_t wanted)
{
    const struct graph *graph = trip->bounds->graph;
    struct trace trace = {.bounds = trip->bounds, .near = &detours->near};

    bitset_init(&detours->near, graph->vertices.length);
    for (uint32_t bit = 0; bit < detours->bit_count; bit++) {
        if (!(wanted >> bit & 1))
            continue;
        bitset_init(&trace.seen[0], graph->vertices.length);
        bitset_init(&trace.seen[1], graph->vertices.length);
        trace.bit = trip->bit = bit;
        for (size_t g = 0; g < graph->goals.length; g++) {
            trace_back(&trace, graph->goals.data[g].vertex, 0);
            trace_back(&trace, graph->goals.data[g].vertex, 1);
        }
        add_trip(&trace, trip, detours->place);
        if (detours->own_place[bit] != detours->place)
            add_trip(&trace, trip, detours->own_place[bit]);
        trace_calls(&trace);
        bitset_deinit(&trace.seen[0]);
        bitset_deinit(&trace.seen[1]);
    }
    path_id_vec_deinit(&trace.todo);
}

static void choose_place(struct detours *detours, const struct path_id_vec *places,
                         const uint32_t *votes)
{
    uint32_t most = 0;

    detours->place = FLOW_NONE;
    for (size_t i = 0; i < places->length; i++)
        if (votes[i] > most) {
            most = votes[i];
            detours->place = places->data[i];
        }
}

static uint32_t *all_far(size_t count)
{
    uint32_t *lengths = xmalloc_array(count + 1, sizeof(*lengths));

    memset(lengths, 0xff, (count + 1) * sizeof(*lengths));
    return lengths;
}

void detours_init(struct detours *detours, struct bounds *bounds, uint64_t wanted,
                  uint32_t bit_count)
{
    size_t vertices = bounds->graph->vertices.length;
    struct round_trip trip = {.bounds = bounds,
                              .length = all_far(2 * vertices),
                              .by = all_far(2 * vertices),
                              .from = all_far(2 * vertices)};
    struct path_id_vec places = VEC_INIT;
    uint32_t edge_count;

    *detours = (struct detours){.bit_count = bit_count};
    memset(detours->single, 0xff, sizeof(detours->single));
    memset(detours->own_place, 0xff, sizeof(detours->own_place));
    sure_places(bounds->graph, &places, &edge_count);
    uint32_t *votes = xcalloc(places.length + 1, sizeof(*votes));
    for (uint32_t bit = 0; bit < bit_count; bit++)
        if (wanted >> bit & 1) {
            bounds_add_inside(bounds, bit);
            trip.bit = bit;
            find_cheapest(detours, &trip, &places, edge_count, votes);
        }
    choose_place(detours, &places, votes);
    find_near(detours, &trip, wanted);
    if (bit_count <= DETOURS_MOST) {
        detours->cost = all_far((size_t)1 << bit_count);
        detours->cost[0] = 0;
        for (uint32_t bit = 0; bit < bit_count; bit++)
            detours->cost[(size_t)1 << bit] = detours->single[bit];
        add_up(detours, (size_t)1 << bit_count);
    }
    free(votes);
    free(trip.length);
    free(trip.by);
    free(trip.from);
    path_id_vec_deinit(&trip.touched);
    path_id_vec_deinit(&places);
}

void detours_deinit(struct detours *detours)
{
    free(detours->cost);
    free(detours->rows);
    bitset_deinit(&detours->near);
}

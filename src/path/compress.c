// SPDX-License-Identifier: Apache-2.0
/*
 * Fewer vertices: each that has only few ways in and out is taken out, and the ways through it
 * become edges of their own. Chains become one edge (section 5 of paper 004: basic blocks);
 * of edges side by side that meet the same the shortest stays, so that branches and loops in which
 * nothing is met go too. Joined edges remember what they are made of.
 *
 * Requires the lists of graph_cut, and makes them anew. Vertices keep their numbers.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/map.h"
#include "path/graph.h"

// A vertex with more edges is left alone.
#define DEGREE_MOST 12u
// Among more than these an edge is not compared with the others.
#define SCAN_MOST   64u
#define LENGTH_MOST (UINT32_C(1) << 30)

MAP_DEFINE_U64(mask_map, uint32_t);

struct compression {
    struct graph *graph;
    // Edges in use, in lists by source and by target.
    uint32_t *first_out, *first_in, *out_degree, *in_degree;
    struct path_id_vec next_out, next_in;
    struct bitset live;
    struct bitset kept; // vertices that stay
    struct bitset queued;
    struct path_id_vec work;
    struct mask_map mask_of;
};

static struct graph_edge *edge_at(const struct compression *compression, uint32_t edge)
{
    return &compression->graph->edges.data[edge];
}

static void link_edge(struct compression *compression, uint32_t e)
{
    const struct graph_edge *edge = edge_at(compression, e);

    while (compression->next_out.length <= e) {
        path_id_vec_push(&compression->next_out, FLOW_NONE);
        path_id_vec_push(&compression->next_in, FLOW_NONE);
    }
    if (compression->live.size <= e)
        bitset_resize(&compression->live, (size_t)e * 3 / 2 + 64);
    bitset_set(&compression->live, e);
    compression->next_out.data[e] = compression->first_out[edge->from];
    compression->first_out[edge->from] = e;
    compression->out_degree[edge->from]++;
    compression->next_in.data[e] = compression->first_in[edge->to];
    compression->first_in[edge->to] = e;
    compression->in_degree[edge->to]++;
}

static void look_again(struct compression *compression, uint32_t vertex)
{
    if (!bitset_test(&compression->kept, vertex) &&
        !bitset_test_and_set(&compression->queued, vertex))
        path_id_vec_push(&compression->work, vertex);
}

static void drop_edge(struct compression *compression, uint32_t e)
{
    const struct graph_edge *edge = edge_at(compression, e);

    bitset_clear(&compression->live, e);
    compression->out_degree[edge->from]--;
    compression->in_degree[edge->to]--;
    look_again(compression, edge->from);
    look_again(compression, edge->to);
}

static uint32_t join_masks(struct compression *compression, uint32_t first, uint32_t second)
{
    struct graph *graph = compression->graph;
    uint64_t bits = marks_extend(graph->marks, graph->masks.data[first], graph->masks.data[second]);
    bool is_new;
    uint32_t *mask = mask_map_put_new(&compression->mask_of, bits, &is_new);

    if (is_new) {
        *mask = (uint32_t)graph->masks.length;
        graph_mask_vec_push(&graph->masks, bits);
    }
    return *mask;
}

// Whatever goes by b can go by a, and is as well off. What dataflow makes of a call depends on how
// it is gone on from.
static bool is_as_good(const struct compression *compression, const struct graph_edge *a,
                       const struct graph_edge *b)
{
    const struct graph *graph = compression->graph;

    return a->to == b->to && a->through == b->through && a->length <= b->length &&
           a->value.number == b->value.number &&
           (a->through == FLOW_NONE || !graph->problem->dataflow) &&
           marks_covers(graph->marks, graph->masks.data[a->mask], graph->masks.data[b->mask]);
}

// The place of the next edge in a list. An edge that is gone is taken out of the list, and its
// place is the next one's: lists would grow by all that was ever joined.
static uint32_t *after(const struct compression *compression, uint32_t *at,
                       const struct path_id_vec *next)
{
    if (bitset_test(&compression->live, *at))
        return &next->data[*at];
    *at = next->data[*at];
    return at;
}

static void add_joined(struct compression *compression, struct graph_edge joined)
{
    bool is_few = compression->out_degree[joined.from] <= SCAN_MOST;
    uint32_t *next;

    for (uint32_t *at = &compression->first_out[joined.from]; is_few && *at != FLOW_NONE;
         at = next) {
        uint32_t e = *at;
        const struct graph_edge *other = edge_at(compression, e);

        next = after(compression, at, &compression->next_out);
        if (next == at)
            continue;
        if (is_as_good(compression, other, &joined))
            return;
        if (is_as_good(compression, &joined, other))
            drop_edge(compression, e);
    }
    graph_edge_vec_push(&compression->graph->edges, joined);
    link_edge(compression, (uint32_t)compression->graph->edges.length - 1);
    look_again(compression, joined.from);
    look_again(compression, joined.to);
}

static void join(struct compression *compression, uint32_t first, uint32_t second)
{
    const struct graph_edge *a = edge_at(compression, first), *b = edge_at(compression, second);
    struct dataflow *dataflow = compression->graph->problem->dataflow;
    struct graph_edge joined = {.from = a->from,
                                .to = b->to,
                                .through = a->through,
                                .length = a->length + b->length,
                                .function = first,
                                .second = second,
                                .mask = join_masks(compression, a->mask, b->mask),
                                .value = a->value,
                                .kind = EDGE_JOINED};

    if (dataflow)
        joined.value = dataflow_extend(dataflow, a->value, b->value);
    if (joined.length > LENGTH_MOST || dataflow_is_zero(joined.value))
        return;
    // round in a circle, and nothing met
    if (joined.from == joined.to && !joined.mask && joined.through == FLOW_NONE && !dataflow)
        return;
    add_joined(compression, joined);
}

static uint32_t live_edges(const struct compression *compression, uint32_t *first,
                           const struct path_id_vec *list, uint32_t *edges)
{
    uint32_t count = 0;
    uint32_t *next;

    for (uint32_t *at = first; *at != FLOW_NONE; at = next) {
        uint32_t e = *at;

        next = after(compression, at, list);
        if (next == at)
            continue;
        assert(count < DEGREE_MOST);
        edges[count++] = e;
    }
    return count;
}

static void take_out(struct compression *compression, uint32_t vertex)
{
    uint32_t in[DEGREE_MOST], out[DEGREE_MOST];
    uint32_t ins = compression->in_degree[vertex], outs = compression->out_degree[vertex];

    if (ins > DEGREE_MOST || outs > DEGREE_MOST || (uint64_t)ins * outs > ins + outs)
        return;
    ins = live_edges(compression, &compression->first_in[vertex], &compression->next_in, in);
    outs = live_edges(compression, &compression->first_out[vertex], &compression->next_out, out);
    for (uint32_t i = 0; i < ins; i++)
        if (edge_at(compression, in[i])->from == vertex)
            return;                         // a circle in which something is met
    bitset_set(&compression->kept, vertex); // not to be looked at again
    for (uint32_t i = 0; i < ins; i++)
        drop_edge(compression, in[i]);
    for (uint32_t k = 0; k < outs; k++)
        drop_edge(compression, out[k]);
    for (uint32_t i = 0; i < ins; i++)
        for (uint32_t k = 0; k < outs; k++)
            join(compression, in[i], out[k]);
}

// Where something begins or ends, and what calls.
static void find_kept(struct compression *compression)
{
    const struct graph *graph = compression->graph;

    bitset_init(&compression->kept, graph->vertices.length);
    bitset_set(&compression->kept, graph->origin);
    for (size_t i = 0; i < graph->goals.length; i++)
        bitset_set(&compression->kept, graph->goals.data[i].vertex);
    for (size_t p = 0; p < graph->procedures.length; p++)
        if (graph->procedures.data[p].entry != FLOW_NONE)
            bitset_set(&compression->kept, graph->procedures.data[p].entry);
    for (uint32_t i = 0; i < graph->live_edges; i++) {
        const struct graph_edge *edge = &graph->edges.data[graph->out_edges[i]];

        if (edge->through != FLOW_NONE) {
            bitset_set(&compression->kept, edge->from);
            bitset_set(&compression->kept, edge->through);
        }
        if (edge->kind == EDGE_LIFTS) {
            bitset_set(&compression->kept, edge->from);
            bitset_set(&compression->kept, edge->to);
        }
    }
}

static uint32_t *filled(size_t count)
{
    uint32_t *ids = xmalloc_array(count + 1, sizeof(*ids));

    memset(ids, 0xff, (count + 1) * sizeof(*ids));
    return ids;
}

static void compression_deinit(struct compression *compression)
{
    free(compression->first_out);
    free(compression->first_in);
    free(compression->out_degree);
    free(compression->in_degree);
    path_id_vec_deinit(&compression->next_out);
    path_id_vec_deinit(&compression->next_in);
    path_id_vec_deinit(&compression->work);
    bitset_deinit(&compression->live);
    bitset_deinit(&compression->kept);
    bitset_deinit(&compression->queued);
    mask_map_deinit(&compression->mask_of);
}

void graph_compress(struct graph *graph)
{
    size_t count = graph->vertices.length;
    struct compression compression = {.graph = graph, .mask_of = MAP_INIT};

    assert(graph->form == GRAPH_SPINE);
    compression.first_out = filled(count);
    compression.first_in = filled(count);
    compression.out_degree = xcalloc(count + 1, sizeof(uint32_t));
    compression.in_degree = xcalloc(count + 1, sizeof(uint32_t));
    bitset_init(&compression.live, graph->edges.length);
    bitset_init(&compression.queued, count);
    for (uint32_t m = 0; m < graph->masks.length; m++)
        *mask_map_put(&compression.mask_of, graph->masks.data[m]) = m;
    find_kept(&compression);
    for (uint32_t i = 0; i < graph->live_edges; i++)
        link_edge(&compression, graph->out_edges[i]);
    for (uint32_t v = (uint32_t)count; v-- > 0;)
        if (compression.in_degree[v] + compression.out_degree[v])
            look_again(&compression, v);
    while (compression.work.length) {
        uint32_t vertex = path_id_vec_pop(&compression.work);

        bitset_clear(&compression.queued, vertex);
        take_out(&compression, vertex);
    }
    bitset_resize(&compression.live, graph->edges.length);
    graph_index(graph, &compression.live);
    compression_deinit(&compression);
}

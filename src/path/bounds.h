// SPDX-License-Identifier: Apache-2.0
/*
 * How short a path can be at best that goes by a vertex: without regard to which call a return goes
 * back to, and to marks but one at a time. The generalized A* search is led by it.
 *
 *     struct bounds bounds;
 *     bounds_init(&bounds, graph, budget);
 *     bounds_add(&bounds, bit);  // for each mark that has to be had
 *     uint64_t least = bounds_of(&bounds, procedure, vertex, length, missing);
 *     bounds_deinit(&bounds);
 */
#ifndef PATH_BOUNDS_H
#define PATH_BOUNDS_H

#include "path/graph.h"
#include "path/queue.h"

#define BOUNDS_FAR UINT32_MAX

// With one mark met, or (without a mark) with none asked for.
struct bounds_layer {
    uint32_t *inside; // by vertex: from its procedure's entry
    uint32_t *before; // by procedure: to its entry, not counted, from a call in the spine
    // By vertex: to the end of the path, the vertex's own node not counted; where it is not in the
    // spine, with what came before that call.
    uint32_t *behind;
};

struct bounds {
    const struct graph *graph;
    struct budget *budget;
    uint32_t *in_start, *in_edges;     // edges by target
    uint32_t *call_start, *call_edges; // by procedure: calls in it
    struct bounds_layer plain;
    struct bounds_layer layer[64]; // by bit; empty where it was not added
    uint64_t bits;
    bool complete; // the budget was enough
};

void bounds_init(struct bounds *bounds, const struct graph *graph, struct budget *budget);
void bounds_add(struct bounds *bounds, uint32_t bit);
// Only layer.inside; bounds_of does not look at it.
void bounds_add_inside(struct bounds *bounds, uint32_t bit);
void bounds_deinit(struct bounds *bounds);

// Of a path with `length` nodes from the entry of the vertex's procedure to it, and that has to
// meet `missing` before or behind; BOUNDS_FAR: there is none. With `adds_up`, as if what each mark
// takes were to be added up: that is an estimate, no bound.
static inline uint64_t bounds_of(const struct bounds *bounds, uint32_t vertex, uint32_t length,
                                 uint64_t missing, bool adds_up)
{
    uint32_t procedure = bounds->graph->vertices.data[vertex].procedure;
    uint64_t before = bounds->plain.before[procedure], behind = bounds->plain.behind[vertex];
    uint64_t plain = before + behind, most = plain;

    if (before == BOUNDS_FAR || behind == BOUNDS_FAR)
        return BOUNDS_FAR;
    for (missing &= bounds->bits; missing; missing &= missing - 1) {
        const struct bounds_layer *layer = &bounds->layer[__builtin_ctzll(missing)];
        uint64_t first = layer->before[procedure], last = layer->behind[vertex];
        uint64_t least = BOUNDS_FAR;

        if (first != BOUNDS_FAR)
            least = first + behind;
        if (last != BOUNDS_FAR && before + last < least)
            least = before + last;
        if (least >= BOUNDS_FAR)
            return BOUNDS_FAR;
        if (adds_up)
            most += least - plain;
        else if (least > most)
            most = least;
    }
    return most >= BOUNDS_FAR ? BOUNDS_FAR : most + length;
}

#endif

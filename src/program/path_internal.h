// SPDX-License-Identifier: Apache-2.0
// Shared by path_loops.c, path_number.c and path_trail.c; see path_number.h.
#ifndef PROGRAM_PATH_INTERNAL_H
#define PROGRAM_PATH_INTERNAL_H

#include "program/path_number.h"

#define PATH_NONE UINT32_MAX

struct path_region {
    uint32_t parent; // PATH_NONE for region 0
    uint32_t header; // node
    uint32_t depth;
    bool opaque;
    bool calls;                   // holds a call
    bool twice;                   // holds a call that returns twice
    bool sideways;                // can be entered elsewhere than at its header
    bool counts_rounds;           // sums tell the first pass from later ones
    uint32_t word, word_if_eager; // number of its word, PATH_NONE where it needs none
};

enum path_edge_kind {
    PATH_EDGE_NOTHING, // unreachable, parallel to an earlier one, inside an opaque loop
    PATH_EDGE_BACK,    // to the header of the region
    PATH_EDGE_PLAIN,
    PATH_EDGE_RESTART,
    PATH_EDGE_AT_TARGET, // shared
};

/*
 * Units: node n is unit n in its region; loop c is unit (node_count + c) in its parent's. The
 * starting point of region r's paths is (node_count + region_count + r).
 */
struct path_edge {
    enum path_edge_kind kind;
    uint32_t region;         // the innermost that holds both ends
    uint32_t source, target; // nodes
    uint32_t from, to;       // units of the region
    uint64_t value;
    bool stores; // lazy: the word of `region` is stored on the way into a loop
};

struct path_unit {
    uint64_t reach;
    uint64_t potential;
    uint8_t starts;  // how many paths of the region begin here: 2 where rounds count
    bool from_twice; // ... after a call that returns twice, too
    bool stores;     // lazy: the word is stored before its call
};

struct path_numbering {
    const struct path_graph *graph;
    bool collapse;
    uint8_t *reachable;
    uint32_t *order; // reverse post-order of the reachable nodes
    uint32_t order_count;
    uint32_t *position; // in `order`, by node
    struct path_region *regions;
    uint32_t region_count;
    uint32_t *region;        // by node: the innermost, opaque ones included
    struct path_edge *edges; // by graph edge
    struct path_unit *units; // nodes, loops, starting points
    uint32_t *in_start;      // by unit: its plain in-edges, in order
    uint32_t *in_edge;
    uint32_t *shared_top; // by node: the outermost region whose paths restart there, or PATH_NONE
    uint64_t range;       // no sum is farther from 0
};

static inline uint32_t path_loop_unit(const struct path_numbering *numbers, uint32_t region)
{
    return numbers->graph->node_count + region;
}

static inline uint32_t path_start_unit(const struct path_numbering *numbers, uint32_t region)
{
    return numbers->graph->node_count + numbers->region_count + region;
}

static inline bool path_unit_is_loop(const struct path_numbering *numbers, uint32_t unit)
{
    return unit >= numbers->graph->node_count;
}

// The loop of a unit that is one.
static inline const struct path_region *path_unit_loop(const struct path_numbering *numbers,
                                                       uint32_t unit)
{
    return &numbers->regions[unit - numbers->graph->node_count];
}

// The innermost region of a node that is not opaque.
uint32_t path_region_of(const struct path_numbering *numbers, uint32_t node);
// Is `region` around the region `inner`, or the same?
bool path_region_holds(const struct path_numbering *numbers, uint32_t region, uint32_t inner);
// The unit of `region` that holds the node, which is in the region.
uint32_t path_unit_in(const struct path_numbering *numbers, uint32_t region, uint32_t node);
// The word of a region, PATH_NONE where it has none.
uint32_t path_region_word(const struct path_numbering *numbers, const struct layout_shape *shape,
                          uint32_t region);

// path_loops.c: reachable, order, position, regions, region.
void path_find_loops(struct path_numbering *numbers);

#endif

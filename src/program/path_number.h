// SPDX-License-Identifier: Apache-2.0
/*
 * Numbering of paths through one function (Ball and Larus, with chord increments), and decoding.
 *
 * The input is a plain graph of nodes: ids in block order, successors in terminator order, node 0
 * the entry. Nothing else enters, so plugin and reader, who both compile this file, agree. The
 * numbering graph differs from the input:
 *   - parallel edges count once;
 *   - with `collapse`, a natural loop that holds no call and no other loop is one unit: a path goes
 *     into its header and leaves by one of its exit edges, what it did inside is not told;
 *   - *cut* edges end a path and start a new one at their target: retreating edges of the
 *     depth-first search (all loops, irreducible ones too), edges out of calls that return twice,
 *     edges marked PATH_EDGE_SHARED, and as many more as it takes to stay under LAYOUT_MOST_PATHS.
 *
 * At run time: the sum starts as path_start(0); a chord adds its increment; at a cut edge
 * sum + increment is the finished path, and the sum becomes path_start(target). Sums are modulo
 * 2^64, and never farther from 0 than path_range().
 *
 *     struct path_numbering *numbers = path_numbering_create(&graph, true);
 *     if (path_numbering_decode(numbers, sum, node, &path)) ... path.steps ...
 *     path_numbering_destroy(numbers);
 */
#ifndef PROGRAM_PATH_NUMBER_H
#define PROGRAM_PATH_NUMBER_H

#include "layout/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum path_node_flag {
    PATH_NODE_CALL = 1u << 0,          // ends with a call
    PATH_NODE_RETURNS_TWICE = 1u << 1, // ends with a call such as setjmp
};

enum path_edge_flag {
    // Code for this edge can only stand at its target, where other shared edges arrive too (landing
    // pads, targets of several indirect branches). Always cut, with increment 0 at its source.
    PATH_EDGE_SHARED = 1u << 0,
};

// Borrowed arrays; they must outlive the numbering.
struct path_graph {
    uint32_t node_count;
    const uint32_t *successor_start; // node_count + 1
    const uint32_t *successor;
    const uint8_t *node_flags; // enum path_node_flag
    const uint8_t *edge_flags; // enum path_edge_flag, parallel to successor
};

// Edge `index` is the position in graph.successor. A parallel edge has the action of the first.
struct path_edge_action {
    bool cut;
    bool inside;        // inside a collapsed unit, or from an unreachable node: nothing to do
    uint64_t increment; // to add; for a cut edge: to add before the sum is stored in the ring
};

enum path_step_kind {
    PATH_STEP_NODE, // this node ran
    PATH_STEP_LOOP, // this node, a collapsed loop's header, ran; then perhaps others of the loop
};

struct path_step {
    uint32_t node;
    enum path_step_kind kind;
};

enum path_end {
    PATH_END_HERE, // at the node asked for: the path is not finished
    PATH_END_EXIT, // the last node leaves the function
    PATH_END_CUT,  // went on to `next`
};

struct path {
    struct path_step *steps; // owned, free()
    uint32_t step_count;
    uint32_t start; // the node the path started at: 0, or a cut edge's target
    enum path_end end;
    uint32_t next; // with PATH_END_CUT: the next path's start; UINT32_MAX where it is not told
};

struct path_numbering;

struct path_numbering *path_numbering_create(const struct path_graph *graph, bool collapse);
void path_numbering_destroy(struct path_numbering *numbers);

uint64_t path_count(const struct path_numbering *numbers);
// No sum that the program keeps lies farther from 0, in either direction.
uint64_t path_range(const struct path_numbering *numbers);
bool path_has_cuts(const struct path_numbering *numbers);
bool path_reachable(const struct path_numbering *numbers, uint32_t node);
// The header of the collapsed loop that holds `node`, or `node` itself.
uint32_t path_unit(const struct path_numbering *numbers, uint32_t node);
struct path_edge_action path_edge_action(const struct path_numbering *numbers, uint32_t edge);
// What a path that starts at `node` begins with; `node` is 0 or the target of a cut edge.
uint64_t path_start(const struct path_numbering *numbers, uint32_t node);
bool path_is_start(const struct path_numbering *numbers, uint32_t node);

// A finished path. False: no path has this sum. *out is set on success only.
bool path_numbering_decode_finished(const struct path_numbering *numbers, uint64_t sum,
                                    struct path *out);
// The path that has `sum` when it stands at `node`. A node inside a collapsed loop ends the path
// with that loop's PATH_STEP_LOOP.
bool path_numbering_decode(const struct path_numbering *numbers, uint64_t sum, uint32_t node,
                           struct path *out);
void path_deinit(struct path *path);

// Is the sum stored before the call of this node, in a function that stores it before calls only?
// Not where the word holds it already, whichever way control came.
bool path_stores(const struct path_numbering *numbers, uint32_t node);

// Equal for equal graphs, whoever computes it.
uint64_t path_graph_checksum(const struct path_graph *graph);

// What frame words a function keeps, given the level (enum section_level) and its numbering.
// `site_count`: call sites of the function; `optimized`: not optnone.
struct layout_shape path_shape(const struct path_numbering *numbers, uint32_t site_count,
                               uint32_t level, bool optimized);

#endif

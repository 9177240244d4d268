// SPDX-License-Identifier: Apache-2.0
/*
 * Numbering of paths through one function, after Ball and Larus, a level of loops at a time.
 *
 * The input is a plain graph of nodes: ids in block order, successors in terminator order, node 0
 * the entry. Nothing else enters, so plugin and reader, who both compile these files, agree.
 *
 * The function is *region* 0; every loop inside is a region of its own. A loop is a strongly
 * connected component; its *header* is the first of its nodes in reverse post-order; loops inside
 * are those of what is left without the header (Bourdoncle). In the graph of a region each node
 * that is in no loop of it, and each loop directly inside, is one *unit*, and edges to the header
 * are left out: so it has no cycles, and paths through it can be numbered.
 *   - Parallel edges count once.
 *   - With `collapse`, a loop that holds no call is *opaque*: a unit of which nothing more is told.
 *     So is what is nested too deeply.
 *   - A *restart* is an edge at which what came before is lost: one out of a call that returns
 *     twice, or out of a loop that holds such a call; one marked PATH_EDGE_SHARED, and one to a
 * unit that too many paths lead to. A path of the region may begin at its target, too.
 *
 * A region's paths to one of its units are numbered from 0 up; the unit's *reach* is how many there
 * are. The running sum of a region, when control has come to the unit, is that number, plus a
 * constant of the unit that makes the increments of most edges 0. A pass through a loop starts
 * with a constant; in eager functions with another one from the second pass on. What an edge does
 * to sums: path_edge_actions().
 *
 * The *trail* of an activation that stands at a node follows from the sums of the regions around
 * it: the path that the present pass through each of them has taken. Where the reach of every unit
 * on the way is 1 it follows from the node alone, and no sum is kept.
 *
 *     struct path_numbering *numbers = path_numbering_create(&graph, true, false);
 *     if (path_trail(numbers, sums, node, &path)) ... path.steps ...
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
    // pads, targets of several indirect branches).
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

struct path_numbering;

// `eager`: layout/frame.h; then sums also tell whether a pass through a loop is its first.
struct path_numbering *path_numbering_create(const struct path_graph *graph, bool collapse,
                                             bool eager);
void path_numbering_destroy(struct path_numbering *numbers);

// Equal for equal graphs, whoever computes it.
uint64_t path_graph_checksum(const struct path_graph *graph);

bool path_reachable(const struct path_numbering *numbers, uint32_t node);
// Is `node` in the loop, of whatever kind, with this header?
bool path_in_loop(const struct path_numbering *numbers, uint32_t header, uint32_t node);

// ---- What a program keeps

// The words of a function, given its level (enum section_level); `eager`: layout/frame.h.
struct layout_shape path_shape(const struct path_numbering *numbers, uint32_t level, bool eager);

// One word at one edge, or at a call.
struct path_action {
    uint32_t word;   // number of the word
    uint32_t region; // whose sum it holds, for its code
    bool sets;       // the sum becomes `value`, else `value` is added
    bool stores;     // in a lazy function: then the sum is stored; in an eager one all changes are
    uint64_t value;
};

#define PATH_MOST_ACTIONS (LAYOUT_MOST_WORDS + 1)

// What happens when control takes this edge, in this order; how many. A parallel edge has the
// actions of the first, a shared one none here. `edge` is the position in graph.successor.
uint32_t path_edge_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                           uint32_t edge, struct path_action actions[PATH_MOST_ACTIONS]);
// ... when control comes to `target` by any shared edge, and when the function is entered.
uint32_t path_shared_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                             uint32_t target, struct path_action actions[PATH_MOST_ACTIONS]);
uint32_t path_entry_actions(const struct path_numbering *numbers, const struct layout_shape *shape,
                            struct path_action actions[PATH_MOST_ACTIONS]);
// Is a sum stored before the call of this node, in a lazy function? Not where the word holds it
// already, whichever way control came, and not where the node says it all.
bool path_call_stores(const struct path_numbering *numbers, const struct layout_shape *shape,
                      uint32_t node, struct path_action *action);

// The code of a region's sums (layout/frame.h), of function `index` of a module.
struct layout_code path_code(const struct path_numbering *numbers, const struct layout_shape *shape,
                             uint64_t module_id, uint32_t index, uint32_t region);

// ---- What readers make of it

enum path_step_kind {
    PATH_STEP_NODE, // this node ran
    // This node, a loop's header, ran; then perhaps others of the loop, in whatever order. If the
    // next step is a node of the loop, from there it was left.
    PATH_STEP_LOOP,
    // Perhaps control has moved in the loop of which this node is the header; then came the next
    // step, which is in the loop, or it is still there.
    PATH_STEP_PASSES,
    // Control has moved in the loop of which this node is the header, and came back to it by an
    // edge of the loop at least once; the next step, the header, was the last time.
    PATH_STEP_ROUNDS,
};

struct path_step {
    uint32_t node;
    enum path_step_kind kind;
};

struct path {
    struct path_step *steps; // owned, free()
    uint32_t step_count;
    bool from_entry; // the first step is where the activation began
};

// The sums of the words that are told, by number of the word.
struct path_words {
    uint64_t module_id;
    uint32_t index; // of the function in its module
    struct layout_shape shape;
    uint64_t value[LAYOUT_MOST_WORDS]; // as they are in memory
};

/*
 * The trail of an activation that stands at `node`. Where that is inside of an opaque loop, the
 * last step is the loop. False: no trail to the node has these words, or the function does not keep
 * what it takes; *out is set on success only.
 */
bool path_trail(const struct path_numbering *numbers, const struct path_words *words, uint32_t node,
                struct path *out);
// The trail of an activation that takes this edge into a loop, where a word is stored
// (path_edge_actions): up to the node that it leaves.
bool path_trail_on_edge(const struct path_numbering *numbers, const struct path_words *words,
                        uint32_t edge, struct path *out);
void path_deinit(struct path *path);

#endif

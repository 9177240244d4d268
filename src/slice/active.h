// SPDX-License-Identifier: Apache-2.0
/*
 * Active nodes and edges (paper 001, section IV-A): what can have run, by reachability alone, given
 * the stack, the paths and the calls that were made and not made.
 *
 *     struct active active;
 *     active_init(&active, ask, &budget);
 *     if (active.contradiction) ... // the evidence fits no run: no answer is given
 *     active.nodes[node], active.edges[active_edge(&active, from, to)]
 *     active_deinit(&active);
 *
 * No: in no pending activation, and in no function that one of them can have called. Each pending
 * activation is looked at in its own graph (solve/view.h): from its entry to the first entry of its
 * known path, and along that. What it has called and got back from is taken whole: all that lies
 * between a function's entry and a way out of it, around calls that were never made, whoever called
 * it.
 *
 * Yes: what was observed, and what lies on every way through a pending activation's graph.
 *
 * We differ from the paper in what a way out is. A function is left by a return, by a jump, or not
 * at all: where frames may be missing from the stack, and in threads that are gone, control may
 * have stopped anywhere. A signal handler may have run at any time.
 *
 * An edge is a pair of nodes of one function, from which control can go to the other; a jump that
 * lands behind a call which returns twice goes over that call's edge. Observations that are
 * sequences or choices are not used, nor is what was given.
 */
#ifndef SLICE_ACTIVE_H
#define SLICE_ACTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/vec.h"

struct ask_case;
struct ask_coverage;
struct budget;
struct view;

#define ACTIVE_NONE UINT32_MAX

struct active {
    const struct ask_case *ask;
    const char *contradiction; // one sentence, or NULL
    bool complete;             // false: the budget was spent, more is maybe than need be
    uint8_t *nodes;            // enum ask_answer, by node of the model
    uint32_t *edge_start;      // by node: its edges; node_count + 1
    uint32_t *edge_target;     // ascending for each node
    uint32_t edge_count;
    uint8_t *edges; // enum ask_answer, by edge
};

void active_init(struct active *active, const struct ask_case *ask, struct budget *budget);
void active_deinit(struct active *active);

// The edge between two nodes of the flow; ACTIVE_NONE: the model has none.
uint32_t active_edge(const struct active *active, uint32_t from, uint32_t to);

struct active_count {
    uint64_t nodes, edges;
};
// All that is not a no.
struct active_count active_count(const struct active *active);

// The same as coverage, with lines; nothing of `active` is borrowed but its case.
void active_coverage(const struct active *active, struct ask_coverage *ret);

/*
 * One pending activation by itself (the intraprocedural analysis). The baseline is what lies
 * between the function's entry and where the activation stands, with nothing else known of it.
 */
struct active_frame {
    uint32_t thread, frame; // of the evidence; the innermost one
    uint32_t count;         // so many frames of the thread are alike
    uint32_t function;
    const struct view *view; // borrowed from the case
    bool is_ambiguous;       // a branch of the baseline can go either way
    struct active_count active, baseline;
    uint8_t *nodes, *edges; // enum ask_answer, by node and edge of the function
};
VEC_DEFINE(active_frame_vec, struct active_frame);

// By thread, innermost first. Not to be called where there is a contradiction.
void active_frames(const struct active *active, struct active_frame_vec *ret);
void active_frames_deinit(struct active_frame_vec *frames);

#endif

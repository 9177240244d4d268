// SPDX-License-Identifier: Apache-2.0
/*
 * One pending activation: how control may have gone from its function's entry to where it stands,
 * with all that is known of this activation alone. A small graph of copies of the function's nodes.
 *
 *     struct view_facts facts = {.function = f, .at = nodes, .at_count = 1, .steps = ...};
 *     struct view *view = view_create(flow, &facts);
 *     view_destroy(view);
 *
 * The copies: the whole function, where control may go freely, unless the path is known from the
 * entry; then the known path, one copy a step (a step that stands for a loop: a copy of that
 * loop); then the whole function again where control stands somewhere behind the known path. Edges
 * have flow_edge flags and lead to copies. Nodes that `closed` names are not passed anywhere;
 * control may stand there.
 *
 * A *gap* is a view of no function: any chain of pending calls, perhaps none, between the calls
 * before it and behind it. It has no copies of its own.
 */
#ifndef SOLVE_VIEW_H
#define SOLVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/flow.h"

struct view_step {
    uint32_t node;        // of the flow
    const uint32_t *loop; // nodes of the loop that it stands for, itself among them, or NULL
    uint32_t loop_count;
    bool passes; // control has moved in the loop, or not at all, before it came to the next step
    bool leaves_told; // the loop was left from the node `leaves`
    uint32_t leaves;
};

struct view_facts {
    uint32_t function;  // FLOW_NONE: a gap
    const uint32_t *at; // nodes where it stands, or whose call is pending; at least one
    uint32_t at_count;
    const uint32_t *closed; // nodes that this activation has not passed
    uint32_t closed_count;
    const uint32_t *amid; // of `at`, those that it need not have come to the end of
    uint32_t amid_count;
    const uint32_t *ran; // nodes that this activation has reached
    uint32_t ran_count;
    // The last steps it took, consecutive. from_entry: the first of them is the entry. to_end: the
    // last is where it stands (and at least one of `at` is the step's node, or of its loop).
    const struct view_step *steps;
    uint32_t step_count;
    bool from_entry, to_end;
    bool is_direct; // of a gap: the program has no such call, but the stack does; it may be empty
                    // all the same
};

struct view {
    uint32_t function; // FLOW_NONE: a gap
    bool is_direct;
    uint32_t count;
    uint32_t *node;       // of the flow
    uint32_t *edge_start; // count + 1
    struct flow_edge *edges;
    bool *closed;    // by copy
    uint32_t *start; // copies where it begins
    uint32_t start_count;
    uint32_t *end;     // copies where it stands
    bool *may_be_amid; // by end: it need not have come to the end of the node
    uint32_t end_count;
    uint32_t *ran; // nodes of the flow that have to be visited, and could be avoided
    uint32_t ran_count;
};

struct view *view_create(const struct flow *flow, const struct view_facts *facts);
void view_destroy(struct view *view);

#endif

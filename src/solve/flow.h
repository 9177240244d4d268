// SPDX-License-Identifier: Apache-2.0
/*
 * The graph that runs are paths of: the model's nodes, edges and calls, and a few functions more
 * that stand for what other code does. Solvers see nothing else of the program.
 *
 *     struct flow *flow = flow_from_model(model);
 *     struct flow_edges next = flow_edges(flow, node);
 *     flow_destroy(flow);
 *
 * Nodes 0 .. model->node_count-1 and functions 0 .. model->function_count-1 are the model's own.
 * Behind them, each with a node to begin at, one that calls and goes back to it, and one that
 * returns:
 *   - a function for every set of callbacks: library code that enters any of them, any number of
 *     times. A site that calls back calls it.
 *   - one for what assembly names, if it names anything: a node with assembly may call it.
 *   - one for signal handlers, if there are any: it may be entered at any node, also before the
 * call that ends it, and goes back there (`signals`; no edge says so).
 *   - `start`, which every run of a program's first thread begins in: whatever runs before main,
 *     main once, whatever runs after it. `thread_start`: the other threads' roots, any number of
 * times.
 *
 * A node with callees is left in one of three ways, told by flags of its edges: behind a callee
 * that has returned (FLOW_BEHIND), without having entered one (FLOW_PAST: the call may run code
 * that has no model), or by a callee that jumped
 * (longjmp, an exception: FLOW_LANDS). A node without callees has edges of kind FLOW_PAST only. A
 * function is left at nodes with FLOW_RETURNS; by a jump at nodes with FLOW_JUMPS and at calls of
 * functions that are left by a jump.
 */
#ifndef SOLVE_FLOW_H
#define SOLVE_FLOW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct model;

#define FLOW_NONE UINT32_MAX

enum flow_node_flag {
    FLOW_RETURNS = 1u << 0,
    FLOW_JUMPS = 1u << 1,
};

enum flow_edge_flag {
    FLOW_PAST = 1u << 0,
    FLOW_BEHIND = 1u << 1,
    FLOW_LANDS = 1u << 2,
};

struct flow_edge {
    uint32_t target;
    uint32_t flags;
};

struct flow_function {
    uint32_t entry;
    uint32_t first_node, node_count;
};

struct flow {
    uint32_t node_count, function_count;
    uint32_t *node_function;
    uint8_t *node_flags;
    uint32_t *edge_start; // node_count + 1
    struct flow_edge *edges;
    uint32_t *node_set;  // what it may call; 0: it does not call
    uint32_t set_count;  // set 0 is empty, and the only one that is
    uint32_t *set_start; // set_count + 1
    uint32_t *members;   // functions, ascending in each set
    struct flow_function *functions;
    uint32_t start, thread_start, any_start; // functions
    uint32_t main_call;                      // the node of `start` that calls main
    uint32_t late_call;                      // the one that calls what runs after it
    uint32_t signals;                        // the function that calls handlers, or FLOW_NONE
    bool has_jumps;                          // there is somewhere that a jump could land
};

struct flow_edges { // borrowed
    const struct flow_edge *data;
    uint32_t count;
};
struct flow_callees { // borrowed
    const uint32_t *data;
    uint32_t count;
};

static inline struct flow_edges flow_edges(const struct flow *flow, uint32_t node)
{
    assert(node < flow->node_count);
    uint32_t start = flow->edge_start[node];
    return (struct flow_edges){flow->edges + start, flow->edge_start[node + 1] - start};
}

static inline struct flow_callees flow_set(const struct flow *flow, uint32_t set)
{
    assert(set < flow->set_count);
    uint32_t start = flow->set_start[set];
    return (struct flow_callees){flow->members + start, flow->set_start[set + 1] - start};
}

static inline struct flow_callees flow_callees(const struct flow *flow, uint32_t node)
{
    assert(node < flow->node_count);
    return flow_set(flow, flow->node_set[node]);
}

// The model must be complete; the flow does not keep it.
struct flow *flow_from_model(const struct model *model);
void flow_destroy(struct flow *flow);
// By function, (*start)[f] to (*start)[f + 1]: the sets that it is in. Both are to be freed.
void flow_sets_of_functions(const struct flow *flow, uint32_t **start, uint32_t **sets);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Completed calls: the fewest nodes that a call of each function can reach, which ones those are,
 * and whether a call can do anything of interest at all.
 *
 *     struct calls calls;
 *     calls_init(&calls, &(struct calls_facts){flow, closed, blocked, noticed});
 *     if (!bitset_test(&calls.matters, f) && calls.ends[CALL_RETURNS][f] != CALLS_FAR) ...
 *     calls_tell(&calls, f, CALL_RETURNS, &events); // a shortest one, from its entry to its end
 *     calls_deinit(&calls);
 *
 * Shortest calls are found from the shortest up (Knuth: A generalization of Dijkstra's algorithm,
 * 1977), over callees' sets, so that it takes time near linear in the graph.
 */
#ifndef PATH_CALLS_H
#define PATH_CALLS_H

#include "common/bitset.h"
#include "common/vec.h"
#include "solve/flow.h"
#include "solve/product.h"

#define CALLS_FAR UINT32_MAX

VEC_DEFINE(path_event_vec, struct run_event);
VEC_DEFINE(path_id_vec, uint32_t);

enum call_end {
    CALL_RETURNS,
    CALL_JUMPS,
    CALL_END_COUNT,
};

struct calls_facts {
    const struct flow *flow;
    const struct bitset *closed;  // by node: nothing passes it
    const struct bitset *blocked; // by node: nothing reaches it
    const struct bitset *noticed; // by node: reaching it, or calling there, matters
};

struct calls {
    struct calls_facts facts;
    const struct flow *flow;
    uint32_t *in_start, *in_sets; // by function: the sets that it is in
    // By node: nodes reached from the function's entry up to it, CALLS_FAR: it is not reached. The
    // node before it, and by what kind of edge.
    uint32_t *length, *before;
    uint8_t *how;
    // By function, for each kind of end: nodes reached, CALLS_FAR: it does not end so; the node
    // where it ends, and whether a callee's jump, or a handler's, does it.
    uint32_t *ends[CALL_END_COUNT], *end_node[CALL_END_COUNT];
    uint8_t *end_how[CALL_END_COUNT];
    // By set: the fewest of its members, and which that is.
    uint32_t *set_ends[CALL_END_COUNT], *set_best[CALL_END_COUNT];
    struct bitset onward;  // nodes on a way from entry to end
    struct bitset matters; // functions: some completed call is of interest
    bool handlers_matter;  // signal handlers: if so, every function does
};

void calls_init(struct calls *calls, const struct calls_facts *facts);
void calls_deinit(struct calls *calls);

// The events of a shortest call of `function` that ends so, without those of the call itself.
void calls_tell(const struct calls *calls, uint32_t function, enum call_end end,
                struct path_event_vec *events);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Which calls can be completed, and how far control gets in each function when they are:
 * reachability of the context-sensitive graph, without regard to who calls (one pass, linear in the
 * graph).
 *
 *     struct complete complete;
 *     complete_init(&complete, flow, &closed);
 *     if (complete_set(&complete, flow->node_set[n], FLOW_BEHIND)) ... // some callee can return
 *     complete_deinit(&complete);
 */
#ifndef SOLVE_COMPLETE_H
#define SOLVE_COMPLETE_H

#include "common/bitset.h"
#include "solve/flow.h"

struct complete {
    const struct flow *flow;
    const struct bitset *closed; // nodes that nothing passes; borrowed
    // The sets that each function is in.
    uint32_t *in_start; // function_count + 1
    uint32_t *in_sets;
    uint8_t *function_ends; // FLOW_BEHIND: can return, FLOW_LANDS: can leave by a jump
    uint8_t *set_ends;      // some member can
    struct bitset reached;  // nodes that control reaches in a call of their function
    uint8_t signal_ends;    // how a signal handler may end: a jump can leave any node then
};

void complete_init(struct complete *complete, const struct flow *flow, const struct bitset *closed);
void complete_deinit(struct complete *complete);

// Can an edge of this kind be taken out of the node?
static inline bool complete_takes(const struct complete *complete, uint32_t node, uint32_t flags)
{
    uint32_t ends = complete->set_ends[complete->flow->node_set[node]] & FLOW_BEHIND;
    uint32_t jumps =
        (complete->set_ends[complete->flow->node_set[node]] | complete->signal_ends) & FLOW_LANDS;

    return flags & (FLOW_PAST | ends | jumps);
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * The context-sensitive solver (definition 5 of paper 000): runs of one thread in which every
 * return goes back to its call, and that end with exactly the pending activations that are given.
 *
 *     struct vpa_problem problem = {.flow = flow, .views = views, .view_count = n, .closed =
 * &closed}; struct vpa_coverage coverage; vpa_cover(&problem, budget, &coverage); if
 * (coverage.possible) ... coverage.may, coverage.must ... vpa_coverage_deinit(&coverage);
 *
 * A run is a path through each pending activation's own graph (view.h), one behind the other; calls
 * that have been completed go through the shared graph. So every activation can be looked at by
 * itself: one pass forward and one backward over it say what may have run, sets of what must have
 * run are passed along its edges. Equal activations (the same view) are looked at once; a stack may
 * be 100,000 deep.
 */
#ifndef SOLVE_VPA_H
#define SOLVE_VPA_H

#include "common/bitset.h"
#include "solve/flow.h"

struct budget;
struct view;

struct vpa_problem {
    const struct flow *flow;
    struct view *const *views; // outermost first; a view may occur more than once
    uint32_t view_count;
    const struct bitset *closed; // by node: nothing passes it
};

struct vpa_coverage {
    bool possible; // is there any such run?
    bool complete; // false: the budget was spent, `may` is too large and `must` too small
    uint32_t impossible_view; // where there is none: the first activation that has none
    struct bitset may, must;  // by node
};

void vpa_cover(const struct vpa_problem *problem, struct budget *budget, struct vpa_coverage *ret);
void vpa_coverage_deinit(struct vpa_coverage *coverage);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * What follows from nodes that certainly ran, function by function.
 *
 *     struct consequence_problem problem = {.flow = flow, .closed = &closed};
 *     consequence_add(&problem, &certain);
 *
 * An activation that came to a node has passed every node that all ways from the function's entry
 * to it have in common, and the calls of those have returned. A call that has returned ran every
 * node that all ways from the callee's entry to its returns have in common. Both hold for each
 * activation by itself: in whichever thread it was, and whatever became of it later. A jump
 * (longjmp) back into an activation leads to behind a call that it had passed before, so that the
 * nodes it passed are always those of some way through its graph.
 *
 * What became of an activation is known where all of a function's are accounted for: each stands at
 * one of the nodes `stands`, or, unless the function is one of those entered `once`, has returned.
 * Then it has also passed every node that all ways from a certain node to its end have in common,
 * and calls that nobody waits for have returned. Not where control can jump.
 */
#ifndef SOLVE_CONSEQUENCE_H
#define SOLVE_CONSEQUENCE_H

#include "common/bitset.h"
#include "solve/flow.h"

struct consequence_problem {
    const struct flow *flow;
    const struct bitset *closed; // by node: nothing passes it
    const struct bitset *stands; // by node: an activation stands there
    const struct bitset *once;   // by function: it was entered once, and stands at one of those
    bool accounted;              // so do all others, or they have returned
};

// Adds to the nodes that certainly ran those that have run then.
void consequence_add(const struct consequence_problem *problem, struct bitset *certain);

#endif

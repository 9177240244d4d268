// SPDX-License-Identifier: Apache-2.0
/*
 * The solver of unreliable traces (paper 000, section 4.2): runs in which a return may go to any
 * call of its function, and that contain given sequences of symbols, anything between.
 *
 *     struct utl_problem problem = {.flow = flow, .closed = &closed, .links = links, ...};
 *     struct utl_coverage coverage;
 *     utl_cover(&problem, budget, &coverage);
 *     utl_coverage_deinit(&coverage);
 *
 * A run satisfies all traces when it passes the components of all their symbols, which form a chain
 * then: components of the graph are in an order, and none is visited again once it was left. So the
 * symbols' components, sorted, are way-points; a node may have run when it lies between two that
 * follow each other. It must have, when it is a symbol or cannot be avoided between them. Inside of
 * a component that is passed, taking a node away leaves a smaller problem of the same kind, which
 * is solved where dominators do not tell already.
 */
#ifndef SOLVE_UTL_H
#define SOLVE_UTL_H

#include "common/bitset.h"
#include "solve/flow.h"

struct budget;

// A call that is pending at the end: made at one of the nodes; without nodes it is not known where.
// FLOW_NONE for the function: it is not known which, and behind it frames may be missing: the next
// link is the same call, or a later one.
struct utl_link {
    const uint32_t *nodes;
    uint32_t count;
    uint32_t function;
    bool is_direct; // the program has no such call, but the stack does: the next link follows,
                    // whatever the program says
};

struct utl_trace {
    const uint32_t *nodes;
    uint32_t count;
};

struct utl_problem {
    const struct flow *flow;
    const struct bitset *closed;  // by node: nothing passes it
    uint32_t start;               // the function that the run begins in
    const struct utl_link *links; // outermost first: one trace
    uint32_t link_count;
    const uint32_t *ends; // nodes where the run may end; none: it may end anywhere
    uint32_t end_count;
    const struct utl_trace *traces;
    uint32_t trace_count;
};

struct utl_coverage {
    bool possible; // is there any such run?
    bool complete; // false: the budget was spent, `must` is too small
    struct bitset may, must;
};

void utl_cover(const struct utl_problem *problem, struct budget *budget, struct utl_coverage *ret);
void utl_coverage_deinit(struct utl_coverage *coverage);
// Is there any such run?
bool utl_possible(const struct utl_problem *problem);

#endif

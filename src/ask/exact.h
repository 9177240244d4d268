// SPDX-License-Identifier: Apache-2.0
/*
 * All that is known of one thread's run, and a query, as one product (solve/product.h): exact, and
 * as large as that takes.
 *
 *     struct exact exact;
 *     exact_init(&exact, ask, thread, ASK_SOLVER_VPA, &settings);
 *     if (!exact.dropped.length && product_is_complete(exact.product)) ...
 *     exact_deinit(&exact);
 */
#ifndef ASK_EXACT_H
#define ASK_EXACT_H

#include "ask/case.h"
#include "ask/coverage.h"
#include "solve/product.h"

struct exact_settings {
    struct automaton *query;      // borrowed; NULL: none
    const struct bitset *certain; // nodes that every run executes anyway, or NULL
    uint32_t ran_most;            // more nodes than this that have to be visited are dropped
    bool without_ran;             // do not look at them at all
    const uint32_t *also_ran;     // of those, to be looked at all the same
    uint32_t also_ran_count;
    bool verdict_only; // as product.h has it
    bool opens;
    uint32_t state_limit;
    struct budget *budget;
};

struct exact {
    struct ask_automaton_vec parts; // made here
    struct automaton *all;          // NULL: nothing but the graph
    bool is_one;                    // `all` is one automaton of somebody else's, or of `parts`
    struct product *product;
    uint32_t dropped;   // nodes that had to be visited and were not looked at
    bool dropped_stack; // the stack is too deep for a finite automaton
};

void exact_init(struct exact *exact, const struct ask_case *ask, const struct ask_thread *thread,
                enum ask_solver solver, const struct exact_settings *settings);
void exact_deinit(struct exact *exact);

#endif

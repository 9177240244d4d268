// SPDX-License-Identifier: Apache-2.0
/*
 * Runs and an automaton at once: every state that control and the automaton can be in together,
 * made explicit as far as it is reachable. What this says is exact, for anything an automaton can
 * say; its size is the price.
 *
 *     struct product_problem problem = {.flow = flow, .views = views, ..., .automaton = automaton};
 *     struct product *product = product_create(&problem, budget);
 *     if (product_is_complete(product) && product_is_possible(product))
 *             product_may(product, &may);
 *     product_destroy(product);
 *
 * Context-sensitive: the pending activations are one graph, the *spine*, in which calls stay
 * pending; a completed call is an *instance*: a function entered in a state of the automaton. It
 * ends in exits, one for each state that it can end in, by return or by jump. An edge leads from a
 * state to another of the same instance or the spine, in one step, or *through* an exit of the
 * instance that is called there. An instance is looked at once, whoever calls it.
 *
 * Of nodes that one activation has to have visited (view.ran) only so many are looked at: behind
 * that, runs that miss some are in, and whoever shows a run checks it.
 *
 * Context-insensitive (`flat`): one graph, in which a return leads behind any call of its function;
 * the automaton must be regular, and says what is known of the stack too.
 */
#ifndef SOLVE_PRODUCT_H
#define SOLVE_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bitset.h"
#include "solve/flow.h"

struct automaton;
struct budget;
struct view;

struct product_problem {
    const struct flow *flow;
    const struct bitset *closed; // by node: nothing passes it
    const struct bitset *absent; // by node: control does not even come to it; or NULL
    struct automaton *automaton; // borrowed; NULL: any run
    uint32_t state_limit;        // 0: none
    // Only whether there is a run will be asked: building ends with the first that is found, and
    // calls that the automaton takes no notice of are passed without a look.
    bool verdict_only;
    bool opens; // and product_open will be called
    // Context-sensitive
    struct view *const *views; // outermost first
    uint32_t view_count;
    // Flat
    bool flat;
    uint32_t start;       // function
    const uint32_t *ends; // nodes where a run may end; none: anywhere
    uint32_t end_count;
    const uint32_t *amid; // of these, those that it need not have come to the end of
    uint32_t amid_count;
};

struct product;

// At the budget's end it stops where it is: product_is_complete tells.
struct product *product_create(const struct product_problem *problem, struct budget *budget);
void product_destroy(struct product *product);
bool product_is_complete(const struct product *product);
// Is there a run that the automaton accepts? Also right when it is true of an incomplete product.
bool product_is_possible(const struct product *product);
uint32_t product_state_count(const struct product *product);
// Are there activations with more nodes to visit than are looked at? Then product_collect is what
// finds a run that visits them.
bool product_misses_visits(const struct product *product);

// Takes `node` out of `closed`, unless that makes a run possible: then true, and nothing is
// changed. The product has `verdict_only` and `opens`, contexts, and no run. False also when the
// budget is spent: then the product is not complete any more.
bool product_open(struct product *product, uint32_t node, struct budget *budget);

// The nodes that accepted runs may execute. The product is complete.
void product_may(const struct product *product, struct bitset *may);
// Those that all of them do. False: that would take more than `bytes`, or the budget; `must` is not
// changed.
bool product_must(const struct product *product, struct budget *budget, uint64_t bytes,
                  struct bitset *must);

// ---- A run

enum run_letter {
    RUN_STEP,  // control reaches node, or goes on in it
    RUN_CALL,  // the call that ends node enters function
    RUN_LEAVE, // that call has returned, or was left by a jump
};

struct run_event {
    enum run_letter letter;
    uint32_t node;
    uint32_t function; // of a call
    uint32_t insn;     // of a step: 0, or the spot that control has come to in the same node
};

struct run {
    struct run_event *events;
    uint32_t count;
};

// An accepted run with the fewest steps; false: there is none (or the budget is spent).
bool product_shortest(const struct product *product, struct budget *budget, struct run *ret);
// An accepted run that visits as many of these nodes as can be had by detours: from a state back to
// itself, or by another way through a call. *missed: those that it does not visit (to be freed).
// False: there is no run, or too much to look at.
bool product_collect(const struct product *product, const uint32_t *nodes, uint32_t count,
                     struct budget *budget, struct run *ret, uint32_t **missed,
                     uint32_t *missed_count);
void run_deinit(struct run *run);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * The path to the failure that touches the most telling places: the greatest sum of scores, and of
 * those paths a shortest one (paper 004).
 *
 *     struct path_problem problem = {.flow = flow, .critical = critical, .critical_count = n, ...};
 *     struct path_result result;
 *     path_solve(&problem, budget, &result);
 *     if (result.count) ... result.paths[0].run, .score, .length, .touched ...
 *     path_result_deinit(&result);
 *
 * *Critical* nodes have a score, which may be negative or 0; a path gets the score of each critical
 * node that it reaches, once, however often it does. Its length is the number of nodes that it
 * reaches (RUN_STEP events), with those of completed calls. What is maximised is
 *     sum of scores - per_step * length,  then the length is minimised
 * or, with `measure`, whatever that says of the set touched and the length (it must not prefer the
 * longer of two paths that touch the same).
 *
 * Where paths begin and end: `views` (solve/view.h), the pending activations of one thread with all
 * that is known of each, outermost first, as `ask` has them; or, for several failures at once,
 * `stacks`, each a plain list of pending calls and the node it ends in: one solution forwards from
 * the start (GPS), a value a stack, the best one is the answer; or neither: any path from `start`
 * that ends at one of `ends`, whatever is pending there.
 *
 * What paths are ruled out: those that pass a node of `closed`, reach one of `absent` or of
 * `avoid`; those that `automaton` does not accept; those that reach `after` of an order before any
 * `before` (A, B, A is fine); and, with `dataflow`, those that it finds no run for. Without
 * dataflow the answer is optimal. With it no feasible path that is better was left out, and the
 * path that is given was replayed: `is_feasible`; where the best could not be replayed (values
 * combine more than one path), the next best are tried, and if none can be, the best is given and
 * marked. Half of the time is for values, 20 s where there is no limit; then they are left aside,
 * and the path that is found without them is given (complete is false).
 *
 * Several paths (`top`): each touches more of what is worth touching than those that are shorter,
 * or is shorter than those that touch more; what is longer and touches less than another is not
 * listed, so there may be fewer.
 *
 * Method: what paths there are becomes a graph (graph.h) that is cut down to what matters
 * (compress.c). PATH_AUTO searches it element by element (search.c, table.h): first the best marks
 * that any path has, then the shortest path that has them, led and pruned by what single marks and
 * detours to them cost. PATH_FORWARD and PATH_BACKWARD, or a choice of weights, go by the weighted
 * pushdown core as the paper does (system.c): weights are sets of (touched, length, value) or
 * decision diagrams, definitions 6 and 7 and appendix A. All give the same answers; the search is
 * many times faster.
 */
#ifndef PATH_PATH_H
#define PATH_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "path/dataflow.h"
#include "solve/product.h"

struct automaton;
struct bitset;
struct budget;
struct flow;
struct view;

#define PATH_CRITICAL_MOST 64u // critical nodes and ends of orders, together

struct path_critical {
    uint32_t node; // of the flow; two may have the same
    double score;
    uint32_t cluster;             // for `separate`
    struct dataflow_value assume; // what holds when the node is reached for its score;
                                  // DATAFLOW_ONE: nothing is known
};

// `after` is not reached before `before` has been.
struct path_order {
    uint32_t before, after; // nodes of the flow
};

struct path_stack {
    const uint32_t *nodes; // pending calls, outermost first, and last the node where it ends
    uint32_t count;
};

enum path_method {
    PATH_AUTO,
    PATH_FORWARD,  // GPS: post*
    PATH_BACKWARD, // GPP: pre*; one stack or views
};

enum path_weights {
    PATH_WEIGHTS_AUTO,
    PATH_WEIGHTS_SETS,
    PATH_WEIGHTS_DIAGRAMS,
};

struct path_problem {
    const struct flow *flow;
    const struct bitset *closed, *absent, *avoid; // by node; NULL: none
    const struct path_critical *critical;
    uint32_t critical_count;
    const struct path_order *orders;
    uint32_t order_count;
    struct automaton *automaton; // borrowed; NULL: any path
    struct dataflow *dataflow;   // borrowed; NULL: none

    struct view *const *views; // outermost first
    uint32_t view_count;
    const struct path_stack *stacks;
    uint32_t stack_count;
    uint32_t start; // function that paths begin in, where there are no views
    const uint32_t *ends;
    uint32_t end_count;

    double per_step;
    bool separate; // a path that touches critical nodes of several clusters gets 0 for them
    // Instead of scores: bits of `touched` are the numbers of critical nodes.
    double (*measure)(void *context, uint64_t touched, uint64_t length);
    void *measure_context;

    uint32_t top; // so many paths, distinct; 0: one
    enum path_method method;
    enum path_weights weights;
    bool no_compression; // for tests
};

struct path_found {
    struct run run;
    double score;      // sum of scores, or the measure
    uint64_t length;   // nodes reached
    uint64_t touched;  // by number of critical node
    uint32_t stack;    // which of `stacks`
    bool is_feasible;  // with dataflow: replayed and nothing speaks against it
    uint32_t doubtful; // else: the event at which something does; UINT32_MAX: none
};

struct path_result {
    struct path_found *paths; // best first; none: there is no path
    uint32_t count;
    // False: the budget was spent, there were too many sets, or values of variables spoke against a
    // better path: there may be a better one. `note` says what of; where it is only that the path
    // might be shorter, nothing touches more than it.
    bool complete;
    bool is_optimal;               // complete, and no dataflow in the way
    uint64_t weights, transitions; // how much was looked at
    const char *note;              // what was dropped, in words, or NULL
};

void path_solve(const struct path_problem *problem, struct budget *budget, struct path_result *ret);
void path_result_deinit(struct path_result *result);

#endif

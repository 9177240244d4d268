// SPDX-License-Identifier: Apache-2.0
/*
 * The best paths that fit all that is known of a failed run: path.h with the evidence of an
 * ask_case.
 *
 *     struct path_request request = {.flow = ask->flow, .critical = critical, ...};
 *     struct path_answer answer;
 *     path_answer_init(&answer, &request, &ask, 1, budget);
 *     if (answer.count) ... answer.paths[0].found.run ...
 *     path_answer_deinit(&answer);
 *
 * What constrains a path is what constrains a run in `ask`: pending activations with their
 * paths and calls, calls that were never made, observations and what was given. Calls that were
 * made (and must be visited somewhere) are not part of the search for the best path at first. Where
 * the best one misses a few, they are told to the search (evidence_must.c). Where they are many, a
 * run is looked for that visits them all and touches the same; it is not a shortest one
 * (evidence_visits.c). Where there is none, the next best are tried.
 *
 * Every path here has been replayed by ask/witness.h, its score and length counted again, and
 * orders and places to avoid looked at again: a path of the solver's that is none is left out, and
 * `problem` says so.
 *
 * Of several failures (each its own run of the same bug) the best paths of all are given. Where
 * stacks are all that is known of them, they are solved at once.
 */
#ifndef PATH_EVIDENCE_H
#define PATH_EVIDENCE_H

#include "path/path.h"

struct ask_case;

// As path_problem has them.
struct path_request {
    const struct path_critical *critical;
    uint32_t critical_count;
    const struct path_order *orders;
    uint32_t order_count;
    const struct bitset *avoid; // NULL: nothing
    const struct flow *flow;    // of the first case; the others' are equal to it
    struct dataflow *dataflow;  // of that flow; NULL: none
    double per_step;
    bool separate;
    uint32_t top;
    enum path_method method;
    enum path_weights weights;
};

struct path_shown {
    struct path_found found; // length: as it is counted here, the model's nodes alone
    uint32_t failure;        // which of the cases
    bool is_shortest;        // of those that touch as much
    uint32_t missed;         // calls that were made and are not on it: it was not found out whether
                             // one run can do all of this. 0: it fits all that is known
};

struct path_answer {
    struct path_shown *paths; // best first
    uint32_t count;
    bool complete;   // false: there may be a better one; or, without paths, there may be one
    bool is_optimal; // no path that fits has a greater score
    // What was not looked at, or could not be had; NULL or a sentence.
    const char *note;
    const char *problem; // what the checker found wrong with a path that was left out
    uint32_t missed;     // calls that were made, and no path that visits them was found in time
};

// The cases are of one model; the first thread of each is what is looked at.
void path_answer_init(struct path_answer *answer, const struct path_request *request,
                      struct ask_case *const *cases, uint32_t count, struct budget *budget);
void path_answer_deinit(struct path_answer *answer);

// ---- For evidence_visits.c, and tests

// What a run is worth: how many nodes it reaches (of the model alone, and of the flow), which
// critical nodes it touches, and the score of that. Of those that are touched only while something
// is assumed, those of `assumed` are.
void path_measure(const struct path_request *request, const struct run *run, uint64_t assumed,
                  uint32_t model_node_count, struct path_found *ret, uint64_t *flow_length);
// Orders and places to avoid; NULL: it keeps to them.
const char *path_rule_problem(const struct path_request *request, const struct run *run);

enum path_visit {
    PATH_VISITED,
    PATH_NOT_VISITABLE, // no run does
    PATH_VISIT_UNKNOWN, // too large, or the budget is spent
};

// A run that fits the case, calls that were made included; that reaches every critical node of
// `touched` whose score is above 0, and none of the others whose score is below. Keeps to orders
// and avoids what is to be avoided. *missed: how many are not reached by the best that was found.
enum path_visit path_visit_all(const struct path_request *request, struct ask_case *ask,
                               uint64_t touched, struct budget *budget, struct run *ret,
                               uint32_t *missed);
// As many critical nodes as can be had on the way; only calls that were made have to be visited.
enum path_visit path_visit_most(const struct path_request *request, struct ask_case *ask,
                                struct budget *budget, struct run *ret, uint32_t *missed);

#endif

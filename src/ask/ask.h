// SPDX-License-Identifier: Apache-2.0
/*
 * Is there a run that fits what is known and the query? With a proof either way.
 *
 *     struct ask_session *session = ask_session_create(ask);
 *     struct ask_result result;
 *     ask_query(session, query, ASK_SOLVER_AUTO, &budget, &result);
 *     ... result.verdict, result.witness, result.because ...
 *     ask_result_deinit(&result);
 *     ask_session_destroy(session);
 *
 * A query is about the process: what any of its threads did, those that are gone too, in any order
 * (threads.c). "possible" comes with a run that an independent checker has replayed (witness.h): of
 * the thread that does it, or most of it; "impossible" with facts that make it so, none of which
 * can be left out. A session keeps what queries share.
 */
#ifndef ASK_ASK_H
#define ASK_ASK_H

#include "ask/coverage.h"
#include "solve/product.h"

struct ask_case;
struct ask_session;
struct budget;
struct query;

enum ask_verdict {
    ASK_POSSIBLE,
    ASK_IMPOSSIBLE,
    ASK_UNDECIDED,
};

struct ask_result {
    enum ask_verdict verdict;
    enum ask_solver solver;
    bool context_insensitive; // returns may go to any call of their function, in the witness too
    bool has_witness;
    struct run witness;
    // By index in the evidence, or ASK_THREAD_GONE: whose run it is.
    uint32_t witness_thread;
    bool witness_is_part;        // other threads do some of what was asked
    const char *witness_problem; // what the checker found wrong: then the answer is undecided
    uint32_t *because;           // facts of the case, for "impossible"
    uint32_t because_count;
    bool because_is_minimal; // false: the budget was spent while it was made smaller
    const char *note;        // what was widened or not looked at, or NULL; in words
    uint32_t dropped;        // calls that were made, which were not looked at
    uint32_t *aside;         // the facts that say so, of an answer that is undecided for them
    uint32_t aside_count;
    uint32_t states; // that were looked at
};

struct ask_session *ask_session_create(struct ask_case *ask);
void ask_session_destroy(struct ask_session *session);
// Up to so many nodes that have to be visited are told to the automaton at once; more are collected
// by detours. For tests.
void ask_session_set_ran_most(struct ask_session *session, uint32_t most);

void ask_query(struct ask_session *session, const struct query *query, enum ask_solver solver,
               struct budget *budget, struct ask_result *ret);
// Do the observations contradict each other? ASK_IMPOSSIBLE: they do, `because` says which.
void ask_consistent(struct ask_session *session, enum ask_solver solver, struct budget *budget,
                    struct ask_result *ret);
void ask_result_deinit(struct ask_result *result);

const char *ask_verdict_name(enum ask_verdict verdict);

#endif

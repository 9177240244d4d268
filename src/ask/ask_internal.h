// SPDX-License-Identifier: Apache-2.0
// Shared by the files of ask; see ask.h.
#ifndef ASK_ASK_INTERNAL_H
#define ASK_ASK_INTERNAL_H

#include "ask/ask.h"
#include "common/bitset.h"
#include "common/vec.h"

struct ask_thread;

#define ASK_STATES_MOST 6000000u

VEC_DEFINE(run_vec, struct run);

struct ask_session {
    struct ask_case *ask;
    struct bitset all; // every fact
    // What every run executes, whatever else is asked: by vpa, once.
    bool has_certain;
    struct bitset certain;
    uint32_t ran_most;
    struct run_vec runs; // that were found to fit all facts
};

// Of the facts that are enabled. `with_witness`: a run is wanted too.
enum ask_verdict ask_solve(struct ask_session *session, const struct query *query,
                           enum ask_solver solver, bool with_witness, struct budget *budget,
                           struct ask_result *ret);

// Of one thread's run by itself: a thread of the case, or one that is gone.
enum ask_verdict ask_solve_thread(struct ask_session *session, const struct ask_thread *thread,
                                  const struct query *query, enum ask_solver solver,
                                  bool with_witness, struct budget *budget, struct ask_result *ret);
// Of a verdict "possible" of that thread: checks the run there is, or looks for one. What is wrong
// with it makes the verdict undecided.
void ask_prove(struct ask_session *session, const struct ask_thread *thread,
               const struct query *query, struct budget *budget, struct ask_result *ret);

// ---- threads.c

// The same of a process of which not all ran in one thread. A run has been checked.
enum ask_verdict ask_solve_threads(struct ask_session *session, const struct query *query,
                                   enum ask_solver solver, bool with_witness, struct budget *budget,
                                   struct ask_result *ret);

// ---- reason.c

// Why the query is impossible: ret->because.
void ask_explain(struct ask_session *session, const struct query *query, enum ask_solver solver,
                 struct budget *budget, struct ask_result *ret);

#endif

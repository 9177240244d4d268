// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that a run is one: every step is an edge of the flow graph, every return goes back to its
 * call, what has been observed is so in it, and it ends where the evidence says. It shares nothing
 * with the solvers that made the run but the graph; a mistake of theirs would show here.
 *
 *     const char *problem = witness_problem(ask, thread, &run, query, false);
 *     if (problem) ... // one sentence
 */
#ifndef ASK_WITNESS_H
#define ASK_WITNESS_H

#include <stdbool.h>

struct ask_case;
struct ask_thread;
struct automaton;
struct run;

// Of a thread of the case, or one that is gone. `flat`: a return may go behind any call of its
// function. NULL: it is a run.
const char *witness_problem(const struct ask_case *ask, const struct ask_thread *thread,
                            const struct run *run, struct automaton *query, bool flat);

#endif

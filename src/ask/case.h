// SPDX-License-Identifier: Apache-2.0
/*
 * One failed run as solvers take it: the program's flow graph, and what the evidence says of each
 * thread.
 *
 *     struct ask_case *ask;
 *     err = ask_case_create(model, evidence, ASK_USE_ALL, &ask);
 *     ... ask->threads[t].views ...
 *     ask_case_destroy(ask);
 *
 * Threads: a run is one thread's path. What never ran did not run in any of them; what ran, ran in
 * one of them, and it is not known in which where there may have been several. Threads may be gone:
 * finished ones, those of a process that this one was forked from, those that were not pasted.
 */
#ifndef ASK_CASE_H
#define ASK_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/bitset.h"
#include "common/vec.h"
#include "solve/flow.h"
#include "solve/utl.h"
#include "solve/view.h"

struct error;
struct evidence;
struct model;
struct known_vec;

// Kinds of observations (--use).
enum ask_use {
    ASK_USE_STACK = 1u << 0,
    ASK_USE_COVERAGE = 1u << 1, // global and local
    ASK_USE_PATHS = 1u << 2,
    ASK_USE_LOGS = 1u << 3, // and all other observations
    ASK_USE_ALL = ASK_USE_STACK | ASK_USE_COVERAGE | ASK_USE_PATHS | ASK_USE_LOGS,
};

VEC_DEFINE(ask_view_vec, struct view *);
VEC_DEFINE(ask_link_vec, struct utl_link);
VEC_DEFINE(ask_id_vec, uint32_t);
VEC_DEFINE(ask_trace_vec, struct utl_trace);

// What was seen: what an answer can give as its reason. A case can be made of some of it only.
enum ask_fact_kind {
    ASK_FACT_STACK,       // of a thread
    ASK_FACT_PATHS,       // the recorded path of a frame
    ASK_FACT_CALLS,       // calls made and not made in a frame
    ASK_FACT_NOT_CALLED,  // a call that was never made
    ASK_FACT_CALLED,      // one that was
    ASK_FACT_OBSERVATION, // of the evidence's list
    ASK_FACT_GIVEN,       // a query that is taken for granted
};

struct ask_fact {
    enum ask_fact_kind kind;
    uint32_t thread, frame; // of a stack, paths, calls
    uint32_t node;          // of a call
    uint32_t observation;   // or which of the queries
};
VEC_DEFINE(ask_fact_vec, struct ask_fact);

// Instead of a number in the evidence: of a thread that is gone.
#define ASK_THREAD_GONE UINT32_MAX

struct ask_thread {
    uint32_t index;            // in the evidence, or ASK_THREAD_GONE
    struct ask_view_vec views; // outermost first; borrowed from the case
    // The same for solvers without contexts: pending calls, where it ends.
    struct ask_link_vec links;
    struct ask_id_vec ends;
    struct ask_id_vec cut; // nodes at which frames stand whose last lines may not have run
    uint32_t start;        // function that it began in
    bool is_impossible;    // nothing is left of where a frame may stand
    bool is_doubtful;      // the program has no such call as one on the stack
};

// May a frame stand in the node, and not have come to its end?
static inline bool ask_thread_is_cut(const struct ask_thread *thread, uint32_t node)
{
    for (size_t i = 0; i < thread->cut.length; i++)
        if (thread->cut.data[i] == node)
            return true;
    return false;
}

struct automaton;
struct query;
VEC_DEFINE(ask_automaton_vec, struct automaton *);
VEC_DEFINE(ask_query_vec, const struct query *);

struct ask_case {
    struct model *model;
    const struct evidence *evidence;
    struct flow *flow;
    struct ask_fact_vec facts;  // all of the evidence that is used
    struct bitset enabled;      // by fact
    uint32_t thread_fact_count; // the first of them are about threads

    // Made of the facts that are enabled
    struct ask_thread *threads;
    uint32_t thread_count;
    // Those that are gone: each stands for all that began in its function, if there were any. The
    // program's first thread is among them where none of `threads` is known to be that one.
    struct ask_thread gone[2];
    uint32_t gone_count;
    bool may_have_more;                // other threads than the first may be gone
    bool is_single;                    // all that ran, ran in threads[0]
    struct bitset closed;              // by node of the flow: nothing has passed it
    struct bitset absent;              // control has not even come to it
    struct ask_id_vec ran;             // nodes that ran in some thread
    struct ask_trace_vec traces;       // nodes that ran in this order, for solvers without automata
    struct ask_automaton_vec automata; // what only automata can say; with is_single alone
    // What was given, about the first thread: for solvers with contexts, and without.
    struct ask_automaton_vec given, given_flat;
    struct ask_query_vec queries;
    struct ask_view_vec views;      // all of the threads' that are not gone
    struct ask_view_vec gone_views; // of those
    struct known_vec *known;        // while it is made
    struct arena arena;
};

// Completes the model. On success the case is the caller's; model and evidence are borrowed.
struct error *ask_case_create(struct model *model, const struct evidence *evidence, unsigned use,
                              struct ask_case **ret);
void ask_case_destroy(struct ask_case *ask);

// Makes threads, closed, ran, ... anew of these facts alone (by number; as many as facts.length).
void ask_case_enable(struct ask_case *ask, const struct bitset *facts);

// Takes for granted that the first thread's run fits the query, which must outlive the case.
void ask_case_given(struct ask_case *ask, const struct query *query);

// A fact in words: "parse_header() at parse.c:30 was never called". In the arena that is given.
const char *ask_fact_words(const struct ask_case *ask, uint32_t fact, struct arena *arena);

#endif

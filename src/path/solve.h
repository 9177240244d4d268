// SPDX-License-Identifier: Apache-2.0
// Shared by the files that solve a problem; see path.h.
#ifndef PATH_SOLVE_H
#define PATH_SOLVE_H

#include "path/calls.h"
#include "path/graph.h"
#include "path/marks.h"
#include "path/path.h"

struct budget;

// A run of more events is not told.
#define PATH_EVENTS_MOST 60000000u

// A path that was found, before it is told.
struct candidate {
    uint64_t bits;
    uint64_t length;
    double worth;
    uint32_t stack;
    uint32_t number; // an element, or a path of the pushdown system
};
VEC_DEFINE(candidate_vec, struct candidate);
VEC_DEFINE(path_found_vec, struct path_found);

struct solving {
    const struct path_problem *problem;
    struct budget *budget;
    struct path_result *result;
    struct marks marks;
    struct bitset closed, blocked, noticed;
    struct calls calls;
    struct path_found_vec found;
    // With dataflow: functions whose calls are looked at although nothing is met in them, since
    // values that they leave behind, or need, have ruled a path out.
    struct bitset refined;
};

// Best first; of equal ones the shortest.
void candidates_sort(struct candidate_vec *candidates);
// Those that are no longer than another, and touch what is as good, are enough; sorted.
void candidates_thin(const struct marks *marks, struct candidate_vec *candidates);
// What the events say themselves.
uint64_t solving_count(const struct solving *solving, const struct path_event_vec *events,
                       uint64_t *length);
// Of what was kept, best first: those that nothing speaks against, as many as are wanted; or one,
// where there is nothing else.
void solving_sort_out(struct solving *solving);
// With dataflow, of a path that was kept and is in doubt: would it do if calls that were passed
// could do anything? Then they are to be looked at: true, where that is news.
bool solving_refine(struct solving *solving, const struct path_found *found);
// Which calls matter, anew.
void solving_look_at_calls(struct solving *solving);
// Takes over the events, checks that they are worth what the candidate says, and keeps them as one
// more path of the result. False: it is there already.
bool solving_keep(struct solving *solving, const struct candidate *candidate,
                  struct path_event_vec *events);
// How many paths are wanted.
static inline uint32_t solving_top(const struct solving *solving)
{
    return solving->problem->top ? solving->problem->top : 1;
}

// ---- search.c: by elements
void search_solve(struct solving *solving);

// ---- system.c: by the weighted pushdown core
void system_solve(struct solving *solving);

#endif

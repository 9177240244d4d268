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
};

// Best first; of equal ones the shortest.
void candidates_sort(struct candidate_vec *candidates);
// Those that are no longer than another, and touch what is as good, are enough; sorted.
void candidates_thin(const struct marks *marks, struct candidate_vec *candidates);
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

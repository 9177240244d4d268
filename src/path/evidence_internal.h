// SPDX-License-Identifier: Apache-2.0
// Shared by evidence*.c; see evidence.h.
#ifndef PATH_EVIDENCE_INTERNAL_H
#define PATH_EVIDENCE_INTERNAL_H

#include "path/evidence.h"

// The problem, with what automata say of the case.
void path_evidence_solve(const struct path_problem *problem, const struct ask_case *ask,
                         struct budget *budget, struct path_result *ret);

// ---- evidence_must.c

// The best path of the result misses calls that were made, perhaps: where a better one that misses
// none is found quickly, the result is replaced by that, and it is true.
bool path_solve_must(const struct path_problem *problem, const struct ask_case *ask,
                     struct budget *budget, struct path_result *result);

#endif

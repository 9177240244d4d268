// SPDX-License-Identifier: Apache-2.0
/*
 * The arithmetic of suspects: from how many runs had which codes (store_internal.h) to what that
 * says of predicates. docs/suspects_statistics.md has the formulas. Nothing here is as large as the
 * runs are, and nothing here depends on the database: equal counts give equal doubles.
 *
 *     statistics_subjects(layout, &cells, &subjects);
 *     statistics_count(&cells, &subjects.data[i], &counts);
 *     statistics_compute(&counts, failing, passing, z, &statistics);
 */
#ifndef SUSPECTS_STORE_STATISTICS_H
#define SUSPECTS_STORE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/vec.h"

struct store_layout;

// Runs in which a site had exactly this set of counters that are not 0.
struct cell {
    uint32_t code, site, mask;
    uint64_t failing, passing;
};

VEC_DEFINE(cell_vec, struct cell); // ascending by code, so by site

// A predicate that was true in some run.
struct subject {
    uint32_t site, predicate; // the site among all of the build's
    uint32_t mask;            // counters that make it true
    uint32_t first, count;    // cells of its site
    uint32_t redundant;       // others of the site that are true in the same runs
    bool is_strongest;        // says most among those; the first one where several do
};

VEC_DEFINE(subject_vec, struct subject);

struct counts {
    uint64_t failing, passing, failing_observed, passing_observed;
};

struct statistics {
    double failure, context, increase, increase_low, importance, ochiai, tarantula;
};

// All of them, in order of module, site, predicate.
void statistics_subjects(const struct store_layout *layout, const struct cell_vec *cells,
                         struct subject_vec *ret);
void statistics_count(const struct cell_vec *cells, const struct subject *subject,
                      struct counts *ret);
// failing, passing: runs in all. z: of statistics_quantile.
void statistics_compute(const struct counts *counts, uint64_t failing, uint64_t passing, double z,
                        struct statistics *ret);
// How many standard deviations around the mean have this share (in 0 .. 1) of a normal
// distribution.
double statistics_quantile(double confidence);

static inline bool statistics_predicts(const struct statistics *statistics)
{
    return statistics->increase_low > 0 && statistics->importance > 0;
}

#endif

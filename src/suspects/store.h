// SPDX-License-Identifier: Apache-2.0
/*
 * Many runs, kept and counted: an SQLite file, or a PostgreSQL database for a fleet. The same
 * schema and the same statements for both, in so far as they understand the same.
 *
 *     struct store *store;
 *     err = store_open("runs.db", STORE_CREATE, &store);         // or postgresql://...
 *     err = store_add_build(store, sites);                       // once a build; again is fine
 *     err = store_add(store, report, &result);                   // STORE_ADDED, STORE_KNOWN
 *     err = store_rank(store, &request, budget, &ranking);
 *     store_close(store);
 *
 * A report is added whole or not at all, by one transaction, and once, however often and by however
 * many writers it is brought: its run_id says which it is. What is said to be added has been
 * committed. A report that does not fit the build (a module that it does not have, counters beyond
 * its own) is refused with ERROR_FORMAT and changes nothing; one of a build that the store does not
 * know with ERROR_NOT_FOUND.
 *
 * Runs whose outcome is not known are kept and not counted. One handle is for one thread, and does
 * one thing at a time: `each` functions may not use it. docs/suspects_statistics.md has the tables.
 */
#ifndef SUSPECTS_STORE_H
#define SUSPECTS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "layout/suspects.h"

struct budget;
struct error;
struct store;
struct suspects_report;
struct suspects_sites;

enum store_mode {
    STORE_READ,   // must be there
    STORE_WRITE,  // must be there
    STORE_CREATE, // is made where it is not there
};

enum store_result {
    STORE_ADDED,
    STORE_KNOWN, // was there already
};

struct error *store_open(const char *where, enum store_mode mode, struct store **ret);
void store_close(struct store *store); // NULL is fine

struct error *store_add_build(struct store *store, const struct suspects_sites *sites);
struct error *store_add(struct store *store, const struct suspects_report *report,
                        enum store_result *ret);

// Many by one transaction, which is what makes them quick: about a hundred to a thousand at once.
// Those that are refused say why in `refused` (the caller's to destroy, else NULL) and do not
// hinder the others; where an error is returned none of them was added.
struct store_added {
    enum store_result result;
    struct error *refused;
};
struct error *store_add_many(struct store *store, const struct suspects_report *const *reports,
                             size_t count, struct store_added *ret);
// All builds and runs of another store that this one does not have.
struct error *store_merge(struct store *store, struct store *other, uint64_t *added,
                          uint64_t *known);

struct store_build {
    uint8_t build_id[SUSPECTS_BUILD_ID];
    uint32_t build_id_length;
    const char *path;
    uint64_t passed, failed, unknown; // runs
    uint32_t site_count, predicate_count;
};

// In the order they were added, in the arena.
struct error *store_builds(struct store *store, struct arena *arena, struct store_build **ret,
                           uint32_t *count);

// ---- Ranking (Liblit, Naik, Zheng, Aiken, Jordan: Scalable statistical bug isolation, 2005)
//
// For a predicate P: failing and passing runs in which it was true (F, S) and in which its site was
// sampled at all (F_observed, S_observed).
//     Failure    = F / (F + S)
//     Context    = F_observed / (F_observed + S_observed)
//     Increase   = Failure - Context; a predictor's 95% lower bound is above 0
//     Importance = 2 / (1 / Increase + log(NumF) / log(F))
// Elimination: the predictor with the highest importance stands for a bug; the runs in which it is
// true are taken away, and what is left is ranked again. Each of these is the head of a cluster;
// the other predictors join the head that they fail together with most.

struct predictor {
    uint64_t module_id;
    uint32_t site, predicate; // numbers in the module's table; predicate: of the site
    uint32_t kind;            // enum suspects_kind
    uint32_t function, node;  // where it sits (suspects_predicate_node)
    const char *function_name, *file, *left, *right;
    uint32_t line, column;
    uint32_t flags, operator; // as struct suspects_site has them
    int64_t constant;
    uint64_t failing, passing, failing_observed, passing_observed;
    double failure, context, increase, increase_low, importance, ochiai, tarantula;
    // Of a head: what it was worth when it was chosen, and the failing runs it was chosen for.
    double head_importance;
    uint64_t head_failing;
    // Other predicates of the same site that are true in the same runs.
    uint32_t redundant;
};

struct cluster {
    struct predictor *predictors; // the head first, then by importance
    uint32_t count;
    uint64_t failing; // runs that its head explains: those that no cluster before it does
};

// What is done with the runs in which a chosen predictor is true.
enum store_elimination {
    STORE_DISCARD,         // all of them are taken away
    STORE_DISCARD_FAILING, // those that failed are
    STORE_RELABEL,         // those that failed count as passed from then on
};

struct store_rank_request {
    const uint8_t *build_id; // NULL: the only one with runs; several: an error that names them
    uint32_t build_id_length;
    uint32_t cluster_most;   // 0: as many as there are
    uint32_t predictor_most; // in each; 0: all
    double confidence;       // of the lower bound; 0: 0.95
    enum store_elimination elimination;
};

struct ranking {
    struct store_build build;
    uint64_t failing, passing; // runs
    struct cluster *clusters;
    uint32_t cluster_count;
    uint64_t unexplained; // failing runs that no cluster explains
    uint32_t candidates;  // predicates that were ever true in a failing run
    bool complete;        // false: the budget ended it
    struct arena arena;
};

struct error *store_rank(struct store *store, const struct store_rank_request *request,
                         struct budget *budget, struct ranking *ret);
void ranking_deinit(struct ranking *ranking);

// All predicates that were true in some run, with their counts, without elimination: one call of
// `each` a predictor, in order of module, site, predicate. For `show`, and for those who check.
struct error *store_each(struct store *store, const struct store_rank_request *request,
                         void (*each)(void *context, const struct predictor *predictor),
                         void *context);

// Runs of a build: one call a run, in the order they were added.
struct store_run {
    uint8_t run_id[16];
    uint32_t outcome; // enum suspects_outcome
    uint32_t signal, exit_status;
    uint64_t rate, start;
    const struct suspects_frame *frames; // innermost first
    uint32_t frame_count;
};
struct error *store_each_run(struct store *store, const struct store_rank_request *request,
                             void (*each)(void *context, const struct store_run *run),
                             void *context);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * What `inquest path` looks for: predictors of chosen clusters and places that the user has named,
 * as critical nodes (path/path.h) and as marks for the reader (report/path.h).
 *
 *     struct path_critical_set set;
 *     path_critical_init(&set, room);
 *     path_critical_add_cluster(&set, predictors, cluster, first, dataflow);
 *     path_critical_add_place(&set, node, 2.0, "parse.c:30");
 *     ... set.critical, set.marks ...
 *     path_critical_deinit(&set);
 *
 * Predictors of one cluster that sit on one node and say the same of variables are one critical
 * node, whose score is the sum of theirs.
 */
#ifndef CLI_PATH_CRITICAL_H
#define CLI_PATH_CRITICAL_H

#include <stdint.h>

#include "path/path.h"
#include "report/path.h"

struct dataflow;
struct predictors;

struct path_critical_set {
    struct path_critical critical[PATH_CRITICAL_MOST];
    const struct path_predictor *first[PATH_CRITICAL_MOST]; // of each; NULL: named by the user
    uint32_t count, room;
    struct path_mark_vec marks;
    uint32_t left_out; // for which there was no room
};

// room: how many critical nodes there may be.
void path_critical_init(struct path_critical_set *set, uint32_t room);
void path_critical_deinit(struct path_critical_set *set);

// The cluster's first so many predictors; 0: all. dataflow may be NULL.
void path_critical_add_cluster(struct path_critical_set *set, const struct predictors *predictors,
                               uint32_t cluster, uint32_t first, struct dataflow *dataflow);
// words is borrowed.
void path_critical_add_place(struct path_critical_set *set, uint32_t node, double score,
                             const char *words);
// The place of an order: a mark alone.
void path_critical_add_order(struct path_critical_set *set, uint32_t node, const char *words);

#endif

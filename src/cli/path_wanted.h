// SPDX-License-Identifier: Apache-2.0
/*
 * What `inquest path` is asked to look for: lists of predictors, clusters of these, places to touch
 * and to avoid, orders.
 *
 *     struct path_wanted wanted = {0};
 *     ... OPTION_MANY, &wanted.lists ...
 *     err = path_wanted_read(&wanted);
 *     if (!err)
 *             err = path_wanted_find(&wanted, model);
 *     err = path_wanted_set(&wanted, model, PATH_WANTED_ALL, dataflow, &set);
 *     path_wanted_deinit(&wanted);
 */
#ifndef CLI_PATH_WANTED_H
#define CLI_PATH_WANTED_H

#include "cli/options.h"
#include "cli/path_critical.h"
#include "common/bitset.h"
#include "common/vec.h"
#include "path/predictors.h"

struct error;
struct model;

VEC_DEFINE(path_order_vec, struct path_order);
VEC_DEFINE(path_selected_vec, uint32_t);

struct path_wanted {
    // As given. `before`: A and B as one value, a newline between them
    struct option_values lists, clusters, critical, avoid_places, before;
    const char *first_text;
    bool separate;
    // As understood
    uint32_t first;
    struct predictors predictors;
    struct path_selected_vec selected; // of the predictors' clusters
    struct bitset avoid;               // by node of the model; of size 0: nothing
    struct path_order_vec orders;
};

#define PATH_WANTED_ALL UINT32_MAX

// The lists, and which of their clusters count.
struct error *path_wanted_read(struct path_wanted *wanted);
// Where in the program all of it is; the model is complete.
struct error *path_wanted_find(struct path_wanted *wanted, struct model *model);
// Are the clusters looked at one by one?
bool path_wanted_is_by_cluster(const struct path_wanted *wanted);
// One cluster, or all that are selected, and the places. `set` is to be deinitialised in any case.
struct error *path_wanted_set(const struct path_wanted *wanted, const struct model *model,
                              uint32_t cluster, struct dataflow *dataflow,
                              struct path_critical_set *set);
void path_wanted_deinit(struct path_wanted *wanted);

// Is there a number from 1 to `most`? NULL: 0.
struct error *path_parse_count(const char *option, const char *text, uint32_t most, uint32_t *ret);

#endif

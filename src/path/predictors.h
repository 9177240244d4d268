// SPDX-License-Identifier: Apache-2.0
/*
 * Lists of predictors as `inquest suspects rank --export` writes them ("predictors/1",
 * docs/formats/predictors.md), joined with the model of the program.
 *
 *     struct predictors predictors;
 *     predictors_init(&predictors);
 *     err = predictors_read(&predictors, "bug.json");      // any number of files
 *     if (!err)
 *             err = predictors_fit(&predictors, model);
 *     for (size_t i = 0; i < predictors.all.length; i++) ...
 *     predictors_deinit(&predictors);
 *
 * A predictor that has no place in the program is an error: a list of another build would point
 * anywhere.
 */
#ifndef PATH_PREDICTORS_H
#define PATH_PREDICTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/vec.h"

struct error;
struct model;

struct path_predictor {
    uint64_t module_id;
    uint32_t function_index, node_index;
    uint32_t node; // of the model, once it fits
    double score;
    uint32_t cluster; // number in `clusters`
    uint32_t rank;    // in its cluster, from 0
    // What people read; "" and 0 where the file does not say.
    const char *predicate, *kind, *function, *file;
    uint32_t line, column;
    uint64_t failing, passing;
    // What holds of a variable at the end of the node when it is hit; variable NULL: nothing is
    // known. What holds behind a branch is not told here: the branch itself says it.
    const char *variable;
    uint32_t comparison; // enum suspects_operator
    int64_t constant;
    bool is_unsigned;
};
VEC_DEFINE(path_predictor_vec, struct path_predictor);

struct path_cluster {
    uint32_t number;       // as its file has it
    const char *file;      // that it was read from
    uint64_t failing;      // runs
    uint32_t first, count; // in `all`
};
VEC_DEFINE(path_cluster_vec, struct path_cluster);

struct predictors {
    struct arena arena;
    struct path_predictor_vec all; // by cluster, best first
    struct path_cluster_vec clusters;
    bool complete; // of all lists: the ranking had come to its end
};

void predictors_init(struct predictors *predictors);
void predictors_deinit(struct predictors *predictors);

// Adds the clusters of a file.
struct error *predictors_read(struct predictors *predictors, const char *path);
// Finds the nodes; loads the modules. ERROR_MISMATCH: of another program or build.
struct error *predictors_fit(struct predictors *predictors, struct model *model);

#endif

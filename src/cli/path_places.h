// SPDX-License-Identifier: Apache-2.0
/*
 * Places of `inquest path`: FUNC, FILE:LINE, or the id of a node where the model is read from
 * GraphML, as nodes of a model.
 *
 *     struct place_nodes nodes = VEC_INIT;
 *     err = path_place_find("--avoid", "parse.c:30", model, PATH_PLACE_ALL, &nodes);
 *     place_nodes_deinit(&nodes);
 */
#ifndef CLI_PATH_PLACES_H
#define CLI_PATH_PLACES_H

#include <stdint.h>

#include "common/vec.h"

struct error;
struct model;

VEC_DEFINE(place_nodes, uint32_t);

enum path_place {
    PATH_PLACE_FIRST, // where it is reached: a function's entry, a line's first node in each
                      // function that has it
    PATH_PLACE_ALL,   // every node of a line; a function's entry
    PATH_PLACE_END,   // where a function returns, or else does not go on; a line's first node
};

// The model is complete. A place that the program does not have is ERROR_NOT_FOUND, with what
// nearly matches; `option` stands in other messages.
struct error *path_place_find(const char *option, const char *text, const struct model *model,
                              enum path_place which, struct place_nodes *ret);

// WHERE[=SCORE]: *where is to be freed; the score is 1 where it is not given.
struct error *path_place_split_score(const char *option, const char *text, char **where,
                                     double *score);

#endif

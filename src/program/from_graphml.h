// SPDX-License-Identifier: Apache-2.0
/*
 * A model from a control-flow graph in GraphML, as the authors of paper 000 publish them
 * (docs/formats/graphml.md). Plain or compressed with gzip: the contents tell.
 *
 *     struct model *model;
 *     if (path_is_graphml(path))
 *             err = model_from_graphml(path, &model);
 *
 * The model is complete: one image, one module (its id is a hash of the XML text), a function for
 * each procedure, without instructions. Node 0 of a function is its entry, the others follow in
 * the order of the file; node_names has the GraphML ids.
 */
#ifndef PROGRAM_FROM_GRAPHML_H
#define PROGRAM_FROM_GRAPHML_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct model;

// Does the name end in .graphml or .graphml.gz?
bool path_is_graphml(const char *path);

struct error *model_from_graphml(const char *path, struct model **ret);
// The same of bytes; name stands for the file in errors and is the path of the model's image.
struct error *model_from_graphml_bytes(const char *name, const void *data, size_t size,
                                       struct model **ret);

#endif

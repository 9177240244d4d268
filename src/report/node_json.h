// SPDX-License-Identifier: Apache-2.0
// A node of a model as a position in JSON: file, line, column, function, node; and module, index,
// which name the function where its name does not.
#ifndef REPORT_NODE_JSON_H
#define REPORT_NODE_JSON_H

#include <jansson.h>
#include <stdint.h>

struct model;

json_t *node_json(const struct model *model, uint32_t node);

#endif

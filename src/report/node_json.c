// SPDX-License-Identifier: Apache-2.0
#include "report/node_json.h"

#include <inttypes.h>

#include "program/model.h"

json_t *node_json(const struct model *model, uint32_t n)
{
    const struct model_node *node = &model->nodes[n];
    const struct model_function *function = model_function(model, node->function);
    const char *path = node->file.value == MODEL_NONE ? NULL : model_file_path(model, node->file);
    json_t *item = json_object();

    json_object_set_new(item, "file", path ? json_string_nocheck(path) : json_null());
    json_object_set_new(item, "line", json_integer(node->line));
    json_object_set_new(item, "column", json_integer(node->column));
    json_object_set_new(item, "function", json_string_nocheck(function->name));
    json_object_set_new(item, "node",
                        model->node_names ? json_string_nocheck(model->node_names[n])
                                          : json_integer(n - function->first_node));
    json_object_set_new(item, "module",
                        json_sprintf("0x%" PRIx64, model_module(model, function->module)->id));
    json_object_set_new(item, "index", json_integer(function->index));
    return item;
}

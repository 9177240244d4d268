// SPDX-License-Identifier: Apache-2.0
// Lookups, and what is made on demand: path numberings, record shapes, file paths.
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/vec.h"
#include "layout/section.h"
#include "program/model_private.h"
#include "program/path_number.h"

VEC_DEFINE(function_vec, struct function_id);
VEC_DEFINE(node_vec, struct node_id);

bool model_find_module(const struct model *model, uint64_t id, struct module_id *ret)
{
    const uint32_t *found = model_id_map_get(&model->private->module_ids, id);

    if (found)
        ret->value = *found;
    return found != NULL;
}

bool model_find_module_in(const struct model *model, struct image_id image, uint64_t id,
                          struct module_id *ret)
{
    assert(image.value < model->image_count);
    const struct model_image *in = &model->images[image.value];

    for (uint32_t m = in->first_module; m < in->first_module + in->module_count; m++)
        if (model->modules[m].id == id) {
            ret->value = m;
            return true;
        }
    return false;
}

bool model_find_function(const struct model *model, struct module_id module, uint32_t index,
                         struct function_id *ret)
{
    const struct model_module *in = model_module(model, module);

    if (index >= in->function_count)
        return false;
    ret->value = in->first_function + index;
    return true;
}

struct error *model_find_debug_name(struct model *model, struct module_id module, const char *name,
                                    struct function_id *ret)
{
    struct error *err = model_load_module(model, module);

    if (err)
        return err;
    const struct model_module *in = model_module(model, module);
    uint32_t by_symbol = MODEL_NONE;
    for (uint32_t f = in->first_function; f < in->first_function + in->function_count; f++) {
        const struct model_function *function = &model->functions[f];
        if (strcmp(function->debug_name, name) == 0) {
            ret->value = f;
            return NULL;
        }
        if (by_symbol == MODEL_NONE && strcmp(function->name, name) == 0)
            by_symbol = f;
    }
    if (by_symbol == MODEL_NONE)
        return error_create(ERROR_NOT_FOUND, "no function '%s' in '%s'", name, in->source);
    ret->value = by_symbol;
    return NULL;
}

uint32_t model_find_name(const struct model *model, const char *name, struct function_id **ret)
{
    struct function_vec found = VEC_INIT;

    for (uint32_t f = 0; f < model->function_count; f++) {
        const struct model_function *function = &model->functions[f];
        if (function->name &&
            (strcmp(function->name, name) == 0 || strcmp(function->source_name, name) == 0))
            function_vec_push(&found, (struct function_id){f});
    }
    uint32_t count = (uint32_t)found.length;
    *ret = function_vec_steal(&found);
    return count;
}

// ---- Lines

const char *model_file_path(const struct model *model, struct file_id file)
{
    struct model_private *own = model->private;

    if (file.value == MODEL_NONE)
        return NULL;
    assert(file.value < model->file_count);
    if (own->file_paths_count < model->file_count) {
        own->file_paths =
            xrealloc_array(own->file_paths, model->file_count, sizeof(*own->file_paths));
        for (uint32_t i = own->file_paths_count; i < model->file_count; i++)
            own->file_paths[i] = NULL;
        own->file_paths_count = model->file_count;
    }
    const char **path = &own->file_paths[file.value];
    const struct model_file *entry = &model->files[file.value];
    if (!*path)
        *path = entry->name[0] == '/' || entry->directory[0] == '\0'
                    ? entry->name
                    : arena_printf(&own->arena, "%s/%s", entry->directory, entry->name);
    return *path;
}

static bool path_ends_with(const char *path, const char *end)
{
    while (end[0] == '.' && end[1] == '/')
        end += 2;
    size_t length = strlen(path), tail = strlen(end);
    if (tail > length || strcmp(path + length - tail, end) != 0)
        return false;
    return tail == length || path[length - tail - 1] == '/' || end[0] == '/';
}

static bool node_on_line(const struct model *model, uint32_t n, const bool *matches, uint32_t line,
                         bool carried)
{
    const struct model_node *node = &model->nodes[n];
    const struct model_module *module =
        &model->modules[model->functions[node->function.value].module.value];

    if (node->line == line && node->file.value != MODEL_NONE && matches[node->file.value])
        return true;
    if (!module->code)
        return false;
    const struct code *code = module->code;
    const struct code_node *in = &code->nodes[n - module->first_node];
    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        const struct place *place = code_place(code, code->insns[i].place);
        if (place && place->line == line && (carried || place->carried != PLACE_OTHERS) &&
            matches[module->files[place->file].value])
            return true;
    }
    return false;
}

uint32_t model_find_line(const struct model *model, const char *file, uint32_t line, bool carried,
                         struct node_id **ret)
{
    struct node_vec found = VEC_INIT;
    bool *matches = xcalloc(model->file_count + (size_t)1, sizeof(*matches)), any = false;

    for (uint32_t i = 0; i < model->file_count; i++)
        any |= matches[i] = path_ends_with(model_file_path(model, (struct file_id){i}), file);
    for (uint32_t n = 0; any && line && n < model->node_count; n++)
        if (node_on_line(model, n, matches, line, carried))
            node_vec_push(&found, (struct node_id){n});
    free(matches);
    uint32_t count = (uint32_t)found.length;
    *ret = node_vec_steal(&found);
    return count;
}

// ---- Numberings

struct model_numbers {
    struct path_numbering *numbering;
    struct path_graph graph;
    uint32_t *start, *successor;
    uint8_t *node_flags, *edge_flags;
};

static void numbers_destroy(struct model_numbers *numbers)
{
    if (!numbers)
        return;
    path_numbering_destroy(numbers->numbering);
    free(numbers->start);
    free(numbers->successor);
    free(numbers->node_flags);
    free(numbers->edge_flags);
    free(numbers);
}

void model_forget_numbers(struct model *model)
{
    for (uint32_t f = 0; f < model->private->numbers_count; f++)
        numbers_destroy(model->private->numbers[f]);
    model->private->numbers_count = 0;
}

// The function's part of the model's graph, counted from its own first node.
static struct model_numbers *numbers_create(const struct model *model,
                                            const struct model_function *function)
{
    struct model_numbers *numbers = xcalloc(1, sizeof(*numbers));
    uint32_t first = function->first_node, count = function->node_count;
    uint32_t edge = model->successor_start[first];
    uint32_t edges = model->successor_start[first + count] - edge;

    numbers->start = xmalloc_array(count + (size_t)1, sizeof(uint32_t));
    numbers->successor = xmalloc_array(edges + (size_t)1, sizeof(uint32_t));
    numbers->node_flags = xmalloc(count + (size_t)1);
    numbers->edge_flags = xmalloc(edges + (size_t)1);
    for (uint32_t n = 0; n <= count; n++)
        numbers->start[n] = model->successor_start[first + n] - edge;
    for (uint32_t n = 0; n < count; n++)
        numbers->node_flags[n] =
            (uint8_t)(model->nodes[first + n].flags & (PATH_NODE_CALL | PATH_NODE_RETURNS_TWICE));
    for (uint32_t e = 0; e < edges; e++) {
        numbers->successor[e] = model->successor[edge + e].value - first;
        numbers->edge_flags[e] = model->edge_flags[edge + e];
    }
    numbers->graph = (struct path_graph){.node_count = count,
                                         .successor_start = numbers->start,
                                         .successor = numbers->successor,
                                         .node_flags = numbers->node_flags,
                                         .edge_flags = numbers->edge_flags};
    return numbers;
}

static void grow_numbers(struct model *model)
{
    struct model_private *own = model->private;

    if (own->numbers_count >= model->function_count)
        return;
    own->numbers = xrealloc_array(own->numbers, model->function_count, sizeof(*own->numbers));
    for (uint32_t f = own->numbers_count; f < model->function_count; f++)
        own->numbers[f] = NULL;
    own->numbers_count = model->function_count;
}

static bool is_eager(const struct model_function *function)
{
    return section_function_is_eager(function->level, function->record_flags,
                                     !(function->flags & FUNCTION_OPTNONE));
}

const struct path_numbering *model_numbering(struct model *model, struct function_id id)
{
    const struct model_function *function = model_function(model, id);

    assert(model_module(model, function->module)->loaded);
    grow_numbers(model);
    struct model_numbers **slot = &model->private->numbers[id.value];
    if (!*slot) {
        *slot = numbers_create(model, function);
        (*slot)->numbering = path_numbering_create(
            &(*slot)->graph, function->level != SECTION_LEVEL_FULL,
            section_function_has_words(function->level, function->record_flags) &&
                is_eager(function));
    }
    return (*slot)->numbering;
}

struct layout_shape model_shape(struct model *model, struct function_id id)
{
    const struct model_function *function = model_function(model, id);

    if (function->record_flags & SECTION_FUNCTION_NO_RECORD)
        return (struct layout_shape){0};
    return path_shape(model_numbering(model, id), function->level, is_eager(function));
}

// SPDX-License-Identifier: Apache-2.0
#include "report/position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/cleanup.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/vec.h"
#include "program/insn.h"
#include "program/model.h"
#include "program/path_number.h"

VEC_DEFINE(line_vec, uint32_t);
VEC_DEFINE(span_vec, struct span);
VEC_DEFINE(warning_vec, char *);

struct known_function {
    bool is_known;
    struct function_id id;
    bool has_lines;
    struct line_vec lines; // of its file, that have code, ascending
};

struct function_key {
    uint64_t module;
    uint32_t index;
};

static uint64_t function_key_hash(struct function_key key)
{
    return hash_mix(key.module ^ hash_mix(key.index));
}

static bool function_key_equal(struct function_key a, struct function_key b)
{
    return a.module == b.module && a.index == b.index;
}

MAP_DEFINE(known_map, struct function_key, struct known_function, function_key_hash,
           function_key_equal)

struct positions {
    struct model *model;
    struct known_map known;
    struct warning_vec warnings;
};

struct positions *positions_create(struct model *model)
{
    struct positions *positions = xcalloc(1, sizeof(*positions));
    positions->model = model;
    known_map_init(&positions->known);
    return positions;
}

void positions_destroy(struct positions *positions)
{
    if (!positions)
        return;
    MAP_FOREACH (known_map, &positions->known, entry)
        line_vec_deinit(&entry->value.lines);
    known_map_deinit(&positions->known);
    for (size_t i = 0; i < positions->warnings.length; i++)
        free(positions->warnings.data[i]);
    warning_vec_deinit(&positions->warnings);
    free(positions);
}

size_t positions_warning_count(const struct positions *positions)
{
    return positions->warnings.length;
}

const char *positions_warning_at(const struct positions *positions, size_t index)
{
    return *warning_vec_at(&positions->warnings, index);
}

// A broken module is one warning and no more, however many functions of it are asked for.
static void warn_once(struct positions *positions, struct error *err)
{
    _cleanup_free_ char *text = error_text(err);
    error_destroy(err);
    for (size_t i = 0; i < positions->warnings.length; i++) {
        if (strcmp(positions->warnings.data[i], text) == 0)
            return;
    }
    warning_vec_push(&positions->warnings, no_cleanup_ptr(text));
}

static bool load_function(struct positions *positions, const struct evidence_function *function,
                          struct function_id *out)
{
    struct module_id module;
    if (!positions->model || !function->module_id ||
        !model_find_module(positions->model, function->module_id, &module) ||
        !model_find_function(positions->model, module, function->index, out))
        return false;
    struct error *err = model_load_function(positions->model, *out);
    if (err)
        warn_once(positions, err);
    return !err;
}

// The function in the model, loaded; NULL where the model does not have it. Lives until the next
// function is asked for.
static struct known_function *know(struct positions *positions,
                                   const struct evidence_function *function)
{
    struct function_key key = {function->module_id, function->index};
    struct known_function *known = known_map_get(&positions->known, key);
    if (!known) {
        struct function_id id;
        bool is_known = load_function(positions, function, &id);
        known = known_map_put(&positions->known, key);
        known->is_known = is_known;
        if (is_known)
            known->id = id;
    }
    return known->is_known ? known : NULL;
}

static bool find_node(struct positions *positions, const struct evidence_function *function,
                      uint32_t index, struct node_id *out)
{
    const struct known_function *known = know(positions, function);
    if (!known || index >= model_function(positions->model, known->id)->node_count)
        return false;
    *out = model_node_at(positions->model, known->id, index);
    return true;
}

static struct position place_of_node(const struct model *model, struct node_id id)
{
    const struct model_node *node = model_node(model, id);
    if (node->line == 0)
        return (struct position){NULL, 0, 0};
    return (struct position){model_file_path(model, node->file), node->line, node->column};
}

// Where the call that ends the node is; the node's own place where that is not known.
static struct position place_of_call(const struct model *model, struct node_id id)
{
    struct function_id function = model_node(model, id)->function;
    const struct model_module *module =
        model_module(model, model_function(model, function)->module);
    const struct code *code = module->code;
    const struct code_node *node = code ? model_code_node(model, id) : NULL;
    if (!node || node->site == CODE_NONE)
        return place_of_node(model, id);
    const struct place *place =
        &code->places[code->insns[code->sites[node->site].insn].place.value];
    if (place->line == 0)
        return place_of_node(model, id);
    return (struct position){model_file_path(model, module->files[place->file]), place->line,
                             place->column};
}

struct position positions_node(struct positions *positions,
                               const struct evidence_function *function, uint32_t node)
{
    struct node_id id;
    if (!find_node(positions, function, node, &id))
        return (struct position){NULL, 0, 0};
    return place_of_node(positions->model, id);
}

struct position positions_frame(struct positions *positions, const struct evidence_frame *frame)
{
    struct node_id id;
    if (frame->place.file && frame->place.line)
        return (struct position){frame->place.file, frame->place.line, frame->place.column};
    if (frame->candidates.count != 1 ||
        !find_node(positions, &frame->function, frame->candidates.nodes[0], &id))
        return (struct position){NULL, 0, 0};
    return frame->interrupted ? place_of_node(positions->model, id)
                              : place_of_call(positions->model, id);
}

struct call_position positions_call(struct positions *positions,
                                    const struct evidence_function *function, uint32_t site)
{
    struct call_position call = {.node = UINT32_MAX};
    const struct known_function *known = know(positions, function);
    const struct model *model = positions->model;
    if (!known || site >= model_function(model, known->id)->site_count)
        return call;
    const struct model_site *found = model_site(model, model_site_at(model, known->id, site));
    call.at = place_of_call(model, found->node);
    call.node = model_node_index(model, found->node);
    call.callee = found->callee;
    call.indirect = found->flags & SITE_INDIRECT;
    return call;
}

// --- lines ---

static int compare_lines(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique(struct line_vec *lines)
{
    if (lines->length == 0)
        return;
    qsort(lines->data, lines->length, sizeof(*lines->data), compare_lines);
    size_t kept = 1;
    for (size_t i = 1; i < lines->length; i++) {
        if (lines->data[i] != lines->data[kept - 1])
            lines->data[kept++] = lines->data[i];
    }
    lines->length = kept;
}

// Appends the lines of a node's instructions that are of `file`.
static void append_node_lines(const struct model *model, struct node_id id, struct file_id file,
                              struct line_vec *lines)
{
    const struct model_node *node = model_node(model, id);
    if (node->line && node->file.value == file.value)
        line_vec_push(lines, node->line);
    const struct model_module *module =
        model_module(model, model_function(model, node->function)->module);
    const struct code *code = module->code;
    if (!code)
        return;
    const struct code_node *body = model_code_node(model, id);
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct place *place = code_own_place(code, code->insns[body->first_insn + i].place);
        if (place && place->line && module->files[place->file].value == file.value)
            line_vec_push(lines, place->line);
    }
}

static void make_lines(const struct model *model, struct known_function *known)
{
    const struct model_function *function = model_function(model, known->id);
    for (uint32_t i = 0; i < function->node_count; i++)
        append_node_lines(model, model_node_at(model, known->id, i), function->file, &known->lines);
    sort_unique(&known->lines);
    known->has_lines = true;
}

// Does a line with code lie between the two?
static bool code_between(const struct line_vec *lines, uint32_t first, uint32_t last)
{
    size_t low = 0, high = lines->length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->data[middle] <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lines->length && lines->data[low] < last;
}

static void push_line(struct span_vec *spans, const struct line_vec *code_lines, uint32_t line)
{
    struct span *end = spans->length ? span_vec_last(spans) : NULL;
    if (end && !end->file && end->kind == SPAN_LINES && line >= end->last &&
        !code_between(code_lines, end->last, line))
        end->last = line;
    else
        span_vec_push(spans, (struct span){NULL, line, line, false});
}

// Of the node's lines those up to `stop`, and at least one.
static void push_node(struct span_vec *spans, const struct model *model,
                      const struct known_function *known, struct node_id id, uint32_t stop)
{
    _cleanup_(line_vec_deinit) struct line_vec lines = VEC_INIT;
    const struct model_function *function = model_function(model, known->id);
    const struct model_node *node = model_node(model, id);
    append_node_lines(model, id, function->file, &lines);
    sort_unique(&lines);
    for (size_t i = 0; i < lines.length && (i == 0 || lines.data[i] <= stop); i++)
        push_line(spans, &known->lines, lines.data[i]);
    if (lines.length == 0 && node->line)
        span_vec_push(spans, (struct span){model_file_path(model, node->file), node->line,
                                           node->line, SPAN_LINES});
}

// The lines of the loop whose header is node `header` of the function.
static void push_loop(struct span_vec *spans, struct model *model,
                      const struct known_function *known, uint32_t header, enum span_kind kind)
{
    _cleanup_(line_vec_deinit) struct line_vec lines = VEC_INIT;
    const struct path_numbering *numbers = model_numbering(model, known->id);
    const struct model_function *function = model_function(model, known->id);
    for (uint32_t i = 0; i < function->node_count; i++) {
        if (path_in_loop(numbers, header, i))
            append_node_lines(model, model_node_at(model, known->id, i), function->file, &lines);
    }
    sort_unique(&lines);
    if (lines.length)
        span_vec_push(spans, (struct span){NULL, lines.data[0], *line_vec_last(&lines), kind});
}

struct span_list positions_spans(struct positions *positions,
                                 const struct evidence_function *function,
                                 const struct evidence_path *path, uint32_t stop)
{
    struct span_vec spans = VEC_INIT;
    struct known_function *known = know(positions, function);
    if (known && !known->has_lines)
        make_lines(positions->model, known);
    for (uint32_t i = 0; known && i < path->step_count; i++) {
        struct node_id id;
        bool last = i + 1 == path->step_count;
        bool passes =
            (path->steps[i].kind == PATH_STEP_PASSES || path->steps[i].kind == PATH_STEP_ROUNDS) &&
            !last;
        if (!find_node(positions, function, path->steps[i].node, &id))
            continue;
        if (path->steps[i].kind == PATH_STEP_NODE)
            push_node(&spans, positions->model, known, id, last ? stop : UINT32_MAX);
        else
            push_loop(&spans, positions->model, known, path->steps[i].node,
                      passes ? SPAN_PASSES : SPAN_LOOP);
    }
    return (struct span_list){spans.data, spans.length};
}

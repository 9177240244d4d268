// SPDX-License-Identifier: Apache-2.0
// As in evidence_read.c every type is checked and keys that are not known are refused.
#include "evidence/failure_json.h"

#include <stdlib.h>

#include "common/json.h"
#include "common/map.h"
#include "common/vec.h"
#include "evidence/evidence.h"
#include "program/model.h"

MAP_DEFINE_STRING(node_map, uint32_t);
VEC_DEFINE(node_vec, uint32_t);
VEC_DEFINE(observation_vec, struct evidence_observation);

struct reader {
    struct arena *arena;
    const struct model *model;
    struct node_map nodes; // by GraphML id
    struct node_vec list;  // the one that was read last: nodes of the model, ascending
    struct observation_vec observations;
};

// Return from the calling function when `expression` is an error.
#define TRY(expression)                                                                            \
    do {                                                                                           \
        struct error *err_ = (expression);                                                         \
        if (err_)                                                                                  \
            return err_;                                                                           \
    } while (0)

// ---- Nodes

static int compare_nodes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void sort_nodes(struct node_vec *list)
{
    size_t kept = 0;
    if (list->length)
        qsort(list->data, list->length, sizeof(*list->data), compare_nodes);
    for (size_t i = 0; i < list->length; i++)
        if (kept == 0 || list->data[kept - 1] != list->data[i])
            list->data[kept++] = list->data[i];
    list->length = kept;
}

// Names can be the same in a model that was read from text.
static struct error *index_nodes(struct reader *reader)
{
    for (uint32_t n = 0; n < reader->model->node_count; n++) {
        const char *name = reader->model->node_names[n];
        bool is_new;
        *node_map_put_new(&reader->nodes, name, &is_new) = n;
        if (!is_new)
            return error_create(ERROR_MISMATCH, "the program has two nodes '%s'", name);
    }
    return NULL;
}

// Adds the nodes of an array, which is called `name`, to the list.
static struct error *add_nodes(struct reader *reader, json_t *array, const char *name)
{
    if (!json_is_array(array))
        return error_create(ERROR_FORMAT, "'%s' is not an array of nodes", name);
    if (json_array_size(array) == 0)
        return error_create(ERROR_FORMAT, "'%s' is empty: it stands for one of its nodes", name);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *id = json_string_value(json_array_get(array, i));
        const uint32_t *node = id ? node_map_get(&reader->nodes, id) : NULL;
        if (!id)
            return error_create(ERROR_FORMAT, "%s[%zu]: not a string", name, i);
        if (!node)
            return error_create(ERROR_MISMATCH, "%s[%zu]: the program has no node '%s'", name, i,
                                id);
        node_vec_push(&reader->list, *node);
    }
    return NULL;
}

static struct error *read_nodes(struct reader *reader, json_t *array, const char *name)
{
    node_vec_clear(&reader->list);
    TRY(add_nodes(reader, array, name));
    sort_nodes(&reader->list);
    return NULL;
}

static struct function_id function_of(const struct reader *reader, uint32_t node)
{
    return model_node(reader->model, (struct node_id){node})->function;
}

static const char *function_name(const struct reader *reader, struct function_id function)
{
    return model_function(reader->model, function)->name;
}

static struct evidence_points list_points(const struct reader *reader)
{
    const struct model *model = reader->model;
    struct evidence_point *points =
        arena_alloc_array(reader->arena, reader->list.length, struct evidence_point);
    for (size_t i = 0; i < reader->list.length; i++) {
        struct node_id node = {reader->list.data[i]};
        const struct model_function *function =
            model_function(model, model_node(model, node)->function);
        points[i] = (struct evidence_point){model_module(model, function->module)->id,
                                            function->index, model_node_index(model, node)};
    }
    return (struct evidence_points){points, (uint32_t)reader->list.length};
}

// ---- The stack

// Where all the nodes in the list are; nothing where they are in different places.
static struct evidence_place list_place(const struct reader *reader)
{
    const struct model *model = reader->model;
    const struct model_node *first = model_node(model, (struct node_id){reader->list.data[0]});
    for (size_t i = 1; i < reader->list.length; i++) {
        const struct model_node *node = model_node(model, (struct node_id){reader->list.data[i]});
        if (node->file.value != first->file.value || node->line != first->line)
            return (struct evidence_place){0};
    }
    const char *path = model_file_path(model, first->file);
    return (struct evidence_place){path ? arena_strdup(reader->arena, path) : NULL, first->line,
                                   reader->list.length == 1 ? first->column : 0};
}

// A frame that stands at one of the nodes in the list.
static struct evidence_frame make_frame(const struct reader *reader, struct function_id id)
{
    const struct model_function *function = model_function(reader->model, id);
    uint32_t count = (uint32_t)reader->list.length;
    uint32_t *nodes = arena_alloc_array(reader->arena, count, uint32_t);
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = reader->list.data[i] - function->first_node;
    return (struct evidence_frame){
        .kind = EVIDENCE_FRAME_MODEL,
        .function = {model_module(reader->model, function->module)->id, function->index,
                     arena_strdup(reader->arena, function->name)},
        .candidates = {nodes, count},
        .candidates_from = "report",
        .place = list_place(reader),
    };
}

// A frame at one of the nodes of an array, all of one function.
static struct error *read_frame(struct reader *reader, json_t *array, const char *name,
                                struct function_id *function, struct evidence_frame *frame)
{
    TRY(read_nodes(reader, array, name));
    *function = function_of(reader, reader->list.data[0]);
    struct function_id last = function_of(reader, *node_vec_last(&reader->list));
    if (last.value != function->value)
        return error_create(ERROR_FORMAT, "'%s' has nodes of two functions, '%s' and '%s'", name,
                            function_name(reader, *function), function_name(reader, last));
    *frame = make_frame(reader, *function);
    return NULL;
}

// What a call site called is among the entries: the function of the frame inside of it.
static struct error *check_entry(struct reader *reader, json_t *array, struct function_id inner)
{
    TRY(read_nodes(reader, array, "entry"));
    for (size_t i = 0; i < reader->list.length; i++)
        if (reader->list.data[i] == model_function(reader->model, inner)->first_node)
            return NULL;
    return error_create(ERROR_FORMAT, "'entry' is not that of the next frame's function, '%s'",
                        function_name(reader, inner));
}

static struct error *read_call(struct reader *reader, json_t *object, struct function_id *function,
                               struct evidence_frame *frame)
{
    static const char *const known[] = {"call", "entry", NULL};
    struct function_id inner = *function;
    json_t *call, *entry;
    TRY(json_check_keys(object, known));
    TRY(json_get_array(object, "call", &call));
    TRY(json_find_array(object, "entry", &entry));
    if (entry)
        TRY(check_entry(reader, entry, inner));
    TRY(read_frame(reader, call, "call", function, frame));
    for (size_t i = 0; i < reader->list.length; i++) {
        struct node_id node = {reader->list.data[i]};
        if (!(model_node(reader->model, node)->flags & NODE_CALL))
            return error_create(ERROR_FORMAT, "'call' has '%s', which is no call-site",
                                reader->model->node_names[node.value]);
    }
    return NULL;
}

static bool is_root(const struct model *model, struct function_id function)
{
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].function.value == function.value)
            return true;
    return false;
}

// `stack` has the outermost call first, a thread its innermost frame.
static struct error *read_stack(struct reader *reader, json_t *document, struct evidence *evidence)
{
    json_t *crash, *stack;
    TRY(json_find_array(document, "crash", &crash));
    TRY(json_find_array(document, "stack", &stack));
    size_t calls = json_array_size(stack);
    if (!crash && calls)
        return error_create(ERROR_FORMAT, "'stack' without 'crash'");
    if (!crash)
        return NULL;
    struct evidence_frame *frames =
        arena_alloc_array(reader->arena, calls + 1, struct evidence_frame);
    struct function_id function;
    TRY(read_frame(reader, crash, "crash", &function, &frames[0]));
    frames[0].interrupted = true;
    for (size_t i = calls; i-- > 0;)
        TRY(error_prefix(read_call(reader, json_array_get(stack, i), &function, &frames[calls - i]),
                         "stack[%zu]", i));
    struct evidence_thread *thread = arena_alloc_one(reader->arena, struct evidence_thread);
    *thread = (struct evidence_thread){.crashed = true,
                                       .frames = frames,
                                       .frame_count = (uint32_t)calls + 1,
                                       .whole = is_root(reader->model, function)};
    evidence->threads = thread;
    evidence->thread_count = 1;
    return NULL;
}

// ---- Observations

// Which nodes a reliable trace is about the format does not tell: those that occur in it, then.
static struct error *read_alphabet(struct reader *reader, json_t *entries,
                                   struct evidence_points *alphabet)
{
    node_vec_clear(&reader->list);
    for (size_t i = 0; i < json_array_size(entries); i++)
        TRY(add_nodes(reader, json_array_get(entries, i), "entries"));
    sort_nodes(&reader->list);
    *alphabet = list_points(reader);
    return NULL;
}

static struct error *read_trace(struct reader *reader, json_t *object, const char *origin)
{
    static const char *const known[] = {"reliable", "entries", NULL};
    json_t *entries;
    bool reliable;
    TRY(json_check_keys(object, known));
    TRY(json_find_bool(object, "reliable", false, &reliable));
    TRY(json_get_array(object, "entries", &entries));
    uint32_t count = (uint32_t)json_array_size(entries);
    struct evidence_points *points =
        arena_alloc_array(reader->arena, count, struct evidence_points);
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "entries[%u]", i);
        TRY(read_nodes(reader, json_array_get(entries, i), name));
        points[i] = list_points(reader);
    }
    struct evidence_observation observation = {
        .kind = count == 1 && !reliable ? EVIDENCE_RAN : EVIDENCE_TRACE,
        .reliability = reliable ? EVIDENCE_RELIABLE : EVIDENCE_UNRELIABLE,
        .entries = points,
        .entry_count = count,
        .origin = origin};
    if (count == 0) // nothing is said
        return NULL;
    if (reliable)
        TRY(read_alphabet(reader, entries, &observation.alphabet));
    observation_vec_push(&reader->observations, observation);
    return NULL;
}

static struct error *read_yes(struct reader *reader, json_t *object, const char *origin)
{
    return error_prefix(read_trace(reader, object, origin), "%s", origin);
}

static struct error *read_no(struct reader *reader, json_t *array, const char *origin)
{
    struct evidence_points *points = arena_alloc_one(reader->arena, struct evidence_points);
    TRY(read_nodes(reader, array, origin));
    *points = list_points(reader);
    observation_vec_push(
        &reader->observations,
        (struct evidence_observation){
            .kind = EVIDENCE_NOT_ALL, .entries = points, .entry_count = 1, .origin = origin});
    return NULL;
}

typedef struct error *read_one(struct reader *reader, json_t *value, const char *origin);

static struct error *read_each(struct reader *reader, json_t *document, const char *key,
                               read_one *read)
{
    json_t *array;
    TRY(json_find_array(document, key, &array));
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *origin = arena_printf(reader->arena, "%s[%zu]", key, i);
        TRY(read(reader, json_array_get(array, i), origin));
    }
    return NULL;
}

// ---- The whole

// The build that the evidence is of.
static void set_image(const struct reader *reader, struct evidence *evidence)
{
    struct evidence_image *image = arena_alloc_one(reader->arena, struct evidence_image);
    uint64_t *module = arena_alloc_one(reader->arena, uint64_t);
    *module = reader->model->modules[0].id;
    *image =
        (struct evidence_image){.path = arena_strdup(reader->arena, reader->model->images[0].path),
                                .executable = true,
                                .modules = module,
                                .module_count = 1};
    evidence->images = image;
    evidence->image_count = 1;
}

static void set_observations(const struct reader *reader, struct evidence *evidence)
{
    const struct observation_vec *from = &reader->observations;
    evidence->observation_count = (uint32_t)from->length;
    evidence->observations =
        arena_memdup(reader->arena, from->data, from->length * sizeof(*from->data));
}

static struct error *read_document(struct reader *reader, json_t *document,
                                   struct evidence *evidence)
{
    static const char *const known[] = {"crash", "stack", "obsYes", "obsNo", NULL};
    TRY(json_check_keys(document, known));
    TRY(read_stack(reader, document, evidence));
    TRY(read_each(reader, document, "obsYes", read_yes));
    TRY(read_each(reader, document, "obsNo", read_no));
    set_observations(reader, evidence);
    set_image(reader, evidence);
    return NULL;
}

static struct error *read_text(const char *text, size_t length, const char *file,
                               const struct model *model, struct evidence *evidence)
{
    _cleanup_json_ json_t *document = NULL;
    TRY(json_read_bytes(file, text, length, &document));
    struct reader reader = {.arena = &evidence->arena, .model = model};
    struct error *err = index_nodes(&reader);
    if (!err)
        err = read_document(&reader, document, evidence);
    node_map_deinit(&reader.nodes);
    node_vec_deinit(&reader.list);
    observation_vec_deinit(&reader.observations);
    return error_in_file(err, file);
}

struct error *failure_json_read(const char *text, size_t length, const char *file,
                                struct model *model, struct evidence **ret)
{
    assert(model->complete);
    if (!model->node_names)
        return error_create_file(ERROR_MISMATCH, file,
                                 "the report names nodes as a GraphML file does, and the program "
                                 "is not read from one");
    struct evidence *evidence = evidence_create();
    struct error *err = read_text(text, length, file, model, evidence);
    if (err) {
        evidence_destroy(evidence);
        return err;
    }
    evidence->kind = "report";
    evidence->source = arena_strdup(&evidence->arena, file);
    *ret = evidence;
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A model out of the nodes and edges of a GraphML file (docs/formats/graphml.md).
 *
 * Only nodes with a flow edge are part of the graph. Nodes are grouped into functions by their ids,
 * n:FUNCTION:NUMBER. A call-site with call edges is left through its callees only; one without any
 * calls something that has no graph: its flow edge is then taken as it is. So it may be, too, where
 * a call edge leads to an entry that has no graph.
 */
#include "program/from_graphml.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "layout/section.h"
#include "program/from_graphml_read.h"
#include "program/model_private.h"

VEC_DEFINE(index_vec, uint32_t);
VEC_DEFINE(function_vec, struct function_id);

struct graphml_function {
    uint32_t entry; // GraphML node; MODEL_NONE until found
    uint32_t node_count, site_count;
};

VEC_DEFINE(graphml_functions, struct graphml_function);

struct graphml_call {
    uint32_t node;     // of the model
    uint32_t function; // MODEL_NONE: it has no graph
};

VEC_DEFINE(call_vec, struct graphml_call);

struct builder {
    const char *name;
    struct graphml graph;
    struct model *model;
    struct model_string_map node_of_id; // GraphML node
    uint32_t *source, *target;          // of each edge
    bool *has_flow;                     // by GraphML node
    uint32_t *function_of;              // by GraphML node; MODEL_NONE: not part of the graph
    uint32_t *node_of;                  // by GraphML node: the model's
    uint32_t *made_of;                  // by the model's node: the GraphML node
    struct graphml_functions functions;
    uint32_t node_count; // of the model
};

#define WRONG(builder, xml_line, ...)                                                              \
    error_create_at_line(ERROR_FORMAT, (builder)->name, (xml_line), "bad GraphML: " __VA_ARGS__)

static const struct graphml_node *node_at(const struct builder *builder, uint32_t node)
{
    return graphml_nodes_at(&builder->graph.nodes, node);
}

// ---- What belongs together

// The length of "n:FUNCTION" in "n:FUNCTION:NUMBER"; 0 when the id is of another shape.
static size_t function_length(const char *id)
{
    const char *colon = strrchr(id, ':');

    return strncmp(id, "n:", 2) == 0 && colon > id + 1 && colon[1] ? (size_t)(colon - id) : 0;
}

static bool same_function(const char *a, const char *b)
{
    size_t length = function_length(a);

    return length == function_length(b) && memcmp(a, b, length) == 0;
}

static struct error *index_nodes(struct builder *builder)
{
    const struct graphml_nodes *nodes = &builder->graph.nodes;

    for (uint32_t n = 0; n < nodes->length; n++) {
        const char *id = nodes->data[n].id;
        bool is_new;
        if (function_length(id) == 0)
            return WRONG(builder, nodes->data[n].line,
                         "the node id '%s' is not of the form 'n:FUNCTION:NUMBER'", id);
        *model_string_map_put_new(&builder->node_of_id, id, &is_new) = n;
        if (!is_new)
            return WRONG(builder, nodes->data[n].line, "two nodes '%s'", id);
    }
    return NULL;
}

static struct error *find_end(const struct builder *builder, const struct graphml_edge *edge,
                              const char *id, uint32_t *ret)
{
    const uint32_t *found = model_string_map_get(&builder->node_of_id, id);

    if (!found)
        return WRONG(builder, edge->line, "an edge of a node '%s' that is not there", id);
    *ret = *found;
    return NULL;
}

static struct error *check_edge(const struct builder *builder, const struct graphml_edge *edge,
                                const struct graphml_node *source,
                                const struct graphml_node *target)
{
    if (edge->type == GRAPHML_FLOW && !same_function(source->id, target->id))
        return WRONG(builder, edge->line, "a flow edge from '%s' to '%s', of another function",
                     source->id, target->id);
    if (edge->type == GRAPHML_FLOW && source->kind == GRAPHML_EXIT)
        return WRONG(builder, edge->line, "a flow edge out of '%s', an exit", source->id);
    if (edge->type == GRAPHML_CALL && source->kind != GRAPHML_CALL_SITE)
        return WRONG(builder, edge->line, "a call edge from '%s', which is no call-site",
                     source->id);
    if (edge->type == GRAPHML_CALL && target->kind != GRAPHML_ENTRY)
        return WRONG(builder, edge->line, "a call edge to '%s', which is no entry", target->id);
    return NULL;
}

static struct error *resolve_edges(struct builder *builder)
{
    const struct graphml_edges *edges = &builder->graph.edges;

    builder->source = xmalloc_array(edges->length + 1, sizeof(uint32_t));
    builder->target = xmalloc_array(edges->length + 1, sizeof(uint32_t));
    builder->has_flow = xcalloc(builder->graph.nodes.length + 1, sizeof(bool));
    for (size_t e = 0; e < edges->length; e++) {
        const struct graphml_edge *edge = &edges->data[e];
        uint32_t source, target;
        struct error *err = find_end(builder, edge, edge->source, &source);
        if (!err)
            err = find_end(builder, edge, edge->target, &target);
        if (!err)
            err = check_edge(builder, edge, node_at(builder, source), node_at(builder, target));
        if (err)
            return err;
        builder->source[e] = source;
        builder->target[e] = target;
        if (edge->type == GRAPHML_FLOW)
            builder->has_flow[source] = builder->has_flow[target] = true;
    }
    return NULL;
}

// ---- Functions

static struct error *add_to_function(struct builder *builder, struct model_string_map *ids,
                                     uint32_t n)
{
    const struct graphml_node *node = node_at(builder, n);
    const char *id = arena_strndup(&builder->graph.arena, node->id, function_length(node->id));
    bool is_new;
    uint32_t *found = model_string_map_put_new(ids, id, &is_new);

    if (is_new) {
        *found = (uint32_t)builder->functions.length;
        graphml_functions_push(&builder->functions, (struct graphml_function){MODEL_NONE, 0, 0});
    }
    struct graphml_function *function = graphml_functions_at(&builder->functions, *found);
    builder->function_of[n] = *found;
    function->node_count++;
    function->site_count += node->kind == GRAPHML_CALL_SITE;
    if (node->kind != GRAPHML_ENTRY)
        return NULL;
    if (function->entry != MODEL_NONE)
        return WRONG(builder, node->line, "'%s' is a second entry of the function of '%s'",
                     node->id, node_at(builder, function->entry)->id);
    function->entry = n;
    return NULL;
}

static struct error *check_entries(const struct builder *builder)
{
    for (uint32_t n = 0; n < builder->graph.nodes.length; n++) {
        uint32_t f = builder->function_of[n];
        if (f != MODEL_NONE && builder->functions.data[f].entry == MODEL_NONE)
            return WRONG(builder, node_at(builder, n)->line,
                         "the function of '%s' has no entry with a flow edge",
                         node_at(builder, n)->id);
    }
    if (builder->functions.length == 0)
        return error_create_file(ERROR_FORMAT, builder->name, "bad GraphML: no flow edge");
    return NULL;
}

// In the order in which the file has their first nodes.
static struct error *find_functions(struct builder *builder)
{
    _cleanup_(model_string_map_deinit) struct model_string_map ids = MAP_INIT;
    size_t count = builder->graph.nodes.length;

    builder->function_of = xmalloc_array(count + 1, sizeof(uint32_t));
    for (uint32_t n = 0; n < count; n++) {
        builder->function_of[n] = MODEL_NONE;
        struct error *err = builder->has_flow[n] ? add_to_function(builder, &ids, n) : NULL;
        if (err)
            return err;
    }
    return check_entries(builder);
}

// The only function, else the one called main.
static struct error *find_root(const struct builder *builder, struct function_id *ret)
{
    ret->value = builder->functions.length == 1 ? 0 : MODEL_NONE;
    for (uint32_t f = 0; builder->functions.length > 1 && f < builder->functions.length; f++) {
        const struct graphml_node *entry = node_at(builder, builder->functions.data[f].entry);
        if (!entry->procedure || strcmp(entry->procedure, "main") != 0)
            continue;
        if (ret->value != MODEL_NONE)
            return WRONG(builder, entry->line, "a second procedure 'main', '%s'", entry->id);
        ret->value = f;
    }
    if (ret->value == MODEL_NONE)
        return error_create_file(ERROR_FORMAT, builder->name,
                                 "bad GraphML: several entries, and none of a procedure 'main'");
    return NULL;
}

// ---- The model's tables

// Where everything goes: a function's entry first, the rest in the order of the file.
static void number_nodes(struct builder *builder)
{
    size_t count = builder->graph.nodes.length, functions = builder->functions.length;
    uint32_t first = 0;
    _cleanup_free_ uint32_t *next = xmalloc_array(functions + 1, sizeof(uint32_t));

    builder->node_of = xmalloc_array(count + 1, sizeof(uint32_t));
    for (uint32_t f = 0; f < functions; f++) {
        builder->node_of[builder->functions.data[f].entry] = first;
        next[f] = first + 1;
        first += builder->functions.data[f].node_count;
    }
    builder->made_of = xmalloc_array(first + (size_t)1, sizeof(uint32_t));
    for (uint32_t n = 0; n < count; n++) {
        uint32_t f = builder->function_of[n];
        if (f == MODEL_NONE)
            continue;
        if (builder->functions.data[f].entry != n)
            builder->node_of[n] = next[f]++;
        builder->made_of[builder->node_of[n]] = n;
    }
    builder->node_count = first;
}

static struct file_id file_of(struct builder *builder, const char *file)
{
    return file ? model_intern_file(builder->model, "", file) : (struct file_id){MODEL_NONE};
}

static const char *function_name(struct builder *builder, uint32_t f)
{
    const struct graphml_node *entry = node_at(builder, builder->functions.data[f].entry);
    struct arena *arena = &builder->model->private->arena;

    return entry->procedure ? arena_strdup(arena, entry->procedure)
                            : arena_strndup(arena, entry->id, function_length(entry->id));
}

static void fill_functions(struct builder *builder)
{
    struct model *model = builder->model;
    uint32_t node = 0, site = 0;

    model->function_count = (uint32_t)builder->functions.length;
    model->functions = xcalloc(model->function_count + (size_t)1, sizeof(*model->functions));
    for (uint32_t f = 0; f < model->function_count; f++) {
        const struct graphml_function *from = &builder->functions.data[f];
        const struct graphml_node *entry = node_at(builder, from->entry);
        const char *name = function_name(builder, f);
        struct file_id file = file_of(builder, entry->file);
        model->functions[f] =
            (struct model_function){.index = f,
                                    .level = SECTION_LEVEL_NONE,
                                    .name = name,
                                    .debug_name = name,
                                    .source_name = name,
                                    .file = file,
                                    .line = file.value == MODEL_NONE ? 0 : entry->source_line,
                                    .linked = LINKED_YES,
                                    .first_node = node,
                                    .node_count = from->node_count,
                                    .first_site = site,
                                    .site_count = from->site_count};
        node += from->node_count;
        site += from->site_count;
    }
    model->site_count = site;
}

static struct model_node make_node(struct builder *builder, const struct graphml_node *from,
                                   uint32_t function)
{
    struct model *model = builder->model;
    struct model_node node = {.function = {function}, .site = {MODEL_NONE}, .file = {MODEL_NONE}};

    if (from->source_line)
        node.file = from->file ? file_of(builder, from->file) : model->functions[function].file;
    if (node.file.value != MODEL_NONE)
        node.line = from->source_line;
    if (from->kind == GRAPHML_EXIT)
        node.flags = NODE_RETURN;
    if (from->kind == GRAPHML_CALL_SITE)
        node.flags = NODE_CALL;
    return node;
}

static void fill_nodes(struct builder *builder)
{
    struct model *model = builder->model;
    uint32_t site = 0;

    model->node_names = xmalloc_array(model->node_count + (size_t)1, sizeof(*model->node_names));
    model->sites = xcalloc(model->site_count + (size_t)1, sizeof(*model->sites));
    for (uint32_t n = 0; n < model->node_count; n++) {
        const struct graphml_node *from = node_at(builder, builder->made_of[n]);
        model->nodes[n] = make_node(builder, from, builder->function_of[builder->made_of[n]]);
        model->node_names[n] = arena_strdup(&model->private->arena, from->id);
        if (model->nodes[n].flags & NODE_CALL) {
            model->sites[site].node.value = n;
            model->nodes[n].site.value = site++;
        }
    }
    assert(site == model->site_count);
}

// Targets of flow edges by source, in the order of the file: those of node n are
// targets[start[n]] up to targets[start[n + 1]].
static void sort_flow(const struct builder *builder, uint32_t *start, uint32_t *targets)
{
    const struct graphml_edges *edges = &builder->graph.edges;
    uint32_t count = builder->model->node_count;

    for (size_t e = 0; e < edges->length; e++)
        if (edges->data[e].type == GRAPHML_FLOW)
            start[builder->node_of[builder->source[e]] + 1]++;
    for (uint32_t n = 0; n < count; n++)
        start[n + 1] += start[n];
    _cleanup_free_ uint32_t *next = xmemdup(start, (count + (size_t)1) * sizeof(*start));
    for (size_t e = 0; e < edges->length; e++)
        if (edges->data[e].type == GRAPHML_FLOW)
            targets[next[builder->node_of[builder->source[e]]]++] =
                builder->node_of[builder->target[e]];
}

// Each edge once, however often the file has it (as when both ways of a branch lead there).
static void fill_edges(struct builder *builder)
{
    struct model *model = builder->model;
    size_t count = builder->graph.edges.length;
    _cleanup_free_ uint32_t *start = xcalloc(model->node_count + (size_t)1, sizeof(uint32_t));
    _cleanup_free_ uint32_t *targets = xmalloc_array(count + 1, sizeof(uint32_t));
    _cleanup_free_ uint32_t *seen = xcalloc(model->node_count + (size_t)1, sizeof(uint32_t));

    sort_flow(builder, start, targets);
    for (uint32_t n = 0; n < model->node_count; n++) {
        for (uint32_t i = start[n]; i < start[n + 1]; i++) {
            if (seen[targets[i]] == n + 1)
                continue;
            seen[targets[i]] = n + 1;
            model->edge_flags[model->edge_count] = 0;
            model->successor[model->edge_count++].value = targets[i];
        }
        model->successor_start[n + 1] = model->edge_count;
        if (start[n] == start[n + 1] && !(model->nodes[n].flags & (NODE_RETURN | NODE_CALL)))
            model->nodes[n].flags |= NODE_UNREACHABLE;
    }
}

// ---- Calls

static int compare_calls(const void *left, const void *right)
{
    const struct graphml_call *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

static void sort_calls(const struct builder *builder, struct call_vec *calls)
{
    const struct graphml_edges *edges = &builder->graph.edges;

    for (size_t e = 0; e < edges->length; e++)
        if (edges->data[e].type == GRAPHML_CALL &&
            builder->function_of[builder->source[e]] != MODEL_NONE)
            call_vec_push(calls, (struct graphml_call){builder->node_of[builder->source[e]],
                                                       builder->function_of[builder->target[e]]});
    if (calls->length)
        qsort(calls->data, calls->length, sizeof(*calls->data), compare_calls);
}

struct sets {
    struct index_vec start; // one more than there are sets
    struct function_vec members;
    struct model_id_map known; // hash of the contents -> set
};

// The set with the members behind the last set's end; they become a new set where there is none.
static uint32_t close_set(struct sets *sets)
{
    uint32_t first = *index_vec_last(&sets->start);
    uint32_t count = (uint32_t)sets->members.length - first;
    const struct function_id *added = &sets->members.data[first];
    bool is_new;

    if (count == 0)
        return 0;
    uint32_t *set = model_id_map_put_new(
        &sets->known, hash_bytes(HASH_SEED, added, count * sizeof(*added)), &is_new);
    uint32_t start = is_new ? 0 : sets->start.data[*set];
    if (!is_new && sets->start.data[*set + 1] - start == count &&
        memcmp(&sets->members.data[start], added, count * sizeof(*added)) == 0) {
        sets->members.length = first;
        return *set;
    }
    *set = (uint32_t)sets->start.length - 1;
    index_vec_push(&sets->start, (uint32_t)sets->members.length);
    return *set;
}

static void name_site(struct builder *builder, struct model_site *site,
                      struct function_list callees)
{
    struct model *model = builder->model;
    const struct graphml_node *node = node_at(builder, builder->made_of[site->node.value]);

    if (node->call_name)
        site->callee = arena_strdup(&model->private->arena, node->call_name);
    else if (callees.count == 1 && !(site->flags & SITE_EXTERNAL))
        site->callee = model->functions[callees.data[0].value].name;
    else
        site->flags |= SITE_INDIRECT;
}

// Adds the callees of a node, from calls[*next] on.
static void add_callees(const struct call_vec *calls, size_t *next, struct model_site *site,
                        struct function_vec *members)
{
    size_t first = members->length, begin = *next;

    for (; *next < calls->length && calls->data[*next].node == site->node.value; ++*next) {
        struct function_id callee = {calls->data[*next].function};
        if (callee.value == MODEL_NONE)
            site->flags |= SITE_EXTERNAL;
        else if (members->length == first || function_vec_last(members)->value != callee.value)
            function_vec_push(members, callee);
    }
    if (*next == begin)
        site->flags |= SITE_EXTERNAL;
}

static void fill_callees(struct builder *builder)
{
    struct model *model = builder->model;
    struct callee_table *table = &model->callees;
    _cleanup_(call_vec_deinit) struct call_vec calls = VEC_INIT;
    struct sets sets = {0};
    size_t next = 0;

    sort_calls(builder, &calls);
    function_vec_reserve(&sets.members, 1);
    index_vec_push(&sets.start, 0);
    index_vec_push(&sets.start, 0); // set 0 is empty
    table->callees_of_site = xcalloc(model->site_count + (size_t)1, sizeof(uint32_t));
    table->callbacks_of_site = xcalloc(model->site_count + (size_t)1, sizeof(uint32_t));
    for (uint32_t s = 0; s < model->site_count; s++) {
        struct model_site *site = &model->sites[s];
        add_callees(&calls, &next, site, &sets.members);
        uint32_t set = table->callees_of_site[s] = close_set(&sets);
        name_site(builder, site,
                  (struct function_list){&sets.members.data[sets.start.data[set]],
                                         sets.start.data[set + 1] - sets.start.data[set]});
    }
    assert(next == calls.length);
    table->set_count = (uint32_t)sets.start.length - 1;
    table->set_start = index_vec_steal(&sets.start);
    table->members = function_vec_steal(&sets.members);
    model_id_map_deinit(&sets.known);
}

// ---- The whole

// What was compiled, as far as the file tells.
static const char *source_of(const struct builder *builder)
{
    const struct model *model = builder->model;

    return model->file_count ? model->files[0].name : model->images[0].path;
}

static void fill_module(struct builder *builder)
{
    struct model *model = builder->model;
    uint64_t id = builder->graph.hash ? builder->graph.hash : 1; // 0 is no module

    model->images = xcalloc(1, sizeof(*model->images));
    model->modules = xcalloc(1, sizeof(*model->modules));
    model->image_count = model->module_count = 1;
    model->images[0] =
        (struct model_image){.path = arena_strdup(&model->private->arena, builder->name),
                             .is_executable = true,
                             .module_count = 1};
    model->modules[0] = (struct model_module){.id = id,
                                              .level = SECTION_LEVEL_NONE,
                                              .function_count = model->function_count,
                                              .site_count = model->site_count,
                                              .loaded = true,
                                              .node_count = model->node_count,
                                              .source = source_of(builder)};
    *model_id_map_put(&model->private->module_ids, id) = 0;
}

static void fill_model(struct builder *builder, struct function_id root)
{
    struct model *model = builder->model;

    number_nodes(builder);
    model_reserve_nodes(model, builder->node_count, (uint32_t)builder->graph.edges.length);
    model->node_count = builder->node_count;
    fill_functions(builder);
    fill_nodes(builder);
    fill_edges(builder);
    fill_callees(builder);
    fill_module(builder);
    model->roots = xcalloc(1, sizeof(*model->roots));
    model->roots[model->root_count++] = (struct root){.function = root, .reason = ROOT_MAIN};
    model->landings = xcalloc(1, sizeof(*model->landings));
    model->complete = true;
}

static struct error *build(struct builder *builder, struct model **ret)
{
    struct function_id root;
    struct error *err = index_nodes(builder);

    if (!err)
        err = resolve_edges(builder);
    if (!err)
        err = find_functions(builder);
    if (!err)
        err = find_root(builder, &root);
    if (err)
        return err;
    builder->model = *ret = model_create(NULL);
    fill_model(builder, root);
    return NULL;
}

static void builder_deinit(struct builder *builder)
{
    graphml_deinit(&builder->graph);
    model_string_map_deinit(&builder->node_of_id);
    free(builder->source);
    free(builder->target);
    free(builder->has_flow);
    free(builder->function_of);
    free(builder->node_of);
    free(builder->made_of);
    graphml_functions_deinit(&builder->functions);
}

struct error *model_from_graphml_bytes(const char *name, const void *data, size_t size,
                                       struct model **ret)
{
    struct builder builder = {.name = name};
    struct error *err = graphml_read(name, data, size, &builder.graph);

    if (!err)
        err = build(&builder, ret);
    builder_deinit(&builder);
    return err;
}

struct error *model_from_graphml(const char *path, struct model **ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);

    return err ? err : model_from_graphml_bytes(path, bytes.data, bytes.size, ret);
}

static bool ends_with(const char *string, const char *end)
{
    size_t length = strlen(string), tail = strlen(end);

    return length > tail && strcmp(string + length - tail, end) == 0;
}

bool path_is_graphml(const char *path)
{
    return ends_with(path, ".graphml") || ends_with(path, ".graphml.gz");
}

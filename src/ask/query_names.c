// SPDX-License-Identifier: Apache-2.0
// What the names of a query stand for in a model, and what to say of those that stand for nothing.
#include <stdlib.h>
#include <string.h>

#include "ask/query_tree.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"
#include "program/model.h"

VEC_DEFINE(id_vec, uint32_t);

struct resolver {
    struct query *query;
    const struct model *model;
    struct query_place *where;
};

// The vector's ids as a set that lives as long as the query.
static struct id_set keep_set(struct resolver *resolver, struct id_vec *ids)
{
    struct id_set set = id_set_make(ids->data, (uint32_t)ids->length);

    set.data = arena_memdup(&resolver->query->arena, ids->data, set.count * sizeof(*set.data));
    id_vec_deinit(ids);
    return set;
}

static void note(struct resolver *resolver, const char *text)
{
    struct note_vec *notes = &resolver->query->notes;

    for (size_t i = 0; i < notes->length; i++)
        if (strcmp(notes->data[i], text) == 0)
            return;
    note_vec_push(notes, text);
}

// ---- Files

static struct error *unknown_file(struct resolver *resolver, const char *name,
                                  struct query_place where)
{
    return query_error(resolver->query->text, ERROR_NOT_FOUND, where, resolver->where,
                       "the program has no file '%s'%s", name,
                       near_files_text(resolver->model, name, &resolver->query->arena));
}

// Is there such a file? A note where there are several.
static struct error *check_file(struct resolver *resolver, const char *name,
                                struct query_place where)
{
    const struct model *model = resolver->model;
    const char *first = NULL;

    for (uint32_t f = 0; f < model->file_count; f++) {
        if (!file_matches(model, (struct file_id){f}, name))
            continue;
        const char *path = model_file_path(model, (struct file_id){f});
        if (first && strcmp(first, path) != 0)
            note(resolver, arena_printf(&resolver->query->arena,
                                        "'%s' is more than one file: '%s' and '%s', among others",
                                        name, first, path));
        if (first && strcmp(first, path) != 0)
            break;
        first = path;
    }
    return first ? NULL : unknown_file(resolver, name, where);
}

// ---- Lines

static struct error *line_without_code(struct resolver *resolver, const struct query_atom *atom)
{
    return query_error(
        resolver->query->text, ERROR_NOT_FOUND, atom->line_where, resolver->where,
        "line %u of '%s' has no code%s", atom->line, atom->file,
        near_lines_text(resolver->model, atom->file, atom->line, &resolver->query->arena));
}

struct columns {
    const struct query_atom *atom;
    struct id_vec nodes, others;
};

static void look_at_column(void *argument, uint32_t node, const struct place *place)
{
    struct columns *columns = argument;

    if (place->line != columns->atom->line)
        return;
    if (place->column == columns->atom->column)
        id_vec_push(&columns->nodes, node);
    else if (place->column)
        id_vec_push(&columns->others, place->column);
}

static struct error *unknown_column(struct resolver *resolver, const struct query_atom *atom,
                                    struct id_vec *others)
{
    struct id_set set = keep_set(resolver, others);
    _cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

    for (uint32_t i = 0; i < set.count && i < 8; i++)
        strbuf_printf(&list, "%s%u", i ? ", " : "; code begins at column ", set.data[i]);
    return query_error(resolver->query->text, ERROR_NOT_FOUND, atom->line_where, resolver->where,
                       "no code begins at column %u of '%s:%u'%s", atom->column, atom->file,
                       atom->line, list.data);
}

// Is this what the atom names?
static bool is_named(const struct resolver *resolver, const struct query_atom *atom,
                     struct file_id file, uint32_t line, uint32_t column)
{
    return line == atom->line && (!atom->column || column == atom->column) &&
           file.value != MODEL_NONE && file_matches(resolver->model, file, atom->file);
}

// Where in the node control comes to the place: at its beginning, and wherever it comes back from
// another one. `perhaps`: where it may.
static void add_spots(const struct resolver *resolver, const struct query_atom *atom, uint32_t n,
                      struct spot_vec *ret, struct spot_vec *perhaps)
{
    const struct model *model = resolver->model;
    const struct model_node *node = model_node(model, (struct node_id){n});
    const struct model_module *module =
        model_module(model, model_function(model, node->function)->module);
    bool begun = false, there = is_named(resolver, atom, node->file, node->line, node->column);

    if (there)
        spot_vec_push(ret, (struct node_spot){n, 0});
    if (!module->code)
        return;
    const struct code_node *in = model_code_node(model, (struct node_id){n});
    for (uint32_t i = 0; i < in->insn_count; i++) {
        const struct place *place =
            code_place(module->code, module->code->insns[in->first_insn + i].place);

        if (!place || !place->line || place->carried == PLACE_OTHERS)
            continue;
        bool was_there = there, here = is_named(resolver, atom, module->files[place->file],
                                                place->line, place->column);
        if (place->carried == PLACE_PERHAPS) {
            if (here)
                spot_vec_push(perhaps, (struct node_spot){n, begun ? i : 0});
            continue;
        }
        there = here;
        if (there && !was_there)
            spot_vec_push(ret, (struct node_spot){n, begun ? i : 0});
        begun = true;
    }
}

// The vector's spots as a set that lives as long as the query.
static struct spot_set keep_spots(struct resolver *resolver, struct spot_vec *spots)
{
    struct spot_set set = spot_set_make(spots->data, (uint32_t)spots->length);

    set.data = arena_memdup(&resolver->query->arena, spots->data, set.count * sizeof(*set.data));
    spot_vec_deinit(spots);
    return set;
}

static void find_spots(struct resolver *resolver, struct query_atom *atom)
{
    struct spot_vec spots = VEC_INIT, sure = VEC_INIT, perhaps = VEC_INIT;
    struct id_vec nodes = VEC_INIT;

    for (uint32_t i = 0; i < atom->nodes.count; i++)
        add_spots(resolver, atom, atom->nodes.data[i], &sure, &perhaps);
    spot_vec_append(&spots, sure.data, sure.length);
    spot_vec_append(&spots, perhaps.data, perhaps.length);
    for (size_t i = 0; i < sure.length; i++)
        id_vec_push(&nodes, sure.data[i].node);
    spot_vec_deinit(&perhaps);
    atom->spots = keep_spots(resolver, &spots);
    atom->sure_spots = keep_spots(resolver, &sure);
    atom->sure_nodes = keep_set(resolver, &nodes);
}

// The last instruction of each node: the call that it ends with.
static struct spot_set call_spots(struct resolver *resolver, struct id_set nodes)
{
    const struct model *model = resolver->model;
    struct spot_vec spots = VEC_INIT;

    for (uint32_t i = 0; i < nodes.count; i++) {
        struct node_id node = {nodes.data[i]};
        const struct model_module *module =
            model_module(model, model_function(model, model_node(model, node)->function)->module);
        uint32_t count = module->code ? model_code_node(model, node)->insn_count : 0;

        spot_vec_push(&spots, (struct node_spot){node.value, count ? count - 1 : 0});
    }
    return keep_spots(resolver, &spots);
}

static struct error *resolve_column(struct resolver *resolver, struct query_atom *atom)
{
    struct columns columns = {.atom = atom};
    struct error *err = NULL;

    visit_lines(resolver->model, atom->file, look_at_column, &columns);
    if (columns.nodes.length == 0)
        err = unknown_column(resolver, atom, &columns.others);
    atom->nodes = keep_set(resolver, &columns.nodes);
    find_spots(resolver, atom);
    id_vec_deinit(&columns.others);
    return err;
}

static struct error *resolve_place(struct resolver *resolver, struct query_atom *atom)
{
    _cleanup_free_ struct node_id *found = NULL;
    struct id_vec nodes = VEC_INIT;
    struct error *err = check_file(resolver, atom->file, atom->file_where);

    if (err)
        return err;
    uint32_t count = model_find_line(resolver->model, atom->file, atom->line, false, &found);
    if (!count)
        return line_without_code(resolver, atom);
    if (atom->column)
        return resolve_column(resolver, atom);
    for (uint32_t i = 0; i < count; i++)
        id_vec_push(&nodes, found[i].value);
    atom->nodes = keep_set(resolver, &nodes);
    find_spots(resolver, atom);
    return NULL;
}

// ---- Functions

static struct error *unknown_function(struct resolver *resolver,
                                      const struct query_function *function, const char *suffix)
{
    const struct model *model = resolver->model;
    struct near_names near = {0};

    for (uint32_t f = 0; f < model->function_count; f++)
        if (model->functions[f].name) {
            near_names_offer(&near, function->name, model->functions[f].source_name);
            near_names_offer(&near, function->name, model->functions[f].name);
        }
    for (uint32_t s = 0; s < model->site_count; s++)
        if (model->sites[s].callee)
            near_names_offer(&near, function->name, model->sites[s].callee);
    return query_error(resolver->query->text, ERROR_NOT_FOUND, function->where, resolver->where,
                       "the program has no function '%s'%s%s%s", function->name,
                       function->file ? " in " : "", function->file ? function->file : "",
                       near_names_text(&near, suffix, &resolver->query->arena));
}

// Is it one that the query names, and in the program as far as is known?
static bool function_fits(const struct model *model, struct function_id id, const char *file)
{
    const struct model_function *function = model_function(model, id);

    if (function->linked == LINKED_NO || function->node_count == 0)
        return false;
    return !file ||
           (function->file.value != MODEL_NONE && file_matches(model, function->file, file));
}

static void find_callers(struct resolver *resolver, struct query_function *function)
{
    const struct model *model = resolver->model;
    const struct callee_table *table = &model->callees;
    _cleanup_free_ bool *enters = xcalloc(table->set_count + (size_t)1, sizeof(*enters));
    struct id_vec nodes = VEC_INIT;

    for (uint32_t set = 0; set < table->set_count; set++) {
        struct function_list list = callee_table_set(table, set);
        for (uint32_t i = 0; i < list.count && !enters[set]; i++)
            enters[set] = id_set_has(function->functions, list.data[i].value);
    }
    for (uint32_t s = 0; s < model->site_count; s++)
        if (enters[table->callees_of_site[s]])
            id_vec_push(&nodes, model->sites[s].node.value);
    function->callers = keep_set(resolver, &nodes);
}

// Sites that name a function without a model; only those that may call back where asked so.
static void find_sites(struct resolver *resolver, struct query_function *function, uint32_t flags)
{
    const struct model *model = resolver->model;
    struct id_vec nodes = VEC_INIT;

    for (uint32_t s = 0; s < model->site_count; s++) {
        const struct model_site *site = &model->sites[s];
        if (site->callee && strcmp(site->callee, function->name) == 0 &&
            (site->flags & flags) == flags)
            id_vec_push(&nodes, site->node.value);
    }
    function->callers = keep_set(resolver, &nodes);
    function->calls = call_spots(resolver, function->callers);
}

static void find_functions(struct resolver *resolver, struct query_function *function)
{
    const struct model *model = resolver->model;
    _cleanup_free_ struct function_id *found = NULL;
    uint32_t count = model_find_name(model, function->name, &found);
    struct id_vec ids = VEC_INIT, entries = VEC_INIT, own = VEC_INIT;

    for (uint32_t i = 0; i < count; i++) {
        if (!function_fits(model, found[i], function->file))
            continue;
        const struct model_function *one = model_function(model, found[i]);
        id_vec_push(&ids, found[i].value);
        id_vec_push(&entries, one->first_node);
        for (uint32_t n = 0; n < one->node_count; n++)
            id_vec_push(&own, one->first_node + n);
    }
    function->functions = keep_set(resolver, &ids);
    function->entries = keep_set(resolver, &entries);
    function->own_nodes = keep_set(resolver, &own);
}

// Is there no edge to any of their entries, so that only a call leads there?
static bool entered_by_calls_only(const struct model *model, struct id_set entries)
{
    for (uint32_t i = 0; i < entries.count; i++) {
        const struct model_function *function =
            model_function(model, model_node(model, (struct node_id){entries.data[i]})->function);
        for (uint32_t n = 0; n < function->node_count; n++) {
            struct node_list next =
                model_successors(model, (struct node_id){function->first_node + n});
            for (uint32_t k = 0; k < next.count; k++)
                if (next.data[k].value == entries.data[i])
                    return false;
        }
    }
    return true;
}

// The functions of the model, or else the sites that name it (*modelless).
static struct error *resolve_function(struct resolver *resolver, struct query_function *function,
                                      const char *suffix, bool *modelless)
{
    struct error *err = NULL;

    if (function->file)
        err = check_file(resolver, function->file, function->where);
    if (err)
        return err;
    find_functions(resolver, function);
    *modelless = function->functions.count == 0;
    if (*modelless && !function->file)
        find_sites(resolver, function, 0);
    else if (!*modelless)
        find_callers(resolver, function);
    function->entered_once = entered_by_calls_only(resolver->model, function->entries);
    if (*modelless && function->callers.count == 0)
        return unknown_function(resolver, function, suffix);
    if (function->functions.count > 1)
        note(resolver, arena_printf(&resolver->query->arena,
                                    "'%s' is %u functions: any of them is meant; 'FILE:%s' names "
                                    "one",
                                    function->name, function->functions.count, function->name));
    return NULL;
}

static void note_modelless(struct resolver *resolver, const struct query_function *function)
{
    note(resolver,
         arena_printf(&resolver->query->arena,
                      "'%s' has no model: a call of it is taken to be made where control reaches "
                      "code that calls it by name",
                      function->name));
}

static struct error *needs_model(struct resolver *resolver, const struct query_function *function,
                                 const char *what)
{
    return query_error(resolver->query->text, ERROR_NOT_FOUND, function->where, resolver->where,
                       "'%s' has no model: %s", function->name, what);
}

// ---- Atoms

// Nodes of the line that may call the function.
static struct error *resolve_site(struct resolver *resolver, struct query_node *node,
                                  bool modelless)
{
    struct query_atom *atom = &node->atom;
    struct id_vec nodes = VEC_INIT;

    for (uint32_t i = 0; i < atom->nodes.count; i++)
        if (id_set_has(node->function.callers, atom->nodes.data[i]))
            id_vec_push(&nodes, atom->nodes.data[i]);
    atom->nodes = keep_set(resolver, &nodes);
    atom->spots = atom->sure_spots = call_spots(resolver, atom->nodes);
    atom->sure_nodes = atom->nodes;
    if (atom->nodes.count == 0)
        return query_error(resolver->query->text, ERROR_NOT_FOUND, node->where, resolver->where,
                           "no call on line %u of '%s' can enter '%s' directly", atom->line,
                           atom->file, node->function.name);
    if (modelless)
        note_modelless(resolver, &node->function);
    return NULL;
}

static struct error *unknown_node(struct resolver *resolver, const struct query_atom *atom)
{
    const struct model *model = resolver->model;
    struct near_names near = {0};

    for (uint32_t n = 0; model->node_names && n < model->node_count; n++)
        if (model->node_names[n])
            near_names_offer(&near, atom->file, model->node_names[n]);
    return query_error(resolver->query->text, ERROR_NOT_FOUND, atom->file_where, resolver->where,
                       "the program has no node '%s'%s", atom->file,
                       near_names_text(&near, "", &resolver->query->arena));
}

// FUNCTION#INDEX, as evidence has it.
static void find_indexed_node(struct resolver *resolver, const struct query_atom *atom,
                              struct id_vec *nodes)
{
    const char *hash = strrchr(atom->file, '#');
    char *end = NULL;

    if (!hash || hash == atom->file || hash[1] < '0' || hash[1] > '9')
        return;
    unsigned long index = strtoul(hash + 1, &end, 10);
    struct query_function function = {
        .name = arena_strndup(&resolver->query->arena, atom->file, (size_t)(hash - atom->file))};
    find_functions(resolver, &function);
    for (uint32_t i = 0; !*end && i < function.functions.count; i++) {
        const struct model_function *one =
            model_function(resolver->model, (struct function_id){function.functions.data[i]});
        if (index < one->node_count)
            id_vec_push(nodes, one->first_node + (uint32_t)index);
    }
}

static struct error *resolve_node(struct resolver *resolver, struct query_atom *atom)
{
    const struct model *model = resolver->model;
    struct id_vec nodes = VEC_INIT;

    for (uint32_t n = 0; model->node_names && n < model->node_count; n++)
        if (model->node_names[n] && strcmp(model->node_names[n], atom->file) == 0)
            id_vec_push(&nodes, n);
    if (nodes.length == 0)
        find_indexed_node(resolver, atom, &nodes);
    atom->nodes = keep_set(resolver, &nodes);
    return atom->nodes.count ? NULL : unknown_node(resolver, atom);
}

static struct error *resolve_atom(struct resolver *resolver, struct query_node *node)
{
    struct query_atom *atom = &node->atom;
    struct error *err = NULL;
    bool modelless = false;

    if (atom->kind == ATOM_NODE)
        return resolve_node(resolver, atom);
    if (atom->kind == ATOM_PLACE || atom->kind == ATOM_SITE)
        err = resolve_place(resolver, atom);
    if (err || atom->kind == ATOM_PLACE)
        return err;
    err = resolve_function(resolver, &node->function, atom->kind == ATOM_ENTRY ? "()" : "",
                           &modelless);
    if (err)
        return err;
    if (atom->kind == ATOM_SITE)
        return resolve_site(resolver, node, modelless);
    if (modelless && atom->kind == ATOM_ENTRY)
        return needs_model(
            resolver, &node->function,
            arena_printf(&resolver->query->arena, "its entry cannot be seen; write 'call %s'",
                         node->function.name));
    if (modelless && atom->kind == ATOM_RETURN)
        return needs_model(resolver, &node->function,
                           "its return cannot be seen; name the line behind the call");
    if (modelless)
        note_modelless(resolver, &node->function);
    if (atom->kind == ATOM_ENTRY)
        atom->nodes = node->function.entries;
    return NULL;
}

// Of a function without a model what it calls back is inside.
static struct error *resolve_inside(struct resolver *resolver, struct query_node *node)
{
    bool modelless;
    struct error *err = resolve_function(resolver, &node->function, "()", &modelless);

    if (err || !modelless)
        return err;
    if (node->kind == PATTERN_CALL || node->kind == PATTERN_UNFINISHED)
        return needs_model(resolver, &node->function, "what happens inside it cannot be seen");
    find_sites(resolver, &node->function, SITE_CALLS_BACK);
    if (node->function.callers.count == 0)
        return needs_model(resolver, &node->function, "nothing of the program runs inside it");
    note(resolver, arena_printf(&resolver->query->arena,
                                "'%s' has no model: inside it is what it calls back, where it is "
                                "called by name",
                                node->function.name));
    return NULL;
}

static struct error *resolve_tree(struct resolver *resolver, struct query_node *node)
{
    struct error *err = NULL;

    for (uint32_t i = 0; i < node->part_count && !err; i++)
        err = resolve_tree(resolver, node->parts[i]);
    if (err)
        return err;
    switch (node->kind) {
    case QUERY_ATOM:
        return resolve_atom(resolver, node);
    case QUERY_INSIDE:
    case QUERY_OUTSIDE:
    case QUERY_ONLY_INSIDE:
    case PATTERN_CALL:
    case PATTERN_UNFINISHED:
        return resolve_inside(resolver, node);
    default:
        return NULL;
    }
}

struct error *query_resolve(struct query *query, const struct model *model,
                            struct query_place *where)
{
    struct resolver resolver = {.query = query, .model = model, .where = where};

    assert(model->complete);
    query->node_count = model->node_count;
    return resolve_tree(&resolver, query->root);
}

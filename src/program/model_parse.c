// SPDX-License-Identifier: Apache-2.0
/*
 * A model from its text (docs/formats/model.md). Lines come in the order in which model_write_text
 * gives them: files, images, modules, functions with their nodes and sites, sets, roots.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "layout/section.h"
#include "program/model_private.h"
#include "program/model_text.h"
#include "program/path_number.h"

VEC_DEFINE(function_table, struct model_function);
VEC_DEFINE(node_table, struct model_node);
VEC_DEFINE(site_table, struct model_site);
VEC_DEFINE(edge_table, uint32_t);
VEC_DEFINE(flag_table, uint8_t);
VEC_DEFINE(name_table, const char *);
VEC_DEFINE(root_table, struct root);
VEC_DEFINE(module_table, struct model_module);
VEC_DEFINE(image_table, struct model_image);

struct parser {
    const char *name;
    uint32_t line;
    char *at; // in the line, NUL-terminated
    struct model *model;
    struct image_table images;
    struct module_table modules;
    struct function_table functions;
    struct node_table nodes;
    struct name_table names;             // of every node, or of none
    struct edge_table edge_start, edges; // edges count from their function's first node
    struct flag_table edge_flags;
    struct site_table sites;
    struct edge_table callees, callbacks; // by site
    struct edge_table set_start, members;
    struct root_table roots;
};

static struct error *parse_error(const struct parser *parser, const char *what)
{
    return error_create_at_line(ERROR_FORMAT, parser->name, parser->line, "bad model text: %s",
                                what);
}

// ---- Words

static void skip_spaces(struct parser *parser)
{
    while (*parser->at == ' ')
        parser->at++;
}

// The next word when it is this one.
static bool accept(struct parser *parser, const char *word)
{
    size_t length = strlen(word);

    skip_spaces(parser);
    if (strncmp(parser->at, word, length) != 0 ||
        (parser->at[length] != ' ' && parser->at[length] != '\0'))
        return false;
    parser->at += length;
    return true;
}

static bool parse_digits(struct parser *parser, uint32_t *ret)
{
    uint64_t value = 0;

    if (*parser->at < '0' || *parser->at > '9')
        return false;
    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        value = value * 10 + (uint64_t)(*parser->at - '0');
        if (value >= MODEL_NONE)
            return false;
    }
    *ret = (uint32_t)value;
    return true;
}

static bool parse_number(struct parser *parser, uint32_t *ret)
{
    skip_spaces(parser);
    return parse_digits(parser, ret);
}

// The number must be the next in its table.
static bool parse_next(struct parser *parser, size_t expected)
{
    uint32_t number;

    return parse_number(parser, &number) && number == expected;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool parse_string(struct parser *parser, const char **ret)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    skip_spaces(parser);
    if (*parser->at++ != '"') {
        parser->at--;
        return false;
    }
    while (*parser->at && *parser->at != '"') {
        char c = *parser->at++;
        if (c == '\\' && *parser->at == 'x') {
            int high = hex_digit(parser->at[1]), low = high < 0 ? -1 : hex_digit(parser->at[2]);
            if (low < 0)
                return false;
            c = (char)(high << 4 | low);
            parser->at += 3;
        } else if (c == '\\') {
            c = *parser->at++;
            if (c != '"' && c != '\\')
                return false;
        }
        strbuf_append_char(&text, c);
    }
    if (*parser->at++ != '"') {
        parser->at--;
        return false;
    }
    *ret = arena_strdup(&parser->model->private->arena, text.data);
    return true;
}

// A word out of those that name() gives for 0, 1, ...
static bool parse_named(struct parser *parser, const char *(*name)(unsigned), unsigned count,
                        unsigned *ret)
{
    for (unsigned i = 0; i < count && name(i); i++)
        if (accept(parser, name(i))) {
            *ret = i;
            return true;
        }
    return false;
}

// "flags a,b", or nothing.
static bool parse_flags(struct parser *parser, const char *(*name)(unsigned), uint32_t *ret)
{
    *ret = 0;
    if (!accept(parser, "flags"))
        return true;
    skip_spaces(parser);
    for (;;) {
        size_t length = strcspn(parser->at, ", ");
        unsigned bit = 0;
        while (bit < 32 && name(bit) &&
               (strlen(name(bit)) != length || memcmp(name(bit), parser->at, length) != 0))
            bit++;
        if (length == 0 || bit == 32 || !name(bit))
            return false;
        *ret |= 1u << bit;
        parser->at += length;
        if (*parser->at != ',')
            return true;
        parser->at++;
    }
}

// "at -" or "at FILE:LINE" and, where column is not NULL, ":COLUMN".
static bool parse_place(struct parser *parser, struct file_id *file, uint32_t *line,
                        uint32_t *column)
{
    file->value = MODEL_NONE;
    *line = 0;
    if (!accept(parser, "at"))
        return false;
    if (accept(parser, "-"))
        return true;
    if (!parse_number(parser, &file->value) || file->value >= parser->model->file_count ||
        *parser->at++ != ':' || !parse_digits(parser, line))
        return false;
    return !column || (*parser->at++ == ':' && parse_digits(parser, column));
}

// ---- Lines

static struct error *parse_file(struct parser *parser)
{
    const char *directory, *name;

    if (!parse_next(parser, parser->model->file_count) || !parse_string(parser, &directory) ||
        !parse_string(parser, &name))
        return parse_error(parser, "file NUMBER \"DIRECTORY\" \"NAME\" expected");
    if (model_intern_file(parser->model, directory, name).value + 1 != parser->model->file_count)
        return parse_error(parser, "the same file twice");
    return NULL;
}

static struct error *parse_image(struct parser *parser)
{
    struct model_image image = {0};

    if (!parse_next(parser, parser->images.length))
        return parse_error(parser, "images are numbered from 0");
    image.is_executable = accept(parser, "executable");
    if ((!image.is_executable && !accept(parser, "library")) || !parse_string(parser, &image.path))
        return parse_error(parser, "executable or library, then its \"PATH\", expected");
    image_table_push(&parser->images, image);
    return NULL;
}

static bool parse_id(struct parser *parser, uint64_t *ret)
{
    uint64_t value = 0;

    if (!accept(parser, "id"))
        return false;
    skip_spaces(parser);
    for (int i = 0; i < 16; i++, parser->at++) {
        int digit = hex_digit(*parser->at);
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *ret = value;
    return true;
}

static struct error *parse_module(struct parser *parser)
{
    struct model_module module = {.loaded = true};
    unsigned level;

    if (!parse_next(parser, parser->modules.length))
        return parse_error(parser, "modules are numbered from 0");
    if (!accept(parser, "image") || !parse_number(parser, &module.image.value) ||
        module.image.value >= parser->images.length)
        return parse_error(parser, "the module's image expected");
    if (!parse_id(parser, &module.id) || !accept(parser, "level") ||
        !parse_named(parser, model_level_name, SECTION_LEVEL_FULL + 1, &level) ||
        !accept(parser, "flags") || !parse_number(parser, &module.flags) ||
        !accept(parser, "source") || !parse_string(parser, &module.source))
        return parse_error(parser, "id, level, flags and source of the module expected");
    module.level = level;
    struct model_image *image = image_table_at(&parser->images, module.image.value);
    uint32_t index = (uint32_t)parser->modules.length;
    if (image->module_count == 0)
        image->first_module = index;
    else if (image->first_module + image->module_count != index)
        return parse_error(parser, "the modules of an image must follow each other");
    image->module_count++;
    module_table_push(&parser->modules, module);
    return NULL;
}

static struct error *parse_function(struct parser *parser)
{
    struct model_function function = {.first_node = (uint32_t)parser->nodes.length,
                                      .first_site = (uint32_t)parser->sites.length};
    uint32_t index = (uint32_t)parser->functions.length;
    unsigned linked, level;

    if (!parse_next(parser, index))
        return parse_error(parser, "functions are numbered from 0");
    if (!accept(parser, "module") || !parse_number(parser, &function.module.value) ||
        function.module.value >= parser->modules.length ||
        (index && parser->functions.data[index - 1].module.value > function.module.value))
        return parse_error(parser, "the function's module expected");
    if (!parse_string(parser, &function.name) || !accept(parser, "debug") ||
        !parse_string(parser, &function.debug_name) || !accept(parser, "source") ||
        !parse_string(parser, &function.source_name) ||
        !parse_place(parser, &function.file, &function.line, NULL) || !accept(parser, "linked") ||
        !parse_named(parser, linked_name, 3, &linked) || !accept(parser, "level") ||
        !parse_named(parser, model_level_name, SECTION_LEVEL_FULL + 1, &level) ||
        !accept(parser, "record") || !parse_number(parser, &function.record_flags) ||
        !parse_flags(parser, function_flag_name, &function.flags))
        return parse_error(parser, "names, place, linked and flags of the function expected");
    function.linked = (enum linked)linked;
    function.level = level;
    struct model_module *module = module_table_at(&parser->modules, function.module.value);
    if (module->function_count == 0) {
        module->first_function = index;
        module->first_node = function.first_node;
        module->first_site = function.first_site;
    }
    function.index = module->function_count++;
    function_table_push(&parser->functions, function);
    return NULL;
}

static struct error *parse_edges(struct parser *parser)
{
    if (!accept(parser, "->"))
        return NULL;
    uint32_t target;
    while (parse_number(parser, &target)) {
        bool shared = *parser->at == '!';
        parser->at += shared;
        edge_table_push(&parser->edges, target);
        flag_table_push(&parser->edge_flags, shared ? PATH_EDGE_SHARED : 0);
    }
    return NULL;
}

static struct error *parse_node_name(struct parser *parser)
{
    const char *name;

    if (!accept(parser, "name"))
        return NULL;
    if (!parse_string(parser, &name))
        return parse_error(parser, "the node's \"NAME\" expected");
    name_table_push(&parser->names, name);
    return NULL;
}

static struct error *parse_node(struct parser *parser)
{
    struct model_node node = {.site = {MODEL_NONE}};

    if (parser->functions.length == 0)
        return parse_error(parser, "a node outside of a function");
    struct model_function *function = function_table_last(&parser->functions);
    node.function.value = (uint32_t)parser->functions.length - 1;
    if (!parse_next(parser, function->node_count))
        return parse_error(parser, "a function's nodes are numbered from 0");
    if (!parse_place(parser, &node.file, &node.line, &node.column) ||
        !parse_flags(parser, node_flag_name, &node.flags))
        return parse_error(parser, "place and flags of the node expected");
    struct error *err = parse_node_name(parser);
    if (err)
        return err;
    edge_table_push(&parser->edge_start, (uint32_t)parser->edges.length);
    function->node_count++;
    module_table_at(&parser->modules, function->module.value)->node_count++;
    node_table_push(&parser->nodes, node);
    if (parser->names.length && parser->names.length != parser->nodes.length)
        return parse_error(parser, "either every node has a name or none");
    return parse_edges(parser);
}

static struct error *parse_site(struct parser *parser)
{
    struct model_site site = {0};
    uint32_t callees = 0, callbacks = 0;

    if (parser->functions.length == 0 || function_table_last(&parser->functions)->node_count == 0)
        return parse_error(parser, "a call site outside of a node");
    struct model_node *node = node_table_last(&parser->nodes);
    if (node->site.value != MODEL_NONE || !(node->flags & NODE_CALL))
        return parse_error(parser, "a call site in a node that has none, or two");
    if ((!accept(parser, "*") && !parse_string(parser, &site.callee)) ||
        !parse_flags(parser, site_flag_name, &site.flags) || !accept(parser, "callees") ||
        !parse_number(parser, &callees) || !accept(parser, "callbacks") ||
        !parse_number(parser, &callbacks))
        return parse_error(parser, "name or *, flags, callees and callbacks expected");
    site.node.value = (uint32_t)parser->nodes.length - 1;
    node->site.value = (uint32_t)parser->sites.length;
    struct model_function *function = function_table_last(&parser->functions);
    function->site_count++;
    module_table_at(&parser->modules, function->module.value)->site_count++;
    site_table_push(&parser->sites, site);
    edge_table_push(&parser->callees, callees);
    edge_table_push(&parser->callbacks, callbacks);
    return NULL;
}

static struct error *parse_set(struct parser *parser)
{
    if (!parse_next(parser, parser->set_start.length))
        return parse_error(parser, "sets are numbered from 1");
    edge_table_push(&parser->set_start, (uint32_t)parser->members.length);
    uint32_t function, previous = MODEL_NONE;
    while (parse_number(parser, &function)) {
        if (function >= parser->functions.length ||
            (previous != MODEL_NONE && function <= previous))
            return parse_error(parser, "members of a set are functions, in order");
        edge_table_push(&parser->members, function);
        previous = function;
    }
    return NULL;
}

static const char *reason_name(unsigned reason)
{
    return root_reason_name((enum root_reason)reason);
}

static struct error *parse_root(struct parser *parser)
{
    struct root root;
    unsigned reason;

    if (!parse_number(parser, &root.function.value) ||
        root.function.value >= parser->functions.length ||
        !parse_named(parser, reason_name, ROOT_REASON_COUNT, &reason))
        return parse_error(parser, "a function and a reason expected");
    root.reason = (enum root_reason)reason;
    root_table_push(&parser->roots, root);
    return NULL;
}

static struct error *parse_line(struct parser *parser)
{
    static const struct {
        const char *word;
        struct error *(*parse)(struct parser *);
    } kinds[] = {
        {"node", parse_node},   {"site", parse_site},     {"function", parse_function},
        {"set", parse_set},     {"root", parse_root},     {"file", parse_file},
        {"image", parse_image}, {"module", parse_module},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (!accept(parser, kinds[i].word))
            continue;
        struct error *err = kinds[i].parse(parser);
        if (err)
            return err;
        skip_spaces(parser);
        return *parser->at && *parser->at != '#' ? parse_error(parser, "words too many") : NULL;
    }
    return parse_error(parser, "no such kind of line");
}

// ---- The whole

static struct error *parse_lines(struct parser *parser, const char *text, size_t length)
{
    const char *end = text + length;
    bool begun = false;

    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        size_t size = line_end ? (size_t)(line_end - text) : (size_t)(end - text);
        _cleanup_free_ char *line = xstrndup(text, size);
        struct error *err = NULL;
        parser->line++;
        parser->at = line;
        text += size + 1;
        skip_spaces(parser);
        if (*parser->at == '\0' || *parser->at == '#' || *parser->at == '|')
            continue;
        if (begun)
            err = parse_line(parser);
        else if (!accept(parser, "inquest-model") || !accept(parser, "1"))
            err = parse_error(parser, "it does not begin with 'inquest-model 1'");
        begun = true;
        if (err)
            return err;
    }
    return begun ? NULL : parse_error(parser, "nothing there");
}

static struct error *check_edges(const struct parser *parser)
{
    for (size_t n = 0; n < parser->nodes.length; n++) {
        uint32_t f = parser->nodes.data[n].function.value;
        uint32_t end = n + 1 < parser->nodes.length ? parser->edge_start.data[n + 1]
                                                    : (uint32_t)parser->edges.length;
        for (uint32_t e = parser->edge_start.data[n]; e < end; e++)
            if (parser->edges.data[e] >= parser->functions.data[f].node_count)
                return error_create_file(ERROR_FORMAT, parser->name,
                                         "bad model text: an edge of function %u leads nowhere", f);
        if (parser->nodes.data[n].flags & NODE_CALL &&
            parser->nodes.data[n].site.value == MODEL_NONE)
            return error_create_file(ERROR_FORMAT, parser->name,
                                     "bad model text: a call of function %u has no site", f);
    }
    for (size_t f = 0; f < parser->functions.length; f++)
        if (parser->functions.data[f].node_count == 0)
            return error_create_file(ERROR_FORMAT, parser->name,
                                     "bad model text: function %zu has no nodes", f);
    for (size_t s = 0; s < parser->sites.length; s++)
        if (parser->callees.data[s] >= parser->set_start.length ||
            parser->callbacks.data[s] >= parser->set_start.length)
            return error_create_file(ERROR_FORMAT, parser->name,
                                     "bad model text: call site %zu names no set", s);
    return NULL;
}

static void fill_graph(struct parser *parser)
{
    struct model *model = parser->model;

    model_reserve_nodes(model, (uint32_t)parser->nodes.length, (uint32_t)parser->edges.length);
    for (size_t n = 0; n < parser->nodes.length; n++) {
        uint32_t end = n + 1 < parser->nodes.length ? parser->edge_start.data[n + 1]
                                                    : (uint32_t)parser->edges.length;
        uint32_t f = parser->nodes.data[n].function.value;
        model->nodes[n] = parser->nodes.data[n];
        for (uint32_t e = parser->edge_start.data[n]; e < end; e++) {
            model->successor[e].value =
                parser->functions.data[f].first_node + parser->edges.data[e];
            model->edge_flags[e] = parser->edge_flags.data[e];
        }
        model->successor_start[n + 1] = end;
    }
    model->node_count = (uint32_t)parser->nodes.length;
    model->edge_count = (uint32_t)parser->edges.length;
    model->node_names = name_table_steal(&parser->names);
}

static void fill_callees(struct parser *parser)
{
    struct callee_table *table = &parser->model->callees;

    table->set_count = (uint32_t)parser->set_start.length;
    edge_table_push(&parser->set_start, (uint32_t)parser->members.length);
    edge_table_reserve(&parser->callees, 1);
    edge_table_reserve(&parser->callbacks, 1);
    edge_table_reserve(&parser->members, 1);
    table->callees_of_site = edge_table_steal(&parser->callees);
    table->callbacks_of_site = edge_table_steal(&parser->callbacks);
    table->set_start = edge_table_steal(&parser->set_start);
    static_assert(sizeof(struct function_id) == sizeof(uint32_t), "an id is its number");
    size_t count = parser->members.length;
    table->members = xmalloc_array(count + 1, sizeof(*table->members));
    for (size_t i = 0; i < count; i++)
        table->members[i].value = parser->members.data[i];
}

// Hands the tables over to the model.
static void fill_model(struct parser *parser)
{
    struct model *model = parser->model;

    fill_graph(parser);
    fill_callees(parser);
    model->image_count = (uint32_t)parser->images.length;
    model->images = image_table_steal(&parser->images);
    model->module_count = (uint32_t)parser->modules.length;
    model->modules = module_table_steal(&parser->modules);
    for (uint32_t m = 0; m < model->module_count; m++) {
        bool is_new;
        uint32_t *known =
            model_id_map_put_new(&model->private->module_ids, model->modules[m].id, &is_new);
        if (is_new)
            *known = m;
    }
    model->function_count = (uint32_t)parser->functions.length;
    model->functions = function_table_steal(&parser->functions);
    model->site_count = (uint32_t)parser->sites.length;
    model->sites = site_table_steal(&parser->sites);
    model->root_count = (uint32_t)parser->roots.length;
    model->roots = root_table_steal(&parser->roots);
    model->landings = xmalloc_array(model->site_count + (size_t)1, sizeof(*model->landings));
    for (uint32_t s = 0; s < model->site_count; s++)
        if (model->sites[s].flags & SITE_RETURNS_TWICE)
            model->landings[model->landing_count++] = (struct site_id){s};
    model->complete = true;
}

static void parser_deinit(struct parser *parser)
{
    image_table_deinit(&parser->images);
    module_table_deinit(&parser->modules);
    function_table_deinit(&parser->functions);
    node_table_deinit(&parser->nodes);
    name_table_deinit(&parser->names);
    edge_table_deinit(&parser->edge_start);
    edge_table_deinit(&parser->edges);
    flag_table_deinit(&parser->edge_flags);
    site_table_deinit(&parser->sites);
    edge_table_deinit(&parser->callees);
    edge_table_deinit(&parser->callbacks);
    edge_table_deinit(&parser->set_start);
    edge_table_deinit(&parser->members);
    root_table_deinit(&parser->roots);
}

struct error *model_read_text(const char *name, const char *text, size_t length, struct model **ret)
{
    struct parser parser = {.name = name, .model = model_create(NULL)};

    edge_table_push(&parser.set_start, 0); // set 0 is empty
    struct error *err = parse_lines(&parser, text, length);
    if (!err)
        err = check_edges(&parser);
    if (err) {
        model_destroy(parser.model);
    } else {
        fill_model(&parser);
        *ret = parser.model;
    }
    parser_deinit(&parser);
    return err;
}

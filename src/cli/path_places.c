// SPDX-License-Identifier: Apache-2.0
#include "cli/path_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/near.h"
#include "common/alloc.h"
#include "common/arena.h"
#include "common/bitset.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "program/model.h"

struct error *path_place_split_score(const char *option, const char *text, char **where,
                                     double *score)
{
    const char *sign = strrchr(text, '=');
    char *end;

    *score = 1;
    if (sign) {
        *score = strtod(sign + 1, &end);
        if (!sign[1] || *end || !isfinite(*score))
            return error_create(ERROR_USAGE, "%s is WHERE or WHERE=SCORE, and '%s' is no score",
                                option, sign + 1);
    }
    *where = sign ? xstrndup(text, (size_t)(sign - text)) : xstrdup(text);
    return NULL;
}

// ---- Lines

static bool has_file(const struct model *model, const char *name)
{
    for (uint32_t f = 0; f < model->file_count; f++)
        if (file_matches(model, (struct file_id){f}, name))
            return true;
    return false;
}

static struct error *no_line(const struct model *model, const char *file, uint32_t line)
{
    struct arena arena;

    arena_init(&arena);
    struct error *err = has_file(model, file)
                            ? error_create(ERROR_NOT_FOUND, "line %u of '%s' has no code%s", line,
                                           file, near_lines_text(model, file, line, &arena))
                            : error_create(ERROR_NOT_FOUND, "the program has no file '%s'%s", file,
                                           near_files_text(model, file, &arena));
    arena_deinit(&arena);
    return err;
}

static struct error *find_line(const struct model *model, const char *file, uint32_t line,
                               enum path_place which, struct place_nodes *ret)
{
    _cleanup_free_ struct node_id *found = NULL;
    uint32_t count = model_find_line(model, file, line, false, &found);

    // in order of ids: functions are stretches, and their first nodes come first
    for (uint32_t i = 0; i < count; i++)
        if (which == PATH_PLACE_ALL || i == 0 ||
            model_node(model, found[i])->function.value !=
                model_node(model, found[i - 1])->function.value)
            place_nodes_push(ret, found[i].value);
    return count ? NULL : no_line(model, file, line);
}

// ---- Functions

static struct error *no_function(const struct model *model, const char *name)
{
    struct near_names near = {0};
    struct arena arena;

    arena_init(&arena);
    for (uint32_t f = 0; f < model->function_count; f++)
        if (model->functions[f].node_count)
            near_names_offer(&near, name, model->functions[f].name);
    struct error *err = error_create(ERROR_NOT_FOUND, "the program has no function '%s'%s", name,
                                     near_names_text(&near, "", &arena));
    arena_deinit(&arena);
    return err;
}

// Nodes of a function that its entry leads to, calls aside.
static void find_reached(const struct model *model, const struct model_function *function,
                         struct bitset *ret)
{
    struct place_nodes work = VEC_INIT;

    bitset_init(ret, function->node_count);
    bitset_set(ret, 0);
    place_nodes_push(&work, function->first_node);
    while (work.length) {
        struct node_list next = model_successors(model, (struct node_id){work.data[--work.length]});

        for (uint32_t i = 0; i < next.count; i++)
            if (!bitset_test_and_set(ret, next.data[i].value - function->first_node))
                place_nodes_push(&work, next.data[i].value);
    }
    place_nodes_deinit(&work);
}

// Where it returns; else, where control does not go on: calls of exit() and the like.
static void add_ends(const struct model *model, const struct model_function *function,
                     struct place_nodes *ret)
{
    size_t before = ret->length;
    struct bitset reached;

    find_reached(model, function, &reached);
    for (int pass = 0; pass < 2 && ret->length == before; pass++)
        for (uint32_t n = 0; n < function->node_count; n++) {
            struct node_id node = {function->first_node + n};
            bool ends = pass == 0 ? model_node(model, node)->flags & NODE_RETURN
                                  : !model_successors(model, node).count;

            if (ends && bitset_test(&reached, n))
                place_nodes_push(ret, node.value);
        }
    bitset_deinit(&reached);
    if (ret->length == before)
        place_nodes_push(ret, function->first_node);
}

static struct error *find_function(const struct model *model, const char *name,
                                   enum path_place which, struct place_nodes *ret)
{
    _cleanup_free_ struct function_id *found = NULL;
    uint32_t count = model_find_name(model, name, &found);

    for (uint32_t i = 0; i < count; i++) {
        const struct model_function *function = model_function(model, found[i]);

        if (!function->node_count || function->linked == LINKED_NO)
            continue;
        if (which == PATH_PLACE_END)
            add_ends(model, function, ret);
        else
            place_nodes_push(ret, function->first_node);
    }
    return ret->length ? NULL : no_function(model, name);
}

// ---- Either

static bool find_node(const struct model *model, const char *text, struct place_nodes *ret)
{
    for (uint32_t n = 0; model->node_names && n < model->node_count; n++)
        if (strcmp(model->node_names[n], text) == 0)
            place_nodes_push(ret, n);
    return ret->length > 0;
}

static bool is_number(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length < 10 && strspn(text, "0123456789") == length;
}

struct error *path_place_find(const char *option, const char *text, const struct model *model,
                              enum path_place which, struct place_nodes *ret)
{
    _cleanup_free_ char *name = xstrdup(text);
    size_t length = strlen(name);
    char *colon = strrchr(name, ':');

    ret->length = 0;
    if (find_node(model, text, ret))
        return NULL;
    if (colon && colon > name && is_number(colon + 1)) {
        *colon = '\0';
        char *other = strrchr(name, ':');
        if (other && is_number(other + 1))
            return error_create(ERROR_USAGE, "%s goes by lines: '%s' has a column, '%s' is enough",
                                option, text, name);
        return find_line(model, name, (uint32_t)strtoul(colon + 1, NULL, 10), which, ret);
    }
    if (length > 2 && strcmp(name + length - 2, "()") == 0)
        name[length - 2] = '\0';
    if (!*name || colon)
        return error_create(ERROR_USAGE, "%s is FUNC or FILE:LINE, not '%s'", option, text);
    return find_function(model, name, which, ret);
}

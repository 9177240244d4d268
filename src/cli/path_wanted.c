// SPDX-License-Identifier: Apache-2.0
#include "cli/path_wanted.h"

#include <stdlib.h>
#include <string.h>

#include "cli/path_places.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "program/model.h"

struct error *path_parse_count(const char *option, const char *text, uint32_t most, uint32_t *ret)
{
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;

    if (text && (*text < '0' || *text > '9' || *end || value == 0 || value > most))
        return error_create(ERROR_USAGE, "%s is a number from 1 to %u, not '%s'", option, most,
                            text);
    *ret = (uint32_t)value;
    return NULL;
}

// ---- Predictors

static bool is_cluster_wanted(const struct path_wanted *wanted, uint32_t number, bool *used)
{
    bool is_wanted = !wanted->clusters.count;

    for (size_t i = 0; i < wanted->clusters.count; i++) {
        const char *text = wanted->clusters.data[i].text;

        if (strcmp(text, "all") == 0 || strtoul(text, NULL, 10) == number)
            is_wanted = used[i] = true;
    }
    return is_wanted;
}

static struct error *select_clusters(struct path_wanted *wanted)
{
    const struct path_cluster_vec *clusters = &wanted->predictors.clusters;
    _cleanup_free_ bool *used = xcalloc(wanted->clusters.count + 1, sizeof(*used));
    uint32_t number;

    for (size_t i = 0; i < wanted->clusters.count; i++) {
        const char *text = wanted->clusters.data[i].text;
        struct error *err = strcmp(text, "all") == 0
                                ? NULL
                                : path_parse_count("--cluster", text, UINT32_MAX - 1, &number);

        if (err)
            return err;
    }
    for (uint32_t c = 0; c < clusters->length; c++)
        if (is_cluster_wanted(wanted, clusters->data[c].number, used))
            path_selected_vec_push(&wanted->selected, c);
    for (size_t i = 0; i < wanted->clusters.count; i++)
        if (!used[i])
            return error_create(ERROR_NOT_FOUND, "there is no cluster %s: the list has %zu",
                                wanted->clusters.data[i].text, clusters->length);
    return NULL;
}

struct error *path_wanted_read(struct path_wanted *wanted)
{
    struct error *err = path_parse_count("--first", wanted->first_text, 1000000, &wanted->first);

    predictors_init(&wanted->predictors);
    for (size_t i = 0; !err && i < wanted->lists.count; i++)
        err = predictors_read(&wanted->predictors, wanted->lists.data[i].text);
    return err ? err : select_clusters(wanted);
}

bool path_wanted_is_by_cluster(const struct path_wanted *wanted)
{
    return !wanted->clusters.count && !wanted->separate && wanted->selected.length > 1;
}

// ---- Places

static struct error *find_avoided(struct path_wanted *wanted, const struct model *model)
{
    struct place_nodes nodes = VEC_INIT;
    struct error *err = NULL;

    for (size_t i = 0; !err && i < wanted->avoid_places.count; i++) {
        err = path_place_find("--avoid", wanted->avoid_places.data[i].text, model, PATH_PLACE_ALL,
                              &nodes);
        for (size_t n = 0; !err && n < nodes.length; n++) {
            if (wanted->avoid.size <= nodes.data[n])
                bitset_resize(&wanted->avoid, model->node_count);
            bitset_set(&wanted->avoid, nodes.data[n]);
        }
    }
    place_nodes_deinit(&nodes);
    return err;
}

// A, a newline, B.
static void split_pair(const char *text, char **a, const char **b)
{
    const char *newline = strchr(text, '\n');

    *a = xstrndup(text, (size_t)(newline - text));
    *b = newline + 1;
}

static struct error *find_order(struct path_wanted *wanted, const struct model *model,
                                const char *text)
{
    struct place_nodes before = VEC_INIT, after = VEC_INIT;
    _cleanup_free_ char *a = NULL;
    const char *b;

    split_pair(text, &a, &b);
    struct error *err = path_place_find("--before", a, model, PATH_PLACE_FIRST, &before);
    if (!err)
        err = path_place_find("--before", b, model, PATH_PLACE_FIRST, &after);
    if (!err && before.length > 1)
        err = error_create(ERROR_USAGE,
                           "--before: '%s' is in %zu functions, and which is meant "
                           "cannot be told",
                           a, before.length);
    for (size_t i = 0; !err && i < after.length; i++) {
        if (before.data[0] == after.data[i])
            err = error_create(ERROR_USAGE, "--before: '%s' and '%s' are the same place", a, b);
        path_order_vec_push(&wanted->orders, (struct path_order){before.data[0], after.data[i]});
    }
    place_nodes_deinit(&before);
    place_nodes_deinit(&after);
    return err;
}

static struct error *find_orders(struct path_wanted *wanted, const struct model *model)
{
    struct error *err = NULL;

    for (size_t i = 0; !err && i < wanted->before.count; i++)
        err = find_order(wanted, model, wanted->before.data[i].text);
    if (!err && wanted->orders.length * 2 >= PATH_CRITICAL_MOST)
        err = error_create(ERROR_USAGE, "these are too many orders");
    return err;
}

static struct error *add_critical(const struct path_wanted *wanted, const struct model *model,
                                  struct path_critical_set *set)
{
    struct place_nodes nodes = VEC_INIT;
    struct error *err = NULL;

    for (size_t i = 0; !err && i < wanted->critical.count; i++) {
        _cleanup_free_ char *where = NULL;
        double score;

        err = path_place_split_score("--critical", wanted->critical.data[i].text, &where, &score);
        if (!err)
            err = path_place_find("--critical", where, model, PATH_PLACE_FIRST, &nodes);
        for (size_t n = 0; !err && n < nodes.length; n++)
            path_critical_add_place(set, nodes.data[n], score, wanted->critical.data[i].text);
    }
    place_nodes_deinit(&nodes);
    return err;
}

static void add_orders(const struct path_wanted *wanted, struct path_critical_set *set)
{
    for (size_t i = 0; i < wanted->orders.length; i++) {
        path_critical_add_order(set, wanted->orders.data[i].before, "--before: first this");
        path_critical_add_order(set, wanted->orders.data[i].after, "--before: then this");
    }
}

struct error *path_wanted_set(const struct path_wanted *wanted, const struct model *model,
                              uint32_t cluster, struct dataflow *dataflow,
                              struct path_critical_set *set)
{
    path_critical_init(set, PATH_CRITICAL_MOST - 2 * (uint32_t)wanted->orders.length);
    struct error *err = add_critical(wanted, model, set);
    for (size_t i = 0; !err && i < wanted->selected.length; i++)
        if (cluster == PATH_WANTED_ALL || cluster == wanted->selected.data[i])
            path_critical_add_cluster(set, &wanted->predictors, wanted->selected.data[i],
                                      wanted->first, dataflow);
    add_orders(wanted, set);
    return err;
}

struct error *path_wanted_find(struct path_wanted *wanted, struct model *model)
{
    struct error *err = predictors_fit(&wanted->predictors, model);
    if (!err)
        err = find_avoided(wanted, model);
    return err ? err : find_orders(wanted, model);
}

void path_wanted_deinit(struct path_wanted *wanted)
{
    struct option_values *values[] = {&wanted->lists, &wanted->clusters, &wanted->critical,
                                      &wanted->avoid_places, &wanted->before};

    predictors_deinit(&wanted->predictors);
    path_order_vec_deinit(&wanted->orders);
    path_selected_vec_deinit(&wanted->selected);
    bitset_deinit(&wanted->avoid);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        free(values[i]->data);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/path_critical.h"

#include <string.h>

#include "path/predictors.h"

// Places that the user has named are of no list's cluster.
#define NAMED_CLUSTER UINT32_MAX

void path_critical_init(struct path_critical_set *set, uint32_t room)
{
    *set =
        (struct path_critical_set){.room = room < PATH_CRITICAL_MOST ? room : PATH_CRITICAL_MOST};
}

void path_critical_deinit(struct path_critical_set *set)
{
    path_mark_vec_deinit(&set->marks);
}

// Do they say the same of variables? NULL says nothing.
static bool same_condition(const struct path_predictor *a, const struct path_predictor *b)
{
    const char *first = a ? a->variable : NULL, *second = b ? b->variable : NULL;

    if (!first || !second)
        return first == second;
    return strcmp(first, second) == 0 && a->comparison == b->comparison &&
           a->constant == b->constant && a->is_unsigned == b->is_unsigned;
}

// The critical node that this belongs to; UINT32_MAX: there is no room for it.
static uint32_t find_critical(struct path_critical_set *set, uint32_t node, uint32_t cluster,
                              const struct path_predictor *predictor, struct dataflow *dataflow)
{
    for (uint32_t c = 0; c < set->count; c++)
        if (set->critical[c].node == node && set->critical[c].cluster == cluster &&
            same_condition(set->first[c], predictor))
            return c;
    if (set->count >= set->room)
        return UINT32_MAX;
    set->critical[set->count] =
        (struct path_critical){.node = node, .cluster = cluster, .assume = DATAFLOW_ONE};
    if (dataflow && predictor && predictor->variable)
        set->critical[set->count].assume =
            dataflow_assume(dataflow, node, predictor->variable, predictor->comparison,
                            predictor->constant, predictor->is_unsigned);
    set->first[set->count] = predictor;
    return set->count++;
}

void path_critical_add_cluster(struct path_critical_set *set, const struct predictors *predictors,
                               uint32_t cluster, uint32_t first, struct dataflow *dataflow)
{
    const struct path_cluster *from = &predictors->clusters.data[cluster];
    uint32_t count = first && first < from->count ? first : from->count;

    for (uint32_t i = 0; i < count; i++) {
        const struct path_predictor *one = &predictors->all.data[from->first + i];
        uint32_t c = find_critical(set, one->node, cluster, one, dataflow);

        if (c == UINT32_MAX) {
            set->left_out++;
            continue;
        }
        set->critical[c].score += one->score;
        path_mark_vec_push(
            &set->marks, (struct path_mark){.node = one->node,
                                            .critical = c,
                                            .score = one->score,
                                            .line = one->line,
                                            .words = *one->predicate ? one->predicate : "predictor",
                                            .kind = *one->kind ? one->kind : "predictor",
                                            .cluster = from->number,
                                            .predictor = one});
    }
}

void path_critical_add_place(struct path_critical_set *set, uint32_t node, double score,
                             const char *words)
{
    uint32_t c = find_critical(set, node, NAMED_CLUSTER, NULL, NULL);

    if (c == UINT32_MAX) {
        set->left_out++;
        return;
    }
    set->critical[c].score += score;
    path_mark_vec_push(
        &set->marks,
        (struct path_mark){
            .node = node, .critical = c, .score = score, .words = words, .kind = "critical"});
}

void path_critical_add_order(struct path_critical_set *set, uint32_t node, const char *words)
{
    path_mark_vec_push(
        &set->marks,
        (struct path_mark){.node = node, .critical = UINT32_MAX, .words = words, .kind = "order"});
}

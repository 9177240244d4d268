// SPDX-License-Identifier: Apache-2.0
// Observations of the evidence as nodes and automata.
#include <stdlib.h>

#include "ask/case_internal.h"
#include "common/alloc.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "solve/automata.h"

static bool case_point(const struct ask_case *ask, const struct evidence_point *point,
                       uint32_t *ret)
{
    uint32_t function;

    if (!case_function(ask, point->module_id, point->function, &function) ||
        point->node >= ask->model->functions[function].node_count)
        return false;
    *ret = ask->model->functions[function].first_node + point->node;
    return true;
}

uint32_t *case_points(struct ask_case *ask, const struct evidence_points *points,
                      uint32_t *ret_count)
{
    uint32_t *nodes = arena_alloc_array(&ask->arena, points->count + 1u, uint32_t), count = 0;

    for (uint32_t i = 0; i < points->count; i++)
        count += case_point(ask, &points->points[i], &nodes[count]);
    *ret_count = count;
    return nodes;
}

static struct id_set points_set(struct ask_case *ask, const struct evidence_points *points)
{
    uint32_t count;
    uint32_t *nodes = case_points(ask, points, &count);

    return id_set_make(nodes, count);
}

static void add_language(struct ask_case *ask, struct language *language, const char *name)
{
    if (language)
        ask_automaton_vec_push(&ask->automata, automaton_create(language, NULL, 0, name));
}

static void take_trace(struct ask_case *ask, const struct evidence_observation *observation)
{
    static const enum trace_kind kinds[] = {[EVIDENCE_UNRELIABLE] = TRACE_UNRELIABLE,
                                            [EVIDENCE_RELIABLE] = TRACE_RELIABLE,
                                            [EVIDENCE_BURST] = TRACE_BURST};
    struct trace_entry *entries =
        arena_alloc_array(&ask->arena, observation->entry_count + 1u, struct trace_entry);
    uint32_t *single = arena_alloc_array(&ask->arena, observation->entry_count + 1u, uint32_t);
    uint32_t count = 0, singles = 0;

    for (uint32_t e = 0; e < observation->entry_count; e++) {
        struct id_set nodes = points_set(ask, &observation->entries[e]);

        entries[count] = (struct trace_entry){.nodes = nodes};
        // code that the model does not have: nothing is known of it, and nothing of the order at
        // all
        if (nodes.count != observation->entries[e].count &&
            observation->reliability != EVIDENCE_UNRELIABLE)
            return;
        if (nodes.count != observation->entries[e].count)
            continue;
        if (nodes.count == 1) {
            ask_id_vec_push(&ask->ran, nodes.data[0]);
            single[singles++] = nodes.data[0];
        }
        count++;
    }
    // where handlers may come between any two nodes, solvers without contexts know nothing of the
    // order
    if (singles > 1 && ask->flow->signals == FLOW_NONE)
        ask_trace_vec_push(&ask->traces, (struct utl_trace){single, singles});
    if (count > 1 || observation->reliability != EVIDENCE_UNRELIABLE ||
        (count == 1 && entries[0].nodes.count > 1))
        add_language(ask,
                     language_trace(kinds[observation->reliability], entries, count,
                                    points_set(ask, &observation->alphabet)),
                     observation->origin);
}

void case_observation(struct ask_case *ask, const struct evidence_observation *observation)
{
    struct id_set nodes;

    switch (observation->kind) {
    case EVIDENCE_RAN:
        nodes = points_set(ask, &observation->entries[0]);
        if (nodes.count == 1 && observation->entries[0].count == 1)
            ask_id_vec_push(&ask->ran, nodes.data[0]);
        else if (nodes.count == observation->entries[0].count)
            add_language(ask, language_ran(nodes), observation->origin);
        return;
    case EVIDENCE_NOT_ALL:
        nodes = points_set(ask, &observation->entries[0]);
        if (nodes.count == 1 && observation->entries[0].count == 1) {
            bitset_set(&ask->closed, nodes.data[0]);
            bitset_set(&ask->absent, nodes.data[0]);
        } else if (nodes.count == observation->entries[0].count)
            add_language(ask, language_not_all(nodes), observation->origin);
        return;
    case EVIDENCE_TRACE:
        take_trace(ask, observation);
        return;
    }
}

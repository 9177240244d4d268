// SPDX-License-Identifier: Apache-2.0
#include "solve/vpa.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/hash.h"
#include "common/map.h"
#include "solve/view.h"
#include "solve/vpa_internal.h"

MAP_DEFINE_U64(view_set, bool);

static void reverse_edges(struct vpa *vpa)
{
    const struct flow *flow = vpa->flow;
    uint32_t *start = xcalloc(flow->node_count + 2u, sizeof(*start));

    vpa->reverse.edges =
        xmalloc_array(flow->edge_start[flow->node_count] + 1u, sizeof(struct flow_edge));
    for (uint32_t e = 0; e < flow->edge_start[flow->node_count]; e++)
        start[flow->edges[e].target + 2]++;
    for (uint32_t n = 0; n < flow->node_count; n++)
        start[n + 2] += start[n + 1];
    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct flow_edges next = flow_edges(flow, n);

        for (uint32_t k = 0; k < next.count; k++)
            vpa->reverse.edges[start[next.data[k].target + 1]++] =
                (struct flow_edge){n, next.data[k].flags};
    }
    vpa->reverse.start = start;
}

static void callers_of_sets(struct vpa *vpa)
{
    const struct flow *flow = vpa->flow;
    uint32_t *start = xcalloc(flow->set_count + 2u, sizeof(*start));

    vpa->callers = xmalloc_array(flow->node_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < flow->node_count; n++)
        start[flow->node_set[n] + 2] += flow->node_set[n] != 0;
    for (uint32_t s = 0; s < flow->set_count; s++)
        start[s + 2] += start[s + 1];
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (flow->node_set[n])
            vpa->callers[start[flow->node_set[n] + 1]++] = n;
    vpa->caller_start = start;
}

// A gap depends on what is before and behind it.
static void distinct_views(struct vpa *vpa)
{
    const struct vpa_problem *problem = vpa->problem;
    struct view_set seen = MAP_INIT;

    vpa->distinct = xmalloc_array(problem->view_count + 1u, sizeof(uint32_t));
    for (uint32_t v = 0; v < problem->view_count; v++) {
        uint64_t key = (uintptr_t)problem->views[v];
        bool is_new;

        if (problem->views[v]->function == FLOW_NONE) {
            uint32_t next =
                v + 1 < problem->view_count ? problem->views[v + 1]->function : FLOW_NONE;
            key = hash_mix(v ? (uintptr_t)problem->views[v - 1] : 0) ^ next;
        }
        view_set_put_new(&seen, key, &is_new);
        if (is_new)
            vpa->distinct[vpa->distinct_count++] = v;
    }
    view_set_deinit(&seen);
}

static void vpa_init(struct vpa *vpa, const struct vpa_problem *problem, struct budget *budget)
{
    *vpa = (struct vpa){.problem = problem, .flow = problem->flow, .budget = budget};
    complete_init(&vpa->complete, problem->flow, problem->closed);
    reverse_edges(vpa);
    callers_of_sets(vpa);
    distinct_views(vpa);
    vpa->set_needed = xcalloc(problem->flow->set_count + 1u, 1);
    vpa->function_needed = xcalloc(problem->flow->function_count + 1u, 1);
    vpa->needed = xmalloc_array(problem->flow->function_count + 1u, sizeof(uint32_t));
    bitset_init(&vpa->useful, problem->flow->node_count);
}

static void vpa_deinit(struct vpa *vpa)
{
    complete_deinit(&vpa->complete);
    free(vpa->reverse.start);
    free(vpa->reverse.edges);
    free(vpa->caller_start);
    free(vpa->callers);
    free(vpa->distinct);
    free(vpa->set_needed);
    free(vpa->function_needed);
    free(vpa->needed);
    bitset_deinit(&vpa->useful);
}

void vpa_cover(const struct vpa_problem *problem, struct budget *budget, struct vpa_coverage *ret)
{
    struct vpa vpa;

    *ret = (struct vpa_coverage){.complete = true};
    bitset_init(&ret->may, problem->flow->node_count);
    bitset_init(&ret->must, problem->flow->node_count);
    vpa_init(&vpa, problem, budget);
    ret->possible = vpa_may(&vpa, &ret->may, &ret->impossible_view);
    if (ret->possible)
        vpa_must(&vpa, &ret->must);
    if (budget->state != BUDGET_LEFT)
        ret->complete = false;
    vpa_deinit(&vpa);
}

void vpa_coverage_deinit(struct vpa_coverage *coverage)
{
    bitset_deinit(&coverage->may);
    bitset_deinit(&coverage->must);
}

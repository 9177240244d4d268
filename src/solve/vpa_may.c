// SPDX-License-Identifier: Apache-2.0
/*
 * What may have run. An activation: the copies between its start and its end. A completed call: the
 * nodes between entry and an end that some run needs. A gap: the nodes between the calls before it
 * and those that enter the activation behind it, where every call may stay pending.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/view.h"
#include "solve/vpa_internal.h"

static void need_function(struct vpa *vpa, uint32_t f, uint32_t how)
{
    uint32_t more = how & vpa->complete.function_ends[f];

    if (!vpa->function_needed[f] && more)
        vpa->needed[vpa->needed_count++] = f;
    vpa->function_needed[f] |= (uint8_t)more;
}

static void need_set(struct vpa *vpa, uint32_t set, uint32_t how)
{
    // a jump may be a handler's as well
    if (how & FLOW_LANDS && vpa->flow->signals != FLOW_NONE)
        need_function(vpa, vpa->flow->signals, FLOW_LANDS);
    how &= vpa->complete.set_ends[set] & ~(uint32_t)vpa->set_needed[set];
    if (!how)
        return;
    vpa->set_needed[set] |= (uint8_t)how;
    struct flow_callees members = flow_set(vpa->flow, set);
    for (uint32_t i = 0; i < members.count; i++)
        need_function(vpa, members.data[i], how);
}

// ---- Activations

static void view_forward(const struct vpa *vpa, const struct view *view, uint8_t *reach,
                         uint32_t *work)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->start_count; i++)
        if (!(reach[view->start[i]] & VIEW_FORWARD)) {
            reach[view->start[i]] |= VIEW_FORWARD;
            work[count++] = view->start[i];
        }
    while (count) {
        uint32_t copy = work[--count], node = view->node[copy];

        if (view->closed[copy] || bitset_test(vpa->problem->closed, node))
            continue;
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++) {
            uint32_t target = view->edges[e].target;

            if (reach[target] & VIEW_FORWARD ||
                !complete_takes(&vpa->complete, node, view->edges[e].flags))
                continue;
            reach[target] |= VIEW_FORWARD;
            work[count++] = target;
        }
    }
}

// The edges of a view, backwards.
static uint32_t *view_predecessors(const struct view *view, uint32_t **ret_start)
{
    uint32_t edges = view->edge_start[view->count];
    uint32_t *start = xcalloc(view->count + 2u, sizeof(*start));
    uint32_t *edge = xmalloc_array(2u * edges + 1u, sizeof(*edge));

    for (uint32_t e = 0; e < edges; e++)
        start[view->edges[e].target + 2]++;
    for (uint32_t i = 0; i < view->count; i++)
        start[i + 2] += start[i + 1];
    for (uint32_t i = 0; i < view->count; i++)
        for (uint32_t e = view->edge_start[i]; e < view->edge_start[i + 1]; e++) {
            uint32_t slot = start[view->edges[e].target + 1]++;

            edge[2 * slot] = i;
            edge[2 * slot + 1] = view->edges[e].flags;
        }
    *ret_start = start;
    return edge;
}

uint8_t *vpa_view_reach(const struct vpa *vpa, const struct view *view)
{
    uint8_t *reach = xcalloc(view->count + 1u, 1);
    uint32_t *work = xmalloc_array(view->count + 1u, sizeof(*work)), count = 0, *start;

    view_forward(vpa, view, reach, work);
    uint32_t *edge = view_predecessors(view, &start);
    for (uint32_t i = 0; i < view->end_count; i++)
        if (reach[view->end[i]] == VIEW_FORWARD) {
            reach[view->end[i]] |= VIEW_BACKWARD;
            work[count++] = view->end[i];
        }
    bool any = count > 0;
    while (count) {
        uint32_t copy = work[--count];

        for (uint32_t e = start[copy]; e < start[copy + 1]; e++) {
            uint32_t source = edge[2 * e], node = view->node[source];

            if (reach[source] != VIEW_FORWARD || view->closed[source] ||
                bitset_test(vpa->problem->closed, node) ||
                !complete_takes(&vpa->complete, node, edge[2 * e + 1]))
                continue;
            reach[source] |= VIEW_BACKWARD;
            work[count++] = source;
        }
    }
    free(edge);
    free(start);
    free(work);
    if (any)
        return reach;
    free(reach);
    return NULL;
}

static bool view_may(struct vpa *vpa, const struct view *view, struct bitset *may)
{
    uint8_t *reach = vpa_view_reach(vpa, view);

    for (uint32_t i = 0; reach && i < view->count; i++) {
        uint32_t node = view->node[i];

        if (reach[i] != VIEW_USEFUL)
            continue;
        bitset_set(may, node);
        if (view->closed[i] || bitset_test(vpa->problem->closed, node))
            continue;
        for (uint32_t e = view->edge_start[i]; e < view->edge_start[i + 1]; e++)
            if (reach[view->edges[e].target] == VIEW_USEFUL)
                need_set(vpa, vpa->flow->node_set[node], view->edges[e].flags);
    }
    free(reach);
    return reach != NULL;
}

// ---- Gaps

struct gap {
    struct vpa *vpa;
    struct bitset forward, backward;
    uint32_t *work, work_count;
};

static void gap_forward(struct gap *gap, uint32_t node)
{
    if (!bitset_test_and_set(&gap->forward, node))
        gap->work[gap->work_count++] = node;
}

static void gap_enter(struct gap *gap, uint32_t set)
{
    struct flow_callees members = flow_set(gap->vpa->flow, set);

    for (uint32_t i = 0; i < members.count; i++)
        if (gap->vpa->flow->functions[members.data[i]].node_count)
            gap_forward(gap, gap->vpa->flow->functions[members.data[i]].entry);
}

// A handler may have come anywhere, and be pending.
static void gap_interrupt(struct gap *gap)
{
    const struct flow *flow = gap->vpa->flow;

    if (flow->signals != FLOW_NONE)
        gap_forward(gap, flow->functions[flow->signals].entry);
}

// Everything that control can come to from there on, calls left pending where they may be.
static void gap_search(struct gap *gap)
{
    const struct vpa *vpa = gap->vpa;
    struct bitset entered;

    bitset_init(&entered, vpa->flow->set_count + 1u);
    while (gap->work_count) {
        uint32_t node = gap->work[--gap->work_count], set = vpa->flow->node_set[node];
        struct flow_edges next = flow_edges(vpa->flow, node);

        if (bitset_test(vpa->problem->closed, node)) {
            gap_interrupt(gap);
            continue;
        }
        for (uint32_t k = 0; k < next.count; k++)
            if (complete_takes(&vpa->complete, node, next.data[k].flags))
                gap_forward(gap, next.data[k].target);
        if (set && !bitset_test_and_set(&entered, set))
            gap_enter(gap, set);
        gap_interrupt(gap);
    }
    bitset_deinit(&entered);
}

static void gap_back_to(struct gap *gap, uint32_t node)
{
    if (bitset_test(&gap->forward, node) && !bitset_test_and_set(&gap->backward, node))
        gap->work[gap->work_count++] = node;
}

// Calls of this function lead there: all nodes that make them.
static void gap_back_callers(struct gap *gap, struct bitset *enters, uint32_t function)
{
    const struct vpa *vpa = gap->vpa;

    for (uint32_t n = 0; function == vpa->flow->signals && n < vpa->flow->node_count; n++)
        gap_back_to(gap, n);
    for (uint32_t i = vpa->complete.in_start[function]; i < vpa->complete.in_start[function + 1];
         i++) {
        uint32_t set = vpa->complete.in_sets[i];

        if (bitset_test_and_set(enters, set))
            continue;
        for (uint32_t c = vpa->caller_start[set]; c < vpa->caller_start[set + 1]; c++)
            if (!bitset_test(vpa->problem->closed, vpa->callers[c]))
                gap_back_to(gap, vpa->callers[c]);
    }
}

// What leads to the calls of `function`; everything does where that is FLOW_NONE.
static void gap_back(struct gap *gap, uint32_t function, struct bitset *may)
{
    struct vpa *vpa = gap->vpa;
    const struct flow *flow = vpa->flow;
    struct bitset enters; // sets that lead there

    bitset_init(&enters, flow->set_count + 1u);
    for (uint32_t n = 0; function == FLOW_NONE && n < flow->node_count; n++)
        gap_back_to(gap, n);
    if (function != FLOW_NONE)
        gap_back_callers(gap, &enters, function);
    while (gap->work_count) {
        uint32_t node = gap->work[--gap->work_count], f = flow->node_function[node];

        for (uint32_t e = vpa->reverse.start[node]; e < vpa->reverse.start[node + 1]; e++) {
            const struct flow_edge *edge = &vpa->reverse.edges[e];

            if (!bitset_test(vpa->problem->closed, edge->target) &&
                complete_takes(&vpa->complete, edge->target, edge->flags))
                gap_back_to(gap, edge->target);
        }
        if (flow->functions[f].entry == node)
            gap_back_callers(gap, &enters, f);
    }
    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct flow_edges next = flow_edges(flow, n);

        if (!bitset_test(&gap->backward, n))
            continue;
        bitset_set(may, n);
        if (bitset_test(vpa->problem->closed, n))
            continue;
        for (uint32_t k = 0; k < next.count; k++)
            if (bitset_test(&gap->backward, next.data[k].target))
                need_set(vpa, flow->node_set[n], next.data[k].flags);
    }
    bitset_deinit(&enters);
}

// The gap between views number v-1 and v+1. It may be empty, when the one calls the other.
static void gap_may(struct vpa *vpa, uint32_t v, struct bitset *may)
{
    const struct flow *flow = vpa->flow;
    const struct view *before = v ? vpa->problem->views[v - 1] : NULL;
    uint32_t function =
        v + 1 < vpa->problem->view_count ? vpa->problem->views[v + 1]->function : FLOW_NONE;
    struct gap gap = {.vpa = vpa};

    bitset_init(&gap.forward, flow->node_count);
    bitset_init(&gap.backward, flow->node_count);
    gap.work = xmalloc_array(flow->node_count + 1u, sizeof(uint32_t));
    if (!before)
        gap_forward(&gap, flow->functions[flow->any_start].entry);
    for (uint32_t i = 0; before && i < before->end_count; i++)
        gap_enter(&gap, flow->node_set[before->node[before->end[i]]]);
    if (before && before->function != flow->any_start)
        gap_interrupt(&gap);
    gap_search(&gap);
    gap_back(&gap, function, may);
    bitset_deinit(&gap.forward);
    bitset_deinit(&gap.backward);
    free(gap.work);
}

// ---- Completed calls

static void back_to(struct vpa *vpa, uint32_t node, uint32_t *work, uint32_t *count)
{
    if (bitset_test(&vpa->complete.reached, node) && !bitset_test_and_set(&vpa->useful, node))
        work[(*count)++] = node;
}

// The nodes where a function ends in a way that is needed.
static void mark_ends(struct vpa *vpa, uint32_t function, uint32_t how, uint32_t *work,
                      uint32_t *count)
{
    const struct flow *flow = vpa->flow;
    const struct flow_function *f = &flow->functions[function];

    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        bool closed = bitset_test(vpa->problem->closed, n);

        if (how & FLOW_BEHIND && !closed && flow->node_flags[n] & FLOW_RETURNS)
            back_to(vpa, n, work, count);
        if (!(how & FLOW_LANDS))
            continue;
        need_set(vpa, 0, FLOW_LANDS);
        if (vpa->complete.signal_ends & FLOW_LANDS || (!closed && flow->node_flags[n] & FLOW_JUMPS))
            back_to(vpa, n, work, count);
        if (!closed && bitset_test(&vpa->complete.reached, n) &&
            vpa->complete.set_ends[flow->node_set[n]] & FLOW_LANDS) {
            back_to(vpa, n, work, count);
            need_set(vpa, flow->node_set[n], FLOW_LANDS);
        }
    }
}

static void go_back(struct vpa *vpa, uint32_t node, uint32_t *work, uint32_t *count)
{
    for (uint32_t e = vpa->reverse.start[node]; e < vpa->reverse.start[node + 1]; e++) {
        uint32_t source = vpa->reverse.edges[e].target, flags = vpa->reverse.edges[e].flags;

        if (bitset_test(vpa->problem->closed, source) ||
            !bitset_test(&vpa->complete.reached, source) ||
            !complete_takes(&vpa->complete, source, flags))
            continue;
        need_set(vpa, vpa->flow->node_set[source], flags);
        back_to(vpa, source, work, count);
    }
}

static void completed_may(struct vpa *vpa, struct bitset *may)
{
    uint32_t *work = xmalloc_array(vpa->flow->node_count + 1u, sizeof(*work)), count = 0;
    uint8_t *done = xcalloc(vpa->flow->function_count + 1u, 1);

    for (bool more = true; more;) {
        more = false;
        // functions join, and are needed in new ways, while others are looked at
        for (uint32_t i = 0; i < vpa->needed_count; i++) {
            uint32_t f = vpa->needed[i], how = vpa->function_needed[f] & ~(uint32_t)done[f];

            if (!how)
                continue;
            more = true;
            done[f] |= (uint8_t)how;
            mark_ends(vpa, f, how, work, &count);
            while (count)
                go_back(vpa, work[--count], work, &count);
        }
    }
    bitset_union(may, &vpa->useful);
    free(work);
    free(done);
}

bool vpa_may(struct vpa *vpa, struct bitset *may, uint32_t *ret_view)
{
    // handlers may have come at any node, and gone
    if (vpa->flow->signals != FLOW_NONE)
        need_function(vpa, vpa->flow->signals, FLOW_BEHIND);
    for (uint32_t i = 0; i < vpa->distinct_count; i++) {
        uint32_t v = vpa->distinct[i];
        const struct view *view = vpa->problem->views[v];

        if (view->function == FLOW_NONE)
            gap_may(vpa, v, may);
        else if (!view_may(vpa, view, may)) {
            *ret_view = v;
            return false;
        }
    }
    completed_may(vpa, may);
    return true;
}

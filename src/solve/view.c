// SPDX-License-Identifier: Apache-2.0
#include "solve/view.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/vec.h"

VEC_DEFINE(view_id_vec, uint32_t);

struct view_edge {
    uint32_t source;
    struct flow_edge edge;
};
VEC_DEFINE(view_edge_vec, struct view_edge);

struct view_builder {
    const struct view_step *last;  // the last step that is certain
    uint32_t last_start, last_end; // its copies
    const struct flow *flow;
    const struct view_facts *facts;
    struct view_id_vec node, start, end;
    struct view_edge_vec edges;
};

static bool is_among(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void add_edge(struct view_builder *builder, uint32_t source, uint32_t target, uint32_t flags)
{
    view_edge_vec_push(&builder->edges, (struct view_edge){source, {target, flags}});
}

// How control goes from one node to the other, in one step. A path that was recorded was taken:
// where the graph has no such edge it was a jump.
static uint32_t step_flags(const struct flow *flow, uint32_t from, uint32_t to)
{
    struct flow_edges next = flow_edges(flow, from);
    uint32_t flags = 0;

    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].target == to)
            flags |= next.data[k].flags;
    return flags ? flags : FLOW_PAST | FLOW_BEHIND | FLOW_LANDS;
}

// A copy of the whole function; its first copy.
static uint32_t add_function(struct view_builder *builder)
{
    const struct flow_function *f = &builder->flow->functions[builder->facts->function];
    uint32_t base = (uint32_t)builder->node.length;

    for (uint32_t n = 0; n < f->node_count; n++) {
        struct flow_edges next = flow_edges(builder->flow, f->first_node + n);

        view_id_vec_push(&builder->node, f->first_node + n);
        for (uint32_t k = 0; k < next.count; k++)
            add_edge(builder, base + n, base + next.data[k].target - f->first_node,
                     next.data[k].flags);
    }
    return base;
}

// Can control go on from this copy? A loop may be known to have been left from one node.
static bool may_leave(const struct view_builder *builder, uint32_t copy)
{
    return !builder->last || !builder->last->leaves_told || copy < builder->last_start ||
           copy >= builder->last_end || builder->node.data[copy] == builder->last->leaves;
}

// Edges from the copies from..to-1 to those from `base` on, one a node, where the graph has them.
static void connect_copies(struct view_builder *builder, uint32_t from, uint32_t to, uint32_t base)
{
    const struct flow_function *f = &builder->flow->functions[builder->facts->function];
    uint32_t *copy = xmalloc_array(f->node_count + 1u, sizeof(*copy));

    for (uint32_t n = 0; n < f->node_count; n++)
        copy[n] = UINT32_MAX;
    for (uint32_t i = base; i < builder->node.length; i++)
        copy[builder->node.data[i] - f->first_node] = i;
    for (uint32_t i = from; i < to; i++) {
        struct flow_edges next = flow_edges(builder->flow, builder->node.data[i]);

        for (uint32_t k = 0; may_leave(builder, i) && k < next.count; k++) {
            uint32_t target = copy[next.data[k].target - f->first_node];

            if (target != UINT32_MAX)
                add_edge(builder, i, target, next.data[k].flags);
        }
    }
    free(copy);
}

// The copies of one step: its node first.
static void add_step(struct view_builder *builder, const struct view_step *step)
{
    uint32_t base = (uint32_t)builder->node.length;

    view_id_vec_push(&builder->node, step->node);
    for (uint32_t i = 0; i < step->loop_count; i++)
        if (step->loop[i] != step->node)
            view_id_vec_push(&builder->node, step->loop[i]);
    if (step->loop_count)
        connect_copies(builder, base, (uint32_t)builder->node.length, base);
}

// From every copy from..to-1 that has an edge to the node: an edge to the copy `target`. `must`:
// the last step led there, whatever the graph says.
static void connect(struct view_builder *builder, uint32_t from, uint32_t to, uint32_t target,
                    bool must)
{
    uint32_t node = builder->node.data[target];
    bool any = false;

    for (uint32_t i = from; i < to; i++) {
        if (!may_leave(builder, i))
            continue;
        struct flow_edges next = flow_edges(builder->flow, builder->node.data[i]);

        for (uint32_t k = 0; k < next.count; k++)
            if (next.data[k].target == node) {
                add_edge(builder, i, target, next.data[k].flags);
                any = true;
            }
    }
    for (uint32_t i = from; must && !any && i < to; i++)
        if (may_leave(builder, i))
            add_edge(builder, i, target, step_flags(builder->flow, builder->node.data[i], node));
}

// Control goes on freely from copies from..to-1 into the copy of the function at `base`.
static void connect_freely(struct view_builder *builder, uint32_t from, uint32_t to, uint32_t base)
{
    const struct flow_function *f = &builder->flow->functions[builder->facts->function];

    for (uint32_t i = from; i < to; i++) {
        struct flow_edges next = flow_edges(builder->flow, builder->node.data[i]);

        for (uint32_t k = 0; may_leave(builder, i) && k < next.count; k++)
            add_edge(builder, i, base + next.data[k].target - f->first_node, next.data[k].flags);
    }
}

static void add_ends(struct view_builder *builder, uint32_t from)
{
    const struct view_facts *facts = builder->facts;

    for (uint32_t i = from; i < builder->node.length; i++)
        if (is_among(facts->at, facts->at_count, builder->node.data[i]))
            view_id_vec_push(&builder->end, i);
}

// Perhaps control moved in a loop before it came to the next step: from the copies from `from` on
// it may also go into it.
static void add_passes(struct view_builder *builder, const struct view_step *step, uint32_t from)
{
    uint32_t base = (uint32_t)builder->node.length;

    add_step(builder, step);
    connect_copies(builder, from, base, base);
}

static void add_copies(struct view_builder *builder)
{
    const struct view_facts *facts = builder->facts;
    const struct flow_function *f = &builder->flow->functions[facts->function];
    uint32_t from = 0, base = 0;

    if (!facts->from_entry || !facts->step_count) {
        add_function(builder);
        view_id_vec_push(&builder->start, f->entry - f->first_node);
    }
    for (uint32_t s = 0; s < facts->step_count; s++) {
        const struct view_step *step = &facts->steps[s];

        base = (uint32_t)builder->node.length;
        if (step->passes) {
            add_passes(builder, step, from);
            if (s == 0 && facts->from_entry)
                view_id_vec_push(&builder->start, base);
            continue;
        }
        add_step(builder, step);
        if (s > 0 || !facts->from_entry)
            connect(builder, from, base, base, s > 0);
        // an activation can be all there is of the known path
        if (s == 0 && (facts->from_entry || builder->node.data[base] == f->entry))
            view_id_vec_push(&builder->start, base);
        builder->last = step;
        from = builder->last_start = base;
        builder->last_end = (uint32_t)builder->node.length;
    }
    if (facts->step_count && !facts->to_end) {
        // it may also still stand at the last step known
        uint32_t to = (uint32_t)builder->node.length;
        connect_freely(builder, from, to, add_function(builder));
        base = from;
    }
    add_ends(builder, base);
}

static void finish(struct view_builder *builder, struct view *view)
{
    const struct view_facts *facts = builder->facts;

    view->count = (uint32_t)builder->node.length;
    view->edge_start = xcalloc(view->count + 2u, sizeof(uint32_t));
    view->edges = xmalloc_array(builder->edges.length + 1, sizeof(*view->edges));
    for (size_t e = 0; e < builder->edges.length; e++)
        view->edge_start[builder->edges.data[e].source + 2]++;
    for (uint32_t i = 0; i < view->count; i++)
        view->edge_start[i + 2] += view->edge_start[i + 1];
    for (size_t e = 0; e < builder->edges.length; e++)
        view->edges[view->edge_start[builder->edges.data[e].source + 1]++] =
            builder->edges.data[e].edge;
    view->node = view_id_vec_steal(&builder->node);
    view->closed = xcalloc(view->count + 1u, sizeof(bool));
    for (uint32_t i = 0; i < view->count; i++)
        view->closed[i] = is_among(facts->closed, facts->closed_count, view->node[i]);
    view->start_count = (uint32_t)builder->start.length;
    view->start = view_id_vec_steal(&builder->start);
    view->end_count = (uint32_t)builder->end.length;
    view->end = view_id_vec_steal(&builder->end);
    view->may_be_amid = xcalloc(view->end_count + 1u, sizeof(bool));
    for (uint32_t i = 0; i < view->end_count; i++)
        view->may_be_amid[i] = is_among(facts->amid, facts->amid_count, view->node[view->end[i]]);
    view->ran_count = facts->ran_count;
    view->ran = xmalloc_array(facts->ran_count + 1u, sizeof(uint32_t));
    for (uint32_t i = 0; i < facts->ran_count; i++)
        view->ran[i] = facts->ran[i];
    view_edge_vec_deinit(&builder->edges);
}

// Can the view be gone through without this node? As far as its own graph tells.
static bool can_avoid(const struct view *view, uint32_t node, bool *seen, uint32_t *work)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->count; i++)
        seen[i] = view->node[i] == node;
    for (uint32_t i = 0; i < view->start_count; i++)
        if (!seen[view->start[i]]) {
            seen[view->start[i]] = true;
            work[count++] = view->start[i];
        }
    while (count) {
        uint32_t copy = work[--count];

        if (is_among(view->end, view->end_count, copy))
            return true;
        for (uint32_t e = view->edge_start[copy];
             !view->closed[copy] && e < view->edge_start[copy + 1]; e++)
            if (!seen[view->edges[e].target]) {
                seen[view->edges[e].target] = true;
                work[count++] = view->edges[e].target;
            }
    }
    return false;
}

// Nodes that every way through the view visits need not be asked for.
static void drop_certain(struct view *view)
{
    bool *seen = xcalloc(view->count + 1u, sizeof(*seen));
    uint32_t *work = xmalloc_array(view->count + 1u, sizeof(*work)), kept = 0;

    for (uint32_t r = 0; r < view->ran_count; r++)
        if (can_avoid(view, view->ran[r], seen, work))
            view->ran[kept++] = view->ran[r];
    view->ran_count = kept;
    free(seen);
    free(work);
}

struct view *view_create(const struct flow *flow, const struct view_facts *facts)
{
    struct view *view = xcalloc(1, sizeof(*view));
    struct view_builder builder = {.flow = flow, .facts = facts};

    view->function = facts->function;
    view->is_direct = facts->is_direct;
    if (facts->function != FLOW_NONE)
        add_copies(&builder);
    finish(&builder, view);
    drop_certain(view);
    return view;
}

void view_destroy(struct view *view)
{
    if (!view)
        return;
    free(view->node);
    free(view->edge_start);
    free(view->edges);
    free(view->closed);
    free(view->start);
    free(view->end);
    free(view->may_be_amid);
    free(view->ran);
    free(view);
}

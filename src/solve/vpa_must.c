// SPDX-License-Identifier: Apache-2.0
/*
 * What must have run: sets passed along edges, met where edges join.
 *
 * A set holds nodes of the function that is looked at, and functions: those of which a call has
 * certainly been completed. Which nodes of another function ran follows from that alone: a node of
 * g is certain in a completed call of g, or this call could have gone without it, and so could all
 * others, whoever called. So sets stay small, and one pass over each function with the results of
 * its callees gives its own. Recursion: begin with everything and take away until nothing changes,
 * which leaves what all finite runs share.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "solve/view.h"
#include "solve/vpa_internal.h"

enum end_kind {
    END_RETURN,
    END_JUMP,
    END_KINDS,
};

// What is certain when a call of the function has ended.
struct certain {
    uint64_t *functions[END_KINDS]; // by slot
    uint64_t *own[END_KINDS];       // by node of the function
};

struct must {
    struct vpa *vpa;
    uint32_t *slot;          // by function; FLOW_NONE: not needed
    uint32_t function_words; // of a set of slots
    struct certain *certain; // by slot
    uint64_t *of_set;        // scratch: what is certain when a call of a set has ended
    uint64_t *of_set_other;
    uint32_t *order; // needed functions, callees first
};

// A function's or an activation's graph.
struct region {
    uint32_t function, count, first_node; // node i is first_node + i, unless `node` tells
    const uint32_t *node;
    const uint32_t *edge_start;    // of node 0 on
    const struct flow_edge *edges; // target minus target_base is in the region
    uint32_t target_base;
    bool *keep; // on the way to the end
    bool *closed;
    uint32_t words; // of a set: functions, then own nodes
    uint64_t *sets; // by node
    bool *seen;     // has a set
    uint32_t *order, order_count;
};

static uint32_t words_for(uint32_t bits)
{
    return (bits + 63) / 64;
}

static uint32_t region_node(const struct region *region, uint32_t i)
{
    return region->node ? region->node[i] : region->first_node + i;
}

static void set_bit(uint64_t *words, uint32_t bit)
{
    words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static bool has_bit(const uint64_t *words, uint32_t bit)
{
    return words[bit / 64] >> (bit % 64) & 1;
}

static bool meet(uint64_t *words, const uint64_t *other, uint32_t count)
{
    uint64_t lost = 0;

    for (uint32_t w = 0; w < count; w++) {
        lost |= words[w] & ~other[w];
        words[w] &= other[w];
    }
    return lost != 0;
}

static void join(uint64_t *words, const uint64_t *other, uint32_t count)
{
    for (uint32_t w = 0; w < count; w++)
        words[w] |= other[w];
}

// Functions that are certain when a call of the set has ended in this way. False: none ends so.
static bool certain_of_set(const struct must *must, uint32_t set, enum end_kind kind, uint64_t *ret)
{
    const struct vpa *vpa = must->vpa;
    struct flow_callees members = flow_set(vpa->flow, set);
    uint32_t how = kind == END_RETURN ? FLOW_BEHIND : FLOW_LANDS;
    bool any = false;

    if (!(vpa->complete.set_ends[set] & how))
        return false;
    for (uint32_t i = 0; i < members.count; i++) {
        uint32_t f = members.data[i], slot = must->slot[f];

        if (!(vpa->complete.function_ends[f] & how))
            continue;
        if (slot == FLOW_NONE) { // not needed: cannot be, but nothing is known then
            memset(ret, 0, must->function_words * sizeof(*ret));
            return true;
        }
        const uint64_t *functions = must->certain[slot].functions[kind];
        bool itself = kind == END_RETURN && (!any || has_bit(ret, slot));
        if (any)
            meet(ret, functions, must->function_words);
        else
            memcpy(ret, functions, must->function_words * sizeof(*ret));
        if (itself)
            set_bit(ret, slot);
        any = true;
    }
    return any;
}

// ---- One region

static bool region_takes(const struct must *must, const struct region *region, uint32_t i,
                         const struct flow_edge *edge, uint32_t *ret_target)
{
    *ret_target = edge->target - region->target_base;
    return region->keep[*ret_target] && !region->closed[i] &&
           complete_takes(&must->vpa->complete, region_node(region, i), edge->flags);
}

// Reverse postorder from the starts, by a stack of (node, next edge).
static void region_sort(const struct must *must, struct region *region, const uint32_t *starts,
                        uint32_t start_count)
{
    uint32_t *stack = xmalloc_array(2u * region->count + 2u, sizeof(*stack)), top = 0;
    uint32_t *order = xmalloc_array(region->count + 1u, sizeof(*order)), at = region->count;
    bool *seen = xcalloc(region->count + 1u, sizeof(*seen));

    for (uint32_t s = start_count; s-- > 0;) {
        if (!region->keep[starts[s]] || seen[starts[s]])
            continue;
        seen[starts[s]] = true;
        stack[top++] = starts[s];
        stack[top++] = region->edge_start[starts[s]];
        while (top) {
            uint32_t i = stack[top - 2], e = stack[top - 1]++, target;

            if (e == region->edge_start[i + 1]) {
                order[--at] = i;
                top -= 2;
            } else if (region_takes(must, region, i, &region->edges[e], &target) && !seen[target]) {
                seen[target] = true;
                stack[top++] = target;
                stack[top++] = region->edge_start[target];
            }
        }
    }
    region->order_count = region->count - at;
    memmove(order, order + at, region->order_count * sizeof(*order));
    region->order = order;
    free(stack);
    free(seen);
}

// Adds to `words` what a call of the region's node makes certain on an edge of these kinds.
static void add_call(const struct must *must, const struct region *region, uint32_t set,
                     uint32_t flags, uint64_t *words)
{
    uint64_t *functions = must->of_set;

    if (flags & FLOW_PAST || !set ||
        (flags & FLOW_LANDS && must->vpa->complete.signal_ends & FLOW_LANDS))
        return;
    bool returns = flags & FLOW_BEHIND && certain_of_set(must, set, END_RETURN, functions);
    if (flags & FLOW_LANDS) {
        if (!returns)
            returns = certain_of_set(must, set, END_JUMP, functions);
        else if (certain_of_set(must, set, END_JUMP, must->of_set_other))
            meet(functions, must->of_set_other, must->function_words);
    }
    if (!returns)
        return;
    join(words, functions, must->function_words);
    uint32_t slot = must->slot[region->function];
    if (slot != FLOW_NONE && has_bit(functions, slot))
        join(words + must->function_words, must->certain[slot].own[END_RETURN],
             region->words - must->function_words);
}

static uint32_t own_bit(const struct must *must, const struct region *region, uint32_t i)
{
    const struct flow *flow = must->vpa->flow;

    return must->function_words * 64 + region_node(region, i) -
           flow->functions[region->function].first_node;
}

static void region_solve(const struct must *must, struct region *region, const uint32_t *starts,
                         uint32_t start_count)
{
    uint32_t words = region->words;
    uint64_t *out = xmalloc_array(words + 1u, sizeof(*out));

    region_sort(must, region, starts, start_count);
    region->sets = xcalloc((size_t)region->count * words + 1, sizeof(uint64_t));
    region->seen = xcalloc(region->count + 1u, sizeof(bool));
    for (uint32_t s = 0; s < start_count; s++) {
        region->seen[starts[s]] = true;
        set_bit(region->sets + (size_t)starts[s] * words, own_bit(must, region, starts[s]));
    }
    for (bool changed = true; changed && !budget_is_spent(must->vpa->budget);) {
        changed = false;
        for (uint32_t o = 0; o < region->order_count; o++) {
            uint32_t i = region->order[o], target;
            uint32_t set = must->vpa->flow->node_set[region_node(region, i)];

            for (uint32_t e = region->edge_start[i]; e < region->edge_start[i + 1]; e++) {
                if (!region_takes(must, region, i, &region->edges[e], &target))
                    continue;
                uint64_t *to = region->sets + (size_t)target * words;
                memcpy(out, region->sets + (size_t)i * words, words * sizeof(*out));
                add_call(must, region, set, region->edges[e].flags, out);
                set_bit(out, own_bit(must, region, target));
                if (region->seen[target])
                    changed |= meet(to, out, words);
                else {
                    memcpy(to, out, words * sizeof(*out));
                    region->seen[target] = changed = true;
                }
            }
        }
    }
    free(out);
}

static void region_deinit(struct region *region)
{
    free(region->keep);
    free(region->closed);
    free(region->sets);
    free(region->seen);
    free(region->order);
}

// ---- Completed calls

// Meets into `end` what is certain at node i, then behind its call where the function ends by that.
static void meet_end(const struct must *must, const struct region *region, uint32_t i, bool by_call,
                     uint64_t *end, bool *any)
{
    uint32_t words = region->words;
    uint64_t *out = xmalloc_array(words + 1u, sizeof(*out));

    memcpy(out, region->sets + (size_t)i * words, words * sizeof(*out));
    if (by_call)
        add_call(must, region, must->vpa->flow->node_set[region_node(region, i)], FLOW_LANDS, out);
    if (*any)
        meet(end, out, words);
    else
        memcpy(end, out, words * sizeof(*out));
    *any = true;
    free(out);
}

static void ends_of_region(const struct must *must, const struct region *region, enum end_kind kind,
                           uint64_t *end)
{
    const struct vpa *vpa = must->vpa;
    bool any = false;

    memset(end, 0, region->words * sizeof(*end));
    for (uint32_t o = 0; o < region->order_count; o++) {
        uint32_t i = region->order[o], node = region_node(region, i);
        uint32_t flags = vpa->flow->node_flags[node];

        if (kind == END_JUMP && vpa->complete.signal_ends & FLOW_LANDS) {
            meet_end(must, region, i, false, end, &any);
            continue;
        }
        if (region->closed[i])
            continue;
        if (flags & (kind == END_RETURN ? FLOW_RETURNS : FLOW_JUMPS))
            meet_end(must, region, i, false, end, &any);
        else if (kind == END_JUMP && vpa->complete.set_ends[vpa->flow->node_set[node]] & FLOW_LANDS)
            meet_end(must, region, i, true, end, &any);
    }
}

static void function_region(const struct must *must, uint32_t function, struct region *region)
{
    const struct vpa *vpa = must->vpa;
    const struct flow_function *f = &vpa->flow->functions[function];

    *region = (struct region){.function = function,
                              .count = f->node_count,
                              .first_node = f->first_node,
                              .edge_start = vpa->flow->edge_start + f->first_node,
                              .edges = vpa->flow->edges,
                              .target_base = f->first_node,
                              .words = must->function_words + words_for(f->node_count)};
    region->keep = xcalloc(f->node_count + 1u, sizeof(bool));
    region->closed = xcalloc(f->node_count + 1u, sizeof(bool));
    for (uint32_t i = 0; i < f->node_count; i++) {
        region->keep[i] = bitset_test(&vpa->useful, f->first_node + i);
        region->closed[i] = bitset_test(vpa->problem->closed, f->first_node + i);
    }
}

// Looks at a function again; whether anything was taken away.
static bool refine_function(struct must *must, uint32_t function)
{
    const struct flow_function *f = &must->vpa->flow->functions[function];
    struct certain *certain = &must->certain[must->slot[function]];
    uint32_t start = f->entry - f->first_node;
    struct region region;
    bool changed = false;

    function_region(must, function, &region);
    region_solve(must, &region, &start, 1);
    uint64_t *end = xmalloc_array(region.words + 1u, sizeof(*end));
    for (uint32_t kind = 0; kind < END_KINDS; kind++) {
        uint32_t how = kind == END_RETURN ? FLOW_BEHIND : FLOW_LANDS;

        if (!(must->vpa->function_needed[function] & how))
            continue;
        ends_of_region(must, &region, kind, end);
        changed |= meet(certain->functions[kind], end, must->function_words);
        changed |= meet(certain->own[kind], end + must->function_words,
                        region.words - must->function_words);
    }
    free(end);
    region_deinit(&region);
    return changed;
}

// Callees before callers, as far as there is no recursion: postorder over the needed calls.
static void order_functions(struct must *must)
{
    const struct vpa *vpa = must->vpa;
    const struct flow *flow = vpa->flow;
    uint32_t *stack = xmalloc_array(3u * flow->function_count + 3u, sizeof(*stack)), top = 0;
    bool *seen = xcalloc(flow->function_count + 1u, sizeof(*seen));
    struct bitset set_seen;
    uint32_t done = 0;

    bitset_init(&set_seen, flow->set_count + 1u);
    for (uint32_t r = 0; r < vpa->needed_count; r++) {
        uint32_t root = vpa->needed[r];

        if (seen[root])
            continue;
        seen[root] = true;
        stack[top++] = root;
        stack[top++] = flow->functions[root].first_node;
        stack[top++] = 0;
        while (top) {
            uint32_t f = stack[top - 3], n = stack[top - 2], m = stack[top - 1];
            const struct flow_function *function = &flow->functions[f];
            uint32_t set = n < function->first_node + function->node_count ? flow->node_set[n] : 0;

            if (n == function->first_node + function->node_count) {
                must->order[done++] = f;
                top -= 3;
                continue;
            }
            if (m == 0 && set && bitset_test_and_set(&set_seen, set))
                set = 0;
            if (!set || m == flow_set(flow, set).count) {
                stack[top - 2]++;
                stack[top - 1] = 0;
                continue;
            }
            stack[top - 1]++;
            uint32_t g = flow_set(flow, set).data[m];
            if (seen[g] || must->slot[g] == FLOW_NONE)
                continue;
            seen[g] = true;
            stack[top++] = g;
            stack[top++] = flow->functions[g].first_node;
            stack[top++] = 0;
        }
    }
    free(stack);
    free(seen);
    bitset_deinit(&set_seen);
}

static void mark_callers(const struct must *must, uint32_t function, bool *dirty)
{
    const struct vpa *vpa = must->vpa;

    for (uint32_t i = vpa->complete.in_start[function]; i < vpa->complete.in_start[function + 1];
         i++) {
        uint32_t set = vpa->complete.in_sets[i];

        if (!vpa->set_needed[set])
            continue;
        for (uint32_t c = vpa->caller_start[set]; c < vpa->caller_start[set + 1]; c++)
            dirty[vpa->flow->node_function[vpa->callers[c]]] = true;
    }
}

static void refine_functions(struct must *must)
{
    struct vpa *vpa = must->vpa;
    bool *dirty = xmalloc_array(vpa->flow->function_count + 1u, sizeof(*dirty));

    memset(dirty, 1, vpa->flow->function_count * sizeof(*dirty));
    order_functions(must);
    for (bool again = true; again && !budget_is_spent(vpa->budget);) {
        again = false;
        for (uint32_t o = 0; o < vpa->needed_count && !budget_is_spent(vpa->budget); o++) {
            uint32_t f = must->order[o];

            if (!dirty[f])
                continue;
            dirty[f] = false;
            if (!refine_function(must, f))
                continue;
            again = true;
            mark_callers(must, f, dirty);
        }
    }
    free(dirty);
}

// ---- Activations

static void view_region(const struct must *must, const struct view *view, const uint8_t *reach,
                        struct region *region)
{
    const struct vpa *vpa = must->vpa;

    *region = (struct region){
        .function = view->function,
        .count = view->count,
        .node = view->node,
        .edge_start = view->edge_start,
        .edges = view->edges,
        .words = must->function_words + words_for(vpa->flow->functions[view->function].node_count)};
    region->keep = xcalloc(view->count + 1u, sizeof(bool));
    region->closed = xcalloc(view->count + 1u, sizeof(bool));
    for (uint32_t i = 0; i < view->count; i++) {
        region->keep[i] = reach[i] == VIEW_USEFUL;
        region->closed[i] = view->closed[i] || bitset_test(vpa->problem->closed, view->node[i]);
    }
}

static void must_of_view(struct must *must, const struct view *view, struct bitset *nodes,
                         uint64_t *functions)
{
    const struct flow_function *f = &must->vpa->flow->functions[view->function];
    uint8_t *reach = vpa_view_reach(must->vpa, view);
    struct region region;
    bool any = false;

    if (!reach)
        return;
    view_region(must, view, reach, &region);
    region_solve(must, &region, view->start, view->start_count);
    uint64_t *end = xcalloc(region.words + 1u, sizeof(*end));
    for (uint32_t i = 0; i < view->end_count; i++)
        if (reach[view->end[i]] == VIEW_USEFUL)
            meet_end(must, &region, view->end[i], false, end, &any);
    for (uint32_t n = 0; n < f->node_count; n++)
        if (has_bit(end + must->function_words, n))
            bitset_set(nodes, f->first_node + n);
    join(functions, end, must->function_words);
    free(end);
    free(reach);
    region_deinit(&region);
}

// ----

static void must_init(struct must *must, struct vpa *vpa)
{
    const struct flow *flow = vpa->flow;

    *must = (struct must){.vpa = vpa, .function_words = words_for(vpa->needed_count)};
    must->slot = xmalloc_array(flow->function_count + 1u, sizeof(uint32_t));
    memset(must->slot, 0xff, flow->function_count * sizeof(uint32_t));
    must->certain = xcalloc(vpa->needed_count + 1u, sizeof(*must->certain));
    must->order = xmalloc_array(vpa->needed_count + 1u, sizeof(uint32_t));
    must->of_set = xcalloc(must->function_words + 1u, sizeof(uint64_t));
    must->of_set_other = xcalloc(must->function_words + 1u, sizeof(uint64_t));
    for (uint32_t s = 0; s < vpa->needed_count; s++) {
        uint32_t f = vpa->needed[s], own = words_for(flow->functions[f].node_count);

        must->slot[f] = s;
        for (uint32_t kind = 0; kind < END_KINDS; kind++) {
            must->certain[s].functions[kind] =
                xmalloc_array(must->function_words + 1u, sizeof(uint64_t));
            must->certain[s].own[kind] = xmalloc_array(own + 1u, sizeof(uint64_t));
            memset(must->certain[s].functions[kind], 0xff, must->function_words * sizeof(uint64_t));
            memset(must->certain[s].own[kind], 0xff, own * sizeof(uint64_t));
        }
    }
}

static void must_deinit(struct must *must)
{
    for (uint32_t s = 0; s < must->vpa->needed_count; s++)
        for (uint32_t kind = 0; kind < END_KINDS; kind++) {
            free(must->certain[s].functions[kind]);
            free(must->certain[s].own[kind]);
        }
    free(must->certain);
    free(must->slot);
    free(must->order);
    free(must->of_set);
    free(must->of_set_other);
}

// The nodes that every completed call of the certain functions runs.
static void add_completed(const struct must *must, const uint64_t *functions, struct bitset *nodes)
{
    const struct vpa *vpa = must->vpa;

    for (uint32_t s = 0; s < vpa->needed_count; s++) {
        const struct flow_function *f = &vpa->flow->functions[vpa->needed[s]];

        for (uint32_t n = 0; has_bit(functions, s) && n < f->node_count; n++)
            if (has_bit(must->certain[s].own[END_RETURN], n))
                bitset_set(nodes, f->first_node + n);
    }
}

void vpa_must(struct vpa *vpa, struct bitset *nodes)
{
    struct must must;

    must_init(&must, vpa);
    uint64_t *functions = xcalloc(must.function_words + 1u, sizeof(*functions));
    refine_functions(&must);
    for (uint32_t i = 0; i < vpa->distinct_count; i++) {
        const struct view *view = vpa->problem->views[vpa->distinct[i]];

        if (view->function != FLOW_NONE && !budget_is_spent(vpa->budget))
            must_of_view(&must, view, nodes, functions);
    }
    add_completed(&must, functions, nodes);
    // before they are settled, the sets are too large
    if (vpa->budget->state != BUDGET_LEFT)
        bitset_clear_all(nodes);
    free(functions);
    must_deinit(&must);
}

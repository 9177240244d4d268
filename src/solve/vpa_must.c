// SPDX-License-Identifier: Apache-2.0
/*
 * What must have run: sets passed along edges, met where edges join.
 *
 * A set holds nodes of the function that is looked at, and functions: those of which a call has
 * certainly been completed. Which nodes of another function ran follows from that alone: a node of
 * g is certain in a completed call of g, or this call could have gone without it, and so could all
 * others, whoever called. Only functions that one run completes (vpa_sample.c) can be certain, and
 * sets hold no others but the activations' own, so they stay small however large the program is.
 * One pass over each function with the results of its callees gives its own. Recursion: begin with
 * everything and take away until nothing changes, which leaves what all finite runs share.
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

struct must {
    struct vpa *vpa;
    uint32_t *slot;    // by function: its place in sets; FLOW_NONE: it is in none
    uint32_t *sampled; // by slot: the function
    uint32_t slot_count, function_words;
    // What is certain when a call has ended. Functions: of a needed function, and of all of a set.
    uint64_t *of_function[END_KINDS]; // by number, function_words each
    uint64_t *of_set[END_KINDS];
    uint64_t **own[END_KINDS]; // by slot: nodes of the function
    uint64_t *scratch;
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
    uint32_t words; // of a set: functions, then own nodes if anybody asks for them
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

static const uint32_t flag_of_end[END_KINDS] = {FLOW_BEHIND, FLOW_LANDS};

static uint64_t *words_at(const struct must *must, uint64_t *words, uint32_t index)
{
    return words + (size_t)index * must->function_words;
}

// Functions that are certain when a call of the set has ended in this way. NULL: none ends so.
static const uint64_t *certain_of_set(const struct must *must, uint32_t set, enum end_kind kind)
{
    if (!(must->vpa->complete.set_ends[set] & flag_of_end[kind]))
        return NULL;
    return words_at(must, must->of_set[kind], set);
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
    const uint64_t *functions = NULL, *jumps = NULL;

    if (flags & FLOW_PAST || !set ||
        (flags & FLOW_LANDS && must->vpa->complete.signal_ends & FLOW_LANDS))
        return;
    if (flags & FLOW_BEHIND)
        functions = certain_of_set(must, set, END_RETURN);
    if (flags & FLOW_LANDS)
        jumps = certain_of_set(must, set, END_JUMP);
    if (functions && jumps) {
        memcpy(must->scratch, functions, must->function_words * sizeof(*functions));
        meet(must->scratch, jumps, must->function_words);
        functions = must->scratch;
    } else if (jumps)
        functions = jumps;
    if (!functions)
        return;
    join(words, functions, must->function_words);
    uint32_t slot = must->slot[region->function];
    if (slot != FLOW_NONE && has_bit(functions, slot))
        join(words + must->function_words, must->own[END_RETURN][slot],
             region->words - must->function_words);
}

// Node i is certain where control is at it.
static void add_own(const struct must *must, const struct region *region, uint32_t i,
                    uint64_t *words)
{
    uint32_t first = must->vpa->flow->functions[region->function].first_node;

    if (region->words > must->function_words)
        set_bit(words + must->function_words, region_node(region, i) - first);
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
        add_own(must, region, starts[s], region->sets + (size_t)starts[s] * words);
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
                add_own(must, region, target, out);
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
                              .words = must->function_words};
    if (must->slot[function] != FLOW_NONE)
        region->words += words_for(f->node_count);
    region->keep = xcalloc(f->node_count + 1u, sizeof(bool));
    region->closed = xcalloc(f->node_count + 1u, sizeof(bool));
    for (uint32_t i = 0; i < f->node_count; i++) {
        region->keep[i] = bitset_test(&vpa->useful, f->first_node + i);
        region->closed[i] = bitset_test(vpa->problem->closed, f->first_node + i);
    }
}

// A function has lost some: so have the sets that it is in.
static void lower_sets(struct must *must, uint32_t function, enum end_kind kind)
{
    const struct vpa *vpa = must->vpa;
    uint64_t *words = must->scratch;
    uint32_t slot = must->slot[function];

    memcpy(words, words_at(must, must->of_function[kind], function),
           must->function_words * sizeof(*words));
    if (kind == END_RETURN && slot != FLOW_NONE)
        set_bit(words, slot);
    for (uint32_t i = vpa->complete.in_start[function]; i < vpa->complete.in_start[function + 1];
         i++)
        meet(words_at(must, must->of_set[kind], vpa->complete.in_sets[i]), words,
             must->function_words);
}

// Looks at a function again; whether anything was taken away.
static bool refine_function(struct must *must, uint32_t function)
{
    const struct flow_function *f = &must->vpa->flow->functions[function];
    uint32_t start = f->entry - f->first_node, slot = must->slot[function];
    struct region region;
    bool changed = false;

    function_region(must, function, &region);
    region_solve(must, &region, &start, 1);
    uint64_t *end = xmalloc_array(region.words + 1u, sizeof(*end));
    for (uint32_t kind = 0; kind < END_KINDS; kind++) {
        if (!(must->vpa->function_needed[function] & flag_of_end[kind]))
            continue;
        ends_of_region(must, &region, kind, end);
        if (meet(words_at(must, must->of_function[kind], function), end, must->function_words)) {
            lower_sets(must, function, kind);
            changed = true;
        }
        if (slot != FLOW_NONE)
            changed |= meet(must->own[kind][slot], end + must->function_words,
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
            if (seen[g] || !vpa->function_needed[g])
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

static void number_slots(struct must *must)
{
    const struct vpa *vpa = must->vpa;
    struct bitset sample;

    bitset_init(&sample, vpa->flow->function_count);
    vpa_sample(vpa, &sample);
    // a pending activation may run a node of its own, or complete a call of itself that does
    for (uint32_t i = 0; i < vpa->distinct_count; i++)
        if (vpa->problem->views[vpa->distinct[i]]->function != FLOW_NONE)
            bitset_set(&sample, vpa->problem->views[vpa->distinct[i]]->function);
    must->slot = xmalloc_array(vpa->flow->function_count + 1u, sizeof(uint32_t));
    must->sampled = xmalloc_array(vpa->needed_count + 1u, sizeof(uint32_t));
    memset(must->slot, 0xff, vpa->flow->function_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < vpa->needed_count; i++)
        if (bitset_test(&sample, vpa->needed[i])) {
            must->slot[vpa->needed[i]] = must->slot_count;
            must->sampled[must->slot_count++] = vpa->needed[i];
        }
    must->function_words = words_for(must->slot_count);
    bitset_deinit(&sample);
}

// What a function that ends so, and is not needed, makes certain: that cannot be, so nothing.
static void lower_unneeded(struct must *must)
{
    const struct vpa *vpa = must->vpa;

    for (uint32_t f = 0; f < vpa->flow->function_count; f++)
        for (uint32_t kind = 0; kind < END_KINDS; kind++)
            if (vpa->complete.function_ends[f] & ~vpa->function_needed[f] & flag_of_end[kind]) {
                memset(words_at(must, must->of_function[kind], f), 0,
                       must->function_words * sizeof(uint64_t));
                lower_sets(must, f, kind);
            }
}

static uint64_t *all_ones(size_t count)
{
    uint64_t *words = xmalloc_array(count + 1u, sizeof(*words));

    memset(words, 0xff, count * sizeof(*words));
    return words;
}

static void must_init(struct must *must, struct vpa *vpa)
{
    const struct flow *flow = vpa->flow;

    *must = (struct must){.vpa = vpa};
    number_slots(must);
    must->order = xmalloc_array(vpa->needed_count + 1u, sizeof(uint32_t));
    must->scratch = xcalloc(must->function_words + 1u, sizeof(uint64_t));
    for (uint32_t kind = 0; kind < END_KINDS; kind++) {
        must->of_function[kind] = all_ones((size_t)flow->function_count * must->function_words);
        must->of_set[kind] = all_ones((size_t)flow->set_count * must->function_words);
        must->own[kind] = xmalloc_array(must->slot_count + 1u, sizeof(uint64_t *));
        for (uint32_t s = 0; s < must->slot_count; s++)
            must->own[kind][s] = all_ones(words_for(flow->functions[must->sampled[s]].node_count));
    }
    lower_unneeded(must);
}

static void must_deinit(struct must *must)
{
    for (uint32_t kind = 0; kind < END_KINDS; kind++) {
        for (uint32_t s = 0; s < must->slot_count; s++)
            free(must->own[kind][s]);
        free(must->own[kind]);
        free(must->of_function[kind]);
        free(must->of_set[kind]);
    }
    free(must->slot);
    free(must->sampled);
    free(must->order);
    free(must->scratch);
}

// The nodes that every completed call of the certain functions runs.
static void add_completed(const struct must *must, const uint64_t *functions, struct bitset *nodes)
{
    const struct vpa *vpa = must->vpa;

    for (uint32_t s = 0; s < must->slot_count; s++) {
        const struct flow_function *f = &vpa->flow->functions[must->sampled[s]];

        for (uint32_t n = 0; has_bit(functions, s) && n < f->node_count; n++)
            if (has_bit(must->own[END_RETURN][s], n))
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

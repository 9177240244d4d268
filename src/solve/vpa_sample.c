// SPDX-License-Identifier: Apache-2.0
/*
 * One run that fits, with few calls: only what it completes can be certain, whatever the others do.
 *
 * Every node has a cost, the calls that are completed from its function's entry to it, and so has
 * every set of callees, the cheapest of its members' ends (Knuth: A generalization of Dijkstra's
 * algorithm). Nodes are looked at by rising cost, so what a cost is made of is always settled
 * before it and the way back ends. Costs above the last level count as equal: a run is found all
 * the same, though a larger one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/vec.h"
#include "solve/view.h"
#include "solve/vpa_internal.h"

#define LEVELS  1024u
#define UNKNOWN UINT16_MAX

VEC_DEFINE(level_vec, uint32_t);

// Nodes, or copies of a view, by cost.
struct levels {
    struct level_vec at[LEVELS];
    uint32_t lowest; // none is below
};

// How an edge is taken: past the node's call, or by the end of a callee.
enum way {
    WAY_RETURN, // these two are also how calls end
    WAY_JUMP,
    WAY_KINDS,
    WAY_PAST = WAY_KINDS,
};

static const uint32_t flag_of_way[WAY_KINDS] = {FLOW_BEHIND, FLOW_LANDS};

// Where control comes from.
struct step {
    uint32_t from; // FLOW_NONE: from nowhere, it begins here
    uint16_t cost;
    uint8_t way;
    bool done;
};

struct sample {
    const struct vpa *vpa;
    struct levels levels;
    struct step *steps;          // by node
    uint32_t *end[WAY_KINDS];    // by function: the node where it ends; FLOW_NONE
    uint16_t *cost[WAY_KINDS];   // by set
    uint32_t *choice[WAY_KINDS]; // by set: the member
    struct bitset marked[WAY_KINDS];
    struct level_vec work; // functions to go back through: number times WAY_KINDS, plus the way
};

static void levels_push(struct levels *levels, struct step *steps, uint32_t id, struct step step)
{
    if (steps[id].done || steps[id].cost <= step.cost)
        return;
    steps[id] = step;
    level_vec_push(&levels->at[step.cost], id);
    if (step.cost < levels->lowest)
        levels->lowest = step.cost;
}

// The next that is not done, which it is then. False: there is none.
static bool levels_pop(struct levels *levels, struct step *steps, uint32_t *ret)
{
    for (; levels->lowest < LEVELS; levels->lowest++)
        while (levels->at[levels->lowest].length) {
            struct level_vec *level = &levels->at[levels->lowest];
            uint32_t id = level->data[--level->length];

            if (steps[id].done)
                continue;
            steps[id].done = true;
            *ret = id;
            return true;
        }
    return false;
}

static void levels_clear(struct levels *levels)
{
    for (uint32_t l = 0; l < LEVELS; l++)
        levels->at[l].length = 0;
    levels->lowest = 0;
}

static uint16_t add_costs(uint32_t a, uint32_t b)
{
    return (uint16_t)(a + b < LEVELS ? a + b : LEVELS - 1);
}

static struct step *steps_create(uint32_t count)
{
    struct step *steps = xmalloc_array(count + 1u, sizeof(*steps));

    for (uint32_t i = 0; i < count; i++)
        steps[i] = (struct step){FLOW_NONE, UNKNOWN, WAY_PAST, false};
    return steps;
}

// The cheapest way over an edge out of `node`, and what it costs. False: there is none yet.
static bool way_over(const struct sample *sample, uint32_t node, uint32_t flags, uint8_t *way,
                     uint16_t *cost)
{
    uint32_t set = sample->vpa->flow->node_set[node];

    *way = WAY_PAST;
    *cost = 0;
    if (flags & FLOW_PAST || (flags & FLOW_LANDS && sample->vpa->complete.signal_ends & FLOW_LANDS))
        return true;
    *cost = UNKNOWN;
    for (uint8_t w = 0; set && w < WAY_KINDS; w++)
        if (flags & flag_of_way[w] && sample->cost[w][set] < *cost) {
            *way = w;
            *cost = sample->cost[w][set];
        }
    return *cost != UNKNOWN;
}

// ---- Costs

static void go_on(struct sample *sample, uint32_t node)
{
    const struct flow *flow = sample->vpa->flow;
    struct flow_edges next = flow_edges(flow, node);
    uint16_t cost;
    uint8_t way;

    for (uint32_t k = 0; k < next.count; k++)
        if (way_over(sample, node, next.data[k].flags, &way, &cost))
            levels_push(&sample->levels, sample->steps, next.data[k].target,
                        (struct step){node, add_costs(sample->steps[node].cost, cost), way, false});
}

// A callee of the node has ended in this way, for the first time.
static void callee_ended(struct sample *sample, uint32_t node, enum way way)
{
    const struct vpa *vpa = sample->vpa;

    if (!sample->steps[node].done || bitset_test(vpa->problem->closed, node))
        return;
    go_on(sample, node);
    if (way == WAY_JUMP) // what it calls is left by a jump, and so is it
        level_vec_push(&sample->work, node);
}

static void function_ends(struct sample *sample, uint32_t function, enum way way, uint32_t node,
                          uint32_t cost)
{
    const struct vpa *vpa = sample->vpa;

    if (sample->end[way][function] != FLOW_NONE)
        return;
    sample->end[way][function] = node;
    for (uint32_t i = vpa->complete.in_start[function]; i < vpa->complete.in_start[function + 1];
         i++) {
        uint32_t set = vpa->complete.in_sets[i];

        if (sample->cost[way][set] != UNKNOWN)
            continue;
        sample->cost[way][set] = add_costs(cost, 1);
        sample->choice[way][set] = function;
        for (uint32_t c = vpa->caller_start[set]; c < vpa->caller_start[set + 1]; c++)
            callee_ended(sample, vpa->callers[c], way);
    }
}

// Chains of jumps are as long as the call graph is deep: not by recursion.
static void follow_jumps(struct sample *sample)
{
    const struct flow *flow = sample->vpa->flow;

    while (sample->work.length) {
        uint32_t node = sample->work.data[--sample->work.length];
        uint32_t cost = sample->cost[WAY_JUMP][flow->node_set[node]];

        function_ends(sample, flow->node_function[node], WAY_JUMP, node,
                      add_costs(sample->steps[node].cost, cost));
    }
}

static void look_at(struct sample *sample, uint32_t node)
{
    const struct vpa *vpa = sample->vpa;
    const struct flow *flow = vpa->flow;
    uint32_t function = flow->node_function[node], cost = sample->steps[node].cost;
    bool interrupted = vpa->complete.signal_ends & FLOW_LANDS;

    if (interrupted)
        function_ends(sample, function, WAY_JUMP, node, cost);
    if (bitset_test(vpa->problem->closed, node))
        return;
    go_on(sample, node);
    if (flow->node_flags[node] & FLOW_RETURNS)
        function_ends(sample, function, WAY_RETURN, node, cost);
    if (flow->node_flags[node] & FLOW_JUMPS)
        function_ends(sample, function, WAY_JUMP, node, cost);
    if (sample->cost[WAY_JUMP][flow->node_set[node]] != UNKNOWN)
        level_vec_push(&sample->work, node);
    follow_jumps(sample);
}

static void find_costs(struct sample *sample)
{
    const struct flow *flow = sample->vpa->flow;
    uint32_t node;

    for (uint32_t f = 0; f < flow->function_count; f++)
        if (flow->functions[f].node_count)
            levels_push(&sample->levels, sample->steps, flow->functions[f].entry,
                        (struct step){FLOW_NONE, 0, WAY_PAST, false});
    while (levels_pop(&sample->levels, sample->steps, &node))
        look_at(sample, node);
}

// ---- The run

// A call of the set ends in this way, by the member that was chosen.
static void mark_set(struct sample *sample, uint32_t set, enum way way)
{
    uint32_t function = sample->choice[way][set];

    if (!bitset_test_and_set(&sample->marked[way], function))
        level_vec_push(&sample->work, function * WAY_KINDS + way);
}

// The way back from the end of a call. It may end by its last node's own call.
static void mark_call(struct sample *sample, uint32_t function, enum way way)
{
    const struct flow *flow = sample->vpa->flow;
    uint32_t node = sample->end[way][function];
    bool by_itself =
        sample->vpa->complete.signal_ends & FLOW_LANDS || flow->node_flags[node] & FLOW_JUMPS;

    if (way == WAY_JUMP && !by_itself)
        mark_set(sample, flow->node_set[node], WAY_JUMP);
    for (; sample->steps[node].from != FLOW_NONE; node = sample->steps[node].from)
        if (sample->steps[node].way != WAY_PAST)
            mark_set(sample, flow->node_set[sample->steps[node].from],
                     (enum way)sample->steps[node].way);
}

// The cheapest way through an activation.
static void mark_view(struct sample *sample, const struct view *view)
{
    struct step *steps = steps_create(view->count);
    bool *is_end = xcalloc(view->count + 1u, sizeof(*is_end));
    uint32_t copy, at = FLOW_NONE;
    uint16_t cost;
    uint8_t way;

    levels_clear(&sample->levels);
    for (uint32_t i = 0; i < view->end_count; i++)
        is_end[view->end[i]] = true;
    for (uint32_t i = 0; i < view->start_count; i++)
        levels_push(&sample->levels, steps, view->start[i],
                    (struct step){FLOW_NONE, 0, WAY_PAST, false});
    while (at == FLOW_NONE && levels_pop(&sample->levels, steps, &copy)) {
        uint32_t node = view->node[copy];

        if (is_end[copy])
            at = copy;
        if (view->closed[copy] || bitset_test(sample->vpa->problem->closed, node))
            continue;
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (way_over(sample, node, view->edges[e].flags, &way, &cost))
                levels_push(&sample->levels, steps, view->edges[e].target,
                            (struct step){copy, add_costs(steps[copy].cost, cost), way, false});
    }
    for (; at != FLOW_NONE; at = steps[at].from)
        if (steps[at].way != WAY_PAST)
            mark_set(sample, sample->vpa->flow->node_set[view->node[steps[at].from]],
                     (enum way)steps[at].way);
    free(steps);
    free(is_end);
}

static void sample_init(struct sample *sample, const struct vpa *vpa)
{
    const struct flow *flow = vpa->flow;

    *sample = (struct sample){.vpa = vpa, .steps = steps_create(flow->node_count)};
    for (uint32_t w = 0; w < WAY_KINDS; w++) {
        sample->end[w] = xmalloc_array(flow->function_count + 1u, sizeof(uint32_t));
        sample->cost[w] = xmalloc_array(flow->set_count + 1u, sizeof(uint16_t));
        sample->choice[w] = xmalloc_array(flow->set_count + 1u, sizeof(uint32_t));
        memset(sample->end[w], 0xff, flow->function_count * sizeof(uint32_t));
        memset(sample->cost[w], 0xff, flow->set_count * sizeof(uint16_t));
        bitset_init(&sample->marked[w], flow->function_count);
    }
}

static void sample_deinit(struct sample *sample)
{
    for (uint32_t l = 0; l < LEVELS; l++)
        level_vec_deinit(&sample->levels.at[l]);
    for (uint32_t w = 0; w < WAY_KINDS; w++) {
        free(sample->end[w]);
        free(sample->cost[w]);
        free(sample->choice[w]);
        bitset_deinit(&sample->marked[w]);
    }
    level_vec_deinit(&sample->work);
    free(sample->steps);
}

void vpa_sample(const struct vpa *vpa, struct bitset *functions)
{
    struct sample sample;

    sample_init(&sample, vpa);
    find_costs(&sample);
    for (uint32_t i = 0; i < vpa->distinct_count; i++)
        if (vpa->problem->views[vpa->distinct[i]]->function != FLOW_NONE)
            mark_view(&sample, vpa->problem->views[vpa->distinct[i]]);
    while (sample.work.length) {
        uint32_t call = sample.work.data[--sample.work.length];

        mark_call(&sample, call / WAY_KINDS, (enum way)(call % WAY_KINDS));
    }
    bitset_copy(functions, &sample.marked[WAY_RETURN]);
    sample_deinit(&sample);
}

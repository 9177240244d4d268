// SPDX-License-Identifier: Apache-2.0
// Who calls whom, and which calls may not come back. Linear in the program; made once.
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

#define STAYING_FLAGS (SITE_NORETURN | SITE_LONGJMP | SITE_MAY_LONGJMP | SITE_EXITS)
#define JUMPING_FLAGS (SITE_LONGJMP | SITE_MAY_LONGJMP)

bool edge_is_real(const struct model *model, struct node_id from, struct node_id to)
{
    struct site_id site = model_node(model, from)->site;

    return site.value == MODEL_NONE || !(model_site(model, site)->flags & SITE_NORETURN) ||
           model_node(model, to)->flags & NODE_LANDING;
}

static bool site_jumps(const struct call_graph *calls, uint32_t flags)
{
    return flags & JUMPING_FLAGS ||
           (calls->has_pads && flags & SITE_EXTERNAL && !(flags & SITE_NOUNWIND));
}

// Of the site itself or of whatever it enters.
static bool site_meets(const struct dependence *dependence, struct site_id site,
                       const struct bitset *nodes)
{
    const struct callee_table *table = &dependence->model->callees;
    uint32_t callees = dependence->calls.node_of_set[table->callees_of_site[site.value]];
    uint32_t callbacks = dependence->calls.node_of_set[table->callbacks_of_site[site.value]];

    return (callees != DIGRAPH_NONE && bitset_test(nodes, callees)) ||
           (callbacks != DIGRAPH_NONE && bitset_test(nodes, callbacks));
}

bool call_may_stay(const struct dependence *dependence, struct node_id node)
{
    struct site_id site = model_node(dependence->model, node)->site;

    return site.value != MODEL_NONE &&
           (model_site(dependence->model, site)->flags & STAYING_FLAGS ||
            site_meets(dependence, site, &dependence->calls.stays));
}

bool call_may_jump(const struct dependence *dependence, struct node_id node)
{
    struct site_id site = model_node(dependence->model, node)->site;

    return site.value != MODEL_NONE &&
           (site_jumps(&dependence->calls, model_site(dependence->model, site)->flags) ||
            site_meets(dependence, site, &dependence->calls.jumps));
}

bool dependence_may_stay(const struct dependence *dependence, struct function_id function)
{
    assert(function.value < dependence->model->function_count);
    return bitset_test(&dependence->calls.stays, function.value);
}

bool dependence_may_jump(const struct dependence *dependence, struct function_id function)
{
    assert(function.value < dependence->model->function_count);
    return bitset_test(&dependence->calls.jumps, function.value);
}

// ---- The graph

static void add_sets(struct call_graph *calls, const struct model *model)
{
    const struct callee_table *table = &model->callees;
    uint32_t next = model->function_count;

    calls->node_of_set = xmalloc_array(table->set_count + 1u, sizeof(uint32_t));
    for (uint32_t s = 0; s < table->set_count; s++) {
        struct function_list members = callee_table_set(table, s);
        calls->node_of_set[s] = members.count == 0   ? DIGRAPH_NONE
                                : members.count == 1 ? members.data[0].value
                                                     : next++;
    }
    digraph_init(&calls->graph, next + 1);
    for (uint32_t s = 0; s < table->set_count; s++) {
        struct function_list members = callee_table_set(table, s);
        for (uint32_t i = 0; members.count > 1 && i < members.count; i++)
            digraph_add(&calls->graph, calls->node_of_set[s], members.data[i].value);
    }
}

static void add_sites(struct call_graph *calls, const struct model *model)
{
    for (uint32_t s = 0; s < model->site_count; s++) {
        uint32_t caller = model_site_function(model, (struct site_id){s}).value;
        uint32_t callees = calls->node_of_set[model->callees.callees_of_site[s]];
        uint32_t callbacks = calls->node_of_set[model->callees.callbacks_of_site[s]];
        if (callees != DIGRAPH_NONE)
            digraph_add(&calls->graph, caller, callees);
        if (callbacks != DIGRAPH_NONE)
            digraph_add(&calls->graph, caller, callbacks);
    }
}

// ---- What a function does by itself

struct reach { // of one function's nodes
    uint32_t *stack, top;
    struct bitset seen;
};

static void reach_push(struct reach *reach, uint32_t node)
{
    if (!bitset_test_and_set(&reach->seen, node))
        reach->stack[reach->top++] = node;
}

static bool is_end(const struct model *model, struct node_id node)
{
    struct node_list next = model_successors(model, node);

    for (uint32_t i = 0; i < next.count; i++)
        if (edge_is_real(model, node, next.data[i]))
            return false;
    return true;
}

// Is there a reachable node from which no end can be reached?
static bool has_endless_loop(const struct model *model, const struct model_function *function)
{
    struct digraph reverse;
    struct reach forward = {.stack = xmalloc_array(function->node_count + 1u, sizeof(uint32_t))};
    struct reach backward = {.stack = xmalloc_array(function->node_count + 1u, sizeof(uint32_t))};

    digraph_init(&reverse, function->node_count);
    bitset_init(&forward.seen, function->node_count);
    bitset_init(&backward.seen, function->node_count);
    reach_push(&forward, 0);
    while (forward.top) {
        uint32_t n = forward.stack[--forward.top];
        struct node_id node = {function->first_node + n};
        struct node_list next = model_successors(model, node);
        if (is_end(model, node))
            reach_push(&backward, n);
        for (uint32_t i = 0; i < next.count; i++)
            if (edge_is_real(model, node, next.data[i])) {
                digraph_add(&reverse, next.data[i].value - function->first_node, n);
                reach_push(&forward, next.data[i].value - function->first_node);
            }
    }
    digraph_close(&reverse);
    while (backward.top) {
        uint32_t n = backward.stack[--backward.top];
        for (uint32_t e = reverse.start[n]; e < reverse.start[n + 1]; e++)
            reach_push(&backward, reverse.target[e]);
    }
    bool endless = !bitset_is_subset(&forward.seen, &backward.seen);
    digraph_deinit(&reverse);
    bitset_deinit(&forward.seen);
    bitset_deinit(&backward.seen);
    free(forward.stack);
    free(backward.stack);
    return endless;
}

// A loop needs an edge that does not lead forward.
static bool may_loop(const struct model *model, const struct model_function *function)
{
    for (uint32_t n = function->first_node; n < function->first_node + function->node_count; n++) {
        struct node_list next = model_successors(model, (struct node_id){n});
        for (uint32_t i = 0; i < next.count; i++)
            if (next.data[i].value <= n)
                return true;
    }
    return false;
}

static void look_at_function(struct call_graph *calls, const struct model *model, uint32_t f)
{
    const struct model_function *function = &model->functions[f];
    bool stays = false, jumps = false;

    for (uint32_t n = function->first_node; n < function->first_node + function->node_count; n++) {
        const struct model_node *node = &model->nodes[n];
        stays |= (node->flags & (NODE_UNREACHABLE | NODE_RESUME)) != 0;
        jumps |= (node->flags & NODE_RESUME) != 0;
        if (node->site.value == MODEL_NONE)
            continue;
        uint32_t flags = model_site(model, node->site)->flags;
        stays |= (flags & STAYING_FLAGS) != 0 || site_jumps(calls, flags);
        jumps |= site_jumps(calls, flags);
    }
    if (stays || (may_loop(model, function) && has_endless_loop(model, function)))
        bitset_set(&calls->stays, f);
    if (jumps)
        bitset_set(&calls->jumps, f);
}

// ---- Over the calls

static int compare_nodes(const void *a, const void *b, void *of_node)
{
    uint32_t x = ((const uint32_t *)of_node)[*(const uint32_t *)a];
    uint32_t y = ((const uint32_t *)of_node)[*(const uint32_t *)b];

    return x < y ? 1 : x > y ? -1 : *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

// Whoever calls a member is a member.
static void close_over_calls(const struct call_graph *calls, const uint32_t *order,
                             struct bitset *set)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < calls->graph.count; i++) {
            uint32_t n = order[i];
            for (uint32_t e = calls->graph.start[n];
                 !bitset_test(set, n) && e < calls->graph.start[n + 1]; e++)
                if (bitset_test(set, calls->graph.target[e])) {
                    bitset_set(set, n);
                    changed = true;
                }
        }
    }
}

static void find_aside(struct call_graph *calls, const struct model *model)
{
    struct reach reach = {.stack = xmalloc_array(calls->graph.count + 1u, sizeof(uint32_t))};

    bitset_init(&reach.seen, calls->graph.count);
    for (uint32_t r = 0; r < model->root_count; r++) {
        const struct root *root = &model->roots[r];
        if (root->reason != ROOT_THREAD && root->reason != ROOT_SIGNAL)
            continue;
        if (root->reason == ROOT_SIGNAL && bitset_test(&calls->jumps, root->function.value))
            calls->handler_jumps = true;
        calls->is_threaded = true;
        reach_push(&reach, root->function.value);
    }
    while (reach.top) {
        uint32_t n = reach.stack[--reach.top];
        for (uint32_t e = calls->graph.start[n]; e < calls->graph.start[n + 1]; e++)
            reach_push(&reach, calls->graph.target[e]);
    }
    bitset_resize(&reach.seen, model->function_count);
    calls->aside = reach.seen;
    free(reach.stack);
}

void call_graph_init(struct call_graph *calls, const struct model *model)
{
    *calls = (struct call_graph){0};
    for (uint32_t n = 0; n < model->node_count && !calls->has_pads; n++)
        calls->has_pads = (model->nodes[n].flags & NODE_LANDING) != 0;
    add_sets(calls, model);
    add_sites(calls, model);
    uint32_t root = calls->graph.count - 1;
    for (uint32_t n = 0; n < root; n++)
        digraph_add(&calls->graph, root, n);
    digraph_close(&calls->graph);
    components_init(&calls->components, &calls->graph, root, DIGRAPH_NONE);

    bitset_init(&calls->stays, calls->graph.count);
    bitset_init(&calls->jumps, calls->graph.count);
    for (uint32_t f = 0; f < model->function_count; f++)
        if (model->functions[f].node_count)
            look_at_function(calls, model, f);
    uint32_t *order = xmalloc_array(calls->graph.count, sizeof(*order));
    for (uint32_t n = 0; n < calls->graph.count; n++)
        order[n] = n;
    qsort_r(order, calls->graph.count, sizeof(*order), compare_nodes, calls->components.of_node);
    close_over_calls(calls, order, &calls->stays);
    close_over_calls(calls, order, &calls->jumps);
    free(order);
    find_aside(calls, model);
}

void call_graph_deinit(struct call_graph *calls)
{
    digraph_deinit(&calls->graph);
    components_deinit(&calls->components);
    free(calls->node_of_set);
    bitset_deinit(&calls->stays);
    bitset_deinit(&calls->jumps);
    bitset_deinit(&calls->aside);
}

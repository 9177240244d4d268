// SPDX-License-Identifier: Apache-2.0
#include "slice/active.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/digraph.h"
#include "ask/case.h"
#include "ask/coverage.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "common/worklist.h"
#include "program/model.h"
#include "slice/active_internal.h"

// ---- Edges of the model

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void number_edges(struct active *active)
{
    const struct model *model = active->ask->model;
    uint32_t count = 0;

    active->edge_start = xmalloc_array(model->node_count + 1u, sizeof(uint32_t));
    active->edge_target = xmalloc_array(model->edge_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < model->node_count; n++) {
        struct node_list next = model_successors(model, (struct node_id){n});
        uint32_t *own = active->edge_target + count, kept = 0;

        for (uint32_t k = 0; k < next.count; k++)
            own[k] = next.data[k].value;
        if (next.count)
            qsort(own, next.count, sizeof(*own), compare_ids);
        for (uint32_t k = 0; k < next.count; k++)
            if (!kept || own[kept - 1] != own[k])
                own[kept++] = own[k];
        active->edge_start[n] = count;
        count += kept;
    }
    active->edge_start[model->node_count] = active->edge_count = count;
}

uint32_t active_edge(const struct active *active, uint32_t from, uint32_t to)
{
    if (from >= active->ask->model->node_count)
        return ACTIVE_NONE;
    const uint32_t *own = active->edge_target + active->edge_start[from];
    const uint32_t *found =
        bsearch(&to, own, active->edge_start[from + 1] - active->edge_start[from], sizeof(*own),
                compare_ids);

    return found ? (uint32_t)(found - active->edge_target) : ACTIVE_NONE;
}

bool active_is_jump(const struct active *active, uint32_t from, uint32_t to)
{
    const struct ask_case *ask = active->ask;
    struct flow_edges next = flow_edges(ask->flow, from);

    if (from >= ask->model->node_count)
        return false;
    // jumps come behind the model's own
    for (uint32_t k = model_successors(ask->model, (struct node_id){from}).count; k < next.count;
         k++)
        if (next.data[k].target == to)
            return true;
    return false;
}

void active_cross(const struct active *active, uint32_t from, uint32_t to, uint32_t flags,
                  struct bitset *edges)
{
    const struct model *model = active->ask->model;
    uint32_t edge = active_edge(active, from, to);

    // the model's own edges can be crossed without a jump as well
    if (edge != ACTIVE_NONE && flags != FLOW_LANDS)
        bitset_set(edges, edge);
    if (!active_is_jump(active, from, to))
        return;
    for (uint32_t l = 0; l < model->landing_count; l++) {
        uint32_t call = model_site(model, model->landings[l])->node.value;

        edge = active_edge(active, call, to);
        if (edge != ACTIVE_NONE)
            bitset_set(edges, edge);
    }
}

// ---- Functions that were called

// How an activation that is not on the stack ended.
enum mode {
    NOT_CALLED,
    COMPLETED, // by a return or a jump
    OPEN,      // it need not have
};

struct solver {
    struct active *active;
    const struct ask_case *ask;
    const struct flow *flow;
    struct budget *budget;
    struct bitset may_nodes, must_nodes; // of the flow
    struct bitset may_edges, must_edges;
    uint8_t *mode; // enum mode, by function of the flow
    struct worklist work;
    bool *forward, *live; // of a function's nodes, while it is looked at
    uint32_t *nodes;
};

static void call(struct solver *solver, uint32_t function, enum mode mode)
{
    if (solver->mode[function] >= mode)
        return;
    solver->mode[function] = (uint8_t)mode;
    worklist_push(&solver->work, function);
}

static void call_set(struct solver *solver, uint32_t node, enum mode mode)
{
    struct flow_callees callees = flow_callees(solver->flow, node);

    for (uint32_t i = 0; i < callees.count; i++)
        call(solver, callees.data[i], mode);
}

// May a completed activation have ended here?
static bool is_way_out(const struct solver *solver, uint32_t node)
{
    const struct flow *flow = solver->flow;

    if (flow->has_jumps && flow->signals != FLOW_NONE)
        return true;
    if (bitset_test(&solver->ask->closed, node))
        return false;
    return flow->node_flags[node] & (FLOW_RETURNS | FLOW_JUMPS) ||
           (flow->has_jumps && flow->node_set[node]);
}

static bool is_open(const struct solver *solver, uint32_t node, const struct flow_edge *edge)
{
    return active_crosses(solver->ask, bitset_test(&solver->ask->closed, node), edge);
}

static void reach_forward(struct solver *solver, const struct flow_function *f)
{
    uint32_t count = 0;

    memset(solver->forward, 0, f->node_count * sizeof(bool));
    if (bitset_test(&solver->ask->absent, f->entry))
        return;
    solver->forward[f->entry - f->first_node] = true;
    solver->nodes[count++] = f->entry;
    while (count) {
        uint32_t node = solver->nodes[--count];
        struct flow_edges next = flow_edges(solver->flow, node);

        for (uint32_t k = 0; k < next.count; k++) {
            uint32_t to = next.data[k].target;

            if (!is_open(solver, node, &next.data[k]) || bitset_test(&solver->ask->absent, to) ||
                solver->forward[to - f->first_node])
                continue;
            solver->forward[to - f->first_node] = true;
            solver->nodes[count++] = to;
        }
    }
}

// `live`: what was reached and leads to a way out.
static void reach_out(struct solver *solver, const struct flow_function *f)
{
    struct digraph reverse;
    uint32_t count = 0;

    digraph_init(&reverse, f->node_count);
    memset(solver->live, 0, f->node_count * sizeof(bool));
    for (uint32_t n = 0; n < f->node_count; n++) {
        struct flow_edges next = flow_edges(solver->flow, f->first_node + n);

        if (!solver->forward[n])
            continue;
        for (uint32_t k = 0; k < next.count; k++)
            if (is_open(solver, f->first_node + n, &next.data[k]) &&
                solver->forward[next.data[k].target - f->first_node])
                digraph_add(&reverse, next.data[k].target - f->first_node, n);
        if (is_way_out(solver, f->first_node + n)) {
            solver->live[n] = true;
            solver->nodes[count++] = n;
        }
    }
    digraph_close(&reverse);
    while (count) {
        uint32_t n = solver->nodes[--count];

        for (uint32_t e = reverse.start[n]; e < reverse.start[n + 1]; e++)
            if (!solver->live[reverse.target[e]]) {
                solver->live[reverse.target[e]] = true;
                solver->nodes[count++] = reverse.target[e];
            }
    }
    digraph_deinit(&reverse);
}

// A node that can have run in a function that was called.
static void take_node(struct solver *solver, const struct flow_function *f, uint32_t node,
                      const bool *live, enum mode mode)
{
    struct flow_edges next = flow_edges(solver->flow, node);
    bool calls = solver->flow->has_jumps || mode == OPEN;

    bitset_set(&solver->may_nodes, node);
    for (uint32_t k = 0; k < next.count; k++) {
        if (!live[next.data[k].target - f->first_node] || !is_open(solver, node, &next.data[k]))
            continue;
        active_cross(solver->active, node, next.data[k].target, next.data[k].flags,
                     &solver->may_edges);
        calls |= (next.data[k].flags & (FLOW_BEHIND | FLOW_LANDS)) != 0;
    }
    if (calls && !bitset_test(&solver->ask->closed, node))
        call_set(solver, node, mode);
}

static void take_functions(struct solver *solver)
{
    for (uint32_t function; worklist_pop(&solver->work, &function);) {
        const struct flow_function *f = &solver->flow->functions[function];
        enum mode mode = (enum mode)solver->mode[function];

        if (budget_is_spent(solver->budget)) {
            solver->active->complete = false;
            return;
        }
        if (!f->node_count)
            continue;
        reach_forward(solver, f);
        if (mode == COMPLETED)
            reach_out(solver, f);
        const bool *live = mode == COMPLETED ? solver->live : solver->forward;
        for (uint32_t n = 0; n < f->node_count; n++)
            if (live[n])
                take_node(solver, f, f->first_node + n, live, mode);
    }
}

// ---- Pending activations

static void contradict(struct solver *solver)
{
    solver->active->contradiction = "no run of the program fits what was observed";
}

// What was called from it and is over.
static void call_from_view(struct solver *solver, const struct view *view,
                           const struct active_reach *reach)
{
    for (uint32_t copy = 0; copy < view->count; copy++) {
        bool closed = view->closed[copy] || bitset_test(&solver->ask->closed, view->node[copy]);
        bool calls = false;

        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            calls |= reach->edges[e] && view->edges[e].flags & (FLOW_BEHIND | FLOW_LANDS);
        if (calls && !closed)
            call_set(solver, view->node[copy], COMPLETED);
    }
}

static bool has_copy(const struct view *view, const struct active_reach *reach, uint32_t node)
{
    for (uint32_t copy = 0; copy < view->count; copy++)
        if (view->node[copy] == node && reach->copies[copy])
            return true;
    return false;
}

static void take_view(struct solver *solver, const struct view *view)
{
    struct active_reach reach;

    active_reach_init(&reach, solver->ask, view, false);
    bool possible = reach.possible;
    for (uint32_t i = 0; i < view->ran_count; i++)
        possible &= has_copy(view, &reach, view->ran[i]);
    if (!possible)
        contradict(solver);
    for (uint32_t copy = 0; copy < view->count; copy++) {
        if (reach.copies[copy])
            bitset_set(&solver->may_nodes, view->node[copy]);
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (reach.edges[e])
                active_cross(solver->active, view->node[copy], view->node[view->edges[e].target],
                             view->edges[e].flags, &solver->may_edges);
    }
    if (possible)
        active_certain(solver->active, view, &reach, &solver->must_nodes, &solver->must_edges);
    call_from_view(solver, view, &reach);
    active_reach_deinit(&reach);
}

// Frames may be missing behind `before`: whatever it may have called may not have ended.
static void take_gap(struct solver *solver, const struct view *gap, const struct view *before)
{
    for (uint32_t i = 0; before && i < before->end_count; i++)
        call_set(solver, before->node[before->end[i]], OPEN);
    if (!before || gap->is_direct)
        call(solver, solver->flow->any_start, OPEN);
    if (solver->flow->signals != FLOW_NONE)
        call(solver, solver->flow->signals, OPEN);
}

static void take_threads(struct solver *solver)
{
    const struct ask_case *ask = solver->ask;

    for (uint32_t t = 0; t < ask->thread_count; t++) {
        const struct ask_thread *thread = &ask->threads[t];

        if (thread->is_impossible)
            contradict(solver);
        for (size_t v = 0; v < thread->views.length; v++)
            if (thread->views.data[v]->function == FLOW_NONE)
                take_gap(solver, thread->views.data[v], v ? thread->views.data[v - 1] : NULL);
    }
    // equal activations share a view
    for (size_t v = 0; v < ask->views.length; v++) {
        if (ask->views.data[v]->function == FLOW_NONE)
            continue;
        if (budget_is_spent(solver->budget)) {
            solver->active->complete = false;
            return;
        }
        take_view(solver, ask->views.data[v]);
    }
    if (solver->flow->signals != FLOW_NONE)
        call(solver, solver->flow->signals, ask->gone_count ? OPEN : COMPLETED);
    for (uint32_t g = 0; g < ask->gone_count; g++)
        call(solver, ask->gone[g].start, OPEN);
}

// ---- Answers

static enum ask_answer answer(const struct solver *solver, const struct bitset *may,
                              const struct bitset *must, uint32_t id)
{
    if (bitset_test(must, id))
        return ASK_YES;
    return bitset_test(may, id) || !solver->active->complete ? ASK_MAYBE : ASK_NO;
}

static void answer_all(struct solver *solver)
{
    struct active *active = solver->active;
    const struct ask_case *ask = solver->ask;

    for (size_t i = 0; i < ask->ran.length; i++) {
        if (active->complete && !bitset_test(&solver->may_nodes, ask->ran.data[i]))
            contradict(solver);
        bitset_set(&solver->must_nodes, ask->ran.data[i]);
    }
    for (uint32_t n = 0; n < ask->model->node_count; n++)
        active->nodes[n] = (uint8_t)answer(solver, &solver->may_nodes, &solver->must_nodes, n);
    for (uint32_t e = 0; e < active->edge_count; e++)
        active->edges[e] = (uint8_t)answer(solver, &solver->may_edges, &solver->must_edges, e);
}

static uint32_t largest_function(const struct flow *flow)
{
    uint32_t most = 0;

    for (uint32_t f = 0; f < flow->function_count; f++)
        if (flow->functions[f].node_count > most)
            most = flow->functions[f].node_count;
    return most;
}

static void solver_init(struct solver *solver)
{
    const struct flow *flow = solver->flow;
    uint32_t most = largest_function(flow) + 1;

    bitset_init(&solver->may_nodes, flow->node_count);
    bitset_init(&solver->must_nodes, flow->node_count);
    bitset_init(&solver->may_edges, solver->active->edge_count);
    bitset_init(&solver->must_edges, solver->active->edge_count);
    solver->mode = xcalloc(flow->function_count + 1u, 1);
    worklist_init(&solver->work, flow->function_count, NULL);
    solver->forward = xcalloc(most, sizeof(bool));
    solver->live = xcalloc(most, sizeof(bool));
    solver->nodes = xmalloc_array(most, sizeof(uint32_t));
}

static void solver_deinit(struct solver *solver)
{
    bitset_deinit(&solver->may_nodes);
    bitset_deinit(&solver->must_nodes);
    bitset_deinit(&solver->may_edges);
    bitset_deinit(&solver->must_edges);
    free(solver->mode);
    worklist_deinit(&solver->work);
    free(solver->forward);
    free(solver->live);
    free(solver->nodes);
}

void active_init(struct active *active, const struct ask_case *ask, struct budget *budget)
{
    struct solver solver = {.active = active, .ask = ask, .flow = ask->flow, .budget = budget};

    *active = (struct active){.ask = ask, .complete = true};
    number_edges(active);
    active->nodes = xcalloc(ask->model->node_count + 1u, 1);
    active->edges = xcalloc(active->edge_count + 1u, 1);
    solver_init(&solver);
    take_threads(&solver);
    take_functions(&solver);
    answer_all(&solver);
    solver_deinit(&solver);
}

void active_deinit(struct active *active)
{
    free(active->nodes);
    free(active->edge_start);
    free(active->edge_target);
    free(active->edges);
    *active = (struct active){0};
}

struct active_count active_count(const struct active *active)
{
    struct active_count count = {0, 0};

    for (uint32_t n = 0; n < active->ask->model->node_count; n++)
        count.nodes += active->nodes[n] != ASK_NO;
    for (uint32_t e = 0; e < active->edge_count; e++)
        count.edges += active->edges[e] != ASK_NO;
    return count;
}

void active_coverage(const struct active *active, struct ask_coverage *ret)
{
    ask_coverage_init_answers(ret, active->ask, ASK_SOLVER_CSI, active->nodes);
    ret->contradiction = active->contradiction;
    ret->complete = active->complete;
}

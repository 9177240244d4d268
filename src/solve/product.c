// SPDX-License-Identifier: Apache-2.0
// Builds a product. Everything here follows the letters of automaton.h, in the order of a run.
#include "solve/product.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/hash.h"
#include "solve/complete.h"
#include "solve/plain.h"
#include "solve/product_internal.h"
#include "solve/view.h"

// ---- Letters. A product without automaton has one state, 0.

uint32_t product_letter_step(const struct product *product, uint32_t state, uint32_t node)
{
    struct automaton *automaton = product->problem.automaton;

    if (product->problem.absent && bitset_test(product->problem.absent, node))
        return AUTOMATON_DEAD;
    return automaton ? automaton_step(automaton, state, node, 0) : state;
}

uint32_t product_letter_call(const struct product *product, uint32_t state, uint32_t node,
                             uint32_t function, uint32_t *symbol)
{
    struct automaton *automaton = product->problem.automaton;

    *symbol = 0;
    return automaton ? automaton->call(automaton, state, node, function, symbol) : state;
}

uint32_t product_letter_leave(const struct product *product, uint32_t state, uint32_t symbol,
                              uint32_t node, uint32_t function)
{
    struct automaton *automaton = product->problem.automaton;

    return automaton ? automaton->leave(automaton, state, symbol, node, function) : state;
}

// ---- States

uint32_t product_add_state(struct product *product, uint64_t place_number,
                           struct product_state state)
{
    bool is_new;
    uint32_t *id =
        product_map_put_new(&product->state_of, place_number << 32 | state.mode, &is_new);

    if (is_new) {
        *id = (uint32_t)product->states.length;
        product_state_vec_push(&product->states, state);
    }
    return *id;
}

void product_add_edge(struct product *product, struct product_edge edge)
{
    if (!product->problem.verdict_only)
        product_edge_vec_push(&product->edges, edge);
}

void product_add_final(struct product *product, uint32_t state)
{
    product_id_vec_push(&product->finals, state);
    product->found |= product->problem.verdict_only && product_accepts(product, state);
}

uint64_t product_place_number(const struct product *product, const struct product_state *state)
{
    if (product->problem.flat || state->instance == PRODUCT_SPINE)
        return state->place;
    return (uint64_t)product->instances.data[state->instance].base + state->place;
}

static void park(struct product *product, uint32_t id)
{
    if (!product->problem.opens)
        return;
    product_id_vec_push(&product->parked, id);
    bitset_set(&product->parked_at, product->states.data[id].node);
}

uint32_t product_mode_number(struct product *product, struct product_mode mode)
{
    uint64_t key = hash_mix(mode.visited + hash_mix(mode.insn)) ^ mode.state;
    bool is_new;

    assert(mode.state < PRODUCT_MODES);
    if (!mode.insn && !mode.visited)
        return mode.state;
    // hashes may coincide: look on until the mode is the right one
    for (;; key++) {
        uint32_t *id = product_map_put_new(&product->mode_of, key, &is_new);

        if (is_new) {
            *id = (uint32_t)product->modes.length;
            product_mode_vec_push(&product->modes, mode);
        }
        const struct product_mode *found = &product->modes.data[*id];
        if (found->state == mode.state && found->insn == mode.insn &&
            found->visited == mode.visited)
            return PRODUCT_MODES + *id;
    }
}

bool product_add_next_spot(struct product *product, uint32_t id)
{
    struct automaton *automaton = product->problem.automaton;
    struct product_state next = product->states.data[id];
    struct product_mode mode = product_mode(product, id);
    uint32_t insn = automaton ? automaton_next_spot(automaton, next.node, mode.insn) : 0;

    if (!insn)
        return false;
    mode.insn = insn;
    mode.state = automaton_step(automaton, mode.state, next.node, insn);
    if (mode.state == AUTOMATON_DEAD)
        return true;
    next.mode = product_mode_number(product, mode);
    uint32_t to = product_add_state(product, product_place_number(product, &next), next);
    product_add_edge(product, (struct product_edge){id, to, FLOW_NONE, FLOW_NONE, false, false});
    return true;
}

// ---- Completed calls

static bool has_room(const struct product *product, uint64_t places)
{
    return product->place_count + places < UINT32_MAX;
}

// The instance of a function that is entered in this state. FLOW_NONE: the automaton does not let
// it.
static uint32_t instance_of(struct product *product, uint32_t function, uint32_t state)
{
    const struct flow_function *f = &product->flow->functions[function];
    bool is_new;

    if (!f->node_count || state == AUTOMATON_DEAD || !has_room(product, f->node_count + 2u))
        return FLOW_NONE;
    uint32_t *id =
        product_map_put_new(&product->instance_of, (uint64_t)function << 32 | state, &is_new);
    if (!is_new)
        return *id;
    uint32_t mode = product_letter_step(product, state, f->entry);
    struct product_instance instance = {.function = function,
                                        .called_in = state,
                                        .base = (uint32_t)product->place_count,
                                        .entry = FLOW_NONE};
    uint32_t number = (uint32_t)product->instances.length;
    *id = number;
    product->place_count += f->node_count + 2u;
    if (mode != AUTOMATON_DEAD)
        instance.entry = product_add_state(
            product, instance.base + (f->entry - f->first_node),
            (struct product_state){number, f->entry - f->first_node, mode, f->entry});
    product_instance_vec_push(&product->instances, instance);
    return number;
}

// Control goes on from `from`, in state `state` of the automaton (before the target's letter).
static void go_on(struct product *product, uint32_t from, uint32_t state, uint32_t target,
                  uint32_t through, uint32_t callee)
{
    struct product_state source = product->states.data[from];
    const struct product_instance *instance = &product->instances.data[source.instance];
    const struct flow_function *f = &product->flow->functions[instance->function];
    uint32_t mode = product_letter_step(product, state, target), place = target - f->first_node;

    if (mode == AUTOMATON_DEAD)
        return;
    uint32_t to = product_add_state(product, (uint64_t)instance->base + place,
                                    (struct product_state){source.instance, place, mode, target});
    product_add_edge(product, (struct product_edge){from, to, through, callee, false, false});
}

static void caller_goes_on(struct product *product, struct product_caller caller, uint32_t exit);

// The instance ends in this state: everyone who called it goes on.
static void end_instance(struct product *product, uint32_t from, uint32_t state, uint32_t how,
                         uint32_t through, uint32_t callee)
{
    uint32_t number = product->states.data[from].instance;
    struct product_instance *instance = &product->instances.data[number];
    uint32_t place =
        product->flow->functions[instance->function].node_count + (how == FLOW_LANDS ? 1u : 0u);
    size_t before = product->states.length;

    if (state == AUTOMATON_DEAD)
        return;
    uint32_t exit = product_add_state(product, (uint64_t)instance->base + place,
                                      (struct product_state){number, place, state, FLOW_NONE});
    product_add_edge(product, (struct product_edge){from, exit, through, callee, false, false});
    if (product->states.length == before)
        return;
    product_id_vec_push(&instance->exits, exit);
    if (product->in_trial)
        product_id_vec_push(&product->journal, number * 2 + 1);
}

static uint32_t exit_kind(const struct product *product, uint32_t exit)
{
    const struct product_state *state = &product->states.data[exit];
    uint32_t function = product->instances.data[state->instance].function;

    return state->place == product->flow->functions[function].node_count ? FLOW_BEHIND : FLOW_LANDS;
}

static void spine_goes_on(struct product *product, uint32_t from, uint32_t state, uint32_t how,
                          uint32_t through, uint32_t callee);

// A handler has returned: control is where it was.
static void resume(struct product *product, uint32_t from, uint32_t state, uint32_t through,
                   uint32_t callee)
{
    struct product_state target = product->states.data[from];
    struct product_mode mode = product_mode(product, from);

    mode.state = state;
    target.mode = product_mode_number(product, mode);
    uint32_t to = product_add_state(product, product_place_number(product, &target), target);
    product_add_edge(product, (struct product_edge){from, to, through, callee, false, true});
}

// Behind a call that was completed, or left by a jump, in this state of the automaton.
static void go_on_behind(struct product *product, uint32_t from, uint32_t state, uint32_t how,
                         uint32_t through, uint32_t callee)
{
    struct product_state source = product->states.data[from];
    struct flow_edges next = flow_edges(product->flow, source.node);

    if (source.instance == PRODUCT_SPINE) {
        spine_goes_on(product, from, state, how, through, callee);
        return;
    }
    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & how)
            go_on(product, from, state, next.data[k].target, through, callee);
    if (how == FLOW_LANDS)
        end_instance(product, from, state, FLOW_LANDS, through, callee);
}

static void caller_goes_on(struct product *product, struct product_caller caller, uint32_t exit)
{
    struct product_state source = product->states.data[caller.state];
    struct product_state end = product->states.data[exit];
    uint32_t callee = product->instances.data[end.instance].function;
    uint32_t how = exit_kind(product, exit);
    uint32_t state = product_letter_leave(product, end.mode, caller.symbol, source.node, callee);

    if (state == AUTOMATON_DEAD)
        return;
    if (caller.interrupted && how == FLOW_BEHIND) {
        resume(product, caller.state, state, exit, callee);
        return;
    }
    go_on_behind(product, caller.state, state, how, exit, callee);
}

// May a completed call of the function be passed without a look?
static bool is_passed(const struct product *product, uint32_t function)
{
    return product->has_plain && bitset_test(&product->plain, function) &&
           (product->ends[function] & FLOW_BEHIND || !product->problem.opens);
}

static void call_function(struct product *product, uint32_t from, uint32_t state, uint32_t function,
                          bool interrupted)
{
    uint32_t node = product->states.data[from].node, symbol;
    uint32_t inner = product_letter_call(product, state, node, function, &symbol);

    if (inner != AUTOMATON_DEAD && is_passed(product, function)) {
        uint32_t after = product_letter_leave(product, inner, symbol, node, function);

        // a handler that is passed leaves control where it is
        if (!interrupted && product->ends[function] & FLOW_BEHIND && after != AUTOMATON_DEAD)
            go_on_behind(product, from, after, FLOW_BEHIND, FLOW_NONE, function);
        return;
    }
    uint32_t number = instance_of(product, function, inner);

    if (number == FLOW_NONE) {
        product->complete &=
            inner == AUTOMATON_DEAD || !product->flow->functions[function].node_count;
        return;
    }
    struct product_caller caller = {from, symbol, interrupted};
    product_caller_vec_push(&product->instances.data[number].callers, caller);
    if (product->in_trial)
        product_id_vec_push(&product->journal, number * 2);
    // exits that have not been looked at will find the caller
    for (size_t e = 0; e < product->instances.data[number].exits.length; e++)
        if (product->instances.data[number].exits.data[e] < product->worked)
            caller_goes_on(product, caller, product->instances.data[number].exits.data[e]);
}

// The call at the end of the state's node.
static void call_from(struct product *product, uint32_t from, uint32_t state)
{
    struct flow_callees callees = flow_callees(product->flow, product->states.data[from].node);

    for (uint32_t i = 0; i < callees.count; i++)
        call_function(product, from, state, callees.data[i], false);
}

static void interrupt(struct product *product, uint32_t from, uint32_t state)
{
    if (product->flow->signals != FLOW_NONE)
        call_function(product, from, state, product->flow->signals, true);
}

static void work_in_instance(struct product *product, uint32_t id)
{
    struct product_state state = product->states.data[id];
    const struct flow *flow = product->flow;

    if (state.node == FLOW_NONE) { // an exit: everyone who has called by now
        for (size_t c = 0; c < product->instances.data[state.instance].callers.length; c++)
            caller_goes_on(product, product->instances.data[state.instance].callers.data[c], id);
        return;
    }
    struct flow_edges next = flow_edges(flow, state.node);
    uint32_t mode = product_mode(product, id).state;
    interrupt(product, id, mode);
    if (product_add_next_spot(product, id))
        return;
    if (bitset_test(&product->closed, state.node)) {
        park(product, id);
        return;
    }
    if (flow->node_flags[state.node] & FLOW_RETURNS)
        end_instance(product, id, mode, FLOW_BEHIND, FLOW_NONE, FLOW_NONE);
    if (flow->node_flags[state.node] & FLOW_JUMPS)
        end_instance(product, id, mode, FLOW_LANDS, FLOW_NONE, FLOW_NONE);
    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & FLOW_PAST)
            go_on(product, id, mode, next.data[k].target, FLOW_NONE, FLOW_NONE);
    call_from(product, id, mode);
}

// ---- The spine

static uint32_t view_at(const struct product *product, uint32_t place)
{
    uint32_t low = 0, high = product->problem.view_count;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (product->view_base[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t all_visited(const struct view *view)
{
    return view->ran_count > PRODUCT_OWN_RAN ? 0 : (UINT64_C(1) << view->ran_count) - 1;
}

static uint64_t visit(const struct view *view, uint32_t node, uint64_t visited)
{
    for (uint32_t r = 0; view->ran_count <= PRODUCT_OWN_RAN && r < view->ran_count; r++)
        if (view->ran[r] == node)
            visited |= UINT64_C(1) << r;
    return visited;
}

// Control reaches a copy of view v, coming from `from` (FLOW_NONE: the run begins) in automaton
// state `state`.
static void reach_copy(struct product *product, uint32_t from, uint32_t state, uint64_t visited,
                       uint32_t v, uint32_t copy, struct product_edge edge)
{
    const struct view *view = product->problem.views[v];
    uint32_t node = view->function == FLOW_NONE ? copy : view->node[copy];
    uint32_t place = product->view_base[v] + copy,
             reached = product_letter_step(product, state, node);

    if (reached == AUTOMATON_DEAD)
        return;
    uint32_t mode =
        product_mode_number(product, (struct product_mode){reached, 0, visit(view, node, visited)});
    uint32_t to =
        product_add_state(product, place, (struct product_state){PRODUCT_SPINE, place, mode, node});
    if (from == FLOW_NONE)
        return;
    edge.from = from;
    edge.to = to;
    product_add_edge(product, edge);
}

// The pending call of `function` at this state's node, into view v: its starts, or a gap's entry of
// the function.
static void enter_view(struct product *product, uint32_t from, uint32_t automaton_state, uint32_t v,
                       uint32_t function)
{
    const struct view *view = product->problem.views[v];
    uint32_t symbol, node = product->states.data[from].node;
    uint32_t state = product_letter_call(product, automaton_state, node, function, &symbol);
    struct product_edge edge = {.through = FLOW_NONE, .callee = function, .pends = true};

    if (state == AUTOMATON_DEAD)
        return;
    if (view->function == FLOW_NONE) {
        if (product->flow->functions[function].node_count)
            reach_copy(product, from, state, 0, v, product->flow->functions[function].entry, edge);
        return;
    }
    for (uint32_t i = 0; i < view->start_count; i++)
        reach_copy(product, from, state, 0, v, view->start[i], edge);
}

// Calls that stay pending: from the end of view v, or from anywhere in a gap; `midst`: control is
// not yet at the end of the node, where its own call is.
static void leave_view(struct product *product, uint32_t from, uint32_t state, uint32_t v,
                       bool midst)
{
    uint32_t next = v + 1;
    const struct view *behind =
        next < product->problem.view_count ? product->problem.views[next] : NULL;
    struct flow_callees callees = flow_callees(product->flow, product->states.data[from].node);
    bool in_gap = product->problem.views[v]->function == FLOW_NONE;

    bool closed = midst || bitset_test(&product->closed, product->states.data[from].node);
    uint32_t signals = product->flow->signals;

    if (in_gap) {
        for (uint32_t i = 0; !closed && i < callees.count; i++) {
            enter_view(product, from, state, v, callees.data[i]);
            if (behind && behind->function == callees.data[i])
                enter_view(product, from, state, next, behind->function);
        }
        if (signals != FLOW_NONE)
            enter_view(product, from, state, v, signals);
        if (signals != FLOW_NONE && behind && behind->function == signals)
            enter_view(product, from, state, next, signals);
        if (!behind)
            product_add_final(product, from);
        return;
    }
    if (!behind) {
        product_add_final(product, from);
        return;
    }
    if (behind->function != FLOW_NONE) {
        enter_view(product, from, state, next, behind->function);
        return;
    }
    // a gap: calls into it; or it is empty. Before anything runs nobody has set up a handler.
    if (product->problem.views[v]->function == product->flow->any_start)
        signals = FLOW_NONE;
    if (signals != FLOW_NONE)
        enter_view(product, from, state, next, signals);
    for (uint32_t i = 0; i < callees.count; i++)
        enter_view(product, from, state, next, callees.data[i]);
    if (next + 1 < product->problem.view_count) {
        uint32_t function = product->problem.views[next + 1]->function;
        bool calls = behind->is_direct || (signals != FLOW_NONE && function == signals);

        for (uint32_t i = 0; !calls && i < callees.count; i++)
            calls = callees.data[i] == function;
        if (calls)
            enter_view(product, from, state, next + 1, function);
    } else
        product_add_final(product, from);
}

// By edges of this kind, in the same view.
static void spine_goes_on(struct product *product, uint32_t from, uint32_t state, uint32_t how,
                          uint32_t through, uint32_t callee)
{
    struct product_state source = product->states.data[from];
    uint32_t v = view_at(product, source.place), copy = source.place - product->view_base[v];
    const struct view *view = product->problem.views[v];
    uint64_t visited = product_mode(product, from).visited;
    struct product_edge edge = {.through = through, .callee = callee};

    if (view->function == FLOW_NONE) {
        struct flow_edges next = flow_edges(product->flow, source.node);
        for (uint32_t k = 0; k < next.count; k++)
            if (next.data[k].flags & how)
                reach_copy(product, from, state, visited, v, next.data[k].target, edge);
        return;
    }
    for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
        if (view->edges[e].flags & how)
            reach_copy(product, from, state, visited, v, view->edges[e].target, edge);
}

static bool is_end(const struct view *view, uint32_t copy, bool midst)
{
    for (uint32_t i = 0; i < view->end_count; i++)
        if (view->end[i] == copy)
            return !midst || view->may_be_amid[i];
    return false;
}

static void work_in_spine(struct product *product, uint32_t id)
{
    struct product_state source = product->states.data[id];
    struct product_mode mode = product_mode(product, id);
    uint32_t v = view_at(product, source.place), copy = source.place - product->view_base[v];
    const struct view *view = product->problem.views[v];
    bool gap = view->function == FLOW_NONE;
    struct automaton *automaton = product->problem.automaton;
    bool midst = automaton && automaton_next_spot(automaton, source.node, mode.insn);

    if (gap || (is_end(view, copy, midst) && mode.visited == all_visited(view)))
        leave_view(product, id, mode.state, v, midst);
    interrupt(product, id, mode.state);
    if (product_add_next_spot(product, id))
        return;
    if (bitset_test(&product->closed, source.node))
        park(product, id);
    if (bitset_test(&product->closed, source.node) || (!gap && view->closed[copy]))
        return;
    spine_goes_on(product, id, mode.state, FLOW_PAST, FLOW_NONE, FLOW_NONE);
    call_from(product, id, mode.state);
}

static void start_spine(struct product *product)
{
    const struct product_problem *problem = &product->problem;
    uint64_t places = 0;

    product->view_base = xcalloc(problem->view_count + 1u, sizeof(uint32_t));
    for (uint32_t v = 0; v < problem->view_count; v++) {
        product->view_base[v] = (uint32_t)places;
        places += problem->views[v]->function == FLOW_NONE ? problem->flow->node_count
                                                           : problem->views[v]->count;
        if (places >= UINT32_MAX / 2) {
            product->complete = false;
            return;
        }
    }
    product->view_base[problem->view_count] = (uint32_t)places;
    product->place_count = places;
    const struct view *first = problem->view_count ? problem->views[0] : NULL;
    uint32_t initial = problem->automaton ? problem->automaton->initial : 0;
    for (uint32_t i = 0; first && i < first->start_count; i++)
        reach_copy(product, FLOW_NONE, initial, 0, 0, first->start[i], (struct product_edge){0});
}

// ----

void product_work(struct product *product, uint32_t id)
{
    if (product->problem.flat)
        product_work_flat(product, id);
    else if (product->states.data[id].instance == PRODUCT_SPINE)
        work_in_spine(product, id);
    else
        work_in_instance(product, id);
}

void product_run(struct product *product, struct budget *budget)
{
    uint32_t limit = product->problem.state_limit;

    for (; product->worked < product->states.length && !product->found; product->worked++) {
        if (budget_is_spent(budget) || (limit && product->states.length > limit)) {
            product->complete = false;
            break;
        }
        product_work(product, product->worked);
    }
}

// Which calls are passed without a look.
static void find_plain(struct product *product)
{
    struct complete complete;

    complete_init(&complete, product->flow, &product->closed);
    plain_init(&product->plain, &complete, product->problem.absent, product->problem.automaton,
               product->problem.opens);
    product->has_plain = true;
    product->ends = complete.function_ends;
    complete.function_ends = NULL;
    complete_deinit(&complete);
}

struct product *product_create(const struct product_problem *problem, struct budget *budget)
{
    struct product *product = xcalloc(1, sizeof(*product));

    product->problem = *problem;
    product->flow = problem->flow;
    product->complete = true;
    bitset_init_copy(&product->closed, problem->closed);
    bitset_init(&product->parked_at, problem->opens ? problem->flow->node_count : 0);
    if (problem->verdict_only && !problem->flat)
        find_plain(product);
    product_instance_vec_push(&product->instances,
                              (struct product_instance){.function = FLOW_NONE});
    if (problem->flat)
        product_start_flat(product);
    else
        start_spine(product);
    product->start_count = (uint32_t)product->states.length;
    product_run(product, budget);
    if (!problem->verdict_only)
        product_index(product);
    return product;
}

void product_destroy(struct product *product)
{
    if (!product)
        return;
    for (size_t i = 0; i < product->instances.length; i++) {
        product_caller_vec_deinit(&product->instances.data[i].callers);
        product_id_vec_deinit(&product->instances.data[i].exits);
    }
    product_state_vec_deinit(&product->states);
    product_edge_vec_deinit(&product->edges);
    product_instance_vec_deinit(&product->instances);
    product_mode_vec_deinit(&product->modes);
    product_id_vec_deinit(&product->finals);
    product_map_deinit(&product->state_of);
    product_map_deinit(&product->instance_of);
    product_map_deinit(&product->mode_of);
    product_id_vec_deinit(&product->parked);
    product_id_vec_deinit(&product->journal);
    bitset_deinit(&product->closed);
    bitset_deinit(&product->parked_at);
    bitset_deinit(&product->plain);
    bitset_deinit(&product->useful);
    free(product->ends);
    free(product->view_base);
    free(product->caller_start);
    free(product->callers);
    free(product->in_start);
    free(product->in_edges);
    free(product->out_start);
    free(product->out_edges);
    free(product);
}

bool product_is_complete(const struct product *product)
{
    return product->complete;
}

bool product_is_possible(const struct product *product)
{
    return product->problem.verdict_only ? product->found : product->possible;
}

uint32_t product_state_count(const struct product *product)
{
    return (uint32_t)product->states.length;
}

bool product_misses_visits(const struct product *product)
{
    for (uint32_t v = 0; !product->problem.flat && v < product->problem.view_count; v++)
        if (product->problem.views[v]->ran_count > PRODUCT_OWN_RAN)
            return true;
    return false;
}

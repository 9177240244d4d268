// SPDX-License-Identifier: Apache-2.0
/*
 * The best path by the weighted pushdown core (solve/pushdown): paper 004, sections 3.1 to 3.6 as
 * they stand. Vertices of the graph and calls are symbols; a call pushes itself below the callee's
 * entry, an exit pops and names itself by its control state, and the call goes on from there.
 *
 * GPS: post* from the start, and what the configurations with each stack are worth. GPP: pre* from
 * those with the stack (or, where any stack will do, from all that end there), and what the start
 * is worth.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "path/solve.h"
#include "path/weights.h"
#include "solve/automaton.h"
#include "solve/pushdown/pushdown.h"

struct system {
    struct solving *solving;
    struct graph *graph;
    struct weights weights;
    struct pushdown *pushdown;
    uint32_t *code;       // by vertex: the control state of an exit
    uint32_t state_count; // control states
    uint32_t first_call;  // symbols: vertices, calls, goals
    uint32_t *call_start; // by call: its first symbol, less first_call
    uint32_t first_goal, goal_count;
    struct path_id_vec call_edge; // by tag of a rule that pushes, less first_tag: the flow's edge
    struct path_id_vec call_number;
    uint32_t first_tag;
};

// ---- Rules

static struct weight weight_of(struct system *system, uint64_t bits, uint32_t length,
                               struct dataflow_value value)
{
    return weights_one_element(&system->weights, bits, length, value);
}

// With dataflow, what a call is worth depends on the edge by which control goes on behind it
// (FLOW_NONE: its function is left by a jump), and each has a symbol of its own.
static uint32_t symbol_of(const struct system *system, uint32_t call, uint32_t flow_edge)
{
    uint32_t first = system->first_call + system->call_start[call];

    if (!system->solving->problem->dataflow)
        return first;
    return flow_edge == FLOW_NONE ? system->first_call + system->call_start[call + 1] - 1
                                  : first + flow_edge;
}

static void add_edge(struct system *system, uint32_t e)
{
    const struct graph_edge *edge = &system->graph->edges.data[e];
    struct pushdown_rule rule = {.state = 0,
                                 .symbol = edge->from,
                                 .top = edge->to,
                                 .below = PUSHDOWN_NONE,
                                 .tag = e,
                                 .weight = weight_of(system, system->graph->masks.data[edge->mask],
                                                     edge->length, edge->value)};

    if (edge->through != FLOW_NONE) {
        rule.state = system->code[edge->through];
        rule.symbol = symbol_of(system, edge->call, edge->second);
    }
    if (system->code[edge->to]) {
        rule.to = system->code[edge->to];
        rule.top = PUSHDOWN_NONE;
    }
    if (!weight_is_equal(rule.weight, system->weights.semiring.zero))
        pushdown_add_rule(system->pushdown, &rule);
}

static void add_push(struct system *system, uint32_t c, uint32_t flow_edge)
{
    const struct graph *graph = system->graph;
    const struct graph_call *call = &graph->calls_made.data[c];
    uint32_t entry = graph->procedures.data[call->procedure].entry;
    struct dataflow *dataflow = system->solving->problem->dataflow;
    struct pushdown_rule rule = {.symbol = call->from,
                                 .top = entry,
                                 .below = symbol_of(system, c, flow_edge),
                                 .tag = system->first_tag + (uint32_t)system->call_edge.length};
    uint32_t node = graph->vertices.data[call->from].node;

    if (entry == FLOW_NONE)
        return;
    uint64_t bits = marks_of_node(graph->marks, graph->vertices.data[entry].node);
    rule.weight =
        weight_of(system, bits & ~graph->marks->assumed, 1,
                  dataflow ? dataflow_call(dataflow, node, call->function) : DATAFLOW_ONE);
    path_id_vec_push(&system->call_edge, flow_edge);
    path_id_vec_push(&system->call_number, c);
    if (!weight_is_equal(rule.weight, system->weights.semiring.zero))
        pushdown_add_rule(system->pushdown, &rule);
}

static struct weights_call call_of(void *context, uint32_t tag)
{
    const struct system *system = context;
    uint32_t number = system->call_number.data[tag - system->first_tag];
    const struct graph_call *call = &system->graph->calls_made.data[number];

    return (struct weights_call){system->graph->vertices.data[call->from].node, call->function,
                                 system->call_edge.data[tag - system->first_tag]};
}

// Where paths begin, and the goals of stacks and ends; with views the graph has both.
static void add_start(struct system *system)
{
    const struct graph *graph = system->graph;
    struct dataflow *dataflow = system->solving->problem->dataflow;
    uint32_t entry = graph->procedures.length > 1 ? graph->procedures.data[1].entry : FLOW_NONE;

    if (system->solving->problem->view_count || entry == FLOW_NONE)
        return;
    uint64_t bits = marks_of_node(graph->marks, graph->vertices.data[entry].node);
    pushdown_add_rule(system->pushdown,
                      &(struct pushdown_rule){
                          .symbol = graph->origin,
                          .top = entry,
                          .below = PUSHDOWN_NONE,
                          .tag = UINT32_MAX,
                          .weight = weight_of(system, bits & ~graph->marks->assumed, 1,
                                              dataflow ? dataflow_begin(dataflow) : DATAFLOW_ONE)});
}

static bool ends_at(const struct path_problem *problem, uint32_t goal, uint32_t node)
{
    if (problem->stack_count) {
        const struct path_stack *stack = &problem->stacks[goal];

        return stack->count && stack->nodes[stack->count - 1] == node;
    }
    for (uint32_t i = 0; i < problem->end_count; i++)
        if (problem->ends[i] == node)
            return true;
    return !problem->end_count;
}

// The end of a path: with the value of the last node; critical nodes that count only where
// something holds may be there or not.
static void add_goal(struct system *system, uint32_t vertex, uint32_t goal)
{
    const struct path_problem *problem = system->solving->problem;
    const struct marks *marks = &system->solving->marks;
    uint32_t node = system->graph->vertices.data[vertex].node;
    uint64_t assumed = marks_of_node(marks, node) & marks->assumed, some = assumed;

    for (;; some = (some - 1) & assumed) {
        struct dataflow_value value = DATAFLOW_ONE;

        if (problem->dataflow)
            value = dataflow_end(problem->dataflow, node);
        for (uint64_t left = some; left; left &= left - 1)
            value = dataflow_extend(problem->dataflow, value, marks->assume[__builtin_ctzll(left)]);
        if (!dataflow_is_zero(value))
            pushdown_add_rule(system->pushdown,
                              &(struct pushdown_rule){.symbol = vertex,
                                                      .top = system->first_goal + goal,
                                                      .below = PUSHDOWN_NONE,
                                                      .tag = UINT32_MAX,
                                                      .weight = weight_of(system, some, 0, value)});
        if (!some)
            return;
    }
}

static void add_goals(struct system *system)
{
    const struct path_problem *problem = system->solving->problem;
    const struct graph *graph = system->graph;
    struct automaton *automaton = problem->automaton;

    for (uint32_t v = 0; !problem->view_count && v < graph->vertices.length; v++) {
        const struct graph_vertex *vertex = &graph->vertices.data[v];

        if (vertex->node == FLOW_NONE ||
            (automaton && !automaton->accepts(automaton, vertex->state)))
            continue;
        for (uint32_t g = 0; g < system->goal_count; g++)
            if (ends_at(problem, g, vertex->node))
                add_goal(system, v, g);
    }
}

// An exit is a vertex without a node that is in a procedure.
static void number_exits(struct system *system)
{
    const struct graph *graph = system->graph;

    system->code = xcalloc(graph->vertices.length + 1, sizeof(uint32_t));
    system->state_count = 1;
    for (uint32_t v = 0; v < graph->vertices.length; v++)
        if (graph_is_exit(graph, v) && graph->vertices.data[v].procedure != GRAPH_SPINE_PROCEDURE)
            system->code[v] = system->state_count++;
}

static void add_pushes(struct system *system)
{
    const struct graph *graph = system->graph;

    for (uint32_t c = 0; c < graph->calls_made.length; c++) {
        uint32_t ways = system->call_start[c + 1] - system->call_start[c] - 1;

        for (uint32_t k = 0; k < ways; k++)
            add_push(system, c, k);
        add_push(system, c, FLOW_NONE);
    }
}

static void number_calls(struct system *system)
{
    const struct graph *graph = system->graph;
    uint32_t count = 0;

    system->call_start = xcalloc(graph->calls_made.length + 2, sizeof(uint32_t));
    for (uint32_t c = 0; c < graph->calls_made.length; c++) {
        uint32_t node = graph->vertices.data[graph->calls_made.data[c].from].node;

        system->call_start[c] = count;
        count += 1 + (system->solving->problem->dataflow ? flow_edges(graph->flow, node).count : 0);
    }
    system->call_start[graph->calls_made.length] = count;
}

static void add_rules(struct system *system)
{
    const struct graph *graph = system->graph;
    const struct path_problem *problem = system->solving->problem;

    number_exits(system);
    number_calls(system);
    system->first_call = (uint32_t)graph->vertices.length;
    system->first_goal = system->first_call + system->call_start[graph->calls_made.length];
    system->goal_count = problem->view_count ? 0 : problem->stack_count ? problem->stack_count : 1;
    system->first_tag = (uint32_t)graph->edges.length;
    system->pushdown = pushdown_create(&system->weights.semiring, system->state_count,
                                       system->first_goal + system->goal_count + 1);
    for (uint32_t e = 0; e < graph->edges.length; e++)
        add_edge(system, e);
    add_pushes(system);
    add_start(system);
    add_goals(system);
}

// ---- Configurations

// Calls that may stand at this place of a stack.
static bool is_call_of(const struct system *system, uint32_t c, const struct path_stack *stack,
                       uint32_t place)
{
    const struct graph *graph = system->graph;
    const struct graph_call *call = &graph->calls_made.data[c];

    return graph->vertices.data[call->from].node == stack->nodes[place] &&
           call->function == graph->flow->node_function[stack->nodes[place + 1]];
}

static void add_call(const struct system *system, struct pushdown_automaton *set, uint32_t from,
                     uint32_t call, uint32_t to)
{
    for (uint32_t s = system->call_start[call]; s < system->call_start[call + 1]; s++)
        pushdown_automaton_add_transition(set, from, system->first_call + s, to,
                                          system->weights.semiring.one);
}

static void add_stack(const struct system *system, struct pushdown_automaton *set, uint32_t number)
{
    const struct path_stack *stack = &system->solving->problem->stacks[number];
    uint32_t state = pushdown_automaton_add_state(set);

    if (!stack->count ||
        system->graph->flow->node_function[stack->nodes[0]] != system->solving->problem->start)
        return;
    pushdown_automaton_add_transition(set, 0, system->first_goal + number, state,
                                      system->weights.semiring.one);
    for (uint32_t i = stack->count - 1; i-- > 0;) {
        uint32_t below = pushdown_automaton_add_state(set);

        for (uint32_t c = 0; c < system->graph->calls_made.length; c++)
            if (is_call_of(system, c, stack, i))
                add_call(system, set, state, c, below);
        state = below;
    }
    pushdown_automaton_set_final(set, state);
}

// All that end with the stack, or at a goal of the graph.
static struct pushdown_automaton *goal_set(const struct system *system, uint32_t number)
{
    const struct path_problem *problem = system->solving->problem;
    struct pushdown_automaton *set = pushdown_automaton_create(system->pushdown);

    if (problem->view_count) {
        uint32_t end = pushdown_automaton_add_state(set);

        for (size_t g = 0; g < system->graph->goals.length; g++)
            pushdown_automaton_add_transition(set, 0, system->graph->goals.data[g].vertex, end,
                                              system->weights.semiring.one);
        pushdown_automaton_set_final(set, end);
        return set;
    }
    if (problem->stack_count) {
        add_stack(system, set, number);
        return set;
    }
    uint32_t any = pushdown_automaton_add_state(set);
    pushdown_automaton_add_transition(set, 0, system->first_goal, any,
                                      system->weights.semiring.one);
    for (uint32_t c = 0; c < system->graph->calls_made.length; c++)
        add_call(system, set, any, c, any);
    pushdown_automaton_set_final(set, any);
    return set;
}

// ---- Telling

static void tell(struct path_event_vec *events, enum run_letter letter, uint32_t node,
                 uint32_t function)
{
    path_event_vec_push(events, (struct run_event){letter, node, function, 0});
}

static void tell_edge(const struct graph *graph, const struct graph_edge *edge, uint32_t *node,
                      struct path_event_vec *events)
{
    uint32_t to = graph->vertices.data[edge->to].node;
    uint32_t from = graph->vertices.data[edge->from].node;

    if (from != FLOW_NONE)
        *node = from;
    if (edge->kind == EDGE_PENDS)
        tell(events, RUN_CALL, *node, edge->function);
    if (edge->through != FLOW_NONE)
        tell(events, RUN_LEAVE, from, edge->function);
    if (to != FLOW_NONE && edge->kind != EDGE_RESUMES && edge->kind != EDGE_SELECTS)
        tell(events, RUN_STEP, to, FLOW_NONE);
}

static void tell_path(const struct system *system, const struct pushdown_witness *path,
                      struct path_event_vec *events)
{
    const struct graph *graph = system->graph;
    uint32_t node = FLOW_NONE;

    for (uint32_t i = 0; i < path->rule_count; i++) {
        const struct pushdown_rule *rule = pushdown_rule_at(system->pushdown, path->rules[i]);

        if (rule->tag == UINT32_MAX) {
            if (rule->symbol == graph->origin)
                tell(events, RUN_STEP, graph->vertices.data[rule->top].node, FLOW_NONE);
        } else if (rule->tag < system->first_tag) {
            tell_edge(graph, &graph->edges.data[rule->tag], &node, events);
        } else {
            const struct graph_call *call =
                &graph->calls_made.data[system->call_number.data[rule->tag - system->first_tag]];

            tell(events, RUN_CALL, graph->vertices.data[call->from].node, call->function);
            tell(events, RUN_STEP, graph->vertices.data[rule->top].node, FLOW_NONE);
        }
    }
}

// ---- Solving

struct solution {
    struct weight value;
    uint32_t stack;
    struct pushdown_witnesses witnesses;
};
VEC_DEFINE(solution_vec, struct solution);

// Critical nodes that count only where something holds: those that the path's own weight has. With
// dataflow that may be nothing at all: then the path shows what values of several paths combine to.
static uint64_t assumed_by(struct system *system, struct weight weight)
{
    struct weight_element_vec elements = VEC_INIT;
    uint64_t bits = 0;

    weights_elements(&system->weights, weight, &elements);
    for (size_t i = 0; i < elements.length; i++)
        bits |= elements.data[i].bits;
    weight_element_vec_deinit(&elements);
    return bits & system->solving->marks.assumed;
}

// One candidate a witness.
static void gather(struct system *system, const struct solution_vec *solutions,
                   struct candidate_vec *candidates)
{
    const struct marks *marks = &system->solving->marks;

    for (size_t s = 0; s < solutions->length; s++)
        for (uint32_t i = 0; i < solutions->data[s].witnesses.count; i++) {
            const struct pushdown_witness *path = &solutions->data[s].witnesses.paths[i];
            struct candidate candidate = {.stack = (uint32_t)s, .number = i};
            struct path_event_vec events = VEC_INIT;

            tell_path(system, path, &events);
            candidate.bits = solving_count(system->solving, &events, &candidate.length);
            candidate.bits = (candidate.bits & ~marks->assumed) | assumed_by(system, path->weight);
            candidate.worth = marks_worth(marks, candidate.bits, candidate.length);
            if (marks_is_allowed(marks, candidate.bits))
                candidate_vec_push(candidates, candidate);
            path_event_vec_deinit(&events);
        }
    candidates_sort(candidates);
    if (!system->solving->problem->dataflow)
        candidates_thin(marks, candidates);
}

// Values of several paths combine to more than any of the paths that were found has: there may be
// one that has it.
static void compare_with_values(struct system *system, const struct solution_vec *solutions)
{
    struct solving *solving = system->solving;
    const struct path_found *best = solving->found.length ? &solving->found.data[0] : NULL;
    struct weight_element_vec elements = VEC_INIT;

    for (size_t s = 0; s < solutions->length; s++)
        weights_elements(&system->weights, solutions->data[s].value, &elements);
    for (size_t i = 0; best && i < elements.length; i++) {
        const struct weight_element *element = &elements.data[i];
        double worth = marks_worth(&solving->marks, element->bits, element->length);
        double found = best->score - solving->problem->per_step * (double)best->length;

        if (marks_is_allowed(&solving->marks, element->bits) && !solving->problem->measure &&
            (worth > found || (worth == found && element->length < best->length))) {
            solving->result->complete = false;
            solving->result->note = "there may be a better path that values of variables allow";
        }
    }
    weight_element_vec_deinit(&elements);
}

static void keep_best(struct system *system, const struct solution_vec *solutions)
{
    struct solving *solving = system->solving;
    struct candidate_vec candidates = VEC_INIT;
    uint32_t top = solving_top(solving), good = 0;

    gather(system, solutions, &candidates);
    for (size_t i = 0; i < candidates.length && good < top; i++) {
        struct candidate candidate = candidates.data[i];
        const struct solution *solution = &solutions->data[candidate.stack];
        struct path_event_vec events = VEC_INIT;

        tell_path(system, &solution->witnesses.paths[candidate.number], &events);
        candidate.stack = solution->stack;
        if (solving_keep(solving, &candidate, &events))
            good += solving->found.data[solving->found.length - 1].is_feasible;
    }
    candidate_vec_deinit(&candidates);
}

static void witnessed(struct system *system, bool has_witnesses, struct solution solution,
                      struct solution_vec *solutions)
{
    if (!has_witnesses) {
        system->solving->result->complete = false;
        system->solving->result->note = "a path is too long to be shown";
        return;
    }
    solution_vec_push(solutions, solution);
}

static void solve_forwards(struct system *system, uint32_t count, struct solution_vec *solutions)
{
    struct pushdown_automaton *from = pushdown_automaton_create(system->pushdown);
    struct pushdown_configuration start = {0, &system->graph->origin, 1};

    pushdown_automaton_add_configuration(from, &start);
    system->solving->result->complete &= pushdown_post(from, system->solving->budget);
    for (uint32_t i = 0; i < count; i++) {
        struct pushdown_automaton *set = goal_set(system, i);
        struct solution solution = {.stack = i};

        solution.value = pushdown_value_of_set(from, set);
        if (!weight_is_equal(solution.value, system->weights.semiring.zero))
            witnessed(system,
                      pushdown_witnesses_of_set(from, set, PATH_EVENTS_MOST, &solution.witnesses),
                      solution, solutions);
        pushdown_automaton_destroy(set);
    }
    system->solving->result->transitions = pushdown_automaton_transition_count(from);
    pushdown_automaton_destroy(from);
}

static void solve_backwards(struct system *system, uint32_t count, struct solution_vec *solutions)
{
    struct pushdown_configuration start = {0, &system->graph->origin, 1};

    for (uint32_t i = 0; i < count; i++) {
        struct pushdown_automaton *to = goal_set(system, i);
        struct solution solution = {.stack = i};

        system->solving->result->complete &= pushdown_pre(to, system->solving->budget);
        solution.value = pushdown_value(to, &start);
        if (!weight_is_equal(solution.value, system->weights.semiring.zero))
            witnessed(system, pushdown_witnesses(to, &start, PATH_EVENTS_MOST, &solution.witnesses),
                      solution, solutions);
        system->solving->result->transitions += pushdown_automaton_transition_count(to);
        pushdown_automaton_destroy(to);
    }
}

void system_solve(struct solving *solving)
{
    const struct path_problem *problem = solving->problem;
    struct system system = {.solving = solving};
    struct solution_vec solutions = VEC_INIT;
    uint32_t count = problem->view_count || !problem->stack_count ? 1 : problem->stack_count;
    bool is_exact = problem->measure || problem->separate;
    enum path_weights weights = problem->weights;

    if (weights == PATH_WEIGHTS_AUTO)
        weights =
            is_exact && solving->marks.bit_count > 6 ? PATH_WEIGHTS_DIAGRAMS : PATH_WEIGHTS_SETS;
    system.graph =
        graph_create(problem, &solving->marks, &solving->calls, GRAPH_PLAIN, solving->budget);
    solving->result->complete &= system.graph->complete;
    weights_init(&system.weights, weights, &solving->marks, problem->dataflow);
    system.weights.call_of = call_of;
    system.weights.call_context = &system;
    add_rules(&system);
    if (problem->method == PATH_BACKWARD)
        solve_backwards(&system, count, &solutions);
    else
        solve_forwards(&system, count, &solutions);
    keep_best(&system, &solutions);
    solving_sort_out(solving);
    if (problem->dataflow && solving->found.length)
        compare_with_values(&system, &solutions);
    // backwards, a path that is feasible was missed in one random program of 1,500
    // (test_path_dataflow, program 369): that there is none is not said
    if (problem->dataflow && !solving->found.length && solving->result->complete) {
        solving->result->complete = false;
        solving->result->note = "no path was found that values of variables allow; the search that "
                                "is made without --method may find one";
    }
    solving->result->complete &= !system.weights.has_dropped;
    solving->result->weights += system.weights.sets.length + system.weights.diagrams.length;
    for (size_t i = 0; i < solutions.length; i++)
        pushdown_witnesses_deinit(&solutions.data[i].witnesses);
    solution_vec_deinit(&solutions);
    pushdown_destroy(system.pushdown);
    weights_deinit(&system.weights);
    path_id_vec_deinit(&system.call_edge);
    path_id_vec_deinit(&system.call_number);
    free(system.code);
    free(system.call_start);
    graph_destroy(system.graph);
}

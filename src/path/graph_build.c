// SPDX-License-Identifier: Apache-2.0
// Procedures: what control can do in completed calls, as far as a path gets. Everything follows the
// letters of solve/automaton.h, in the order of a run.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "path/graph_build.h"
#include "solve/automaton.h"

#define PLACES_MOST (UINT64_C(1) << 31)

static void procedure_goes_on(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                              uint32_t how, struct graph_edge edge);

// ---- Letters. Without an automaton there is one state, 0.

uint32_t build_step(const struct graph_builder *builder, uint32_t state, uint32_t node)
{
    if (bitset_test(builder->facts->facts.blocked, node))
        return AUTOMATON_DEAD;
    if (!builder->automaton || state == AUTOMATON_DEAD)
        return state;
    return automaton_pass(builder->automaton, state, node);
}

uint32_t build_call(const struct graph_builder *builder, uint32_t state, uint32_t node,
                    uint32_t function, uint32_t *symbol)
{
    *symbol = 0;
    if (!builder->automaton)
        return state;
    return builder->automaton->call(builder->automaton, state, node, function, symbol);
}

uint32_t build_leave(const struct graph_builder *builder, uint32_t state, uint32_t symbol,
                     uint32_t node, uint32_t function)
{
    if (!builder->automaton)
        return state;
    return builder->automaton->leave(builder->automaton, state, symbol, node, function);
}

bool build_minds(const struct graph_builder *builder, uint32_t node)
{
    return builder->automaton && builder->automaton->minds(builder->automaton, node);
}

static bool is_closed(const struct graph_builder *builder, uint32_t node)
{
    return bitset_test(builder->facts->facts.closed, node);
}

// ---- Vertices and edges

uint32_t build_vertex(struct graph_builder *builder, uint64_t place_number, uint32_t place,
                      uint32_t mode, struct graph_vertex vertex)
{
    struct graph *graph = builder->graph;
    uint32_t *id;
    bool is_new;

    if (mode == 0) {
        while (builder->dense.length <= place_number)
            path_id_vec_push(&builder->dense, FLOW_NONE);
        id = &builder->dense.data[place_number];
        is_new = *id == FLOW_NONE;
    } else
        id = graph_map_put_new(&builder->vertex_of, place_number << 32 | mode, &is_new);
    if (is_new) {
        *id = (uint32_t)graph->vertices.length;
        graph_vertex_vec_push(&graph->vertices, vertex);
        build_vertex_vec_push(&builder->vertices, (struct build_vertex){place, mode});
    }
    return *id;
}

static void add_edge(struct graph_builder *builder, struct graph_edge edge, uint64_t bits)
{
    struct graph *graph = builder->graph;
    bool is_new;
    uint32_t *mask = graph_map_put_new(&builder->mask_of, bits, &is_new);

    if (is_new) {
        *mask = (uint32_t)graph->masks.length;
        graph_mask_vec_push(&graph->masks, bits);
    }
    edge.mask = *mask;
    graph_edge_vec_push(&graph->edges, edge);
}

// The critical nodes that count at a node only where something holds: it may be so or not, and
// shows when control leaves the node.
static void add_assumed(struct graph_builder *builder, struct graph_edge edge, uint64_t bits)
{
    const struct marks *marks = builder->graph->marks;
    uint32_t node = builder->graph->vertices.data[edge.from].node;
    uint64_t assumed = node == FLOW_NONE ? 0 : marks_of_node(marks, node) & marks->assumed;

    for (uint64_t some = assumed; some; some = (some - 1) & assumed) {
        struct graph_edge restricted = edge;

        for (uint64_t left = some; left && edge.kind != EDGE_PENDS; left &= left - 1)
            restricted.value = dataflow_extend(builder->problem->dataflow, restricted.value,
                                               marks->assume[__builtin_ctzll(left)]);
        if (!dataflow_is_zero(restricted.value))
            add_edge(builder, restricted, marks_extend(marks, some, bits));
    }
}

void build_edge(struct graph_builder *builder, struct graph_edge edge)
{
    const struct marks *marks = builder->graph->marks;
    uint32_t node = builder->graph->vertices.data[edge.to].node;
    bool arrives = node != FLOW_NONE && edge.kind != EDGE_RESUMES && edge.kind != EDGE_SELECTS;
    uint64_t bits = arrives ? marks_of_node(marks, node) & ~marks->assumed : 0;

    if (dataflow_is_zero(edge.value))
        return;
    edge.length += arrives;
    add_edge(builder, edge, bits);
    if (marks->assumed && edge.kind != EDGE_RESUMES && edge.kind != EDGE_SELECTS &&
        edge.kind != EDGE_LIFTS)
        add_assumed(builder, edge, bits);
}

struct dataflow_value build_end_value(const struct graph_builder *builder, uint32_t node)
{
    struct dataflow *dataflow = builder->problem->dataflow;

    return dataflow ? dataflow_end(dataflow, node) : DATAFLOW_ONE;
}

static struct dataflow_value leave_value(const struct graph_builder *builder, uint32_t node)
{
    struct dataflow *dataflow = builder->problem->dataflow;

    return dataflow ? dataflow_leave(dataflow, node) : DATAFLOW_ONE;
}

// ---- Procedures

static bool has_room(const struct graph_builder *builder, uint64_t places)
{
    return builder->place_count + places < PLACES_MOST;
}

static uint32_t add_procedure(struct graph_builder *builder, uint32_t function, uint32_t places)
{
    struct build_procedure procedure = {.base = builder->place_count};

    builder->place_count += places;
    build_procedure_vec_push(&builder->procedures, procedure);
    graph_procedure_vec_push(&builder->graph->procedures,
                             (struct graph_procedure){function, FLOW_NONE});
    return (uint32_t)builder->procedures.length - 1;
}

// The procedure of a function that is entered in this state. FLOW_NONE: it cannot be.
static uint32_t procedure_of(struct graph_builder *builder, uint32_t function, uint32_t state)
{
    const struct flow_function *f = &builder->flow->functions[function];
    bool is_new;

    if (!f->node_count || state == AUTOMATON_DEAD)
        return FLOW_NONE;
    if (!has_room(builder, f->node_count + 2u)) {
        builder->graph->complete = false;
        return FLOW_NONE;
    }
    uint32_t *id =
        graph_map_put_new(&builder->procedure_of, (uint64_t)function << 32 | state, &is_new);
    if (!is_new)
        return *id;
    uint32_t number = *id = add_procedure(builder, function, f->node_count + 2u);
    uint32_t reached = build_step(builder, state, f->entry);
    if (reached != AUTOMATON_DEAD)
        builder->graph->procedures.data[number].entry = build_vertex(
            builder, builder->procedures.data[number].base + f->entry - f->first_node,
            f->entry - f->first_node, reached, (struct graph_vertex){f->entry, number, reached});
    return number;
}

static uint32_t exit_of(struct graph_builder *builder, uint32_t procedure, uint32_t state,
                        enum call_end end)
{
    uint32_t function = builder->graph->procedures.data[procedure].function;
    uint32_t nodes = function == FLOW_NONE ? 0 : builder->flow->functions[function].node_count;
    size_t before = builder->graph->vertices.length;
    uint32_t exit =
        build_vertex(builder, builder->procedures.data[procedure].base + nodes + end, nodes + end,
                     state, (struct graph_vertex){FLOW_NONE, procedure, state});

    if (builder->graph->vertices.length > before)
        path_id_vec_push(&builder->procedures.data[procedure].exits, exit);
    return exit;
}

static enum call_end end_of_exit(const struct graph_builder *builder, uint32_t exit)
{
    uint32_t procedure = builder->graph->vertices.data[exit].procedure;
    uint32_t function = builder->graph->procedures.data[procedure].function;
    uint32_t nodes = function == FLOW_NONE ? 0 : builder->flow->functions[function].node_count;

    return (enum call_end)(builder->vertices.data[exit].place - nodes);
}

static uint32_t state_of(const struct graph_builder *builder, uint32_t vertex)
{
    return builder->graph->vertices.data[vertex].state;
}

static bool is_in_spine(const struct graph_builder *builder, uint32_t vertex)
{
    return builder->graph->vertices.data[vertex].procedure == GRAPH_SPINE_PROCEDURE;
}

// The procedure ends at this vertex in this state.
static void end_procedure(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                          enum call_end end, struct graph_edge edge)
{
    edge.from = vertex;
    edge.to = exit_of(builder, builder->graph->vertices.data[vertex].procedure, state, end);
    build_edge(builder, edge);
}

// Behind a call that ended so, in this state.
static void go_on_behind(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                         enum call_end end, struct graph_edge edge)
{
    uint32_t how = end == CALL_RETURNS ? FLOW_BEHIND : FLOW_LANDS;

    if (state == AUTOMATON_DEAD)
        return;
    edge.from = vertex;
    // a handler can jump from a node whose call is not made; not to where that call would lead
    if (!is_closed(builder, builder->graph->vertices.data[vertex].node)) {
        if (is_in_spine(builder, vertex))
            spine_goes_on(builder, vertex, state, how, edge);
        else
            procedure_goes_on(builder, vertex, state, how, edge);
    }
    if (end == CALL_JUMPS && !is_in_spine(builder, vertex))
        end_procedure(builder, vertex, state, CALL_JUMPS, edge);
}

static void caller_goes_on(struct graph_builder *builder, struct graph_caller caller, uint32_t exit)
{
    enum call_end end = end_of_exit(builder, exit);

    if (caller.is_dispatcher) {
        build_edge(builder, (struct graph_edge){
                                .from = exit,
                                .to = exit_of(builder, caller.vertex, state_of(builder, exit), end),
                                .through = FLOW_NONE,
                                .function = caller.function,
                                .second = FLOW_NONE,
                                .kind = EDGE_LIFTS,
                                .value = DATAFLOW_ONE,
                            });
        return;
    }
    struct graph_edge edge = {.from = caller.vertex,
                              .through = exit,
                              .function = caller.function,
                              .second = FLOW_NONE,
                              .kind = EDGE_THROUGH,
                              .value = DATAFLOW_ONE,
                              .call = caller.call};
    uint32_t node = builder->graph->vertices.data[caller.vertex].node;
    // a dispatcher's callees are called where nothing minds
    uint32_t state =
        caller.function == FLOW_NONE
            ? state_of(builder, exit)
            : build_leave(builder, state_of(builder, exit), caller.symbol, node, caller.function);
    if (state == AUTOMATON_DEAD)
        return;
    if (!caller.is_handler || end == CALL_JUMPS) {
        go_on_behind(builder, caller.vertex, state, end, edge);
        return;
    }
    edge.kind = EDGE_RESUMES;
    if (is_in_spine(builder, caller.vertex)) {
        spine_resume(builder, caller.vertex, state, edge);
        return;
    }
    struct graph_vertex vertex = builder->graph->vertices.data[caller.vertex];
    struct build_vertex where = builder->vertices.data[caller.vertex];
    vertex.state = state;
    edge.to = build_vertex(builder, builder->procedures.data[vertex.procedure].base + where.place,
                           where.place, state, vertex);
    build_edge(builder, edge);
}

static void tell_callers(struct graph_builder *builder, uint32_t exit)
{
    uint32_t procedure = builder->graph->vertices.data[exit].procedure;

    for (size_t c = 0; c < builder->procedures.data[procedure].callers.length; c++)
        caller_goes_on(builder, builder->procedures.data[procedure].callers.data[c], exit);
}

static void add_caller(struct graph_builder *builder, uint32_t procedure,
                       struct graph_caller caller)
{
    graph_caller_vec_push(&builder->procedures.data[procedure].callers, caller);
    // exits that have not been looked at will find the caller
    for (size_t e = 0; e < builder->procedures.data[procedure].exits.length; e++)
        if (builder->procedures.data[procedure].exits.data[e] < builder->worked)
            caller_goes_on(builder, caller, builder->procedures.data[procedure].exits.data[e]);
}

// ---- Calls

// Is a completed call of the function passed by an edge?
static bool is_passed(const struct graph_builder *builder, uint32_t function)
{
    return !bitset_test(&builder->facts->matters, function);
}

static void pass(struct graph_builder *builder, uint32_t vertex, uint32_t state, uint32_t function,
                 enum call_end end, uint32_t length)
{
    go_on_behind(
        builder, vertex, state, end,
        (struct graph_edge){.through = FLOW_NONE,
                            .length = length,
                            .function = function,
                            .second = FLOW_NONE,
                            .kind = end == CALL_RETURNS ? EDGE_PASSES_RETURN : EDGE_PASSES_JUMP,
                            .value = DATAFLOW_ONE});
}

static void call_function(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                          uint32_t function, bool is_handler)
{
    struct graph *graph = builder->graph;
    uint32_t node = graph->vertices.data[vertex].node, symbol;
    uint32_t inner = build_call(builder, state, node, function, &symbol);

    if (inner == AUTOMATON_DEAD)
        return;
    if (graph->form == GRAPH_SPINE && is_passed(builder, function)) {
        uint32_t after = build_leave(builder, inner, symbol, node, function);

        for (enum call_end end = 0; !is_handler && end < CALL_END_COUNT; end++)
            if (builder->facts->ends[end][function] != CALLS_FAR)
                pass(builder, vertex, after, function, end, builder->facts->ends[end][function]);
        return;
    }
    uint32_t procedure = procedure_of(builder, function, inner);
    if (procedure == FLOW_NONE)
        return;
    struct graph_caller caller = {.vertex = vertex,
                                  .symbol = symbol,
                                  .function = function,
                                  .call = (uint32_t)graph->calls_made.length,
                                  .is_handler = is_handler};
    if (graph->form == GRAPH_PLAIN)
        graph_call_vec_push(&graph->calls_made,
                            (struct graph_call){vertex, procedure, function, is_handler});
    add_caller(builder, procedure, caller);
}

// The shortest of the set's members that are passed.
static void find_pass(struct graph_builder *builder, uint32_t set)
{
    struct flow_callees members = flow_set(builder->flow, set);

    if (builder->pass_known[set])
        return;
    builder->pass_known[set] = true;
    for (enum call_end end = 0; end < CALL_END_COUNT; end++) {
        builder->pass_length[end][set] = CALLS_FAR;
        for (uint32_t i = 0; i < members.count; i++)
            if (is_passed(builder, members.data[i]) &&
                builder->facts->ends[end][members.data[i]] < builder->pass_length[end][set]) {
                builder->pass_length[end][set] = builder->facts->ends[end][members.data[i]];
                builder->pass_best[end][set] = members.data[i];
            }
    }
}

static uint32_t dispatcher_of(struct graph_builder *builder, uint32_t set, uint32_t state)
{
    struct flow_callees members = flow_set(builder->flow, set);
    uint64_t key = ((uint64_t)builder->flow->function_count + set) << 32 | state;
    bool is_new;
    uint32_t *id = graph_map_put_new(&builder->procedure_of, key, &is_new);

    if (!is_new)
        return *id;
    uint32_t number = *id = add_procedure(builder, FLOW_NONE, CALL_END_COUNT);
    for (uint32_t i = 0; i < members.count; i++) {
        if (is_passed(builder, members.data[i]))
            continue;
        uint32_t procedure = procedure_of(builder, members.data[i], state);

        if (procedure != FLOW_NONE)
            add_caller(builder, procedure,
                       (struct graph_caller){
                           .vertex = number, .function = members.data[i], .is_dispatcher = true});
    }
    return number;
}

// Several callees at a node that the automaton does not mind: all at once.
static void call_set(struct graph_builder *builder, uint32_t vertex, uint32_t state, uint32_t set)
{
    struct flow_callees members = flow_set(builder->flow, set);
    bool any = false;

    find_pass(builder, set);
    for (enum call_end end = 0; end < CALL_END_COUNT; end++)
        if (builder->pass_length[end][set] != CALLS_FAR)
            pass(builder, vertex, state, builder->pass_best[end][set], end,
                 builder->pass_length[end][set]);
    for (uint32_t i = 0; !any && i < members.count; i++)
        any = !is_passed(builder, members.data[i]);
    if (any)
        add_caller(builder, dispatcher_of(builder, set, state),
                   (struct graph_caller){.vertex = vertex, .function = FLOW_NONE});
}

void build_calls(struct graph_builder *builder, uint32_t vertex, uint32_t state)
{
    uint32_t node = builder->graph->vertices.data[vertex].node;
    struct flow_callees callees = flow_callees(builder->flow, node);

    if (callees.count > 1 && builder->graph->form == GRAPH_SPINE && !builder->problem->dataflow &&
        !build_minds(builder, node)) {
        call_set(builder, vertex, state, builder->flow->node_set[node]);
        return;
    }
    for (uint32_t i = 0; i < callees.count; i++)
        call_function(builder, vertex, state, callees.data[i], false);
}

void build_interrupts(struct graph_builder *builder, uint32_t vertex, uint32_t state)
{
    if (builder->flow->signals != FLOW_NONE &&
        (builder->facts->handlers_matter || builder->graph->form == GRAPH_PLAIN))
        call_function(builder, vertex, state, builder->flow->signals, true);
}

// ---- Working

// By edges of this kind.
static void procedure_goes_on(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                              uint32_t how, struct graph_edge edge)
{
    struct graph_vertex source = builder->graph->vertices.data[vertex];
    uint32_t function = builder->graph->procedures.data[source.procedure].function;
    const struct flow_function *f = &builder->flow->functions[function];
    struct flow_edges next = flow_edges(builder->flow, source.node);
    struct dataflow *dataflow = builder->problem->dataflow;

    edge.from = vertex;
    for (uint32_t k = 0; k < next.count; k++) {
        if (!(next.data[k].flags & how))
            continue;
        uint32_t target = next.data[k].target, reached = build_step(builder, state, target);

        if (reached == AUTOMATON_DEAD)
            continue;
        edge.to = build_vertex(
            builder, builder->procedures.data[source.procedure].base + target - f->first_node,
            target - f->first_node, reached,
            (struct graph_vertex){target, source.procedure, reached});
        edge.second = k;
        if (dataflow && edge.kind == EDGE_STEP)
            edge.value = dataflow_step(dataflow, source.node, k);
        else if (dataflow && edge.through == FLOW_NONE)
            edge.value = dataflow_skip(dataflow, source.node, k);
        build_edge(builder, edge);
    }
}

static void work_in_procedure(struct graph_builder *builder, uint32_t vertex)
{
    struct graph_vertex where = builder->graph->vertices.data[vertex];
    uint32_t flags;
    struct graph_edge edge = {.from = vertex,
                              .through = FLOW_NONE,
                              .function = FLOW_NONE,
                              .second = FLOW_NONE,
                              .kind = EDGE_ENDS};

    if (where.node == FLOW_NONE) {
        tell_callers(builder, vertex);
        return;
    }
    build_interrupts(builder, vertex, where.state);
    if (is_closed(builder, where.node))
        return;
    flags = builder->flow->node_flags[where.node];
    edge.value = flags ? leave_value(builder, where.node) : DATAFLOW_ONE;
    if (flags & FLOW_RETURNS)
        end_procedure(builder, vertex, where.state, CALL_RETURNS, edge);
    if (flags & FLOW_JUMPS)
        end_procedure(builder, vertex, where.state, CALL_JUMPS, edge);
    edge.kind = EDGE_STEP;
    edge.value = DATAFLOW_ONE;
    procedure_goes_on(builder, vertex, where.state, FLOW_PAST, edge);
    build_calls(builder, vertex, where.state);
}

static void work(struct graph_builder *builder)
{
    struct graph *graph = builder->graph;

    for (; builder->worked < graph->vertices.length; builder->worked++) {
        if (budget_is_spent(builder->budget) || graph->vertices.length >= PLACES_MOST ||
            graph->edges.length >= PLACES_MOST) {
            graph->complete = false;
            return;
        }
        if (is_in_spine(builder, builder->worked))
            spine_work(builder, builder->worked);
        else
            work_in_procedure(builder, builder->worked);
    }
}

static void builder_init(struct graph_builder *builder)
{
    uint32_t sets = builder->flow->set_count;

    for (enum call_end end = 0; end < CALL_END_COUNT; end++) {
        builder->pass_length[end] = xcalloc(sets + 1u, sizeof(uint32_t));
        builder->pass_best[end] = xcalloc(sets + 1u, sizeof(uint32_t));
    }
    builder->pass_known = xcalloc(sets + 1u, sizeof(bool));
    bitset_init(&builder->ends, builder->flow->node_count);
    *graph_map_put(&builder->mask_of, 0) = 0;
    graph_mask_vec_push(&builder->graph->masks, 0);
}

static void builder_deinit(struct graph_builder *builder)
{
    for (size_t i = 0; i < builder->procedures.length; i++) {
        graph_caller_vec_deinit(&builder->procedures.data[i].callers);
        path_id_vec_deinit(&builder->procedures.data[i].exits);
    }
    build_vertex_vec_deinit(&builder->vertices);
    build_procedure_vec_deinit(&builder->procedures);
    graph_map_deinit(&builder->procedure_of);
    graph_map_deinit(&builder->vertex_of);
    graph_map_deinit(&builder->mask_of);
    path_id_vec_deinit(&builder->dense);
    for (enum call_end end = 0; end < CALL_END_COUNT; end++) {
        free(builder->pass_length[end]);
        free(builder->pass_best[end]);
    }
    free(builder->pass_known);
    spine_deinit(builder);
}

struct graph *graph_create(const struct path_problem *problem, const struct marks *marks,
                           const struct calls *calls, enum graph_form form, struct budget *budget)
{
    struct graph *graph = xcalloc(1, sizeof(*graph));
    struct graph_builder builder = {.graph = graph,
                                    .problem = problem,
                                    .flow = problem->flow,
                                    .facts = calls,
                                    .automaton = problem->automaton,
                                    .budget = budget};

    graph->problem = problem;
    graph->flow = problem->flow;
    graph->marks = marks;
    graph->calls = calls;
    graph->form = form;
    graph->complete = true;
    builder_init(&builder);
    add_procedure(&builder, FLOW_NONE, 0);
    spine_start(&builder);
    if (form == GRAPH_PLAIN && problem->view_count == 0) {
        uint32_t initial = problem->automaton ? problem->automaton->initial : 0;

        if (initial != AUTOMATON_DEAD)
            procedure_of(&builder, problem->start, initial);
    }
    work(&builder);
    builder_deinit(&builder);
    return graph;
}

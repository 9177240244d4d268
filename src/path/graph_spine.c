// SPDX-License-Identifier: Apache-2.0
// The spine: pending activations, one behind the other.
#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "path/graph_build.h"
#include "solve/automaton.h"

// More of a view's nodes than this that have to be visited are not looked at: whoever shows a path
// checks it. As many as `ask` looks at.
#define OWN_RAN 8u

static bool is_gap(const struct build_stage *stage)
{
    return stage->view->function == FLOW_NONE;
}

static uint32_t stage_at(const struct graph_builder *builder, uint32_t place)
{
    uint32_t low = 0, high = (uint32_t)builder->stages.length;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (builder->stages.data[middle].base <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t mode_of(struct graph_builder *builder, uint32_t state, uint64_t visited)
{
    uint64_t key = visited ? hash_mix(visited) ^ state : state;
    bool is_new;

    // hashes may coincide: look on until the mode is the right one
    for (;; key++) {
        uint32_t *id = graph_map_put_new(&builder->mode_of, key, &is_new);

        if (is_new) {
            *id = (uint32_t)builder->modes.length;
            build_mode_vec_push(&builder->modes, (struct build_mode){state, visited});
        }
        if (builder->modes.data[*id].state == state && builder->modes.data[*id].visited == visited)
            return *id;
    }
}

static uint64_t all_visited(const struct view *view)
{
    return view->ran_count > OWN_RAN ? 0 : (UINT64_C(1) << view->ran_count) - 1;
}

static uint64_t visit(const struct view *view, uint32_t node, uint64_t visited)
{
    for (uint32_t r = 0; view->ran_count <= OWN_RAN && r < view->ran_count; r++)
        if (view->ran[r] == node)
            visited |= UINT64_C(1) << r;
    return visited;
}

static struct build_mode mode_at(const struct graph_builder *builder, uint32_t vertex)
{
    return builder->modes.data[builder->vertices.data[vertex].mode];
}

// Control reaches a copy of the stage, by the edge, in this state before the node's letter.
static void reach_copy(struct graph_builder *builder, uint32_t stage_id, uint32_t copy,
                       uint32_t state, uint64_t visited, struct graph_edge edge)
{
    const struct build_stage *stage = &builder->stages.data[stage_id];
    uint32_t node = is_gap(stage) ? copy : stage->view->node[copy];
    uint32_t reached = build_step(builder, state, node), place = stage->base + copy;

    if (reached == AUTOMATON_DEAD)
        return;
    edge.to = build_vertex(builder, place, place,
                           mode_of(builder, reached, visit(stage->view, node, visited)),
                           (struct graph_vertex){node, GRAPH_SPINE_PROCEDURE, reached});
    build_edge(builder, edge);
}

// ---- Within one activation

// The number of the flow's edge that a copy's edge stands for.
static uint32_t flow_edge_of(const struct graph_builder *builder, uint32_t from, uint32_t to,
                             uint32_t flags)
{
    struct flow_edges next = flow_edges(builder->flow, from);

    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].target == to && next.data[k].flags & flags)
            return k;
    return FLOW_NONE;
}

static void go_by(struct graph_builder *builder, uint32_t stage_id, uint32_t copy, uint32_t state,
                  uint64_t visited, uint32_t how, struct graph_edge edge)
{
    const struct build_stage *stage = &builder->stages.data[stage_id];
    uint32_t from = builder->graph->vertices.data[edge.from].node;
    uint32_t to = is_gap(stage) ? copy : stage->view->node[copy];
    struct dataflow *dataflow = builder->problem->dataflow;

    edge.second = flow_edge_of(builder, from, to, how);
    if (dataflow && edge.through == FLOW_NONE) {
        // a path that was recorded, where the graph has no such edge
        if (edge.second == FLOW_NONE)
            edge.value = dataflow_end(dataflow, from);
        else if (edge.kind == EDGE_STEP)
            edge.value = dataflow_step(dataflow, from, edge.second);
        else
            edge.value = dataflow_skip(dataflow, from, edge.second);
    }
    reach_copy(builder, stage_id, copy, state, visited, edge);
}

void spine_goes_on(struct graph_builder *builder, uint32_t vertex, uint32_t state, uint32_t how,
                   struct graph_edge edge)
{
    uint32_t place = builder->vertices.data[vertex].place, node;
    uint32_t s = stage_at(builder, place), copy = place - builder->stages.data[s].base;
    const struct view *view = builder->stages.data[s].view;
    uint64_t visited = mode_at(builder, vertex).visited;

    node = builder->graph->vertices.data[vertex].node;
    if (view->function == FLOW_NONE) {
        struct flow_edges next = flow_edges(builder->flow, node);

        for (uint32_t k = 0; k < next.count; k++)
            if (next.data[k].flags & how)
                go_by(builder, s, next.data[k].target, state, visited, how, edge);
        return;
    }
    for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
        if (view->edges[e].flags & how)
            go_by(builder, s, view->edges[e].target, state, visited, how, edge);
}

void spine_resume(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                  struct graph_edge edge)
{
    uint32_t place = builder->vertices.data[vertex].place;

    edge.to = build_vertex(builder, place, place,
                           mode_of(builder, state, mode_at(builder, vertex).visited),
                           (struct graph_vertex){builder->graph->vertices.data[vertex].node,
                                                 GRAPH_SPINE_PROCEDURE, state});
    build_edge(builder, edge);
}

// ---- From one to the next

static bool calls(const struct graph_builder *builder, uint32_t node, uint32_t function)
{
    struct flow_callees callees = flow_callees(builder->flow, node);

    for (uint32_t i = 0; i < callees.count; i++)
        if (callees.data[i] == function)
            return true;
    return false;
}

static void enter_at(struct graph_builder *builder, uint32_t stage_id, uint32_t function,
                     uint32_t state, struct graph_edge edge)
{
    const struct view *view = builder->stages.data[stage_id].view;
    const struct flow_function *f = &builder->flow->functions[function];

    if (view->function == FLOW_NONE && f->node_count)
        reach_copy(builder, stage_id, f->entry, state, 0, edge);
    for (uint32_t i = 0; view->function != FLOW_NONE && i < view->start_count; i++)
        reach_copy(builder, stage_id, view->start[i], state, 0, edge);
}

static struct graph_edge pending_edge(const struct graph_builder *builder, uint32_t from,
                                      uint32_t node, uint32_t function)
{
    struct dataflow *dataflow = builder->problem->dataflow;

    return (struct graph_edge){
        .from = from,
        .through = FLOW_NONE,
        .function = function,
        .second = FLOW_NONE,
        .kind = EDGE_PENDS,
        .value = dataflow ? dataflow_call(dataflow, node, function) : DATAFLOW_ONE,
    };
}

// The pending call of `function` at the vertex, into the stage.
static void enter_stage(struct graph_builder *builder, uint32_t vertex, uint32_t stage_id,
                        uint32_t function)
{
    struct graph_vertex where = builder->graph->vertices.data[vertex];
    uint32_t symbol, state = build_call(builder, where.state, where.node, function, &symbol);

    if (state != AUTOMATON_DEAD)
        enter_at(builder, stage_id, function, state,
                 pending_edge(builder, vertex, where.node, function));
}

// Any of the node's callees into a gap: where that makes no difference, by a place that stands for
// the calls of the set.
static void enter_gap(struct graph_builder *builder, uint32_t vertex, uint32_t stage_id)
{
    struct graph_vertex where = builder->graph->vertices.data[vertex];
    struct flow_callees callees = flow_callees(builder->flow, where.node);
    uint32_t set = builder->flow->node_set[where.node];
    bool is_new;

    if (callees.count < 3 || builder->problem->dataflow || build_minds(builder, where.node)) {
        for (uint32_t i = 0; i < callees.count; i++)
            enter_stage(builder, vertex, stage_id, callees.data[i]);
        return;
    }
    // hashes of the three may coincide only where stages and sets are more than 65,535
    uint64_t key = ((uint64_t)stage_id << 48 ^ (uint64_t)set << 32) | where.state;
    if (set > UINT16_MAX || stage_id > UINT16_MAX) {
        for (uint32_t i = 0; i < callees.count; i++)
            enter_stage(builder, vertex, stage_id, callees.data[i]);
        return;
    }
    uint32_t *found = graph_map_put_new(&builder->select_of, key, &is_new);
    uint32_t select = *found;
    if (is_new) {
        select = *found = (uint32_t)builder->graph->vertices.length;
        graph_vertex_vec_push(&builder->graph->vertices,
                              (struct graph_vertex){FLOW_NONE, GRAPH_SPINE_PROCEDURE, where.state});
        build_vertex_vec_push(&builder->vertices, (struct build_vertex){FLOW_NONE, 0});
        for (uint32_t i = 0; i < callees.count; i++)
            enter_at(builder, stage_id, callees.data[i], where.state,
                     pending_edge(builder, select, where.node, callees.data[i]));
    }
    build_edge(builder, (struct graph_edge){.from = vertex,
                                            .to = select,
                                            .through = FLOW_NONE,
                                            .function = FLOW_NONE,
                                            .second = FLOW_NONE,
                                            .kind = EDGE_SELECTS,
                                            .value = DATAFLOW_ONE});
}

static uint32_t goal_of(struct graph_builder *builder, uint32_t stack)
{
    struct graph *graph = builder->graph;

    for (size_t i = 0; i < graph->goals.length; i++)
        if (graph->goals.data[i].stack == stack)
            return graph->goals.data[i].vertex;
    uint32_t goal = (uint32_t)graph->vertices.length;
    graph_vertex_vec_push(&graph->vertices,
                          (struct graph_vertex){FLOW_NONE, GRAPH_SPINE_PROCEDURE, 0});
    build_vertex_vec_push(&builder->vertices, (struct build_vertex){FLOW_NONE, 0});
    graph_goal_vec_push(&graph->goals, (struct graph_goal){goal, stack});
    return goal;
}

static void add_final(struct graph_builder *builder, uint32_t vertex, uint32_t stack)
{
    struct graph_vertex where = builder->graph->vertices.data[vertex];
    struct automaton *automaton = builder->automaton;

    if (automaton && !automaton->accepts(automaton, where.state))
        return;
    build_edge(builder, (struct graph_edge){.from = vertex,
                                            .to = goal_of(builder, stack),
                                            .through = FLOW_NONE,
                                            .function = FLOW_NONE,
                                            .second = FLOW_NONE,
                                            .kind = EDGE_ENDS,
                                            .value = build_end_value(builder, where.node)});
}

// From anywhere in a gap.
static void leave_gap(struct graph_builder *builder, uint32_t vertex, uint32_t stage_id)
{
    const struct build_stage *stage = &builder->stages.data[stage_id];
    uint32_t node = builder->graph->vertices.data[vertex].node, signals = builder->flow->signals;
    bool is_open = !bitset_test(builder->facts->facts.closed, node);
    bool may_end = !builder->problem->end_count || builder->problem->view_count ||
                   bitset_test(&builder->ends, node);

    if (is_open)
        enter_gap(builder, vertex, stage_id);
    if (signals != FLOW_NONE)
        enter_stage(builder, vertex, stage_id, signals);
    if (!stage->next.length) {
        if (may_end)
            add_final(builder, vertex, 0);
        return;
    }
    uint32_t next = stage->next.data[0], function = builder->stages.data[next].view->function;
    if ((is_open && calls(builder, node, function)) ||
        (signals != FLOW_NONE && function == signals))
        enter_stage(builder, vertex, next, function);
}

// From the end of a view into a gap, which may be empty. Before anything runs nobody has set up a
// handler.
static void enter_or_skip_gap(struct graph_builder *builder, uint32_t vertex, uint32_t stage_id,
                              uint32_t gap)
{
    const struct view *view = builder->stages.data[stage_id].view;
    uint32_t node = builder->graph->vertices.data[vertex].node;
    uint32_t signals =
        view->function == builder->flow->any_start ? FLOW_NONE : builder->flow->signals;

    if (signals != FLOW_NONE)
        enter_stage(builder, vertex, gap, signals);
    enter_gap(builder, vertex, gap);
    if (!builder->stages.data[gap].next.length) {
        add_final(builder, vertex, 0);
        return;
    }
    uint32_t behind = builder->stages.data[gap].next.data[0];
    uint32_t function = builder->stages.data[behind].view->function;
    if (builder->stages.data[gap].view->is_direct || calls(builder, node, function) ||
        (signals != FLOW_NONE && function == signals))
        enter_stage(builder, vertex, behind, function);
}

static void leave_view(struct graph_builder *builder, uint32_t vertex, uint32_t stage_id)
{
    uint32_t node = builder->graph->vertices.data[vertex].node;

    if (builder->stages.data[stage_id].stack != FLOW_NONE)
        add_final(builder, vertex, builder->stages.data[stage_id].stack);
    for (size_t i = 0; i < builder->stages.data[stage_id].next.length; i++) {
        uint32_t next = builder->stages.data[stage_id].next.data[i];
        const struct build_stage *behind = &builder->stages.data[next];
        uint32_t function = behind->view->function;
        bool is_closed = bitset_test(builder->facts->facts.closed, node);

        if (is_gap(behind))
            enter_or_skip_gap(builder, vertex, stage_id, next);
        else if (!behind->is_checked || (!is_closed && calls(builder, node, function)) ||
                 function == builder->flow->signals)
            enter_stage(builder, vertex, next, function);
    }
}

static bool is_end(const struct view *view, uint32_t copy)
{
    for (uint32_t i = 0; i < view->end_count; i++)
        if (view->end[i] == copy)
            return true;
    return false;
}

void spine_work(struct graph_builder *builder, uint32_t vertex)
{
    uint32_t place = builder->vertices.data[vertex].place;
    uint32_t node = builder->graph->vertices.data[vertex].node;

    if (place == FLOW_NONE)
        return;
    uint32_t s = stage_at(builder, place), copy = place - builder->stages.data[s].base;
    const struct view *view = builder->stages.data[s].view;
    struct build_mode mode = mode_at(builder, vertex);
    if (view->function == FLOW_NONE)
        leave_gap(builder, vertex, s);
    else if (is_end(view, copy) && mode.visited == all_visited(view))
        leave_view(builder, vertex, s);
    build_interrupts(builder, vertex, mode.state);
    if (bitset_test(builder->facts->facts.closed, node) ||
        (view->function != FLOW_NONE && view->closed[copy]))
        return;
    spine_goes_on(builder, vertex, mode.state, FLOW_PAST,
                  (struct graph_edge){.from = vertex,
                                      .through = FLOW_NONE,
                                      .function = FLOW_NONE,
                                      .kind = EDGE_STEP,
                                      .value = DATAFLOW_ONE});
    build_calls(builder, vertex, mode.state);
}

// ---- What activations there are

static uint32_t add_stage(struct graph_builder *builder, struct view *view, uint32_t parent,
                          uint32_t stack)
{
    uint32_t id = (uint32_t)builder->stages.length;

    build_stage_vec_push(&builder->stages,
                         (struct build_stage){.view = view,
                                              .base = (uint32_t)builder->place_count,
                                              .next = VEC_INIT,
                                              .stack = stack});
    builder->place_count +=
        view->function == FLOW_NONE ? builder->flow->node_count : (uint64_t)view->count;
    if (parent != FLOW_NONE)
        path_id_vec_push(&builder->stages.data[parent].next, id);
    return id;
}

static void add_views(struct graph_builder *builder)
{
    const struct path_problem *problem = builder->problem;

    for (uint32_t v = 0; v < problem->view_count; v++)
        add_stage(builder, problem->views[v], v ? v - 1 : FLOW_NONE,
                  v + 1 == problem->view_count ? 0 : FLOW_NONE);
}

// The stage below `parent` that stands at this node, FLOW_NONE: none yet.
static uint32_t find_stage(const struct graph_builder *builder, uint32_t parent, uint32_t node)
{
    size_t count =
        parent == FLOW_NONE ? builder->stages.length : builder->stages.data[parent].next.length;

    for (size_t i = 0; i < count; i++) {
        uint32_t s = parent == FLOW_NONE ? (uint32_t)i : builder->stages.data[parent].next.data[i];
        const struct build_stage *stage = &builder->stages.data[s];

        // of the outermost ones there are those that nobody is the parent of
        if (stage->view->end_count && stage->view->node[stage->view->end[0]] == node &&
            (parent != FLOW_NONE || !stage->is_checked))
            return s;
    }
    return FLOW_NONE;
}

// Stacks that begin alike share what is alike.
static void add_stack(struct graph_builder *builder, uint32_t number)
{
    const struct path_stack *stack = &builder->problem->stacks[number];
    uint32_t parent = FLOW_NONE;

    if (!stack->count || builder->flow->node_function[stack->nodes[0]] != builder->problem->start)
        return;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t stage = find_stage(builder, parent, stack->nodes[i]);

        if (stage == FLOW_NONE) {
            struct view_facts facts = {.function = builder->flow->node_function[stack->nodes[i]],
                                       .at = &stack->nodes[i],
                                       .at_count = 1};

            stage = add_stage(builder, view_create(builder->flow, &facts), parent, FLOW_NONE);
            builder->stages.data[stage].is_own = true;
            builder->stages.data[stage].is_checked = i > 0;
        }
        parent = stage;
    }
    // of stacks that are the same the first is named
    if (builder->stages.data[parent].stack == FLOW_NONE)
        builder->stages.data[parent].stack = number;
}

static void add_gap(struct graph_builder *builder)
{
    struct view_facts facts = {.function = FLOW_NONE};
    uint32_t stage = add_stage(builder, view_create(builder->flow, &facts), FLOW_NONE, 0);

    builder->stages.data[stage].is_own = true;
    for (uint32_t i = 0; i < builder->problem->end_count; i++)
        bitset_set(&builder->ends, builder->problem->ends[i]);
}

static void start_at(struct graph_builder *builder, uint32_t stage_id, uint32_t state)
{
    const struct path_problem *problem = builder->problem;
    const struct build_stage *stage = &builder->stages.data[stage_id];
    struct graph_edge edge = {
        .from = builder->graph->origin,
        .through = FLOW_NONE,
        .function = FLOW_NONE,
        .second = FLOW_NONE,
        .kind = EDGE_STEP,
        .value = problem->dataflow ? dataflow_begin(problem->dataflow) : DATAFLOW_ONE,
    };

    if (stage->is_checked)
        return;
    if (is_gap(stage) && builder->flow->functions[problem->start].node_count)
        reach_copy(builder, stage_id, builder->flow->functions[problem->start].entry, state, 0,
                   edge);
    for (uint32_t i = 0; !is_gap(stage) && i < stage->view->start_count; i++)
        reach_copy(builder, stage_id, builder->stages.data[stage_id].view->start[i], state, 0,
                   edge);
}

void spine_start(struct graph_builder *builder)
{
    const struct path_problem *problem = builder->problem;
    uint32_t initial = problem->automaton ? problem->automaton->initial : 0;

    mode_of(builder, 0, 0); // mode 0, which has the dense table
    builder->graph->origin = (uint32_t)builder->graph->vertices.length;
    graph_vertex_vec_push(&builder->graph->vertices,
                          (struct graph_vertex){FLOW_NONE, GRAPH_SPINE_PROCEDURE, 0});
    build_vertex_vec_push(&builder->vertices, (struct build_vertex){FLOW_NONE, 0});
    if (problem->view_count)
        add_views(builder);
    else if (builder->graph->form == GRAPH_PLAIN)
        return;
    for (uint32_t i = 0; !problem->view_count && i < problem->stack_count; i++)
        add_stack(builder, i);
    if (!problem->view_count && !problem->stack_count)
        add_gap(builder);
    // places of the spine are the first
    assert(builder->procedures.length == 1);
    if (builder->place_count >= UINT32_MAX / 2 || initial == AUTOMATON_DEAD) {
        builder->graph->complete &= initial == AUTOMATON_DEAD;
        return;
    }
    for (uint32_t s = 0; s < builder->stages.length; s++)
        if (s == 0 || !problem->view_count)
            start_at(builder, s, initial);
}

void spine_deinit(struct graph_builder *builder)
{
    for (size_t i = 0; i < builder->stages.length; i++) {
        if (builder->stages.data[i].is_own)
            view_destroy(builder->stages.data[i].view);
        path_id_vec_deinit(&builder->stages.data[i].next);
    }
    build_stage_vec_deinit(&builder->stages);
    build_mode_vec_deinit(&builder->modes);
    graph_map_deinit(&builder->mode_of);
    graph_map_deinit(&builder->select_of);
    bitset_deinit(&builder->ends);
}

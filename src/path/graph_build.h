// SPDX-License-Identifier: Apache-2.0
// Shared by the files that make a graph; see graph.h.
#ifndef PATH_GRAPH_BUILD_H
#define PATH_GRAPH_BUILD_H

#include "common/map.h"
#include "path/graph.h"
#include "solve/view.h"

MAP_DEFINE_U64(graph_map, uint32_t);

// Who goes on when a procedure ends: a vertex that called it, or a dispatcher.
struct graph_caller {
    uint32_t vertex; // or the dispatcher's number
    uint32_t symbol;
    uint32_t function;
    uint32_t call; // of graph.calls_made
    bool is_handler, is_dispatcher;
};
VEC_DEFINE(graph_caller_vec, struct graph_caller);

struct build_procedure {
    uint64_t base; // number of its first place: nodes, then an exit for each kind of end
    struct graph_caller_vec callers;
    struct path_id_vec exits; // vertices
};
VEC_DEFINE(build_procedure_vec, struct build_procedure);

// Where a vertex is: a place of its procedure, in a mode.
struct build_vertex {
    uint32_t place; // in its procedure
    uint32_t mode;  // state of the automaton; in the spine a number of `modes`
};
VEC_DEFINE(build_vertex_vec, struct build_vertex);

struct build_mode {
    uint32_t state;
    uint64_t visited; // of the view's `ran`
};
VEC_DEFINE(build_mode_vec, struct build_mode);

// A pending activation, or a gap.
struct build_stage {
    struct view *view;
    uint32_t base;           // place of its first copy
    struct path_id_vec next; // stages
    bool is_own;             // the view is ours
    uint32_t stack;          // that ends here, FLOW_NONE: none
    bool is_checked;         // calls into it have to be calls of the program
};
VEC_DEFINE(build_stage_vec, struct build_stage);

struct graph_builder {
    struct graph *graph;
    const struct path_problem *problem;
    const struct flow *flow;
    const struct calls *facts;
    struct automaton *automaton;
    struct budget *budget;
    struct build_vertex_vec vertices;
    struct build_procedure_vec procedures;
    struct graph_map procedure_of; // by function and state; by set and state
    struct graph_map vertex_of;    // by place and mode
    struct path_id_vec dense;      // by place, for mode 0
    uint64_t place_count;
    uint32_t worked;
    struct graph_map mask_of;
    // Callees that are passed, by set and kind of end: the shortest; lazily
    uint32_t *pass_length[CALL_END_COUNT], *pass_best[CALL_END_COUNT];
    bool *pass_known;
    // The spine
    struct build_stage_vec stages;
    struct build_mode_vec modes;
    struct graph_map mode_of;
    struct graph_map select_of; // by stage, set and state: the vertex that stands for the calls
    struct bitset ends;         // nodes where paths may end, where any stack will do
    uint32_t goal_of_stack;
};

// ---- graph_build.c

// A state of the automaton, AUTOMATON_DEAD where the node may not be reached.
uint32_t build_step(const struct graph_builder *builder, uint32_t state, uint32_t node);
uint32_t build_call(const struct graph_builder *builder, uint32_t state, uint32_t node,
                    uint32_t function, uint32_t *symbol);
uint32_t build_leave(const struct graph_builder *builder, uint32_t state, uint32_t symbol,
                     uint32_t node, uint32_t function);
bool build_minds(const struct graph_builder *builder, uint32_t node);
// place: among all. Looked at later where it is new.
uint32_t build_vertex(struct graph_builder *builder, uint64_t place_number, uint32_t place,
                      uint32_t mode, struct graph_vertex vertex);
// The mask of reaching `to` is added where the edge does.
void build_edge(struct graph_builder *builder, struct graph_edge edge);
// All that is called from the vertex and completed.
void build_calls(struct graph_builder *builder, uint32_t vertex, uint32_t state);
void build_interrupts(struct graph_builder *builder, uint32_t vertex, uint32_t state);
struct dataflow_value build_end_value(const struct graph_builder *builder, uint32_t node);

// ---- graph_spine.c

void spine_start(struct graph_builder *builder);
void spine_work(struct graph_builder *builder, uint32_t vertex);
// By edges of this kind, in the same view: behind a call, or without one.
void spine_goes_on(struct graph_builder *builder, uint32_t vertex, uint32_t state, uint32_t how,
                   struct graph_edge edge);
// A handler has returned.
void spine_resume(struct graph_builder *builder, uint32_t vertex, uint32_t state,
                  struct graph_edge edge);
uint32_t spine_state(const struct graph_builder *builder, uint32_t vertex);
void spine_deinit(struct graph_builder *builder);

#endif

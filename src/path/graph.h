// SPDX-License-Identifier: Apache-2.0
/*
 * All paths that a problem allows, as an explicit graph: what they are worth is left to whoever
 * goes along them.
 *
 *     struct graph *graph = graph_create(problem, &marks, &calls, GRAPH_SPINE, budget);
 *     graph_cut(graph);       // what is on no path is gone
 *     graph_compress(graph);  // chains and parallel ways become one edge
 *     graph_tell(graph, edge, &events);
 *     graph_destroy(graph);
 *
 * *Procedures* are functions in completed calls, one for each state of the automaton that they are
 * entered in; what is done in one is the same whoever calls it. Procedure 0, the *spine*, is the
 * chain of pending activations: views (solve/view.h), whole functions for plain stacks, or any
 * pending calls. It leads from `origin` to `goals`. What is allowed is exactly what
 * solve/product.c, which `ask` uses, allows.
 *
 * An edge leads from a vertex to another of the same procedure. It reaches `length` nodes and has
 * `mask`; an edge *through* an exit stands for a call, too: of the procedure that has this exit, by
 * any way that leads to it. Exits have edges to exits of *dispatchers* (procedures without a
 * function), which stand for all members of a set of callees.
 *
 * Calls of functions in which nothing matters are edges with the length of a shortest one.
 */
#ifndef PATH_GRAPH_H
#define PATH_GRAPH_H

#include "path/calls.h"
#include "path/marks.h"

struct budget;

#define GRAPH_SPINE_PROCEDURE 0u

enum graph_form {
    // Pending activations apart from completed calls.
    GRAPH_SPINE,
    // Procedures alone, every callee with its own edges; for pushdown systems, where it shows on
    // the stack which calls are pending. No compression. The spine has the origin alone.
    GRAPH_PLAIN,
};

enum edge_kind {
    EDGE_STEP,          // control reaches the node of `to`
    EDGE_PENDS,         // a call that stays pending, to its entry
    EDGE_SELECTS,       // to a place that stands for a set of pending calls
    EDGE_PASSES_RETURN, // a shortest call of `function`, and control goes on behind it
    EDGE_PASSES_JUMP,   // the same, left by a jump
    EDGE_THROUGH,       // a completed call
    EDGE_RESUMES,       // a handler's call, behind which control is where it was
    EDGE_ENDS,          // to an exit, or a goal: nothing happens
    EDGE_LIFTS,         // from a member's exit to that of a dispatcher
    EDGE_JOINED,        // two edges, one behind the other
};

struct graph_edge {
    uint32_t from, to;
    uint32_t through;  // FLOW_NONE, or an exit of the procedure that is called
    uint32_t length;   // nodes reached, without those of a completed call
    uint32_t function; // called; of a joined edge: the first of the two
    uint32_t second;   // of a joined edge; else the number of the flow's edge, or FLOW_NONE
    uint32_t mask;     // of graph.masks: what is met, behind the completed call
    struct dataflow_value value; // the same
    uint32_t call;               // in GRAPH_PLAIN: of calls_made, of an edge through an exit
    uint8_t kind;
};

struct graph_vertex {
    uint32_t node; // FLOW_NONE: of none (exits, goals, ...)
    uint32_t procedure;
    uint32_t state; // of the automaton
};

struct graph_procedure {
    uint32_t function; // FLOW_NONE: the spine, or a dispatcher
    uint32_t entry;    // FLOW_NONE: there is none
};

// In GRAPH_PLAIN: a call, and where the edges through its exits are.
struct graph_call {
    uint32_t from, procedure, function;
    bool is_handler;
};

struct graph_goal {
    uint32_t vertex;
    uint32_t stack; // which of the problem's
};

VEC_DEFINE(graph_edge_vec, struct graph_edge);
VEC_DEFINE(graph_vertex_vec, struct graph_vertex);
VEC_DEFINE(graph_procedure_vec, struct graph_procedure);
VEC_DEFINE(graph_call_vec, struct graph_call);
VEC_DEFINE(graph_goal_vec, struct graph_goal);
VEC_DEFINE(graph_mask_vec, uint64_t);

struct graph {
    const struct path_problem *problem;
    const struct flow *flow;
    const struct marks *marks;
    const struct calls *calls;
    enum graph_form form;
    struct graph_vertex_vec vertices;
    struct graph_edge_vec edges; // joined ones behind those that they are made of
    struct graph_procedure_vec procedures;
    struct graph_mask_vec masks; // 0 is none
    uint32_t origin;
    struct graph_goal_vec goals;
    bool complete; // false: the budget was spent while it was made
    // In GRAPH_PLAIN
    struct graph_call_vec calls_made;
    // Edges that are in use, by source and by exit that they lead through. Behind graph_cut.
    uint32_t *out_start, *out_edges;
    uint32_t *through_start, *through_edges;
    uint32_t live_edges;
};

struct graph *graph_create(const struct path_problem *problem, const struct marks *marks,
                           const struct calls *calls, enum graph_form form, struct budget *budget);
void graph_destroy(struct graph *graph);
void graph_cut(struct graph *graph);
void graph_compress(struct graph *graph);

uint32_t graph_mask(struct graph *graph, uint64_t bits);

// The edges that an edge is made of, first to last.
void graph_expand(const struct graph *graph, uint32_t edge, struct path_id_vec *edges);

static inline bool graph_is_exit(const struct graph *graph, uint32_t vertex)
{
    return graph->vertices.data[vertex].node == FLOW_NONE;
}

// ---- Between graph.c and compress.c

// Makes the lists of edges, of those that `live` names.
void graph_index(struct graph *graph, const struct bitset *live);

#endif

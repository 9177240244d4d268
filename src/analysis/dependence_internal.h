// SPDX-License-Identifier: Apache-2.0
// What the files dependence*.c share. Only they include it.
#ifndef ANALYSIS_DEPENDENCE_INTERNAL_H
#define ANALYSIS_DEPENDENCE_INTERNAL_H

#include "analysis/dependence.h"
#include "analysis/digraph.h"
#include "analysis/points_to.h"
#include "common/arena.h"
#include "common/map.h"
#include "common/sparse_set.h"

#define CLASS_ANYTHING 0u
#define SET_EMPTY      0u
#define SET_ANYTHING   1u

// ---- The call graph (dependence_calls.c)

/*
 * Functions, then the sets of the callee table that have more than one member (a site leads to its
 * set, the set to its members), then a root of all. Components are in topological order.
 */
struct call_graph {
    struct digraph graph;
    struct components components;
    uint32_t *node_of_set; // by set of the callee table: graph node; DIGRAPH_NONE: no members
    struct bitset stays;   // by graph node: may not come back
    struct bitset jumps;   // may be left by longjmp or unwinding
    struct bitset aside;   // by function: may run in a thread of its own or in a signal handler
    bool has_pads;         // there are landing pads: calls may unwind
    bool is_threaded;      // `aside` is not empty
    bool handler_jumps;    // a signal handler may end in a longjmp
};

void call_graph_init(struct call_graph *calls, const struct model *model);
void call_graph_deinit(struct call_graph *calls);
// Of the call that ends a node; false where none does.
bool call_may_stay(const struct dependence *dependence, struct node_id node);
bool call_may_jump(const struct dependence *dependence, struct node_id node);
// Does control go from one node to its successor? Not behind a call that never returns.
bool edge_is_real(const struct model *model, struct node_id from, struct node_id to);

// ---- One function's graph, with what a search needs (dependence_flow.c)

struct flow_edge {
    uint32_t node; // in the function
    uint32_t edge; // of the model
};

struct function_flow {
    uint32_t first_node, node_count;
    uint32_t *insn_start;   // by node; node_count + 1
    uint32_t *before_start; // by node; node_count + 1
    struct flow_edge *before;
    uint32_t *twice; // nodes that end with a call which returns twice
    uint32_t twice_count;
    uint32_t *leaving; // nodes that end with a call which may be left by a jump
    uint32_t leaving_count;
    struct insn_id *events; // instructions that access memory or call, in order
    uint32_t event_count;
};

const struct function_flow *flow_get(struct dependence *dependence, struct function_id function);

// ---- Classes (dependence_classes.c, dependence_locals.c)

struct access_set {
    struct cell_set cells;
    struct class_set classes;
    struct class_set killed; // of classes, those of which nothing is left; where used as certain
    bool is_certain;
};
VEC_DEFINE(access_set_vec, struct access_set);

struct access_triple { // sets
    uint32_t reads, writes, certain;
};
VEC_DEFINE(access_triple_vec, struct access_triple);

struct memory_class {
    struct cell_id cell; // one of them
    uint32_t cell_count;
    uint32_t owner;   // function whose locals they all are, or MODEL_NONE
    bool is_killable; // a certain write of all cells leaves nothing
    bool stays;       // locals whose addresses never leave their activation
    bool dies;        // locals, of which nothing is left when the owner's activation ends
};
VEC_DEFINE(memory_class_vec, struct memory_class);

struct classes {
    struct access_set_vec sets;
    struct access_triple_vec triples; // 0: none at all
    uint32_t *triple_of_insn;
    uint32_t *class_of_cell; // MODEL_NONE: never accessed
    struct memory_class_vec list;
};

void classes_build(struct dependence *dependence);
void classes_deinit(struct classes *classes);
const struct access_triple *access_of(const struct dependence *dependence, struct insn_id insn);
bool class_set_has(struct class_set set, struct class_id id);

// By module: allocas whose addresses never leave the activation, one piece of memory in each.
struct bitset *locals_find(const struct model *model);
// Where an address is at a constant distance from an alloca of its function: that instruction.
bool locals_address(const struct code *code, struct operand address, uint32_t *ret_alloca,
                    int64_t *ret_offset);

// ---- What functions write and read (dependence_mod.c)

struct component_effects {
    bool is_known;
    struct sparse_set mod, ref;
    struct class_set mod_list, ref_list; // once asked for
    bool has_lists;
};

// Of a node of the call graph.
const struct component_effects *effects_get(struct dependence *dependence, uint32_t node);
void effects_deinit(struct dependence *dependence);
bool effects_meet(const struct sparse_set *set, struct class_id id);

// ---- Threads and handlers (dependence_async.c)

struct async_index {
    bool is_built;
    uint32_t *set_start[2]; // by set: instructions that read it, that write it
    struct insn_id *insns[2];
    uint32_t *class_start; // by class: sets that hold it
    uint32_t *sets;
};

struct insn_list async_list(struct dependence *dependence, struct function_id function,
                            struct class_id id, bool writes);
void async_deinit(struct async_index *index);

// ---- Searches (dependence_events.c, dependence_reaching.c, dependence_reached.c)

enum event_flag {
    EVENT_WRITES = 1u << 0,
    EVENT_KILLS = 1u << 1,
    EVENT_CALL_WRITES = 1u << 2,
    EVENT_CALLBACK_WRITES = 1u << 3, // a callback of the library's does
    EVENT_READS = 1u << 4,
    EVENT_CALL_READS = 1u << 5,
};

struct event {
    struct insn_id insn;
    uint32_t flags; // enum event_flag
};

struct event_list {
    const struct event *data;
    uint32_t count;
};

// What the function does to the class, in order.
struct event_list events_get(struct dependence *dependence, struct function_id function,
                             struct class_id id);
// The first event at or behind an instruction.
uint32_t events_from(struct event_list events, struct insn_id insn);
void insn_vec_sort(struct insn_vec *insns);
// The first instruction of a node, and the one behind its last.
struct insn_id node_first_insn(const struct dependence *dependence, struct node_id node,
                               uint32_t *ret_end);
static inline bool limits_allow(const struct reaching_limits *limits, uint32_t node)
{
    return !limits || !limits->nodes || bitset_test(limits->nodes, node);
}
static inline bool limits_allow_edge(const struct reaching_limits *limits, uint32_t edge)
{
    return !limits || !limits->edges || bitset_test(limits->edges, edge);
}

struct function_control {
    uint32_t *start; // by node
    struct node_id *nodes;
    struct bitset is_entry;
};

MAP_DEFINE_U64(event_map, struct event_list);
MAP_DEFINE_U64(definitions_map, struct definitions);
MAP_DEFINE_U64(uses_map, struct uses);
MAP_DEFINE_U64(insn_list_map, struct insn_list);

struct dependence {
    struct model *model;
    const struct points_to *points_to;
    struct arena arena;
    uint32_t *insn_start; // by module; module_count + 1
    struct call_graph calls;
    struct function_control **controls; // by function; NULL until asked for
    struct function_flow **flows;       // the same
    struct classes classes;
    struct component_effects *effects; // by component of the call graph
    struct async_index async;
    struct event_map events;             // function << 32 | class
    struct definitions_map definitions;  // insn << 32 | class
    struct uses_map uses;                // the same
    struct insn_list_map async_lists[4]; // class; by (runs aside, writes)
};

#endif

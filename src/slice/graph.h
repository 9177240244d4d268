// SPDX-License-Identifier: Apache-2.0
// The dependence graph that slices are made on, as far as it has been looked at; see slice.h.
#ifndef SLICE_GRAPH_H
#define SLICE_GRAPH_H

#include "common/map.h"
#include "slice/slice.h"

struct view;

/*
 * What a vertex stands for, in its activation. A position is an instruction of a copy of a node.
 */
enum vertex_kind {
    // by index
    VERTEX_INSN,  // position: it is executed, with what it reads; a call: it is made
    VERTEX_NODE,  // copy: control comes to it
    VERTEX_ENTRY, // the function is called
    VERTEX_ARGUMENT,
    VERTEX_RESULT,    // position of a call: what it returns
    VERTEX_EXIT,      // what the function returns
    VERTEX_BACK,      // that the function comes back
    VERTEX_CALL_BACK, // position: that the call comes back
    // by base vertex and class (of an actual argument: its number)
    VERTEX_ACTUAL,        // of an instruction: what is passed
    VERTEX_BEFORE,        // memory before the instruction
    VERTEX_BEFORE_CALLEE, // memory when the function that it calls is entered
    VERTEX_AFTER_CALL,    // memory as the call leaves it
    VERTEX_AFTER_JUMP,    // as a call leaves it that ends in a jump to this function
    VERTEX_AT_COPY,       // of a node: memory where the copy begins
    VERTEX_AT_ENTRY,      // of the entry: memory
    VERTEX_AT_EXIT,       // of the exit: memory where the function returns
    VERTEX_AT_JUMP,       // of the exit: where a jump leaves it
    VERTEX_ASYNCHRONOUS,  // a list of writers that are at work beside others
    VERTEX_ANYTIME,       // memory of a class that many functions use, whenever
    VERTEX_WRITERS,       // instructions that write the same classes
    VERTEX_MANY,          // memory of those of many classes that are wide, whenever
    VERTEX_KIND_COUNT,
};
#define VERTEX_FIRST_CLASSED VERTEX_ACTUAL

// For whom a vertex of a shared activation is asked for: one bit for each part of what a call
// leaves behind, by groups; and one for "whoever called".
#define CONTEXT_RESULT (UINT64_C(1) << 0)
#define CONTEXT_BACK   (UINT64_C(1) << 1)
#define CONTEXT_JUMP   (UINT64_C(1) << 62)
#define CONTEXT_ANY    (UINT64_C(1) << 63)

struct vertex {
    uint8_t kind; // enum vertex_kind
    bool expanded, queued;
    uint8_t reason; // enum slice_reason, for which it was first asked
    uint32_t activation;
    uint32_t index; // position, copy or argument; of one with a class: of its base
    uint32_t class;
    uint64_t contexts, told; // for whom it is asked; those that its edges know of
    uint32_t first_edge;
    uint32_t parent; // that it was first asked for by
};
VEC_DEFINE(vertex_vec, struct vertex);

struct vertex_edge {
    uint32_t to, next;
    uint8_t reason;
    bool any; // for whoever called, whatever the contexts are
};
VEC_DEFINE(vertex_edge_vec, struct vertex_edge);
VEC_DEFINE(vertex_id_vec, uint32_t);
VEC_DEFINE(insn_list_vec, struct insn_list);
VEC_DEFINE(class_set_vec, struct class_set);
MAP_DEFINE_U64(vertex_map, uint32_t);

// How a frame was entered.
enum entered_kind {
    ENTERED_BY_CALL,    // of the frame above, perhaps through the library
    ENTERED_BY_HANDLER, // the frame above was interrupted
    ENTERED_BY_ANYONE,  // frames are missing
    ENTERED_BY_START,   // it is the first
};

struct activation {
    uint32_t function; // of the model
    uint32_t frame;    // MODEL_NONE: of all calls that came back
    // Of a frame
    const struct view *view;
    enum entered_kind entered;
    uint32_t above; // activation
    // Copies of nodes; of a shared one they are the function's nodes
    uint32_t copy_count;
    uint32_t *first; // by copy, position of its first instruction; copy_count + 1
    // Of a frame: by copy, the copies before it that control can have come through
    uint32_t *before_start, *before;
    uint8_t *before_flags; // enum flow_edge_flag
    struct bitset is_start;
    // Of a shared one: who asks for what (pairs: bit, vertex), and what it needs from its caller
    struct vertex_id_vec asked_bits, asked_by, formals;
};
VEC_DEFINE(activation_vec, struct activation);

// Instructions that may write the same classes.
struct writers {
    struct class_set classes;
    struct insn_vec insns;
};
VEC_DEFINE(writers_vec, struct writers);

struct slicer {
    struct model *model;
    struct dependence *dependence;
    const struct ask_case *ask;
    enum slice_kind kind;
    const struct bitset *may; // nodes, or NULL
    struct activation_vec activations;
    uint32_t frame_count;   // the first of them are frames, innermost first
    uint32_t *shared;       // by function: its activation, or MODEL_NONE
    uint32_t *caller_start; // by function: sites that may enter it
    uint32_t *callers;
    // Classes that many functions use: who wrote one is not followed from call to call.
    struct bitset wide;
    struct writers_vec writers;
    uint32_t *writers_start, *writers_of; // by class: those that write it, or anything
    // While a slice is made
    unsigned flags;
    struct vertex_vec vertices;
    struct vertex_edge_vec edges;
    struct vertex_map plain, classed[VERTEX_KIND_COUNT - VERTEX_FIRST_CLASSED], linked;
    struct vertex_map by_number;    // VERTEX_ANYTIME by class, VERTEX_WRITERS by index
    struct vertex_map asynchronous; // by address of the list
    struct class_set_vec sets;      // of classes, by vertex.index of VERTEX_MANY
    struct insn_list_vec lists;     // of asynchronous writers, by vertex.index
    struct vertex_id_vec work;
    uint32_t now; // vertex that is expanded
};

// ---- activation.c

void slicer_make_frames(struct slicer *slicer);
void activation_deinit(struct activation *activation);
// The activation that stands for all completed calls of the function.
uint32_t slicer_shared(struct slicer *slicer, uint32_t function);
// Node of the model that the copy is one of.
uint32_t activation_node(const struct slicer *slicer, const struct activation *activation,
                         uint32_t copy);
uint32_t activation_copy_at(const struct activation *activation, uint32_t position);
struct insn_id activation_insn(const struct slicer *slicer, const struct activation *activation,
                               uint32_t position);
// Of a shared activation.
uint32_t activation_position(const struct slicer *slicer, const struct activation *activation,
                             struct insn_id insn);
bool slicer_may_run(const struct slicer *slicer, uint32_t node);

// ---- wide.c

void slicer_find_wide(struct slicer *slicer);

// ---- graph.c

// The vertex; made when there is none.
uint32_t vertex_at(struct slicer *slicer, uint32_t activation, enum vertex_kind kind,
                   uint32_t index);
uint32_t vertex_of(struct slicer *slicer, uint32_t base, enum vertex_kind kind, uint32_t class);
uint32_t vertex_of_list(struct slicer *slicer, struct insn_list list);
uint32_t vertex_of_set(struct slicer *slicer, struct class_set set);
uint32_t vertex_of_number(struct slicer *slicer, enum vertex_kind kind, uint32_t number);
// It is asked for, in these contexts.
void vertex_ask(struct slicer *slicer, uint32_t vertex, uint64_t contexts, uint32_t parent,
                enum slice_reason reason);
// The vertex that is expanded needs `to`.
void vertex_needs(struct slicer *slicer, uint32_t to, enum slice_reason reason);
void vertex_needs_anywhere(struct slicer *slicer, uint32_t to, enum slice_reason reason);
// The vertex that is expanded, a call, asks for part of what `function` leaves behind.
void vertex_asks_callee(struct slicer *slicer, uint32_t function, uint64_t bit, uint32_t exit);
uint64_t context_of_class(uint32_t class);
// Until nothing is asked for. False: the budget is spent.
bool slicer_propagate(struct slicer *slicer, struct budget *budget);
void slicer_forget(struct slicer *slicer);

// ---- expand.c

void slicer_expand(struct slicer *slicer, uint32_t vertex);
// What a callee's formal is at the call: position of an activation.
uint32_t slicer_actual(struct slicer *slicer, uint32_t activation, uint32_t position,
                       const struct vertex *formal);

#endif

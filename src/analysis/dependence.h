// SPDX-License-Identifier: Apache-2.0
/*
 * What instructions depend on: control, registers, memory. Everything is made on demand, function
 * by function: whoever never asks about a function does not pay for it. src/slice joins these parts
 * into the system dependence graph of Horwitz, Reps and Binkley (1990).
 *
 *     struct dependence *dependence = dependence_create(model, points_to);
 *     struct control control = dependence_control(dependence, node);
 *     struct class_set reads = dependence_accesses(dependence, insn).reads;
 *     dependence_reaching(dependence, insn, reads.data[0], NULL, &definitions);
 *     dependence_destroy(dependence);
 *
 * Instructions of the whole program are numbered module by module (`struct insn_id`). Memory comes
 * in *classes*: cells of points_to.h that no instruction of the program tells apart, so that a set
 * of cells is a short list of classes. Class 0 is "anything": it overlaps every class, and an
 * instruction of which nothing is known reads and writes it (points_to not complete, model-less
 * code that was given pointers to it).
 *
 * Locals whose address never leaves their function are read and written by that function alone:
 * they are in no `mod` or `ref` set.
 */
#ifndef ANALYSIS_DEPENDENCE_H
#define ANALYSIS_DEPENDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bitset.h"
#include "common/vec.h"
#include "program/model.h"

struct points_to;

struct insn_id {
    uint32_t value; // dense over all modules
};
struct class_id {
    uint32_t value;
};

struct class_set { // borrowed, sorted
    const struct class_id *data;
    uint32_t count;
};

VEC_DEFINE(insn_vec, struct insn_id);

struct insn_list { // borrowed, sorted
    const struct insn_id *data;
    uint32_t count;
};

struct dependence;

// The model is complete and has code. points_to is borrowed.
struct dependence *dependence_create(struct model *model, const struct points_to *points_to);
void dependence_destroy(struct dependence *dependence); // NULL is fine

// ---- Instructions

uint32_t dependence_insn_count(const struct dependence *dependence);
struct insn_id dependence_insn(const struct dependence *dependence, struct module_id module,
                               uint32_t insn);
// The module, and its index there.
const struct insn *dependence_insn_at(const struct dependence *dependence, struct insn_id insn,
                                      struct module_id *ret_module, uint32_t *ret_index);
struct node_id dependence_insn_node(const struct dependence *dependence, struct insn_id insn);

// ---- Control

/*
 * The nodes at whose end it is decided whether `node` is executed, in the same activation
 * (Ferrante, Ottenstein, Warren 1987). A function can be left at its returns, by every call that
 * may not come back (exit, abort, longjmp, whatever calls these), and from loops without an exit,
 * anywhere in them: a node behind a call that may not come back depends on it. Ways behind a call
 * that never returns do not exist; what cannot be reached depends on nothing. Behind a call that
 * returns twice, control also comes from every call of the function that may end in a longjmp.
 * is_entry: it also depends on its function being called. What is behind a call that returns twice
 * always does, since a jump may come from elsewhere (signal handlers).
 */
struct control { // borrowed, ascending; a node may be among its own
    const struct node_id *nodes;
    uint32_t count;
    bool is_entry;
};
struct control dependence_control(struct dependence *dependence, struct node_id node);
// May a call of the function fail to come back? (It always may by a crash; that is not meant.)
bool dependence_may_stay(const struct dependence *dependence, struct function_id function);
// May a call of it end in a jump to where one of its callers goes on: longjmp, or unwinding?
bool dependence_may_jump(const struct dependence *dependence, struct function_id function);

// ---- Memory

uint32_t dependence_class_count(const struct dependence *dependence);
bool dependence_overlap(const struct dependence *dependence, struct class_id a, struct class_id b);
// Locals of the function that begin and end with its activation: nothing of them is there at entry.
bool dependence_is_own(const struct dependence *dependence, struct function_id function,
                       struct class_id id);
// One cell of the class, for words: "words.c:12 buffer[8]". Into `text`.
struct strbuf;
const char *dependence_class_name(const struct dependence *dependence, struct class_id id,
                                  struct strbuf *text);

/*
 * By the instruction itself, and of a call by library functions it may enter and by passing
 * arguments in memory; not by functions of the model that it may call. `certain`: written whenever
 * it is executed to its end, and nothing is left of what the class held: all of its cells are
 * written, each of which is one piece of memory. That is a variable, or a local of a function that
 * is active at most once, or of this activation, since its address never leaves it.
 */
struct class_accesses {
    struct class_set reads, writes, certain;
};
struct class_accesses dependence_accesses(struct dependence *dependence, struct insn_id insn);

// What a call of the function may write and read, with all that it calls, its own dead locals left
// out. Made for what the function reaches, when first asked.
struct class_set dependence_mod(struct dependence *dependence, struct function_id function);
struct class_set dependence_ref(struct dependence *dependence, struct function_id function);
// Is this class in the set, or one that overlaps it?
bool class_set_meets(const struct dependence *dependence, struct class_set set, struct class_id id);

// What a search through one activation may pass. Any of it may be NULL or absent. A jump to behind
// a call that returns twice goes over that call's edge.
struct reaching_limits {
    const struct bitset *nodes; // by node of the model: only these
    const struct bitset *edges; // by edge of the model (model->successor): only these
};

struct definitions {
    struct insn_vec writers; // instructions that may have written it last; certain ones end a way
    struct insn_vec calls;   // calls that came back, of model functions that may have
    struct insn_vec jumps;   // calls that did not come back but ended in a jump to this function
                             // (dependence_reaching_jump), of model functions that may have
    bool from_entry;         // what it held when the function was entered may still be there
    // At any time, in other threads and in signal handlers: whoever may be at work beside this
    // function and may write it. As long as the dependence; empty in programs without either.
    struct insn_list asynchronous;
};

/*
 * Who may have written the class last before `insn` is executed. Searches backwards over the node
 * graph; a certain write ends the search there, a call of a function that may write it does not.
 * All lists are sorted and name each once.
 */
void dependence_reaching(struct dependence *dependence, struct insn_id insn, struct class_id id,
                         const struct reaching_limits *limits, struct definitions *ret);
// When a function that the call `insn` enters is entered: as above, or by the call itself, which
// passes arguments in memory, and in which library code and other callbacks may have run before.
void dependence_reaching_callee(struct dependence *dependence, struct insn_id insn,
                                struct class_id id, const struct reaching_limits *limits,
                                struct definitions *ret);
// Before the function comes back to its caller, by any return.
void dependence_reaching_exit(struct dependence *dependence, struct function_id function,
                              struct class_id id, const struct reaching_limits *limits,
                              struct definitions *ret);
// Before it is left for good by a jump or by unwinding, to where one of its callers goes on.
void dependence_reaching_jump(struct dependence *dependence, struct function_id function,
                              struct class_id id, const struct reaching_limits *limits,
                              struct definitions *ret);
void definitions_deinit(struct definitions *definitions);
// The asynchronous writers alone.
struct insn_list dependence_asynchronous(struct dependence *dependence, struct function_id function,
                                         struct class_id id);

// Forwards: who may read what this instruction wrote there, calls that may, does it live on where
// the function comes back, where it is left by a jump? (A call may read it and not come back.)
struct uses {
    struct insn_vec readers, calls;
    bool to_exit, to_jump;
    struct insn_list asynchronous; // readers, as in struct definitions
};
void dependence_reached(struct dependence *dependence, struct insn_id insn, struct class_id id,
                        const struct reaching_limits *limits, struct uses *ret);
void uses_deinit(struct uses *uses);

// All of one function as text (docs/formats/dependence.md), for tests and bug reports.
void dependence_write_text(struct dependence *dependence, struct function_id function,
                           struct strbuf *text);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * What could have mattered: the instructions that the failure may depend on, by a backward slice of
 * the system dependence graph (Horwitz, Reps, Binkley 1990), restricted to what this run can have
 * done (paper 001, section IV-B).
 *
 *     struct slicer *slicer = slicer_create(model, dependence, ask, may, SLICE_RESTRICTED);
 *     struct slice_criterion criterion;
 *     slicer_default_criterion(slicer, &criterion);
 *     struct slice slice;
 *     slicer_run(slicer, &criterion, 0, &budget, &slice);
 *     ... slice.insns, slice.nodes ...
 *
 * The graph's parts are *activations*: one for each frame that is still on the stack, a graph of
 * copies of its function's nodes in which the recorded path is spelled out (solve/view.h); and one
 * for each function, which stands for all its calls that have come back. A frame is entered from
 * the frame above it alone. A completed call is left to the call that asked for it: of what it
 * leaves behind (its result, and memory by classes) every part that is asked for has a bit, as long
 * as there are bits; the summary edges of the algorithm are sets of such bits. Parts that share a
 * bit are taken together, which makes slices larger, never smaller.
 *
 * Restriction: a copy that the run cannot have come through is not there, nor is a node that no
 * call can have executed, or that was never reached before the crash; a use in the recorded path
 * depends on the last definition along that very path (figures 5 and 6). All of it is made once,
 * for any criterion. Without evidence (SLICE_STATIC) there are no frames and everything may have
 * run.
 */
#ifndef SLICE_SLICE_H
#define SLICE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/dependence.h"
#include "common/bitset.h"
#include "common/vec.h"

struct ask_case;
struct budget;

enum slice_kind {
    SLICE_RESTRICTED, // to what the evidence allows
    SLICE_STACK,      // callstack-sensitive, and nothing else: the paper's baseline
    SLICE_STATIC,     // any run
};

enum slice_flag {
    SLICE_INTRA = 1u << 0,   // the criterion's function, or frame, alone
    SLICE_FORWARD = 1u << 1, // what may depend on the criterion
};

// Where to slice from.
struct slice_start {
    uint32_t frame; // of the crashed thread, innermost model frame 0; MODEL_NONE: any call
    struct insn_id insn;
    bool with_value; // what the instruction reads, too; else only that it is executed
    // Memory instead, as it is before `insn`: SLICE_NO_CLASS for none
    struct class_id memory;
};
#define SLICE_NO_CLASS                                                                             \
    (struct class_id)                                                                              \
    {                                                                                              \
        UINT32_MAX                                                                                 \
    }

VEC_DEFINE(slice_start_vec, struct slice_start);

struct slice_criterion {
    struct slice_start_vec starts;
};
void slice_criterion_deinit(struct slice_criterion *criterion);

struct slice {
    struct bitset insns;   // by insn_id
    struct bitset nodes;   // by node_id: those with an instruction in the slice
    uint32_t insn_count;   // dependence nodes: instructions
    uint32_t actual_count; // actual parameters, counted singly
    bool complete;         // false: the budget was spent, and everything that may have run is in
    struct slice_trail *trail; // for slice_why
};
void slice_deinit(struct slice *slice);

struct slicer;

// ask may be NULL for SLICE_STATIC. All are borrowed. `may`: nodes that may have run (by node_id; a
// solver's answer), or NULL: only for SLICE_RESTRICTED.
struct slicer *slicer_create(struct model *model, struct dependence *dependence,
                             const struct ask_case *ask, const struct bitset *may,
                             enum slice_kind kind);
void slicer_destroy(struct slicer *slicer); // NULL is fine
// Frames of the crashed thread that have a function of the model, innermost first.
uint32_t slicer_frame_count(const struct slicer *slicer);
struct function_id slicer_frame_function(const struct slicer *slicer, uint32_t frame);

// What the crashing instruction read: everything in the innermost frame's candidate nodes that can
// fault, or the call that is pending there with all it was given. False: there is no such frame.
bool slicer_default_criterion(const struct slicer *slicer, struct slice_criterion *ret);
// All instructions of these nodes, in the innermost frame of their function, or in any call where
// there is none. variable: only its loads and stores, and its value there; or NULL.
void slicer_criterion_at(const struct slicer *slicer, const struct node_id *nodes, uint32_t count,
                         const char *variable, struct slice_criterion *ret);

void slicer_run(struct slicer *slicer, const struct slice_criterion *criterion, unsigned flags,
                struct budget *budget, struct slice *ret);

// ---- Why is it in?

enum slice_reason {
    SLICE_BY_CRITERION,
    SLICE_BY_VALUE,   // `to` uses the value of `from`
    SLICE_BY_MEMORY,  // `to` reads what `from` may have written
    SLICE_BY_CONTROL, // `from` decides whether `to` is executed
    SLICE_BY_CALL,    // `to` is in a function that `from` calls; or what it is given
    SLICE_BY_RESULT,  // `to` is a call, `from` part of what it does
};

struct slice_link {
    struct insn_id insn;
    uint32_t frame; // MODEL_NONE: in a call that has come back
    enum slice_reason reason;
    struct class_id memory; // for SLICE_BY_MEMORY
};
VEC_DEFINE(slice_link_vec, struct slice_link);

// A chain of dependences from the criterion to one of these instructions, the criterion first;
// false: none of them is in the slice.
bool slice_why(const struct slice *slice, const struct bitset *insns, struct slice_link_vec *ret);
const char *slice_reason_name(enum slice_reason reason);

#endif

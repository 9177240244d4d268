// SPDX-License-Identifier: Apache-2.0
/*
 * Which paths the values of variables rule out: copy-constant propagation with conditions (paper
 * 004, section 3.6), as a domain of values that paths are worth.
 *
 *     struct dataflow *dataflow = dataflow_create(model, flow, &options);
 *     struct dataflow_value a = dataflow_step(dataflow, node, edge);
 *     struct dataflow_value b = dataflow_extend(dataflow, a, dataflow_step(dataflow, next, ...));
 *     if (dataflow_is_zero(b)) ... // no run goes this way
 *     dataflow_destroy(dataflow);
 *
 * A value says what a stretch of a path does: for each *variable* (a slot of memory that is
 * tracked: a local that does not escape or whose accesses are known, a global, a field of one of
 * these; and registers that live across nodes) a constant, a copy of what a variable held before
 * the stretch, or anything; and a *precondition*: what must have held before the stretch for it to
 * be taken, a conjunction of comparisons of one variable with a constant or of two variables. Where
 * the paper ignores a condition whose variables are set before the stretch, the precondition keeps
 * it, so that extend is associative: extend(a, b) puts b's precondition through a's assignments,
 * and is zero where it cannot hold. What would make a value too large is dropped, from the
 * precondition and from what is known of variables: that only lets more paths pass.
 *
 * Sound: a value is zero only if no run takes the stretch. What is in the way of tracking a slot
 * (an access that may be to it through a pointer, a call of unknown code) makes it "anything".
 *
 * Combine is for stretches between the same two places: what both say. It does not distribute;
 * values are ⊑ what paths combine to (solve/pushdown/semiring.h).
 *
 * Calls (section 3.6.3): the variables of a function are its own in each activation. The value from
 * a caller's entry up to a call, the value of entering the callee (dataflow_call: arguments become
 * parameters) and that of the callee from entry to return give the caller's value behind the call
 * by dataflow_merge: globals and the result come from the callee, the caller's own variables stay,
 * those that the callee may write through pointers become "anything". A call that stays pending is
 * extended, and what is known of the caller's own variables goes. A call through a pointer that is
 * known to be the address of a function of the model enters that one and no other.
 *
 * Values are small numbers, equal if and only if what they say is equal; they live as long as the
 * dataflow does. Not thread-safe.
 */
#ifndef PATH_DATAFLOW_H
#define PATH_DATAFLOW_H

#include <stdbool.h>
#include <stdint.h>

struct flow;
struct model;
struct points_to;
struct run;
struct strbuf;

struct dataflow_value {
    uint32_t number;
};

#define DATAFLOW_ZERO ((struct dataflow_value){0}) // no run goes this way
#define DATAFLOW_ONE  ((struct dataflow_value){1}) // nothing happens, nothing is required

struct dataflow;

struct dataflow_options {
    // Where pointers may point to; NULL: to anything whose address is taken.
    const struct points_to *points_to;
    uint32_t condition_most; // comparisons in one precondition; 0: a default
    // Also variables that no branch depends on: for dataflow_assume.
    bool all_variables;
};

// model and flow are borrowed and outlive it. The model is complete; where it has no instructions
// (read from text or GraphML) every value but zero is one.
struct dataflow *dataflow_create(const struct model *model, const struct flow *flow,
                                 const struct dataflow_options *options);
void dataflow_destroy(struct dataflow *dataflow); // NULL is fine

static inline bool dataflow_is_zero(struct dataflow_value value)
{
    return value.number == 0;
}

struct dataflow_value dataflow_extend(struct dataflow *dataflow, struct dataflow_value first,
                                      struct dataflow_value second);
struct dataflow_value dataflow_combine(struct dataflow *dataflow, struct dataflow_value a,
                                       struct dataflow_value b);

// ---- What the program does. Nodes and edges are the flow's; nodes beyond the model's do nothing.

// The node's own instructions (a call that ends it enters nothing that has a model: FLOW_PAST), and
// then the edge, by number among flow_edges(node), with its condition. An edge with FLOW_LANDS:
// control comes from a jump; what may have been written since the landing place was set up is
// "anything".
struct dataflow_value dataflow_step(struct dataflow *dataflow, uint32_t node, uint32_t edge);
// The node's instructions up to its call, and the call entering `function` (the flow's number):
// from the caller's variables to the callee's. Extended by the callee's value: what holds in a
// pending call.
struct dataflow_value dataflow_call(struct dataflow *dataflow, uint32_t node, uint32_t function);
// caller: from the caller's entry to `node`. callee: from the entry of `function` to its end. The
// value behind the call: on the edge by which it goes on (FLOW_BEHIND, FLOW_LANDS). An edge of
// UINT32_MAX: the caller is left by the same jump as the callee. Of `flow->signals`, whose calls
// leave the node where it was: the caller's value.
struct dataflow_value dataflow_merge(struct dataflow *dataflow, struct dataflow_value caller,
                                     struct dataflow_value callee, uint32_t node, uint32_t function,
                                     uint32_t edge);
// The effect of the node and a call that is passed without a look, on such an edge: all that what
// it calls may write is anything, its result is unknown.
struct dataflow_value dataflow_skip(struct dataflow *dataflow, uint32_t node, uint32_t edge);
// The instructions of a node that ends a function by returning (FLOW_RETURNS), or by a jump: the
// result becomes what dataflow_merge looks for.
struct dataflow_value dataflow_leave(struct dataflow *dataflow, uint32_t node);
// The instructions of a node that a run ends in: nothing is required behind it.
struct dataflow_value dataflow_end(struct dataflow *dataflow, uint32_t node);
// What a run begins with: initial values of globals.
struct dataflow_value dataflow_begin(struct dataflow *dataflow);

// A predicate that is taken to hold at the end of the node (a predictor such as `x == 7`): variable
// by its source name as the node's function sees it, compared with a constant as
// layout/suspects.h's enum suspects_operator says. One where the variable is not tracked.
struct dataflow_value dataflow_assume(struct dataflow *dataflow, uint32_t node,
                                      const char *variable, uint32_t operator, int64_t constant,
                                      bool is_unsigned);

// ---- Checking

// Goes along one run, step by step, from dataflow_begin, with what is known of each variable and
// nothing else: no composition of values, no combining. UINT32_MAX: nothing speaks against it; else
// the number of the event at which a condition cannot hold.
uint32_t dataflow_replay(struct dataflow *dataflow, const struct run *run);

// "x = 1, y = g; requires a < 3": with source names where there are any.
void dataflow_print(struct dataflow *dataflow, struct dataflow_value value, struct strbuf *out);

#endif

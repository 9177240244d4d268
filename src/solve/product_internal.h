// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the product; see product.h.
#ifndef SOLVE_PRODUCT_INTERNAL_H
#define SOLVE_PRODUCT_INTERNAL_H

#include "common/map.h"
#include "common/vec.h"
#include "solve/automaton.h"
#include "solve/product.h"

#define PRODUCT_SPINE 0u // the instance that is none
// More of a view's nodes than this that have to be visited are not in the modes: runs that miss
// some stay in.
#define PRODUCT_OWN_RAN 8u

// Where control is: a place of an instance. Places are numbered: each instance has those of its
// function's nodes, then one for its returns and one for its jumps; the spine has those of all
// views' copies (of all nodes for a gap).
struct product_state {
    uint32_t instance;
    uint32_t place; // in the instance
    uint32_t mode;  // state of the automaton, or what product_mode says
    uint32_t node;  // FLOW_NONE: an exit
};

struct product_edge {
    uint32_t from, to;
    uint32_t through; // an exit state of the instance called; FLOW_NONE: one step
    uint32_t callee;  // function that is called and left, or that stays pending; FLOW_NONE
    bool pends;
    bool resumes; // behind a signal handler, at the same node: no step
};

struct product_caller {
    uint32_t state;
    uint32_t symbol;
    bool interrupted; // by a signal handler: control goes on where it is
};

VEC_DEFINE(product_state_vec, struct product_state);
VEC_DEFINE(product_edge_vec, struct product_edge);
VEC_DEFINE(product_caller_vec, struct product_caller);
VEC_DEFINE(product_id_vec, uint32_t);
MAP_DEFINE_U64(product_map, uint32_t);

struct product_instance {
    uint32_t function;
    uint32_t called_in; // state of the automaton, before the entry's letter
    uint32_t base;      // number of its first place, over all instances
    uint32_t entry;     // state
    struct product_caller_vec callers;
    struct product_id_vec exits; // states
};
VEC_DEFINE(product_instance_vec, struct product_instance);

// The state of the automaton; where in the node control is; in the spine also which of the view's
// `ran` have been visited. As a number: the state where there is nothing else to say, and from
// PRODUCT_MODES on a place in `modes`.
struct product_mode {
    uint32_t state;
    uint32_t insn;
    uint64_t visited;
};
#define PRODUCT_MODES (UINT32_C(1) << 31)
VEC_DEFINE(product_mode_vec, struct product_mode);

struct product {
    struct product_problem problem;
    const struct flow *flow;
    struct product_state_vec states;
    struct product_edge_vec edges;
    struct product_instance_vec instances;
    struct product_mode_vec modes;
    struct product_map state_of;    // by place number and mode
    struct product_map instance_of; // by function and state
    struct product_map mode_of;
    uint64_t place_count; // given out
    uint32_t *view_base;  // place of each view's first copy in the spine; view_count + 1
    uint32_t *caller_start, *callers; // flat: by function, the nodes that may call it
    struct product_id_vec finals;     // states of the spine where a run may end
    uint32_t start_count;             // states 0 .. start_count-1 are where runs begin
    uint32_t worked;                  // states that have been looked at
    bool complete;
    struct bitset closed; // the problem's, less what was opened
    // With `verdict_only`
    bool has_plain;
    struct bitset plain;          // functions whose completed calls change nothing
    uint8_t *ends;                // by function: FLOW_BEHIND when a call of it can be completed
    bool found;                   // an end that is accepted
    struct product_id_vec parked; // states at closed nodes
    struct bitset parked_at;      // their nodes, and perhaps some more
    bool in_trial;
    struct product_id_vec journal; // of a trial: instance * 2, + 1 for an exit, that was added to
    // Edges by target, once built; by source.
    uint32_t *in_start, *in_edges;
    uint32_t *out_start, *out_edges;
    struct bitset useful; // states on the way to an end that is accepted
    bool possible;
};

static inline struct product_mode product_mode(const struct product *product, uint32_t id)
{
    uint32_t mode = product->states.data[id].mode;

    return mode < PRODUCT_MODES ? (struct product_mode){.state = mode}
                                : product->modes.data[mode - PRODUCT_MODES];
}

// ---- product.c

// Letters: what the automaton, or what is absent, makes of them.
uint32_t product_letter_step(const struct product *product, uint32_t state, uint32_t node);
uint32_t product_letter_call(const struct product *product, uint32_t state, uint32_t node,
                             uint32_t function, uint32_t *symbol);
uint32_t product_letter_leave(const struct product *product, uint32_t state, uint32_t symbol,
                              uint32_t node, uint32_t function);
uint32_t product_add_state(struct product *product, uint64_t place_number,
                           struct product_state state);
uint32_t product_mode_number(struct product *product, struct product_mode mode);
// Control goes on in the node, to the next spot that the automaton has there. False: there is none.
bool product_add_next_spot(struct product *product, uint32_t id);
void product_add_edge(struct product *product, struct product_edge edge);
void product_add_final(struct product *product, uint32_t state);
// Looks at state `id`.
void product_work(struct product *product, uint32_t id);
// Looks at all states that have not been looked at; with verdict_only, until a run is found.
void product_run(struct product *product, struct budget *budget);
// Of a completed or pending call: the state's place over all instances.
uint64_t product_place_number(const struct product *product, const struct product_state *state);

// ---- product_flat.c

void product_start_flat(struct product *product);
void product_work_flat(struct product *product, uint32_t id);

// ---- product_solve.c

bool product_accepts(const struct product *product, uint32_t id);
// Control reaches this state.
struct run_event product_step_event(const struct product *product, uint32_t state);

void product_index(struct product *product);

VEC_DEFINE(run_event_vec, struct run_event);

// Shortest ways (Knuth: A generalization of Dijkstra's algorithm).
struct shortest {
    const struct product *product;
    uint64_t *length; // from the entry of the instance; UINT64_MAX: not reached
    uint32_t *by;     // the edge that it was reached by
    bool *settled;
    struct product_id_vec heap;
    uint32_t *position;                      // in the heap; FLOW_NONE
    uint32_t *through_start, *through_edges; // edges by the exit that they lead through
};

// The nearest end that is accepted, FLOW_NONE when there is none. `all`: lengths of all states, not
// only up to it.
uint32_t shortest_init(struct shortest *shortest, const struct product *product, bool all,
                       struct budget *budget);
void shortest_deinit(struct shortest *shortest);

#endif

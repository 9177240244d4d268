// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the pushdown core; see pushdown.h.
#ifndef SOLVE_PUSHDOWN_PUSHDOWN_INTERNAL_H
#define SOLVE_PUSHDOWN_PUSHDOWN_INTERNAL_H

#include "common/map.h"
#include "common/vec.h"
#include "solve/pushdown/pushdown.h"

VEC_DEFINE(pushdown_rule_vec, struct pushdown_rule);
VEC_DEFINE(pushdown_id_vec, uint32_t);
MAP_DEFINE_U64(pushdown_map, uint32_t);

struct pushdown {
    const struct semiring *semiring;
    uint32_t state_count, symbol_count;
    struct pushdown_rule_vec rules;
};

// ---- Where weights come from

// Reasons for a weight: those from `head` by `previous` until `stop` or the end. They never change
// and refer to earlier ones only, so that they stand for finitely many paths, whose weights combine
// to the weight that the reference was made for.
struct reasons {
    uint32_t head, stop;
};

#define NO_REASONS ((struct reasons){PUSHDOWN_NONE, PUSHDOWN_NONE})

// Paths come together in the order left, rule, right behind post, and rule, left, right behind pre.
enum derivation_kind {
    DERIVED_GIVEN, // a transition that was there before; number: it
    DERIVED_ENTRY, // a callee's entry, relative to itself
    DERIVED_RULE,  // number: the rule
    DERIVED_CALL,  // number: the rule; the call has returned and is merged
    DERIVED_JOIN,  // left and right, or left alone
    DERIVED_START, // of reading; number: the control state
    DERIVED_READ,  // left and right; number: the symbol that was read
};

struct derivation {
    enum derivation_kind kind;
    uint32_t number;
    struct reasons left, right;
    uint32_t previous;
    struct weight weight; // of what is given
};
VEC_DEFINE(derivation_vec, struct derivation);

// A weight that grows better. What has not been passed on yet is kept apart.
struct tally {
    struct weight weight;
    struct weight unsent;
    uint32_t derivation; // the newest reason
    uint32_t sent;       // what that was when it was passed on last
    uint64_t rank;       // while it is queued
    bool is_queued;
    bool is_known; // has been passed on once
};

// Better by `value`? If so the reason is kept.
bool tally_improve(struct tally *tally, struct pushdown_automaton *automaton, struct weight value,
                   struct derivation how);
// All reasons.
struct reasons tally_reasons(const struct tally *tally);
// What is to be passed on now, with its reasons.
struct weight tally_send(struct tally *tally, struct weight zero, struct reasons *reasons);

// ---- Worklist: the smallest rank first. Ranks fall while a number is on it, which common's
// worklist cannot have: then it is on it twice, and counts with the rank that the tally has.

struct queue_entry {
    uint64_t rank;
    uint32_t id;
};
VEC_DEFINE(queue_vec, struct queue_entry);

struct queue {
    const struct semiring *semiring;
    struct queue_vec heap;
    uint64_t clock; // ranks where the semiring has none
};

// Puts the tally with this number on the list, or forward.
void queue_push(struct queue *queue, struct tally *tally, uint32_t id);
bool queue_pop(struct queue *queue, struct queue_entry *ret);

static inline bool tally_is_due(const struct tally *tally, const struct queue_entry *entry)
{
    return tally->is_queued && tally->rank == entry->rank;
}

// ---- Automata

// A state and a symbol: what transitions leave, and what rules have on a side.
struct head {
    uint32_t state, symbol; // PUSHDOWN_NONE: no symbol
    uint32_t transitions;   // the first
    uint32_t pairs;         // the first, see below
    uint32_t inside;        // post: the state behind this entry of a callee
};

struct transition {
    struct tally tally;
    uint32_t head, to;
    uint32_t next_of_head;
    uint32_t next_of_state; // that leave the same state; without a symbol: that lead to the same
};

// A rule that pushes, and a transition for its other half. Behind pre they wait at the head that is
// to be read next; behind post, at the callee's entry, for its ends to be merged.
struct pair {
    uint32_t rule, transition;
    uint32_t next;
};

struct automaton_state {
    uint32_t out;      // the first transition with a symbol from here
    uint32_t epsilons; // the first one without, to here
    uint32_t entry;    // the head that this state is inside of
    bool is_final;
};

VEC_DEFINE(head_vec, struct head);
VEC_DEFINE(transition_vec, struct transition);
VEC_DEFINE(pair_vec, struct pair);
VEC_DEFINE(automaton_state_vec, struct automaton_state);

enum direction {
    NOT_SATURATED,
    POST,
    PRE,
};

struct pushdown_automaton {
    const struct pushdown *system;
    const struct semiring *semiring;
    struct automaton_state_vec states;
    struct head_vec heads;
    struct pushdown_map head_of; // by state and symbol
    struct transition_vec transitions;
    struct pushdown_map transition_of; // by head and target
    struct pair_vec pairs;
    struct derivation_vec derivations;
    enum direction direction;
    bool is_complete;
    bool has_any; // a transition for any symbol: only to be asked about
};

static inline bool automaton_is_control(const struct pushdown_automaton *automaton, uint32_t state)
{
    return state < automaton->system->state_count;
}

uint32_t automaton_head(struct pushdown_automaton *automaton, uint32_t state, uint32_t symbol);
// PUSHDOWN_NONE: there is none.
uint32_t automaton_find_head(const struct pushdown_automaton *automaton, uint32_t state,
                             uint32_t symbol);
// Made with the weight zero where it is not there.
uint32_t automaton_transition(struct pushdown_automaton *automaton, uint32_t head, uint32_t to);

// ---- Reading

// What the configurations of a set are worth; where the derivations are to be kept for a moment,
// `reasons` gives the value's. Whoever called cuts them off again.
struct weight read_set(struct pushdown_automaton *automaton, const struct pushdown_automaton *set,
                       struct reasons *reasons);
struct pushdown_automaton *set_of_one(const struct pushdown_automaton *automaton,
                                      const struct pushdown_configuration *configuration);

#endif

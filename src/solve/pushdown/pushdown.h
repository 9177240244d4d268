// SPDX-License-Identifier: Apache-2.0
/*
 * Weighted pushdown systems: what all paths between sets of configurations are worth together, and
 * paths that show it.
 *
 *     struct pushdown *system = pushdown_create(&semiring_length, 1, symbols);
 *     pushdown_add_rule(system, &(struct pushdown_rule){.symbol = n, .top = m, .below =
 *                       PUSHDOWN_NONE, .weight = {1}, .tag = edge});          // and so on
 *     struct pushdown_automaton *from = pushdown_automaton_create(system);
 *     pushdown_automaton_add_configuration(from, &(struct pushdown_configuration){0, &entry, 1});
 *     bool complete = pushdown_post(from, budget);
 *     struct weight length = pushdown_value(from, &crashed);
 *
 * A configuration is a control state and a stack of symbols, top first; states and symbols are
 * numbers from 0. A rule <p, g> -> <q, u> replaces the state p and the top symbol g by the state q
 * and by no symbol (a return), one (a step) or two (a call: the callee's entry above the place to
 * return to).
 *
 * A set of configurations, possibly infinite, is an automaton that reads stacks from the top. Its
 * first states are the control states; no transition leads into those. It accepts the
 * configuration <p, u> when u leads from p to a final state.
 *
 * Saturation (Schwoon: Model-checking pushdown systems, 2002, chapter 3; with weights: Reps,
 * Schwoon, Jha, Melski, 2005) turns the automaton of a set into that of all that can be reached
 * from it (post) or that can reach it (pre), weights included. One solution answers for as many
 * stacks as are asked about. Only what has changed is worked on again, by rank where the semiring
 * has one.
 *
 * What the weight of a path is, where it begins or ends in a given configuration whose transitions
 * have weights other than one: post puts them before the path, from the bottom of the stack to its
 * top; pre behind it, from the top to the bottom.
 *
 * The semiring and the system are borrowed by automata and outlive them. Rules are all there before
 * the first saturation. Nothing here is thread-safe.
 */
#ifndef SOLVE_PUSHDOWN_PUSHDOWN_H
#define SOLVE_PUSHDOWN_PUSHDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/pushdown/semiring.h"

struct budget;
struct error;
struct strbuf;

#define PUSHDOWN_NONE UINT32_MAX
#define PUSHDOWN_ANY  (UINT32_MAX - 1) // any symbol, in sets that are asked about

// ---- Systems

struct pushdown_rule {
    uint32_t state, symbol;
    uint32_t to;
    uint32_t top, below; // PUSHDOWN_NONE: not there; below only where top is
    uint32_t tag;        // the user's
    struct weight weight;
};

struct pushdown_configuration {
    uint32_t state;
    uint32_t *symbols; // top first
    uint32_t count;
};

struct pushdown;

// The semiring is borrowed.
struct pushdown *pushdown_create(const struct semiring *semiring, uint32_t state_count,
                                 uint32_t symbol_count);
void pushdown_destroy(struct pushdown *system);
// Its number: rules are numbered from 0 as they are added.
uint32_t pushdown_add_rule(struct pushdown *system, const struct pushdown_rule *rule);
uint32_t pushdown_rule_count(const struct pushdown *system);
// Until the next rule is added.
const struct pushdown_rule *pushdown_rule_at(const struct pushdown *system, uint32_t rule);

// ---- Sets of configurations

struct pushdown_automaton;

// Empty: it has the control states and no transition.
struct pushdown_automaton *pushdown_automaton_create(const struct pushdown *system);
void pushdown_automaton_destroy(struct pushdown_automaton *automaton);
uint32_t pushdown_automaton_add_state(struct pushdown_automaton *automaton);
void pushdown_automaton_set_final(struct pushdown_automaton *automaton, uint32_t state);
// `to` is no control state. The same transition again: the weights are combined.
void pushdown_automaton_add_transition(struct pushdown_automaton *automaton, uint32_t from,
                                       uint32_t symbol, uint32_t to, struct weight weight);
// With states of its own, and the weight one.
void pushdown_automaton_add_configuration(struct pushdown_automaton *automaton,
                                          const struct pushdown_configuration *configuration);
uint32_t pushdown_automaton_state_count(const struct pushdown_automaton *automaton);
uint32_t pushdown_automaton_transition_count(const struct pushdown_automaton *automaton);

// ---- Saturation, once for an automaton

// All that can be reached, and all that can reach. False: the budget (NULL: none) was spent; then
// some paths are left out: what is said of the others still stands, and every value is ⊒ what it
// would be.
bool pushdown_post(struct pushdown_automaton *automaton, struct budget *budget);
bool pushdown_pre(struct pushdown_automaton *automaton, struct budget *budget);
// False before saturation too.
bool pushdown_is_complete(const struct pushdown_automaton *automaton);

// ---- Values, behind saturation

// All paths from the given set to this configuration (post), or from it to the set (pre), combined;
// zero: there is none.
struct weight pushdown_value(struct pushdown_automaton *automaton,
                             const struct pushdown_configuration *configuration);
// The same for all configurations that another automaton of the same system accepts, combined; that
// one is not saturated, and its weights do not count.
struct weight pushdown_value_of_set(struct pushdown_automaton *automaton,
                                    const struct pushdown_automaton *set);

// ---- Witnesses, behind saturation

// A path: rules that lead from one configuration to the other.
struct pushdown_witness {
    struct pushdown_configuration from, to;
    struct weight given; // of the configuration that is of the given set
    struct weight weight;
    uint32_t *rules; // numbers
    uint32_t rule_count;
};

// Paths whose weights combine to the value, none of which can be done without. One where combine
// picks one of two weights; none where the value is zero.
struct pushdown_witnesses {
    struct pushdown_witness *paths;
    uint32_t count;
};

// False: they have more than `limit` rules in all (a shortest path through nested calls may be
// exponentially long); *ret is not written then.
bool pushdown_witnesses(struct pushdown_automaton *automaton,
                        const struct pushdown_configuration *configuration, uint64_t limit,
                        struct pushdown_witnesses *ret);
bool pushdown_witnesses_of_set(struct pushdown_automaton *automaton,
                               const struct pushdown_automaton *set, uint64_t limit,
                               struct pushdown_witnesses *ret);
void pushdown_witnesses_deinit(struct pushdown_witnesses *witnesses);

// Goes by the rules, one after the other, from a configuration. *weight: of the path, beginning
// with `before`, with calls that have returned merged. *end: where it leads to; its symbols are to
// be freed. False: some rule does not apply.
bool pushdown_replay(const struct pushdown *system, const struct pushdown_configuration *start,
                     struct weight before, const uint32_t *rules, uint32_t count,
                     struct pushdown_configuration *end, struct weight *weight);

// ---- Text
//
//     inquest-pushdown 1
//     states 1
//     symbols 9
//     rule 0 3 -> 0 7 4 tag 12 weight 1      <0, 3> -> <0, 7 4>; one symbol or none as well
//     automaton 3                            so many states; may be missing, with all that follows
//     final 2
//     transition 0 3 2 weight 0              from, symbol (* any, - none), to

// automaton: or NULL.
void pushdown_print(const struct pushdown *system, const struct pushdown_automaton *automaton,
                    struct strbuf *out);
// name: of the text, for messages. *automaton: NULL where there is none in the text.
struct error *pushdown_parse(const char *text, const char *name, const struct semiring *semiring,
                             struct pushdown **system, struct pushdown_automaton **automaton);

#endif

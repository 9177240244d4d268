// SPDX-License-Identifier: Apache-2.0
/*
 * Languages of runs, put together from parts, and the deterministic automata that decide them.
 *
 *     struct event open = {.kind = EVENT_CALL, .functions = {&id, 1}, .nodes_any = true};
 *     struct language *query = language_then(language_happens(&open, 1), language_ran(nodes));
 *     struct automaton *automaton = automaton_create(query, NULL, 0, "a call of open, then ...");
 *     ...
 *     automaton_destroy(automaton);
 *
 * A language says of a *stretch* of a run (from one moment to a later one; the whole run at first)
 * whether it is in it. Moments lie before, between and behind letters. What a stretch holds does
 * not depend on letters outside of it, with one exception: contexts, which are facts about the
 * whole run at a letter ("a call of f is on the stack"). They are what "inside" looks at, so that
 * in "A then B inside f()" f may have been called before A.
 *
 * Automata are made as they are walked: states are tuples and sets of the parts' states, numbered
 * when first met. A part that begins in the middle of a run sees returns from calls made before it
 * began; sets of parts that began at different moments are kept as pairs (state at the call that
 * is still open, state now), as visibly pushdown automata are made deterministic (Alur and
 * Madhusudan, STOC 2004, section 4; the paper cites them as [2]).
 *
 * Every constructor takes over the languages that it is given and copies events and ids. All ids
 * are those of the letters (solve/automaton.h).
 */
#ifndef SOLVE_AUTOMATA_H
#define SOLVE_AUTOMATA_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/automaton.h"

// At most so many contexts in one automaton.
#define AUTOMATA_CONTEXTS_MAX 64
// language_not_all() takes at most so many nodes: it may have a state for each of their subsets.
#define AUTOMATA_NOT_ALL_MAX 64

struct id_set { // ascending, without repetition
    const uint32_t *data;
    uint32_t count;
};

enum event_kind {
    EVENT_STEP,  // step(node)
    EVENT_CALL,  // call(node, function)
    EVENT_LEAVE, // leave(node, function)
};

// Letters that are alike: of one kind, at one of these nodes, of one of these functions, where
// contexts are as told.
struct event {
    enum event_kind kind;
    struct id_set nodes;
    bool nodes_any; // any node; `nodes` is not looked at
    // Of a step: at which instructions of the nodes; none: at their beginnings. The automaton is
    // to be told of them (automaton_set_spots).
    struct spot_set spots;
    struct id_set functions;
    bool functions_any;
    // Of a call or return at any node: the nodes below caller_limit that can be meant are these, so
    // that others need not be minded. caller_limit 0: nothing is known.
    struct id_set callers;
    uint32_t caller_limit;
    uint64_t required, forbidden; // contexts, by bit. Those of a call or return are its caller's
};

enum context_kind {
    CONTEXT_OPEN, // a call of this kind is on the stack
    CONTEXT_SEEN, // a call of this kind was made before: regular, for what is not exact
};

struct context {
    enum context_kind kind;
    struct event call; // EVENT_CALL without contexts
};

struct language;

void language_destroy(struct language *language); // NULL is fine
bool language_is_regular(const struct language *language);

// ---- Every stretch; none; the empty one
struct language *language_all(void);
struct language *language_nothing(void);
struct language *language_empty(void);

// ---- Things that happen. Letters that none of the events match make no difference to these.

// Some letter matches one of the events.
struct language *language_happens(const struct event *events, uint32_t count);
// One of the nodes ran, none of them did.
struct language *language_ran(struct id_set nodes);
struct language *language_never(struct id_set nodes);
// A letter matches one of the events, and the stretch before it is not in `before`.
struct language *language_without(const struct event *events, uint32_t count,
                                  struct language *before);
// There is a call of this kind, made within the stretch or open where it begins (context number
// `context` says so; its call is `call`), so that the part of the stretch from there to its return
// is in `inner`.
struct language *language_inside(struct language *inner, const struct event *call,
                                 uint32_t context);
// At least one of the nodes did not run. NULL when there are more than AUTOMATA_NOT_ALL_MAX.
struct language *language_not_all(struct id_set nodes);

enum trace_kind {
    TRACE_UNRELIABLE, // the entries in this order, anything between them
    TRACE_RELIABLE,   // and every visit to a node of the alphabet is one of the entries
    TRACE_BURST,      // that, for some part of the stretch
};
// Each entry: one of these nodes, at one of these spots if there are any, not known which. A visit
// to a node of an entry that is not in the alphabet may be that entry or not. The alphabet does not
// count for TRACE_UNRELIABLE.
struct trace_entry {
    struct id_set nodes;
    struct spot_set spots;
};
struct language *language_trace(enum trace_kind kind, const struct trace_entry *entries,
                                uint32_t count, struct id_set alphabet);

// ---- Combinations
struct language *language_not(struct language *part);
struct language *language_and(struct language **parts, uint32_t count); // none: every stretch
struct language *language_or(struct language **parts, uint32_t count);  // none: no stretch
// The stretch can be cut in two, the first in `first`, the second in `second`.
struct language *language_then(struct language *first, struct language *second);

// ---- Patterns: these count every letter

// One letter that matches one of the events; or, with `other`, that matches none of them.
struct language *language_letter(const struct event *events, uint32_t count, bool other);
// The stretch can be cut into any number of parts, each in `part`.
struct language *language_repeat(struct language *part);
// Every return in the stretch is of a call in it, and every call has returned.
struct language *language_balanced(void);
// A call that matches one of the events, its return at the end, and `inner` between them. With
// `unfinished`, it does not return, and `inner` is all that follows.
struct language *language_call(const struct event *calls, uint32_t count, struct language *inner,
                               bool unfinished);

// ---- Deciding one

// Takes over the language; name and contexts are copied. The functions of contexts' calls are what
// events' bits refer to. CONTEXT_SEEN goes with regular languages only.
struct automaton *automaton_create(struct language *language, const struct context *contexts,
                                   uint32_t context_count, const char *name);
// The spots of all its events, in any order; copied. Before anything is read.
void automaton_set_spots(struct automaton *automaton, const struct node_spot *spots,
                         uint32_t count);
// How many states and symbols have been given out, parts included: a measure of memory.
uint64_t automaton_size(const struct automaton *automaton);

// ids sorted in place, without repetition.
struct id_set id_set_make(uint32_t *ids, uint32_t count);
bool id_set_has(struct id_set set, uint32_t id);
// spots sorted in place, without repetition.
struct spot_set spot_set_make(struct node_spot *spots, uint32_t count);

#endif

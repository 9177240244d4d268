// SPDX-License-Identifier: Apache-2.0
/*
 * What the parts of solve/automata.h share: how a language is walked, tables of tuples, sets of
 * walks that began at different moments.
 */
#ifndef SOLVE_AUTOMATA_PRIVATE_H
#define SOLVE_AUTOMATA_PRIVATE_H

#include "common/arena.h"
#include "common/map.h"
#include "common/vec.h"
#include "solve/automata.h"

// Two states that every language has; the others are its own, from 1.
#define LANGUAGE_ALL  0u             // whatever follows, the stretch is in it
#define LANGUAGE_DEAD AUTOMATON_DEAD // whatever follows, it is not

// The popped symbol of a return from a call that was made before the walk began.
#define LANGUAGE_OUTER UINT32_MAX

struct letter {
    enum event_kind kind;
    uint32_t node, insn, function;
    uint64_t inside; // contexts that hold at the letter: of a call or return, the caller's
    uint64_t after;  // those that hold behind it
    const struct letter *call; // of a return: its call
};

struct language {
    bool is_regular; // does not look at symbols
    uint32_t (*start)(struct language *language, uint64_t contexts);
    // popped: of a return, else not looked at. *pushed is set by a call.
    uint32_t (*read)(struct language *language, uint32_t state, const struct letter *letter,
                     uint32_t popped, uint32_t *pushed);
    bool (*accepts)(struct language *language, uint32_t state);
    bool (*minds)(const struct language *language, uint32_t node);
    uint64_t (*size)(const struct language *language);
    void (*destroy)(struct language *language);
};

static inline uint32_t language_start(struct language *language, uint64_t contexts)
{
    return language->start(language, contexts);
}

static inline uint32_t language_read(struct language *language, uint32_t state,
                                     const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    *pushed = 0;
    if (state == LANGUAGE_ALL || state == LANGUAGE_DEAD)
        return state;
    return language->read(language, state, letter, popped, pushed);
}

static inline bool language_accepts(struct language *language, uint32_t state)
{
    if (state == LANGUAGE_ALL || state == LANGUAGE_DEAD)
        return state == LANGUAGE_ALL;
    return language->accepts(language, state);
}

// ---- Events, copied

struct event_list {
    struct event *events;
    uint32_t count;
    struct arena arena;
};

void event_list_init(struct event_list *list, const struct event *events, uint32_t count);
void event_list_deinit(struct event_list *list);
bool event_list_matches(const struct event_list *list, const struct letter *letter);
// May a letter at this node match?
bool event_list_minds(const struct event_list *list, uint32_t node);

struct id_set id_set_copy(struct arena *arena, struct id_set set);
struct spot_set spot_set_copy(struct arena *arena, struct spot_set set);
// Is the letter, a step, at one of these spots of one of these nodes? Without spots: at a
// beginning.
bool is_step_at(const struct letter *letter, struct id_set nodes, struct spot_set spots);

// ---- Tuples of numbers, numbered from 1

struct tuple {
    const uint32_t *words;
    uint32_t count;
};

static inline uint64_t tuple_hash(struct tuple tuple)
{
    uint64_t hash = tuple.count;
    for (uint32_t i = 0; i < tuple.count; i++)
        hash = hash_mix(hash + tuple.words[i]);
    return hash;
}

static inline bool tuple_equal(struct tuple a, struct tuple b)
{
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.words, b.words, a.count * sizeof(*a.words)) == 0);
}

MAP_DEFINE(tuple_map, struct tuple, uint32_t, tuple_hash, tuple_equal);
VEC_DEFINE(tuple_vec, struct tuple);
VEC_DEFINE(word_vec, uint32_t);

struct tuple_table {
    struct arena arena;
    struct tuple_map map;
    struct tuple_vec tuples; // number n is tuples[n - 1]
};

void tuple_table_deinit(struct tuple_table *table); // a zeroed one is empty
uint32_t tuple_table_number(struct tuple_table *table, const uint32_t *words, size_t count);
static inline struct tuple tuple_table_get(const struct tuple_table *table, uint32_t number)
{
    return *tuple_vec_at(&table->tuples, number - 1);
}
static inline uint64_t tuple_table_size(const struct tuple_table *table)
{
    return table->tuples.length;
}

// ---- Sets of walks through one language, which began at different moments

// Pairs of words, ascending: the state at the call that is open at this level, or one of those
// below; the state now.
#define WALK_OUTER LANGUAGE_OUTER       // began at this level, or further in: no call is open
#define WALK_CALL  (LANGUAGE_OUTER - 1) // began with the call that is open

void walks_add(struct word_vec *pairs, uint32_t from, uint32_t now);
// Dead ones and repetitions leave, the rest is sorted. Whether one of them is LANGUAGE_ALL.
bool walks_settle(struct word_vec *pairs, size_t first);
// All of them read the letter. below: of a return that has its call, the pairs before that call.
// Those of WALK_CALL are over with that return and are left out. Without `tracked` (the language is
// regular) no calls are kept: every pair is of WALK_OUTER.
void walks_read(struct language *language, struct tuple pairs, const struct letter *letter,
                struct tuple below, bool tracked, struct word_vec *ret);
bool walks_accept(struct language *language, const uint32_t *pairs, size_t count);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "solve/conjunction.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/vec.h"
#include "solve/automata.h"

VEC_DEFINE(tuple_vec, uint32_t);
MAP_DEFINE_U64(tuple_map, uint32_t);

// Tuples of `width` numbers, each once.
struct tuples {
    uint32_t width, count;
    struct tuple_vec data;
    struct tuple_map ids;
};

struct conjunction {
    struct automaton automaton;
    struct automaton **parts;
    uint32_t count;
    struct tuples states, symbols;
    struct node_spot *spots;
    uint32_t *state, *symbol; // scratch
};

static uint32_t tuples_put(struct tuples *tuples, const uint32_t *tuple)
{
    uint64_t key = tuples->width;
    bool is_new;

    for (uint32_t i = 0; i < tuples->width; i++)
        key = hash_mix(key ^ tuple[i]);
    for (;; key++) {
        uint32_t *id = tuple_map_put_new(&tuples->ids, key, &is_new);

        if (!is_new && memcmp(tuples->data.data + (size_t)*id * tuples->width, tuple,
                              tuples->width * sizeof(*tuple)) == 0)
            return *id;
        if (!is_new)
            continue; // another of the same hash
        *id = tuples->count++;
        for (uint32_t i = 0; i < tuples->width; i++)
            tuple_vec_push(&tuples->data, tuple[i]);
        return *id;
    }
}

static const uint32_t *tuples_get(const struct tuples *tuples, uint32_t id)
{
    return tuples->data.data + (size_t)id * tuples->width;
}

static struct conjunction *conjunction_of(struct automaton *automaton)
{
    return (struct conjunction *)automaton;
}

static uint32_t conjunction_step(struct automaton *automaton, uint32_t state, uint32_t node,
                                 uint32_t insn)
{
    struct conjunction *all = conjunction_of(automaton);
    bool changed = false;

    memcpy(all->state, tuples_get(&all->states, state), all->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < all->count; i++) {
        if (!all->parts[i]->minds(all->parts[i], node))
            continue;
        uint32_t next = automaton_step(all->parts[i], all->state[i], node, insn);

        if (next == AUTOMATON_DEAD)
            return AUTOMATON_DEAD;
        changed |= next != all->state[i];
        all->state[i] = next;
    }
    return changed ? tuples_put(&all->states, all->state) : state;
}

static uint32_t conjunction_call(struct automaton *automaton, uint32_t state, uint32_t node,
                                 uint32_t function, uint32_t *symbol)
{
    struct conjunction *all = conjunction_of(automaton);

    memcpy(all->state, tuples_get(&all->states, state), all->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < all->count; i++) {
        all->state[i] =
            all->parts[i]->call(all->parts[i], all->state[i], node, function, &all->symbol[i]);
        if (all->state[i] == AUTOMATON_DEAD)
            return AUTOMATON_DEAD;
    }
    *symbol = tuples_put(&all->symbols, all->symbol);
    return tuples_put(&all->states, all->state);
}

static uint32_t conjunction_leave(struct automaton *automaton, uint32_t state, uint32_t symbol,
                                  uint32_t node, uint32_t function)
{
    struct conjunction *all = conjunction_of(automaton);

    memcpy(all->state, tuples_get(&all->states, state), all->count * sizeof(uint32_t));
    memset(all->symbol, 0, all->count * sizeof(uint32_t));
    if (symbol < all->symbols.count)
        memcpy(all->symbol, tuples_get(&all->symbols, symbol), all->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < all->count; i++) {
        all->state[i] =
            all->parts[i]->leave(all->parts[i], all->state[i], all->symbol[i], node, function);
        if (all->state[i] == AUTOMATON_DEAD)
            return AUTOMATON_DEAD;
    }
    return tuples_put(&all->states, all->state);
}

static bool conjunction_accepts(struct automaton *automaton, uint32_t state)
{
    struct conjunction *all = conjunction_of(automaton);
    const uint32_t *tuple = tuples_get(&all->states, state);

    for (uint32_t i = 0; i < all->count; i++)
        if (!all->parts[i]->accepts(all->parts[i], tuple[i]))
            return false;
    return true;
}

static bool conjunction_minds(const struct automaton *automaton, uint32_t node)
{
    const struct conjunction *all = (const struct conjunction *)automaton;

    for (uint32_t i = 0; i < all->count; i++)
        if (all->parts[i]->minds(all->parts[i], node))
            return true;
    return false;
}

static void tuples_deinit(struct tuples *tuples)
{
    tuple_vec_deinit(&tuples->data);
    tuple_map_deinit(&tuples->ids);
}

static void conjunction_destroy(struct automaton *automaton)
{
    struct conjunction *all = conjunction_of(automaton);

    tuples_deinit(&all->states);
    tuples_deinit(&all->symbols);
    free(all->parts);
    free(all->spots);
    free(all->state);
    free(all->symbol);
    free((char *)all->automaton.name);
    free(all);
}

static void join_spots(struct conjunction *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++)
        count += all->parts[i]->spots.count;
    all->spots = xmalloc_array(count + 1u, sizeof(*all->spots));
    count = 0;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t s = 0; s < all->parts[i]->spots.count; s++)
            all->spots[count++] = all->parts[i]->spots.data[s];
    all->automaton.spots = spot_set_make(all->spots, count);
}

struct automaton *conjunction_create(struct automaton *const *parts, uint32_t count,
                                     const char *name)
{
    struct conjunction *all = xcalloc(1, sizeof(*all));

    all->automaton = (struct automaton){.name = xstrdup(name),
                                        .is_regular = true,
                                        .step = conjunction_step,
                                        .call = conjunction_call,
                                        .leave = conjunction_leave,
                                        .accepts = conjunction_accepts,
                                        .minds = conjunction_minds,
                                        .destroy = conjunction_destroy};
    all->parts = xmalloc_array(count + 1u, sizeof(*parts));
    all->count = count;
    all->states.width = all->symbols.width = count;
    all->state = xmalloc_array(count + 1u, sizeof(uint32_t));
    all->symbol = xmalloc_array(count + 1u, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        all->parts[i] = parts[i];
        all->state[i] = parts[i]->initial;
        all->automaton.is_regular &= parts[i]->is_regular;
        // one that accepts nothing makes the whole so
        if (parts[i]->initial == AUTOMATON_DEAD)
            all->automaton.initial = AUTOMATON_DEAD;
    }
    join_spots(all);
    if (all->automaton.initial != AUTOMATON_DEAD)
        all->automaton.initial = tuples_put(&all->states, all->state);
    return &all->automaton;
}

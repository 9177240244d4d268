// SPDX-License-Identifier: Apache-2.0
/*
 * The oracle's own check: all paths of one thread, with a real stack of limited depth and no
 * summaries of any kind.
 *
 *     bool known = brute_paths(&machine, &chain, depth, &runs);
 *
 * What it finds with any limit must be among what brute_oracle.h finds; once a higher limit finds
 * no more, they must be equal. It knows nothing of facts about one activation, nor of gaps.
 */
#ifndef TESTS_UNIT_BRUTE_PATHS_H
#define TESTS_UNIT_BRUTE_PATHS_H

#include "brute_oracle.h"

#define PATHS_DEPTH  16
#define PATHS_STATES 100000

struct paths_state {
    uint8_t nodes[PATHS_DEPTH]; // of the stack, outermost first; where each stands
    uint32_t depth, visited, traces;
};

struct paths {
    const struct machine *machine;
    uint32_t limit;
    struct brute_set states;
};

// Packs a node in 6 bits: 16 of them are 3 words; depth is where they end.
static inline struct brute_key paths_pack(const struct paths_state *state)
{
    struct brute_key key = {{0, 0, 0, state->depth, state->visited, state->traces}};

    for (uint32_t i = 0; i < state->depth; i++)
        for (uint32_t b = 0; b < 6; b++)
            key.w[(i * 6 + b) / 32] |= (uint32_t)(state->nodes[i] >> b & 1) << (i * 6 + b) % 32;
    return key;
}

static inline struct paths_state paths_unpack(const struct brute_key *key)
{
    struct paths_state state = {.depth = key->w[3], .visited = key->w[4], .traces = key->w[5]};

    for (uint32_t i = 0; i < state.depth; i++)
        for (uint32_t b = 0; b < 6; b++)
            state.nodes[i] |= (uint8_t)((key->w[(i * 6 + b) / 32] >> (i * 6 + b) % 32 & 1) << b);
    return state;
}

// The innermost of `depth` frames comes to `node` (again: it was there already).
static inline void paths_come(struct paths *paths, const struct paths_state *from, uint32_t depth,
                              uint32_t node, bool again)
{
    struct paths_state state = *from;
    bool is_new;

    if (depth > paths->limit)
        return;
    if (!again && !machine_visit(paths->machine, node, &state.visited, &state.traces))
        return;
    state.depth = depth;
    state.nodes[depth - 1] = (uint8_t)node;
    brute_set_add(&paths->states, paths_pack(&state), &is_new);
}

static inline void paths_return(struct paths *paths, const struct paths_state *state)
{
    const struct machine *machine = paths->machine;
    uint32_t left = machine->nodes[state->nodes[state->depth - 1]].function;

    if (state->depth < 2)
        return;
    uint32_t outer = state->nodes[state->depth - 2];
    if (machine->has_signals && left == machine->signals && machine->nodes[outer].interrupted)
        paths_come(paths, state, state->depth - 1, outer, true);
    else
        for (uint32_t k = 0; k < machine->nodes[outer].next_count; k++)
            paths_come(paths, state, state->depth - 1, machine->nodes[outer].next[k], false);
}

static inline void paths_step(struct paths *paths, const struct paths_state *state)
{
    const struct machine *machine = paths->machine;
    uint32_t n = state->nodes[state->depth - 1];
    const struct machine_node *node = &machine->nodes[n];

    if (node->interrupted)
        paths_come(paths, state, state->depth + 1, machine->entry[machine->signals], false);
    if (node->closed)
        return;
    for (uint32_t k = 0; node->past && k < node->next_count; k++)
        paths_come(paths, state, state->depth, node->next[k], false);
    // a jump lands in any frame that it can
    for (uint32_t d = 1; node->jumps && d <= state->depth; d++)
        for (uint32_t k = 0; k < machine->nodes[state->nodes[d - 1]].land_count; k++)
            paths_come(paths, state, d, machine->nodes[state->nodes[d - 1]].lands[k], false);
    if (node->returns)
        paths_return(paths, state);
    for (uint32_t f = 0; f < machine->function_count; f++)
        if (node->callees >> f & 1)
            paths_come(paths, state, state->depth + 1, machine->entry[f], false);
}

static inline bool paths_stands(const struct paths_state *state, const struct chain_of *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        if (state->depth != chain->count || !(chain->items[i].at >> state->nodes[i] & 1))
            return false;
    return true;
}

// `ret`: (visited, traces). False: too many states.
BRUTE_FUNCTION bool brute_paths(const struct machine *machine, const struct chain_of *chain,
                                uint32_t limit, struct brute_set *ret)
{
    struct paths paths = {.machine = machine, .limit = limit};
    struct paths_state first = {.traces = trace_begin(machine)};
    bool is_new;

    paths_come(&paths, &first, 1, machine->entry[chain->items[0].function], false);
    for (uint32_t i = 0; i < paths.states.count && paths.states.count < PATHS_STATES; i++) {
        struct paths_state state = paths_unpack(&paths.states.data[i]);

        paths_step(&paths, &state);
        if (paths_stands(&state, chain))
            brute_set_add(ret, (struct brute_key){{state.visited, state.traces, 0, 0, 0, 0}},
                          &is_new);
    }
    bool known = paths.states.count < PATHS_STATES;
    brute_set_deinit(&paths.states);
    return known;
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Deterministic automata over the nested words of runs: what queries and traces become.
 *
 * A run is a word of three kinds of letters, over a flow graph's ids (solve/flow.h; the model's own
 * nodes and functions have the same ids there):
 *   step(node, insn)      control reaches this instruction of the node, counted from 0. A
 * function's entry node is reached behind its call. call(node, function)  a call at the end of the
 * node enters the function: pushes a symbol leave(node, function) that call has returned (or was
 * left by a jump): pops the symbol Calls that are pending when the run ends are never left. The
 * word ends when the run does.
 *
 * Where in a node control is matters only at the *spots* that an automaton names, and at the
 * node's beginning: for all other instructions there is no letter. A node that control passes is
 * read by its beginning and then by all of its spots, in order; where control stands in the middle
 * of one, by those that it has come to; a signal handler may come between any two.
 *
 *     uint32_t state = automaton->initial;
 *     state = automaton_step(automaton, state, node, 0);
 *     for (insn = 0; (insn = automaton_next_spot(automaton, node, insn));)
 *             state = automaton_step(automaton, state, node, insn);
 *     state = automaton->call(automaton, state, node, function, &symbol);
 *     ...
 *     state = automaton->leave(automaton, state, symbol, node, function);
 *     if (state != AUTOMATON_DEAD && automaton->accepts(automaton, state)) ...
 *
 * States and symbols are dense numbers, which may be given out as they are met; AUTOMATON_DEAD is
 * the state that accepts nothing any more, whatever follows: no function is called with it.
 * Functions are total and always give the same answer for the same arguments.
 */
#ifndef SOLVE_AUTOMATON_H
#define SOLVE_AUTOMATON_H

#include <stdbool.h>
#include <stdint.h>

#define AUTOMATON_DEAD UINT32_MAX

struct node_spot {
    uint32_t node, insn;
};
struct spot_set { // ascending by node, then by insn, without repetition
    const struct node_spot *data;
    uint32_t count;
};

// The first that is not before this one; set.count: none.
static inline uint32_t spot_set_find(struct spot_set set, struct node_spot spot)
{
    uint32_t low = 0, high = set.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct node_spot *at = &set.data[middle];

        if (at->node < spot.node || (at->node == spot.node && at->insn < spot.insn))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool spot_set_has(struct spot_set set, struct node_spot spot)
{
    uint32_t at = spot_set_find(set, spot);

    return at < set.count && set.data[at].node == spot.node && set.data[at].insn == spot.insn;
}

struct automaton {
    const char *name; // of the observation or query it stands for, in words
    uint32_t initial;
    // It does not look at symbols: leave() gives what step() of nothing would. Then a finite
    // automaton, and `fsa` can use it exactly.
    bool is_regular;
    struct spot_set spots; // other than nodes' beginnings

    uint32_t (*step)(struct automaton *automaton, uint32_t state, uint32_t node, uint32_t insn);
    uint32_t (*call)(struct automaton *automaton, uint32_t state, uint32_t node, uint32_t function,
                     uint32_t *symbol);
    uint32_t (*leave)(struct automaton *automaton, uint32_t state, uint32_t symbol, uint32_t node,
                      uint32_t function);
    bool (*accepts)(struct automaton *automaton, uint32_t state);
    // May step, call or leave at this node change any state (of any automaton like this)? False
    // allows the solver to pass it without asking.
    bool (*minds)(const struct automaton *automaton, uint32_t node);
    void (*destroy)(struct automaton *automaton);
};

static inline void automaton_destroy(struct automaton *automaton)
{
    if (automaton)
        automaton->destroy(automaton);
}

// The automaton's next spot in the node behind this instruction (UINT32_MAX: behind all of them);
// 0: there is none.
static inline uint32_t automaton_next_spot(const struct automaton *automaton, uint32_t node,
                                           uint32_t insn)
{
    if (!automaton->spots.count || insn == UINT32_MAX)
        return 0;
    uint32_t at = spot_set_find(automaton->spots, (struct node_spot){node, insn + 1});
    bool found = at < automaton->spots.count && automaton->spots.data[at].node == node;

    return found ? automaton->spots.data[at].insn : 0;
}

// What is no spot of this automaton's, but of another's, makes no difference to it.
static inline uint32_t automaton_step(struct automaton *automaton, uint32_t state, uint32_t node,
                                      uint32_t insn)
{
    if (state == AUTOMATON_DEAD ||
        (insn && !spot_set_has(automaton->spots, (struct node_spot){node, insn})))
        return state;
    return automaton->step(automaton, state, node, insn);
}

// Those of its spots in the node that lie behind one instruction and before another.
static inline uint32_t automaton_go(struct automaton *automaton, uint32_t state, uint32_t node,
                                    uint32_t behind, uint32_t before)
{
    for (uint32_t insn = behind;
         (insn = automaton_next_spot(automaton, node, insn)) && insn < before;)
        state = automaton_step(automaton, state, node, insn);
    return state;
}

// The whole node, from its beginning to its end.
static inline uint32_t automaton_pass(struct automaton *automaton, uint32_t state, uint32_t node)
{
    return automaton_go(automaton, automaton_step(automaton, state, node, 0), node, 0, UINT32_MAX);
}

#endif

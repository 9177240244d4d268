// SPDX-License-Identifier: Apache-2.0
/*
 * Deterministic automata over the nested words of runs: what queries and traces become.
 *
 * A run is a word of three kinds of letters, over a flow graph's ids (solve/flow.h; the model's own
 * nodes and functions have the same ids there):
 *   step(node)            control reaches the node. A function's entry node is reached behind its
 * call. call(node, function)  a call at the end of the node enters the function: pushes a symbol
 *   leave(node, function) that call has returned (or was left by a jump): pops the symbol
 * Calls that are pending when the run ends are never left. The word ends when the run does.
 *
 *     uint32_t state = automaton->initial;
 *     state = automaton->step(automaton, state, node);
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

struct automaton {
    const char *name; // of the observation or query it stands for, in words
    uint32_t initial;
    // It does not look at symbols: leave() gives what step() of nothing would. Then a finite
    // automaton, and `fsa` can use it exactly.
    bool is_regular;

    uint32_t (*step)(struct automaton *automaton, uint32_t state, uint32_t node);
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

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Several automata at once: accepts what all of them accept.
 *
 *     struct automaton *all = conjunction_create(parts, 3, "what is known");
 *     automaton_destroy(all);
 *
 * Parts are borrowed and must outlive it. A state is a tuple of the parts' states, numbered when
 * first met.
 */
#ifndef SOLVE_CONJUNCTION_H
#define SOLVE_CONJUNCTION_H

#include "solve/automaton.h"

struct automaton *conjunction_create(struct automaton *const *parts, uint32_t count,
                                     const char *name);

#endif

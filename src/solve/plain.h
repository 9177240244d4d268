// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that an automaton takes no notice of, whatever happens in a call of them: none of the
 * nodes that such a call may reach is minded, or absent, or a jump. A completed call of one leaves
 * the automaton where its call and its return put it.
 *
 *     struct bitset plain;
 *     plain_init(&plain, &complete, absent, automaton, false);
 */
#ifndef SOLVE_PLAIN_H
#define SOLVE_PLAIN_H

#include <stdbool.h>

#include "common/bitset.h"

struct automaton;
struct complete;

// By function of the flow. `absent` and `automaton` may be NULL. `if_opened`: also when calls that
// are closed now are made.
void plain_init(struct bitset *plain, const struct complete *complete, const struct bitset *absent,
                const struct automaton *automaton, bool if_opened);

#endif

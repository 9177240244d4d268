// SPDX-License-Identifier: Apache-2.0
/*
 * A run as pieces that people read: lines of functions at a depth of calls, for texts.
 *
 *     struct step_vec steps = VEC_INIT;
 *     steps_of_run(model, run, &(struct steps_style){.join = 3}, &steps);
 *     for (size_t i = 0, length; i < steps.length; i += length * count) {
 *             count = steps_repeats(&steps, i, &length);      // `length` pieces, `count` times
 *             ...
 *     }
 *     step_vec_deinit(&steps);
 */
#ifndef REPORT_STEPS_H
#define REPORT_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/vec.h"

struct model;
struct run;

struct step_piece {
    uint32_t depth;
    uint32_t function;
    uint32_t file, first, last; // lines; 0: not known
    bool enters;                // of a function, by a call
    uint32_t hidden; // it stands for a call that came back, of so many nodes; 0: it does not
    uint32_t mark;   // what marks[] has for its event; 0: nothing
};
VEC_DEFINE(step_vec, struct step_piece);

struct steps_style {
    uint32_t join;         // lines up to so many behind the one before belong to its piece
    const uint32_t *marks; // by event, or NULL: a step with one is a piece by itself
    // By event: the line of the node that its mark is for; 0: the first, UINT32_MAX: the last.
    const uint32_t *mark_lines;
    bool hide_calls; // calls that came back, and have no mark in them, are one piece each
    bool all_lines;  // every line of a node; else the first
};

void steps_of_run(const struct model *model, const struct run *run, const struct steps_style *style,
                  struct step_vec *ret);
// How often the shortest stretch of pieces that begins at `at` and is repeated right behind it
// occurs, and how long it is: 1 and 1 where there is none.
uint32_t steps_repeats(const struct step_vec *steps, size_t at, size_t *length);
// The depth of the outermost piece.
uint32_t steps_base(const struct step_vec *steps);

#endif

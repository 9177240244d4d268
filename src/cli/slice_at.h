// SPDX-License-Identifier: Apache-2.0
/*
 * FILE:LINE[:VARIABLE] on the command line of `inquest slice`, and what it stands for.
 *
 *     struct slice_at at;
 *     err = slice_at_parse("--at", text, true, &at);
 *     if (!err)
 *             err = slice_at_find(&at, model, dependence);     // at.nodes, at.insns
 *     slice_at_deinit(&at);
 *
 * What stands for nothing is an error that names what is near.
 */
#ifndef CLI_SLICE_AT_H
#define CLI_SLICE_AT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bitset.h"
#include "program/model.h"

struct dependence;
struct error;

struct slice_at {
    const char *text; // as it was given
    char *file;
    uint32_t line;
    const char *variable; // in `text`, or NULL
    // Once found: nodes with an instruction on the line, and those instructions
    struct node_id *nodes;
    uint32_t node_count;
    struct bitset insns; // by insn_id
};

// text lives as long as `ret`, which is to be deinitialised in any case.
struct error *slice_at_parse(const char *option, const char *text, bool takes_variable,
                             struct slice_at *ret);
struct error *slice_at_find(struct slice_at *at, const struct model *model,
                            const struct dependence *dependence);
// The line has nothing to do with that variable.
struct error *slice_at_no_variable(const struct slice_at *at, const struct model *model,
                                   const struct dependence *dependence);
void slice_at_deinit(struct slice_at *at);

#endif

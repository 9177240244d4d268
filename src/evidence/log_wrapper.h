// SPDX-License-Identifier: Apache-2.0
/*
 * What functions of the program write, one function at a time: its own outputs and those of the
 * wrappers that it calls, and whether it is a wrapper itself.
 *
 *     struct log_wrappers wrappers;
 *     log_wrappers_init(&wrappers, &resolver, compose);
 *     const struct log_function *function = log_wrappers_find(&wrappers, id);
 *     log_wrappers_deinit(&wrappers);
 *
 * With `compose` the outputs of a wrapper are put together in the order of its control flow, as one
 * text: right as long as one thread at a time writes. Without, or where loops or unknown functions
 * write in between, each stands alone, and those that are given by a caller are not ordered: the
 * caller's node is visited before the wrapper's other outputs.
 */
#ifndef EVIDENCE_LOG_WRAPPER_H
#define EVIDENCE_LOG_WRAPPER_H

#include "common/bitset.h"
#include "evidence/log_output.h"
#include "program/model.h"

VEC_DEFINE(log_steps, struct log_step);

enum log_function_state {
    LOG_FUNCTION_NEW,
    LOG_FUNCTION_ACTIVE,
    LOG_FUNCTION_DONE,
};

struct log_function {
    enum log_function_state state;
    bool is_wrapper;          // some step names a parameter
    bool is_whole;            // `exports` is all that it writes, put together
    bool has_unknown_callers; // is entered from code that is not known
    struct log_steps steps;   // by node
    struct log_steps exports; // what its callers' calls write; of wrappers, and where composed
};

struct log_wrappers {
    struct log_resolver *resolver;
    bool compose;
    bool pointers_write;            // calls through pointers may be of the C library's outputs
    struct log_function *functions; // by function of the model
    struct bitset writes;           // functions that may write, themselves or in what they call
};

void log_wrappers_init(struct log_wrappers *wrappers, struct log_resolver *resolver, bool compose);
void log_wrappers_deinit(struct log_wrappers *wrappers);

// All functions must have been asked for before has_unknown_callers is final.
const struct log_function *log_wrappers_find(struct log_wrappers *wrappers,
                                             struct function_id function);

// Puts the steps of a function together along its control flow (log_compose.c). False: cannot.
bool log_compose(struct log_wrappers *wrappers, struct function_id function,
                 struct log_steps *exports);

#endif

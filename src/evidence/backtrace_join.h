// SPDX-License-Identifier: Apache-2.0
// Shared by the files that join a backtrace with a program; see backtrace_evidence.h.
#ifndef EVIDENCE_BACKTRACE_JOIN_H
#define EVIDENCE_BACKTRACE_JOIN_H

#include "common/vec.h"
#include "evidence/backtrace.h"
#include "evidence/core/locate.h"
#include "evidence/evidence.h"
#include "program/model.h"

VEC_DEFINE(join_frame_vec, struct evidence_frame);
VEC_DEFINE(join_warning_vec, const char *);

// A frame of the text, and what was found of where it is.
struct join_frame {
    struct backtrace_frame text;
    bool is_program;  // `address` is known: of the program's file
    uint64_t address; // where it goes on, or with is_inside the place in the call
    bool is_inside;
    bool may_be_signal; // it cannot be told whether the frame is a signal's, or waits for a call
    bool interrupted;   // innermost, or right below a signal frame
};

struct joiner {
    const struct backtrace *backtrace;
    struct model *model;
    struct evidence *evidence; // everything is allocated in its arena
    const char *program;       // base name of the executable, or NULL
    struct locator *locator;   // NULL without debug information
    const char *build_id;      // of the executable, or NULL
    bool has_bias;             // the program's place in memory is known
    uint64_t bias;
    bool is_misfit;    // there are addresses, but they do not fit
    bool has_musttail; // some function of the program makes calls that must be tail calls
    struct join_warning_vec warnings;
};

void joiner_warn(struct joiner *joiner, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

// ---- backtrace_address.c

// Is this file of the text the program?
bool joiner_is_program(const struct joiner *joiner, const struct backtrace_frame *frame);
// Where the program was in memory, from all stacks together. ERROR_MISMATCH: another build-id.
struct error *joiner_find_bias(struct joiner *joiner);
// Addresses of a stack's frames, and which of them are signal frames.
void joiner_place(struct joiner *joiner, struct join_frame *frames, uint32_t count);

// ---- backtrace_match.c

// What a frame can be by its name and line. `outer`: the next frame of the text, or NULL. `inner`:
// the frame it waits for, NULL when it was interrupted or that one has no model. False: code
// without a model, or it cannot be told which function it is (*is_unknown).
bool joiner_match(struct joiner *joiner, const struct join_frame *frame,
                  const struct join_frame *outer, const struct evidence_frame *inner,
                  struct evidence_frame *ret, bool *is_unknown);
// May frames be missing between two that were matched by name? `inner` has a model.
bool joiner_match_gap(struct joiner *joiner, const struct evidence_frame *outer,
                      const struct evidence_frame *inner);
// Its nodes, and all that control can go on to from them.
void joiner_widen(struct joiner *joiner, struct evidence_frame *frame);
// The function of a frame of a model.
struct function_id joiner_function(const struct joiner *joiner, const struct evidence_frame *frame);
struct evidence_nodes joiner_nodes(struct joiner *joiner, const uint8_t *marks, uint32_t count);

#endif

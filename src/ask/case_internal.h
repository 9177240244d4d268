// SPDX-License-Identifier: Apache-2.0
// Shared by the files that make a case; see case.h.
#ifndef ASK_CASE_INTERNAL_H
#define ASK_CASE_INTERNAL_H

#include "ask/case.h"

struct evidence_frame;

// The model's function of an evidence's name for it. False: the model has no such function.
bool case_function(const struct ask_case *ask, uint64_t module_id, uint32_t index, uint32_t *ret);

// Is the fact there and enabled?
bool case_uses(const struct ask_case *ask, enum ask_fact_kind kind, uint32_t thread,
               uint32_t frame);

// ---- case_observations.c

// The nodes of an entry of an observation, in the case's arena; those that the model has.
struct evidence_points;
uint32_t *case_points(struct ask_case *ask, const struct evidence_points *points,
                      uint32_t *ret_count);
// What one observation of the evidence says: nodes that ran or are absent, or an automaton.
struct evidence_observation;
void case_observation(struct ask_case *ask, const struct evidence_observation *observation);

// ---- case_threads.c

// The activations of every thread.
void case_threads(struct ask_case *ask);
// Those of threads that are gone; is_single and may_have_more are known.
void case_gone(struct ask_case *ask);

// ---- case_frame.c

// What is known of one activation, in the case's arena. thread, number: of the frame.
void case_frame(struct ask_case *ask, const struct evidence_frame *frame, uint32_t thread,
                uint32_t number, uint32_t function, struct view_facts *facts);

#endif

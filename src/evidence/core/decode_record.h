// SPDX-License-Identifier: Apache-2.0
// What decode_record.c and decode_lazy.c share.
#ifndef EVIDENCE_CORE_DECODE_RECORD_H
#define EVIDENCE_CORE_DECODE_RECORD_H

#include "evidence/core/decode_internal.h"

// What several possible paths have in common: a beginning.
struct common_path {
    struct path path;
    uint32_t length; // of its steps, those that all share
    bool any;
};

// Takes the path over.
void common_path_add(struct common_path *common, struct path *path);
// The frame's path is what is common; `exact` of one path alone.
void common_path_keep(struct common_path *common, struct decoder *decoder, bool exact,
                      struct evidence_frame *frame);

// ---- decode_lazy.c

// What the words of a lazy function prove of an interrupted frame, or of one that waits for a call
// that may have been moved. False: the words are of no place where control can have stored them.
bool decode_lazy(struct decoder *decoder, const struct stop *stop, const struct position *position,
                 const struct path_words *words, struct evidence_frame *frame);
// Has every way from the function's entry to the candidates passed a call that holds everything in
// its place?
bool decode_passed_call(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, struct evidence_nodes candidates);

#endif

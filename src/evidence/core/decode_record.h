// SPDX-License-Identifier: Apache-2.0
// What decode_record.c and decode_lazy.c share.
#ifndef EVIDENCE_CORE_DECODE_RECORD_H
#define EVIDENCE_CORE_DECODE_RECORD_H

#include "evidence/core/decode_internal.h"

struct frame_words {
    struct layout_shape shape;
    struct layout_code code;
    uint64_t path, last, older;
};

// Takes the path over; its first `steps` are kept.
struct evidence_path decode_keep_path(struct decoder *decoder, struct path *path, uint32_t steps);
// How many of the first `length` steps of `a` are those of `b` too.
uint32_t decode_common_prefix(const struct path *a, uint32_t length, const struct path *b);

// ---- decode_lazy.c

// Has every way from the function's entry to the candidates passed a call that is certainly none
// that was inlined? Then the words of a lazy function are of this activation.
bool decode_passed_call(struct decoder *decoder, const struct position *position,
                        struct evidence_nodes candidates);
// What the word of a lazy function, stored before some earlier call, proves: a beginning of the
// unfinished path, or nothing. False: no call that control can have come from stores this sum.
bool decode_lazy(struct decoder *decoder, const struct position *position, uint64_t sum,
                 struct evidence_frame *frame);

#endif

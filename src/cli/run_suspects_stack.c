// SPDX-License-Identifier: Apache-2.0
// The stack of a failure, as a report keeps it.
#include <stdlib.h>

#include "cli/run_suspects.h"
#include "common/error.h"
#include "common/vec.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "program/model.h"

VEC_DEFINE(frame_vec, struct suspects_frame);

// Of an endless recursion the innermost and the outermost are enough.
enum { INNERMOST = 200, OUTERMOST = 50 };

// Frames that no model knows, or that were left out; several are one.
static void push_gap(struct frame_vec *frames)
{
    if (!frames->length || frame_vec_last(frames)->module_id != 0)
        frame_vec_push(frames, (struct suspects_frame){0, SUSPECTS_NONE, SUSPECTS_NONE});
}

static void push_frame(struct frame_vec *frames, const struct evidence_frame *frame)
{
    if (frame->kind != EVIDENCE_FRAME_MODEL || frame->guessed) {
        push_gap(frames);
        return;
    }
    uint32_t node =
        frame->candidates.count == 1 ? frame->candidates.nodes[0] : (uint32_t)SUSPECTS_NONE;
    frame_vec_push(frames,
                   (struct suspects_frame){frame->function.module_id, frame->function.index, node});
    if (frame->gap)
        push_gap(frames);
}

static void push_thread(struct frame_vec *frames, const struct evidence_thread *thread)
{
    for (uint32_t f = 0; f < thread->frame_count; f++) {
        if (f == INNERMOST && thread->frame_count > INNERMOST + OUTERMOST) {
            push_gap(frames);
            f = thread->frame_count - OUTERMOST;
        }
        push_frame(frames, &thread->frames[f]);
    }
    if (!thread->whole)
        push_gap(frames);
    // what calls main is no news
    if (thread->whole && frames->length && frame_vec_last(frames)->module_id == 0)
        frames->length--;
}

static bool has_model(const struct frame_vec *frames)
{
    for (size_t f = 0; f < frames->length; f++)
        if (frames->data[f].module_id != 0)
            return true;
    return false;
}

void run_suspects_stack(const char *program, const char *core, struct suspects_frame **ret,
                        uint32_t *ret_count)
{
    struct frame_vec frames = VEC_INIT;
    struct model *model;
    struct evidence *evidence;
    struct error *err = decode_core(program, core, &(struct decode_options){0}, &model, &evidence);

    if (err) { // not built with inquest-cc
        error_destroy(err);
        return;
    }
    if (evidence->thread_count)
        push_thread(&frames, &evidence->threads[0]);
    if (!has_model(&frames))
        frame_vec_clear(&frames);
    evidence_destroy(evidence);
    model_destroy(model);
    *ret_count = (uint32_t)frames.length;
    *ret = frame_vec_steal(&frames);
}

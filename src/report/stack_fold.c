// SPDX-License-Identifier: Apache-2.0
/*
 * Deep stacks made short. Frames of a recursion are periodic: the same function again, or the same
 * few of a cycle, over and over. The beginning and the end of such a run are kept, since there
 * the recursion was entered and ended.
 */
#include "report/summary.h"

#include <assert.h>
#include <string.h>

#include "common/vec.h"
#include "evidence/evidence.h"

#define PERIOD_MAX 8u
#define FOLD_LEAST 12u // frames; fewer are shown

VEC_DEFINE(run_vec, struct stack_run);

static bool same_function(const struct evidence_frame *a, const struct evidence_frame *b)
{
    return a->kind == b->kind && a->inlined == b->inlined &&
           a->function.module_id == b->function.module_id &&
           a->function.index == b->function.index &&
           strcmp(a->function.name, b->function.name) == 0;
}

// How many frames from `first` on have this period.
static uint32_t periodic(const struct evidence_thread *thread, uint32_t first, uint32_t period)
{
    uint32_t at = first;
    while ((uint64_t)at + period < thread->frame_count &&
           same_function(&thread->frames[at], &thread->frames[at + period]))
        at++;
    return at > first ? at - first + period : 0;
}

// The shortest period from `first` on that is worth folding; 0 when there is none.
static uint32_t find_period(const struct evidence_thread *thread, uint32_t first, uint32_t *count)
{
    for (uint32_t period = 1; period <= PERIOD_MAX; period++) {
        *count = periodic(thread, first, period);
        if (*count >= FOLD_LEAST && *count >= 4 * period)
            return period;
    }
    return 0;
}

static void push_frames(struct run_vec *runs, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        run_vec_push(runs, (struct stack_run){first + i, 1, 0});
}

// Two turns at the inner end, one at the outer.
static void push_folded(struct run_vec *runs, uint32_t first, uint32_t count, uint32_t period)
{
    uint32_t inner = 2 * period, outer = period;
    push_frames(runs, first, inner);
    run_vec_push(runs, (struct stack_run){first + inner, count - inner - outer, period});
    push_frames(runs, first + count - outer, outer);
}

// Replaces the middle by one run: two thirds of what is kept are the innermost ones.
static void fold_middle(struct run_vec *runs, uint32_t most)
{
    size_t head = most * 2 / 3, tail = most - head - 1;
    const struct stack_run *last = &runs->data[runs->length - tail - 1];
    uint32_t first = runs->data[head].first;
    struct stack_run middle = {first, last->first + last->count - first, 0};
    runs->data[head] = middle;
    memmove(&runs->data[head + 1], &runs->data[runs->length - tail], tail * sizeof(*runs->data));
    runs->length = most;
}

uint32_t stack_fold(const struct evidence_thread *thread, uint32_t most, struct stack_run **out)
{
    struct run_vec runs = VEC_INIT;
    assert(most >= 4);
    for (uint32_t at = 0, count; at < thread->frame_count; at += count) {
        uint32_t period = find_period(thread, at, &count);
        if (period) {
            push_folded(&runs, at, count, period);
        } else {
            count = 1;
            push_frames(&runs, at, 1);
        }
    }
    if (runs.length > most)
        fold_middle(&runs, most);
    uint32_t length = (uint32_t)runs.length;
    *out = run_vec_steal(&runs);
    return length;
}

// SPDX-License-Identifier: Apache-2.0
// A path, rule by rule: what saturation says can be checked without it.
#include <assert.h>
#include <stdlib.h>

#include "solve/pushdown/pushdown_internal.h"

// A call that has not returned: what the caller had done before it.
struct frame {
    struct weight before;
    uint32_t rule;
    size_t height; // of the stack when it has returned
};
VEC_DEFINE(frame_vec, struct frame);

struct replay {
    const struct pushdown *system;
    uint32_t state;
    struct pushdown_id_vec stack; // top last
    struct frame_vec frames;
    struct weight weight; // of the innermost call, so far
};

static void replay_return(struct replay *replay)
{
    const struct semiring *semiring = replay->system->semiring;

    if (!replay->frames.length || frame_vec_last(&replay->frames)->height != replay->stack.length)
        return;
    struct frame frame = frame_vec_pop(&replay->frames);
    const struct pushdown_rule *rule = &replay->system->rules.data[frame.rule];
    replay->weight =
        semiring_merge(semiring, frame.before, rule->weight, replay->weight, rule->tag);
}

static bool replay_rule(struct replay *replay, uint32_t id)
{
    const struct semiring *semiring = replay->system->semiring;
    const struct pushdown_rule *rule = pushdown_rule_at(replay->system, id);

    if (!replay->stack.length || replay->state != rule->state ||
        *pushdown_id_vec_last(&replay->stack) != rule->symbol)
        return false;
    replay->state = rule->to;
    pushdown_id_vec_pop(&replay->stack);
    if (rule->below != PUSHDOWN_NONE) {
        pushdown_id_vec_push(&replay->stack, rule->below);
        frame_vec_push(&replay->frames, (struct frame){replay->weight, id, replay->stack.length});
        replay->weight = semiring->one;
    } else {
        replay->weight = semiring_extend(semiring, replay->weight, rule->weight);
    }
    if (rule->top != PUSHDOWN_NONE)
        pushdown_id_vec_push(&replay->stack, rule->top);
    else
        replay_return(replay);
    return true;
}

// Pending calls are extended.
static struct weight weight_in_all(struct replay *replay)
{
    const struct semiring *semiring = replay->system->semiring;
    struct weight weight = replay->weight;

    while (replay->frames.length) {
        struct frame frame = frame_vec_pop(&replay->frames);
        struct weight call = replay->system->rules.data[frame.rule].weight;

        weight = semiring_extend(semiring, semiring_extend(semiring, frame.before, call), weight);
    }
    return weight;
}

bool pushdown_replay(const struct pushdown *system, const struct pushdown_configuration *start,
                     struct weight before, const uint32_t *rules, uint32_t count,
                     struct pushdown_configuration *end, struct weight *weight)
{
    struct replay replay = {.system = system, .state = start->state, .weight = before};
    bool applies = true;

    for (uint32_t i = start->count; i-- > 0;)
        pushdown_id_vec_push(&replay.stack, start->symbols[i]);
    for (uint32_t i = 0; applies && i < count; i++)
        applies = replay_rule(&replay, rules[i]);
    if (applies) {
        *weight = weight_in_all(&replay);
        *end = (struct pushdown_configuration){replay.state, NULL, (uint32_t)replay.stack.length};
        for (size_t i = 0, k = replay.stack.length; i + 1 < k; i++) {
            uint32_t first = replay.stack.data[i];

            replay.stack.data[i] = replay.stack.data[--k];
            replay.stack.data[k] = first;
        }
        end->symbols = pushdown_id_vec_steal(&replay.stack);
    }
    pushdown_id_vec_deinit(&replay.stack);
    frame_vec_deinit(&replay.frames);
    return applies;
}

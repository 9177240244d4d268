// SPDX-License-Identifier: Apache-2.0
/*
 * Smaller programs and reports out of one that shows a failure.
 *
 *     for (uint32_t n = 0; n < BRUTE_CHANGES; n++)
 *         if (brute_shrink(&program, &report, n) && brute_frames_fit(&program, &report)) ...
 *
 * A change takes one thing away: a root, a thread, an observation, a frame, a fact of a frame, a
 * node of a set, an edge, a callee, a flag, a node.
 */
#ifndef TESTS_UNIT_BRUTE_SHRINK_H
#define TESTS_UNIT_BRUTE_SHRINK_H

#include "brute_report.h"

static inline uint32_t without_bit(uint32_t set, uint32_t bit)
{
    uint32_t low = (1u << bit) - 1u;

    return (set & low) | (set >> 1 & ~low);
}

// All words that are sets of nodes.
static inline uint32_t node_sets(struct brute_report *report, uint32_t **ret)
{
    uint32_t count = 0;

    ret[count++] = &report->sites;
    ret[count++] = &report->sites_never;
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++) {
            ret[count++] = &report->threads[t].frames[f].at;
            ret[count++] = &report->threads[t].frames[f].calls;
            ret[count++] = &report->threads[t].frames[f].calls_never;
        }
    for (uint32_t i = 0; i < report->observation_count; i++) {
        ret[count++] = &report->observations[i].alphabet;
        for (uint32_t e = 0; e < report->observations[i].entry_count; e++)
            ret[count++] = &report->observations[i].entries[e];
    }
    return count;
}

#define NODE_SETS (2 + 3 * BRUTE_THREADS * BRUTE_FRAMES + BRUTE_OBSERVATIONS * (1 + BRUTE_ENTRIES))

static inline bool node_is_used(const struct brute_program *program, struct brute_report *report,
                                uint32_t node)
{
    uint32_t *sets[NODE_SETS], count = node_sets(report, sets), f = program->nodes[node].function;
    bool last = f + 1 == program->function_count;

    for (uint32_t i = 0; i < count; i++)
        if (*sets[i] >> node & 1)
            return true;
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t k = 0; k < report->threads[t].frame_count; k++) {
            const struct brute_frame *frame = &report->threads[t].frames[k];

            if (frame->kind == BRUTE_FRAME_MODEL && frame->function == f && f > 0 &&
                node == program->first[f])
                return true;
            for (uint32_t s = 0; s < frame->step_count; s++)
                if (frame->steps[s] == node)
                    return true;
        }
    for (uint32_t n = 0; n < program->node_count; n++) {
        for (uint32_t k = 0; k < program->nodes[n].next_count; k++)
            if (program->nodes[n].next[k] == node)
                return true;
        if ((program->nodes[n].callees | program->nodes[n].callbacks) >> f & 1 &&
            node == program->first[f])
            return true;
    }
    // an entry can go with its function only
    return node == program->first[f] &&
           (!last || f == 0 || program->first[f + 1] != node + 1 ||
            (program->threads | program->handlers | program->early) >> f & 1);
}

static inline bool remove_node(struct brute_program *program, struct brute_report *report,
                               uint32_t node)
{
    uint32_t *sets[NODE_SETS], count = node_sets(report, sets), f = program->nodes[node].function;

    if (node_is_used(program, report, node))
        return false;
    for (uint32_t i = 0; i < count; i++)
        *sets[i] = without_bit(*sets[i], node);
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t k = 0; k < report->threads[t].frame_count; k++)
            for (uint32_t s = 0; s < report->threads[t].frames[k].step_count; s++)
                report->threads[t].frames[k].steps[s] -=
                    report->threads[t].frames[k].steps[s] > node;
    for (uint32_t n = 0; n < program->node_count; n++)
        for (uint32_t k = 0; k < program->nodes[n].next_count; k++)
            program->nodes[n].next[k] -= program->nodes[n].next[k] > node;
    memmove(&program->nodes[node], &program->nodes[node + 1],
            (program->node_count - node - 1) * sizeof(*program->nodes));
    program->node_count--;
    if (node == program->first[f])
        program->function_count--;
    for (uint32_t g = f + 1; g <= program->function_count; g++)
        program->first[g]--;
    return true;
}

// Change number `n` of a node. False: there is no such.
static inline bool change_node(struct brute_program *program, struct brute_report *report,
                               uint32_t node, uint32_t n)
{
    struct brute_node *it = &program->nodes[node];
    bool *const flags[] = {&it->external, &it->longjmp, &it->may_longjmp, &it->returns_twice,
                           &it->exits};

    if (n < 3) {
        if (n >= it->next_count)
            return false;
        memmove(it->next + n, it->next + n + 1, it->next_count - n - 1);
        it->next_count--;
        return true;
    }
    n -= 3;
    if (n < BRUTE_FUNCTIONS) {
        bool had = it->callees >> n & 1;

        it->callees &= (uint8_t)~(1u << n);
        return had;
    }
    n -= BRUTE_FUNCTIONS;
    if (n < BRUTE_FUNCTIONS) {
        bool had = it->callbacks >> n & 1;

        it->callbacks &= (uint8_t)~(1u << n);
        it->calls_back &= it->callbacks != 0;
        return had;
    }
    n -= BRUTE_FUNCTIONS;
    if (n < sizeof(flags) / sizeof(*flags)) {
        bool had = *flags[n];

        *flags[n] = false;
        return had;
    }
    n -= sizeof(flags) / sizeof(*flags);
    if (n == 0 && it->is_call) {
        *it = (struct brute_node){.function = it->function,
                                  .next_count = it->next_count,
                                  .next = {it->next[0], it->next[1], it->next[2]}};
        return !((report->sites | report->sites_never) >> node & 1);
    }
    return n == 1 && remove_node(program, report, node);
}

#define NODE_CHANGES (3 + 2 * BRUTE_FUNCTIONS + 5 + 2)

static inline bool change_frame(struct brute_thread *thread, uint32_t f, uint32_t n)
{
    struct brute_frame *frame = &thread->frames[f];

    switch (n) {
    case 0:
        thread->frame_count--;
        return f == thread->frame_count && f > 0;
    case 1:
        frame->step_count = 0;
        frame->to_end = false;
        return true;
    case 2:
        if (frame->step_count < 2)
            return false;
        frame->step_count--;
        memmove(frame->steps, frame->steps + 1, frame->step_count);
        return true;
    case 3:
        if (frame->step_count < 2)
            return false;
        frame->step_count--;
        frame->to_end = false;
        return true;
    default:
        frame->gap = false;
        return true;
    }
}

static inline bool change_run(struct brute_program *program, struct brute_report *report,
                              uint32_t n)
{
    uint8_t *const roots[] = {&program->threads, &program->handlers, &program->early};

    if (n < 3 * BRUTE_FUNCTIONS) {
        bool had = *roots[n % 3] >> n / 3 & 1;

        *roots[n % 3] &= (uint8_t)~(1u << n / 3);
        return had;
    }
    n -= 3 * BRUTE_FUNCTIONS;
    if (n == 0)
        return report->thread_count-- > 1;
    if (--n >= report->observation_count)
        return false;
    memmove(&report->observations[n], &report->observations[n + 1],
            (report->observation_count - n - 1) * sizeof(*report->observations));
    report->observation_count--;
    return true;
}

#define RUN_CHANGES (3 * BRUTE_FUNCTIONS + 1 + BRUTE_OBSERVATIONS)

static inline bool change_sets(struct brute_report *report, uint32_t n)
{
    uint32_t *sets[NODE_SETS], count = node_sets(report, sets), set = n / BRUTE_NODES;

    if (set >= count || !(*sets[set] >> n % BRUTE_NODES & 1))
        return false;
    // what must not be empty stays
    if (!(*sets[set] & (*sets[set] - 1)) && set >= 2) {
        bool calls = false;
        for (uint32_t t = 0; t < report->thread_count; t++)
            for (uint32_t f = 0; f < report->threads[t].frame_count; f++)
                calls |= sets[set] == &report->threads[t].frames[f].calls ||
                         sets[set] == &report->threads[t].frames[f].calls_never;
        if (!calls)
            return false;
    }
    *sets[set] &= ~(1u << n % BRUTE_NODES);
    return true;
}

// One change; false: there is none of this number.
BRUTE_FUNCTION bool brute_shrink(struct brute_program *program, struct brute_report *report,
                                 uint32_t n)
{
    if (n < RUN_CHANGES)
        return change_run(program, report, n);
    n -= RUN_CHANGES;
    if (n < BRUTE_THREADS * BRUTE_FRAMES * 5) {
        uint32_t t = n / (BRUTE_FRAMES * 5), f = n / 5 % BRUTE_FRAMES;

        return t < report->thread_count && f < report->threads[t].frame_count &&
               change_frame(&report->threads[t], f, n % 5);
    }
    n -= BRUTE_THREADS * BRUTE_FRAMES * 5;
    if (n < NODE_SETS * BRUTE_NODES)
        return change_sets(report, n);
    n -= NODE_SETS * BRUTE_NODES;
    return n / NODE_CHANGES < program->node_count &&
           change_node(program, report, n / NODE_CHANGES, n % NODE_CHANGES);
}

#define BRUTE_CHANGES                                                                              \
    (RUN_CHANGES + BRUTE_THREADS * BRUTE_FRAMES * 5 + NODE_SETS * BRUTE_NODES +                    \
     NODE_CHANGES * BRUTE_NODES)

// Could a walk have made it, as far as frames go?
BRUTE_FUNCTION bool brute_frames_fit(const struct brute_program *program,
                                     const struct brute_report *report)
{
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 1; f < report->threads[t].frame_count; f++) {
            const struct brute_frame *frame = &report->threads[t].frames[f], *outer = frame - 1;
            bool calls = frame->kind == BRUTE_FRAME_SIGNAL || outer->kind != BRUTE_FRAME_MODEL;

            for (uint32_t n = 0; n < program->node_count; n++) {
                const struct brute_node *node = &program->nodes[n];

                if (outer->kind != BRUTE_FRAME_MODEL || !(outer->at >> n & 1))
                    continue;
                if (frame->kind == BRUTE_FRAME_FOREIGN)
                    calls |= node->calls_back;
                else if (frame->kind == BRUTE_FRAME_MODEL)
                    calls |= node->callees && (frame->gap || node->callees >> frame->function & 1);
            }
            if (outer->kind == BRUTE_FRAME_SIGNAL)
                calls = program->handlers >> frame->function & 1;
            if (!calls ||
                (frame->kind == BRUTE_FRAME_SIGNAL && f + 1 == report->threads[t].frame_count))
                return false;
        }
    return true;
}

#endif

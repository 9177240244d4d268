// SPDX-License-Identifier: Apache-2.0
// One frame of the evidence as facts of an activation (solve/view.h).
#include <stdlib.h>
#include <string.h>

#include "ask/case_internal.h"
#include "common/alloc.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "program/path_number.h"

VEC_DEFINE(step_vec, struct view_step);

// The nodes of a loop.
static void loop_nodes(struct ask_case *ask, const struct path_numbering *numbers,
                       const struct model_function *function, uint32_t header,
                       struct view_step *step)
{
    uint32_t *nodes = arena_alloc_array(&ask->arena, function->node_count, uint32_t), count = 0;

    for (uint32_t n = 0; n < function->node_count; n++)
        if (path_in_loop(numbers, header, n))
            nodes[count++] = function->first_node + n;
    step->loop = nodes;
    step->loop_count = count;
}

static bool is_in_loop(const struct view_step *step, uint32_t node)
{
    for (uint32_t i = 0; i < step->loop_count; i++)
        if (step->loop[i] == node)
            return true;
    return false;
}

static void take_path(struct ask_case *ask, const struct evidence_frame *frame, uint32_t function,
                      struct view_facts *facts)
{
    const struct model_function *f = &ask->model->functions[function];
    const struct path_numbering *numbers =
        model_numbering(ask->model, (struct function_id){function});
    struct step_vec steps = VEC_INIT;

    for (uint32_t i = 0; i < frame->path.step_count; i++) {
        const struct path_step *from = &frame->path.steps[i];
        struct view_step step = {.node = f->first_node + from->node,
                                 .passes = from->kind == PATH_STEP_PASSES};
        struct view_step *last = steps.length ? &steps.data[steps.length - 1] : NULL;

        // behind a loop a node of it is where it was left
        if (i > 0 && from->kind == PATH_STEP_NODE && from[-1].kind == PATH_STEP_LOOP &&
            is_in_loop(last, step.node)) {
            last->leaves_told = true;
            last->leaves = step.node;
            continue;
        }
        if (from->kind != PATH_STEP_NODE)
            loop_nodes(ask, numbers, f, from->node, &step);
        step_vec_push(&steps, step);
    }
    facts->step_count = (uint32_t)steps.length;
    facts->steps = arena_memdup(&ask->arena, steps.data, steps.length * sizeof(*steps.data));
    facts->from_entry = steps.length && frame->path_from_entry;
    facts->to_end = frame->path_exact;
    step_vec_deinit(&steps);
}

static void take_calls(struct ask_case *ask, const struct evidence_frame *frame, uint32_t function,
                       struct view_facts *facts)
{
    const struct model_function *f = &ask->model->functions[function];
    uint32_t count = frame->call_count < f->site_count ? frame->call_count : f->site_count;
    uint32_t *closed = arena_alloc_array(&ask->arena, count + 1u, uint32_t);
    uint32_t *ran = arena_alloc_array(&ask->arena, count + 1u, uint32_t);

    for (uint32_t s = 0; s < count; s++) {
        uint32_t node = ask->model->sites[f->first_site + s].node.value;

        if (frame->calls[s] == EVIDENCE_FALSE)
            closed[facts->closed_count++] = node;
        else if (frame->calls[s] == EVIDENCE_TRUE)
            ran[facts->ran_count++] = node;
    }
    facts->closed = closed;
    facts->ran = ran;
}

void case_frame(struct ask_case *ask, const struct evidence_frame *frame, uint32_t thread,
                uint32_t number, uint32_t function, struct view_facts *facts)
{
    const struct model_function *f = &ask->model->functions[function];
    uint32_t *at = arena_alloc_array(&ask->arena, frame->candidates.count + 1u, uint32_t);

    *facts = (struct view_facts){.function = function, .at = at};
    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        uint32_t node = f->first_node + frame->candidates.nodes[i];

        if (frame->candidates.nodes[i] < f->node_count && !bitset_test(&ask->absent, node))
            at[facts->at_count++] = node;
    }
    if (case_uses(ask, ASK_FACT_PATHS, thread, number))
        take_path(ask, frame, function, facts);
    if (case_uses(ask, ASK_FACT_CALLS, thread, number))
        take_calls(ask, frame, function, facts);
}

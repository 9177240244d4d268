// SPDX-License-Identifier: Apache-2.0
// Activations: frames of the stack as graphs of copies, and one for all completed calls of a
// function.
#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "slice/graph.h"
#include "solve/view.h"

bool slicer_may_run(const struct slicer *slicer, uint32_t node)
{
    return !slicer->may || bitset_test(slicer->may, node);
}

uint32_t activation_node(const struct slicer *slicer, const struct activation *activation,
                         uint32_t copy)
{
    if (activation->view)
        return activation->view->node[copy];
    return slicer->model->functions[activation->function].first_node + copy;
}

uint32_t activation_copy_at(const struct activation *activation, uint32_t position)
{
    uint32_t low = 0, high = activation->copy_count;

    // the last copy that begins at or before it; empty nodes begin where the next does
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;

        if (activation->first[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct insn_id activation_insn(const struct slicer *slicer, const struct activation *activation,
                               uint32_t position)
{
    uint32_t copy = activation_copy_at(activation, position);
    struct node_id node = {activation_node(slicer, activation, copy)};
    const struct code_node *code = model_code_node(slicer->model, node);

    return dependence_insn(
        slicer->dependence,
        model_function(slicer->model, (struct function_id){activation->function})->module,
        code->first_insn + (position - activation->first[copy]));
}

uint32_t activation_position(const struct slicer *slicer, const struct activation *activation,
                             struct insn_id insn)
{
    struct node_id node = dependence_insn_node(slicer->dependence, insn);
    uint32_t index;

    assert(!activation->view);
    dependence_insn_at(slicer->dependence, insn, NULL, &index);
    return activation->first[model_node_index(slicer->model, node)] +
           (index - model_code_node(slicer->model, node)->first_insn);
}

static void number_positions(const struct slicer *slicer, struct activation *activation)
{
    uint32_t position = 0;

    activation->first = xmalloc_array(activation->copy_count + 1u, sizeof(uint32_t));
    for (uint32_t c = 0; c < activation->copy_count; c++) {
        struct node_id node = {activation_node(slicer, activation, c)};

        activation->first[c] = position;
        position += model_code_node(slicer->model, node)->insn_count;
    }
    activation->first[activation->copy_count] = position;
}

uint32_t slicer_shared(struct slicer *slicer, uint32_t function)
{
    struct activation activation = {.function = function,
                                    .frame = MODEL_NONE,
                                    .copy_count = slicer->model->functions[function].node_count};

    if (slicer->shared[function] != MODEL_NONE)
        return slicer->shared[function];
    number_positions(slicer, &activation);
    slicer->shared[function] = (uint32_t)slicer->activations.length;
    activation_vec_push(&slicer->activations, activation);
    return slicer->shared[function];
}

// ---- Frames

// Copies on a way from where the activation begins to where it stands.
static void find_useful(const struct slicer *slicer, const struct view *view, struct bitset *ret)
{
    struct bitset forward;
    uint32_t *work = xmalloc_array(view->count + 1u, sizeof(*work)), count = 0;

    bitset_init(&forward, view->count);
    for (uint32_t i = 0; i < view->start_count; i++)
        if (slicer_may_run(slicer, view->node[view->start[i]]) &&
            !bitset_test_and_set(&forward, view->start[i]))
            work[count++] = view->start[i];
    while (count) {
        uint32_t copy = work[--count];

        if (view->closed[copy] || bitset_test(&slicer->ask->closed, view->node[copy]))
            continue;
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (slicer_may_run(slicer, view->node[view->edges[e].target]) &&
                !bitset_test_and_set(&forward, view->edges[e].target))
                work[count++] = view->edges[e].target;
    }
    // backwards by rounds: views are small, and mostly in order
    for (uint32_t i = 0; i < view->end_count; i++)
        if (bitset_test(&forward, view->end[i]))
            bitset_set(ret, view->end[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t copy = view->count; copy-- > 0;) {
            bool leads = false;

            if (bitset_test(ret, copy) || !bitset_test(&forward, copy) || view->closed[copy] ||
                bitset_test(&slicer->ask->closed, view->node[copy]))
                continue;
            for (uint32_t e = view->edge_start[copy]; !leads && e < view->edge_start[copy + 1]; e++)
                leads = bitset_test(ret, view->edges[e].target);
            if (leads)
                bitset_set(ret, copy);
            changed |= leads;
        }
    }
    bitset_deinit(&forward);
    free(work);
}

static void index_before(const struct slicer *slicer, struct activation *activation,
                         const struct bitset *useful)
{
    const struct view *view = activation->view;
    uint32_t *start = xcalloc(view->count + 2u, sizeof(*start));

    activation->before_start = start;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t copy = 0; copy < view->count; copy++) {
            if (!bitset_test(useful, copy) || view->closed[copy] ||
                bitset_test(&slicer->ask->closed, view->node[copy]))
                continue;
            for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++) {
                uint32_t target = view->edges[e].target;

                if (!bitset_test(useful, target))
                    continue;
                if (pass == 0) {
                    start[target + 2]++;
                    continue;
                }
                activation->before_flags[start[target + 1]] = (uint8_t)view->edges[e].flags;
                activation->before[start[target + 1]++] = copy;
            }
        }
        if (pass == 1)
            break;
        for (uint32_t copy = 0; copy < view->count; copy++)
            start[copy + 2] += start[copy + 1];
        activation->before = xmalloc_array(start[view->count + 1] + 1u, sizeof(uint32_t));
        activation->before_flags = xmalloc_array(start[view->count + 1] + 1u, 1);
    }
}

static void add_frame(struct slicer *slicer, const struct view *view, enum entered_kind entered)
{
    struct activation activation = {.function = view->function,
                                    .frame = (uint32_t)slicer->activations.length,
                                    .view = view,
                                    .entered = entered,
                                    .above = (uint32_t)slicer->activations.length + 1u,
                                    .copy_count = view->count};
    struct bitset useful;

    number_positions(slicer, &activation);
    bitset_init(&useful, view->count);
    bitset_init(&activation.is_start, view->count);
    find_useful(slicer, view, &useful);
    index_before(slicer, &activation, &useful);
    for (uint32_t i = 0; i < view->start_count; i++)
        bitset_set(&activation.is_start, view->start[i]);
    bitset_deinit(&useful);
    activation_vec_push(&slicer->activations, activation);
}

// How the view behind `v` further out enters it: looks at what stands between it and the next
// frame.
static enum entered_kind how_entered(const struct slicer *slicer, struct view *const *views,
                                     uint32_t v)
{
    const struct flow *flow = slicer->ask->flow;
    enum entered_kind entered = ENTERED_BY_CALL;

    while (v-- > 0) {
        uint32_t function = views[v]->function;

        if (function == FLOW_NONE || function == flow->any_start)
            return ENTERED_BY_ANYONE;
        if (function == flow->start || function == flow->thread_start)
            return ENTERED_BY_START;
        if (function == flow->signals)
            entered = ENTERED_BY_HANDLER;
        else if (function < slicer->model->function_count)
            return entered;
    }
    return ENTERED_BY_ANYONE;
}

void slicer_make_frames(struct slicer *slicer)
{
    const struct ask_thread *thread = &slicer->ask->threads[0];
    struct view *const *views = thread->views.data;

    for (uint32_t v = (uint32_t)thread->views.length; v-- > 0;) {
        if (views[v]->function >= slicer->model->function_count)
            continue;
        add_frame(slicer, views[v], how_entered(slicer, views, v));
    }
    slicer->frame_count = (uint32_t)slicer->activations.length;
}

void activation_deinit(struct activation *activation)
{
    free(activation->first);
    free(activation->before_start);
    free(activation->before);
    free(activation->before_flags);
    bitset_deinit(&activation->is_start);
    vertex_id_vec_deinit(&activation->asked_bits);
    vertex_id_vec_deinit(&activation->asked_by);
    vertex_id_vec_deinit(&activation->formals);
}

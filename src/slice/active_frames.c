// SPDX-License-Identifier: Apache-2.0
// Every pending activation by itself, with the frame of the evidence that it is.
#include <stdlib.h>

#include "ask/case.h"
#include "ask/coverage.h"
#include "common/alloc.h"
#include "common/map.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "slice/active_internal.h"

MAP_DEFINE_U64(frame_map, uint32_t);

// ---- One activation

// Nodes and edges (by number in their function) that a view's ways go through.
struct passed {
    struct bitset nodes, edges;
};

static void passed_init(struct passed *passed, const struct active *active, const struct view *view,
                        bool heed_calls)
{
    struct active_reach reach;

    bitset_init(&passed->nodes, active->ask->flow->node_count);
    bitset_init(&passed->edges, active->edge_count);
    active_reach_init(&reach, active->ask, view, !heed_calls);
    for (uint32_t copy = 0; copy < view->count; copy++) {
        if (reach.copies[copy])
            bitset_set(&passed->nodes, view->node[copy]);
        for (uint32_t e = view->edge_start[copy]; e < view->edge_start[copy + 1]; e++)
            if (reach.edges[e])
                active_cross(active, view->node[copy], view->node[view->edges[e].target],
                             view->edges[e].flags, &passed->edges);
    }
    active_reach_deinit(&reach);
}

static void passed_deinit(struct passed *passed)
{
    bitset_deinit(&passed->nodes);
    bitset_deinit(&passed->edges);
}

static struct active_count count_passed(const struct passed *passed)
{
    return (struct active_count){bitset_count(&passed->nodes), bitset_count(&passed->edges)};
}

// Nothing known but where it stands.
static struct view *bare_view(const struct active *active, const struct view *view)
{
    uint32_t *at = xmalloc_array(view->end_count + 1u, sizeof(uint32_t));
    struct view_facts facts = {.function = view->function, .at = at, .at_count = view->end_count};

    for (uint32_t i = 0; i < view->end_count; i++)
        at[i] = view->node[view->end[i]];
    struct view *bare = view_create(active->ask->flow, &facts);
    free(at);
    return bare;
}

static bool has_branch(const struct active *active, const struct flow_function *f,
                       const struct passed *baseline)
{
    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        uint32_t ways = 0;

        for (uint32_t e = active->edge_start[n]; e < active->edge_start[n + 1]; e++)
            ways += bitset_test(&baseline->edges, e);
        if (ways > 1)
            return true;
    }
    return false;
}

static uint8_t *answers(const struct bitset *may, const struct bitset *must, uint32_t first,
                        uint32_t count)
{
    uint8_t *ret = xcalloc(count + 1u, 1);

    for (uint32_t i = 0; i < count; i++)
        ret[i] = bitset_test(must, first + i)  ? ASK_YES
                 : bitset_test(may, first + i) ? ASK_MAYBE
                                               : ASK_NO;
    return ret;
}

static void answer_frame(const struct active *active, const struct view *view,
                         const struct passed *passed, struct active_frame *frame)
{
    const struct flow_function *f = &active->ask->flow->functions[view->function];
    uint32_t first_edge = active->edge_start[f->first_node];
    struct active_reach reach;
    struct bitset nodes, edges;

    bitset_init(&nodes, active->ask->flow->node_count);
    bitset_init(&edges, active->edge_count);
    active_reach_init(&reach, active->ask, view, false);
    active_certain(active, view, &reach, &nodes, &edges);
    active_reach_deinit(&reach);
    frame->nodes = answers(&passed->nodes, &nodes, f->first_node, f->node_count);
    frame->edges = answers(&passed->edges, &edges, first_edge,
                           active->edge_start[f->first_node + f->node_count] - first_edge);
    bitset_deinit(&nodes);
    bitset_deinit(&edges);
}

static void look_at(const struct active *active, const struct view *view,
                    struct active_frame *frame)
{
    struct view *bare = bare_view(active, view);
    struct passed passed, baseline;

    passed_init(&passed, active, view, true);
    passed_init(&baseline, active, bare, false);
    frame->function = view->function;
    frame->view = view;
    frame->active = count_passed(&passed);
    frame->baseline = count_passed(&baseline);
    frame->is_ambiguous =
        has_branch(active, &active->ask->flow->functions[view->function], &baseline);
    answer_frame(active, view, &passed, frame);
    passed_deinit(&passed);
    passed_deinit(&baseline);
    view_destroy(bare);
}

// ---- All of them

// Is the frame an activation of this function of the model?
static bool is_frame_of(const struct ask_case *ask, const struct evidence_frame *frame,
                        uint32_t function)
{
    struct module_id module;
    struct function_id found;

    return frame->kind == EVIDENCE_FRAME_MODEL && !frame->guessed && frame->function.module_id &&
           model_find_module(ask->model, frame->function.module_id, &module) &&
           model_find_function(ask->model, module, frame->function.index, &found) &&
           found.value == function;
}

static void take_thread(const struct active *active, uint32_t t, struct active_frame_vec *ret)
{
    const struct ask_case *ask = active->ask;
    const struct ask_thread *thread = &ask->threads[t];
    struct frame_map known = {0};
    uint32_t number = 0; // of the frame; the innermost is 0, as the last view is

    frame_map_init(&known);
    for (size_t v = thread->views.length; v-- > 0;) {
        const struct view *view = thread->views.data[v];
        bool is_new;

        if (view->function >= ask->model->function_count) // a gap, or other code
            continue;
        const struct evidence_thread *evidence = &ask->evidence->threads[t];
        while (number < evidence->frame_count &&
               !is_frame_of(ask, &evidence->frames[number], view->function))
            number++;
        assert(number < evidence->frame_count);
        uint32_t *found = frame_map_put_new(&known, (uintptr_t)view, &is_new);
        if (is_new) {
            struct active_frame frame = {.thread = t, .frame = number};

            look_at(active, view, &frame);
            *found = (uint32_t)ret->length;
            active_frame_vec_push(ret, frame);
        }
        ret->data[*found].count++;
        number++;
    }
    frame_map_deinit(&known);
}

void active_frames(const struct active *active, struct active_frame_vec *ret)
{
    assert(!active->contradiction);
    for (uint32_t t = 0; t < active->ask->thread_count; t++)
        take_thread(active, t, ret);
}

void active_frames_deinit(struct active_frame_vec *frames)
{
    for (size_t i = 0; i < frames->length; i++) {
        free(frames->data[i].nodes);
        free(frames->data[i].edges);
    }
    active_frame_vec_deinit(frames);
}

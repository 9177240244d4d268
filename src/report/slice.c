// SPDX-License-Identifier: Apache-2.0
#include "report/slice.h"

#include <stdlib.h>

#include "ask/case.h"
#include "evidence/evidence.h"
#include "program/model.h"

// ---- The stack

static bool is_function(const struct slice_report *report, const struct evidence_function *wanted,
                        struct function_id function)
{
    const struct model_function *one = model_function(report->model, function);

    return wanted->module_id == model_module(report->model, one->module)->id &&
           wanted->index == one->index;
}

// Numbers are those of the evidence, which counts frames of model-less code, too.
static void find_numbers(struct slice_report *report, const struct evidence_thread *thread)
{
    uint32_t f = 0;

    for (size_t i = 0; i < report->stack.length; i++) {
        struct slice_frame *frame = &report->stack.data[i];
        uint32_t at = f;

        while (at < thread->frame_count &&
               (thread->frames[at].kind != EVIDENCE_FRAME_MODEL ||
                !is_function(report, &thread->frames[at].function, frame->function)))
            at++;
        if (at == thread->frame_count)
            continue;
        frame->number = at;
        f = at + 1;
    }
}

void slice_report_init(struct slice_report *report, const struct model *model,
                       const struct dependence *dependence, const struct ask_case *ask,
                       const struct slicer *slicer)
{
    *report = (struct slice_report){.model = model, .dependence = dependence};
    for (uint32_t f = 0; f < slicer_frame_count(slicer); f++)
        slice_frame_vec_push(&report->stack,
                             (struct slice_frame){slicer_frame_function(slicer, f), MODEL_NONE});
    if (ask->thread_count && ask->threads[0].index < ask->evidence->thread_count)
        find_numbers(report, &ask->evidence->threads[ask->threads[0].index]);
}

void slice_report_deinit(struct slice_report *report)
{
    for (uint32_t k = 0; k < SLICE_KINDS; k++) {
        bitset_deinit(&report->kept[k].insns);
        bitset_deinit(&report->kept[k].nodes);
    }
    for (size_t i = 0; i < report->parts.length; i++)
        insn_vec_deinit(&report->parts.data[i].insns);
    slice_part_vec_deinit(&report->parts);
    slice_frame_vec_deinit(&report->stack);
    slice_start_vec_deinit(&report->criterion);
    slice_link_vec_deinit(&report->chain);
    slice_edge_vec_deinit(&report->edges);
    slice_edge_map_deinit(&report->edge_map);
    *report = (struct slice_report){0};
}

// ---- Adding slices

static void join(struct slice_kept *kept, const struct slice *slice)
{
    if (!kept->known) {
        bitset_init_copy(&kept->insns, &slice->insns);
        bitset_init_copy(&kept->nodes, &slice->nodes);
        kept->known = kept->complete = true;
    } else {
        bitset_union(&kept->insns, &slice->insns);
        bitset_union(&kept->nodes, &slice->nodes);
    }
    kept->complete &= slice->complete;
}

static struct slice_part *find_part(struct slice_report *report, uint32_t frame)
{
    while (report->parts.length <= frame) {
        struct slice_part part = {.insns = VEC_INIT};
        for (uint32_t k = 0; k < SLICE_KINDS; k++)
            part.node_counts[k] = MODEL_NONE;
        slice_part_vec_push(&report->parts, part);
    }
    return &report->parts.data[frame];
}

static void add_part(struct slice_report *report, enum slice_kind kind, uint32_t frame,
                     const struct slice *slice)
{
    struct slice_part *part = find_part(report, frame);

    part->node_counts[kind] = (uint32_t)bitset_count(&slice->nodes);
    if (kind != report->kind)
        return;
    for (size_t i = bitset_next(&slice->insns, 0); i < slice->insns.size;
         i = bitset_next(&slice->insns, i + 1))
        insn_vec_push(&part->insns, (struct insn_id){(uint32_t)i});
}

// One edge for two nodes, whatever it is that the one needs of the other.
static void add_chain(struct slice_report *report, const struct slice_link_vec *chain,
                      struct bitset *seen)
{
    for (size_t i = 0; i < chain->length; i++) {
        struct node_id here = dependence_insn_node(report->dependence, chain->data[i].insn);

        bitset_set(seen, here.value);
        if (i == 0)
            continue;
        struct node_id before = dependence_insn_node(report->dependence, chain->data[i - 1].insn);
        bool forward = report->flags & SLICE_FORWARD;
        struct slice_edge edge = {forward ? before : here, forward ? here : before,
                                  chain->data[i].reason};
        uint64_t key = (uint64_t)edge.from.value << 32 | edge.to.value;
        if (edge.from.value == edge.to.value || slice_edge_map_get(&report->edge_map, key))
            continue;
        *slice_edge_map_put(&report->edge_map, key) = true;
        slice_edge_vec_push(&report->edges, edge);
    }
}

// A way to every node that is kept: together the edges that were gone first.
static void add_edges(struct slice_report *report, const struct slice *slice)
{
    struct bitset seen, insns;

    bitset_init(&seen, slice->nodes.size);
    bitset_init(&insns, slice->insns.size);
    for (size_t i = bitset_next(&slice->insns, 0); i < slice->insns.size;
         i = bitset_next(&slice->insns, i + 1)) {
        struct slice_link_vec chain = VEC_INIT;
        struct node_id node =
            dependence_insn_node(report->dependence, (struct insn_id){(uint32_t)i});

        if (bitset_test(&seen, node.value))
            continue;
        bitset_set(&insns, i);
        if (slice_why(slice, &insns, &chain))
            add_chain(report, &chain, &seen);
        bitset_clear(&insns, i);
        slice_link_vec_deinit(&chain);
    }
    bitset_deinit(&seen);
    bitset_deinit(&insns);
}

void slice_report_add(struct slice_report *report, enum slice_kind kind, uint32_t frame,
                      const struct slice_criterion *criterion, const struct slice *slice)
{
    join(&report->kept[kind], slice);
    if (frame != MODEL_NONE)
        add_part(report, kind, frame, slice);
    if (kind != report->kind)
        return;
    slice_start_vec_append(&report->criterion, criterion->starts.data, criterion->starts.length);
    if (report->why && !report->chain.length && !slice_why(slice, report->why, &report->chain))
        slice_link_vec_clear(&report->chain);
    if (report->has_edges)
        add_edges(report, slice);
}

// ---- Figures

void slice_report_finish(struct slice_report *report)
{
    for (uint32_t k = 0; k < SLICE_KINDS; k++) {
        struct slice_kept *kept = &report->kept[k];
        struct slice_place_vec lines = VEC_INIT;

        if (!kept->known)
            continue;
        slice_places_kept(report, k, true, &lines);
        kept->node_count = (uint32_t)bitset_count(&kept->nodes);
        kept->line_count = (uint32_t)lines.length;
        slice_place_vec_deinit(&lines);
    }
}

const char *slice_kind_name(enum slice_kind kind)
{
    static const char *const names[SLICE_KINDS] = {
        [SLICE_RESTRICTED] = "restricted", [SLICE_STACK] = "stack", [SLICE_STATIC] = "static"};

    return names[kind];
}

bool slice_reduction(const struct slice_report *report, enum slice_kind than, double *ret)
{
    const struct slice_kept *own = &report->kept[report->kind], *other = &report->kept[than];

    if (than <= report->kind || !own->known || !other->known || !other->complete ||
        !other->node_count)
        return false;
    *ret = 100.0 * (1.0 - (double)own->node_count / other->node_count);
    return true;
}

bool slice_report_complete(const struct slice_report *report)
{
    const struct slice_kept *own = &report->kept[report->kind];

    return own->known && own->complete && !report->is_coarse;
}

// SPDX-License-Identifier: Apache-2.0
// Active nodes and edges (slice/active.h) as text and JSON.
#include <inttypes.h>
#include <jansson.h>

#include "ask/case.h"
#include "ask/coverage.h"
#include "common/json_stream.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "report/coverage.h"
#include "report/node_json.h"
#include "report/position.h"

static void print_counts(struct active_count active, struct active_count baseline, FILE *stream)
{
    fprintf(stream, "active nodes %" PRIu64 " of %" PRIu64 ", edges %" PRIu64 " of %" PRIu64,
            active.nodes, baseline.nodes, active.edges, baseline.edges);
}

void coverage_write_active_text(const struct coverage_active *active, FILE *stream)
{
    print_counts(active_count(active->active), active->baseline, stream);
    fprintf(stream, " (of those that the stack alone leaves)\n");
}

static json_t *counts_json(struct active_count active, struct active_count baseline)
{
    json_t *item = json_object();

    json_object_set_new(item, "nodes", json_integer((json_int_t)active.nodes));
    json_object_set_new(item, "baseline_nodes", json_integer((json_int_t)baseline.nodes));
    json_object_set_new(item, "edges", json_integer((json_int_t)active.edges));
    json_object_set_new(item, "baseline_edges", json_integer((json_int_t)baseline.edges));
    return item;
}

static json_t *edge_json(const struct active *active, uint32_t from, uint32_t edge, uint8_t answer)
{
    const struct model *model = active->ask->model;
    json_t *item = json_object();

    json_object_set_new(item, "from", node_json(model, from));
    json_object_set_new(item, "to", node_json(model, active->edge_target[edge]));
    json_object_set_new(item, "answer", json_string(ask_answer_name((enum ask_answer)answer)));
    return item;
}

void coverage_write_active_json(const struct coverage_active *active, struct json_stream *out)
{
    const struct active *found = active->active;

    json_stream_member(out, "active", counts_json(active_count(found), active->baseline));
    json_stream_open(out, "edges", '[');
    for (uint32_t n = 0; n < found->ask->model->node_count; n++)
        for (uint32_t e = found->edge_start[n]; e < found->edge_start[n + 1]; e++)
            json_stream_element(out, edge_json(found, n, e, found->edges[e]));
    json_stream_close(out);
}

// ---- Frames by themselves

struct totals {
    uint64_t frames;
    struct active_count active, baseline;
};

// Frames in which there is something to find out.
static struct totals add_up(const struct active_frame_vec *frames)
{
    struct totals totals = {0};

    for (size_t i = 0; i < frames->length; i++) {
        const struct active_frame *frame = &frames->data[i];

        if (!frame->is_ambiguous)
            continue;
        totals.frames += frame->count;
        totals.active.nodes += frame->count * frame->active.nodes;
        totals.active.edges += frame->count * frame->active.edges;
        totals.baseline.nodes += frame->count * frame->baseline.nodes;
        totals.baseline.edges += frame->count * frame->baseline.edges;
    }
    return totals;
}

static void print_frame(const struct active *active, const struct active_frame *frame,
                        struct positions *positions, FILE *stream)
{
    const struct evidence_thread *thread = &active->ask->evidence->threads[frame->thread];
    struct position at = positions_frame(positions, &thread->frames[frame->frame]);

    fprintf(stream, "#%u %s()", frame->frame,
            model_function(active->ask->model, (struct function_id){frame->function})->name);
    if (at.file && at.line)
        fprintf(stream, " at %s:%u", at.file, at.line);
    if (frame->count > 1)
        fprintf(stream, ", and %u more like it", frame->count - 1);
    fprintf(stream, "\n    ");
    print_counts(frame->active, frame->baseline, stream);
    fprintf(stream, "%s\n", frame->is_ambiguous ? "" : "; no branch could go either way");
}

void coverage_write_frames_text(const struct active *active, const struct active_frame_vec *frames,
                                FILE *stream)
{
    struct positions *positions = positions_create(active->ask->model);
    struct totals totals = add_up(frames);
    uint32_t thread = UINT32_MAX;

    for (size_t i = 0; i < frames->length; i++) {
        if (frames->data[i].thread != thread) {
            thread = frames->data[i].thread;
            fprintf(stream, "thread %" PRId64 "\n", active->ask->evidence->threads[thread].tid);
        }
        print_frame(active, &frames->data[i], positions, stream);
    }
    fprintf(stream, "%" PRIu64 " frame%s with a branch that could go either way: ", totals.frames,
            totals.frames == 1 ? "" : "s");
    print_counts(totals.active, totals.baseline, stream);
    fprintf(stream, "\n");
    positions_destroy(positions);
}

// The nodes and edges of a frame's function.
static void write_frame(const struct active *active, const struct active_frame *frame,
                        struct json_stream *out)
{
    const struct model *model = active->ask->model;
    const struct model_function *function =
        model_function(model, (struct function_id){frame->function});
    uint32_t first = function->first_node, first_edge = active->edge_start[first];

    json_stream_open(out, NULL, '{');
    json_stream_member(out, "thread", json_integer(frame->thread));
    json_stream_member(out, "frame", json_integer(frame->frame));
    json_stream_member(out, "count", json_integer(frame->count));
    json_stream_member(out, "function", json_string_nocheck(function->name));
    json_stream_member(out, "ambiguous", json_boolean(frame->is_ambiguous));
    json_stream_member(out, "active", counts_json(frame->active, frame->baseline));
    json_stream_open(out, "nodes", '[');
    for (uint32_t n = 0; n < function->node_count; n++) {
        json_t *item = node_json(model, first + n);

        json_object_set_new(item, "answer",
                            json_string(ask_answer_name((enum ask_answer)frame->nodes[n])));
        json_stream_element(out, item);
    }
    json_stream_close(out);
    json_stream_open(out, "edges", '[');
    for (uint32_t n = first; n < first + function->node_count; n++)
        for (uint32_t e = active->edge_start[n]; e < active->edge_start[n + 1]; e++)
            json_stream_element(out, edge_json(active, n, e, frame->edges[e - first_edge]));
    json_stream_close(out);
    json_stream_close(out);
}

struct error *coverage_write_frames_json(const struct active *active,
                                         const struct active_frame_vec *frames, FILE *stream)
{
    struct totals totals = add_up(frames);
    struct json_stream out;

    json_stream_begin(&out, stream, "coverage-frames/1");
    json_stream_member(&out, "solver", json_string(ask_solver_name(ASK_SOLVER_CSI)));
    json_stream_open(&out, "frames", '[');
    for (size_t i = 0; i < frames->length; i++)
        write_frame(active, &frames->data[i], &out);
    json_stream_close(&out);
    json_stream_member(&out, "ambiguous_frames", json_integer((json_int_t)totals.frames));
    json_stream_member(&out, "active", counts_json(totals.active, totals.baseline));
    return json_stream_end(&out, active->complete);
}

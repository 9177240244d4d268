// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence as JSON: the writer. The schema is docs/formats/evidence.md; what has its default value
 * is left out. One line a frame, so that a stack of 100,000 frames is neither held as a whole nor
 * hard to look at. The reader is evidence_read.c.
 */
#include "evidence/evidence.h"

#include <string.h>

#include "common/alloc.h"
#include "common/json.h"
#include "common/json_stream.h"
#include "common/strbuf.h"
#include "evidence/evidence_text.h"

// A string; where its bytes are not UTF-8, {"hex": "..."}, since nothing may be lost.
static json_t *exact_text(const char *string)
{
    json_t *value = json_string(string);
    if (value)
        return value;
    _cleanup_strbuf_ struct strbuf hex = STRBUF_INIT;
    for (const char *at = string; *at; at++)
        strbuf_printf(&hex, "%02x", (unsigned char)*at);
    value = json_object();
    json_set(value, "hex", json_text(hex.data));
    return value;
}

static void set_text(json_t *object, const char *key, const char *string)
{
    if (string)
        json_set(object, key, exact_text(string));
}

static void set_flag(json_t *object, const char *key, bool flag)
{
    if (flag)
        json_set(object, key, json_true());
}

static void set_number(json_t *object, const char *key, uint64_t number)
{
    if (number > INT64_MAX)
        json_set(object, key, json_address(number));
    else if (number)
        json_set(object, key, json_integer((json_int_t)number));
}

static json_t *path_text(const struct evidence_path *path)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    evidence_append_path(&text, path);
    return json_text(text.data);
}

static json_t *truths_text(const uint8_t *truths, uint32_t count)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    evidence_append_truths(&text, truths, count);
    return json_text(text.data);
}

static void set_function(json_t *object, const struct evidence_function *function)
{
    if (function->module_id)
        json_set(object, "module", json_address(function->module_id));
    set_number(object, "index", function->index);
    json_set(object, "function", exact_text(function->name));
}

static void set_place(json_t *object, const struct evidence_place *place)
{
    set_text(object, "file", place->file);
    set_number(object, "line", place->line);
    set_number(object, "column", place->column);
}

static void set_candidates(json_t *object, const struct evidence_frame *frame)
{
    const struct evidence_nodes *set = &frame->candidates;
    if (set->count == 1) {
        _cleanup_strbuf_ struct strbuf node = STRBUF_INIT;
        strbuf_printf(&node, "%s#%u", frame->function.name, set->nodes[0]);
        json_set(object, "node", json_text(node.data));
    }
    if (set->count) {
        json_t *nodes = json_array();
        for (uint32_t i = 0; i < set->count; i++)
            json_push(nodes, json_integer(set->nodes[i]));
        json_set(object, "candidates", nodes);
    }
    set_text(object, "candidates_from", frame->candidates_from);
}

static void set_record(json_t *object, const struct evidence_frame *frame)
{
    if (frame->record != EVIDENCE_RECORD_NONE)
        json_set(object, "record", json_text(evidence_record_name(frame->record)));
    set_text(object, "record_note", frame->record_note);
    if (frame->path.step_count)
        json_set(object, "path", path_text(&frame->path));
    set_flag(object, "path_exact", frame->path_exact);
    set_flag(object, "path_from_entry", frame->path_from_entry);
    if (frame->call_count)
        json_set(object, "calls", truths_text(frame->calls, frame->call_count));
}

static json_t *frame_json(const struct evidence_frame *frame)
{
    json_t *object = json_object();
    json_set(object, "kind", json_text(evidence_frame_kind_name(frame->kind)));
    set_function(object, &frame->function);
    set_place(object, &frame->place);
    set_text(object, "image", frame->image);
    json_set(object, "pc", json_address(frame->pc));
    set_flag(object, "inlined", frame->inlined);
    set_flag(object, "interrupted", frame->interrupted);
    set_flag(object, "guessed", frame->guessed);
    set_flag(object, "gap", frame->gap);
    set_candidates(object, frame);
    set_record(object, frame);
    return object;
}

static json_t *signal_json(const struct evidence_signal *signal)
{
    json_t *object = json_object();
    json_set(object, "number", json_integer(signal->number));
    json_set(object, "code", json_integer(signal->code));
    if (signal->has_address)
        json_set(object, "address", json_address(signal->address));
    return object;
}

static json_t *image_json(const struct evidence_image *image)
{
    json_t *object = json_object();
    set_text(object, "path", image->path);
    set_text(object, "build_id", image->build_id);
    set_flag(object, "executable", image->executable);
    json_t *modules = json_array();
    for (uint32_t i = 0; i < image->module_count; i++)
        json_push(modules, json_address(image->modules[i]));
    json_set(object, "modules", modules);
    return object;
}

static json_t *coverage_json(const struct evidence_coverage *coverage)
{
    json_t *object = json_object();
    json_set(object, "module", json_address(coverage->module_id));
    json_set(object, "sites", truths_text(coverage->sites, coverage->site_count));
    return object;
}

static json_t *points_json(const struct evidence_points *points)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < points->count; i++) {
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        evidence_append_point(&text, &points->points[i]);
        json_push(array, json_text(text.data));
    }
    return array;
}

static json_t *observation_json(const struct evidence_observation *observation)
{
    json_t *object = json_object(), *entries = json_array();
    json_set(object, "kind", json_text(evidence_observation_kind_name(observation->kind)));
    if (observation->reliability != EVIDENCE_UNRELIABLE)
        json_set(object, "reliability",
                 json_text(evidence_reliability_name(observation->reliability)));
    for (uint32_t i = 0; i < observation->entry_count; i++)
        json_push(entries, points_json(&observation->entries[i]));
    json_set(object, "entries", entries);
    if (observation->alphabet.count)
        json_set(object, "alphabet", points_json(&observation->alphabet));
    json_set(object, "origin", exact_text(observation->origin));
    return object;
}

static void write_thread(struct json_stream *out, const struct evidence_thread *thread)
{
    json_stream_open(out, NULL, '{');
    json_stream_member(out, "tid", json_integer(thread->tid));
    json_stream_member(out, "crashed", json_boolean(thread->crashed));
    json_stream_open(out, "frames", '[');
    for (uint32_t i = 0; i < thread->frame_count; i++)
        json_stream_element(out, frame_json(&thread->frames[i]));
    json_stream_close(out);
    json_stream_member(out, "whole", json_boolean(thread->whole));
    if (thread->end)
        json_stream_member(out, "end", exact_text(thread->end));
    json_stream_close(out);
}

static void write_header(struct json_stream *out, const struct evidence *evidence)
{
    json_stream_member(out, "kind", exact_text(evidence->kind));
    if (evidence->source)
        json_stream_member(out, "source", exact_text(evidence->source));
    if (evidence->command)
        json_stream_member(out, "command", exact_text(evidence->command));
    json_stream_member(out, "pid", json_integer(evidence->pid));
    json_stream_member(out, "signal", signal_json(&evidence->signal));
}

struct error *evidence_write_json(const struct evidence *evidence, FILE *stream)
{
    struct json_stream out;
    json_stream_begin(&out, stream, "evidence/2");
    write_header(&out, evidence);
    json_stream_open(&out, "images", '[');
    for (uint32_t i = 0; i < evidence->image_count; i++)
        json_stream_element(&out, image_json(&evidence->images[i]));
    json_stream_close(&out);
    json_stream_open(&out, "threads", '[');
    for (uint32_t i = 0; i < evidence->thread_count; i++)
        write_thread(&out, &evidence->threads[i]);
    json_stream_close(&out);
    json_stream_open(&out, "coverage", '[');
    for (uint32_t i = 0; i < evidence->coverage_count; i++)
        json_stream_element(&out, coverage_json(&evidence->coverage[i]));
    json_stream_close(&out);
    json_stream_open(&out, "observations", '[');
    for (uint32_t i = 0; i < evidence->observation_count; i++)
        json_stream_element(&out, observation_json(&evidence->observations[i]));
    json_stream_close(&out);
    json_stream_open(&out, "warnings", '[');
    for (uint32_t i = 0; i < evidence->warning_count; i++)
        json_stream_element(&out, exact_text(evidence->warnings[i]));
    json_stream_close(&out);
    return json_stream_end(&out, true);
}

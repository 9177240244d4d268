// SPDX-License-Identifier: Apache-2.0
/*
 * The summary as JSON (docs/formats/summary.md). Frames are written one a line as they are met. A
 * position is made into text once a node and kept: paths name the same nodes over and over, and
 * building an object for each of millions would take minutes.
 */
#include "report/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/budget.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/json_stream.h"
#include "common/map.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/evidence_text.h"
#include "report/position.h"
#include "report/signal.h"

struct node_key {
    uint64_t module;
    uint32_t function, node;
};

static uint64_t node_key_hash(struct node_key key)
{
    return hash_mix(key.module ^ hash_mix((uint64_t)key.function << 32 | key.node));
}

static bool node_key_equal(struct node_key a, struct node_key b)
{
    return a.module == b.module && a.function == b.function && a.node == b.node;
}

MAP_DEFINE(position_map, struct node_key, const char *, node_key_hash, node_key_equal)

struct writer {
    struct summary *summary;
    struct arena arena; // of the positions' texts
    struct position_map positions;
    struct strbuf line;
};

// --- values as text ---

static void append_string(struct strbuf *text, const char *string)
{
    _cleanup_json_ json_t *value = json_text(string);
    _cleanup_free_ char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!dumped)
        alloc_fail(0);
    strbuf_append(text, dumped);
}

static void append_number(struct strbuf *text, uint32_t number)
{
    if (number)
        strbuf_printf(text, "%u", number);
    else
        strbuf_append(text, "null");
}

// "file":..,"line":..,"column":..,"function":..,"node":..,"module":.. without braces.
static void append_members(struct strbuf *text, const struct position *at,
                           const struct evidence_function *function, uint32_t node)
{
    strbuf_append(text, "\"file\":");
    append_string(text, at->file);
    strbuf_append(text, ",\"line\":");
    append_number(text, at->line);
    strbuf_append(text, ",\"column\":");
    append_number(text, at->column);
    strbuf_append(text, ",\"function\":");
    append_string(text, function->name);
    strbuf_append(text, ",\"node\":");
    if (node == UINT32_MAX) {
        strbuf_append(text, "null");
    } else {
        _cleanup_free_ char *name = xasprintf("%s#%u", function->name, node);
        append_string(text, name);
    }
    strbuf_append(text, ",\"module\":");
    if (function->module_id)
        strbuf_printf(text, "\"0x%" PRIx64 "\"", function->module_id);
    else
        strbuf_append(text, "null");
}

static const char *node_members(struct writer *writer, const struct evidence_function *function,
                                uint32_t node)
{
    struct node_key key = {function->module_id, function->index, node};
    const char **known = position_map_get(&writer->positions, key);
    if (known && function->module_id)
        return *known;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    struct position at = positions_node(writer->summary->positions, function, node);
    append_members(&text, &at, function, node);
    const char *kept = arena_strdup(&writer->arena, text.data);
    if (function->module_id)
        *position_map_put(&writer->positions, key) = kept;
    return kept;
}

// --- a frame ---

static void append_flag(struct strbuf *text, const char *key, bool flag)
{
    strbuf_printf(text, ",\"%s\":%s", key, flag ? "true" : "false");
}

static void append_text(struct strbuf *text, const char *key, const char *string)
{
    strbuf_printf(text, ",\"%s\":", key);
    append_string(text, string);
}

static void append_candidates(struct writer *writer, const struct evidence_frame *frame)
{
    strbuf_append(&writer->line, ",\"candidates\":[");
    for (uint32_t i = 0; i < frame->candidates.count; i++)
        strbuf_printf(&writer->line, "%s{%s}", i ? "," : "",
                      node_members(writer, &frame->function, frame->candidates.nodes[i]));
    strbuf_append(&writer->line, "]");
    append_text(&writer->line, "candidates_from", frame->candidates_from);
}

static void append_path(struct writer *writer, const struct evidence_frame *frame,
                        const struct evidence_path *path)
{
    strbuf_append_char(&writer->line, '[');
    for (uint32_t i = 0; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        const char *members = node_members(writer, &frame->function, step->node);
        if (i)
            strbuf_append_char(&writer->line, ',');
        strbuf_append_char(&writer->line, '{');
        strbuf_append(&writer->line, members);
        strbuf_append(&writer->line, step->kind == PATH_STEP_LOOP     ? ",\"loop\":true}"
                                     : step->kind == PATH_STEP_PASSES ? ",\"passes\":true}"
                                     : step->kind == PATH_STEP_ROUNDS ? ",\"rounds\":true}"
                                                                      : "}");
    }
    strbuf_append_char(&writer->line, ']');
}

// One path, the way to where control stands; `unfinished` says how far it goes.
static void append_paths(struct writer *writer, const struct evidence_frame *frame)
{
    bool told = frame->path.step_count > 0;
    strbuf_append(&writer->line, ",\"paths\":[");
    if (told)
        append_path(writer, frame, &frame->path);
    strbuf_append_char(&writer->line, ']');
    append_text(&writer->line, "unfinished", !told ? NULL : frame->path_exact ? "exact" : "prefix");
    append_flag(&writer->line, "paths_from_entry", frame->path_from_entry);
}

static void append_calls(struct writer *writer, const struct evidence_frame *frame, const char *key,
                         uint8_t truth)
{
    struct strbuf *text = &writer->line;
    bool first = true;
    strbuf_printf(text, ",\"%s\":[", key);
    for (uint32_t site = 0; site < frame->call_count; site++) {
        if (frame->calls[site] != truth)
            continue;
        struct call_position call =
            positions_call(writer->summary->positions, &frame->function, site);
        strbuf_append(text, first ? "{" : ",{");
        append_members(text, &call.at, &frame->function, call.node);
        append_text(text, "callee", call.callee);
        strbuf_printf(text, ",\"site\":%u}", site);
        first = false;
    }
    strbuf_append_char(text, ']');
}

static void append_position(struct writer *writer, const struct evidence_frame *frame)
{
    struct position at = positions_frame(writer->summary->positions, frame);
    uint32_t node = frame->candidates.count == 1 ? frame->candidates.nodes[0] : UINT32_MAX;
    strbuf_append_char(&writer->line, '{');
    append_members(&writer->line, &at, &frame->function, node);
}

static void append_frame(struct writer *writer, const struct evidence_frame *frame)
{
    struct strbuf *text = &writer->line;
    append_position(writer, frame);
    append_text(text, "kind", evidence_frame_kind_name(frame->kind));
    append_text(text, "image", frame->image);
    strbuf_printf(text, ",\"pc\":\"0x%" PRIx64 "\"", frame->pc);
    append_flag(text, "inlined", frame->inlined);
    append_flag(text, "interrupted", frame->interrupted);
    append_flag(text, "guessed", frame->guessed);
    append_flag(text, "gap", frame->gap);
    append_flag(text, "exact", frame->candidates.count == 1);
    append_candidates(writer, frame);
    append_text(text, "record", evidence_record_name(frame->record));
    append_text(text, "record_note", frame->record_note);
    append_paths(writer, frame);
    append_calls(writer, frame, "calls_made", EVIDENCE_TRUE);
    append_calls(writer, frame, "calls_never", EVIDENCE_FALSE);
    append_calls(writer, frame, "calls_unknown", EVIDENCE_UNKNOWN);
    strbuf_append_char(text, '}');
}

// --- the document ---

static bool is_spent(struct writer *writer)
{
    struct budget *budget = writer->summary->budget;
    if (budget && budget_is_spent(budget))
        writer->summary->incomplete = true;
    return writer->summary->incomplete;
}

static void write_thread(struct writer *writer, struct json_stream *out,
                         const struct evidence_thread *thread)
{
    json_stream_open(out, NULL, '{');
    json_stream_member(out, "tid", json_integer(thread->tid));
    json_stream_member(out, "crashed", json_boolean(thread->crashed));
    json_stream_member(out, "frame_count", json_integer(thread->frame_count));
    json_stream_open(out, "frames", '[');
    for (uint32_t i = 0; i < thread->frame_count && !is_spent(writer); i++) {
        strbuf_clear(&writer->line);
        append_frame(writer, &thread->frames[i]);
        json_stream_raw(out, writer->line.data);
    }
    json_stream_close(out);
    json_stream_member(out, "whole", json_boolean(thread->whole));
    json_stream_member(out, "end", json_text(thread->end));
    json_stream_close(out);
}

static json_t *signal_json(const struct evidence_signal *signal)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    if (signal->number == 0)
        return json_null();
    json_t *object = json_object();
    signal_append_name(&text, signal->number);
    json_set(object, "name", json_text(text.data));
    json_set(object, "number", json_integer(signal->number));
    json_set(object, "code",
             signal->code == EVIDENCE_CODE_UNTOLD ? json_null() : json_integer(signal->code));
    json_set(object, "code_name", json_text(signal_code_name(signal->number, signal->code)));
    json_set(object, "address", signal->has_address ? json_address(signal->address) : json_null());
    strbuf_clear(&text);
    signal_describe(&text, signal);
    json_set(object, "meaning", json_text(text.data));
    return object;
}

static void write_header(struct writer *writer, struct json_stream *out)
{
    const struct evidence *evidence = writer->summary->evidence;
    json_stream_member(out, "program", json_text(writer->summary->program));
    json_stream_member(out, "source", json_text(evidence->source));
    json_stream_member(out, "kind", json_text(evidence->kind));
    json_stream_member(out, "command", json_text(evidence->command));
    json_stream_member(out, "pid", json_integer(evidence->pid));
    json_stream_member(out, "signal", signal_json(&evidence->signal));
}

static void write_warnings(struct writer *writer, struct json_stream *out)
{
    const struct evidence *evidence = writer->summary->evidence;
    const struct positions *positions = writer->summary->positions;
    json_stream_open(out, "warnings", '[');
    for (uint32_t i = 0; i < evidence->warning_count; i++)
        json_stream_element(out, json_text(evidence->warnings[i]));
    for (size_t i = 0; i < positions_warning_count(positions); i++)
        json_stream_element(out, json_text(positions_warning_at(positions, i)));
    json_stream_close(out);
}

struct error *summary_write_json(struct summary *summary, FILE *stream)
{
    struct writer writer = {.summary = summary, .arena = ARENA_INIT, .line = STRBUF_INIT};
    struct json_stream out;
    json_stream_begin(&out, stream, "summary/1");
    write_header(&writer, &out);
    json_stream_open(&out, "threads", '[');
    for (uint32_t i = 0; i < summary->evidence->thread_count && !is_spent(&writer); i++)
        write_thread(&writer, &out, &summary->evidence->threads[i]);
    json_stream_close(&out);
    write_warnings(&writer, &out);
    struct error *err = json_stream_end(&out, !summary->incomplete);
    position_map_deinit(&writer.positions);
    arena_deinit(&writer.arena);
    strbuf_deinit(&writer.line);
    return err;
}

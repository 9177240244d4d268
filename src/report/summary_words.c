// SPDX-License-Identifier: Apache-2.0
#include "report/summary_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "report/position.h"

#define SHORT_SPANS 14u
#define SHORT_CALLS 10u

void words_append_count(struct strbuf *text, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            strbuf_append_char(text, ',');
        strbuf_append_char(text, digits[i]);
    }
}

char *words_directory(void)
{
    _cleanup_free_ char *directory = get_current_dir_name();
    return directory ? xasprintf("%s/", directory) : NULL;
}

const char *words_file(const struct words *words, const char *file)
{
    size_t length = words->directory ? strlen(words->directory) : 0;
    bool is_below = length > 1 && strncmp(file, words->directory, length) == 0;
    return is_below ? file + length : file;
}

static void append_file(const struct words *words, struct strbuf *text, const char *file)
{
    strbuf_append_escaped(text, words_file(words, file));
}

void words_append_place(const struct words *words, struct strbuf *text, const struct position *at)
{
    if (!at->file)
        return;
    append_file(words, text, at->file);
    if (at->line)
        strbuf_printf(text, ":%u", at->line);
    if (at->line && at->column)
        strbuf_printf(text, ":%u", at->column);
}

static void append_span(const struct words *words, struct strbuf *text, const struct span *span)
{
    if (span->kind == SPAN_LOOP)
        strbuf_append(text, "[loop ");
    if (span->kind == SPAN_PASSES)
        strbuf_append(text, "in loop ");
    if (span->file) {
        append_file(words, text, span->file);
        strbuf_append_char(text, ':');
    }
    strbuf_printf(text, "%u", span->first);
    if (span->last != span->first)
        strbuf_printf(text, "-%u", span->last);
    if (span->kind == SPAN_LOOP)
        strbuf_append_char(text, ']');
    if (span->kind == SPAN_PASSES)
        strbuf_append(text, ", this pass:");
}

void words_append_path(const struct words *words, struct strbuf *text,
                       const struct evidence_frame *frame, const struct evidence_path *path)
{
    struct position at = positions_frame(words->positions, frame);
    struct span_list spans =
        positions_spans(words->positions, &frame->function, path, frame->path_exact ? at.line : 0);
    size_t head = spans.count, tail = spans.count;
    if (words->short_lists && spans.count > SHORT_SPANS) {
        head = SHORT_SPANS / 2 - 1;
        tail = spans.count - SHORT_SPANS / 2;
    }
    for (size_t i = 0; i < spans.count; i++) {
        if (i > head && i < tail)
            continue;
        if (i && spans.data[i - 1].kind == SPAN_PASSES)
            strbuf_append_char(text, ' ');
        else if (i)
            strbuf_append(text, words->ascii ? " -> " : " → ");
        if (i == head && i < tail)
            strbuf_append(text, words->ascii ? "..." : "…");
        else
            append_span(words, text, &spans.data[i]);
    }
    if (spans.count == 0)
        strbuf_append_char(text, '?');
    free(spans.data);
}

static void append_call(struct strbuf *text, const struct call_position *call, uint32_t site)
{
    if (call->callee)
        strbuf_append_escaped(text, call->callee);
    else if (call->indirect)
        strbuf_append(text, "a function pointer");
    else
        strbuf_printf(text, "call site %u", site);
    if (call->at.line)
        strbuf_printf(text, " (%u)", call->at.line);
}

uint32_t words_append_calls(const struct words *words, struct strbuf *text,
                            const struct evidence_frame *frame, uint8_t truth)
{
    uint32_t count = 0;
    for (uint32_t site = 0; site < frame->call_count; site++) {
        if (frame->calls[site] != truth)
            continue;
        if (count < SHORT_CALLS || !words->short_lists) {
            struct call_position call = positions_call(words->positions, &frame->function, site);
            if (count)
                strbuf_append(text, ", ");
            append_call(text, &call, site);
        }
        count++;
    }
    if (words->short_lists && count > SHORT_CALLS) {
        strbuf_append(text, " and ");
        words_append_count(text, count - SHORT_CALLS);
        strbuf_append(text, " more");
    }
    return count;
}

void words_append_candidates(const struct words *words, struct strbuf *text,
                             const struct evidence_frame *frame)
{
    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        uint32_t node = frame->candidates.nodes[i];
        struct position at = positions_node(words->positions, &frame->function, node);
        if (i)
            strbuf_append(text, ", ");
        if (at.line && at.column)
            strbuf_printf(text, "%u:%u", at.line, at.column);
        else if (at.line)
            strbuf_printf(text, "%u", at.line);
        else
            strbuf_printf(text, "node %u", node);
    }
}

const char *words_record(const struct evidence_frame *frame)
{
    switch (frame->record) {
    case EVIDENCE_RECORD_NONE:
        return frame->kind == EVIDENCE_FRAME_MODEL ? "this function keeps no record" : NULL;
    case EVIDENCE_RECORD_VALID:
        return NULL;
    case EVIDENCE_RECORD_OFF:
        return "this function was switched off";
    case EVIDENCE_RECORD_UNTOLD:
        return "where its record lies cannot be told here";
    case EVIDENCE_RECORD_UNREADY:
        return "its record may be that of an earlier call";
    case EVIDENCE_RECORD_CORRUPT:
        return "its record was overwritten, so nothing of it is used";
    }
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The summary for people. Short: the signal, the innermost frame that has source with an excerpt
 * and what was recorded, one line for each other frame and thread, recursions folded. Verbose:
 * everything about every frame.
 */
#include "report/summary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/budget.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "report/position.h"
#include "report/signal.h"
#include "report/source.h"
#include "report/summary_words.h"

#define EXCERPT_BEFORE 3u
#define EXCERPT_AFTER  2u
#define EXCERPT_WIDTH  120u
#define SHORT_RUNS     40u
#define SHORT_THREADS  16u
#define SHORT_WARNINGS 4u

struct writer {
    struct summary *summary;
    FILE *stream;
    struct words words;
    struct sources *sources;
    struct strbuf text; // of the piece being written
};

static const char *paint(const struct writer *writer, enum color color)
{
    return color_start(writer->summary->color, color);
}

static const char *plain(const struct writer *writer)
{
    return color_end(writer->summary->color);
}

static const char *dots(const struct writer *writer)
{
    return writer->summary->ascii ? "..." : "…";
}

// The buffer, emptied, for the next piece.
static struct strbuf *fresh(struct writer *writer)
{
    strbuf_clear(&writer->text);
    return &writer->text;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

// --- excerpts ---

static void write_source_line(struct writer *writer, const struct position *at, uint32_t line)
{
    size_t length;
    const char *source = sources_line(writer->sources, at->file, line, &length);
    if (!source)
        return;
    bool marked = line == at->line;
    uint32_t column = marked ? at->column : 0;
    struct strbuf *text = fresh(writer);
    source_append_line(text, source, length, EXCERPT_WIDTH, &column);
    while (text->length && text->data[text->length - 1] == ' ')
        strbuf_truncate(text, text->length - 1);
    fprintf(writer->stream, "%s  %s %6u |%s%s%s\n", marked ? paint(writer, COLOR_BOLD) : "",
            marked ? ">" : " ", line, text->length ? " " : "", text->data,
            marked ? plain(writer) : "");
    if (marked && at->column && column < EXCERPT_WIDTH)
        fprintf(writer->stream, "           | %*s%s^%s\n", (int)column, "",
                paint(writer, COLOR_RED), plain(writer));
}

static void write_excerpt(struct writer *writer, const struct position *at)
{
    size_t length;
    if (!at->file || !at->line)
        return;
    if (!sources_line(writer->sources, at->file, at->line, &length)) {
        fprintf(writer->stream, "    %s(the source is not there; --source-dir DIR says where)%s\n",
                paint(writer, COLOR_DIM), plain(writer));
        return;
    }
    uint32_t first = at->line > EXCERPT_BEFORE ? at->line - EXCERPT_BEFORE : 1;
    for (uint32_t line = first; line <= at->line + EXCERPT_AFTER; line++)
        write_source_line(writer, at, line);
    time_t program = writer->summary->program_changed;
    if (program && sources_changed(writer->sources, at->file) > program)
        fprintf(writer->stream,
                "    %s(the source is newer than the program: lines may have moved)%s\n",
                paint(writer, COLOR_YELLOW), plain(writer));
}

// --- what was recorded in one frame ---

static void write_fact(struct writer *writer, const char *label, const char *text)
{
    fprintf(writer->stream, "    %s%s%s %s\n", paint(writer, COLOR_CYAN), label, plain(writer),
            text);
}

static void write_path(struct writer *writer, const struct evidence_frame *frame)
{
    if (!frame->path.step_count)
        return;
    struct strbuf *text = fresh(writer);
    words_append_path(&writer->words, text, frame, &frame->path);
    if (!frame->path_exact)
        strbuf_printf(text, " %s (how it went on is not certain)", dots(writer));
    if (frame->path_from_entry)
        strbuf_append(text, "  (since it was called)");
    write_fact(writer, "path:", text->data);
}

static void write_calls(struct writer *writer, const struct evidence_frame *frame, uint8_t truth,
                        const char *label)
{
    struct strbuf *text = fresh(writer);
    if (words_append_calls(&writer->words, text, frame, truth))
        write_fact(writer, label, text->data);
}

static void write_candidates(struct writer *writer, const struct evidence_frame *frame)
{
    if (frame->candidates.count < 2)
        return;
    struct strbuf *text = fresh(writer);
    words_append_candidates(&writer->words, text, frame);
    write_fact(writer, "control is at one of:", text->data);
}

static void write_record_words(struct writer *writer, const struct evidence_frame *frame)
{
    const char *why = words_record(frame);
    if (!why || (frame->record == EVIDENCE_RECORD_NONE && !writer->summary->verbose))
        return;
    struct strbuf *text = fresh(writer);
    strbuf_append(text, why);
    if (frame->record_note) {
        strbuf_append(text, ": ");
        strbuf_append_escaped(text, frame->record_note);
    }
    write_fact(writer, "record:", text->data);
}

static void write_details(struct writer *writer, const struct evidence_frame *frame)
{
    struct position at = positions_frame(writer->summary->positions, frame);
    write_excerpt(writer, &at);
    write_candidates(writer, frame);
    write_record_words(writer, frame);
    write_path(writer, frame);
    write_calls(writer, frame, EVIDENCE_TRUE, "calls made:");
    write_calls(writer, frame, EVIDENCE_FALSE, "never made:");
    if (writer->summary->verbose)
        write_calls(writer, frame, EVIDENCE_UNKNOWN, "not known:");
}

// --- frames ---

static void append_remarks(struct strbuf *text, const struct evidence_frame *frame)
{
    if (frame->inlined)
        strbuf_append(text, " [inlined]");
    if (frame->guessed)
        strbuf_append(text, " [guessed]");
    if (frame->candidates.count > 1)
        strbuf_printf(text, " [one of %u places]", frame->candidates.count);
    if (frame->record == EVIDENCE_RECORD_CORRUPT)
        strbuf_append(text, " [record overwritten]");
}

static void append_where(struct writer *writer, struct strbuf *text,
                         const struct evidence_frame *frame)
{
    struct position at = positions_frame(writer->summary->positions, frame);
    if (at.file) {
        strbuf_append(text, " at ");
        words_append_place(&writer->words, text, &at);
    } else if (frame->image) {
        strbuf_append(text, " in ");
        strbuf_append_escaped(text, file_name(frame->image));
    } else {
        strbuf_printf(text, " at 0x%llx", (unsigned long long)frame->pc);
    }
}

static void append_name(struct strbuf *text, const struct evidence_frame *frame)
{
    if (frame->kind == EVIDENCE_FRAME_SIGNAL)
        strbuf_append(text, "<signal handler called>");
    else
        strbuf_append_escaped(text, frame->function.name);
}

static void write_frame_line(struct writer *writer, const struct evidence_frame *frame,
                             uint32_t index)
{
    struct strbuf *text = fresh(writer);
    append_name(text, frame);
    fprintf(writer->stream, "#%-3u %s%s%s", index,
            frame->kind == EVIDENCE_FRAME_MODEL ? paint(writer, COLOR_BOLD) : "", text->data,
            plain(writer));
    text = fresh(writer);
    if (frame->kind != EVIDENCE_FRAME_SIGNAL)
        append_where(writer, text, frame);
    append_remarks(text, frame);
    fprintf(writer->stream, "%s\n", text->data);
}

static void write_gap(struct writer *writer, const struct evidence_frame *frame)
{
    if (frame->gap)
        fprintf(writer->stream, "     %s(frames may be missing here: tail calls leave none)%s\n",
                paint(writer, COLOR_DIM), plain(writer));
}

static void write_frame(struct writer *writer, const struct evidence_thread *thread, uint32_t index,
                        bool details)
{
    const struct evidence_frame *frame = &thread->frames[index];
    write_frame_line(writer, frame, index);
    if (details && frame->kind != EVIDENCE_FRAME_SIGNAL)
        write_details(writer, frame);
    write_gap(writer, frame);
}

static void write_fold(struct writer *writer, const struct evidence_thread *thread,
                       const struct stack_run *run)
{
    struct strbuf *text = fresh(writer);
    words_append_count(text, run->count);
    strbuf_append(text, run->period ? " frames of " : " more frames");
    for (uint32_t i = 0; i < run->period; i++) {
        if (i)
            strbuf_append(text, ", ");
        append_name(text, &thread->frames[run->first + i]);
    }
    fprintf(writer->stream, "     %s%s %s%s %s%s\n", paint(writer, COLOR_DIM), dots(writer),
            text->data, run->period ? " repeated" : "", dots(writer), plain(writer));
}

// The innermost frame that has a model: where the program's own code failed.
static uint32_t focus_of(const struct evidence_thread *thread)
{
    for (uint32_t i = 0; i < thread->frame_count; i++) {
        if (thread->frames[i].kind == EVIDENCE_FRAME_MODEL)
            return i;
    }
    return UINT32_MAX;
}

static bool is_spent(struct writer *writer)
{
    struct budget *budget = writer->summary->budget;
    if (budget && budget_is_spent(budget))
        writer->summary->incomplete = true;
    return writer->summary->incomplete;
}

static void write_all_frames(struct writer *writer, const struct evidence_thread *thread)
{
    for (uint32_t i = 0; i < thread->frame_count && !is_spent(writer); i++)
        write_frame(writer, thread, i, true);
}

static void write_folded_frames(struct writer *writer, const struct evidence_thread *thread)
{
    _cleanup_free_ struct stack_run *runs = NULL;
    uint32_t count = stack_fold(thread, SHORT_RUNS, &runs);
    uint32_t focus = focus_of(thread);
    for (uint32_t i = 0; i < count && !is_spent(writer); i++) {
        bool has_focus = focus >= runs[i].first && focus - runs[i].first < runs[i].count;
        if (runs[i].count == 1)
            write_frame(writer, thread, runs[i].first, has_focus);
        else
            write_fold(writer, thread, &runs[i]);
        if (has_focus && runs[i].count > 1)
            write_frame(writer, thread, focus, true);
    }
}

static void write_stack_end(struct writer *writer, const struct evidence_thread *thread)
{
    if (thread->whole && !writer->summary->verbose)
        return;
    struct strbuf *text = fresh(writer);
    strbuf_append_escaped(text, thread->end     ? thread->end
                                : thread->whole ? "the thread's first function"
                                                : "why is not known");
    fprintf(writer->stream, "     %sthe stack ends here: %s%s\n",
            paint(writer, thread->whole ? COLOR_DIM : COLOR_YELLOW), text->data, plain(writer));
}

// --- threads ---

static void write_thread_title(struct writer *writer, const struct evidence_thread *thread)
{
    struct strbuf *text = fresh(writer);
    words_append_count(text, thread->frame_count);
    fprintf(writer->stream, "\n%sthread %lld%s%s, %s frame%s:\n", paint(writer, COLOR_BOLD),
            (long long)thread->tid, plain(writer), thread->crashed ? ", which took the signal" : "",
            text->data, thread->frame_count == 1 ? "" : "s");
}

static void write_thread(struct writer *writer, const struct evidence_thread *thread)
{
    write_thread_title(writer, thread);
    if (writer->summary->verbose)
        write_all_frames(writer, thread);
    else
        write_folded_frames(writer, thread);
    write_stack_end(writer, thread);
}

// One line: where it is, and the innermost function that has a model.
static void write_thread_line(struct writer *writer, const struct evidence_thread *thread)
{
    struct strbuf *text = fresh(writer);
    uint32_t focus = focus_of(thread);
    if (thread->frame_count) {
        append_name(text, &thread->frames[0]);
        append_where(writer, text, &thread->frames[0]);
    }
    if (focus != UINT32_MAX && focus != 0) {
        strbuf_append(text, ", called from ");
        append_name(text, &thread->frames[focus]);
        append_where(writer, text, &thread->frames[focus]);
    }
    fprintf(writer->stream, "thread %lld: %s\n", (long long)thread->tid, text->data);
}

static void write_threads(struct writer *writer)
{
    const struct evidence *evidence = writer->summary->evidence;
    bool verbose = writer->summary->verbose;
    for (uint32_t i = 0; i < evidence->thread_count && !is_spent(writer); i++) {
        const struct evidence_thread *thread = &evidence->threads[i];
        if (verbose || i == 0 || thread->crashed) {
            write_thread(writer, thread);
        } else if (i <= SHORT_THREADS) {
            if (i == 1)
                fputc('\n', writer->stream);
            write_thread_line(writer, thread);
        }
    }
    if (!verbose && evidence->thread_count > SHORT_THREADS + 1)
        fprintf(writer->stream, "%s and %u more threads (-v shows them)\n", dots(writer),
                evidence->thread_count - SHORT_THREADS - 1);
}

// --- the whole ---

static uint32_t count_corrupt(const struct evidence *evidence)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < evidence->thread_count; t++) {
        for (uint32_t f = 0; f < evidence->threads[t].frame_count; f++)
            count += evidence->threads[t].frames[f].record == EVIDENCE_RECORD_CORRUPT;
    }
    return count;
}

static void write_header(struct writer *writer)
{
    const struct evidence *evidence = writer->summary->evidence;
    struct strbuf *text = fresh(writer);
    signal_describe(text, &evidence->signal);
    fprintf(writer->stream, "%s%s%s\n", paint(writer, COLOR_RED), text->data, plain(writer));
    text = fresh(writer);
    strbuf_append_escaped(text, evidence->command && *evidence->command ? evidence->command
                                                                        : writer->summary->program);
    fprintf(writer->stream, "program: %s", text->data);
    if (evidence->pid)
        fprintf(writer->stream, " (process %lld)", (long long)evidence->pid);
    if (evidence->thread_count > 1)
        fprintf(writer->stream, ", %u threads", evidence->thread_count);
    fputc('\n', writer->stream);
    uint32_t corrupt = count_corrupt(evidence);
    if (corrupt)
        fprintf(writer->stream,
                "%swarning: memory was overwritten: the record%s of %u frame%s "
                "cannot be right and %s not used%s\n",
                paint(writer, COLOR_YELLOW), corrupt > 1 ? "s" : "", corrupt,
                corrupt > 1 ? "s" : "", corrupt > 1 ? "are" : "is", plain(writer));
}

static void write_warning(struct writer *writer, const char *warning)
{
    struct strbuf *text = fresh(writer);
    strbuf_append_escaped(text, warning);
    fprintf(writer->stream, "%snote:%s %s\n", paint(writer, COLOR_YELLOW), plain(writer),
            text->data);
}

static void write_warnings(struct writer *writer)
{
    const struct evidence *evidence = writer->summary->evidence;
    const struct positions *positions = writer->summary->positions;
    size_t count = evidence->warning_count + positions_warning_count(positions);
    size_t shown = writer->summary->verbose || count <= SHORT_WARNINGS ? count : SHORT_WARNINGS - 1;
    if (count)
        fputc('\n', writer->stream);
    for (size_t i = 0; i < shown; i++)
        write_warning(writer, i < evidence->warning_count
                                  ? evidence->warnings[i]
                                  : positions_warning_at(positions, i - evidence->warning_count));
    if (shown < count)
        fprintf(writer->stream, "%snote:%s %zu more of these (-v shows them)\n",
                paint(writer, COLOR_YELLOW), plain(writer), count - shown);
}

struct error *summary_write_text(struct summary *summary, FILE *stream)
{
    _cleanup_free_ char *directory = words_directory();
    struct writer writer = {
        .summary = summary,
        .stream = stream,
        .words = {.positions = summary->positions,
                  .directory = directory,
                  .ascii = summary->ascii,
                  .short_lists = !summary->verbose},
        .sources = sources_create(summary->source_directories, summary->source_directory_count),
        .text = STRBUF_INIT,
    };
    errno = 0;
    write_header(&writer);
    write_threads(&writer);
    if (!summary->quiet)
        write_warnings(&writer);
    if (summary->incomplete)
        fprintf(stream, "%s stopped: the time or memory allowed was used up\n", dots(&writer));
    sources_destroy(writer.sources);
    strbuf_deinit(&writer.text);
    if (fflush(stream) != 0 || ferror(stream))
        return error_errno(errno ? errno : EIO, NULL, "cannot write the summary");
    return NULL;
}

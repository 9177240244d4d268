// SPDX-License-Identifier: Apache-2.0
/*
 * A path as source: the lines that it goes along, function by function as they are called, with
 * predictors where they are hit. Loops are folded, and so are calls that came back and touch
 * nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/color.h"
#include "common/strbuf.h"
#include "path/evidence.h"
#include "program/model.h"
#include "report/path.h"
#include "report/source.h"
#include "report/steps.h"
#include "report/summary_words.h"

#define LINE_WIDTH 100u
#define DEPTH_MOST 20u

struct path_writer {
    const struct path_report *report;
    const struct path_style *style;
    FILE *stream;
    struct sources *sources;
    struct words words;
    struct strbuf text;
    uint32_t path; // which one is being written
    struct path_notes notes;
};

static const char *paint(const struct path_writer *writer, enum color color)
{
    return color_start(writer->style->color, color);
}

static const char *plain(const struct path_writer *writer)
{
    return color_end(writer->style->color);
}

// ---- The head

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void write_touched(struct path_writer *writer)
{
    uint32_t of, touched = path_touched(writer->report, writer->path, &of);

    bool has_predictors = false;

    for (size_t m = 0; m < writer->report->marks->length; m++)
        has_predictors |= writer->report->marks->data[m].predictor != NULL;
    if (of)
        fprintf(writer->stream, ", touches %u of %u %s%s", touched, of,
                has_predictors ? "predictor" : "place", plural(of));
}

// "optimal; feasible": what is claimed of it.
static void write_claims(const struct path_writer *writer)
{
    const struct path_answer *answer = writer->report->answer;
    const struct path_shown *shown = &answer->paths[writer->path];
    const char *optimal = !answer->complete    ? "perhaps not the best: time or memory was spent"
                          : answer->is_optimal ? "optimal"
                          : writer->report->has_dataflow
                              ? "no better one is left out that values allow"
                              : "perhaps not the best";

    fprintf(
        writer->stream, "  %s%s\n", optimal,
        shown->is_shortest ? "" : "; it visits every call that was made, and is not the shortest");
    if (shown->missed)
        fprintf(writer->stream,
                "  undecided: %u calls that were made are not on it, and whether one run can make "
                "them all was not found out\n",
                shown->missed);
    if (writer->report->has_dataflow)
        fprintf(writer->stream, "  %s%s%s\n",
                shown->found.is_feasible ? "" : paint(writer, COLOR_YELLOW),
                shown->found.is_feasible
                    ? "feasible: the values that are known allow it"
                    : "in doubt: the values that are known do not allow it (at '?')",
                shown->found.is_feasible ? "" : plain(writer));
}

static void write_head(struct path_writer *writer)
{
    const struct path_report *report = writer->report;
    const struct path_shown *shown = &report->answer->paths[writer->path];

    if (report->answer->count > 1)
        fprintf(writer->stream, "%s%u of %u: ", writer->path ? "\n" : "", writer->path + 1,
                report->answer->count);
    fprintf(writer->stream, "%sscore %.4g%s, %" PRIu64 " step%s", paint(writer, COLOR_BOLD),
            shown->found.score, plain(writer), shown->found.length, plural(shown->found.length));
    write_touched(writer);
    if (report->cluster_count > 1)
        fprintf(writer->stream, " of cluster %u", report->clusters[0].number);
    if (report->failure_count > 1)
        fprintf(writer->stream, ", ends as '%s'", report->failures[shown->failure]);
    fputc('\n', writer->stream);
    write_claims(writer);
}

// ---- Lines

static void append_indent(struct path_writer *writer, uint32_t depth)
{
    strbuf_append_repeated(&writer->text, ' ', 2 * (depth < DEPTH_MOST ? depth : DEPTH_MOST));
}

static const char *file_of(const struct path_writer *writer, uint32_t file)
{
    const char *path =
        file == MODEL_NONE ? NULL : model_file_path(writer->report->model, (struct file_id){file});

    return path ? words_file(&writer->words, path) : NULL;
}

static const char *name_of(const struct path_writer *writer, uint32_t function)
{
    const struct model_function *one = &writer->report->model->functions[function];

    return one->source_name && *one->source_name ? one->source_name : one->name;
}

static void append_source(struct path_writer *writer, const struct step_piece *piece)
{
    size_t length = 0;
    uint32_t column = 0;
    const char *path = piece->file == MODEL_NONE
                           ? NULL
                           : model_file_path(writer->report->model, (struct file_id){piece->file});
    const char *source =
        path && piece->first ? sources_line(writer->sources, path, piece->first, &length) : NULL;

    for (; length && (*source == ' ' || *source == '\t'); length--)
        source++;
    if (source && length) {
        strbuf_append_char(&writer->text, ' ');
        source_append_line(&writer->text, source, length, LINE_WIDTH, &column);
    }
}

static void write_entry(struct path_writer *writer, const struct step_piece *piece, uint32_t depth)
{
    const char *file = file_of(writer, piece->file);

    strbuf_clear(&writer->text);
    append_indent(writer, depth);
    strbuf_append(&writer->text, paint(writer, COLOR_BOLD));
    strbuf_append_escaped(&writer->text, name_of(writer, piece->function));
    strbuf_append(&writer->text, "()");
    strbuf_append(&writer->text, plain(writer));
    if (file) {
        strbuf_append(&writer->text, "  ");
        strbuf_append_escaped(&writer->text, file);
    }
    fprintf(writer->stream, "    %s\n", writer->text.data);
}

// What is said of the line, below it.
static void write_note(struct path_writer *writer, const struct path_note *note, uint32_t depth)
{
    const struct path_report *report = writer->report;

    strbuf_clear(&writer->text);
    append_indent(writer, depth);
    for (size_t m = 0; note->hits && m < report->marks->length; m++) {
        const struct path_mark *mark = &report->marks->data[m];

        if (mark->node != note->node || !path_counts(report, writer->path, mark))
            continue;
        fprintf(writer->stream, "    %s         ^ %s", writer->text.data,
                paint(writer, COLOR_MAGENTA));
        if (mark->critical != UINT32_MAX)
            fprintf(writer->stream, "%+.4g  ", mark->score);
        struct strbuf words = STRBUF_INIT;
        strbuf_append_escaped(&words, mark->words);
        fprintf(writer->stream, "%s%s\n", words.data, plain(writer));
        strbuf_deinit(&words);
    }
    if (note->is_doubtful)
        fprintf(writer->stream,
                "    %s         ^ %scontrol does not come here after what came before%s\n",
                writer->text.data, paint(writer, COLOR_YELLOW), plain(writer));
}

static const char *color_of(const struct path_writer *writer, char mark)
{
    return mark == '*'   ? paint(writer, COLOR_MAGENTA)
           : mark == '>' ? paint(writer, COLOR_BOLD)
           : mark == '?' ? paint(writer, COLOR_YELLOW)
                         : "";
}

static void write_line(struct path_writer *writer, const struct step_piece *piece, uint32_t depth)
{
    const struct path_note *note = piece->mark ? &writer->notes.at[piece->mark - 1] : NULL;
    char mark = !note                              ? ' '
                : note->is_doubtful                ? '?'
                : note->hits || note->again        ? '*'
                : note->is_pending || note->is_end ? '>'
                                                   : ' ';

    strbuf_clear(&writer->text);
    append_indent(writer, depth);
    if (piece->first)
        strbuf_printf(&writer->text, "%6u |", piece->first);
    else if (writer->report->model->node_names && note)
        strbuf_printf(&writer->text, "       | %s", writer->report->model->node_names[note->node]);
    else
        strbuf_append(&writer->text, "       |");
    append_source(writer, piece);
    fprintf(writer->stream, "  %s%c %s%s", color_of(writer, mark), mark, writer->text.data,
            mark == ' ' ? "" : plain(writer));
    if (note && note->is_end)
        fprintf(writer->stream, "   %s", writer->style->ascii ? "<- the end" : "← the end");
    else if (note && note->is_pending && mark != '>')
        fputs("   (this call is pending)", writer->stream);
    else if (note && note->again)
        fputs("   (again)", writer->stream);
}

static void write_hidden(struct path_writer *writer, const struct step_piece *piece, uint32_t depth)
{
    strbuf_clear(&writer->text);
    append_indent(writer, depth);
    strbuf_append(&writer->text, "   + ");
    strbuf_append_escaped(&writer->text, name_of(writer, piece->function));
    fprintf(writer->stream, "    %s%s()  %u step%s%s", paint(writer, COLOR_DIM), writer->text.data,
            piece->hidden, plural(piece->hidden), plain(writer));
}

static void write_piece(struct path_writer *writer, const struct step_piece *piece, uint32_t depth,
                        const char *times)
{
    if (piece->hidden) {
        write_hidden(writer, piece, depth);
        fprintf(writer->stream, "%s\n", times);
        return;
    }
    if (piece->enters)
        write_entry(writer, piece, depth);
    write_line(writer, piece, depth);
    fprintf(writer->stream, "%s\n", times);
    if (piece->mark)
        write_note(writer, &writer->notes.at[piece->mark - 1], depth);
}

static void write_steps(struct path_writer *writer)
{
    const struct path_report *report = writer->report;
    const struct run *run = &report->answer->paths[writer->path].found.run;
    struct step_vec steps = VEC_INIT;

    path_notes_init(&writer->notes, report, writer->path);
    steps_of_run(report->model, run,
                 &(struct steps_style){.marks = writer->notes.by_event,
                                       .mark_lines = writer->notes.lines,
                                       .hide_calls = !writer->style->full,
                                       .all_lines = true},
                 &steps);
    uint32_t base = steps_base(&steps);
    for (size_t i = 0, length; i < steps.length;) {
        uint32_t count = steps_repeats(&steps, i, &length);
        char times[64] = "";

        if (count > 1)
            snprintf(times, sizeof(times), "   (%s%u times)", length > 1 ? "these lines " : "",
                     count);
        for (size_t k = 0; k < length; k++)
            write_piece(writer, &steps.data[i + k], steps.data[i + k].depth - base,
                        k + 1 == length ? times : "");
        i += length * count;
    }
    step_vec_deinit(&steps);
    path_notes_deinit(&writer->notes);
}

// ---- All of it

static void write_nothing(const struct path_writer *writer)
{
    const struct path_answer *answer = writer->report->answer;

    if (answer->complete && !answer->problem)
        fputs("there is no such path\n", writer->stream);
    else
        fputs("undecided: no path was found\n", writer->stream);
    if (answer->missed)
        fprintf(writer->stream,
                "note: no run was found that visits all calls that were made; %u "
                "are missing (--use stack looks at the stack alone)\n",
                answer->missed);
}

static void write_clusters(const struct path_writer *writer)
{
    const struct path_report *report = writer->report;

    if (report->cluster_count < 2)
        return;
    fputc('\n', writer->stream);
    for (uint32_t c = 1; c < report->cluster_count; c++) {
        const struct path_cluster_line *line = &report->clusters[c];

        fprintf(writer->stream, "cluster %u", line->number);
        if (line->file != report->clusters[0].file && strcmp(line->file, report->clusters[0].file))
            fprintf(writer->stream, " of %s", line->file);
        if (!line->has_path)
            fprintf(writer->stream, ": %s\n", line->complete ? "there is no path" : "undecided");
        else
            fprintf(writer->stream, ": score %.4g, %" PRIu64 " steps, touches %u of %u: %s\n",
                    line->score, line->length, line->touched, line->predictors,
                    line->is_same ? "the same path, so probably the same bug" : "another path");
    }
    fputs("(--cluster C shows one of them)\n", writer->stream);
}

static void write_notes(const struct path_writer *writer)
{
    const struct path_report *report = writer->report;

    for (size_t i = 0; i < report->note_count; i++)
        fprintf(writer->stream, "note: %s\n", report->notes[i]);
    if (report->answer->note)
        fprintf(writer->stream, "note: %s\n", report->answer->note);
    if (report->answer->problem)
        fprintf(writer->stream, "note: a path that was found is none: %s\n",
                report->answer->problem);
}

void path_write_text(const struct path_report *report, const struct path_style *style, FILE *stream)
{
    char *directory = words_directory();
    struct path_writer writer = {
        .report = report,
        .style = style,
        .stream = stream,
        .sources = sources_create(style->source_directories, style->source_directory_count),
        .words = {.directory = directory},
        .text = STRBUF_INIT};

    if (!report->answer->count)
        write_nothing(&writer);
    for (; writer.path < report->answer->count; writer.path++) {
        write_head(&writer);
        if (!writer.path)
            write_notes(&writer);
        fputc('\n', stream);
        write_steps(&writer);
    }
    if (!report->answer->count)
        write_notes(&writer);
    write_clusters(&writer);
    sources_destroy(writer.sources);
    strbuf_deinit(&writer.text);
    free(directory);
}

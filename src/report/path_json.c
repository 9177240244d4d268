// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>

#include "common/json.h"
#include "common/json_stream.h"
#include "path/evidence.h"
#include "path/predictors.h"
#include "program/model.h"
#include "report/node_json.h"
#include "report/path.h"

static json_t *mark_json(const struct path_mark *mark)
{
    json_t *item = json_object();

    json_set(item, "score", json_real(mark->score));
    json_set(item, "predicate", json_text(mark->words));
    json_set(item, "kind", json_text(mark->kind));
    json_set(item, "cluster", mark->cluster ? json_integer(mark->cluster) : json_null());
    if (mark->predictor) {
        json_set(item, "failing", json_integer((json_int_t)mark->predictor->failing));
        json_set(item, "passing", json_integer((json_int_t)mark->predictor->passing));
    }
    return item;
}

// `predictor`: the one of the highest score; `predictors`: all, where there are several. `order`:
// the places of --before.
static void set_marks(const struct path_report *report, uint32_t path, uint32_t node, json_t *item)
{
    const struct path_mark *best = NULL;
    json_t *all = json_array(), *orders = json_array();

    for (size_t m = 0; m < report->marks->length; m++) {
        const struct path_mark *mark = &report->marks->data[m];

        if (mark->node != node || !path_counts(report, path, mark))
            continue;
        if (mark->critical == UINT32_MAX) {
            json_push(orders, json_text(mark->words));
            continue;
        }
        json_push(all, mark_json(mark));
        if (!best || mark->score > best->score)
            best = mark;
    }
    if (best)
        json_set(item, "predictor", mark_json(best));
    if (json_array_size(all) > 1)
        json_set(item, "predictors", json_incref(all));
    if (json_array_size(orders))
        json_set(item, "order", json_incref(orders));
    json_decref(all);
    json_decref(orders);
}

static void write_steps(const struct path_report *report, uint32_t path, struct json_stream *out)
{
    const struct run *run = &report->answer->paths[path].found.run;
    struct path_notes notes;
    uint32_t depth = 0;

    path_notes_init(&notes, report, path);
    json_stream_open(out, "steps", '[');
    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        depth += event->letter == RUN_CALL;
        depth -= event->letter == RUN_LEAVE && depth > 0;
        if (event->letter != RUN_STEP || event->node >= report->model->node_count)
            continue;
        const struct path_note *note = notes.by_event[i] ? &notes.at[notes.by_event[i] - 1] : NULL;
        json_t *item = node_json(report->model, event->node);
        json_set(item, "depth", json_integer(depth));
        if (note && note->is_pending)
            json_set(item, "pending", json_true());
        if (note && note->is_doubtful)
            json_set(item, "doubtful", json_true());
        if (note && note->again)
            json_set(item, "again", json_true());
        if (note && note->hits)
            set_marks(report, path, event->node, item);
        json_stream_element(out, item);
    }
    json_stream_close(out);
    path_notes_deinit(&notes);
}

static void write_path(const struct path_report *report, uint32_t path, struct json_stream *out)
{
    const struct path_shown *shown = &report->answer->paths[path];
    uint32_t of, touched = path_touched(report, path, &of);

    json_stream_member(out, "score", json_real(shown->found.score));
    json_stream_member(out, "length", json_integer((json_int_t)shown->found.length));
    json_stream_member(out, "touched", json_integer(touched));
    json_stream_member(out, "predictors", json_integer(of));
    json_stream_member(out, "shortest", json_boolean(shown->is_shortest));
    json_stream_member(out, "missed", json_integer(shown->missed));
    json_stream_member(out, "feasible",
                       report->has_dataflow ? json_boolean(shown->found.is_feasible) : json_null());
    json_stream_member(out, "evidence",
                       shown->failure < report->failure_count
                           ? json_text(report->failures[shown->failure])
                           : json_null());
    write_steps(report, path, out);
}

static void write_clusters(const struct path_report *report, struct json_stream *out)
{
    json_stream_open(out, "clusters", '[');
    for (uint32_t c = 0; c < report->cluster_count; c++) {
        const struct path_cluster_line *line = &report->clusters[c];
        json_t *item = json_object();

        json_set(item, "cluster", json_integer(line->number));
        json_set(item, "list", json_text(line->file));
        json_set(item, "score", line->has_path ? json_real(line->score) : json_null());
        json_set(item, "length",
                 line->has_path ? json_integer((json_int_t)line->length) : json_null());
        json_set(item, "predictors", json_integer(line->predictors));
        json_set(item, "touched", json_integer(line->touched));
        json_set(item, "same_as",
                 c && line->is_same ? json_integer(report->clusters[0].number) : json_null());
        json_set(item, "complete", json_boolean(line->complete));
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

static void write_notes(const struct path_report *report, struct json_stream *out)
{
    json_stream_open(out, "notes", '[');
    for (size_t i = 0; i < report->note_count; i++)
        json_stream_element(out, json_text(report->notes[i]));
    if (report->answer->note)
        json_stream_element(out, json_text(report->answer->note));
    if (report->answer->problem)
        json_stream_element(out, json_text(report->answer->problem));
    json_stream_close(out);
}

struct error *path_write_json(const struct path_report *report, FILE *stream)
{
    const struct path_answer *answer = report->answer;
    struct json_stream out;

    json_stream_begin(&out, stream, "path/1");
    json_stream_member(&out, "optimal", json_boolean(answer->count && answer->is_optimal));
    if (answer->count)
        write_path(report, 0, &out);
    else {
        json_stream_member(&out, "score", json_null());
        json_stream_member(&out, "length", json_null());
        json_stream_member(&out, "feasible", json_null());
        json_stream_open(&out, "steps", '[');
        json_stream_close(&out);
    }
    json_stream_open(&out, "paths", '[');
    for (uint32_t p = 0; p < answer->count; p++) {
        json_stream_open(&out, NULL, '{');
        write_path(report, p, &out);
        json_stream_close(&out);
    }
    json_stream_close(&out);
    write_clusters(report, &out);
    write_notes(report, &out);
    return json_stream_end(&out, answer->complete && !answer->problem);
}

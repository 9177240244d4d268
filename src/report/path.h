// SPDX-License-Identifier: Apache-2.0
/*
 * Paths through telling places, as source text, JSON ("path/1", docs/formats/path.md) and a graph
 * of calls.
 *
 *     struct path_report report = {.model = model, .marks = marks, .answer = &answer, ...};
 *     path_write_text(&report, &style, stdout);
 */
#ifndef REPORT_PATH_H
#define REPORT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/vec.h"

struct error;
struct model;
struct path_answer;
struct path_predictor;
struct run;

// Something to say of a node: a predictor, or a place that the user has named.
struct path_mark {
    uint32_t node;
    uint32_t critical; // its number in `touched`; UINT32_MAX: the place of an order, no score
    double score;
    uint32_t line; // of the predicate; 0: not known, or any of the node's
    const char *words;
    const char *kind;                       // a predictor's; "critical" or "order"
    uint32_t cluster;                       // of a predictor, as its list numbers it; 0: none
    const struct path_predictor *predictor; // NULL: named by the user
};
VEC_DEFINE(path_mark_vec, struct path_mark);

// A cluster of predictors whose path was looked for by itself.
struct path_cluster_line {
    uint32_t number;
    const char *file;
    bool has_path, complete;
    double score;
    uint64_t length;
    uint32_t predictors, touched;
    bool is_same; // as the first one's
};

struct path_report {
    const struct model *model;
    const struct path_mark_vec *marks;
    const struct path_answer *answer;
    const char *const *failures; // what the evidence of each was read from
    const uint32_t *end_lines;   // where each ended; 0: not known
    uint32_t failure_count;
    const struct path_cluster_line *clusters; // all of them, where they are solved one by one
    uint32_t cluster_count;
    const char *const *notes; // said with the answer
    size_t note_count;
    bool has_dataflow;
    bool has_stack; // it ends with the stack that was found; else at a place
};

struct path_style {
    bool color, ascii;
    bool full; // calls that came back and touch nothing, too
    const char *const *source_directories;
    size_t source_directory_count;
};

void path_write_text(const struct path_report *report, const struct path_style *style,
                     FILE *stream);
struct error *path_write_json(const struct path_report *report, FILE *stream);
// The functions that the best path visits, and the order of calls and returns.
void path_write_dot(const struct path_report *report, const struct path_style *style, FILE *stream);

// ---- Shared by the above

// What is to be said at events of a run.
struct path_notes {
    uint32_t *by_event; // 0: nothing; else 1 + index of `at`
    uint32_t *lines;    // by event: which line of the node it is about (report/steps.h)
    struct path_note {
        uint32_t node;
        bool hits;       // marks of the node, reached for the first time
        bool again;      // they were before; all such events of a node, if it is all, share a note
        bool is_pending; // a call that did not come back was made here
        bool is_end;     // the run ends here
        bool is_doubtful;
    } *at;
    uint32_t count;
};

void path_notes_init(struct path_notes *notes, const struct path_report *report, uint32_t path);
void path_notes_deinit(struct path_notes *notes);
// Predictors and critical places that the path is told to have touched, and how many there are; an
// order's places do not count.
uint32_t path_touched(const struct path_report *report, uint32_t path, uint32_t *of);
// Is a mark one of those that this path was given its score for, or an order's?
bool path_counts(const struct path_report *report, uint32_t path, const struct path_mark *mark);

#endif

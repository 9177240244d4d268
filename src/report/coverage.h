// SPDX-License-Identifier: Apache-2.0
/*
 * What ran, as text, JSON ("coverage/1", docs/formats/coverage.md) and lcov's .info.
 *
 *     err = coverage_write_json(&coverage, NULL, stdout);
 *
 * With active nodes and edges (slice/active.h) there is more to say: edges, and figures to compare
 * with what the stack alone leaves. The frames by themselves are a document of their own
 * ("coverage-frames/1").
 *
 * In .info a line that ran has the count 1, one that did not has 0, and one that may have is left
 * out.
 */
#ifndef REPORT_COVERAGE_H
#define REPORT_COVERAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "slice/active.h"

struct ask_coverage;
struct error;
struct json_stream;

struct coverage_style {
    bool color;
    unsigned verbose; // 1: functions with their lines
    const char *only; // lines of files whose name ends so, or NULL
};

struct coverage_active {
    const struct active *active;
    struct active_count baseline; // what the stack alone leaves
};

void coverage_write_text(const struct ask_coverage *coverage, const struct coverage_style *style,
                         FILE *stream);
// active: where edges are wanted, or NULL.
struct error *coverage_write_json(const struct ask_coverage *coverage,
                                  const struct coverage_active *active, FILE *stream);
void coverage_write_lcov(const struct ask_coverage *coverage, const char *test, FILE *stream);

// ---- coverage_active.c

// "active nodes 5 of 9, edges 4 of 11"
void coverage_write_active_text(const struct coverage_active *active, FILE *stream);
// The members `active` and `edges` of the document that is open.
void coverage_write_active_json(const struct coverage_active *active, struct json_stream *out);
void coverage_write_frames_text(const struct active *active, const struct active_frame_vec *frames,
                                FILE *stream);
struct error *coverage_write_frames_json(const struct active *active,
                                         const struct active_frame_vec *frames, FILE *stream);

#endif

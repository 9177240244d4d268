// SPDX-License-Identifier: Apache-2.0
/*
 * What ran, as text, JSON ("coverage/1", docs/formats/coverage.md) and lcov's .info.
 *
 *     err = coverage_write_json(&coverage, stdout);
 *
 * In .info a line that ran has the count 1, one that did not has 0, and one that may have is left
 * out.
 */
#ifndef REPORT_COVERAGE_H
#define REPORT_COVERAGE_H

#include <stdbool.h>
#include <stdio.h>

struct ask_coverage;
struct error;

struct coverage_style {
    bool color;
    unsigned verbose; // 1: functions with their lines
    const char *only; // lines of files whose name ends so, or NULL
};

void coverage_write_text(const struct ask_coverage *coverage, const struct coverage_style *style,
                         FILE *stream);
struct error *coverage_write_json(const struct ask_coverage *coverage, FILE *stream);
void coverage_write_lcov(const struct ask_coverage *coverage, const char *test, FILE *stream);

#endif

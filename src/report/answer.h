// SPDX-License-Identifier: Apache-2.0
/*
 * The answer to a query, as text and JSON ("ask/1", docs/formats/ask.md).
 *
 *     answer_write_text(ask, query, &result, &style, stdout);
 */
#ifndef REPORT_ANSWER_H
#define REPORT_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

struct ask_case;
struct ask_result;
struct error;
struct query;

struct answer_style {
    bool color;
    bool witness; // the whole run; else only its length
};

// query is NULL where it was asked whether anything fits at all.
void answer_write_text(const struct ask_case *ask, const struct query *query,
                       const struct ask_result *result, const struct answer_style *style,
                       FILE *stream);
struct error *answer_write_json(const struct ask_case *ask, const struct query *query,
                                const struct ask_result *result, FILE *stream);

#endif

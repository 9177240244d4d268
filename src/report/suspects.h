// SPDX-License-Identifier: Apache-2.0
/*
 * What predicts failure (suspects/store.h), as text with thermometers, JSON, CSV, and as the file
 * that `inquest path` reads (docs/formats/predictors.md).
 *
 *     struct suspects_view view = {.ranking = &ranking, .by = "importance", .first = 10};
 *     suspects_write_text(&view, &style, stdout);
 *
 * A thermometer is as long as the logarithm of the number of runs in which the predicate was true.
 * Its parts, from the left: context; the lower bound of the increase; from there to the increase;
 * the rest are runs that passed.
 */
#ifndef REPORT_SUSPECTS_H
#define REPORT_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/json.h"

struct predictor;
struct ranking;
struct store_build;
struct store_run;
struct strbuf;
struct suspects_sites;

struct suspects_view {
    const struct ranking *ranking;
    const char *by;   // "importance", "ochiai" or "tarantula"
    uint32_t cluster; // only this one, from 1; 0: all
    uint32_t first;   // of each; 0: all
};

struct suspects_style {
    bool color, ascii;
    unsigned verbose;
    const char *const *source_directories;
    size_t source_directory_count;
};

enum { SUSPECTS_BAR = 20 }; // the longest thermometer

// Exactly SUSPECTS_BAR columns. most: number of runs that the longest one stands for.
void suspects_append_bar(struct strbuf *out, const struct predictor *predictor, uint64_t most,
                         const struct suspects_style *style);

void suspects_write_text(const struct suspects_view *view, const struct suspects_style *style,
                         FILE *stream);
struct error *suspects_write_json(const struct suspects_view *view, FILE *stream);
void suspects_write_csv(const struct suspects_view *view, FILE *stream);
struct error *suspects_write_export(const struct suspects_view *view, FILE *stream);

// ---- Pieces, for `show` as well

// What a predictor says of a variable: its operator; NULL where it says nothing that simple.
const char *suspects_condition(const struct predictor *predictor);
const char *suspects_kind_name(uint32_t kind);
// To be freed.
char *suspects_words(const struct predictor *predictor);
char *suspects_build_id(const uint8_t *bytes, uint32_t length);

json_t *suspects_predictor_json(const struct predictor *predictor);
json_t *suspects_build_json(const struct store_build *build);

// One line: "failed  SIGSEGV  2026-01-31 12:00:01  1/100  parse_list < main". sites: for names, or
// NULL.
void suspects_append_run(struct strbuf *out, const struct store_run *run,
                         const struct suspects_sites *sites);
json_t *suspects_run_json(const struct store_run *run, const struct suspects_sites *sites);

#endif

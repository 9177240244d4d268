// SPDX-License-Identifier: Apache-2.0
/*
 * Slices for people and tools: as source, as a list of lines, as JSON ("slice/1",
 * docs/formats/slice.md), as a graph for Graphviz; and why a line is in.
 *
 *     struct slice_report report;
 *     slice_report_init(&report, model, dependence, ask, slicer);
 *     report.kind = SLICE_RESTRICTED;
 *     slicer_run(slicer, &criterion, 0, &budget, &slice);
 *     slice_report_add(&report, SLICE_RESTRICTED, MODEL_NONE, &criterion, &slice);
 *     slice_report_finish(&report);
 *     slice_write_text(&report, &style, stdout);
 *     slice_report_deinit(&report);
 *
 * A report holds what is kept by each kind of slice that was added, so that sizes can be compared.
 * Slices of several frames by themselves (--intra) are added one by one and are joined. Ways in
 * (`why`, `edges`) are of slices of the report's own kind.
 */
#ifndef REPORT_SLICE_H
#define REPORT_SLICE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/map.h"
#include "slice/slice.h"

struct ask_case;
struct error;
struct model;

enum { SLICE_KINDS = SLICE_STATIC + 1 };

// What one kind of slice keeps.
struct slice_kept {
    bool known;
    bool complete;
    struct bitset insns, nodes;
    uint32_t node_count, line_count; // once the report is finished
};

// A frame of the stack, the innermost first.
struct slice_frame {
    struct function_id function;
    uint32_t number; // in the evidence; MODEL_NONE: not known
};
VEC_DEFINE(slice_frame_vec, struct slice_frame);

// A frame's own slice.
struct slice_part {
    uint32_t node_counts[SLICE_KINDS]; // MODEL_NONE: not known
    struct insn_vec insns;
};
VEC_DEFINE(slice_part_vec, struct slice_part);

// `to` depends on `from`.
struct slice_edge {
    struct node_id from, to;
    enum slice_reason reason;
};
VEC_DEFINE(slice_edge_vec, struct slice_edge);
MAP_DEFINE_U64(slice_edge_map, bool)

struct slice_report {
    // Set before anything is added
    const struct model *model;
    const struct dependence *dependence;
    enum slice_kind kind;
    unsigned flags;           // enum slice_flag
    bool by_frame;            // each frame by itself: parts
    bool has_edges;           // edges are wanted
    const struct bitset *why; // by insn_id: which a way to is wanted; or NULL
    const char *why_text;     // what it was asked for
    const char *why_not;      // more to say where there is no way, or NULL

    const char *empty; // more to say where nothing is kept, or NULL

    struct slice_frame_vec stack;
    struct slice_start_vec criterion;
    struct slice_kept kept[SLICE_KINDS];
    struct slice_part_vec parts; // by frame of `stack`
    struct slice_link_vec chain; // to one of `why`, the criterion first; empty: none of them is in
    struct slice_edge_vec edges;
    struct slice_edge_map edge_map;
    bool is_coarse; // analyses were cut short by the budget: slices are larger than need be
};

// Frames are those of the slicer, whose case is `ask`.
void slice_report_init(struct slice_report *report, const struct model *model,
                       const struct dependence *dependence, const struct ask_case *ask,
                       const struct slicer *slicer);
void slice_report_deinit(struct slice_report *report);
// frame: whose own slice it is, or MODEL_NONE.
void slice_report_add(struct slice_report *report, enum slice_kind kind, uint32_t frame,
                      const struct slice_criterion *criterion, const struct slice *slice);
// All has been added: counts it.
void slice_report_finish(struct slice_report *report);

const char *slice_kind_name(enum slice_kind kind);
// Of nodes, in percent: how much less than that kind the report's own keeps. False: not known, or
// it keeps nothing.
bool slice_reduction(const struct slice_report *report, enum slice_kind than, double *ret);
bool slice_report_complete(const struct slice_report *report);

// ---- Places (slice_places.c)

// An instruction with its line.
struct slice_place {
    struct function_id function;
    const char *file; // the model's
    uint32_t line, column;
    struct insn_id insn;
};
VEC_DEFINE(slice_place_vec, struct slice_place);

// False: the instruction has no line.
bool slice_place_of(const struct slice_report *report, struct insn_id insn,
                    struct slice_place *ret);
// Of all instructions that have a line, sorted: by function, file, line; by_line: by file and line,
// one for each.
void slice_places(const struct slice_report *report, const struct insn_id *insns, size_t count,
                  bool by_line, struct slice_place_vec *ret);
// The same of what a kind of slice keeps.
void slice_places_kept(const struct slice_report *report, enum slice_kind kind, bool by_line,
                       struct slice_place_vec *ret);

// ---- Writing

struct slice_style {
    bool color;
    bool ascii;       // no characters outside of ASCII
    unsigned verbose; // 1: instructions, too
    const char *const *source_directories;
    size_t source_directory_count;
};

void slice_write_text(const struct slice_report *report, const struct slice_style *style,
                      FILE *stream);
// FILE:LINE, one a line.
void slice_write_lines(const struct slice_report *report, FILE *stream);
// The way from the criterion to what was asked for.
void slice_write_why(const struct slice_report *report, const struct slice_style *style,
                     FILE *stream);
struct error *slice_write_json(const struct slice_report *report, FILE *stream);
void slice_write_dot(const struct slice_report *report, const struct slice_style *style,
                     FILE *stream);

#endif

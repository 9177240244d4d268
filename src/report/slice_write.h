// SPDX-License-Identifier: Apache-2.0
// What slice_text.c, slice_why.c and slice_dot.c share: a place to write to, and pieces of text.
#ifndef REPORT_SLICE_WRITE_H
#define REPORT_SLICE_WRITE_H

#include "common/color.h"
#include "common/strbuf.h"
#include "report/slice.h"
#include "report/source.h"

struct slice_writer {
    const struct slice_report *report;
    const struct slice_style *style;
    FILE *stream;
    struct sources *sources;
    char *directory;      // the current one, which is left out; or NULL
    struct bitset starts; // by insn_id: the criterion
    struct strbuf text;   // of the piece being written
};

void slice_writer_init(struct slice_writer *writer, const struct slice_report *report,
                       const struct slice_style *style, FILE *stream);
void slice_writer_deinit(struct slice_writer *writer);

// The escape sequences of this writer.
static inline const char *slice_paint(const struct slice_writer *writer, enum color color)
{
    return color_start(writer->style->color, color);
}

static inline const char *slice_plain(const struct slice_writer *writer)
{
    return color_end(writer->style->color);
}

// The path without the current directory. Borrowed.
const char *slice_file(const struct slice_writer *writer, const char *path);
// "words.c:71"
void slice_append_place(struct slice_writer *writer, struct strbuf *text,
                        const struct slice_place *place);
// A line of source without its indentation, cut at `width`; nothing where it is not there.
void slice_append_source(struct slice_writer *writer, struct strbuf *text, const char *file,
                         uint32_t line, uint32_t width);
const char *slice_function_name(const struct slice_report *report, struct function_id function);
// "bucket_remove(), #0"; frame MODEL_NONE: "bucket_remove()".
void slice_append_frame(struct slice_writer *writer, struct strbuf *text,
                        struct function_id function, uint32_t frame);

#endif

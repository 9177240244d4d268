// SPDX-License-Identifier: Apache-2.0
#include "report/slice_write.h"

#include <stdlib.h>

#include "program/model.h"
#include "report/summary_words.h"

void slice_writer_init(struct slice_writer *writer, const struct slice_report *report,
                       const struct slice_style *style, FILE *stream)
{
    *writer = (struct slice_writer){
        .report = report,
        .style = style,
        .stream = stream,
        .sources = sources_create(style->source_directories, style->source_directory_count),
        .directory = words_directory(),
        .text = STRBUF_INIT};
    bitset_init(&writer->starts, dependence_insn_count(report->dependence));
    for (size_t i = 0; i < report->criterion.length; i++)
        bitset_set(&writer->starts, report->criterion.data[i].insn.value);
}

void slice_writer_deinit(struct slice_writer *writer)
{
    sources_destroy(writer->sources);
    free(writer->directory);
    bitset_deinit(&writer->starts);
    strbuf_deinit(&writer->text);
}

const char *slice_file(const struct slice_writer *writer, const char *path)
{
    const struct words words = {.directory = writer->directory};

    return words_file(&words, path);
}

void slice_append_place(struct slice_writer *writer, struct strbuf *text,
                        const struct slice_place *place)
{
    strbuf_append_escaped(text, slice_file(writer, place->file));
    strbuf_printf(text, ":%u", place->line);
}

void slice_append_source(struct slice_writer *writer, struct strbuf *text, const char *file,
                         uint32_t line, uint32_t width)
{
    size_t length;
    uint32_t column = 0;
    const char *source = sources_line(writer->sources, file, line, &length);

    while (source && length && (*source == ' ' || *source == '\t')) {
        source++;
        length--;
    }
    if (source)
        source_append_line(text, source, length, width, &column);
}

const char *slice_function_name(const struct slice_report *report, struct function_id function)
{
    const struct model_function *one = model_function(report->model, function);

    return one->source_name && *one->source_name ? one->source_name : one->name;
}

void slice_append_frame(struct slice_writer *writer, struct strbuf *text,
                        struct function_id function, uint32_t frame)
{
    const struct slice_frame_vec *stack = &writer->report->stack;

    strbuf_append_escaped(text, slice_function_name(writer->report, function));
    strbuf_append(text, "()");
    if (frame < stack->length && stack->data[frame].number != MODEL_NONE)
        strbuf_printf(text, ", #%u", stack->data[frame].number);
}

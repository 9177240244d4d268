// SPDX-License-Identifier: Apache-2.0
/*
 * A slice as source: function by function the lines that are kept, what lies between them elided.
 * The frames of the stack come first, the innermost before the others, then functions whose calls
 * had come back.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "program/model.h"
#include "report/slice_write.h"

#define LINE_WIDTH   120u
#define SHORT_FRAMES 4u
#define SHORT_STARTS 4u

// ---- Lines

static const char *dots(const struct slice_writer *writer)
{
    return writer->style->ascii ? "..." : "…";
}

static void write_line(struct slice_writer *writer, const char *file, uint32_t line, char mark)
{
    size_t length;
    uint32_t column = 0;
    struct strbuf *text = &writer->text;
    const char *source = sources_line(writer->sources, file, line, &length);

    strbuf_clear(text);
    if (source)
        source_append_line(text, source, length, LINE_WIDTH, &column);
    while (text->length && text->data[text->length - 1] == ' ')
        strbuf_truncate(text, text->length - 1);
    fprintf(writer->stream, "%s  %c %6u |%s%s%s\n",
            mark == '>'   ? slice_paint(writer, COLOR_BOLD)
            : mark == ' ' ? slice_paint(writer, COLOR_DIM)
                          : "",
            mark, line, text->length ? " " : "", text->data,
            mark == '*' ? "" : slice_plain(writer));
}

static void write_gap(const struct slice_writer *writer)
{
    fprintf(writer->stream, "           %s%s%s\n", slice_paint(writer, COLOR_DIM), dots(writer),
            slice_plain(writer));
}

// The instructions of one line.
static void write_insns(const struct slice_writer *writer, const struct slice_place *places,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct module_id module;
        uint32_t index;

        dependence_insn_at(writer->report->dependence, places[i].insn, &module, &index);
        _cleanup_free_ char *text =
            insn_text(model_module(writer->report->model, module)->code, index);
        fprintf(writer->stream, "           %s: %s%s\n", slice_paint(writer, COLOR_DIM), text,
                slice_plain(writer));
    }
}

// Is one of them where the slice begins?
static bool has_start(const struct slice_writer *writer, const struct slice_place *places,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bitset_test(&writer->starts, places[i].insn.value))
            return true;
    return false;
}

// ---- One function, or as much of it as is in one file

// NULL: not known.
static const char *function_file(const struct slice_report *report, struct function_id function)
{
    struct file_id file = model_function(report->model, function)->file;

    return file.value == MODEL_NONE ? NULL : model_file_path(report->model, file);
}

// "61, 66-71": where there is no source.
static void write_numbers(struct slice_writer *writer, const struct slice_place *places,
                          size_t count)
{
    uint32_t first = 0, last = 0;
    const char *separator = "    lines ";

    for (size_t i = 0; i <= count; i++) {
        if (i < count && last && places[i].line <= last + 1) {
            last = places[i].line;
            continue;
        }
        if (last) {
            fprintf(writer->stream, last > first ? "%s%u-%u" : "%s%u", separator, first, last);
            separator = ", ";
        }
        if (i < count)
            first = last = places[i].line;
    }
    fprintf(writer->stream, "  %s(the source is not there; --source-dir DIR says where)%s\n",
            slice_paint(writer, COLOR_DIM), slice_plain(writer));
}

static void write_source(struct slice_writer *writer, const struct slice_place *places,
                         size_t count)
{
    const struct model_function *function =
        model_function(writer->report->model, places[0].function);
    const char *own = function_file(writer->report, places[0].function);
    uint32_t last = 0;

    // what the lines are of
    if (own && function->line && strcmp(own, places[0].file) == 0 &&
        function->line < places[0].line) {
        write_line(writer, own, function->line, ' ');
        last = function->line;
    }
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && places[next].line == places[i].line;)
            next++;
        if (last && places[i].line == last + 2)
            write_line(writer, places[i].file, last + 1, ' '); // as long as dots, and says more
        else if (last && places[i].line > last + 2)
            write_gap(writer);
        last = places[i].line;
        write_line(writer, places[i].file, last,
                   has_start(writer, places + i, next - i) ? '>' : '*');
        if (writer->style->verbose)
            write_insns(writer, places + i, next - i);
    }
}

// All that is kept of one function: places are of that function.
static void write_function(struct slice_writer *writer, const struct slice_place *places,
                           size_t count)
{
    const char *own = function_file(writer->report, places[0].function);

    for (size_t from = 0, to; from < count; from = to) {
        size_t length;

        for (to = from + 1; to < count && strcmp(places[to].file, places[from].file) == 0;)
            to++;
        if (own && strcmp(own, places[from].file) != 0)
            fprintf(writer->stream, "     in %s\n", slice_file(writer, places[from].file));
        if (sources_line(writer->sources, places[from].file, places[from].line, &length))
            write_source(writer, places + from, to - from);
        else
            write_numbers(writer, places + from, to - from);
    }
}

static void write_title(struct slice_writer *writer, const char *numbers,
                        const struct slice_place *place)
{
    struct strbuf *text = &writer->text;

    strbuf_clear(text);
    strbuf_append_escaped(text, slice_function_name(writer->report, place->function));
    fprintf(writer->stream, "\n%-4s %s%s%s", numbers, slice_paint(writer, COLOR_BOLD), text->data,
            slice_plain(writer));
    const char *own = function_file(writer->report, place->function);
    strbuf_clear(text);
    strbuf_append_escaped(text, slice_file(writer, own ? own : place->file));
    fprintf(writer->stream, " in %s\n", text->data);
}

// ---- All functions

// "#0", "#0, #3": the frames of a function.
static void append_numbers(const struct slice_report *report, struct function_id function,
                           struct strbuf *text)
{
    uint32_t count = 0;

    for (size_t i = 0; i < report->stack.length; i++) {
        const struct slice_frame *frame = &report->stack.data[i];

        if (frame->function.value != function.value || frame->number == MODEL_NONE)
            continue;
        if (count++ == SHORT_FRAMES)
            strbuf_append(text, ", ...");
        if (count <= SHORT_FRAMES)
            strbuf_printf(text, "%s#%u", count > 1 ? ", " : "", frame->number);
    }
}

// The places of a function, in a list that is sorted by function.
static size_t find_function(const struct slice_place_vec *places, struct function_id function,
                            size_t *ret_count)
{
    size_t low = 0, high = places->length;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places->data[middle].function.value < function.value)
            low = middle + 1;
        else
            high = middle;
    }
    for (*ret_count = 0; low + *ret_count < places->length &&
                         places->data[low + *ret_count].function.value == function.value;)
        ++*ret_count;
    return low;
}

// What has been written of all functions.
struct sections {
    struct slice_place_vec places;
    struct bitset done; // by function
    bool is_frame;      // those of the stack are being written
    bool has_frame, has_other;
};

static void write_section(struct slice_writer *writer, struct sections *sections,
                          struct function_id function)
{
    size_t count, from = find_function(&sections->places, function, &count);
    _cleanup_strbuf_ struct strbuf numbers = STRBUF_INIT;

    if (bitset_test_and_set(&sections->done, function.value) || !count)
        return;
    if (sections->is_frame)
        append_numbers(writer->report, function, &numbers);
    else if (sections->has_frame && !sections->has_other)
        fprintf(writer->stream, "\nin calls that had come back:\n");
    *(sections->is_frame ? &sections->has_frame : &sections->has_other) = true;
    write_title(writer, numbers.data, &sections->places.data[from]);
    write_function(writer, sections->places.data + from, count);
}

static void write_functions(struct slice_writer *writer)
{
    const struct slice_report *report = writer->report;
    struct sections sections = {.places = VEC_INIT, .is_frame = report->kind != SLICE_STATIC};

    bitset_init(&sections.done, report->model->function_count);
    slice_places_kept(report, report->kind, false, &sections.places);
    for (size_t i = 0; sections.is_frame && i < report->stack.length; i++)
        write_section(writer, &sections, report->stack.data[i].function);
    sections.is_frame = false;
    for (size_t i = 0; i < report->criterion.length; i++) {
        struct node_id node =
            dependence_insn_node(report->dependence, report->criterion.data[i].insn);
        write_section(writer, &sections, model_node(report->model, node)->function);
    }
    for (size_t i = 0; i < sections.places.length; i++)
        write_section(writer, &sections, sections.places.data[i].function);
    slice_place_vec_deinit(&sections.places);
    bitset_deinit(&sections.done);
}

static bool is_same_part(const struct slice_report *report, size_t a, size_t b)
{
    const struct insn_vec *left = &report->parts.data[a].insns;
    const struct insn_vec *right = &report->parts.data[b].insns;

    return report->stack.data[a].function.value == report->stack.data[b].function.value &&
           left->length == right->length &&
           (!left->length ||
            memcmp(left->data, right->data, left->length * sizeof(*left->data)) == 0);
}

// Each frame by itself; those of a recursion that are alike once.
static void write_parts(struct slice_writer *writer)
{
    const struct slice_report *report = writer->report;

    for (size_t i = 0, next; i < report->parts.length; i = next) {
        const struct slice_part *part = &report->parts.data[i];
        struct slice_place_vec places = VEC_INIT;
        uint32_t first = report->stack.data[i].number, last;
        char numbers[32] = "";

        for (next = i + 1; next < report->parts.length && is_same_part(report, i, next);)
            next++;
        last = report->stack.data[next - 1].number;
        slice_places(report, part->insns.data, part->insns.length, false, &places);
        if (first != MODEL_NONE && last != MODEL_NONE)
            snprintf(numbers, sizeof(numbers), last > first ? "#%u-#%u" : "#%u", first, last);
        if (places.length) {
            write_title(writer, numbers, &places.data[0]);
            write_function(writer, places.data, places.length);
        }
        slice_place_vec_deinit(&places);
    }
}

// ---- The whole

static void write_criterion(struct slice_writer *writer)
{
    const struct slice_report *report = writer->report;
    struct insn_vec insns = VEC_INIT;
    struct slice_place_vec places = VEC_INIT;
    struct strbuf *text = &writer->text;

    for (size_t i = 0; i < report->criterion.length; i++)
        insn_vec_push(&insns, report->criterion.data[i].insn);
    slice_places(report, insns.data, insns.length, true, &places);
    strbuf_clear(text);
    for (size_t i = 0; i < places.length && i < SHORT_STARTS; i++) {
        strbuf_append(text, i ? ", " : "");
        slice_append_place(writer, text, &places.data[i]);
        strbuf_append(text, " in ");
        strbuf_append_escaped(text, slice_function_name(report, places.data[i].function));
        strbuf_append(text, "()");
    }
    if (places.length > SHORT_STARTS)
        strbuf_printf(text, " and %zu more lines", places.length - SHORT_STARTS);
    fprintf(writer->stream,
            report->flags & SLICE_FORWARD ? "%swhat may depend on %s%s\n"
                                          : "%swhat %s may depend on%s\n",
            slice_paint(writer, COLOR_BOLD), places.length ? text->data : "the criterion",
            slice_plain(writer));
    slice_place_vec_deinit(&places);
    insn_vec_deinit(&insns);
}

static void write_nothing(const struct slice_writer *writer)
{
    const char *why = writer->report->empty;

    fprintf(writer->stream, "nothing is in the slice%s%s\n", why ? ": " : "", why ? why : "");
}

static void write_size(const struct slice_writer *writer, enum slice_kind kind, const char *what)
{
    const struct slice_report *report = writer->report;
    const struct slice_kept *kept = &report->kept[kind];
    double percent;

    if (!kept->known || (kind != report->kind && !kept->complete))
        return;
    fprintf(writer->stream, "%8u %8u  %s", kept->line_count, kept->node_count, what);
    if (slice_reduction(report, kind, &percent))
        fprintf(writer->stream, ": %.1f%% less is kept", percent);
    fprintf(writer->stream, "%s\n", kept->complete ? "" : " (the budget was spent)");
}

static void write_sizes(const struct slice_writer *writer)
{
    const struct slice_report *report = writer->report;

    fprintf(writer->stream, "\n%8s %8s\n", "lines", "nodes");
    write_size(writer, report->kind, "in this slice");
    if (report->kind != SLICE_STACK)
        write_size(writer, SLICE_STACK, "with the stack alone (--stack)");
    if (report->kind != SLICE_STATIC)
        write_size(writer, SLICE_STATIC, "of any run (--static)");
    if (!report->kept[report->kind].complete)
        fprintf(writer->stream,
                "%sthe time or memory allowed was used up: all that may have run "
                "is shown as kept%s\n",
                slice_paint(writer, COLOR_YELLOW), slice_plain(writer));
    else if (report->is_coarse)
        fprintf(writer->stream,
                "%sthe time or memory allowed was used up: more is kept than need "
                "be%s\n",
                slice_paint(writer, COLOR_YELLOW), slice_plain(writer));
}

void slice_write_text(const struct slice_report *report, const struct slice_style *style,
                      FILE *stream)
{
    struct slice_writer writer;

    slice_writer_init(&writer, report, style, stream);
    if (!report->kept[report->kind].node_count) {
        write_nothing(&writer);
    } else if (report->by_frame) {
        write_parts(&writer);
        write_sizes(&writer);
    } else {
        write_criterion(&writer);
        write_functions(&writer);
        write_sizes(&writer);
    }
    slice_writer_deinit(&writer);
}

void slice_write_lines(const struct slice_report *report, FILE *stream)
{
    struct slice_writer writer;
    struct slice_place_vec lines = VEC_INIT;

    slice_writer_init(&writer, report, &(struct slice_style){0}, stream);
    slice_places_kept(report, report->kind, true, &lines);
    for (size_t i = 0; i < lines.length; i++)
        fprintf(stream, "%s:%u\n", slice_file(&writer, lines.data[i].file), lines.data[i].line);
    slice_place_vec_deinit(&lines);
    slice_writer_deinit(&writer);
}

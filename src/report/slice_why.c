// SPDX-License-Identifier: Apache-2.0
/*
 * Why a line is in a slice: the way of dependences from the criterion to it, one source line a
 * step, and between two steps what the one has to do with the other. Values that go from one
 * instruction to the next of the same line are no step, unless all is to be said.
 */
#include <string.h>

#include "program/model.h"
#include "report/slice_write.h"

#define SOURCE_WIDTH 72u

// The line of a link. What has none is its node's; at the entry, where arguments are stored, the
// function's.
static struct slice_place place_of(const struct slice_report *report, const struct slice_link *link)
{
    struct slice_place place;
    struct node_id id = dependence_insn_node(report->dependence, link->insn);

    if (slice_place_of(report, link->insn, &place))
        return place;
    const struct model_node *node = model_node(report->model, id);
    const struct model_function *function = model_function(report->model, node->function);
    bool at_entry = id.value == function->first_node && function->line;
    struct file_id file = at_entry ? function->file : node->file;
    const char *path = file.value == MODEL_NONE ? NULL : model_file_path(report->model, file);
    return (struct slice_place){.function = node->function,
                                .file = path ? path : "?",
                                .line = at_entry ? function->line : node->line,
                                .insn = link->insn};
}

static void append_memory(const struct slice_writer *writer, const struct slice_link *link,
                          struct strbuf *text)
{
    _cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

    if (link->memory.value == UINT32_MAX)
        return;
    strbuf_append(text, " (");
    strbuf_append_escaped(text,
                          dependence_class_name(writer->report->dependence, link->memory, &name));
    strbuf_append(text, ")");
}

static bool is_call(const struct slice_report *report, struct insn_id insn)
{
    struct module_id module;
    uint32_t index;
    uint8_t opcode = dependence_insn_at(report->dependence, insn, &module, &index)->opcode;

    return opcode == INSN_CALL || opcode == INSN_INVOKE || opcode == INSN_CALLBR;
}

// What stands before and behind the place of a step.
struct reason_words {
    const char *before, *behind;
};

// The step before needs this one. elsewhere: they are in different functions.
static struct reason_words words_backward(enum slice_reason reason, bool elsewhere, bool call)
{
    switch (reason) {
    case SLICE_BY_CRITERION:
        break;
    case SLICE_BY_VALUE:
        return (struct reason_words){"uses a value from ", ""};
    case SLICE_BY_MEMORY:
        return (struct reason_words){"reads what may have been written at ", ""};
    case SLICE_BY_CONTROL:
        if (elsewhere)
            return (struct reason_words){"comes back only if ", " so decides"};
        if (call)
            return (struct reason_words){"is executed only if the call at ", " comes back"};
        return (struct reason_words){"is executed only if ", " so decides"};
    case SLICE_BY_CALL:
        return elsewhere ? (struct reason_words){"is called, or given what it uses, at ", ""}
                         : (struct reason_words){"uses what is passed at ", ""};
    case SLICE_BY_RESULT:
        return elsewhere ? (struct reason_words){"is a call, and part of what it does is ", ""}
                         : (struct reason_words){"needs what is done by the call at ", ""};
    }
    return (struct reason_words){"", ""};
}

static struct reason_words words_forward(enum slice_reason reason)
{
    static const struct reason_words words[] = {
        [SLICE_BY_CRITERION] = {"", ""},
        [SLICE_BY_VALUE] = {"has a value that is used at ", ""},
        [SLICE_BY_MEMORY] = {"may write what is read at ", ""},
        [SLICE_BY_CONTROL] = {"decides whether ", " is executed"},
        [SLICE_BY_CALL] = {"calls, or gives something to, ", ""},
        [SLICE_BY_RESULT] = {"is part of what is done by the call at ", ""},
    };

    return words[reason];
}

// What the step before has to do with this one.
static void write_reason(struct slice_writer *writer, const struct slice_link *link,
                         const struct slice_place *last, const struct slice_place *place)
{
    const struct slice_report *report = writer->report;
    struct strbuf *text = &writer->text;
    struct reason_words words =
        report->flags & SLICE_FORWARD
            ? words_forward(link->reason)
            : words_backward(link->reason, last->function.value != place->function.value,
                             is_call(report, link->insn));

    strbuf_clear(text);
    strbuf_append(text, words.before);
    slice_append_place(writer, text, place);
    strbuf_append(text, words.behind);
    if (link->reason == SLICE_BY_MEMORY)
        append_memory(writer, link, text);
    fprintf(writer->stream, "      %s%s%s\n", slice_paint(writer, COLOR_CYAN), text->data,
            slice_plain(writer));
}

static void write_step(struct slice_writer *writer, const struct slice_link *link,
                       const struct slice_place *place)
{
    struct strbuf *text = &writer->text;

    strbuf_clear(text);
    slice_append_place(writer, text, place);
    strbuf_append(text, ":  ");
    slice_append_source(writer, text, place->file, place->line, SOURCE_WIDTH);
    fprintf(writer->stream, "  %s%s%s", slice_paint(writer, COLOR_BOLD), text->data,
            slice_plain(writer));
    strbuf_clear(text);
    slice_append_frame(writer, text, place->function, link->frame);
    fprintf(writer->stream, "  %s[%s]%s\n", slice_paint(writer, COLOR_DIM), text->data,
            slice_plain(writer));
}

static bool is_same_line(const struct slice_place *a, const struct slice_place *b)
{
    return a->function.value == b->function.value && a->line == b->line &&
           strcmp(a->file, b->file) == 0;
}

static void write_chain(struct slice_writer *writer)
{
    const struct slice_link_vec *chain = &writer->report->chain;
    struct slice_place last = {0};

    for (size_t i = 0; i < chain->length; i++) {
        const struct slice_link *link = &chain->data[i];
        struct slice_place place = place_of(writer->report, link);

        if (i > 0 && !writer->style->verbose && link->reason == SLICE_BY_VALUE &&
            link->frame == chain->data[i - 1].frame && is_same_line(&place, &last))
            continue;
        if (i > 0)
            write_reason(writer, link, &last, &place);
        write_step(writer, link, &place);
        last = place;
    }
}

void slice_write_why(const struct slice_report *report, const struct slice_style *style,
                     FILE *stream)
{
    struct slice_writer writer;

    slice_writer_init(&writer, report, style, stream);
    if (!report->chain.length && report->kept[report->kind].known &&
        !report->kept[report->kind].complete) {
        fprintf(stream, "%s: not known, the time or memory allowed was used up\n",
                report->why_text);
    } else if (!report->chain.length) {
        fprintf(stream, "%s is not in the slice%s%s\n", report->why_text,
                report->why_not ? ": " : "", report->why_not ? report->why_not : "");
    } else {
        fprintf(stream, "%s is in the slice:\n", report->why_text);
        write_chain(&writer);
    }
    slice_writer_deinit(&writer);
}

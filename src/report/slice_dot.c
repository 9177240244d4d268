// SPDX-License-Identifier: Apache-2.0
// A slice as a graph for Graphviz: the nodes that are kept, by function, and how each came in.
#include "program/model.h"
#include "report/slice_write.h"

#define LABEL_WIDTH 48u

// Within double quotes.
static void append_quoted(struct strbuf *text, const char *string)
{
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            strbuf_append_char(text, '\\');
        strbuf_append_char(text, *string);
    }
}

static bool has_start(const struct slice_writer *writer, struct node_id node)
{
    const struct slice_report *report = writer->report;
    const struct model_function *function =
        model_function(report->model, model_node(report->model, node)->function);
    const struct code_node *in = model_code_node(report->model, node);

    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++)
        if (bitset_test(&writer->starts,
                        dependence_insn(report->dependence, function->module, i).value))
            return true;
    return false;
}

// "words.c:71" and the line, of the first instruction that is kept and has one.
static void append_label(struct slice_writer *writer, struct node_id node, struct strbuf *text)
{
    const struct slice_report *report = writer->report;
    const struct model_function *function =
        model_function(report->model, model_node(report->model, node)->function);
    const struct code_node *in = model_code_node(report->model, node);
    _cleanup_strbuf_ struct strbuf source = STRBUF_INIT;
    struct slice_place place;

    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        struct insn_id insn = dependence_insn(report->dependence, function->module, i);

        if (!bitset_test(&report->kept[report->kind].insns, insn.value) ||
            !slice_place_of(report, insn, &place))
            continue;
        slice_append_source(writer, &source, place.file, place.line, LABEL_WIDTH);
        strbuf_printf(text, "%u%s", place.line, source.length ? ": " : "");
        append_quoted(text, source.data);
        return;
    }
    strbuf_printf(text, "#%u", model_node_index(report->model, node));
}

static void write_node(struct slice_writer *writer, struct node_id node)
{
    struct strbuf *text = &writer->text;

    strbuf_clear(text);
    append_label(writer, node, text);
    fprintf(writer->stream, "    n%u [label=\"%s\"%s];\n", node.value, text->data,
            has_start(writer, node) ? ", penwidth=2" : "");
}

static void write_title(struct slice_writer *writer, struct function_id function)
{
    struct strbuf *text = &writer->text;
    const struct model_function *one = model_function(writer->report->model, function);
    const char *file =
        one->file.value == MODEL_NONE ? NULL : model_file_path(writer->report->model, one->file);

    strbuf_clear(text);
    append_quoted(text, slice_function_name(writer->report, function));
    strbuf_append(text, "()");
    if (file) {
        strbuf_append(text, " in ");
        append_quoted(text, slice_file(writer, file));
    }
    fprintf(writer->stream, "  subgraph cluster_%u {\n    label=\"%s\";\n", function.value,
            text->data);
}

// Nodes of a function are consecutive.
static void write_clusters(struct slice_writer *writer)
{
    const struct slice_report *report = writer->report;
    const struct bitset *nodes = &report->kept[report->kind].nodes;
    uint32_t open = MODEL_NONE;

    for (size_t n = bitset_next(nodes, 0); n < nodes->size; n = bitset_next(nodes, n + 1)) {
        struct node_id node = {(uint32_t)n};
        struct function_id function = model_node(report->model, node)->function;

        if (function.value != open) {
            fputs(open == MODEL_NONE ? "" : "  }\n", writer->stream);
            write_title(writer, function);
            open = function.value;
        }
        write_node(writer, node);
    }
    fputs(open == MODEL_NONE ? "" : "  }\n", writer->stream);
}

static void write_edges(const struct slice_writer *writer)
{
    static const char *const styles[] = {
        [SLICE_BY_CRITERION] = "solid", [SLICE_BY_VALUE] = "solid", [SLICE_BY_MEMORY] = "bold",
        [SLICE_BY_CONTROL] = "dashed",  [SLICE_BY_CALL] = "dotted", [SLICE_BY_RESULT] = "dotted"};
    const struct slice_edge_vec *edges = &writer->report->edges;

    for (size_t i = 0; i < edges->length; i++)
        fprintf(writer->stream, "  n%u -> n%u [style=%s, tooltip=\"%s\"];\n",
                edges->data[i].from.value, edges->data[i].to.value, styles[edges->data[i].reason],
                slice_reason_name(edges->data[i].reason));
}

void slice_write_dot(const struct slice_report *report, const struct slice_style *style,
                     FILE *stream)
{
    struct slice_writer writer;

    slice_writer_init(&writer, report, style, stream);
    fprintf(stream, "digraph slice {\n  node [shape=box, fontname=monospace];\n");
    write_clusters(&writer);
    write_edges(&writer);
    fprintf(stream, "}\n");
    slice_writer_deinit(&writer);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A path as calls (figure 6 of paper 004): a box for each function that it visits, an edge where
 * one calls another or returns to it, labelled with when. Calls that came back and touch nothing
 * are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/bitset.h"
#include "common/strbuf.h"
#include "path/evidence.h"
#include "program/model.h"
#include "report/path.h"

struct call_edge {
    uint32_t from, to; // functions
    bool returns;
    struct strbuf label;
};
VEC_DEFINE(call_edge_vec, struct call_edge);
VEC_DEFINE(function_vec, uint32_t);

struct call_graph {
    const struct path_report *report;
    struct call_edge_vec edges;
    struct bitset visited;     // functions
    struct function_vec stack; // of the model, outermost first
    uint32_t number;           // of the last call or return
};

static void append_quoted(struct strbuf *text, const char *string)
{
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            strbuf_append_char(text, '\\');
        strbuf_append_char(text, (unsigned char)*string < ' ' ? ' ' : *string);
    }
}

static void add_edge(struct call_graph *graph, uint32_t from, uint32_t to, bool returns)
{
    size_t i = 0;

    while (i < graph->edges.length &&
           (graph->edges.data[i].from != from || graph->edges.data[i].to != to ||
            graph->edges.data[i].returns != returns))
        i++;
    if (i == graph->edges.length)
        call_edge_vec_push(&graph->edges, (struct call_edge){from, to, returns, STRBUF_INIT});
    struct strbuf *label = &graph->edges.data[i].label;
    strbuf_printf(label, "%s%u", label->length ? ", " : "", ++graph->number);
}

// By event: where the call that is made there comes back; 0: it does not. With notes inside: not
// counted as coming back, `kept` is set.
static void find_calls(const struct run *run, const struct path_notes *notes, bool full,
                       struct bitset *kept, uint32_t *ends)
{
    uint32_t *open = xmalloc_array(run->count + 1u, sizeof(*open)), depth = 0, last = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        last = notes->by_event[i] ? i + 1 : last;
        if (run->events[i].letter == RUN_CALL)
            open[depth++] = i;
        else if (run->events[i].letter == RUN_LEAVE && depth) {
            uint32_t call = open[--depth];

            ends[call] = i;
            if (full || last > call)
                bitset_set(kept, call);
        }
    }
    while (depth > 0)
        bitset_set(kept, open[--depth]);
    free(open);
}

static void walk(struct call_graph *graph, const struct run *run, const struct bitset *kept,
                 const uint32_t *ends)
{
    const struct model *model = graph->report->model;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];
        size_t depth = graph->stack.length;

        if (event->function >= model->function_count || event->letter == RUN_STEP)
            continue; // code that stands for a library's calls nothing of its own
        if (event->letter == RUN_CALL && !bitset_test(kept, i)) {
            i = ends[i];
            continue;
        }
        if (event->letter == RUN_CALL) {
            if (depth)
                add_edge(graph, graph->stack.data[depth - 1], event->function, false);
            function_vec_push(&graph->stack, event->function);
            bitset_set(&graph->visited, event->function);
        } else if (depth) {
            uint32_t from = graph->stack.data[--graph->stack.length];

            if (graph->stack.length)
                add_edge(graph, from, graph->stack.data[graph->stack.length - 1], true);
        }
    }
}

static void append_marks(const struct call_graph *graph, uint32_t function, struct strbuf *text)
{
    const struct path_mark_vec *marks = graph->report->marks;

    for (size_t m = 0; m < marks->length; m++) {
        const struct path_mark *mark = &marks->data[m];

        if (graph->report->model->nodes[mark->node].function.value != function ||
            mark->critical == UINT32_MAX || !path_counts(graph->report, 0, mark))
            continue;
        strbuf_printf(text, "\\n%+.4g ", mark->score);
        append_quoted(text, mark->words);
    }
}

static void write_graph(const struct call_graph *graph, FILE *stream)
{
    const struct model *model = graph->report->model;
    const struct function_vec *stack = &graph->stack;
    struct strbuf text = STRBUF_INIT;

    fprintf(stream, "digraph path {\n  node [shape=box, fontname=monospace];\n");
    for (size_t f = bitset_next(&graph->visited, 0); f < graph->visited.size;
         f = bitset_next(&graph->visited, f + 1)) {
        bool is_pending = false;

        for (size_t i = 0; i < stack->length; i++)
            is_pending |= stack->data[i] == f;
        strbuf_clear(&text);
        append_quoted(&text, model->functions[f].name);
        size_t before = text.length;
        append_marks(graph, (uint32_t)f, &text);
        fprintf(stream, "  f%zu [label=\"%s\"%s%s];\n", f, text.data,
                is_pending ? ", style=bold" : "", text.length > before ? ", color=red" : "");
    }
    for (size_t i = 0; i < graph->edges.length; i++)
        fprintf(stream, "  f%u -> f%u [label=\"%s\"%s];\n", graph->edges.data[i].from,
                graph->edges.data[i].to, graph->edges.data[i].label.data,
                graph->edges.data[i].returns ? ", style=dashed" : "");
    fprintf(stream, "}\n");
    strbuf_deinit(&text);
}

void path_write_dot(const struct path_report *report, const struct path_style *style, FILE *stream)
{
    struct call_graph graph = {.report = report};
    struct path_notes notes = {0};
    struct bitset kept = BITSET_INIT;

    bitset_init(&graph.visited, report->model->function_count);
    if (report->answer->count) {
        const struct run *run = &report->answer->paths[0].found.run;
        uint32_t *ends = xcalloc(run->count + 1u, sizeof(*ends));

        path_notes_init(&notes, report, 0);
        bitset_init(&kept, run->count + 1u);
        find_calls(run, &notes, style->full, &kept, ends);
        walk(&graph, run, &kept, ends);
        free(ends);
    }
    write_graph(&graph, stream);
    for (size_t i = 0; i < graph.edges.length; i++)
        strbuf_deinit(&graph.edges.data[i].label);
    call_edge_vec_deinit(&graph.edges);
    function_vec_deinit(&graph.stack);
    bitset_deinit(&graph.visited);
    bitset_deinit(&kept);
    path_notes_deinit(&notes);
}

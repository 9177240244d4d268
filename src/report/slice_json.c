// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>

#include "common/json.h"
#include "common/json_stream.h"
#include "common/strbuf.h"
#include "program/model.h"
#include "report/node_json.h"
#include "report/slice.h"

static json_t *number_or_null(bool known, uint32_t number)
{
    return known ? json_integer(number) : json_null();
}

// Its node's position, with its own line.
static json_t *insn_json(const struct slice_report *report, struct insn_id insn, uint32_t frame)
{
    struct module_id module;
    struct slice_place place;
    uint32_t index;
    json_t *item = node_json(report->model, dependence_insn_node(report->dependence, insn).value);

    dependence_insn_at(report->dependence, insn, &module, &index);
    if (slice_place_of(report, insn, &place)) {
        json_object_set_new(item, "file", json_text(place.file));
        json_object_set_new(item, "line", json_integer(place.line));
        json_object_set_new(item, "column", json_integer(place.column));
    }
    json_object_set_new(item, "insn", json_integer(index));
    json_object_set_new(
        item, "frame",
        number_or_null(
            frame < report->stack.length && report->stack.data[frame].number != MODEL_NONE,
            frame < report->stack.length ? report->stack.data[frame].number : 0));
    return item;
}

static void set_memory(const struct slice_report *report, json_t *item, struct class_id memory)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    if (memory.value != UINT32_MAX)
        json_object_set_new(item, "memory",
                            json_text(dependence_class_name(report->dependence, memory, &text)));
}

static void write_criterion(const struct slice_report *report, struct json_stream *out)
{
    json_stream_open(out, "criterion", '[');
    for (size_t i = 0; i < report->criterion.length; i++) {
        const struct slice_start *start = &report->criterion.data[i];
        json_t *item = insn_json(report, start->insn, start->frame);

        json_object_set_new(item, "value", json_boolean(start->with_value));
        set_memory(report, item, start->memory);
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

static json_t *insns_of(const struct slice_report *report, struct node_id node)
{
    const struct model_function *function =
        model_function(report->model, model_node(report->model, node)->function);
    const struct code_node *in = model_code_node(report->model, node);
    const struct bitset *kept = &report->kept[report->kind].insns;
    json_t *insns = json_array();

    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++)
        if (bitset_test(kept, dependence_insn(report->dependence, function->module, i).value))
            json_array_append_new(insns, json_integer(i));
    return insns;
}

static void write_nodes(const struct slice_report *report, struct json_stream *out)
{
    const struct bitset *nodes = &report->kept[report->kind].nodes;

    json_stream_open(out, "nodes", '[');
    for (size_t n = bitset_next(nodes, 0); n < nodes->size; n = bitset_next(nodes, n + 1)) {
        json_t *item = node_json(report->model, (uint32_t)n);

        json_object_set_new(item, "insns", insns_of(report, (struct node_id){(uint32_t)n}));
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

static void write_lines(const struct slice_report *report, struct json_stream *out)
{
    struct slice_place_vec lines = VEC_INIT;

    slice_places_kept(report, report->kind, true, &lines);
    json_stream_open(out, "lines", '[');
    for (size_t i = 0; i < lines.length; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "file", json_text(lines.data[i].file));
        json_object_set_new(item, "line", json_integer(lines.data[i].line));
        json_stream_element(out, item);
    }
    json_stream_close(out);
    slice_place_vec_deinit(&lines);
}

static void write_sizes(const struct slice_report *report, struct json_stream *out)
{
    const struct slice_kept *own = &report->kept[report->kind];
    const struct slice_kept *stack = &report->kept[SLICE_STACK];
    const struct slice_kept *any = &report->kept[SLICE_STATIC];
    bool has_stack = stack->known && stack->complete, has_any = any->known && any->complete;
    double percent;

    json_stream_member(out, "kept_nodes", json_integer(own->node_count));
    json_stream_member(out, "kept_lines", json_integer(own->line_count));
    json_stream_member(out, "kept_insns", json_integer((json_int_t)bitset_count(&own->insns)));
    json_stream_member(out, "stack_nodes", number_or_null(has_stack, stack->node_count));
    json_stream_member(out, "stack_lines", number_or_null(has_stack, stack->line_count));
    json_stream_member(out, "static_nodes", number_or_null(has_any, any->node_count));
    json_stream_member(out, "static_lines", number_or_null(has_any, any->line_count));
    json_stream_member(
        out, "reduction",
        slice_reduction(report, SLICE_STACK, &percent) ? json_real(percent) : json_null());
}

static json_t *part_json(const struct slice_report *report, uint32_t frame)
{
    static const char *const keys[SLICE_KINDS] = {
        [SLICE_STACK] = "stack_nodes", [SLICE_STATIC] = "static_nodes"};
    const struct slice_frame *one = &report->stack.data[frame];
    const uint32_t *counts = report->parts.data[frame].node_counts;
    json_t *item = json_object();

    json_object_set_new(item, "frame", number_or_null(one->number != MODEL_NONE, one->number));
    json_object_set_new(item, "function",
                        json_text(model_function(report->model, one->function)->name));
    json_object_set_new(item, "kept_nodes",
                        number_or_null(counts[report->kind] != MODEL_NONE, counts[report->kind]));
    for (uint32_t k = SLICE_STACK; k < SLICE_KINDS; k++)
        json_object_set_new(item, keys[k], number_or_null(counts[k] != MODEL_NONE, counts[k]));
    return item;
}

static void write_parts(const struct slice_report *report, struct json_stream *out)
{
    json_stream_open(out, "frames", '[');
    for (size_t i = 0; i < report->parts.length; i++)
        json_stream_element(out, part_json(report, (uint32_t)i));
    json_stream_close(out);
}

static void write_why(const struct slice_report *report, struct json_stream *out)
{
    json_stream_open(out, "why", '[');
    for (size_t i = 0; i < report->chain.length; i++) {
        const struct slice_link *link = &report->chain.data[i];
        json_t *item = insn_json(report, link->insn, link->frame);

        json_object_set_new(item, "reason", json_string(slice_reason_name(link->reason)));
        if (link->reason == SLICE_BY_MEMORY)
            set_memory(report, item, link->memory);
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

struct error *slice_write_json(const struct slice_report *report, FILE *stream)
{
    struct json_stream out;

    json_stream_begin(&out, stream, "slice/1");
    json_stream_member(&out, "kind", json_string(slice_kind_name(report->kind)));
    json_stream_member(&out, "direction",
                       json_string(report->flags & SLICE_FORWARD ? "forward" : "backward"));
    json_stream_member(&out, "intra", json_boolean(report->flags & SLICE_INTRA));
    write_criterion(report, &out);
    write_sizes(report, &out);
    if (report->by_frame)
        write_parts(report, &out);
    write_lines(report, &out);
    write_nodes(report, &out);
    if (report->why)
        write_why(report, &out);
    return json_stream_end(&out, slice_report_complete(report));
}

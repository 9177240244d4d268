// SPDX-License-Identifier: Apache-2.0
#include "report/steps.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "program/model.h"
#include "solve/product.h"

// A stretch that is repeated is looked for up to this length.
#define REPEATED_MOST 16u

struct step_line {
    uint32_t file, line;
};
VEC_DEFINE(step_line_vec, struct step_line);

struct stepping {
    const struct model *model;
    const struct run *run;
    const struct steps_style *style;
    struct step_vec *steps;
    uint32_t depth;
    bool enters;
};

// ---- Lines

// Is this line the one that control was on before calls that are not shown?
static bool goes_on(const struct step_vec *steps, const struct step_piece *piece)
{
    size_t at = steps->length;

    while (at > 0 && steps->length - at < REPEATED_MOST && steps->data[at - 1].hidden &&
           steps->data[at - 1].depth == piece->depth + 1)
        at--;
    if (at == 0 || at == steps->length)
        return false;
    const struct step_piece *before = &steps->data[at - 1];
    return before->depth == piece->depth && before->function == piece->function &&
           before->file == piece->file && before->last == piece->first;
}

// Can the piece be part of the last one?
static bool joins(const struct stepping *stepping, const struct step_piece *last,
                  const struct step_piece *piece)
{
    uint32_t most = last->mark || piece->mark ? 0 : stepping->style->join;

    return !piece->enters && !last->hidden && last->depth == piece->depth &&
           last->function == piece->function && last->file == piece->file &&
           piece->first >= last->last && piece->first <= last->last + most &&
           !(last->mark && piece->mark);
}

static void add_line(struct stepping *stepping, const struct step_line *line, uint32_t function,
                     uint32_t mark)
{
    struct step_vec *steps = stepping->steps;
    struct step_piece piece = {.depth = stepping->depth,
                               .function = function,
                               .file = line->file,
                               .first = line->line,
                               .last = line->line,
                               .enters = stepping->enters,
                               .mark = mark};
    struct step_piece *last = steps->length ? &steps->data[steps->length - 1] : NULL;

    stepping->enters = false;
    if (!line->line && !piece.enters && !mark)
        return;
    if (last && joins(stepping, last, &piece)) {
        last->last = piece.last;
        last->mark |= mark;
    } else if (piece.enters || mark || !goes_on(steps, &piece))
        step_vec_push(steps, piece);
}

// The lines of a node, in the order of its instructions.
static void lines_of(const struct stepping *stepping, uint32_t node, uint32_t insn,
                     struct step_line_vec *ret)
{
    const struct model *model = stepping->model;
    const struct model_node *n = &model->nodes[node];
    const struct model_module *module =
        model_module(model, model_function(model, n->function)->module);
    struct step_line first = {n->file.value, n->line};

    ret->length = 0;
    if (insn && !stepping->style->all_lines) { // where control has come to in the node
        const struct code_node *code = model_code_node(model, (struct node_id){node});
        const struct place *place =
            code_own_place(module->code, module->code->insns[code->first_insn + insn].place);

        if (place)
            first = (struct step_line){module->files[place->file].value, place->line};
    }
    if (!stepping->style->all_lines || !module->code) {
        step_line_vec_push(ret, first);
        return;
    }
    const struct code_node *in = model_code_node(model, (struct node_id){node});
    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        const struct place *place = code_own_place(module->code, module->code->insns[i].place);

        if (!place || !place->line)
            continue;
        struct step_line line = {module->files[place->file].value, place->line};
        bool has = false;
        for (size_t k = 0; !has && k < ret->length; k++)
            has = ret->data[k].file == line.file && ret->data[k].line == line.line;
        if (!has)
            step_line_vec_push(ret, line);
    }
    if (!ret->length)
        step_line_vec_push(ret, first);
}

static void add_step(struct stepping *stepping, uint32_t event)
{
    const struct steps_style *style = stepping->style;
    uint32_t node = stepping->run->events[event].node, function;
    uint32_t mark = style->marks ? style->marks[event] : 0;
    uint32_t line = mark && style->mark_lines ? style->mark_lines[event] : 0;
    struct step_line_vec lines = VEC_INIT;
    size_t at = 0;

    lines_of(stepping, node, stepping->run->events[event].insn, &lines);
    function = stepping->model->nodes[node].function.value;
    if (line == UINT32_MAX)
        at = lines.length - 1;
    for (size_t i = 0; line && i < lines.length; i++)
        if (lines.data[i].line == line)
            at = i;
    // where a run ends, what is behind did not happen
    bool ends = mark && event + 1 == stepping->run->count && lines.data[at].line == line;
    for (size_t i = 0; i < (ends ? at + 1 : lines.length); i++)
        add_line(stepping, &lines.data[i], function, i == at ? mark : 0);
    step_line_vec_deinit(&lines);
}

// ---- Calls

// By event: where a call came back, 0: it did not; and whether there is a mark in it.
static uint32_t *find_ends(const struct run *run, const struct steps_style *style)
{
    uint32_t *ends = xcalloc(run->count + 1u, sizeof(*ends));
    uint32_t *open = xmalloc_array(run->count + 1u, sizeof(*open)), depth = 0, last_mark = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        if (style->marks && style->marks[i])
            last_mark = i + 1;
        if (run->events[i].letter == RUN_CALL)
            open[depth++] = i;
        else if (run->events[i].letter == RUN_LEAVE && depth) {
            uint32_t call = open[--depth];

            ends[call] = last_mark > call ? 0 : i;
        }
    }
    free(open);
    return ends;
}

// A call that is not shown; its nodes are counted.
static void add_call(struct stepping *stepping, uint32_t from, uint32_t to)
{
    uint32_t function = stepping->run->events[from].function, nodes = 0;
    const struct model_function *f = &stepping->model->functions[function];

    for (uint32_t i = from; i < to; i++)
        nodes += stepping->run->events[i].letter == RUN_STEP && !stepping->run->events[i].insn &&
                 stepping->run->events[i].node < stepping->model->node_count;
    if (nodes)
        step_vec_push(stepping->steps, (struct step_piece){.depth = stepping->depth + 1,
                                                           .function = function,
                                                           .file = f->file.value,
                                                           .first = f->line,
                                                           .last = f->line,
                                                           .enters = true,
                                                           .hidden = nodes});
}

void steps_of_run(const struct model *model, const struct run *run, const struct steps_style *style,
                  struct step_vec *ret)
{
    struct stepping stepping = {model, run, style, ret, 0, true};
    uint32_t *ends = style->hide_calls ? find_ends(run, style) : NULL;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        if (event->letter == RUN_CALL) {
            if (ends && ends[i] && event->function < model->function_count) {
                add_call(&stepping, i, ends[i]);
                i = ends[i];
                continue;
            }
            stepping.depth++;
            stepping.enters = true;
        } else if (event->letter == RUN_LEAVE)
            stepping.depth -= stepping.depth > 0;
        else if (event->node < model->node_count)
            add_step(&stepping, i);
        else
            stepping.enters = false;
    }
    free(ends);
}

// ---- Loops

static bool same_piece(const struct step_piece *a, const struct step_piece *b)
{
    return a->depth == b->depth && a->function == b->function && a->file == b->file &&
           a->first == b->first && a->last == b->last && a->enters == b->enters &&
           !a->hidden == !b->hidden && a->mark == b->mark;
}

// How often pieces at..at+length-1 are repeated right behind.
static uint32_t repeats(const struct step_vec *steps, size_t at, size_t length)
{
    uint32_t count = 1;

    for (size_t next = at + length; next + length <= steps->length; next += length, count++)
        for (size_t i = 0; i < length; i++)
            if (!same_piece(&steps->data[at + i], &steps->data[next + i]))
                return count;
    return count;
}

uint32_t steps_repeats(const struct step_vec *steps, size_t at, size_t *length)
{
    for (*length = 1; *length <= REPEATED_MOST && at + 2 * *length <= steps->length; ++*length) {
        uint32_t count = repeats(steps, at, *length);

        if (count > 1)
            return count;
    }
    *length = 1;
    return 1;
}

uint32_t steps_base(const struct step_vec *steps)
{
    uint32_t base = UINT32_MAX;

    for (size_t i = 0; i < steps->length; i++)
        if (steps->data[i].depth < base)
            base = steps->data[i].depth;
    return base;
}

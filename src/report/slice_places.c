// SPDX-License-Identifier: Apache-2.0
// Where instructions are in the source.
#include <stdlib.h>
#include <string.h>

#include "program/model.h"
#include "report/slice.h"

bool slice_place_of(const struct slice_report *report, struct insn_id insn, struct slice_place *ret)
{
    struct module_id module;
    uint32_t index;
    const struct insn *one = dependence_insn_at(report->dependence, insn, &module, &index);
    const struct model_module *in = model_module(report->model, module);
    const struct place *place = code_place(in->code, one->place);

    if (!place || !place->line)
        return false;
    const char *file = model_file_path(report->model, in->files[place->file]);
    struct node_id node = dependence_insn_node(report->dependence, insn);
    *ret = (struct slice_place){.function = model_node(report->model, node)->function,
                                .file = file,
                                .line = place->line,
                                .column = place->column,
                                .insn = insn};
    return file != NULL;
}

static int by_file_and_line(const void *left, const void *right)
{
    const struct slice_place *a = left, *b = right;
    int order = a->file == b->file ? 0 : strcmp(a->file, b->file);

    if (order)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->insn.value < b->insn.value ? -1 : a->insn.value > b->insn.value;
}

static int by_function(const void *left, const void *right)
{
    const struct slice_place *a = left, *b = right;

    if (a->function.value != b->function.value)
        return a->function.value < b->function.value ? -1 : 1;
    return by_file_and_line(a, b);
}

static void leave_one_a_line(struct slice_place_vec *places)
{
    size_t count = 0;

    for (size_t i = 0; i < places->length; i++) {
        const struct slice_place *here = &places->data[i];
        const struct slice_place *last = count ? &places->data[count - 1] : NULL;

        if (last && here->line == last->line && strcmp(here->file, last->file) == 0)
            continue;
        places->data[count++] = *here;
    }
    places->length = count;
}

void slice_places(const struct slice_report *report, const struct insn_id *insns, size_t count,
                  bool by_line, struct slice_place_vec *ret)
{
    struct slice_place place;

    for (size_t i = 0; i < count; i++)
        if (slice_place_of(report, insns[i], &place))
            slice_place_vec_push(ret, place);
    if (!ret->length)
        return;
    qsort(ret->data, ret->length, sizeof(*ret->data), by_line ? by_file_and_line : by_function);
    if (by_line)
        leave_one_a_line(ret);
}

void slice_places_kept(const struct slice_report *report, enum slice_kind kind, bool by_line,
                       struct slice_place_vec *ret)
{
    const struct bitset *kept = &report->kept[kind].insns;
    struct insn_vec insns = VEC_INIT;

    for (size_t i = bitset_next(kept, 0); i < kept->size; i = bitset_next(kept, i + 1))
        insn_vec_push(&insns, (struct insn_id){(uint32_t)i});
    slice_places(report, insns.data, insns.length, by_line, ret);
    insn_vec_deinit(&insns);
}

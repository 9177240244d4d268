// SPDX-License-Identifier: Apache-2.0
// What each vertex of the dependence graph depends on.
#include "slice/expand.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "solve/view.h"

// An access to more classes than this is one to many.
#define MANY_CLASSES 4u

// ---- Values

static uint32_t value_vertex(struct slicer *slicer, uint32_t activation, uint32_t position)
{
    struct spot spot = spot_at(slicer, activation, position);
    struct site_id site;
    bool results = site_of(slicer, &spot, &site) && enters_model(slicer, site);

    return vertex_at(slicer, activation, results ? VERTEX_RESULT : VERTEX_INSN, position);
}

// The value of another node's instruction, in a frame: of its copies that control came from last.
static void need_earlier_value(struct slicer *slicer, const struct spot *user, uint32_t insn)
{
    const struct activation *a = activation_of(slicer, user->activation);
    const struct code_node *node = &user->code->nodes[user->code->insns[insn].node];
    uint32_t first_node = model_module(slicer->model, user->module)->first_node;
    uint32_t defining = first_node + user->code->insns[insn].node;
    uint32_t *work = xmalloc_array(a->copy_count + 1u, sizeof(*work)), count = 0;
    struct bitset seen;

    bitset_init(&seen, a->copy_count);
    work[count++] = user->copy;
    while (count) {
        uint32_t copy = work[--count];

        a = activation_of(slicer, user->activation);
        for (uint32_t b = a->before_start[copy]; b < a->before_start[copy + 1]; b++) {
            uint32_t before = a->before[b];

            if (bitset_test_and_set(&seen, before))
                continue;
            if (activation_node(slicer, a, before) != defining) {
                work[count++] = before;
                continue;
            }
            vertex_needs(slicer,
                         value_vertex(slicer, user->activation,
                                      a->first[before] + (insn - node->first_insn)),
                         SLICE_BY_VALUE);
            a = activation_of(slicer, user->activation);
        }
    }
    bitset_deinit(&seen);
    free(work);
}

static void need_operand(struct slicer *slicer, const struct spot *user, struct operand operand)
{
    const struct activation *a = activation_of(slicer, user->activation);
    uint32_t index = operand_index(operand);

    if (operand_kind(operand) == OPERAND_ARGUMENT) {
        uint32_t function = user->code->arguments[index].function;

        index -= user->code->functions[function].first_argument;
        vertex_needs(slicer, vertex_at(slicer, user->activation, VERTEX_ARGUMENT, index),
                     SLICE_BY_VALUE);
        return;
    }
    if (operand_kind(operand) != OPERAND_INSN)
        return;
    if (!a->view) {
        struct insn_id id = dependence_insn(slicer->dependence, user->module, index);

        vertex_needs(slicer,
                     value_vertex(slicer, user->activation, activation_position(slicer, a, id)),
                     SLICE_BY_VALUE);
    } else if (user->code->insns[index].node == user->insn->node && index < user->index)
        vertex_needs(slicer,
                     value_vertex(slicer, user->activation, user->position - (user->index - index)),
                     SLICE_BY_VALUE);
    else
        need_earlier_value(slicer, user, index);
}

// ---- Control

// The copy's last instruction decides where control goes on.
static void need_decision(struct slicer *slicer, uint32_t activation, uint32_t copy)
{
    const struct activation *a = activation_of(slicer, activation);

    if (a->first[copy] == a->first[copy + 1])
        return;
    uint32_t position = a->first[copy + 1] - 1;
    struct spot spot = spot_at(slicer, activation, position);
    struct site_id site;
    bool comes_back = site_of(slicer, &spot, &site) && enters_model(slicer, site);

    vertex_needs(
        slicer,
        vertex_at(slicer, activation, comes_back ? VERTEX_CALL_BACK : VERTEX_INSN, position),
        SLICE_BY_CONTROL);
}

static bool controls(struct control control, uint32_t node)
{
    for (uint32_t i = 0; i < control.count; i++)
        if (control.nodes[i].value == node)
            return true;
    return false;
}

// Figure 5, on the graph of copies: the nearest decisions on the ways that lead to the copy.
static void need_nearest_decisions(struct slicer *slicer, uint32_t activation, uint32_t from,
                                   struct control control)
{
    const struct activation *a = activation_of(slicer, activation);
    uint32_t *work = xmalloc_array(a->copy_count + 1u, sizeof(*work)), count = 0;
    struct bitset seen;
    bool entry = bitset_test(&a->is_start, from);

    bitset_init(&seen, a->copy_count);
    work[count++] = from;
    while (count) {
        uint32_t copy = work[--count];

        a = activation_of(slicer, activation);
        for (uint32_t b = a->before_start[copy]; b < a->before_start[copy + 1]; b++) {
            uint32_t before = a->before[b];

            if (bitset_test_and_set(&seen, before))
                continue;
            if (controls(control, activation_node(slicer, a, before))) {
                need_decision(slicer, activation, before);
                a = activation_of(slicer, activation);
                continue;
            }
            work[count++] = before;
            entry |= bitset_test(&a->is_start, before);
        }
    }
    if (entry)
        vertex_needs(slicer, vertex_at(slicer, activation, VERTEX_ENTRY, 0), SLICE_BY_CONTROL);
    bitset_deinit(&seen);
    free(work);
}

static void expand_node(struct slicer *slicer, struct vertex vertex)
{
    const struct activation *a = activation_of(slicer, vertex.activation);
    uint32_t node = activation_node(slicer, a, vertex.index);
    struct control control = dependence_control(slicer->dependence, (struct node_id){node});
    uint32_t first = slicer->model->functions[a->function].first_node;

    if (a->view) {
        need_nearest_decisions(slicer, vertex.activation, vertex.index, control);
        return;
    }
    for (uint32_t i = 0; i < control.count; i++)
        if (slicer_may_run(slicer, control.nodes[i].value))
            need_decision(slicer, vertex.activation, control.nodes[i].value - first);
    if (control.is_entry)
        vertex_needs(slicer, vertex_at(slicer, vertex.activation, VERTEX_ENTRY, 0),
                     SLICE_BY_CONTROL);
}

// ---- Instructions

// Which of the values it was depends on where control came from.
static void expand_phi(struct slicer *slicer, const struct spot *spot)
{
    uint32_t first_node = model_module(slicer->model, spot->module)->first_node;

    for (uint32_t i = 0; i + 1 < spot->insn->operand_count; i += 2) {
        struct operand from = code_operand(spot->code, spot->insn, i + 1);
        bool is_node = operand_kind(from) == OPERAND_NODE;
        uint32_t node = first_node + operand_index(from);

        if (is_node && !slicer_may_run(slicer, node))
            continue; // control never came from there
        need_operand(slicer, spot, code_operand(spot->code, spot->insn, i));
        if (!is_node)
            continue;
        const struct activation *a = activation_of(slicer, spot->activation);
        if (!a->view)
            need_decision(slicer, spot->activation,
                          node - slicer->model->functions[a->function].first_node);
        for (uint32_t b = a->view ? a->before_start[spot->copy] : 0;
             a->view && b < a->before_start[spot->copy + 1]; b++) {
            if (activation_node(slicer, a, a->before[b]) == node)
                need_decision(slicer, spot->activation, a->before[b]);
            a = activation_of(slicer, spot->activation);
        }
    }
}

// What the library does depends on what the functions that it calls answer, and leave in memory.
static void expand_callbacks(struct slicer *slicer, struct vertex vertex, struct site_id site,
                             struct class_set reads)
{
    uint32_t self = slicer->now;

    vertex_needs(slicer, vertex_at(slicer, vertex.activation, VERTEX_RESULT, vertex.index),
                 SLICE_BY_RESULT);
    for (uint32_t i = 0; i < reads.count; i++)
        if (callee_writes(slicer, site, reads.data[i].value) &&
            !need_anytime(slicer, reads.data[i].value))
            vertex_needs(slicer, vertex_of(slicer, self, VERTEX_AFTER_CALL, reads.data[i].value),
                         SLICE_BY_MEMORY);
}

/*
 * Of what a function of the model is given, formals ask for what is a value. Structs that are
 * copied for it and arguments beyond the fixed ones are memory, which the call writes.
 */
static void need_passed(struct slicer *slicer, const struct spot *spot, struct site_id site)
{
    struct function_list callees = model_callees(slicer->model, site);
    uint32_t count = code_call(spot->code, spot->insn)->argument_count;

    for (uint32_t c = 0; c < callees.count; c++) {
        const struct model_function *f = model_function(slicer->model, callees.data[c]);
        const struct code *code = model_module(slicer->model, f->module)->code;
        const struct code_function *body = &code->functions[f->index];

        for (uint32_t i = 0; i < count; i++)
            if (i < body->argument_count
                    ? code->arguments[body->first_argument + i].flags & ARGUMENT_BYVAL
                    : f->flags & FUNCTION_VARARGS)
                need_operand(slicer, spot, code_operand(spot->code, spot->insn, i));
    }
}

// Where a call returns twice, its result is what a jump was given.
static void need_jumps(struct slicer *slicer)
{
    const struct model *model = slicer->model;

    for (uint32_t s = 0; s < model->site_count; s++) {
        if (!(model->sites[s].flags & (SITE_LONGJMP | SITE_MAY_LONGJMP)))
            continue;
        struct function_id function = model_site_function(model, (struct site_id){s});
        struct module_id module = model_function(model, function)->module;
        uint32_t insn = model_module(model, module)
                            ->code->sites[s - model_module(model, module)->first_site]
                            .insn;

        need_anywhere(slicer, dependence_insn(slicer->dependence, module, insn));
    }
}

/*
 * Memory that the instruction reads. Of an access that may mean many classes, none is written for
 * certain by anything like it: in completed calls those that are wide need no search.
 */
static void need_reads(struct slicer *slicer, struct vertex vertex, struct class_set reads)
{
    bool many = reads.count > MANY_CLASSES && !(slicer->flags & SLICE_INTRA) &&
                !activation_of(slicer, vertex.activation)->view;

    if (many)
        vertex_needs(slicer, vertex_of_set(slicer, reads), SLICE_BY_MEMORY);
    for (uint32_t i = 0; i < reads.count; i++)
        if (!many || !bitset_test(&slicer->wide, reads.data[i].value))
            vertex_needs(slicer, vertex_of(slicer, slicer->now, VERTEX_BEFORE, reads.data[i].value),
                         SLICE_BY_MEMORY);
}

static void expand_insn(struct slicer *slicer, struct vertex vertex)
{
    struct spot spot = spot_at(slicer, vertex.activation, vertex.index);
    struct class_set reads = dependence_accesses(slicer->dependence, spot.id).reads;
    struct site_id site;

    vertex_needs(slicer, vertex_at(slicer, vertex.activation, VERTEX_NODE, spot.copy),
                 SLICE_BY_CONTROL);
    if (spot.insn->opcode == INSN_PHI)
        expand_phi(slicer, &spot);
    else if (site_of(slicer, &spot, &site) && !enters_library(slicer, site) &&
             !(slicer->flags & SLICE_INTRA)) {
        need_operand(slicer, &spot, code_callee(spot.code, spot.insn));
        need_passed(slicer, &spot, site);
    } else
        for (uint32_t i = 0; i < spot.insn->operand_count; i++)
            need_operand(slicer, &spot, code_operand(spot.code, spot.insn, i));
    need_reads(slicer, vertex, reads);
    if (site_of(slicer, &spot, &site) && !(slicer->flags & SLICE_INTRA) &&
        model_site(slicer->model, site)->flags & SITE_RETURNS_TWICE)
        need_jumps(slicer);
    if (site_of(slicer, &spot, &site) && model_callbacks(slicer->model, site).count &&
        !(slicer->flags & SLICE_INTRA))
        expand_callbacks(slicer, vertex, site, reads);
}

static void expand_actual(struct slicer *slicer, struct vertex vertex)
{
    struct spot spot = spot_at(slicer, vertex.activation, vertex.index);
    struct site_id site;
    uint32_t count = code_call(spot.code, spot.insn)->argument_count;

    vertex_needs(slicer, insn_vertex(slicer, vertex.activation, vertex.index), SLICE_BY_CALL);
    if (vertex.class < count)
        need_operand(slicer, &spot, code_operand(spot.code, spot.insn, vertex.class));
    // what the library passes on may be any of what it was given
    if (site_of(slicer, &spot, &site) && model_callbacks(slicer->model, site).count)
        for (uint32_t i = 0; i < count; i++)
            need_operand(slicer, &spot, code_operand(spot.code, spot.insn, i));
}

// ---- What calls leave behind

// Calls each function of the model that the call may enter.
typedef void callee_visit(struct slicer *slicer, uint32_t function, uint32_t class);

static void for_callees(struct slicer *slicer, struct site_id site, callee_visit *visit,
                        uint32_t class)
{
    struct function_list lists[] = {model_callees(slicer->model, site),
                                    model_callbacks(slicer->model, site)};

    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l].count; i++)
            visit(slicer, lists[l].data[i].value, class);
}

static void ask_result(struct slicer *slicer, uint32_t function, uint32_t class)
{
    (void)class;
    vertex_asks_callee(slicer, function, CONTEXT_RESULT,
                       vertex_at(slicer, slicer_shared(slicer, function), VERTEX_EXIT, 0));
}

static void ask_back(struct slicer *slicer, uint32_t function, uint32_t class)
{
    (void)class;
    if (dependence_may_stay(slicer->dependence, (struct function_id){function}))
        vertex_asks_callee(slicer, function, CONTEXT_BACK,
                           vertex_at(slicer, slicer_shared(slicer, function), VERTEX_BACK, 0));
}

static void ask_memory(struct slicer *slicer, uint32_t function, uint32_t class)
{
    uint32_t exit;

    if (!function_writes(slicer, function, class))
        return;
    exit = vertex_at(slicer, slicer_shared(slicer, function), VERTEX_EXIT, 0);
    vertex_asks_callee(slicer, function, context_of_class(class),
                       vertex_of(slicer, exit, VERTEX_AT_EXIT, class));
}

static void ask_jump(struct slicer *slicer, uint32_t function, uint32_t class)
{
    uint32_t exit;

    if (!function_writes(slicer, function, class) ||
        !dependence_may_jump(slicer->dependence, (struct function_id){function}))
        return;
    exit = vertex_at(slicer, slicer_shared(slicer, function), VERTEX_EXIT, 0);
    vertex_asks_callee(slicer, function, CONTEXT_JUMP,
                       vertex_of(slicer, exit, VERTEX_AT_JUMP, class));
}

static void expand_after_call(struct slicer *slicer, struct vertex vertex, callee_visit *visit)
{
    struct spot spot = spot_at(slicer, vertex.activation, vertex.index);
    struct site_id site;

    vertex_needs(slicer, insn_vertex(slicer, vertex.activation, vertex.index), SLICE_BY_RESULT);
    if (!(slicer->flags & SLICE_INTRA) && site_of(slicer, &spot, &site))
        for_callees(slicer, site, visit, vertex.class);
}

// Each return of the function that may have been executed.
static void for_returns(struct slicer *slicer, struct vertex vertex, bool value)
{
    const struct model_function *f =
        &slicer->model->functions[activation_of(slicer, vertex.activation)->function];

    for (uint32_t n = 0; n < f->node_count; n++) {
        if (!(slicer->model->nodes[f->first_node + n].flags & NODE_RETURN) ||
            !slicer_may_run(slicer, f->first_node + n))
            continue;
        uint32_t end = activation_of(slicer, vertex.activation)->first[n + 1];
        vertex_needs(slicer,
                     value ? insn_vertex(slicer, vertex.activation, end - 1)
                           : vertex_at(slicer, vertex.activation, VERTEX_NODE, n),
                     value ? SLICE_BY_VALUE : SLICE_BY_CONTROL);
    }
}

// ---- What a function is given

uint32_t slicer_actual(struct slicer *slicer, uint32_t activation, uint32_t position,
                       const struct vertex *formal)
{
    uint32_t base = insn_vertex(slicer, activation, position);

    if (formal->kind == VERTEX_ENTRY)
        return base;
    if (formal->kind == VERTEX_ARGUMENT)
        return vertex_of(slicer, base, VERTEX_ACTUAL, formal->index);
    return vertex_of(slicer, base, VERTEX_BEFORE_CALLEE, formal->class);
}

static bool is_root(const struct model *model, uint32_t function)
{
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].function.value == function)
            return true;
    return false;
}

// A handler sees the frame that it interrupted at any moment of the node it stood at.
static void need_interrupted(struct slicer *slicer, const struct vertex *formal,
                             uint32_t activation)
{
    const struct activation *above = activation_of(slicer, activation);

    for (uint32_t i = 0; i < above->view->end_count; i++) {
        uint32_t copy = above->view->end[i];

        if (formal->kind == VERTEX_ENTRY)
            vertex_needs(slicer, vertex_at(slicer, activation, VERTEX_NODE, copy),
                         SLICE_BY_CONTROL);
        if (formal->kind == VERTEX_AT_ENTRY) {
            need_in_copy(slicer, activation, copy, above->first[copy + 1], CAME_BY, false,
                         formal->class);
            need_at_copy(slicer, activation, copy, formal->class);
        }
        above = activation_of(slicer, activation);
    }
}

static void need_from_above(struct slicer *slicer, const struct vertex *formal, uint32_t activation)
{
    const struct activation *above = activation_of(slicer, activation);

    for (uint32_t i = 0; i < above->view->end_count; i++) {
        uint32_t copy = above->view->end[i];

        if (above->first[copy] != above->first[copy + 1])
            vertex_needs(slicer,
                         slicer_actual(slicer, activation, above->first[copy + 1] - 1, formal),
                         SLICE_BY_CALL);
        above = activation_of(slicer, activation);
    }
}

// Frames above are not known: from any call.
static void need_from_anyone(struct slicer *slicer, const struct vertex *formal, uint32_t function)
{
    uint32_t shared = slicer_shared(slicer, function), to;

    if (formal->kind == VERTEX_AT_ENTRY)
        to = vertex_of(slicer, vertex_at(slicer, shared, VERTEX_ENTRY, 0), VERTEX_AT_ENTRY,
                       formal->class);
    else
        to = vertex_at(slicer, shared, formal->kind, formal->index);
    vertex_needs_anywhere(slicer, to, SLICE_BY_CALL);
}

static void expand_formal(struct slicer *slicer, struct vertex vertex)
{
    const struct activation *a = activation_of(slicer, vertex.activation);
    uint32_t above = a->above, function = a->function;
    enum entered_kind entered = a->entered;

    if (slicer->flags & SLICE_INTRA)
        return;
    if (a->frame == MODEL_NONE) {
        if (vertex.kind == VERTEX_AT_ENTRY && is_root(slicer->model, function))
            need_earlier_roots(slicer, function, vertex.class);
        return;
    }
    if (above >= slicer->frame_count && entered != ENTERED_BY_START)
        entered = ENTERED_BY_ANYONE;
    switch (entered) {
    case ENTERED_BY_CALL:
        need_from_above(slicer, &vertex, above);
        break;
    case ENTERED_BY_HANDLER:
        need_interrupted(slicer, &vertex, above);
        break;
    case ENTERED_BY_ANYONE:
        need_from_anyone(slicer, &vertex, function);
        break;
    case ENTERED_BY_START:
        if (vertex.kind == VERTEX_AT_ENTRY)
            need_earlier_roots(slicer, function, vertex.class);
        break;
    }
}

void slicer_expand(struct slicer *slicer, uint32_t id)
{
    struct vertex vertex = slicer->vertices.data[id];

    switch ((enum vertex_kind)vertex.kind) {
    case VERTEX_INSN:
        expand_insn(slicer, vertex);
        break;
    case VERTEX_NODE:
        expand_node(slicer, vertex);
        break;
    case VERTEX_ENTRY:
    case VERTEX_ARGUMENT:
    case VERTEX_AT_ENTRY:
        expand_formal(slicer, vertex);
        break;
    case VERTEX_RESULT:
        expand_after_call(slicer, vertex, ask_result);
        break;
    case VERTEX_CALL_BACK:
        expand_after_call(slicer, vertex, ask_back);
        break;
    case VERTEX_AFTER_CALL:
        expand_after_call(slicer, vertex, ask_memory);
        break;
    case VERTEX_AFTER_JUMP:
        expand_after_call(slicer, vertex, ask_jump);
        break;
    case VERTEX_EXIT:
        for_returns(slicer, vertex, true);
        break;
    case VERTEX_BACK:
        for_returns(slicer, vertex, false);
        break;
    case VERTEX_ACTUAL:
        expand_actual(slicer, vertex);
        break;
    case VERTEX_BEFORE:
    case VERTEX_BEFORE_CALLEE:
        expand_before(slicer, vertex);
        break;
    case VERTEX_AT_COPY:
        expand_at_copy(slicer, vertex);
        break;
    case VERTEX_AT_EXIT:
    case VERTEX_AT_JUMP:
        expand_at_exit(slicer, vertex);
        break;
    case VERTEX_ASYNCHRONOUS:
        for (uint32_t i = 0; i < slicer->lists.data[vertex.index].count; i++)
            need_anywhere(slicer, slicer->lists.data[vertex.index].data[i]);
        break;
    case VERTEX_ANYTIME:
        expand_anytime(slicer, vertex);
        break;
    case VERTEX_WRITERS:
        for (size_t i = 0; i < slicer->writers.data[vertex.index].insns.length; i++)
            need_anywhere(slicer, slicer->writers.data[vertex.index].insns.data[i]);
        break;
    case VERTEX_MANY:
        for (uint32_t i = 0; i < slicer->sets.data[vertex.index].count; i++)
            need_anytime(slicer, slicer->sets.data[vertex.index].data[i].value);
        break;
    case VERTEX_KIND_COUNT:
        assert(false);
    }
}

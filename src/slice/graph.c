// SPDX-License-Identifier: Apache-2.0
/*
 * Vertices, and what is asked of them. A vertex of a frame is asked for or not. One of a shared
 * activation is asked for in contexts; when a formal of a function (its entry, an argument, memory
 * at its entry) is reached in a context, every call that asked for that part of what the function
 * leaves behind needs the actual: the summary edges of Horwitz, Reps and Binkley, found as they are
 * needed (Reps, Horwitz, Sagiv, Rosay 1994, backwards from what is asked for).
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/hash.h"
#include "slice/graph.h"

static uint32_t add_vertex(struct slicer *slicer, struct vertex vertex)
{
    vertex.first_edge = MODEL_NONE;
    vertex.parent = MODEL_NONE;
    vertex_vec_push(&slicer->vertices, vertex);
    return (uint32_t)slicer->vertices.length - 1;
}

uint32_t vertex_at(struct slicer *slicer, uint32_t activation, enum vertex_kind kind,
                   uint32_t index)
{
    bool is_new;

    assert(kind < VERTEX_FIRST_CLASSED && activation < 1u << 28);
    uint32_t *id = vertex_map_put_new(
        &slicer->plain, (uint64_t)activation << 35 | (uint64_t)kind << 32 | index, &is_new);
    if (is_new)
        *id = add_vertex(slicer, (struct vertex){.kind = (uint8_t)kind,
                                                 .activation = activation,
                                                 .index = index,
                                                 .class = MODEL_NONE});
    return *id;
}

uint32_t vertex_of(struct slicer *slicer, uint32_t base, enum vertex_kind kind, uint32_t class)
{
    bool is_new;

    assert(kind >= VERTEX_FIRST_CLASSED);
    uint32_t *id = vertex_map_put_new(&slicer->classed[kind - VERTEX_FIRST_CLASSED],
                                      (uint64_t)base << 32 | class, &is_new);
    if (is_new) {
        struct vertex vertex = {.kind = (uint8_t)kind,
                                .activation = slicer->vertices.data[base].activation,
                                .index = slicer->vertices.data[base].index,
                                .class = class};
        *id = add_vertex(slicer, vertex);
    }
    return *id;
}

uint32_t vertex_of_list(struct slicer *slicer, struct insn_list list)
{
    bool is_new;
    uint32_t *id =
        vertex_map_put_new(&slicer->asynchronous, (uint64_t)(uintptr_t)list.data, &is_new);

    if (is_new) {
        *id = add_vertex(
            slicer, (struct vertex){.kind = VERTEX_ASYNCHRONOUS,
                                    .activation = slicer->vertices.data[slicer->now].activation,
                                    .index = (uint32_t)slicer->lists.length,
                                    .class = MODEL_NONE});
        insn_list_vec_push(&slicer->lists, list);
    }
    return *id;
}

uint32_t vertex_of_set(struct slicer *slicer, struct class_set set)
{
    bool is_new;
    uint32_t *id =
        vertex_map_put_new(&slicer->asynchronous, (uint64_t)(uintptr_t)set.data, &is_new);

    if (is_new) {
        *id = add_vertex(
            slicer, (struct vertex){.kind = VERTEX_MANY,
                                    .activation = slicer->vertices.data[slicer->now].activation,
                                    .index = (uint32_t)slicer->sets.length,
                                    .class = MODEL_NONE});
        class_set_vec_push(&slicer->sets, set);
    }
    return *id;
}

uint32_t vertex_of_number(struct slicer *slicer, enum vertex_kind kind, uint32_t number)
{
    bool is_new;
    uint32_t *id = vertex_map_put_new(&slicer->by_number, (uint64_t)kind << 32 | number, &is_new);

    if (is_new)
        *id = add_vertex(
            slicer, (struct vertex){.kind = (uint8_t)kind,
                                    .activation = slicer->vertices.data[slicer->now].activation,
                                    .index = number,
                                    .class = kind == VERTEX_ANYTIME ? number : MODEL_NONE});
    return *id;
}

uint64_t context_of_class(uint32_t class)
{
    return UINT64_C(1) << (2 + hash_mix(class) % 60);
}

void vertex_ask(struct slicer *slicer, uint32_t id, uint64_t contexts, uint32_t parent,
                enum slice_reason reason)
{
    struct vertex *vertex = &slicer->vertices.data[id];

    if (slicer->activations.data[vertex->activation].frame != MODEL_NONE)
        contexts = contexts ? CONTEXT_ANY : 0;
    if (!(contexts & ~vertex->contexts))
        return;
    if (!vertex->contexts) {
        vertex->parent = parent;
        vertex->reason = (uint8_t)reason;
    }
    vertex->contexts |= contexts;
    if (!vertex->queued) {
        vertex->queued = true;
        vertex_id_vec_push(&slicer->work, id);
    }
}

static void add_edge(struct slicer *slicer, uint32_t from, uint32_t to, enum slice_reason reason,
                     bool any)
{
    struct vertex *vertex = &slicer->vertices.data[from];
    struct vertex_edge edge = {to, vertex->first_edge, (uint8_t)reason, any};

    vertex->first_edge = (uint32_t)slicer->edges.length;
    vertex_edge_vec_push(&slicer->edges, edge);
    vertex_ask(slicer, to, any ? CONTEXT_ANY : slicer->vertices.data[from].told, from, reason);
}

void vertex_needs(struct slicer *slicer, uint32_t to, enum slice_reason reason)
{
    if (to != slicer->now)
        add_edge(slicer, slicer->now, to, reason, false);
}

void vertex_needs_anywhere(struct slicer *slicer, uint32_t to, enum slice_reason reason)
{
    add_edge(slicer, slicer->now, to, reason, true);
}

// An edge between functions, which contexts stand for: forward slices need to see it.
static void note_edge(struct slicer *slicer, uint32_t from, uint32_t to)
{
    struct vertex_edge edge = {to, slicer->vertices.data[from].first_edge, SLICE_BY_CALL, true};

    if (!(slicer->flags & SLICE_FORWARD))
        return;
    slicer->vertices.data[from].first_edge = (uint32_t)slicer->edges.length;
    vertex_edge_vec_push(&slicer->edges, edge);
}

// The call `asking` needs the actual of this formal: a summary edge.
static void link_actual(struct slicer *slicer, uint32_t asking, uint32_t formal)
{
    struct vertex call = slicer->vertices.data[asking], needed = slicer->vertices.data[formal];
    uint32_t actual = slicer_actual(slicer, call.activation, call.index, &needed);
    bool is_new;

    vertex_map_put_new(&slicer->linked, (uint64_t)asking << 32 | actual, &is_new);
    if (!is_new)
        return;
    add_edge(slicer, asking, actual, SLICE_BY_CALL, false);
    note_edge(slicer, formal, actual);
}

void vertex_asks_callee(struct slicer *slicer, uint32_t function, uint64_t bit, uint32_t exit)
{
    uint32_t asking = slicer->now, number = slicer_shared(slicer, function);
    struct activation *callee = &slicer->activations.data[number];

    vertex_id_vec_push(&callee->asked_bits, (uint32_t)__builtin_ctzll(bit));
    vertex_id_vec_push(&callee->asked_by, asking);
    for (size_t f = 0; f < slicer->activations.data[number].formals.length; f++) {
        uint32_t formal = slicer->activations.data[number].formals.data[f];

        if (slicer->vertices.data[formal].told & bit)
            link_actual(slicer, asking, formal);
    }
    vertex_ask(slicer, exit, bit, asking, SLICE_BY_RESULT);
    note_edge(slicer, asking, exit);
}

static void ask_actual(struct slicer *slicer, uint32_t caller, uint32_t position, uint32_t formal)
{
    struct vertex needed = slicer->vertices.data[formal];
    uint32_t actual = slicer_actual(slicer, caller, position, &needed);

    vertex_ask(slicer, actual, CONTEXT_ANY, formal, SLICE_BY_CALL);
    note_edge(slicer, formal, actual);
}

// Calls that frames have made: backwards they are found by who asks for what a call left behind.
static void ask_frames(struct slicer *slicer, struct node_id node, uint32_t formal)
{
    uint32_t function = model_node(slicer->model, node)->function.value;

    for (uint32_t f = 0; f < slicer->frame_count; f++) {
        uint32_t count = slicer->activations.data[f].copy_count;

        if (slicer->activations.data[f].function != function)
            continue;
        for (uint32_t copy = 0; copy < count; copy++)
            if (activation_node(slicer, &slicer->activations.data[f], copy) == node.value)
                ask_actual(slicer, f, slicer->activations.data[f].first[copy + 1] - 1, formal);
    }
}

// Whoever called: all calls of the function that may have been made.
static void ask_all_callers(struct slicer *slicer, uint32_t formal)
{
    uint32_t function = slicer->activations.data[slicer->vertices.data[formal].activation].function;

    for (uint32_t c = slicer->caller_start[function]; c < slicer->caller_start[function + 1]; c++) {
        struct node_id node = model_site(slicer->model, (struct site_id){slicer->callers[c]})->node;

        if (!slicer_may_run(slicer, node.value))
            continue;
        uint32_t caller = slicer_shared(slicer, model_node(slicer->model, node)->function.value);
        uint32_t copy = model_node_index(slicer->model, node);
        ask_actual(slicer, caller, slicer->activations.data[caller].first[copy + 1] - 1, formal);
        if (slicer->flags & SLICE_FORWARD)
            ask_frames(slicer, node, formal);
    }
}

static bool is_formal(const struct vertex *vertex)
{
    return vertex->kind == VERTEX_ENTRY || vertex->kind == VERTEX_ARGUMENT ||
           vertex->kind == VERTEX_AT_ENTRY;
}

// A formal of a shared activation is needed in these contexts.
static void tell_callers(struct slicer *slicer, uint32_t id, uint64_t contexts, bool is_new)
{
    uint32_t number = slicer->vertices.data[id].activation;

    if (is_new)
        vertex_id_vec_push(&slicer->activations.data[number].formals, id);
    for (size_t i = 0; i < slicer->activations.data[number].asked_by.length; i++)
        if (contexts >> slicer->activations.data[number].asked_bits.data[i] & 1)
            link_actual(slicer, slicer->activations.data[number].asked_by.data[i], id);
    if (contexts & CONTEXT_ANY)
        ask_all_callers(slicer, id);
}

bool slicer_propagate(struct slicer *slicer, struct budget *budget)
{
    while (slicer->work.length) {
        uint32_t id = vertex_id_vec_pop(&slicer->work);
        struct vertex *vertex = &slicer->vertices.data[id];
        uint64_t contexts = vertex->contexts & ~vertex->told;
        bool is_new = !vertex->told;
        bool shared = slicer->activations.data[vertex->activation].frame == MODEL_NONE;

        if (budget_is_spent(budget))
            return false;
        vertex->queued = false;
        vertex->told |= contexts;
        for (uint32_t e = vertex->first_edge; e != MODEL_NONE; e = slicer->edges.data[e].next)
            if (!slicer->edges.data[e].any)
                vertex_ask(slicer, slicer->edges.data[e].to, contexts, id,
                           slicer->edges.data[e].reason);
        slicer->now = id;
        if (!slicer->vertices.data[id].expanded) {
            slicer->vertices.data[id].expanded = true;
            slicer_expand(slicer, id);
        }
        struct vertex now = slicer->vertices.data[id];
        if (shared && is_formal(&now) && !(slicer->flags & SLICE_INTRA))
            tell_callers(slicer, id, contexts, is_new);
    }
    return true;
}

void slicer_forget(struct slicer *slicer)
{
    vertex_vec_deinit(&slicer->vertices);
    vertex_edge_vec_deinit(&slicer->edges);
    vertex_map_deinit(&slicer->plain);
    vertex_map_deinit(&slicer->linked);
    vertex_map_deinit(&slicer->asynchronous);
    vertex_map_deinit(&slicer->by_number);
    insn_list_vec_deinit(&slicer->lists);
    class_set_vec_deinit(&slicer->sets);
    for (uint32_t k = 0; k < VERTEX_KIND_COUNT - VERTEX_FIRST_CLASSED; k++)
        vertex_map_deinit(&slicer->classed[k]);
    vertex_id_vec_deinit(&slicer->work);
    for (size_t i = 0; i < slicer->activations.length; i++) {
        slicer->activations.data[i].asked_bits.length = 0;
        slicer->activations.data[i].asked_by.length = 0;
        slicer->activations.data[i].formals.length = 0;
    }
}

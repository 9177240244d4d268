// SPDX-License-Identifier: Apache-2.0
#include "path/weights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define LENGTH_MOST (UINT32_C(1) << 30)
// A set keeps its best elements beyond this.
#define SET_MOST 20000u

uint32_t weights_extended_length(uint32_t first, uint32_t second)
{
    uint32_t sum = first + second;

    return sum > LENGTH_MOST ? LENGTH_MOST : sum;
}

static const struct weight_set *set_of(const struct weights *weights, struct weight weight)
{
    return &weights->sets.data[weight.bits];
}

// ---- Sets, each kept once

static int compare_elements(const void *a, const void *b)
{
    const struct weight_element *x = a, *y = b;

    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

// Sorted by marks: one element for each.
static void join_equals(struct weights *weights, struct weight_element_vec *elements)
{
    size_t kept = 0;

    for (size_t i = 0; i < elements->length; i++) {
        struct weight_element element = elements->data[i];

        if (!kept || elements->data[kept - 1].bits != element.bits) {
            elements->data[kept++] = element;
            continue;
        }
        // the shortest came first
        if (weights->dataflow)
            elements->data[kept - 1].value =
                dataflow_combine(weights->dataflow, elements->data[kept - 1].value, element.value);
    }
    elements->length = kept;
}

static void drop_covered(struct weights *weights, struct weight_element_vec *elements)
{
    size_t kept = 0;

    for (size_t i = 0; i < elements->length; i++) {
        bool is_covered = false;

        // none of them has the same marks as another
        for (size_t k = 0; k < elements->length && !is_covered; k++)
            is_covered =
                k != i && elements->data[k].length <= elements->data[i].length &&
                elements->data[k].value.number == elements->data[i].value.number &&
                marks_covers(weights->marks, elements->data[k].bits, elements->data[i].bits);
        if (!is_covered)
            weight_element_vec_push(&weights->scratch, elements->data[i]);
    }
    for (size_t i = 0; i < weights->scratch.length; i++)
        elements->data[kept++] = weights->scratch.data[i];
    elements->length = kept;
    weight_element_vec_clear(&weights->scratch);
}

static uint64_t hash_of(const struct weight_element_vec *elements)
{
    uint64_t hash = elements->length;

    for (size_t i = 0; i < elements->length; i++) {
        hash = hash_mix(hash ^ elements->data[i].bits);
        hash = hash_mix(
            hash ^ ((uint64_t)elements->data[i].value.number << 32 | elements->data[i].length));
    }
    return hash;
}

static bool is_equal(const struct weight_set *set, const struct weight_element_vec *elements)
{
    if (set->count != elements->length)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->elements[i].bits != elements->data[i].bits ||
            set->elements[i].length != elements->data[i].length ||
            set->elements[i].value.number != elements->data[i].value.number)
            return false;
    return true;
}

static uint32_t intern(struct weights *weights, const struct weight_element_vec *elements)
{
    bool is_new;
    uint64_t hash = hash_of(elements);

    for (uint64_t key = hash;; key++) {
        uint32_t *id = weight_map_put_new(&weights->known, key, &is_new);

        if (!is_new && is_equal(&weights->sets.data[*id], elements))
            return *id;
        if (!is_new)
            continue;
        struct weight_set set = {
            .count = (uint32_t)elements->length, .hash = hash, .shortest = UINT32_MAX};
        if (set.count)
            set.elements = arena_memdup(&weights->arena, elements->data,
                                        elements->length * sizeof(*elements->data));
        for (uint32_t i = 0; i < set.count; i++)
            if (elements->data[i].length < set.shortest)
                set.shortest = elements->data[i].length;
        *id = (uint32_t)weights->sets.length;
        weight_set_vec_push(&weights->sets, set);
        return *id;
    }
}

static int compare_worth(const void *a, const void *b)
{
    const struct weight_element *x = a, *y = b;

    return x->length < y->length ? -1 : x->length > y->length;
}

struct weight sets_make(struct weights *weights, struct weight_element_vec *elements)
{
    if (elements->length > 1) {
        qsort(elements->data, elements->length, sizeof(*elements->data), compare_elements);
        join_equals(weights, elements);
    }
    if (elements->length > 1 && !weights->dataflow)
        drop_covered(weights, elements);
    if (elements->length > SET_MOST) {
        weights->has_dropped = true;
        qsort(elements->data, elements->length, sizeof(*elements->data), compare_worth);
        elements->length = SET_MOST;
        qsort(elements->data, elements->length, sizeof(*elements->data), compare_elements);
    }
    return (struct weight){intern(weights, elements)};
}

// ---- Operations

static struct weight sets_combine(void *context, struct weight a, struct weight b)
{
    struct weights *weights = context;
    struct weight_element_vec all = VEC_INIT;

    if (a.bits == b.bits || b.bits == 0)
        return a;
    if (a.bits == 0)
        return b;
    weight_element_vec_append(&all, set_of(weights, a)->elements, set_of(weights, a)->count);
    weight_element_vec_append(&all, set_of(weights, b)->elements, set_of(weights, b)->count);
    struct weight result = sets_make(weights, &all);
    weight_element_vec_deinit(&all);
    return result;
}

static void extend_elements(struct weights *weights, const struct weight_element *first,
                            const struct weight_element *second, struct weight_element_vec *ret)
{
    struct weight_element element = {
        .bits = marks_extend(weights->marks, first->bits, second->bits),
        .length = weights_extended_length(first->length, second->length),
        .value = DATAFLOW_ONE};

    if (weights->dataflow)
        element.value = dataflow_extend(weights->dataflow, first->value, second->value);
    if (!dataflow_is_zero(element.value))
        weight_element_vec_push(ret, element);
}

static struct weight sets_extend(void *context, struct weight a, struct weight b)
{
    struct weights *weights = context;
    struct weight_element_vec all = VEC_INIT;
    uint64_t key = a.bits << 32 | b.bits;
    struct weight_cached *cached = weights_cached(weights, key, 0);

    if (a.bits == 0 || b.bits == 0)
        return weights->semiring.zero;
    if (a.bits == 1)
        return b;
    if (b.bits == 1)
        return a;
    if (cached->key == key && cached->extra == 0)
        return (struct weight){cached->result};
    for (uint32_t i = 0; i < set_of(weights, a)->count; i++)
        for (uint32_t k = 0; k < set_of(weights, b)->count; k++)
            extend_elements(weights, &set_of(weights, a)->elements[i],
                            &set_of(weights, b)->elements[k], &all);
    struct weight result = sets_make(weights, &all);
    weight_element_vec_deinit(&all);
    *cached = (struct weight_cached){key, 0, (uint32_t)result.bits};
    return result;
}

// Only with dataflow: else it is what extending gives.
static struct weight sets_merge(void *context, struct weight caller, struct weight call,
                                struct weight callee, uint32_t tag)
{
    struct weights *weights = context;
    struct weights_call where = weights->call_of(weights->call_context, tag);
    struct weight_element_vec all = VEC_INIT;

    for (uint32_t i = 0; i < set_of(weights, caller)->count; i++)
        for (uint32_t k = 0; k < set_of(weights, callee)->count; k++)
            for (uint32_t c = 0; c < set_of(weights, call)->count; c++) {
                struct weight_element a = set_of(weights, caller)->elements[i];
                struct weight_element b = set_of(weights, callee)->elements[k];
                struct weight_element p = set_of(weights, call)->elements[c];
                uint64_t bits = marks_extend(weights->marks, a.bits, p.bits);
                uint32_t length = weights_extended_length(a.length, p.length);
                struct weight_element element = {
                    .bits = marks_extend(weights->marks, bits, b.bits),
                    .length = weights_extended_length(length, b.length),
                    .value = dataflow_merge(weights->dataflow, a.value, b.value, where.node,
                                            where.function, where.edge)};

                if (!dataflow_is_zero(element.value))
                    weight_element_vec_push(&all, element);
            }
    struct weight result = sets_make(weights, &all);
    weight_element_vec_deinit(&all);
    return result;
}

static uint64_t sets_rank(void *context, struct weight weight)
{
    return set_of(context, weight)->shortest;
}

void sets_init(struct weights *weights)
{
    struct weight_element one = {.value = DATAFLOW_ONE};
    struct weight_element_vec elements = VEC_INIT;

    weights->semiring.zero = sets_make(weights, &elements);
    weight_element_vec_push(&elements, one);
    weights->semiring.one = sets_make(weights, &elements);
    weight_element_vec_deinit(&elements);
    assert(weights->semiring.zero.bits == 0 && weights->semiring.one.bits == 1);
    weights->semiring.combine = sets_combine;
    weights->semiring.extend = sets_extend;
    weights->semiring.merge = weights->dataflow ? sets_merge : NULL;
    weights->semiring.rank = sets_rank;
}

// ----

void weights_init(struct weights *weights, enum path_weights kind, const struct marks *marks,
                  struct dataflow *dataflow)
{
    *weights = (struct weights){.marks = marks,
                                .dataflow = dataflow,
                                .is_diagrams = kind == PATH_WEIGHTS_DIAGRAMS,
                                .known = MAP_INIT};
    arena_init(&weights->arena);
    weights->cache = xcalloc(WEIGHTS_CACHE, sizeof(*weights->cache));
    weights->semiring.context = weights;
    if (weights->is_diagrams)
        diagrams_init(weights);
    else
        sets_init(weights);
}

void weights_deinit(struct weights *weights)
{
    arena_deinit(&weights->arena);
    weight_set_vec_deinit(&weights->sets);
    diagram_vec_deinit(&weights->diagrams);
    weight_map_deinit(&weights->known);
    weight_element_vec_deinit(&weights->scratch);
    free(weights->cache);
}

struct weight weights_one_element(struct weights *weights, uint64_t bits, uint32_t length,
                                  struct dataflow_value value)
{
    struct weight_element element = {bits, length, value};
    struct weight_element_vec elements = VEC_INIT;

    if (dataflow_is_zero(value))
        return weights->semiring.zero;
    if (weights->is_diagrams)
        return diagrams_one(weights, &element);
    weight_element_vec_push(&elements, element);
    struct weight result = sets_make(weights, &elements);
    weight_element_vec_deinit(&elements);
    return result;
}

void weights_elements(const struct weights *weights, struct weight weight,
                      struct weight_element_vec *ret)
{
    if (weights->is_diagrams)
        diagrams_elements(weights, weight, ret);
    else
        weight_element_vec_append(ret, set_of(weights, weight)->elements,
                                  set_of(weights, weight)->count);
}

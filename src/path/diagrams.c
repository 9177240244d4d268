// SPDX-License-Identifier: Apache-2.0
/*
 * Weights as decision diagrams: functions from sets of marks to (length, value). Paper 004,
 * appendix A; a mark that is in no set on the way has no node (zero-suppressed: Minato, 1993),
 * which is what most sets look like here.
 */
#include <assert.h>

#include "path/weights.h"

// Numbers 0 and 1: no set at all; the empty set, of length 0.
#define NOTHING 0u

static struct diagram at(const struct weights *weights, uint32_t id)
{
    return weights->diagrams.data[id];
}

static uint32_t intern(struct weights *weights, struct diagram node)
{
    uint64_t hash = hash_mix(((uint64_t)node.low << 32 | node.high) ^ hash_mix(node.mark + 1u));
    bool is_new;

    for (;; hash++) {
        uint32_t *id = weight_map_put_new(&weights->known, hash, &is_new);

        if (!is_new) {
            struct diagram other = at(weights, *id);

            if (other.mark == node.mark && other.low == node.low && other.high == node.high)
                return *id;
            continue;
        }
        *id = (uint32_t)weights->diagrams.length;
        diagram_vec_push(&weights->diagrams, node);
        return *id;
    }
}

static uint32_t leaf(struct weights *weights, uint32_t length, struct dataflow_value value)
{
    if (dataflow_is_zero(value))
        return NOTHING;
    return intern(weights, (struct diagram){DIAGRAM_LEAF, length, value.number, length});
}

static uint32_t branch(struct weights *weights, uint32_t mark, uint32_t low, uint32_t high)
{
    if (high == NOTHING)
        return low;
    uint32_t a = at(weights, low).shortest, b = at(weights, high).shortest;
    return intern(weights, (struct diagram){mark, low, high, a < b ? a : b});
}

static uint32_t low_of(const struct weights *weights, uint32_t id, uint32_t mark)
{
    return at(weights, id).mark == mark ? at(weights, id).low : id;
}

static uint32_t high_of(const struct weights *weights, uint32_t id, uint32_t mark)
{
    return at(weights, id).mark == mark ? at(weights, id).high : NOTHING;
}

static uint32_t first_mark(const struct weights *weights, uint32_t a, uint32_t b)
{
    uint32_t x = at(weights, a).mark, y = at(weights, b).mark;

    return x < y ? x : y;
}

// ---- Combine

// Of `extra`, in the cache: what the operation is.
#define COMBINING UINT32_MAX

static uint32_t combine(struct weights *weights, uint32_t a, uint32_t b)
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    uint32_t result, mark;

    if (a == b || b == NOTHING)
        return a;
    if (a == NOTHING)
        return b;
    struct weight_cached *cached = weights_cached(weights, key, COMBINING);
    if (cached->key == key && cached->extra == COMBINING)
        return cached->result;
    mark = first_mark(weights, a, b);
    if (mark == DIAGRAM_LEAF) {
        struct diagram x = at(weights, a), y = at(weights, b);
        struct dataflow_value value = {x.high};

        if (weights->dataflow)
            value = dataflow_combine(weights->dataflow, value, (struct dataflow_value){y.high});
        result = leaf(weights, x.low < y.low ? x.low : y.low, value);
    } else {
        uint32_t low = combine(weights, low_of(weights, a, mark), low_of(weights, b, mark));
        uint32_t high = combine(weights, high_of(weights, a, mark), high_of(weights, b, mark));

        result = branch(weights, mark, low, high);
    }
    *weights_cached(weights, key, COMBINING) = (struct weight_cached){key, COMBINING, result};
    return result;
}

// ---- Extend, and merge with dataflow

struct operation {
    struct weights *weights;
    bool merges;
    struct weights_call call;
    uint64_t has; // orders whose `before` the first operand has, as bits of "has"
};

static uint32_t extend_leaves(struct operation *operation, uint32_t a, uint32_t b)
{
    struct weights *weights = operation->weights;
    struct diagram x = at(weights, a), y = at(weights, b);
    struct dataflow_value first = {x.high}, second = {y.high}, value = DATAFLOW_ONE;

    if (operation->merges)
        value = dataflow_merge(weights->dataflow, first, second, operation->call.node,
                               operation->call.function, operation->call.edge);
    else if (weights->dataflow)
        value = dataflow_extend(weights->dataflow, first, second);
    return leaf(weights, weights_extended_length(x.low, y.low), value);
}

static uint32_t extend(struct operation *operation, uint32_t a, uint32_t b);

// The mark is in the result where either has it. What the second needs it does not when the first
// has it.
static uint32_t extend_branches(struct operation *operation, uint32_t mark, uint32_t a, uint32_t b)
{
    struct weights *weights = operation->weights;
    const struct marks *marks = weights->marks;
    uint64_t bit = UINT64_C(1) << mark;
    uint32_t a0 = low_of(weights, a, mark), a1 = high_of(weights, a, mark);
    uint32_t b0 = low_of(weights, b, mark), b1 = high_of(weights, b, mark);

    if (marks->needs & bit && operation->has & bit >> marks->order_shift) {
        uint32_t either = combine(weights, b0, b1);
        uint32_t low = extend(operation, a0, either), high = extend(operation, a1, either);

        return branch(weights, mark, low, high);
    }
    uint32_t low = extend(operation, a0, b0), high = extend(operation, a0, b1);
    uint64_t before = operation->has;
    operation->has |= marks->has & bit;
    uint32_t with = extend(operation, a1, b0);
    with = combine(weights, with, extend(operation, a1, b1));
    operation->has = before;
    return branch(weights, mark, low, combine(weights, high, with));
}

static uint32_t extend(struct operation *operation, uint32_t a, uint32_t b)
{
    struct weights *weights = operation->weights;
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t extra = (uint32_t)(hash_mix(operation->has) >> 33), result;

    if (a == NOTHING || b == NOTHING)
        return NOTHING;
    struct weight_cached *cached = weights_cached(weights, key, extra);
    // hashes of what it has may coincide: only where it has nothing is it looked up
    bool is_kept = !operation->merges && !operation->has;
    if (is_kept && cached->key == key && cached->extra == extra)
        return cached->result;
    uint32_t mark = first_mark(weights, a, b);
    result = mark == DIAGRAM_LEAF ? extend_leaves(operation, a, b)
                                  : extend_branches(operation, mark, a, b);
    if (is_kept)
        *weights_cached(weights, key, extra) = (struct weight_cached){key, extra, result};
    return result;
}

// ---- The semiring

static struct weight diagrams_combine(void *context, struct weight a, struct weight b)
{
    return (struct weight){combine(context, (uint32_t)a.bits, (uint32_t)b.bits)};
}

static struct weight diagrams_extend(void *context, struct weight a, struct weight b)
{
    struct operation operation = {.weights = context};

    return (struct weight){extend(&operation, (uint32_t)a.bits, (uint32_t)b.bits)};
}

// The call's own marks and length count behind the caller's.
static struct weight diagrams_merge(void *context, struct weight caller, struct weight call,
                                    struct weight callee, uint32_t tag)
{
    struct weights *weights = context;
    struct operation plain = {.weights = weights};
    struct operation merging = {
        .weights = weights, .merges = true, .call = weights->call_of(weights->call_context, tag)};
    struct weight_element_vec elements = VEC_INIT;
    uint32_t entered = NOTHING;

    // without the value of entering, which is part of merging
    diagrams_elements(weights, call, &elements);
    for (size_t i = 0; i < elements.length; i++) {
        elements.data[i].value = DATAFLOW_ONE;
        entered =
            combine(weights, entered, (uint32_t)diagrams_one(weights, &elements.data[i]).bits);
    }
    weight_element_vec_deinit(&elements);
    uint32_t before = extend(&plain, (uint32_t)caller.bits, entered);
    return (struct weight){extend(&merging, before, (uint32_t)callee.bits)};
}

static uint64_t diagrams_rank(void *context, struct weight weight)
{
    return at(context, (uint32_t)weight.bits).shortest;
}

void diagrams_init(struct weights *weights)
{
    diagram_vec_push(&weights->diagrams, (struct diagram){DIAGRAM_LEAF, 0, 0, UINT32_MAX});
    weights->semiring.zero = (struct weight){NOTHING};
    weights->semiring.one = (struct weight){leaf(weights, 0, DATAFLOW_ONE)};
    weights->semiring.combine = diagrams_combine;
    weights->semiring.extend = diagrams_extend;
    weights->semiring.merge = weights->dataflow ? diagrams_merge : NULL;
    weights->semiring.rank = diagrams_rank;
}

struct weight diagrams_one(struct weights *weights, const struct weight_element *element)
{
    uint32_t id = leaf(weights, element->length, element->value);

    for (uint32_t mark = 64; mark-- > 0;)
        if (element->bits >> mark & 1)
            id = branch(weights, mark, NOTHING, id);
    return (struct weight){id};
}

static void list(const struct weights *weights, uint32_t id, uint64_t bits,
                 struct weight_element_vec *ret)
{
    struct diagram node = at(weights, id);

    if (id == NOTHING)
        return;
    if (node.mark == DIAGRAM_LEAF) {
        weight_element_vec_push(
            ret, (struct weight_element){bits, node.low, (struct dataflow_value){node.high}});
        return;
    }
    list(weights, node.low, bits, ret);
    list(weights, node.high, bits | UINT64_C(1) << node.mark, ret);
}

void diagrams_elements(const struct weights *weights, struct weight weight,
                       struct weight_element_vec *ret)
{
    list(weights, (uint32_t)weight.bits, 0, ret);
}

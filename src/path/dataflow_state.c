// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of a few numbers: a range for each, and how pairs of them compare. An unknown that
 * is known to equal another base (plus a constant) is bound to it, and is never seen again.
 */
#include <assert.h>

#include "path/dataflow_internal.h"
#include "program/insn.h"

#define SETTLE_ROUNDS 8u

void state_init(struct state *state, struct dataflow *dataflow)
{
    *state = (struct state){.dataflow = dataflow};
}

void state_deinit(struct state *state)
{
    limit_vec_deinit(&state->limits);
    unknown_vec_deinit(&state->unknowns);
    relation_vec_deinit(&state->relations);
}

void state_clear(struct state *state)
{
    state->limits.length = state->unknowns.length = state->relations.length = 0;
    state->is_impossible = state->is_changed = false;
}

struct expression state_unknown(struct state *state, const struct range *range)
{
    uint32_t number = (uint32_t)state->unknowns.length;

    unknown_vec_push(
        &state->unknowns,
        (struct unknown){.range = range_intern(state->dataflow, range), .width = range->width});
    return expression_base(range->width, BASE_UNKNOWN | number);
}

// ---- Bases

// What a base is bound to; *distance is added to.
static uint32_t find_base(const struct state *state, uint32_t base, uint64_t *distance)
{
    while (base & BASE_UNKNOWN && state->unknowns.data[base & ~BASE_UNKNOWN].is_bound) {
        const struct unknown *unknown = &state->unknowns.data[base & ~BASE_UNKNOWN];
        *distance += unknown->distance;
        base = unknown->target;
    }
    return base;
}

uint32_t state_width(const struct state *state, uint32_t base)
{
    return base & BASE_UNKNOWN ? state->unknowns.data[base & ~BASE_UNKNOWN].width
                               : base_width(state->dataflow, base);
}

static struct range range_of_base(const struct state *state, uint32_t base)
{
    if (base & BASE_UNKNOWN)
        return *range_at(state->dataflow, state->unknowns.data[base & ~BASE_UNKNOWN].range);
    for (size_t i = 0; i < state->limits.length; i++)
        if (state->limits.data[i].base == base)
            return *range_at(state->dataflow, state->limits.data[i].range);
    uint32_t width = state_width(state, base);
    return is_kind(state->dataflow, base, TRACKED_ADDRESS) ? range_span(width, 1, width_mask(width))
                                                           : range_full(width);
}

static void set_range(struct state *state, uint32_t base, const struct range *range)
{
    uint32_t number = range_intern(state->dataflow, range);

    state->is_changed = true;
    state->is_impossible |= range->count == 0;
    if (base & BASE_UNKNOWN) {
        state->unknowns.data[base & ~BASE_UNKNOWN].range = number;
        return;
    }
    for (size_t i = 0; i < state->limits.length; i++)
        if (state->limits.data[i].base == base) {
            state->limits.data[i].range = number;
            return;
        }
    limit_vec_push(&state->limits, (struct limit){base, number});
}

// The base, which is bound to nothing, is in the range.
static void narrow(struct state *state, uint32_t base, const struct range *range)
{
    struct range before = range_of_base(state, base);
    struct range after = range_intersect(&before, range);

    if (!range_is_equal(&before, &after))
        set_range(state, base, &after);
}

struct expression state_resolve(struct state *state, struct expression expression)
{
    uint64_t distance = 0;

    if (!expression_has_base(&expression))
        return expression;
    uint32_t base = find_base(state, expression.base, &distance);
    if (base == expression.base)
        return expression;
    struct expression inner = expression_base(state_width(state, base), base);
    inner.constant = distance & width_mask(inner.width);
    return expression_substitute(state, expression, inner);
}

// ---- Expressions

struct range range_of_truth(uint32_t width)
{
    return width == 1 ? range_full(1) : range_span(width, 0, 1);
}

struct range state_range(struct state *state, struct expression expression)
{
    if (expression.kind == EXPRESSION_CONSTANT)
        return range_single(expression.width, expression.constant);
    if (expression.kind == EXPRESSION_NONE)
        return range_full(expression.width);
    uint64_t distance = 0;
    uint32_t base = find_base(state, expression.base, &distance);
    struct range range = range_of_base(state, base);
    range = range_shift(&range, distance);
    switch ((enum expression_kind)expression.kind) {
    case EXPRESSION_COPY:
        return range_shift(&range, expression.constant);
    case EXPRESSION_TEST: {
        const struct range *in = range_at(state->dataflow, (uint32_t)expression.constant);
        struct range both = range_intersect(&range, in);
        if (both.count == 0)
            return range_single(expression.width, 0);
        if (range_is_subset(&range, in))
            return range_single(expression.width, 1);
        return range_of_truth(expression.width);
    }
    case EXPRESSION_ZERO:
        return range_extend(&range, expression.width, EXTENSION_ZERO);
    case EXPRESSION_SIGN:
        return range_extend(&range, expression.width, EXTENSION_SIGN);
    default:
        return range_truncate(&range, expression.width);
    }
}

// The numbers of the base for which the expression is in the range.
struct range state_before(struct state *state, const struct expression *expression,
                          const struct range *range, uint32_t width)
{
    switch ((enum expression_kind)expression->kind) {
    case EXPRESSION_COPY:
        return range_shift(range, 0 - expression->constant);
    case EXPRESSION_TEST: {
        const struct range *in = range_at(state->dataflow, (uint32_t)expression->constant);
        bool one = range_holds(range, 1), zero = range_holds(range, 0);
        if (one && zero)
            return range_full(width);
        return one ? *in : zero ? range_complement(in) : range_empty(width);
    }
    case EXPRESSION_ZERO:
        return range_before_extend(range, width, EXTENSION_ZERO);
    case EXPRESSION_SIGN:
        return range_before_extend(range, width, EXTENSION_SIGN);
    default:
        return range_before_truncate(range, width);
    }
}

void state_require(struct state *state, struct expression expression, const struct range *range)
{
    if (expression.kind == EXPRESSION_NONE) {
        state->is_impossible |= range->count == 0;
        return;
    }
    assert(expression.width == range->width);
    expression = state_resolve(state, expression);
    if (expression.kind == EXPRESSION_CONSTANT) {
        state->is_impossible |= !range_holds(range, expression.constant);
        return;
    }
    struct range now = state_range(state, expression);
    now = range_intersect(&now, range);
    state->is_impossible |= now.count == 0;
    // a number that fits into the lower bits is told by them
    if (expression.kind == EXPRESSION_LOW) {
        struct range base = range_of_base(state, expression.base);
        struct range small = range_full(expression.width);
        small = range_extend(&small, base.width, EXTENSION_ZERO);
        if (!range_is_subset(&base, &small))
            return;
        now = range_extend(&now, base.width, EXTENSION_ZERO);
        narrow(state, expression.base, &now);
        return;
    }
    struct range before =
        state_before(state, &expression, range, state_width(state, expression.base));
    narrow(state, expression.base, &before);
}

// ---- Comparisons

uint32_t outcomes_of_predicate(uint32_t predicate)
{
    const uint32_t equal = OUTCOME_EQUAL;
    const uint32_t below = OUTCOME_LESS | OUTCOME_SIGNED_MORE;
    const uint32_t above = OUTCOME_GREATER | OUTCOME_SIGNED_LESS;
    const uint32_t less = OUTCOME_LESS | OUTCOME_SIGNED_LESS;
    const uint32_t more = OUTCOME_GREATER | OUTCOME_SIGNED_MORE;

    switch (predicate) {
    case PREDICATE_EQ:
        return equal;
    case PREDICATE_NE:
        return OUTCOME_ALL & ~equal;
    case PREDICATE_UGT:
        return above;
    case PREDICATE_UGE:
        return above | equal;
    case PREDICATE_ULT:
        return below;
    case PREDICATE_ULE:
        return below | equal;
    case PREDICATE_SGT:
        return more;
    case PREDICATE_SGE:
        return more | equal;
    case PREDICATE_SLT:
        return less;
    case PREDICATE_SLE:
        return less | equal;
    default:
        return OUTCOME_ALL;
    }
}

uint32_t outcomes_swap(uint32_t outcomes)
{
    return (outcomes & OUTCOME_EQUAL) | (outcomes & OUTCOME_LESS ? OUTCOME_GREATER : 0) |
           (outcomes & OUTCOME_GREATER ? OUTCOME_LESS : 0) |
           (outcomes & OUTCOME_SIGNED_LESS ? OUTCOME_SIGNED_MORE : 0) |
           (outcomes & OUTCOME_SIGNED_MORE ? OUTCOME_SIGNED_LESS : 0);
}

static uint32_t outcome_of_numbers(uint32_t width, uint64_t left, uint64_t right)
{
    if (left == right)
        return OUTCOME_EQUAL;
    if (width_signed(width, left) < width_signed(width, right))
        return left < right ? OUTCOME_LESS : OUTCOME_SIGNED_LESS;
    return left < right ? OUTCOME_SIGNED_MORE : OUTCOME_GREATER;
}

// The numbers that compare with this one so.
struct range range_of_outcomes(uint32_t width, uint32_t outcomes, uint64_t number)
{
    struct range range = range_empty(width);
    static const struct {
        uint32_t outcome, by_sign, unsigned_;
    } parts[] = {{OUTCOME_EQUAL, PREDICATE_EQ, PREDICATE_EQ},
                 {OUTCOME_LESS, PREDICATE_SLT, PREDICATE_ULT},
                 {OUTCOME_SIGNED_LESS, PREDICATE_SLT, PREDICATE_UGT},
                 {OUTCOME_SIGNED_MORE, PREDICATE_SGT, PREDICATE_ULT},
                 {OUTCOME_GREATER, PREDICATE_SGT, PREDICATE_UGT}};

    for (uint32_t i = 0; i < 5; i++) {
        if (!(outcomes & parts[i].outcome))
            continue;
        struct range a = range_of_predicate(width, parts[i].by_sign, number);
        struct range b = range_of_predicate(width, parts[i].unsigned_, number);
        a = range_intersect(&a, &b);
        range = range_union(&range, &a);
    }
    return range;
}

static bool same_base(const struct expression *a, const struct expression *b)
{
    return expression_has_base(a) && expression_has_base(b) && a->base == b->base;
}

// An unknown is another number.
static void bind(struct state *state, uint32_t unknown, uint32_t target, uint64_t distance)
{
    struct unknown *bound = &state->unknowns.data[unknown & ~BASE_UNKNOWN];
    struct range range = *range_at(state->dataflow, bound->range);

    distance &= width_mask(bound->width);
    bound->is_bound = true;
    bound->target = target;
    bound->distance = distance;
    range = range_shift(&range, 0 - distance);
    narrow(state, target, &range);
    state->is_changed = true;
    // its comparisons are the target's
    for (size_t i = 0; i < state->relations.length; i++) {
        struct relation relation = state->relations.data[i];
        if (relation.left != unknown && relation.right != unknown)
            continue;
        state->relations.data[i--] = state->relations.data[--state->relations.length];
        struct expression left = expression_base(range.width, relation.left);
        struct expression right = expression_base(range.width, relation.right);
        left.constant = relation.left_add;
        right.constant = relation.right_add;
        state_relate(state, left, right, relation.outcomes);
        i = (size_t)-1; // relating may have bound another
    }
}

static void add_relation(struct state *state, struct relation relation)
{
    for (size_t i = 0; i < state->relations.length; i++) {
        struct relation *known = &state->relations.data[i];
        if (known->left == relation.left && known->right == relation.right &&
            known->left_add == relation.left_add && known->right_add == relation.right_add) {
            state->is_changed |= (known->outcomes & relation.outcomes) != known->outcomes;
            known->outcomes &= relation.outcomes;
            state->is_impossible |= known->outcomes == 0;
            return;
        }
    }
    relation_vec_push(&state->relations, relation);
    state->is_changed = true;
}

// What equals the address of a function is not bound to it: two functions may have one address, and
// a call through it may be said to enter either.
static bool is_of_function(const struct state *state, uint32_t base)
{
    return is_kind(state->dataflow, base, TRACKED_ADDRESS) ||
           is_kind(state->dataflow, base, TRACKED_ENTRY);
}

// Both are copies of different bases.
static void relate_copies(struct state *state, const struct expression *left,
                          const struct expression *right, uint32_t outcomes)
{
    uint64_t mask = width_mask(left->width);
    bool binds = outcomes == OUTCOME_EQUAL && !is_of_function(state, left->base) &&
                 !is_of_function(state, right->base);

    if (binds && right->base & BASE_UNKNOWN)
        bind(state, right->base, left->base, (left->constant - right->constant) & mask);
    else if (binds && left->base & BASE_UNKNOWN)
        bind(state, left->base, right->base, (right->constant - left->constant) & mask);
    else {
        struct relation relation = {left->base,      right->base, left->constant,
                                    right->constant, outcomes,    0};
        if (left->base > right->base)
            relation = (struct relation){right->base,
                                         left->base,
                                         right->constant,
                                         left->constant,
                                         outcomes_swap(outcomes),
                                         0};
        if (outcomes == OUTCOME_EQUAL || outcomes == (OUTCOME_ALL & ~OUTCOME_EQUAL)) {
            // only the distance matters
            relation.left_add = (relation.left_add - relation.right_add) & mask;
            relation.right_add = 0;
        }
        add_relation(state, relation);
    }
}

// Two numbers that were made wider in the same way compare as they did before.
static bool relate_extended(struct state *state, const struct expression *left,
                            const struct expression *right, uint32_t outcomes)
{
    if (left->kind != right->kind || left->width != right->width ||
        (left->kind != EXPRESSION_ZERO && left->kind != EXPRESSION_SIGN))
        return false;
    uint32_t width = state_width(state, left->base);
    if (width != state_width(state, right->base))
        return false;
    if (left->kind == EXPRESSION_ZERO) {
        // without signs: less is below
        uint32_t kept = outcomes & OUTCOME_EQUAL;
        kept |= outcomes & OUTCOME_LESS ? OUTCOME_LESS | OUTCOME_SIGNED_MORE : 0;
        kept |= outcomes & OUTCOME_GREATER ? OUTCOME_GREATER | OUTCOME_SIGNED_LESS : 0;
        outcomes = kept;
    }
    state_relate(state, expression_base(width, left->base), expression_base(width, right->base),
                 outcomes);
    return true;
}

// Has a call through base + distance entered another function?
static bool enters_other(const struct state *state, uint32_t base, uint64_t distance,
                         uint32_t entry)
{
    const struct tracked *variables = state->dataflow->variables.data;

    for (size_t i = 0; i < state->relations.length; i++) {
        struct relation r = state->relations.data[i];
        uint64_t ahead = r.left_add - r.right_add;
        bool is_left = is_kind(state->dataflow, r.left, TRACKED_ENTRY);
        if (!is_left && !is_kind(state->dataflow, r.right, TRACKED_ENTRY))
            continue;
        uint32_t other = is_left ? r.left : r.right;
        if ((is_left ? r.right : r.left) == base && (is_left ? 0 - ahead : ahead) == distance &&
            functions_differ(state->dataflow, variables[other].index, variables[entry].index))
            return true;
    }
    return false;
}

// A call through the pointer has entered the function that the entry is of.
static void relate_entry(struct state *state, struct expression pointer, struct expression entry)
{
    struct range some = range_span(pointer.width, 1, width_mask(pointer.width));

    pointer = expression_add(state, pointer, 0 - entry.constant);
    entry.constant = 0;
    state_require(state, pointer, &some);
    if (pointer.kind != EXPRESSION_COPY)
        return;
    const struct tracked *variables = state->dataflow->variables.data;
    if (is_kind(state->dataflow, pointer.base, TRACKED_ADDRESS)) {
        state->is_impossible |= pointer.constant == 0 &&
                                functions_differ(state->dataflow, variables[pointer.base].index,
                                                 variables[entry.base].index);
    } else if (enters_other(state, pointer.base, pointer.constant, entry.base))
        state->is_impossible = true;
    else
        relate_copies(state, &pointer, &entry, OUTCOME_EQUAL);
}

static bool is_entry(const struct state *state, const struct expression *expression)
{
    return expression->kind == EXPRESSION_COPY &&
           is_kind(state->dataflow, expression->base, TRACKED_ENTRY);
}

void state_relate(struct state *state, struct expression left, struct expression right,
                  uint32_t outcomes)
{
    if (outcomes == OUTCOME_ALL || left.kind == EXPRESSION_NONE || right.kind == EXPRESSION_NONE)
        return;
    assert(left.width == right.width);
    state->is_impossible |= outcomes == 0;
    left = state_resolve(state, left);
    right = state_resolve(state, right);
    if (is_entry(state, &left))
        relate_entry(state, right, left);
    else if (is_entry(state, &right))
        relate_entry(state, left, right);
    else if (left.kind == EXPRESSION_CONSTANT && right.kind == EXPRESSION_CONSTANT) {
        if (!(outcome_of_numbers(left.width, left.constant, right.constant) & outcomes))
            state->is_impossible = true;
    } else if (left.kind == EXPRESSION_CONSTANT) {
        struct range range = range_of_outcomes(left.width, outcomes_swap(outcomes), left.constant);
        state_require(state, right, &range);
    } else if (right.kind == EXPRESSION_CONSTANT) {
        struct range range = range_of_outcomes(left.width, outcomes, right.constant);
        state_require(state, left, &range);
    } else if (same_base(&left, &right)) {
        // an order between x + 1 and x is left alone: it may have been taken for granted
        if (left.kind == EXPRESSION_COPY && right.kind == EXPRESSION_COPY) {
            bool equal = left.constant == right.constant;
            if (equal ? !(outcomes & OUTCOME_EQUAL) : outcomes == OUTCOME_EQUAL)
                state->is_impossible = true;
        }
    } else if (left.kind == EXPRESSION_COPY && right.kind == EXPRESSION_COPY)
        relate_copies(state, &left, &right, outcomes);
    else if (!relate_extended(state, &left, &right, outcomes) && outcomes == OUTCOME_EQUAL) {
        struct range range = state_range(state, right);
        state_require(state, left, &range);
        range = state_range(state, left);
        state_require(state, right, &range);
    }
}

// ---- Conclusions

// By the order that `low` and `high` come from: at most the greatest of the other.
static void bound_unsigned(struct range *left, struct range *right, bool strict)
{
    uint64_t high = right->spans[right->count - 1].high, low = left->spans[0].low;
    uint64_t mask = width_mask(left->width);

    struct range below = strict ? range_of_predicate(left->width, PREDICATE_ULT, high)
                                : range_span(left->width, 0, high);
    struct range above = strict ? range_of_predicate(left->width, PREDICATE_UGT, low)
                                : range_span(left->width, low, mask);
    *left = range_intersect(left, &below);
    *right = range_intersect(right, &above);
}

static void bound_signed(struct range *left, struct range *right, bool strict)
{
    uint64_t high = (uint64_t)range_signed_high(right), low = (uint64_t)range_signed_low(left);
    struct range below =
        range_of_predicate(left->width, strict ? PREDICATE_SLT : PREDICATE_SLE, high);
    struct range above =
        range_of_predicate(left->width, strict ? PREDICATE_SGT : PREDICATE_SGE, low);

    *left = range_intersect(left, &below);
    *right = range_intersect(right, &above);
}

static bool within(uint32_t outcomes, uint32_t predicate)
{
    return (outcomes & ~(outcomes_of_predicate(predicate))) == 0;
}

// What the ranges of two numbers that compare so can still be; both have a member.
static void conclude(struct range *left, struct range *right, uint32_t outcomes)
{
    bool strict = !(outcomes & OUTCOME_EQUAL);

    if (outcomes == OUTCOME_EQUAL) {
        *left = *right = range_intersect(left, right);
        return;
    }
    if (strict && range_is_single(right)) {
        struct range other = range_of_predicate(left->width, PREDICATE_NE, right->spans[0].low);
        *left = range_intersect(left, &other);
    }
    if (strict && left->count && range_is_single(left)) {
        struct range other = range_of_predicate(left->width, PREDICATE_NE, left->spans[0].low);
        *right = range_intersect(right, &other);
    }
    if (left->count && right->count && within(outcomes, PREDICATE_ULE))
        bound_unsigned(left, right, strict);
    if (left->count && right->count && within(outcomes, PREDICATE_UGE))
        bound_unsigned(right, left, strict);
    if (left->count && right->count && within(outcomes, PREDICATE_SLE))
        bound_signed(left, right, strict);
    if (left->count && right->count && within(outcomes, PREDICATE_SGE))
        bound_signed(right, left, strict);
}

void state_settle(struct state *state)
{
    for (uint32_t round = 0; round < SETTLE_ROUNDS && state->is_changed && !state->is_impossible;
         round++) {
        state->is_changed = false;
        for (size_t i = 0; i < state->relations.length && !state->is_impossible; i++) {
            struct relation relation = state->relations.data[i];
            if (is_kind(state->dataflow, relation.left, TRACKED_ENTRY) ||
                is_kind(state->dataflow, relation.right, TRACKED_ENTRY))
                continue;
            struct range left = range_of_base(state, relation.left);
            struct range right = range_of_base(state, relation.right);

            left = range_shift(&left, relation.left_add);
            right = range_shift(&right, relation.right_add);
            conclude(&left, &right, relation.outcomes);
            left = range_shift(&left, 0 - relation.left_add);
            right = range_shift(&right, 0 - relation.right_add);
            narrow(state, relation.left, &left);
            narrow(state, relation.right, &right);
        }
    }
    state->is_changed = false;
}

// SPDX-License-Identifier: Apache-2.0
// Expressions of expressions. What cannot be said becomes an unknown of which the range is known.
#include "path/dataflow_internal.h"

static struct expression fresh(struct state *state, const struct range *range)
{
    struct range kept = *range;

    kept.is_wider = false;
    return range_is_single(&kept) ? expression_constant(kept.width, kept.spans[0].low)
                                  : state_unknown(state, &kept);
}

struct expression expression_add(struct state *state, struct expression expression, uint64_t number)
{
    number &= width_mask(expression.width);
    if (expression.kind == EXPRESSION_CONSTANT)
        return expression_constant(expression.width, expression.constant + number);
    if (number == 0 || expression.kind == EXPRESSION_NONE)
        return expression;
    if (expression.kind == EXPRESSION_COPY) {
        expression.constant = (expression.constant + number) & width_mask(expression.width);
        return expression;
    }
    struct range range = state_range(state, expression);
    range = range_shift(&range, number);
    return fresh(state, &range);
}

struct expression expression_test(struct state *state, struct expression expression,
                                  const struct range *range, uint32_t width)
{
    if (expression.kind == EXPRESSION_CONSTANT)
        return expression_constant(width, range_holds(range, expression.constant));
    if (expression.kind == EXPRESSION_NONE || range->is_wider) {
        struct range truth = range_of_truth(width);
        return state_unknown(state, &truth);
    }
    expression = state_resolve(state, expression);
    if (expression.kind == EXPRESSION_CONSTANT)
        return expression_constant(width, range_holds(range, expression.constant));
    struct range before =
        state_before(state, &expression, range, state_width(state, expression.base));
    if (before.is_wider) {
        struct range truth = range_of_truth(width);
        return state_unknown(state, &truth);
    }
    if (before.count == 0 || range_is_full(&before))
        return expression_constant(width, before.count != 0);
    return (struct expression){.kind = EXPRESSION_TEST,
                               .width = (uint8_t)width,
                               .base = expression.base,
                               .constant = range_intern(state->dataflow, &before)};
}

struct expression expression_extend(struct state *state, struct expression expression,
                                    uint32_t width, enum extension extension)
{
    uint8_t kind = extension == EXTENSION_ZERO ? EXPRESSION_ZERO : EXPRESSION_SIGN;

    if (width == expression.width)
        return expression;
    if (expression.kind == EXPRESSION_CONSTANT)
        return expression_constant(
            width, extension == EXTENSION_ZERO
                       ? expression.constant
                       : (uint64_t)width_signed(expression.width, expression.constant));
    bool is_bit = expression.width == 1 && extension == EXTENSION_SIGN;
    if (expression.kind == EXPRESSION_TEST && !is_bit) {
        expression.width = (uint8_t)width;
        return expression;
    }
    if (expression.kind == EXPRESSION_COPY && expression.constant == 0)
        return (struct expression){.kind = kind, .width = (uint8_t)width, .base = expression.base};
    if (expression.kind == EXPRESSION_ZERO ||
        (expression.kind == EXPRESSION_SIGN && extension == EXTENSION_SIGN)) {
        expression.width = (uint8_t)width;
        return expression;
    }
    struct range range = state_range(state, expression);
    range = range_extend(&range, width, extension);
    return fresh(state, &range);
}

struct expression expression_truncate(struct state *state, struct expression expression,
                                      uint32_t width)
{
    if (width == expression.width)
        return expression;
    if (expression.kind == EXPRESSION_CONSTANT)
        return expression_constant(width, expression.constant);
    if (expression.kind == EXPRESSION_TEST) {
        expression.width = (uint8_t)width;
        return expression;
    }
    if (expression.kind == EXPRESSION_ZERO || expression.kind == EXPRESSION_SIGN) {
        uint32_t inner = state_width(state, expression.base);
        if (inner == width)
            return expression_base(width, expression.base);
        if (inner > width)
            expression.kind = EXPRESSION_LOW;
        expression.width = (uint8_t)width;
        return expression;
    }
    if (expression.kind == EXPRESSION_LOW ||
        (expression.kind == EXPRESSION_COPY && expression.constant == 0)) {
        expression.kind = EXPRESSION_LOW;
        expression.width = (uint8_t)width;
        return expression;
    }
    struct range range = state_range(state, expression);
    range = range_truncate(&range, width);
    return fresh(state, &range);
}

struct expression expression_substitute(struct state *state, struct expression outer,
                                        struct expression inner)
{
    switch ((enum expression_kind)outer.kind) {
    case EXPRESSION_COPY:
        return expression_add(state, inner, outer.constant);
    case EXPRESSION_TEST: {
        struct range range = *range_at(state->dataflow, (uint32_t)outer.constant);
        return expression_test(state, inner, &range, outer.width);
    }
    case EXPRESSION_ZERO:
        return expression_extend(state, inner, outer.width, EXTENSION_ZERO);
    case EXPRESSION_SIGN:
        return expression_extend(state, inner, outer.width, EXTENSION_SIGN);
    case EXPRESSION_LOW:
        return expression_truncate(state, inner, outer.width);
    default:
        return outer;
    }
}

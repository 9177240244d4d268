// SPDX-License-Identifier: Apache-2.0
#include "path/dataflow_range.h"

#include <assert.h>
#include <string.h>

#include "program/insn.h"

struct range range_empty(uint32_t width)
{
    assert(width >= 1 && width <= 64);
    return (struct range){.width = (uint8_t)width};
}

struct range range_full(uint32_t width)
{
    struct range range = range_empty(width);

    range.count = 1;
    range.spans[0] = (struct span){0, width_mask(width)};
    return range;
}

struct range range_span(uint32_t width, uint64_t low, uint64_t high)
{
    struct range range = range_empty(width);
    uint64_t mask = width_mask(width);

    low &= mask;
    high &= mask;
    if (low <= high) {
        range.count = 1;
        range.spans[0] = (struct span){low, high};
    } else if (high + 1 == low) {
        return range_full(width);
    } else {
        range.count = 2;
        range.spans[0] = (struct span){0, high};
        range.spans[1] = (struct span){low, mask};
    }
    return range;
}

struct range range_single(uint32_t width, uint64_t number)
{
    return range_span(width, number, number);
}

// Of an order that begins with `first` and ends with `last`: below or above the number.
static struct range range_below(uint32_t width, uint64_t first, uint64_t number)
{
    return number == first ? range_empty(width) : range_span(width, first, number - 1);
}

static struct range range_above(uint32_t width, uint64_t last, uint64_t number)
{
    return number == last ? range_empty(width) : range_span(width, number + 1, last);
}

struct range range_of_predicate(uint32_t width, uint32_t predicate, uint64_t number)
{
    uint64_t mask = width_mask(width), sign = width_sign(width);

    number &= mask;
    switch (predicate) {
    case PREDICATE_EQ:
        return range_single(width, number);
    case PREDICATE_NE:
        return range_span(width, number + 1, number - 1);
    case PREDICATE_UGT:
        return range_above(width, mask, number);
    case PREDICATE_UGE:
        return range_span(width, number, mask);
    case PREDICATE_ULT:
        return range_below(width, 0, number);
    case PREDICATE_ULE:
        return range_span(width, 0, number);
    case PREDICATE_SGT:
        return range_above(width, sign - 1, number);
    case PREDICATE_SGE:
        return range_span(width, number, sign - 1);
    case PREDICATE_SLT:
        return range_below(width, sign, number);
    case PREDICATE_SLE:
        return range_span(width, sign, number);
    default:
        return range_full(width);
    }
}

bool range_holds(const struct range *range, uint64_t number)
{
    for (uint32_t i = 0; i < range->count; i++)
        if (number >= range->spans[i].low && number <= range->spans[i].high)
            return true;
    return false;
}

bool range_is_equal(const struct range *a, const struct range *b)
{
    return a->width == b->width && a->count == b->count &&
           memcmp(a->spans, b->spans, a->count * sizeof(*a->spans)) == 0;
}

bool range_is_subset(const struct range *a, const struct range *b)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        while (k < b->count && b->spans[k].high < a->spans[i].low)
            k++;
        if (k == b->count || b->spans[k].low > a->spans[i].low ||
            b->spans[k].high < a->spans[i].high)
            return false;
    }
    return true;
}

int64_t range_signed_low(const struct range *range)
{
    uint64_t sign = width_sign(range->width);

    assert(range->count > 0);
    for (uint32_t i = 0; i < range->count; i++)
        if (range->spans[i].high >= sign)
            return width_signed(range->width,
                                range->spans[i].low >= sign ? range->spans[i].low : sign);
    return (int64_t)range->spans[0].low;
}

int64_t range_signed_high(const struct range *range)
{
    uint64_t sign = width_sign(range->width);

    assert(range->count > 0);
    for (uint32_t i = range->count; i-- > 0;)
        if (range->spans[i].low < sign)
            return (int64_t)(range->spans[i].high < sign ? range->spans[i].high : sign - 1);
    return width_signed(range->width, range->spans[range->count - 1].high);
}

// ---- From any number of spans

#define SPANS_MOST (2u * RANGE_MOST + 2u)

struct spans {
    uint32_t count;
    struct span data[SPANS_MOST];
};

static void spans_add(struct spans *spans, uint64_t low, uint64_t high)
{
    uint32_t at = spans->count++;

    assert(at < SPANS_MOST);
    for (; at > 0 && spans->data[at - 1].low > low; at--)
        spans->data[at] = spans->data[at - 1];
    spans->data[at] = (struct span){low, high};
}

// Closes the smallest gap.
static void spans_close_gap(struct spans *spans)
{
    uint32_t best = 1;

    for (uint32_t i = 2; i < spans->count; i++)
        if (spans->data[i].low - spans->data[i - 1].high <
            spans->data[best].low - spans->data[best - 1].high)
            best = i;
    spans->data[best - 1].high = spans->data[best].high;
    memmove(&spans->data[best], &spans->data[best + 1],
            (spans->count - best - 1) * sizeof(*spans->data));
    spans->count--;
}

static struct range range_of_spans(struct spans *spans, uint32_t width, bool is_wider)
{
    struct range range = range_empty(width);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < spans->count; i++) {
        struct span *last = kept ? &spans->data[kept - 1] : NULL;
        if (last && (last->high == UINT64_MAX || spans->data[i].low <= last->high + 1)) {
            if (spans->data[i].high > last->high)
                last->high = spans->data[i].high;
        } else
            spans->data[kept++] = spans->data[i];
    }
    spans->count = kept;
    range.is_wider = is_wider;
    while (spans->count > RANGE_MOST) {
        spans_close_gap(spans);
        range.is_wider = true;
    }
    range.count = (uint8_t)spans->count;
    memcpy(range.spans, spans->data, spans->count * sizeof(*spans->data));
    return range;
}

struct range range_intersect(const struct range *a, const struct range *b)
{
    struct spans spans = {0};
    bool is_wider = a->is_wider || b->is_wider;

    assert(a->width == b->width);
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct span *x = &a->spans[i], *y = &b->spans[k];
        uint64_t low = x->low > y->low ? x->low : y->low;
        uint64_t high = x->high < y->high ? x->high : y->high;
        if (low <= high)
            spans_add(&spans, low, high);
        if (x->high < y->high)
            i++;
        else
            k++;
    }
    return range_of_spans(&spans, a->width, is_wider);
}

struct range range_union(const struct range *a, const struct range *b)
{
    struct spans spans = {0};

    assert(a->width == b->width);
    for (uint32_t i = 0; i < a->count; i++)
        spans_add(&spans, a->spans[i].low, a->spans[i].high);
    for (uint32_t i = 0; i < b->count; i++)
        spans_add(&spans, b->spans[i].low, b->spans[i].high);
    return range_of_spans(&spans, a->width, a->is_wider || b->is_wider);
}

struct range range_complement(const struct range *range)
{
    struct spans spans = {0};
    uint64_t next = 0, mask = width_mask(range->width);

    assert(!range->is_wider);
    for (uint32_t i = 0; i < range->count; i++) {
        if (range->spans[i].low > next)
            spans_add(&spans, next, range->spans[i].low - 1);
        if (range->spans[i].high == mask)
            return range_of_spans(&spans, range->width, false);
        next = range->spans[i].high + 1;
    }
    spans_add(&spans, next, mask);
    return range_of_spans(&spans, range->width, false);
}

struct range range_shift(const struct range *range, uint64_t distance)
{
    struct spans spans = {0};
    uint64_t mask = width_mask(range->width);

    if ((distance & mask) == 0 || range_is_full(range))
        return *range;
    for (uint32_t i = 0; i < range->count; i++) {
        uint64_t low = (range->spans[i].low + distance) & mask;
        uint64_t high = (range->spans[i].high + distance) & mask;
        if (low <= high)
            spans_add(&spans, low, high);
        else {
            spans_add(&spans, low, mask);
            spans_add(&spans, 0, high);
        }
    }
    return range_of_spans(&spans, range->width, range->is_wider);
}

// ---- Other widths

struct range range_extend(const struct range *range, uint32_t width, enum extension extension)
{
    struct spans spans = {0};
    uint64_t sign = width_sign(range->width), above = width_mask(width) - width_mask(range->width);

    assert(width >= range->width);
    for (uint32_t i = 0; i < range->count; i++) {
        struct span span = range->spans[i];
        if (extension == EXTENSION_ZERO || span.high < sign)
            spans_add(&spans, span.low, span.high);
        else if (span.low >= sign)
            spans_add(&spans, span.low + above, span.high + above);
        else {
            spans_add(&spans, span.low, sign - 1);
            spans_add(&spans, sign + above, span.high + above);
        }
    }
    return range_of_spans(&spans, width, range->is_wider);
}

struct range range_before_extend(const struct range *range, uint32_t width,
                                 enum extension extension)
{
    struct range all = range_full(width);
    struct range image = range_extend(&all, range->width, extension);
    struct range kept = range_intersect(range, &image);
    struct spans spans = {0};

    // what is left of the image goes back by its lower bits, in order
    for (uint32_t i = 0; i < kept.count; i++)
        spans_add(&spans, kept.spans[i].low & width_mask(width),
                  kept.spans[i].high & width_mask(width));
    return range_of_spans(&spans, width, kept.is_wider);
}

struct range range_truncate(const struct range *range, uint32_t width)
{
    struct spans spans = {0};
    uint64_t mask = width_mask(width);

    for (uint32_t i = 0; i < range->count; i++) {
        struct span span = range->spans[i];
        if (span.high - span.low >= mask)
            return range_full(width);
        if ((span.low & mask) <= (span.high & mask))
            spans_add(&spans, span.low & mask, span.high & mask);
        else {
            spans_add(&spans, span.low & mask, mask);
            spans_add(&spans, 0, span.high & mask);
        }
    }
    return range_of_spans(&spans, width, range->is_wider);
}

struct range range_before_truncate(const struct range *range, uint32_t width)
{
    struct range all = range_full(width);

    if (range->count == 0)
        return range_empty(width);
    all.is_wider = range->is_wider || !range_is_full(range);
    return all;
}

struct range range_close(const struct range *range)
{
    uint32_t width = range->width;
    uint64_t sign = width_sign(width), mask = width_mask(width);
    const struct span atoms[] = {{0, 0}, {1, 1}, {2, sign - 1}, {sign, mask - 1}, {mask, mask}};
    struct spans spans = {0};

    if (width < 3)
        return *range;
    for (uint32_t i = 0; i < sizeof(atoms) / sizeof(*atoms); i++) {
        struct range atom = range_span(width, atoms[i].low, atoms[i].high);
        struct range met = range_intersect(range, &atom);
        if (met.count)
            spans_add(&spans, atoms[i].low, atoms[i].high);
    }
    return range_of_spans(&spans, width, range->is_wider);
}

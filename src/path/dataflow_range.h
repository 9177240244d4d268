// SPDX-License-Identifier: Apache-2.0
/*
 * Sets of numbers of one width, as a few spans of unsigned numbers: what a variable may be.
 *
 *     struct range range = range_of_predicate(32, PREDICATE_SLT, 10);
 *     range = range_intersect(&range, &other);
 *     if (range.count == 0) ... // nothing
 *
 * Signed and unsigned comparisons, holes (x != 7) and numbers that wrap around are all the same
 * here. Spans are ascending, apart from each other by at least one number that is missing. What
 * would take more than RANGE_MOST spans is made larger by its smallest gaps; `is_wider` says that a
 * set is not exact but holds more than it should. Of those a complement must not be taken.
 */
#ifndef PATH_DATAFLOW_RANGE_H
#define PATH_DATAFLOW_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#define RANGE_MOST 8u

struct span {
    uint64_t low, high; // both are in
};

struct range {
    uint8_t width; // bits, 1 to 64
    uint8_t count; // 0: empty
    bool is_wider;
    struct span spans[RANGE_MOST];
};

static inline uint64_t width_mask(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static inline uint64_t width_sign(uint32_t width)
{
    return UINT64_C(1) << (width - 1);
}

// The number with its sign in 64 bits.
static inline int64_t width_signed(uint32_t width, uint64_t number)
{
    uint64_t sign = width_sign(width);

    return (int64_t)(((number & width_mask(width)) ^ sign) - sign);
}

struct range range_empty(uint32_t width);
struct range range_full(uint32_t width);
// From low up to high, around the end where high is smaller.
struct range range_span(uint32_t width, uint64_t low, uint64_t high);
struct range range_single(uint32_t width, uint64_t number);
// The numbers x with `x predicate number` (enum insn_predicate, of integers).
struct range range_of_predicate(uint32_t width, uint32_t predicate, uint64_t number);

static inline bool range_is_full(const struct range *range)
{
    return range->count == 1 && range->spans[0].low == 0 &&
           range->spans[0].high == width_mask(range->width);
}

static inline bool range_is_single(const struct range *range)
{
    return range->count == 1 && range->spans[0].low == range->spans[0].high;
}

bool range_holds(const struct range *range, uint64_t number);
bool range_is_equal(const struct range *a, const struct range *b);
bool range_is_subset(const struct range *a, const struct range *b);
int64_t range_signed_low(const struct range *range); // not of the empty one
int64_t range_signed_high(const struct range *range);

struct range range_intersect(const struct range *a, const struct range *b);
struct range range_union(const struct range *a, const struct range *b);
struct range range_complement(const struct range *range);
struct range range_shift(const struct range *range, uint64_t distance); // x + distance, wrapping

// What becomes of the numbers, and what numbers become those of a range.
enum extension {
    EXTENSION_ZERO,
    EXTENSION_SIGN,
};
struct range range_extend(const struct range *range, uint32_t width, enum extension extension);
struct range range_before_extend(const struct range *range, uint32_t width,
                                 enum extension extension);
struct range range_truncate(const struct range *range, uint32_t width);
struct range range_before_truncate(const struct range *range, uint32_t width);

/*
 * The least of a few coarse sets that holds the range: unions of 0, 1, -1, and the smaller and
 * greater numbers. What paths have in common is told by these, so that it does not change for ever.
 */
struct range range_close(const struct range *range);

#endif

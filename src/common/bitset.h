// SPDX-License-Identifier: Apache-2.0
/*
 * A dense set of small integers: one bit for each of 0 .. size-1.
 *
 *     struct bitset seen;
 *     bitset_init(&seen, node_count);
 *     if (!bitset_test_and_set(&seen, node))
 *             ...
 *     for (size_t i = bitset_next(&seen, 0); i < seen.size; i = bitset_next(&seen, i + 1))
 *             ...
 *     bitset_deinit(&seen);
 *
 * Bits at and behind size are always 0. Two-set operations take sets of the same size.
 */
#ifndef INQUEST_COMMON_BITSET_H
#define INQUEST_COMMON_BITSET_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
    uint64_t *words;
    size_t size; /* in bits */
};

#define BITSET_INIT {NULL, 0}

/* Empty. */
void bitset_init(struct bitset *set, size_t size);
void bitset_init_copy(struct bitset *set, const struct bitset *source);
void bitset_deinit(struct bitset *set);
/* New bits are 0; bits behind a smaller size are lost. */
void bitset_resize(struct bitset *set, size_t size);

static inline bool bitset_test(const struct bitset *set, size_t bit)
{
    assert(bit < set->size);
    return set->words[bit / 64] >> (bit % 64) & 1;
}

static inline void bitset_set(struct bitset *set, size_t bit)
{
    assert(bit < set->size);
    set->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void bitset_clear(struct bitset *set, size_t bit)
{
    assert(bit < set->size);
    set->words[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/* What the bit was before it was set. */
static inline bool bitset_test_and_set(struct bitset *set, size_t bit)
{
    bool before = bitset_test(set, bit);
    bitset_set(set, bit);
    return before;
}

void bitset_set_all(struct bitset *set);
void bitset_clear_all(struct bitset *set);
void bitset_copy(struct bitset *set, const struct bitset *source);
void bitset_complement(struct bitset *set);

/* set |= other, set &= other, set &= ~other; whether set changed. */
bool bitset_union(struct bitset *set, const struct bitset *other);
bool bitset_intersect(struct bitset *set, const struct bitset *other);
bool bitset_subtract(struct bitset *set, const struct bitset *other);

size_t bitset_count(const struct bitset *set);
bool bitset_is_empty(const struct bitset *set);
bool bitset_equal(const struct bitset *a, const struct bitset *b);
/* Whether every bit of set is in other. */
bool bitset_is_subset(const struct bitset *set, const struct bitset *other);
bool bitset_intersects(const struct bitset *a, const struct bitset *b);

/* The first bit set at or after from, or size where there is none. */
size_t bitset_next(const struct bitset *set, size_t from);

#define _cleanup_bitset_ __attribute__((__cleanup__(bitset_deinit)))

#endif

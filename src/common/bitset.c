// SPDX-License-Identifier: Apache-2.0
#include "common/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

static size_t bitset_words(size_t size)
{
    return size / 64 + (size % 64 != 0);
}

/* Keeps the invariant that bits behind size are 0. */
static void bitset_trim(struct bitset *set)
{
    if (set->size % 64)
        set->words[set->size / 64] &= (UINT64_C(1) << (set->size % 64)) - 1;
}

void bitset_init(struct bitset *set, size_t size)
{
    set->words = xcalloc(bitset_words(size), sizeof(*set->words));
    set->size = size;
}

void bitset_init_copy(struct bitset *set, const struct bitset *source)
{
    set->words = xmemdup(source->words, bitset_words(source->size) * sizeof(*set->words));
    set->size = source->size;
}

void bitset_deinit(struct bitset *set)
{
    free(set->words);
    *set = (struct bitset)BITSET_INIT;
}

void bitset_resize(struct bitset *set, size_t size)
{
    size_t before = bitset_words(set->size);
    size_t after = bitset_words(size);
    set->words = xrealloc_array(set->words, after, sizeof(*set->words));
    if (after > before)
        memset(&set->words[before], 0, (after - before) * sizeof(*set->words));
    set->size = size;
    bitset_trim(set);
}

void bitset_set_all(struct bitset *set)
{
    memset(set->words, 0xff, bitset_words(set->size) * sizeof(*set->words));
    bitset_trim(set);
}

void bitset_clear_all(struct bitset *set)
{
    memset(set->words, 0, bitset_words(set->size) * sizeof(*set->words));
}

void bitset_copy(struct bitset *set, const struct bitset *source)
{
    assert(set->size == source->size);
    if (set != source)
        memcpy(set->words, source->words, bitset_words(set->size) * sizeof(*set->words));
}

void bitset_complement(struct bitset *set)
{
    for (size_t i = 0; i < bitset_words(set->size); i++)
        set->words[i] = ~set->words[i];
    bitset_trim(set);
}

bool bitset_union(struct bitset *set, const struct bitset *other)
{
    assert(set->size == other->size);
    uint64_t changed = 0;
    for (size_t i = 0; i < bitset_words(set->size); i++) {
        changed |= other->words[i] & ~set->words[i];
        set->words[i] |= other->words[i];
    }
    return changed != 0;
}

bool bitset_intersect(struct bitset *set, const struct bitset *other)
{
    assert(set->size == other->size);
    uint64_t changed = 0;
    for (size_t i = 0; i < bitset_words(set->size); i++) {
        changed |= set->words[i] & ~other->words[i];
        set->words[i] &= other->words[i];
    }
    return changed != 0;
}

bool bitset_subtract(struct bitset *set, const struct bitset *other)
{
    assert(set->size == other->size);
    uint64_t changed = 0;
    for (size_t i = 0; i < bitset_words(set->size); i++) {
        changed |= set->words[i] & other->words[i];
        set->words[i] &= ~other->words[i];
    }
    return changed != 0;
}

size_t bitset_count(const struct bitset *set)
{
    size_t count = 0;
    for (size_t i = 0; i < bitset_words(set->size); i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool bitset_is_empty(const struct bitset *set)
{
    return bitset_next(set, 0) == set->size;
}

bool bitset_equal(const struct bitset *a, const struct bitset *b)
{
    assert(a->size == b->size);
    for (size_t i = 0; i < bitset_words(a->size); i++) {
        if (a->words[i] != b->words[i])
            return false;
    }
    return true;
}

bool bitset_is_subset(const struct bitset *set, const struct bitset *other)
{
    assert(set->size == other->size);
    for (size_t i = 0; i < bitset_words(set->size); i++) {
        if (set->words[i] & ~other->words[i])
            return false;
    }
    return true;
}

bool bitset_intersects(const struct bitset *a, const struct bitset *b)
{
    assert(a->size == b->size);
    for (size_t i = 0; i < bitset_words(a->size); i++) {
        if (a->words[i] & b->words[i])
            return true;
    }
    return false;
}

size_t bitset_next(const struct bitset *set, size_t from)
{
    if (from >= set->size)
        return set->size;
    size_t i = from / 64;
    uint64_t word = set->words[i] & (UINT64_MAX << (from % 64));
    while (!word) {
        if (++i >= bitset_words(set->size))
            return set->size;
        word = set->words[i];
    }
    return i * 64 + (size_t)__builtin_ctzll(word);
}

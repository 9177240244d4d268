// SPDX-License-Identifier: Apache-2.0
/*
 * A sparse set of 32-bit ids: blocks of 32 bits, sorted by number; 8 bytes a block. For very many
 * sets that are mostly small.
 *
 *     struct sparse_set set = SPARSE_SET_INIT;
 *     if (sparse_set_add(&set, id))                   // was not in it
 *             ...
 *     SPARSE_SET_FOREACH (&set, i)                    // uint32_t i, rising; set may not change
 *             use(i);
 *     sparse_set_deinit(&set);
 */
#ifndef INQUEST_COMMON_SPARSE_SET_H
#define INQUEST_COMMON_SPARSE_SET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

struct sparse_block {
    uint32_t number; /* the ids number * 32 + bit */
    uint32_t bits;   /* never 0 */
};

struct sparse_set {
    struct sparse_block *blocks;
    uint32_t count, capacity;
};

#define SPARSE_SET_INIT {NULL, 0, 0}

static inline void sparse_set_deinit(struct sparse_set *set)
{
    free(set->blocks);
    *set = (struct sparse_set)SPARSE_SET_INIT;
}

static inline bool sparse_set_is_empty(const struct sparse_set *set)
{
    return set->count == 0;
}

static inline void sparse_set_clear(struct sparse_set *set)
{
    set->count = 0;
}

static inline void sparse_set_reserve(struct sparse_set *set, uint32_t capacity)
{
    if (capacity <= set->capacity)
        return;
    uint32_t grown = set->capacity + set->capacity / 2;
    set->capacity = grown > capacity ? grown : capacity;
    set->blocks = xrealloc_array(set->blocks, set->capacity, sizeof(*set->blocks));
}

/* The first block from `from` on whose number is not smaller; gallops. */
static inline uint32_t sparse_set_seek(const struct sparse_set *set, uint32_t from, uint32_t number)
{
    uint32_t step = 1, low = from;

    if (from >= set->count || set->blocks[from].number >= number)
        return from;
    while (low + step < set->count && set->blocks[low + step].number < number) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < set->count ? low + step : set->count;
    while (low + 1 < high) { /* blocks[low] is smaller, blocks[high] is not */
        uint32_t middle = low + (high - low) / 2;
        if (set->blocks[middle].number < number)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static inline bool sparse_set_contains(const struct sparse_set *set, uint32_t id)
{
    uint32_t at = sparse_set_seek(set, 0, id / 32);

    return at < set->count && set->blocks[at].number == id / 32 &&
           (set->blocks[at].bits >> id % 32 & 1);
}

/* Whether it was not in the set. */
static inline bool sparse_set_add(struct sparse_set *set, uint32_t id)
{
    uint32_t at = sparse_set_seek(set, 0, id / 32), bit = UINT32_C(1) << id % 32;

    if (at < set->count && set->blocks[at].number == id / 32) {
        bool is_new = !(set->blocks[at].bits & bit);
        set->blocks[at].bits |= bit;
        return is_new;
    }
    sparse_set_reserve(set, set->count + 1);
    memmove(&set->blocks[at + 1], &set->blocks[at], (set->count - at) * sizeof(*set->blocks));
    set->blocks[at] = (struct sparse_block){id / 32, bit};
    set->count++;
    return true;
}

static inline bool sparse_set_remove(struct sparse_set *set, uint32_t id)
{
    uint32_t at = sparse_set_seek(set, 0, id / 32), bit = UINT32_C(1) << id % 32;

    if (at >= set->count || set->blocks[at].number != id / 32 || !(set->blocks[at].bits & bit))
        return false;
    set->blocks[at].bits &= ~bit;
    if (!set->blocks[at].bits) {
        set->count--;
        memmove(&set->blocks[at], &set->blocks[at + 1], (set->count - at) * sizeof(*set->blocks));
    }
    return true;
}

/* *ret becomes what is in set and not in other. */
static inline void sparse_set_difference(const struct sparse_set *set,
                                         const struct sparse_set *other, struct sparse_set *ret)
{
    uint32_t at = 0;

    ret->count = 0;
    sparse_set_reserve(ret, set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        struct sparse_block block = set->blocks[i];
        at = sparse_set_seek(other, at, block.number);
        if (at < other->count && other->blocks[at].number == block.number)
            block.bits &= ~other->blocks[at].bits;
        if (block.bits)
            ret->blocks[ret->count++] = block;
    }
}

/* set |= other, from the back so that it is done in place. */
static inline void sparse_set_union(struct sparse_set *set, const struct sparse_set *other)
{
    uint32_t fresh = 0, at = 0;

    for (uint32_t i = 0; i < other->count; i++) {
        at = sparse_set_seek(set, at, other->blocks[i].number);
        if (at < set->count && set->blocks[at].number == other->blocks[i].number)
            set->blocks[at].bits |= other->blocks[i].bits;
        else
            fresh++;
    }
    if (!fresh)
        return;
    sparse_set_reserve(set, set->count + fresh);
    uint32_t to = set->count + fresh, from = set->count, i = other->count;
    set->count = to;
    while (i > 0 && fresh > 0) {
        if (from > 0 && set->blocks[from - 1].number >= other->blocks[i - 1].number) {
            i -= set->blocks[from - 1].number == other->blocks[i - 1].number;
            set->blocks[--to] = set->blocks[--from];
        } else {
            set->blocks[--to] = other->blocks[--i];
            fresh--;
        }
    }
    assert(to == from);
}

static inline bool sparse_set_intersects(const struct sparse_set *a, const struct sparse_set *b)
{
    if (a->count > b->count)
        return sparse_set_intersects(b, a);
    for (uint32_t i = 0, at = 0; i < a->count; i++) {
        at = sparse_set_seek(b, at, a->blocks[i].number);
        if (at < b->count && b->blocks[at].number == a->blocks[i].number &&
            b->blocks[at].bits & a->blocks[i].bits)
            return true;
    }
    return false;
}

static inline uint32_t sparse_set_size(const struct sparse_set *set)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < set->count; i++)
        size += (uint32_t)__builtin_popcount(set->blocks[i].bits);
    return size;
}

/* The first id from *id on; false at the end. *block is where it was found, 0 to begin with. */
static inline bool sparse_set_next(const struct sparse_set *set, uint32_t *block, uint32_t *id)
{
    for (; *block < set->count; ++*block) {
        uint32_t number = set->blocks[*block].number, bits = set->blocks[*block].bits;
        if (number == *id / 32)
            bits &= UINT32_MAX << *id % 32;
        else if (number < *id / 32)
            continue;
        if (bits) {
            *id = number * 32 + (uint32_t)__builtin_ctz(bits);
            return true;
        }
    }
    return false;
}

#define SPARSE_SET_FOREACH(set, id)                                                                \
    for (uint32_t id##_block_ = 0, id = 0; sparse_set_next((set), &id##_block_, &id); id++)

#endif

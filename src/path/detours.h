// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs at most to meet marks besides: there are places that every path comes by, and from
 * which it can make a detour and be back. So an optimal path has no stretch that meets some marks
 * and is longer, by more than the detours to these, than another stretch between the same places
 * that does not meet them: with the other and the detours it would be shorter.
 *
 *     struct detours detours;
 *     detours_init(&detours, &bounds, wanted);
 *     if (length > other + detours.cost[set]) ... // no optimal path has this
 *     detours_deinit(&detours);
 *
 * Only where nothing speaks against meeting more: no negative scores, no orders, no dataflow.
 */
#ifndef PATH_DETOURS_H
#define PATH_DETOURS_H

#include "common/bitset.h"
#include "path/bounds.h"

#define DETOURS_FAR  (UINT32_C(1) << 30)
#define DETOURS_MOST 10u // bits that are few

struct detours {
    uint32_t single[64];    // by bit; BOUNDS_FAR: there is no such detour, or it is not wanted
    uint32_t own_place[64]; // by bit: where that detour starts from
    // Where bits are few; else NULL.
    uint32_t *cost; // by set of bits
    // By set that is had and set that is wanted: what detours to the rest cost, and one more where
    // there is a rest; DETOURS_FAR.
    uint32_t *rows;
    uint32_t bit_count;
    uint32_t place;     // one that detours start from, or FLOW_NONE
    struct bitset near; // vertices on the cheapest detours from there, and on a shortest path
};

// At most so much for all of them; BOUNDS_FAR.
uint32_t detours_of(const struct detours *detours, uint64_t bits);
// bit_count: sets are of so many. The bounds get a layer for each that is wanted.
void detours_init(struct detours *detours, struct bounds *bounds, uint64_t wanted,
                  uint32_t bit_count);
// Detours to several marks at once cost no more than this (by set; BOUNDS_FAR: nothing is known).
void detours_lower(struct detours *detours, const uint32_t *cost);
void detours_deinit(struct detours *detours);

#endif

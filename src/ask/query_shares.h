// SPDX-License-Identifier: Apache-2.0
/*
 * A query about a process as queries about its threads, whose letters come in any order.
 *
 *     struct query_ways ways;
 *     query_ways_init(&ways, query);
 *     for (uint32_t w = 0; w < ways.count; w++)
 *             struct query *share = query_share(&ways, w, 1u << 0); // to be destroyed
 *     query_ways_deinit(&ways);
 *
 * A *way* to fit the query takes one side of every `or`. Its *leaves* are what has to be done, each
 * by some thread: events; `(Q) inside f()` and patterns, which are about one thread's run. All else
 * (`never E`, `A only inside f()`) has to hold in every thread. The *share* of a thread that does
 * some of the leaves is the query in which each other leaf is any piece of run.
 *
 * A run of the process that fits the query fits one of its ways: its threads do all of the leaves,
 * each the share of those that it does. So where no threads can, the query is impossible. The other
 * way round it is so where the way `is_exact`. It is not where threads together may do what none of
 * them does, as with `never (A then B)`; nor where orders that threads have to keep may contradict
 * each other, as in `(A then B) and (C then D)` when one thread does D before A and one B before C.
 */
#ifndef ASK_QUERY_SHARES_H
#define ASK_QUERY_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"

struct bitset;
struct query;
struct query_node;

enum {
    QUERY_LEAVES_MAX = 6, // more are any piece of run, and the way is not exact
    QUERY_WAYS_MAX = 32,  // where there were more, an `or` may be any piece of run
};

struct query_way {
    const struct query_node *root;
    uint32_t leaf_count;
    bool is_exact;
};

struct query_ways {
    const struct query *query;
    struct arena arena;
    struct query_way *ways;
    uint32_t count;
};

// The query has to outlive the ways, which have to outlive the queries made of them.
void query_ways_init(struct query_ways *ways, const struct query *query);
void query_ways_deinit(struct query_ways *ways);

// Of a thread that does these leaves, by bit; NULL: any run.
struct query *query_share(const struct query_ways *ways, uint32_t way, uint32_t leaves);
// May a thread that comes to these nodes only do the leaf?
bool query_leaf_reaches(const struct query_ways *ways, uint32_t way, uint32_t leaf,
                        const struct bitset *nodes);
// What holds of every thread from its beginning to its end; NULL: any run.
struct query *query_share_always(const struct query_ways *ways, uint32_t way);
// Of threads beside one whose run fits the whole query: none of what they do can change that. NULL:
// any run.
struct query *query_share_beside(const struct query_ways *ways);

#endif

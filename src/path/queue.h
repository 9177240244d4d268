// SPDX-License-Identifier: Apache-2.0
/*
 * A queue of numbers by key, the smallest key first, for searches whose keys never fall below the
 * one that was taken last (a radix heap: Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the
 * shortest path problem, 1990).
 *
 *     struct path_queue queue = {0};
 *     path_queue_push(&queue, key, id);
 *     while (path_queue_pop(&queue, &entry))
 *             ...                          // pushes keys >= entry.key; smaller ones count as that
 *     path_queue_deinit(&queue);
 *
 * Among equal keys, the last that was pushed comes first. A number may be on it more than once.
 */
#ifndef PATH_QUEUE_H
#define PATH_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/vec.h"

struct path_queue_entry {
    uint64_t key;
    uint32_t id;
};
VEC_DEFINE(path_queue_vec, struct path_queue_entry);

#define PATH_QUEUE_BUCKETS 65u

struct path_queue {
    // Bucket b > 0: keys whose highest bit that differs from `last` is bit b - 1.
    struct path_queue_vec buckets[PATH_QUEUE_BUCKETS];
    uint64_t last;
    uint64_t length;
};

static inline uint32_t path_queue_bucket(const struct path_queue *queue, uint64_t key)
{
    return key == queue->last ? 0 : 64u - (uint32_t)__builtin_clzll(key ^ queue->last);
}

static inline void path_queue_push(struct path_queue *queue, uint64_t key, uint32_t id)
{
    if (key < queue->last)
        key = queue->last;
    path_queue_vec_push(&queue->buckets[path_queue_bucket(queue, key)],
                        (struct path_queue_entry){key, id});
    queue->length++;
}

static inline void path_queue_refill(struct path_queue *queue)
{
    uint32_t b = 1;

    while (!queue->buckets[b].length)
        b++;
    struct path_queue_vec *from = &queue->buckets[b];
    uint64_t least = from->data[0].key;
    for (size_t i = 1; i < from->length; i++)
        least = from->data[i].key < least ? from->data[i].key : least;
    queue->last = least;
    for (size_t i = 0; i < from->length; i++) {
        uint32_t to = path_queue_bucket(queue, from->data[i].key);

        assert(to < b);
        path_queue_vec_push(&queue->buckets[to], from->data[i]);
    }
    from->length = 0;
}

static inline bool path_queue_pop(struct path_queue *queue, struct path_queue_entry *ret)
{
    if (!queue->length)
        return false;
    if (!queue->buckets[0].length)
        path_queue_refill(queue);
    *ret = queue->buckets[0].data[--queue->buckets[0].length];
    queue->length--;
    return true;
}

static inline void path_queue_deinit(struct path_queue *queue)
{
    for (uint32_t b = 0; b < PATH_QUEUE_BUCKETS; b++)
        path_queue_vec_deinit(&queue->buckets[b]);
    *queue = (struct path_queue){.last = 0};
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * A worklist of dense 32-bit ids 0 .. size-1, each on it at most once.
 *
 *     struct worklist work;
 *     worklist_init(&work, node_count, NULL);
 *     worklist_push(&work, entry);
 *     for (uint32_t node; worklist_pop(&work, &node);)
 *             ...                                  // may push
 *     worklist_deinit(&work);
 *
 * Without priorities it is first in, first out. With them (one number an id, borrowed for the life
 * of the list; reverse postorder, say) the smallest comes first and, among equals, the smallest id.
 * A priority may not change while its id is on the list.
 */
#ifndef INQUEST_COMMON_WORKLIST_H
#define INQUEST_COMMON_WORKLIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/bitset.h"

struct worklist {
    uint32_t *ids;            /* a ring, or a binary heap where there are priorities */
    const uint32_t *priority; /* or NULL */
    struct bitset on_list;
    uint32_t size;
    uint32_t head; /* of the ring */
    uint32_t length;
};

static inline void worklist_init(struct worklist *list, uint32_t size, const uint32_t *priority)
{
    list->ids = xmalloc_array(size, sizeof(*list->ids));
    list->priority = priority;
    bitset_init(&list->on_list, size);
    list->size = size;
    list->head = 0;
    list->length = 0;
}

static inline void worklist_deinit(struct worklist *list)
{
    free(list->ids);
    list->ids = NULL;
    bitset_deinit(&list->on_list);
    list->size = 0;
    list->length = 0;
}

static inline bool worklist_is_empty(const struct worklist *list)
{
    return list->length == 0;
}

static inline bool worklist_before(const struct worklist *list, uint32_t a, uint32_t b)
{
    uint32_t pa = list->priority[a];
    uint32_t pb = list->priority[b];
    return pa != pb ? pa < pb : a < b;
}

static inline void worklist_sift_up(struct worklist *list, uint32_t at)
{
    uint32_t id = list->ids[at];
    while (at > 0 && worklist_before(list, id, list->ids[(at - 1) / 2])) {
        list->ids[at] = list->ids[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    list->ids[at] = id;
}

static inline void worklist_sift_down(struct worklist *list, uint32_t at)
{
    uint32_t id = list->ids[at];
    for (;;) {
        uint64_t child = (uint64_t)at * 2 + 1;
        if (child >= list->length)
            break;
        if (child + 1 < list->length &&
            worklist_before(list, list->ids[child + 1], list->ids[child]))
            child++;
        if (!worklist_before(list, list->ids[child], id))
            break;
        list->ids[at] = list->ids[child];
        at = (uint32_t)child;
    }
    list->ids[at] = id;
}

/* Whether it was not on the list yet. */
static inline bool worklist_push(struct worklist *list, uint32_t id)
{
    if (bitset_test_and_set(&list->on_list, id))
        return false;
    assert(list->length < list->size);
    if (list->priority) {
        list->ids[list->length++] = id;
        worklist_sift_up(list, list->length - 1);
    } else {
        uint64_t tail = (uint64_t)list->head + list->length++;
        list->ids[tail < list->size ? tail : tail - list->size] = id;
    }
    return true;
}

/* The next id, no longer on the list; false when the list is empty. */
static inline bool worklist_pop(struct worklist *list, uint32_t *ret)
{
    if (list->length == 0)
        return false;
    uint32_t id;
    if (list->priority) {
        id = list->ids[0];
        list->ids[0] = list->ids[--list->length];
        if (list->length > 0)
            worklist_sift_down(list, 0);
    } else {
        id = list->ids[list->head];
        list->head = list->head + 1 == list->size ? 0 : list->head + 1;
        list->length--;
    }
    bitset_clear(&list->on_list, id);
    *ret = id;
    return true;
}

#endif

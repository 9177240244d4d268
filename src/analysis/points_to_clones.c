// SPDX-License-Identifier: Apache-2.0
/*
 * Objects that one call allocates for many contexts of its wrapper are worth their number only
 * where they are told apart. Those that lie together in many large sets become one again.
 */
#include <stdlib.h>

#include "analysis/points_to_internal.h"

#define LARGE_SET        256u // points
#define MOST_LARGE_NODES 4u
#define LEAST_CLONES     8u

// Objects in large sets.
static bool find_crowded(struct points_to *pt, struct bitset *ret)
{
    struct sparse_set points = SPARSE_SET_INIT;
    uint32_t count = 0;

    for (uint32_t n = 1; n < pt->nodes.length; n++) {
        const struct node *node = &pt->nodes.data[n];
        if (node->parent != n || node->points.count < LARGE_SET / 32 ||
            sparse_set_size(&node->points) < LARGE_SET)
            continue;
        count++;
        sparse_set_union(&points, &node->points);
    }
    bitset_init(ret, pt->objects.length);
    SPARSE_SET_FOREACH (&points, p) {
        uint32_t object = pt->points.data[point_find(pt, p)].object;
        bitset_set(ret, object);
        object_at(pt, object)->is_crowded |= count > MOST_LARGE_NODES;
    }
    sparse_set_deinit(&points);
    return count > MOST_LARGE_NODES;
}

struct clone {
    uint32_t module, insn, object;
};
VEC_DEFINE(clone_vec, struct clone);

static int compare_clones(const void *a, const void *b)
{
    const struct clone *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->insn != y->insn)
        return x->insn < y->insn ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static void find_clones(const struct points_to *pt, const struct bitset *crowded,
                        struct clone_vec *ret)
{
    for (size_t o = bitset_next(crowded, 0); o < crowded->size; o = bitset_next(crowded, o + 1)) {
        const struct pt_object *object = object_at(pt, (uint32_t)o);
        if (object->info.kind == OBJECT_HEAP && !object->is_temporary && !object->forward)
            clone_vec_push(ret,
                           (struct clone){object->info.module, object->info.index, (uint32_t)o});
    }
    if (ret->length)
        qsort(ret->data, ret->length, sizeof(*ret->data), compare_clones);
}

bool clones_merge(struct points_to *pt)
{
    struct bitset crowded;
    struct clone_vec clones = VEC_INIT;
    bool merged = false;

    if (find_crowded(pt, &crowded))
        find_clones(pt, &crowded, &clones);
    for (size_t i = 0, end; i < clones.length; i = end) {
        struct id_vec objects = VEC_INIT;
        for (end = i; end < clones.length && clones.data[end].module == clones.data[i].module &&
                      clones.data[end].insn == clones.data[i].insn;
             end++)
            id_vec_push(&objects, clones.data[end].object);
        if (objects.length >= LEAST_CLONES) {
            objects_merge(pt, &objects);
            merged = true;
        }
        id_vec_deinit(&objects);
    }
    bitset_deinit(&crowded);
    clone_vec_deinit(&clones);
    return merged;
}

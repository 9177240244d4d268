// SPDX-License-Identifier: Apache-2.0
// What a constraint asks for when its node comes to hold a point.
#include "analysis/points_to_internal.h"

static void give(struct points_to *pt, uint32_t target, uint32_t object, uint64_t offset)
{
    uint64_t size = object_at(pt, object)->info.size;

    if (size == 0 || offset == POINT_ANYWHERE || offset <= size) // one behind the end may be named
        node_add_point(pt, target, point_get(pt, object, offset));
}

static void give_offsets(struct points_to *pt, uint32_t target, uint32_t object,
                         const struct offset_list *list)
{
    if (list->anywhere)
        node_add_point(pt, target, point_anywhere(pt, object));
    for (uint32_t i = 0; i < list->count; i++)
        give(pt, target, object, list->data[i]);
    if (list->fold_stride)
        object_want_fold(pt, object, list->fold_lo, list->fold_hi, list->fold_stride);
}

// ---- Moves

static void apply_array(struct points_to *pt, const struct constraint *c, uint32_t object,
                        uint64_t offset)
{
    uint64_t stride = (uint64_t)c->offset, hi = UINT64_MAX;

    // An array of one or none at the end of a struct has as many elements as there is room for.
    if (c->size > 1 && c->size < (UINT64_MAX - offset) / stride)
        hi = offset + c->size * stride;
    object_want_fold(pt, object, offset, hi, stride);
    give(pt, c->target, object, offset);
}

static void apply_move(struct points_to *pt, const struct constraint *c, uint32_t object,
                       uint64_t offset)
{
    const struct pt_object *o = object_at(pt, object);
    struct offset_list list = {.count = 0};

    switch (c->kind) {
    case CONSTRAINT_SHIFT:
        layout_shift(&o->layout, offset, c->offset, &list);
        break;
    case CONSTRAINT_ARRAY:
        apply_array(pt, c, object, offset);
        return;
    case CONSTRAINT_WALK:
        layout_walk(&o->layout, o->info.size, offset, (uint64_t)c->offset, &list);
        break;
    case CONSTRAINT_MASK:
        list.data[list.count++] = offset;
        list.data[list.count++] =
            layout_normalise(&o->layout, offset - offset % (uint64_t)c->offset);
        break;
    default:
        list.anywhere = true;
        break;
    }
    give_offsets(pt, c->target, object, &list);
}

static void move(struct points_to *pt, const struct constraint *c, uint32_t point)
{
    struct point p = pt->points.data[point];

    if (point == WORLD_POINT || p.offset == POINT_ANYWHERE)
        node_add_point(pt, c->target, point);
    else if (object_at(pt, p.object)->info.kind == OBJECT_FUNCTION) {
        if (c->kind != CONSTRAINT_SHIFT || c->offset == 0)
            node_add_point(pt, c->target, point);
    } else
        apply_move(pt, c, p.object, p.offset);
}

// ---- Memory

static bool is_constant(const struct points_to *pt, const struct object *object)
{
    if (object->kind == OBJECT_CONSTANTS)
        return true;
    if (object->kind != OBJECT_GLOBAL || object->module == MODEL_NONE)
        return false;
    const struct global *global = &pt->model->modules[object->module].code->globals[object->index];
    return (global->flags & GLOBAL_CONSTANT) && !(global->flags & GLOBAL_DECLARED);
}

static bool has_memory(const struct points_to *pt, uint32_t point, bool to_write)
{
    const struct point *p = &pt->points.data[point];
    const struct object *object = &object_at(pt, p->object)->info;

    if (object->kind == OBJECT_FUNCTION)
        return false;
    if (p->offset != POINT_ANYWHERE && object->size && p->offset >= object->size)
        return false;
    return !to_write || !is_constant(pt, object);
}

static void apply_memory(struct points_to *pt, const struct constraint *c, uint32_t point)
{
    uint32_t object = pt->points.data[point].object;
    bool to_write = c->kind == CONSTRAINT_STORE || c->kind == CONSTRAINT_STORE_ALL;
    uint32_t node;

    if (!has_memory(pt, point, to_write))
        return;
    switch (c->kind) {
    case CONSTRAINT_LOAD:
        node = point_read(pt, point, c->size);
        break;
    case CONSTRAINT_STORE:
        node = point_write(pt, point, c->size);
        break;
    case CONSTRAINT_LOAD_ALL:
        node = object_read_all(pt, object);
        break;
    default:
        node = object_write_all(pt, object);
        break;
    }
    if (c->target == NODE_NONE)
        return;
    if (to_write)
        node_add_edge(pt, c->target, node);
    else
        node_add_edge(pt, node, c->target);
}

#define MOST_WINDOWS 128u // of one copy

static void apply_copy(struct points_to *pt, const struct constraint *c, uint32_t point)
{
    struct point p = pt->points.data[point];
    bool is_from = c->kind == CONSTRAINT_COPY_FROM;
    struct memo_key key = {(uint64_t)c->kind << 32 | c->target, p.object, p.offset};
    bool is_new;

    if (!has_memory(pt, point, !is_from))
        return;
    pt_memo_put_new(&pt->memo, key, &is_new);
    if (!is_new)
        return;
    bool is_foreign = object_at(pt, p.object)->info.escapes;
    if (++object_at(pt, c->target)->windows > MOST_WINDOWS) { // no longer field by field
        uint32_t from = is_from ? p.object : c->target, to = is_from ? c->target : p.object;
        node_add_edge(pt, object_read_all(pt, from), object_write_all(pt, to));
    } else if (is_foreign && is_from)
        node_add_edge(pt, pt->world, object_write_all(pt, c->target));
    else if (is_foreign)
        node_add_edge(pt, object_read_all(pt, c->target), pt->world);
    else if (is_from)
        window_add(pt, p.object, p.offset, c->target, 0, c->size);
    else
        window_add(pt, c->target, 0, p.object, p.offset, c->size);
}

void constraint_apply(struct points_to *pt, const struct constraint *c, uint32_t point)
{
    uint32_t object = pt->points.data[point].object;

    switch (c->kind) {
    case CONSTRAINT_LOAD:
    case CONSTRAINT_STORE:
    case CONSTRAINT_LOAD_ALL:
    case CONSTRAINT_STORE_ALL:
        apply_memory(pt, c, point);
        break;
    case CONSTRAINT_COPY_FROM:
    case CONSTRAINT_COPY_TO:
        apply_copy(pt, c, point);
        break;
    case CONSTRAINT_CALL:
        call_wire_object(pt, c->target, object);
        break;
    default:
        move(pt, c, point);
        break;
    }
}

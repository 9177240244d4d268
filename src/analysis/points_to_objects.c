// SPDX-License-Identifier: Apache-2.0
// Objects, their points and what is copied between them. See points_to_internal.h.
#include "analysis/points_to_internal.h"

#include <string.h>

#define MOST_POINTS      256u // of an object whose type is known
#define MOST_HEAP_POINTS 96u  // of others
#define MOST_CHANGES     5u   // of a layout, before the object becomes one cell

struct pt_object *object_at(const struct points_to *pt, uint32_t object)
{
    return pt_object_vec_at(&pt->objects, object);
}

uint32_t object_create(struct points_to *pt, struct object info)
{
    uint32_t object = (uint32_t)pt->objects.length;

    pt_object_vec_push(&pt->objects, (struct pt_object){.info = info, .first_window = MODEL_NONE});
    return object;
}

uint32_t point_find(const struct points_to *pt, uint32_t point)
{
    while (pt->points.data[point].forward != point)
        point = pt->points.data[point].forward;
    return point;
}

// ---- Points

static uint32_t point_create(struct points_to *pt, uint32_t object, uint64_t offset, uint32_t node)
{
    uint32_t point = (uint32_t)pt->points.length;

    assert(point < VALUE_POINT_BIT);
    point_vec_push(
        &pt->points,
        (struct point){.object = object, .forward = point, .offset = offset, .node = node});
    return point;
}

// Where the offset is, or belongs, among the object's points.
static uint32_t points_seek(const struct points_to *pt, const struct pt_object *object,
                            uint64_t offset)
{
    uint32_t low = 0, high = (uint32_t)object->points.length;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pt->points.data[object->points.data[middle]].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void points_insert(struct points_to *pt, uint32_t object, uint32_t at, uint32_t point)
{
    struct id_vec *points = &object_at(pt, object)->points;

    id_vec_push(points, point);
    memmove(&points->data[at + 1], &points->data[at],
            (points->length - 1 - at) * sizeof(*points->data));
    points->data[at] = point;
}

static void connect_all(struct points_to *pt, uint32_t object, uint32_t point)
{
    const struct pt_object *o = object_at(pt, object);

    if (o->read_node) {
        uint32_t read = o->read_node, write = o->write_node, node = pt->points.data[point].node;
        node_add_edge(pt, node, read);
        node_add_edge(pt, write, node);
    }
}

// Too many are told apart: it becomes one cell, and until then there are no new ones.
static bool is_full(struct points_to *pt, uint32_t object)
{
    const struct pt_object *o = object_at(pt, object);
    bool typed = o->info.kind == OBJECT_GLOBAL || o->info.kind == OBJECT_LOCAL;

    if (o->points.length < (typed && !o->is_temporary ? MOST_POINTS : MOST_HEAP_POINTS))
        return false;
    object_want_fold(pt, object, 0, UINT64_MAX, 1);
    return true;
}

uint32_t point_get(struct points_to *pt, uint32_t object, uint64_t offset)
{
    const struct pt_object *o = object_at(pt, object);

    if (object == WORLD_OBJECT)
        return WORLD_POINT;
    if (offset == POINT_ANYWHERE)
        return point_anywhere(pt, object);
    offset = layout_normalise(&o->layout, offset);
    uint32_t at = points_seek(pt, o, offset);
    if (at < o->points.length && pt->points.data[o->points.data[at]].offset == offset)
        return o->points.data[at];
    if (is_full(pt, object))
        return point_anywhere(pt, object);
    bool escapes = o->info.escapes;
    uint32_t point = point_create(pt, object, offset, escapes ? pt->world : node_create(pt));
    points_insert(pt, object, at, point);
    if (!escapes)
        connect_all(pt, object, point);
    else
        pt->points.data[point].is_written = true;
    return point;
}

uint32_t point_anywhere(struct points_to *pt, uint32_t object)
{
    struct pt_object *o = object_at(pt, object);

    if (object == WORLD_OBJECT)
        return WORLD_POINT;
    if (o->info.kind == OBJECT_FUNCTION || layout_is_one(&o->layout) || o->info.size == 1)
        return point_get(pt, object, 0);
    if (!o->anywhere) {
        uint32_t point = point_create(pt, object, POINT_ANYWHERE, NODE_NONE);
        object_at(pt, object)->anywhere = point + 1;
    }
    return object_at(pt, object)->anywhere - 1;
}

// ---- All of an object

static void window_serve_all(struct points_to *pt, uint32_t object);

static void make_all(struct points_to *pt, uint32_t object)
{
    struct pt_object *o = object_at(pt, object);

    if (o->read_node)
        return;
    if (o->info.escapes) {
        o->read_node = o->write_node = pt->world;
        window_serve_all(pt, object);
        return;
    }
    uint32_t read = node_create(pt), write = node_create(pt);
    o->read_node = read;
    o->write_node = write;
    node_add_edge(pt, write, read);
    for (size_t i = 0; i < o->points.length; i++)
        connect_all(pt, object, o->points.data[i]);
    window_serve_all(pt, object);
}

uint32_t object_read_all(struct points_to *pt, uint32_t object)
{
    if (object == WORLD_OBJECT)
        return pt->world;
    make_all(pt, object);
    return object_at(pt, object)->read_node;
}

uint32_t object_write_all(struct points_to *pt, uint32_t object)
{
    if (object == WORLD_OBJECT)
        return pt->world;
    make_all(pt, object);
    return object_at(pt, object)->write_node;
}

// ---- Accesses

// Unites the node with those of points that the bytes touch.
static void unite_overlapping(struct points_to *pt, uint32_t point)
{
    struct point p = pt->points.data[point];
    const struct pt_object *o = object_at(pt, p.object);
    uint64_t lo, hi, end = p.offset + p.length;

    layout_element(&o->layout, p.offset, &lo, &hi);
    if (end > hi) { // into the next element, which is the same one
        end = hi;
        p.offset = lo;
    }
    uint32_t at = points_seek(pt, o, p.offset);
    for (uint32_t i = at; i-- > 0;) { // accesses are short
        const struct point *other = &pt->points.data[o->points.data[i]];
        if (p.offset - other->offset > 64)
            break;
        if (other->offset + other->length > p.offset)
            node_unite(pt, other->node, p.node);
    }
    for (uint32_t i = at; i < o->points.length; i++) {
        const struct point *other = &pt->points.data[o->points.data[i]];
        if (other->offset >= end)
            break;
        node_unite(pt, other->node, p.node);
        o = object_at(pt, p.object);
    }
}

static void access(struct points_to *pt, uint32_t point, uint64_t length)
{
    struct point *p = &pt->points.data[point];

    p->is_accessed = true;
    if (length <= p->length)
        return;
    p->length = length;
    if (!object_at(pt, p->object)->info.escapes)
        unite_overlapping(pt, point);
}

uint32_t point_read(struct points_to *pt, uint32_t point, uint64_t length)
{
    point = point_find(pt, point);
    if (point == WORLD_POINT)
        return pt->world;
    if (pt->points.data[point].offset == POINT_ANYWHERE)
        return object_read_all(pt, pt->points.data[point].object);
    access(pt, point, length);
    return pt->points.data[point].node;
}

static void mark_written(struct points_to *pt, uint32_t point)
{
    if (pt->points.data[point].is_written)
        return;
    pt->points.data[point].is_written = true;
    if (object_at(pt, pt->points.data[point].object)->first_window != MODEL_NONE)
        id_vec_push(&pt->written, point);
}

uint32_t point_write(struct points_to *pt, uint32_t point, uint64_t length)
{
    point = point_find(pt, point);
    if (point == WORLD_POINT)
        return pt->world;
    if (pt->points.data[point].offset == POINT_ANYWHERE)
        return object_write_all(pt, pt->points.data[point].object);
    access(pt, point, length);
    mark_written(pt, point);
    return pt->points.data[point].node;
}

// ---- Escape

// Model-less code reads and writes all of it, so that it holds what the world holds.
void object_escape(struct points_to *pt, uint32_t object)
{
    struct pt_object *o = object_at(pt, object);

    if (o->info.escapes || o->info.kind == OBJECT_FUNCTION || o->info.kind == OBJECT_CONSTANTS)
        return;
    o->info.escapes = true;
    for (size_t i = 0; i < o->points.length; i++) {
        uint32_t point = o->points.data[i];
        node_unite(pt, pt->world, pt->points.data[point].node);
        pt->points.data[point].node = pt->world;
        o = object_at(pt, object);
        mark_written(pt, point);
    }
    if (o->read_node) {
        uint32_t write = o->write_node;
        node_unite(pt, pt->world, o->read_node);
        node_unite(pt, pt->world, write);
    }
    make_all(pt, object);
    window_serve_all(pt, object);
}

// ---- Copies of bytes

static void window_fold(struct points_to *pt, const struct window *window,
                        const struct region *folds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool all = folds[i].lo == 0 && folds[i].hi == UINT64_MAX && window->to == 0;
        uint64_t hi = folds[i].hi > UINT64_MAX - window->to ? UINT64_MAX : folds[i].hi + window->to;
        object_want_fold(pt, window->target, all ? 0 : window->to + folds[i].lo, hi,
                         folds[i].stride);
    }
}

static void window_serve(struct points_to *pt, uint32_t index, uint32_t point)
{
    struct window window = pt->windows.data[index];
    window.target = object_find(pt, window.target);
    struct point p = pt->points.data[point];
    struct region folds[MOST_FOLDS];
    uint64_t relative;
    uint32_t fold_count;

    if (window.from == POINT_ANYWHERE || window.to == POINT_ANYWHERE)
        return; // through the nodes of all
    if (!layout_relative(&object_at(pt, p.object)->layout, window.from, p.offset, window.length,
                         &relative, folds, &fold_count))
        return;
    const struct pt_object *target = object_at(pt, window.target);
    if (target->info.size && window.to + relative >= target->info.size)
        return;
    window_fold(pt, &window, folds, fold_count);
    uint64_t length = p.length;
    if (window.length != LENGTH_ANY && length > window.length - relative)
        length = window.length - relative;
    uint32_t to = point_get(pt, window.target, window.to + relative);
    node_add_edge(pt, p.node, point_write(pt, to, length ? length : 1));
}

// The part of a window that goes through the nodes of whole objects.
static void window_serve_whole(struct points_to *pt, uint32_t object, const struct window *window)
{
    bool from_any = window->from == POINT_ANYWHERE, to_any = window->to == POINT_ANYWHERE;
    const struct pt_object *o = object_at(pt, object);

    if (!from_any && !to_any && !(o->read_node && o->write_node))
        return;
    if (from_any || to_any) {
        node_add_edge(pt, object_read_all(pt, object), object_write_all(pt, window->target));
        return;
    }
    // what is written somewhere into the source may be anywhere in the target
    uint32_t write = o->write_node;
    node_add_edge(pt, write, object_write_all(pt, window->target));
}

static void window_serve_all(struct points_to *pt, uint32_t object)
{
    for (uint32_t w = object_at(pt, object)->first_window; w != MODEL_NONE;
         w = pt->windows.data[w].next) {
        struct window window = pt->windows.data[w];
        window.target = object_find(pt, window.target);
        window_serve_whole(pt, object, &window);
    }
}

// Memory that holds no pointers (yet) is not copied.
static bool is_put_off(struct points_to *pt, uint32_t point)
{
    struct point *p = &pt->points.data[point];

    if (!sparse_set_is_empty(&pt->nodes.data[node_find(pt, p->node)].points))
        return false;
    if (!p->is_put_off)
        id_vec_push(&pt->empty, point);
    p->is_put_off = true;
    return true;
}

void window_add(struct points_to *pt, uint32_t from_object, uint64_t from, uint32_t to_object,
                uint64_t to, uint64_t length)
{
    uint32_t index = (uint32_t)pt->windows.length;
    struct pt_object *o = object_at(pt, from_object);
    struct window window = {to_object, o->first_window, from, to, length};

    window_vec_push(&pt->windows, window);
    o->first_window = index;
    window_serve_whole(pt, from_object, &window);
    for (size_t i = 0; i < object_at(pt, from_object)->points.length; i++) {
        uint32_t point = object_at(pt, from_object)->points.data[i];
        if (pt->points.data[point].is_written && !is_put_off(pt, point))
            window_serve(pt, index, point);
    }
}

// Points that have come to hold something.
void windows_look_again(struct points_to *pt)
{
    struct id_vec empty = pt->empty;

    pt->empty = (struct id_vec)VEC_INIT;
    for (size_t i = 0; i < empty.length; i++) {
        uint32_t point = point_find(pt, empty.data[i]);
        pt->points.data[point].is_put_off = false;
        id_vec_push(&pt->written, point);
    }
    id_vec_deinit(&empty);
}

void windows_serve(struct points_to *pt)
{
    while (pt->written.length) {
        uint32_t point = point_find(pt, id_vec_pop(&pt->written));
        if (is_put_off(pt, point))
            continue;
        uint32_t object = pt->points.data[point].object;
        for (uint32_t w = object_at(pt, object)->first_window; w != MODEL_NONE;
             w = pt->windows.data[w].next)
            window_serve(pt, w, point);
    }
}

// ---- Folding

void object_want_fold(struct points_to *pt, uint32_t object, uint64_t lo, uint64_t hi,
                      uint64_t stride)
{
    struct pt_object *o = object_at(pt, object);

    if (object == WORLD_OBJECT || o->info.kind == OBJECT_FUNCTION)
        return;
    if (o->info.size && hi > o->info.size && lo > 0)
        hi = o->info.size;
    if (hi <= lo || o->will_be_one || !layout_would_fold(&o->layout, lo, hi, stride))
        return;
    struct memo_key key = {object, lo, hi ^ stride << 48};
    bool is_new;
    pt_memo_put_new(&pt->wanted, key, &is_new);
    if (!is_new)
        return;
    o->will_be_one = lo == 0 && hi == UINT64_MAX && stride == 1;
    fold_vec_push(&pt->folds, (struct fold){object, lo, hi, stride});
    o->is_pending = true;
}

// The points of an object after its layout has changed, with new ids.
static void renew_points(struct points_to *pt, uint32_t object)
{
    struct id_vec old = object_at(pt, object)->points;

    object_at(pt, object)->points = (struct id_vec)VEC_INIT;
    object_at(pt, object)->is_pending = object_at(pt, object)->will_be_one = false;
    for (size_t i = 0; i < old.length; i++) {
        struct point before = pt->points.data[old.data[i]];
        const struct pt_object *o = object_at(pt, object);
        uint64_t offset = layout_normalise(&o->layout, before.offset);
        uint32_t at = points_seek(pt, o, offset), point;
        if (at < o->points.length && pt->points.data[o->points.data[at]].offset == offset) {
            point = o->points.data[at];
            node_unite(pt, pt->points.data[point].node, before.node);
        } else {
            point = point_create(pt, object, offset, before.node);
            points_insert(pt, object, at, point);
        }
        struct point *p = &pt->points.data[point];
        p->length = before.length > p->length ? before.length : p->length;
        p->is_written |= before.is_written;
        p->is_accessed |= before.is_accessed;
        pt->points.data[old.data[i]].forward = point;
        sparse_set_add(&pt->stale, old.data[i]);
    }
    id_vec_deinit(&old);
}

static void settle_points(struct points_to *pt, uint32_t object)
{
    struct pt_object *o = object_at(pt, object);

    if (layout_is_one(&o->layout) && o->anywhere) {
        uint32_t any = o->anywhere - 1, one = point_get(pt, object, 0);
        o = object_at(pt, object);
        o->anywhere = 0;
        pt->points.data[any].forward = one;
        sparse_set_add(&pt->stale, any);
    }
    for (size_t i = 0; i < object_at(pt, object)->points.length; i++) {
        uint32_t point = object_at(pt, object)->points.data[i];
        if (pt->points.data[point].length && !object_at(pt, object)->info.escapes)
            unite_overlapping(pt, point);
        if (pt->points.data[point].is_written && object_at(pt, object)->first_window != MODEL_NONE)
            id_vec_push(&pt->written, point);
    }
}

bool folds_apply(struct points_to *pt)
{
    struct fold_vec folds = pt->folds;
    bool any = false;

    pt->folds = (struct fold_vec)VEC_INIT;
    pt_memo_deinit(&pt->wanted);
    for (size_t i = 0; i < folds.length; i++) {
        folds.data[i].object = object_find(pt, folds.data[i].object);
        struct pt_object *o = object_at(pt, folds.data[i].object);
        o->is_pending = true;
        layout_fold(&o->layout, &pt->arena, folds.data[i].lo, folds.data[i].hi,
                    folds.data[i].stride);
    }
    for (size_t i = 0; i < folds.length; i++)
        if (object_at(pt, folds.data[i].object)->is_pending) {
            struct pt_object *o = object_at(pt, folds.data[i].object);
            if (++o->changes > MOST_CHANGES || o->is_crowded)
                layout_fold(&o->layout, &pt->arena, 0, UINT64_MAX, 1);
            renew_points(pt, folds.data[i].object);
            settle_points(pt, folds.data[i].object);
            any = true;
        }
    fold_vec_deinit(&folds);
    return any;
}

// ---- Merging

uint32_t object_find(const struct points_to *pt, uint32_t object)
{
    while (object_at(pt, object)->forward)
        object = object_at(pt, object)->forward - 1;
    return object;
}

static void merge_points(struct points_to *pt, uint32_t into, uint32_t from)
{
    struct id_vec points = object_at(pt, from)->points;

    object_at(pt, from)->points = (struct id_vec)VEC_INIT;
    for (size_t i = 0; i < points.length; i++) {
        struct point before = pt->points.data[points.data[i]];
        uint32_t point = point_get(pt, into, before.offset);
        struct point *p = &pt->points.data[point];
        if (p->offset != POINT_ANYWHERE) {
            p->length = before.length > p->length ? before.length : p->length;
            p->is_written |= before.is_written;
            p->is_accessed |= before.is_accessed;
            node_unite(pt, p->node, before.node);
        } else {
            node_unite(pt, object_write_all(pt, into), before.node);
        }
        pt->points.data[points.data[i]].forward = point;
        sparse_set_add(&pt->stale, points.data[i]);
    }
    id_vec_deinit(&points);
}

static void merge_windows(struct points_to *pt, uint32_t into, uint32_t from)
{
    uint32_t first = object_at(pt, from)->first_window, last = first;

    if (first == MODEL_NONE)
        return;
    while (pt->windows.data[last].next != MODEL_NONE)
        last = pt->windows.data[last].next;
    pt->windows.data[last].next = object_at(pt, into)->first_window;
    object_at(pt, into)->first_window = first;
    object_at(pt, from)->first_window = MODEL_NONE;
}

static void merge_into(struct points_to *pt, uint32_t into, uint32_t from)
{
    struct pt_object *a = object_at(pt, into), *b = object_at(pt, from);

    if (a->info.escapes != b->info.escapes) {
        object_escape(pt, into);
        object_escape(pt, from);
        a = object_at(pt, into);
        b = object_at(pt, from);
    }
    if (a->info.size != b->info.size)
        a->info.size = 0;
    a->info.context = MODEL_NONE;
    merge_windows(pt, into, from);
    merge_points(pt, into, from);
    b = object_at(pt, from);
    if (b->anywhere) {
        uint32_t any = b->anywhere - 1;
        b->anywhere = 0;
        pt->points.data[any].forward = point_anywhere(pt, into);
        sparse_set_add(&pt->stale, any);
    }
    if (object_at(pt, from)->read_node) {
        node_unite(pt, object_read_all(pt, into), object_at(pt, from)->read_node);
        node_unite(pt, object_write_all(pt, into), object_at(pt, from)->write_node);
    }
    object_at(pt, from)->forward = into + 1;
    object_at(pt, from)->is_temporary = true;
    object_at(pt, from)->is_pending = false;
}

void objects_merge(struct points_to *pt, const struct id_vec *objects)
{
    uint32_t into = objects->data[0];

    for (size_t i = 1; i < objects->length; i++)
        layout_merge(&object_at(pt, into)->layout, &pt->arena,
                     &object_at(pt, objects->data[i])->layout);
    for (size_t i = 1; i < objects->length; i++)
        merge_into(pt, into, objects->data[i]);
    renew_points(pt, into);
    settle_points(pt, into);
}

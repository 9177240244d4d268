// SPDX-License-Identifier: Apache-2.0
// What was found, as cells. See points_to.h.
#include "analysis/points_to_result.h"

#include <stdlib.h>

#include "common/strbuf.h"

// ---- Cells

static void push_cell(struct results *results, struct cell cell, uint32_t node)
{
    cell_vec_push(&results->cells, cell);
    id_vec_push(&results->cell_nodes, node);
}

// Points of one object whose bytes overlap are one cell.
static void cells_of_object(struct points_to *pt, uint32_t object)
{
    struct results *results = pt->results;
    const struct pt_object *o = object_at(pt, object);
    uint64_t end = 0;
    bool open = false;

    for (size_t i = 0; i < o->points.length; i++) {
        const struct point *p = &pt->points.data[o->points.data[i]];
        if (o->info.size && p->offset >= o->info.size && p->offset > 0)
            continue; // behind the end
        if (!open || p->offset >= end) {
            struct cell cell = {{object}, p->offset, layout_stride(&o->layout, p->offset), 0};
            push_cell(results, cell, p->node);
            end = p->offset + 1;
            open = true;
        }
        struct cell *last = cell_vec_last(&results->cells);
        uint64_t lo, hi;
        layout_element(&o->layout, p->offset, &lo, &hi);
        uint64_t point_end = p->offset + p->length < hi ? p->offset + p->length : hi;
        end = point_end > end ? point_end : end;
        uint64_t array_end = layout_end_of_array(&o->layout, last->offset, p->offset);
        if (last->offset != p->offset && array_end > end)
            end = array_end; // bytes before an array run into it
        if (p->length || last->offset != p->offset)
            last->length = end - last->offset;
        results->cell_of_point[o->points.data[i]] = (uint32_t)results->cells.length - 1;
    }
}

static void cells_build(struct points_to *pt)
{
    struct results *results = pt->results;

    results->cell_of_point = xmalloc_array(pt->points.length + 1, sizeof(uint32_t));
    results->object_ids = xmalloc_array(pt->objects.length + 1, sizeof(uint32_t));
    for (size_t i = 0; i < pt->points.length; i++)
        results->cell_of_point[i] = MODEL_NONE;
    for (uint32_t o = 0; o < pt->objects.length; o++) {
        struct object info = object_at(pt, o)->info;
        results->object_ids[o] = MODEL_NONE;
        if (object_at(pt, o)->is_temporary)
            continue;
        info.first_cell = (uint32_t)results->cells.length;
        cells_of_object(pt, o);
        if (object_at(pt, o)->anywhere || info.first_cell == results->cells.length)
            push_cell(results, (struct cell){{o}, 0, 1, 0}, object_at(pt, o)->read_node);
        info.cell_count = (uint32_t)results->cells.length - info.first_cell;
        results->object_ids[o] = (uint32_t)results->objects.length;
        for (uint32_t c = info.first_cell; c < results->cells.length; c++)
            results->cells.data[c].object.value = (uint32_t)results->objects.length;
        object_vec_push(&results->objects, info);
        id_vec_push(&results->sources, o);
    }
}

// ---- Sets

static int compare_ids(const void *a, const void *b)
{
    const struct cell_id *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

struct cell_set cells_finish(struct results *results, struct cell_id_vec *cells)
{
    size_t kept = 0;

    if (cells->length == 0)
        return (struct cell_set){NULL, 0, false};
    qsort(cells->data, cells->length, sizeof(*cells->data), compare_ids);
    for (size_t i = 0; i < cells->length; i++)
        if (kept == 0 || cells->data[kept - 1].value != cells->data[i].value)
            cells->data[kept++] = cells->data[i];
    struct cell_set set = {arena_memdup(&results->arena, cells->data, kept * sizeof(*cells->data)),
                           (uint32_t)kept, false};
    return set;
}

void cells_add_object(const struct results *results, uint32_t object, struct cell_id_vec *cells)
{
    const struct object *info = &results->objects.data[object];

    for (uint32_t c = 0; c < info->cell_count; c++)
        cell_id_vec_push(cells, (struct cell_id){info->first_cell + c});
}

void cells_add_point(const struct points_to *pt, uint32_t point, struct cell_id_vec *cells)
{
    const struct results *results = pt->results;
    uint32_t object = results->object_ids[pt->points.data[point].object];

    if (object == MODEL_NONE)
        return;
    if (pt->points.data[point].offset == POINT_ANYWHERE)
        cells_add_object(results, object, cells);
    else if (results->cell_of_point[point] != MODEL_NONE)
        cell_id_vec_push(cells, (struct cell_id){results->cell_of_point[point]});
}

// The cells of `length` bytes from the point on.
void cells_add_extent(const struct points_to *pt, uint32_t point, uint64_t length,
                      struct cell_id_vec *cells)
{
    const struct results *results = pt->results;
    struct point p = pt->points.data[point];
    uint32_t object = results->object_ids[p.object];
    struct region folds[MOST_FOLDS];
    uint64_t relative;
    uint32_t fold_count;

    cells_add_point(pt, point, cells);
    if (object == MODEL_NONE || p.offset == POINT_ANYWHERE)
        return;
    const struct object *info = &results->objects.data[object];
    for (uint32_t c = info->first_cell; c < info->first_cell + info->cell_count; c++) {
        const struct cell *cell = &results->cells.data[c];
        if (layout_relative(&object_at(pt, p.object)->layout, p.offset, cell->offset, length,
                            &relative, folds, &fold_count))
            cell_id_vec_push(cells, (struct cell_id){c});
    }
}

struct cell_set anything(void)
{
    return (struct cell_set){NULL, 0, true};
}

struct cell_set results_node(const struct points_to *pt, uint32_t node)
{
    struct results *results = pt->results;
    node = node_find((struct points_to *)pt, node);
    if (!results->known_nodes[node]) {
        struct cell_id_vec *cells = &results->scratch;
        cell_id_vec_clear(cells);
        SPARSE_SET_FOREACH (&pt->nodes.data[node].points, p)
            cells_add_point(pt, point_find(pt, p), cells);
        struct cell_set *set = arena_alloc_one(&results->arena, struct cell_set);
        *set = cells_finish(results, cells);
        results->known_nodes[node] = set;
    }
    return *results->known_nodes[node];
}

struct cell_set results_cell(const struct points_to *pt, uint32_t cell)
{
    uint32_t node = pt->results->cell_nodes.data[cell];

    return node ? results_node(pt, node) : (struct cell_set){NULL, 0, false};
}

static struct cell_set set_of_point(const struct points_to *pt, uint32_t point)
{
    struct results *results = pt->results;
    struct cell_set **known = &results->known_points[point];

    if (!*known) {
        cell_id_vec_clear(&results->scratch);
        cells_add_point(pt, point, &results->scratch);
        *known = arena_alloc_one(&results->arena, struct cell_set);
        **known = cells_finish(results, &results->scratch);
    }
    return **known;
}

struct cell_set results_value(const struct points_to *pt, struct value value)
{
    if (value.bits == 0)
        return (struct cell_set){NULL, 0, false};
    if (value_is_point(value))
        return set_of_point(pt, point_find(pt, value_point(value)));
    return results_node(pt, value.bits);
}

struct cell_set points_to_value(const struct points_to *pt, struct module_id module,
                                struct operand operand)
{
    if (!pt->is_complete)
        return anything();
    return results_value(pt, results_operand(pt, module.value, operand));
}

/*
 * Constant expressions may make nodes; they are all made while the program is built, and found
 * again by the memo. What is new now is an expression that no instruction uses: nothing flows
 * there.
 */
struct value results_operand(const struct points_to *pt, uint32_t module, struct operand operand)
{
    struct points_to *mutable = (struct points_to *)pt;
    size_t nodes = pt->nodes.length, points = pt->points.length;
    struct value value = value_of_operand(mutable, module, operand);

    if (value_is_point(value) && point_find(pt, value_point(value)) >= points)
        return (struct value){0};
    return !value_is_point(value) && value.bits >= nodes ? (struct value){0} : value;
}

void results_value_extent(const struct points_to *pt, struct value value, uint64_t length,
                          struct cell_id_vec *cells)
{
    if (value.bits == 0)
        return;
    if (value_is_point(value)) {
        cells_add_extent(pt, point_find(pt, value_point(value)), length, cells);
        return;
    }
    uint32_t node = node_find((struct points_to *)pt, value.bits);
    SPARSE_SET_FOREACH (&pt->nodes.data[node].points, p)
        cells_add_extent(pt, point_find(pt, p), length, cells);
}

struct cell_set points_to_extent(const struct points_to *pt, struct module_id module,
                                 struct operand operand, uint64_t length)
{
    struct results *results = pt->results;

    if (!pt->is_complete)
        return anything();
    struct value value = results_operand(pt, module.value, operand);
    uint64_t of =
        value_is_point(value) ? value.bits : node_find((struct points_to *)pt, value.bits);
    struct memo_key key = {UINT64_MAX - 3, of, length};
    bool is_new;
    uint32_t *known = pt_memo_put_new(&results->extents, key, &is_new);
    if (is_new) {
        *known = (uint32_t)results->extent_sets.length;
        struct cell_id_vec cells = VEC_INIT;
        results_value_extent(pt, value, length ? length : LENGTH_ANY, &cells);
        cell_set_vec_push(&results->extent_sets, cells_finish(results, &cells));
        cell_id_vec_deinit(&cells);
    }
    return results->extent_sets.data[*known];
}

bool points_to_holds(const struct points_to *pt, struct cell_set set, struct cell_id cell)
{
    if (set.is_anything)
        return true;
    uint32_t low = 0, high = set.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set.data[middle].value < cell.value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < set.count && set.data[low].value == cell.value)
        return true;
    return set.count && set.data[0].value == POINTS_TO_WORLD_CELL &&
           points_to_object(pt, points_to_cell(pt, cell)->object)->escapes;
}

// ---- Tables

uint32_t points_to_object_count(const struct points_to *pt)
{
    return (uint32_t)pt->results->objects.length;
}

const struct object *points_to_object(const struct points_to *pt, struct object_id object)
{
    return object_vec_at(&pt->results->objects, object.value);
}

uint32_t points_to_cell_count(const struct points_to *pt)
{
    return (uint32_t)pt->results->cells.length;
}

const struct cell *points_to_cell(const struct points_to *pt, struct cell_id cell)
{
    return cell_vec_at(&pt->results->cells, cell.value);
}

void results_build(struct points_to *pt)
{
    pt->results = xcalloc(1, sizeof(*pt->results));
    arena_init(&pt->results->arena);
    if (!pt->is_complete)
        return;
    cells_build(pt);
    pt->results->known_nodes = xcalloc(pt->nodes.length + 1, sizeof(struct cell_set *));
    pt->results->known_points = xcalloc(pt->points.length + 1, sizeof(struct cell_set *));
    singles_find(pt);
}

void results_destroy(struct results *results)
{
    if (!results)
        return;
    cell_vec_deinit(&results->cells);
    object_vec_deinit(&results->objects);
    id_vec_deinit(&results->sources);
    id_vec_deinit(&results->cell_nodes);
    cell_id_vec_deinit(&results->scratch);
    cell_set_vec_deinit(&results->extent_sets);
    pt_memo_deinit(&results->extents);
    accesses_vec_deinit(&results->accesses);
    pt_map_deinit(&results->access_of_insn);
    free(results->cell_of_point);
    free(results->object_ids);
    free(results->known_nodes);
    free(results->known_points);
    arena_deinit(&results->arena);
    free(results);
}

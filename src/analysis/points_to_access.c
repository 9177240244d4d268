// SPDX-License-Identifier: Apache-2.0
// What an instruction itself reads and writes. See points_to_accesses().
#include <string.h>

#include "analysis/points_to_result.h"

struct gather {
    const struct points_to *pt;
    struct cell_id_vec reads, writes, certain;
};

// ---- Sets of points

static void points_of_value(const struct points_to *pt, struct value value, struct sparse_set *ret)
{
    if (value_is_point(value))
        sparse_set_add(ret, point_find(pt, value_point(value)));
    else if (value.bits)
        sparse_set_union(ret,
                         &pt->nodes.data[node_find((struct points_to *)pt, value.bits)].points);
}

// What the objects of these points hold.
static void points_held(const struct points_to *pt, const struct sparse_set *points,
                        struct sparse_set *ret)
{
    struct points_to *mutable = (struct points_to *)pt;

    SPARSE_SET_FOREACH (points, point) {
        const struct pt_object *o = object_at(pt, pt->points.data[point].object);
        for (size_t i = 0; i < o->points.length; i++) {
            uint32_t node = node_find(mutable, pt->points.data[o->points.data[i]].node);
            sparse_set_union(ret, &pt->nodes.data[node].points);
        }
        if (o->read_node)
            sparse_set_union(ret, &pt->nodes.data[node_find(mutable, o->read_node)].points);
    }
}

static void points_reachable(const struct points_to *pt, struct sparse_set *points)
{
    uint32_t before;

    do {
        struct sparse_set held = SPARSE_SET_INIT;
        before = sparse_set_size(points);
        points_held(pt, points, &held);
        sparse_set_union(points, &held);
        sparse_set_deinit(&held);
    } while (sparse_set_size(points) != before);
}

// ---- Places of effects

// The points that the place begins at. *ret_all: whole objects.
static void place_points(const struct points_to *pt, uint32_t call, struct effect_place place,
                         struct sparse_set *ret, bool *ret_all)
{
    const struct pt_call *c = &pt->calls.data[call];
    struct sparse_set base = SPARSE_SET_INIT, held = SPARSE_SET_INIT;
    bool is_state = place.kind == EFFECT_STATE || place.kind == EFFECT_STATE_POINTEE;

    if (is_state)
        sparse_set_add(&base, object_at(pt, pt->state_objects[place.index])->points.data[0]);
    else if (place.kind == EFFECT_RESULT_POINTEE)
        points_of_value(pt, value_of_node(c->result), &base);
    else if (place.kind == EFFECT_VARIADIC_POINTEE)
        for (uint32_t i = place.index; i < c->argument_count; i++)
            points_of_value(pt, call_argument(pt, call, i), &base);
    else if (place.kind != EFFECT_NOTHING && place.kind != EFFECT_ARGUMENT &&
             place.kind != EFFECT_VARIADIC && place.kind != EFFECT_RESULT)
        points_of_value(pt, call_argument(pt, call, place.index), &base);
    uint32_t times = place.kind == EFFECT_STATE_POINTEE || place.kind == EFFECT_POINTEE_POINTEE ||
                             place.kind == EFFECT_LISTED
                         ? 1
                     : place.kind == EFFECT_LISTED_POINTEE ? 2
                                                           : 0;
    *ret_all = place.kind == EFFECT_REACHABLE || times > 0;
    for (; times > 0; times--) {
        sparse_set_clear(&held);
        points_held(pt, &base, &held);
        sparse_set_clear(&base);
        sparse_set_union(&base, &held);
    }
    if (place.kind == EFFECT_REACHABLE)
        points_reachable(pt, &base);
    sparse_set_union(ret, &base);
    sparse_set_deinit(&base);
    sparse_set_deinit(&held);
}

static bool has_memory(const struct points_to *pt, uint32_t point, bool to_write)
{
    const struct object *object = &object_at(pt, pt->points.data[point].object)->info;

    if (object->kind == OBJECT_FUNCTION)
        return false;
    if (!to_write || (object->kind != OBJECT_GLOBAL && object->kind != OBJECT_CONSTANTS))
        return true;
    if (object->kind == OBJECT_CONSTANTS)
        return false;
    const struct global *global = &pt->model->modules[object->module].code->globals[object->index];
    return !(global->flags & GLOBAL_CONSTANT) || global->flags & GLOBAL_DECLARED;
}

static void add_points(const struct points_to *pt, const struct sparse_set *points, bool all,
                       uint64_t length, bool to_write, struct cell_id_vec *cells)
{
    SPARSE_SET_FOREACH (points, p) {
        uint32_t point = point_find(pt, p);
        if (!has_memory(pt, point, to_write))
            continue;
        if (all)
            cells_add_object(pt->results, pt->results->object_ids[pt->points.data[point].object],
                             cells);
        else
            cells_add_extent(pt, point, length, cells);
    }
}

// Cells that `length` bytes from the only point on certainly cover.
static void add_certain(const struct points_to *pt, const struct sparse_set *points,
                        uint64_t length, struct cell_id_vec *cells)
{
    const struct results *results = pt->results;

    if (sparse_set_size(points) != 1 || length == LENGTH_ANY)
        return;
    uint32_t first = 0, block = 0;
    sparse_set_next(points, &block, &first);
    struct point p = pt->points.data[point_find(pt, first)];
    uint32_t id = results->object_ids[p.object];
    if (id == MODEL_NONE || p.offset == POINT_ANYWHERE)
        return;
    const struct object *object = &results->objects.data[id];
    if (!object->is_single || layout_stride(&object_at(pt, p.object)->layout, p.offset))
        return;
    for (uint32_t c = object->first_cell; c < object->first_cell + object->cell_count; c++) {
        const struct cell *cell = &results->cells.data[c];
        bool whole = p.offset == 0 && object->size && length >= object->size;
        bool inside = cell->stride == 0 && cell->length && cell->offset >= p.offset &&
                      cell->offset - p.offset <= length &&
                      cell->length <= length - (cell->offset - p.offset);
        if (whole || inside)
            cell_id_vec_push(cells, (struct cell_id){c});
    }
}

// ---- Library functions

// May this call of printf write through %n?
static bool may_count(const struct points_to *pt, const struct pt_call *call,
                      const struct effects *effects)
{
    const struct code *code = pt->model->modules[call->module].code;
    const struct insn *insn = &code->insns[call->insn];

    if (effects->printf_format >= call->argument_count)
        return true;
    struct operand format = code_operand(code, insn, effects->printf_format);
    if (operand_kind(format) != OPERAND_GLOBAL)
        return true;
    struct operand text = code->globals[operand_index(format)].initialiser;
    if (operand_kind(text) != OPERAND_CONSTANT)
        return true;
    const struct constant *constant = &code->constants[operand_index(text)];
    if (constant->kind != CONSTANT_BYTES)
        return constant->kind != CONSTANT_ZERO;
    for (uint32_t i = 0; i + 1 < constant->byte_count; i++) {
        const uint8_t *bytes = code->bytes + constant->first_byte;
        if (bytes[i] != '%')
            continue;
        for (i++;
             i < constant->byte_count && strchr("0123456789 +-#'.*$hlqjzt", bytes[i]) && bytes[i];)
            i++;
        if (i < constant->byte_count && bytes[i] == 'n')
            return true;
    }
    return false;
}

static void gather_place(struct gather *gather, uint32_t call, struct effect_place place,
                         uint64_t length, bool to_write, bool certain)
{
    struct sparse_set points = SPARSE_SET_INIT;
    bool all = false;

    place_points(gather->pt, call, place, &points, &all);
    add_points(gather->pt, &points, all, length, to_write,
               to_write ? &gather->writes : &gather->reads);
    if (certain && !all)
        add_certain(gather->pt, &points, length, &gather->certain);
    sparse_set_deinit(&points);
}

static void gather_effect(struct gather *gather, uint32_t call, const struct effects *effects,
                          const struct effect *effect)
{
    const struct points_to *pt = gather->pt;
    uint64_t length = call_extent(pt, call, effect->extent);
    bool counts =
        effect->to.kind == EFFECT_VARIADIC_POINTEE || effect->to.kind == EFFECT_LISTED_POINTEE;

    switch ((enum effect_kind)effect->kind) {
    case EFFECT_READ:
        gather_place(gather, call, effect->from, length, false, false);
        break;
    case EFFECT_WRITE:
    case EFFECT_SETS:
        if (counts && effects->printf_format != EFFECT_NO_ARGUMENT &&
            !may_count(pt, &pt->calls.data[call], effects))
            break;
        gather_place(gather, call, effect->to, length, true, effect->kind == EFFECT_SETS);
        break;
    case EFFECT_COPY:
        gather_place(gather, call, effect->from, length, false, false);
        gather_place(gather, call, effect->to, length, true, false);
        break;
    case EFFECT_ALLOCATES:
        if (effect->to.kind == EFFECT_RESULT)
            gather_place(gather, call, (struct effect_place){EFFECT_RESULT_POINTEE, 0}, LENGTH_ANY,
                         true, false);
        else
            gather_place(gather, call, effect->to, 8, true, false);
        break;
    case EFFECT_CALLS:
    case EFFECT_RELEASES:
    case EFFECT_RETURNS:
        break;
    }
}

static void gather_library(struct gather *gather, uint32_t call, const char *name)
{
    const struct effects *effects = effects_find(name);

    for (uint32_t i = 0; effects && i < effects->count; i++)
        gather_effect(gather, call, effects, &effects->list[i]);
}

// Model-less code may touch all that it can reach: the world.
static void gather_world(struct gather *gather)
{
    cell_id_vec_push(&gather->reads, (struct cell_id){POINTS_TO_WORLD_CELL});
    cell_id_vec_push(&gather->writes, (struct cell_id){POINTS_TO_WORLD_CELL});
}

// ---- Instructions

static void gather_asm(struct gather *gather, uint32_t call)
{
    struct sparse_set points = SPARSE_SET_INIT;

    for (uint32_t i = 0; i < gather->pt->calls.data[call].argument_count; i++)
        points_of_value(gather->pt, call_argument(gather->pt, call, i), &points);
    points_reachable(gather->pt, &points);
    add_points(gather->pt, &points, true, LENGTH_ANY, false, &gather->reads);
    add_points(gather->pt, &points, true, LENGTH_ANY, true, &gather->writes);
    sparse_set_deinit(&points);
}

static void gather_argument(struct gather *gather, uint32_t call, uint32_t index, uint64_t length,
                            bool to_write)
{
    gather_place(gather, call, (struct effect_place){EFFECT_POINTEE, (uint8_t)index}, length,
                 to_write, false);
}

// What passing arguments in memory reads, and writes for the function that is entered.
static void gather_passed(struct gather *gather, uint32_t call, uint32_t function)
{
    const struct points_to *pt = gather->pt;
    const struct model_function *f = &pt->model->functions[function];
    const struct code *code = pt->model->modules[f->module.value].code;
    const struct code_function *body = &code->functions[f->index];
    uint32_t count = pt->calls.data[call].argument_count;
    struct sparse_set points = SPARSE_SET_INIT;

    for (uint32_t i = 0; i < body->argument_count && i < count; i++) {
        const struct argument *argument = &code->arguments[body->first_argument + i];
        if (!(argument->flags & ARGUMENT_BYVAL))
            continue;
        uint64_t size = code_type(code, argument->pointee)->size;
        sparse_set_clear(&points);
        points_of_value(pt, pt->argument_values[f->module.value][body->first_argument + i],
                        &points);
        add_points(pt, &points, false, size, true, &gather->writes);
        sparse_set_clear(&points);
        points_of_value(pt, call_argument(pt, call, i), &points);
        add_points(pt, &points, false, size, false, &gather->reads);
    }
    sparse_set_deinit(&points);
    if (f->flags & FUNCTION_VARARGS && pt->functions[function].variadic)
        cells_add_object(pt->results, pt->results->object_ids[pt->functions[function].variadic - 1],
                         &gather->writes);
}

// Structs beyond the fixed arguments are passed in memory.
static void gather_variadic(struct gather *gather, const struct code *code, uint32_t call)
{
    const struct points_to *pt = gather->pt;
    const struct pt_call *c = &pt->calls.data[call];
    struct sparse_set points = SPARSE_SET_INIT;

    if (c->site == MODEL_NONE ||
        !code->sites[c->site - pt->model->modules[c->module].first_site].signature.memory)
        return;
    for (uint32_t i = 0; i < c->argument_count; i++)
        points_of_value(pt, call_argument(pt, call, i), &points);
    add_points(pt, &points, true, LENGTH_ANY, false, &gather->reads);
    sparse_set_deinit(&points);
}

static void gather_call(struct gather *gather, const struct code *code, const struct insn *insn,
                        uint32_t call)
{
    const struct points_to *pt = gather->pt;
    uint32_t flags = code_call(code, insn)->flags;

    if (flags & CALL_ASM) {
        gather_asm(gather, call);
    } else if (flags & CALL_INTRINSIC) {
        const char *name =
            code_string(code, code->globals[operand_index(code_callee(code, insn))].name);
        gather_library(gather, call, name);
        if (strncmp(name, "llvm.va_start", 13) == 0 || strncmp(name, "llvm.va_copy", 12) == 0)
            gather_argument(gather, call, 0, 24, true);
        if (strncmp(name, "llvm.va_copy", 12) == 0)
            gather_argument(gather, call, 1, 24, false);
    } else {
        for (size_t i = 0; i < pt->calls.data[call].functions.length; i++)
            gather_passed(gather, call, pt->calls.data[call].functions.data[i]);
        gather_variadic(gather, code, call);
        SPARSE_SET_FOREACH (&pt->calls.data[call].done, object)
            if (object_at(pt, object)->name)
                gather_library(gather, call, object_at(pt, object)->name);
        if (pt->calls.data[call].is_unclear)
            gather_world(gather);
    }
}

static void gather_memory(struct gather *gather, uint32_t module, struct operand address,
                          uint64_t size, bool reads, bool writes, bool certain)
{
    struct sparse_set points = SPARSE_SET_INIT;
    const struct points_to *pt = gather->pt;

    points_of_value(pt, results_operand(pt, module, address), &points);
    SPARSE_SET_FOREACH (&points, p) {
        uint32_t point = point_find(pt, p);
        if (reads && has_memory(pt, point, false))
            cells_add_extent(pt, point, size, &gather->reads);
        if (writes && has_memory(pt, point, true))
            cells_add_extent(pt, point, size, &gather->writes);
    }
    if (certain)
        add_certain(pt, &points, size, &gather->certain);
    sparse_set_deinit(&points);
}

static void gather_insn(struct gather *gather, uint32_t module, uint32_t index)
{
    const struct points_to *pt = gather->pt;
    const struct code *code = pt->model->modules[module].code;
    const struct insn *insn = &code->insns[index];
    const uint32_t *call;

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD:
    case INSN_STORE:
    case INSN_CMPXCHG:
    case INSN_RMW: {
        bool is_store = insn->opcode == INSN_STORE;
        uint64_t size = code_type(code, (struct type_id){insn->detail})->store;
        gather_memory(gather, module, code_operand(code, insn, is_store), size, !is_store,
                      insn->opcode != INSN_LOAD, is_store || insn->opcode == INSN_RMW);
        break;
    }
    case INSN_VAARG:
        gather_memory(gather, module, code_operand(code, insn, 0), 24, true, true, false);
        break;
    case INSN_CALL:
    case INSN_INVOKE:
    case INSN_CALLBR:
        call = pt_map_get(&pt->call_of_insn, (uint64_t)module << 32 | index);
        if (call)
            gather_call(gather, code, insn, *call - 1);
        break;
    default:
        break;
    }
}

struct accesses points_to_accesses(const struct points_to *pt, struct module_id module,
                                   uint32_t insn)
{
    struct results *results = pt->results;
    bool is_new;

    if (!pt->is_complete)
        return (struct accesses){anything(), anything(), {NULL, 0, false}};
    uint32_t *known =
        pt_map_put_new(&results->access_of_insn, (uint64_t)module.value << 32 | insn, &is_new);
    if (!is_new)
        return results->accesses.data[*known];
    *known = (uint32_t)results->accesses.length;
    struct gather gather = {.pt = pt};
    gather_insn(&gather, module.value, insn);
    struct accesses accesses = {cells_finish(results, &gather.reads),
                                cells_finish(results, &gather.writes),
                                cells_finish(results, &gather.certain)};
    accesses_vec_push(&results->accesses, accesses);
    cell_id_vec_deinit(&gather.reads);
    cell_id_vec_deinit(&gather.writes);
    cell_id_vec_deinit(&gather.certain);
    return accesses;
}

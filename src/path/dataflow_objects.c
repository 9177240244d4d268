// SPDX-License-Identifier: Apache-2.0
/*
 * Variables of the program as pieces of memory, the parts of them that are read and written by
 * name (slots), and whose addresses are known elsewhere. Variables that several modules see are one
 * object a name; where more than one image defines it, or none, it is not tracked.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/points_to.h"
#include "common/alloc.h"
#include "path/dataflow_internal.h"

MAP_DEFINE_STRING(name_map, uint32_t);

uint32_t type_width(const struct code *code, struct type_id type)
{
    const struct type *t = code_type(code, type);
    bool is_scalar = t->kind == TYPE_INT || t->kind == TYPE_POINTER;

    return is_scalar && t->bits >= 1 && t->bits <= 64 ? t->bits : 0;
}

// ---- Addresses

static bool is_number(const struct code *code, struct operand operand)
{
    return operand_kind(operand) == OPERAND_CONSTANT &&
           code->constants[operand_index(operand)].kind == CONSTANT_INT;
}

static void add_gep(const struct code *code, uint32_t detail, int64_t *offset, bool *exact)
{
    const struct gep *gep = &code->geps[detail];

    *offset = (int64_t)((uint64_t)*offset + (uint64_t)gep->offset);
    for (uint32_t s = 0; s < gep->step_count; s++)
        *exact &= is_number(code, code->gep_steps[gep->first_step + s].index);
}

// One step from an address to what it is derived from; false: it is derived from nothing.
static bool step_back(const struct code *code, struct operand *operand, int64_t *offset,
                      bool *exact)
{
    uint32_t index = operand_index(*operand);
    uint8_t opcode;

    switch (operand_kind(*operand)) {
    case OPERAND_INSN:
        opcode = code->insns[index].opcode;
        if (opcode != INSN_GEP && opcode != INSN_BITCAST && opcode != INSN_ADDRSPACECAST)
            return false;
        if (opcode == INSN_GEP)
            add_gep(code, code->insns[index].detail, offset, exact);
        *operand = code_operand(code, &code->insns[index], 0);
        return true;
    case OPERAND_CONSTANT: {
        const struct constant *constant = &code->constants[index];
        opcode = constant->opcode;
        bool is_derived =
            constant->kind == CONSTANT_EXPRESSION &&
            (opcode == INSN_GEP || opcode == INSN_BITCAST || opcode == INSN_ADDRSPACECAST);
        if (!is_derived && constant->kind != CONSTANT_ALIAS_OF)
            return false;
        if (is_derived && opcode == INSN_GEP)
            add_gep(code, constant->detail, offset, exact);
        *operand = code->operands[constant->first_operand];
        return true;
    }
    case OPERAND_GLOBAL:
        if (code->globals[index].kind != GLOBAL_ALIAS)
            return false;
        *operand = code->globals[index].initialiser;
        return true;
    default:
        return false;
    }
}

uint32_t objects_base(const struct dataflow *dataflow, uint32_t module, struct operand address,
                      int64_t *ret_offset, bool *ret_exact)
{
    const struct code *code = dataflow->model->modules[module].code;
    const struct module_tables *tables = &dataflow->modules[module];

    *ret_offset = 0;
    *ret_exact = true;
    // unreachable code may refer to itself: no more steps than instructions
    for (uint32_t steps = 0; steps <= code->insns_count; steps++)
        if (!step_back(code, &address, ret_offset, ret_exact))
            break;
    if (operand_kind(address) == OPERAND_INSN)
        return tables->object_of_insn[operand_index(address)];
    return operand_kind(address) == OPERAND_GLOBAL
               ? tables->object_of_global[operand_index(address)]
               : NONE;
}

// ---- Objects

static uint32_t add_object(struct dataflow *dataflow, uint32_t module, uint32_t index,
                           uint32_t function, uint64_t size)
{
    object_vec_push(&dataflow->objects,
                    (struct memory_object){
                        .module = module, .index = index, .function = function, .size = size});
    return (uint32_t)dataflow->objects.length - 1;
}

static bool is_defined(const struct global *global)
{
    return operand_kind(global->initialiser) != OPERAND_NONE &&
           global->linkage != LINKAGE_AVAILABLE_EXTERNALLY;
}

static void add_shared_global(struct dataflow *dataflow, struct name_map *names, uint32_t m,
                              uint32_t g, struct bitset *defined)
{
    const struct code *code = dataflow->model->modules[m].code;
    const struct global *global = &code->globals[g];
    bool is_new;
    uint32_t *object = name_map_put_new(names, code_string(code, global->name), &is_new);

    if (is_new)
        *object = add_object(dataflow, m, g, NONE, code_type(code, global->type)->size);
    dataflow->modules[m].object_of_global[g] = *object;
    struct memory_object *o = &dataflow->objects.data[*object];
    o->is_shared = true;
    o->is_excluded |= global->linkage == LINKAGE_APPENDING;
    if (!is_defined(global))
        return;
    bitset_resize(defined, dataflow->objects.length);
    if (bitset_test_and_set(defined, *object)) {
        o->is_doubtful = true;
        o->is_excluded |= dataflow->model->modules[o->module].image.value !=
                          dataflow->model->modules[m].image.value;
        return;
    }
    o->module = m;
    o->index = g;
    o->size = code_type(code, global->type)->size;
}

static void add_globals(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    struct name_map names = MAP_INIT;
    struct bitset defined = BITSET_INIT;

    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        for (uint32_t g = 0; g < code->globals_count; g++) {
            const struct global *global = &code->globals[g];
            if (global->kind != GLOBAL_VARIABLE)
                continue;
            if (global->linkage != LINKAGE_INTERNAL) {
                add_shared_global(dataflow, &names, m, g, &defined);
                continue;
            }
            uint32_t object = add_object(dataflow, m, g, NONE, code_type(code, global->type)->size);
            dataflow->modules[m].object_of_global[g] = object;
            dataflow->objects.data[object].is_taken = global->flags & GLOBAL_USED;
            bitset_resize(&defined, dataflow->objects.length);
            bitset_set(&defined, object);
        }
    }
    bitset_resize(&defined, dataflow->objects.length);
    for (uint32_t o = 0; o < dataflow->objects.length; o++)
        dataflow->objects.data[o].is_excluded |= !bitset_test(&defined, o);
    bitset_deinit(&defined);
    name_map_deinit(&names);
}

// A local of the entry block and of fixed size: there is one in each activation.
static void add_locals(struct dataflow *dataflow, uint32_t m)
{
    const struct model_module *module = &dataflow->model->modules[m];
    const struct code *code = module->code;
    uint64_t count;

    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        if (insn->opcode != INSN_ALLOCA)
            continue;
        const struct code_node *node = &code->nodes[insn->node];
        bool is_fixed = node->block == 0 &&
                        constant_number(code, code_operand(code, insn, 0), &count) && count == 1;
        const struct type *type = code_type(code, (struct type_id){insn->detail});
        uint32_t object = add_object(dataflow, m, i, module->first_function + node->function,
                                     is_fixed ? type->size : 0);
        dataflow->modules[m].object_of_insn[i] = object;
        dataflow->objects.data[object].is_excluded = !is_fixed;
    }
}

// ---- Uses of addresses

static void take(struct dataflow *dataflow, uint32_t object)
{
    if (object != NONE)
        dataflow->objects.data[object].is_taken = true;
}

// All variables that the constant names.
static void take_constant(struct dataflow *dataflow, uint32_t module, struct operand operand)
{
    const struct code *code = dataflow->model->modules[module].code;
    uint32_t index = operand_index(operand);

    if (operand_kind(operand) == OPERAND_GLOBAL) {
        int64_t offset;
        bool exact;
        take(dataflow, objects_base(dataflow, module, operand, &offset, &exact));
    } else if (operand_kind(operand) == OPERAND_CONSTANT) {
        const struct constant *constant = &code->constants[index];
        for (uint32_t i = 0; i < constant->operand_count; i++)
            take_constant(dataflow, module, code->operands[constant->first_operand + i]);
    }
}

// Is the address used, but not handed on?
static bool stays(const struct code *code, const struct insn *insn, uint32_t operand)
{
    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD:
    case INSN_CMPXCHG:
    case INSN_RMW:
    case INSN_VAARG:
        return operand == 0;
    case INSN_STORE:
        return operand == 1;
    case INSN_ICMP:
        return true;
    case INSN_CALL:
        return operand + 1 == insn->operand_count || code_is_memory_intrinsic(code, insn);
    case INSN_GEP:
    case INSN_BITCAST:
    case INSN_ADDRSPACECAST:
        return operand == 0;
    default:
        return false;
    }
}

static void scan_uses(struct dataflow *dataflow, uint32_t m)
{
    const struct code *code = dataflow->model->modules[m].code;
    int64_t offset;
    bool exact;

    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        for (uint32_t o = 0; o < insn->operand_count; o++) {
            struct operand operand = code_operand(code, insn, o);
            enum operand_kind kind = operand_kind(operand);
            if (kind != OPERAND_INSN && kind != OPERAND_GLOBAL && kind != OPERAND_CONSTANT)
                continue;
            uint32_t object = objects_base(dataflow, m, operand, &offset, &exact);
            if (object == NONE && kind == OPERAND_CONSTANT)
                take_constant(dataflow, m, operand);
            else if (object != NONE && !stays(code, insn, o))
                take(dataflow, object);
        }
    }
    for (uint32_t g = 0; g < code->globals_count; g++) {
        const struct global *global = &code->globals[g];
        struct operand operand = global->initialiser;
        if (operand_kind(operand) == OPERAND_NONE)
            continue;
        take_constant(dataflow, m, operand);
        // by its other name it is seen elsewhere
        uint32_t object = global->kind == GLOBAL_ALIAS
                              ? objects_base(dataflow, m, operand, &offset, &exact)
                              : NONE;
        if (object != NONE)
            dataflow->objects.data[object].is_excluded = true;
    }
}

// ---- Slots

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

// The slot that a load or store is to; false: it is to none.
static bool slot_of_access(struct dataflow *dataflow, uint32_t m, const struct insn *insn,
                           struct slot *ret)
{
    const struct code *code = dataflow->model->modules[m].code;
    bool loads = insn->opcode == INSN_LOAD, exact;
    int64_t offset;

    if (!loads && insn->opcode != INSN_STORE)
        return false;
    uint32_t object =
        objects_base(dataflow, m, code_operand(code, insn, loads ? 0 : 1), &offset, &exact);
    if (object == NONE)
        return false;
    struct memory_object *o = &dataflow->objects.data[object];
    o->is_excluded |= insn->flags & INSN_VOLATILE || insn->ordering != ORDERING_NONE;
    const struct type *type = code_type(code, (struct type_id){insn->detail});
    uint32_t width = type_width(code, (struct type_id){insn->detail});
    if (!exact || offset < 0 || width == 0 || width != type->store * 8 ||
        (uint64_t)offset + type->store > o->size)
        return false;
    *ret = (struct slot){object, (uint32_t)type->store, offset, NONE};
    return true;
}

static void exclude_atomic(struct dataflow *dataflow, uint32_t m, const struct insn *insn)
{
    int64_t offset;
    bool exact;

    if (insn->opcode != INSN_CMPXCHG && insn->opcode != INSN_RMW)
        return;
    uint32_t object = objects_base(
        dataflow, m, code_operand(dataflow->model->modules[m].code, insn, 0), &offset, &exact);
    if (object != NONE)
        dataflow->objects.data[object].is_excluded = true;
}

static void add_slots(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    struct slot_vec *slots = &dataflow->slots;
    struct slot slot;
    size_t kept = 0;

    for (uint32_t m = 0; m < model->module_count; m++)
        for (uint32_t i = 0; i < model->modules[m].code->insns_count; i++) {
            const struct insn *insn = &model->modules[m].code->insns[i];
            exclude_atomic(dataflow, m, insn);
            if (slot_of_access(dataflow, m, insn, &slot))
                slot_vec_push(slots, slot);
        }
    if (slots->length)
        qsort(slots->data, slots->length, sizeof(*slots->data), compare_slots);
    for (size_t i = 0; i < slots->length; i++)
        if (!dataflow->objects.data[slots->data[i].object].is_excluded &&
            (kept == 0 || compare_slots(&slots->data[kept - 1], &slots->data[i]) != 0))
            slots->data[kept++] = slots->data[i];
    slots->length = kept;
    for (uint32_t s = (uint32_t)kept; s-- > 0;) {
        struct memory_object *object = &dataflow->objects.data[slots->data[s].object];
        object->first_slot = s;
        object->slot_count++;
    }
}

static void name_slots(struct dataflow *dataflow, uint32_t m)
{
    const struct code *code = dataflow->model->modules[m].code;
    struct slot slot;

    for (uint32_t i = 0; i < code->insns_count; i++) {
        if (!slot_of_access(dataflow, m, &code->insns[i], &slot))
            continue;
        const struct memory_object *object = &dataflow->objects.data[slot.object];
        for (uint32_t s = 0; s < object->slot_count; s++)
            if (compare_slots(&dataflow->slots.data[object->first_slot + s], &slot) == 0)
                dataflow->modules[m].slot_of_insn[i] = object->first_slot + s;
    }
}

// The only cell that a load or store through a pointer touches, if it is one piece of memory that
// is there once.
static bool only_cell(const struct points_to *points_to, struct module_id module, uint32_t index,
                      bool loads, struct cell *ret)
{
    struct accesses accesses = points_to_accesses(points_to, module, index);
    struct cell_set cells = loads ? accesses.reads : accesses.writes;

    if (cells.is_anything || cells.count != 1 || cells.data[0].value == POINTS_TO_WORLD_CELL)
        return false;
    *ret = *points_to_cell(points_to, cells.data[0]);
    const struct object *object = points_to_object(points_to, ret->object);
    return object->is_single && object->module != MODEL_NONE && ret->stride == 0 &&
           (object->kind == OBJECT_GLOBAL || object->kind == OBJECT_LOCAL);
}

// Accesses through pointers that can only be to one slot, which somebody names.
static void name_by_pointers(struct dataflow *dataflow, uint32_t m)
{
    const struct model_module *module = &dataflow->model->modules[m];
    struct cell cell;
    int64_t offset;
    bool exact;

    for (uint32_t i = 0; i < module->code->insns_count; i++) {
        const struct insn *insn = &module->code->insns[i];
        bool loads = insn->opcode == INSN_LOAD;
        if ((!loads && insn->opcode != INSN_STORE) || insn->flags & INSN_VOLATILE ||
            insn->ordering != ORDERING_NONE ||
            objects_base(dataflow, m, code_operand(module->code, insn, loads ? 0 : 1), &offset,
                         &exact) != NONE ||
            !only_cell(dataflow->points_to, (struct module_id){m}, i, loads, &cell))
            continue;
        const struct object *object = points_to_object(dataflow->points_to, cell.object);
        uint32_t known = object->kind == OBJECT_GLOBAL
                             ? dataflow->modules[object->module].object_of_global[object->index]
                             : dataflow->modules[object->module].object_of_insn[object->index];
        uint32_t function = module->first_function + module->code->nodes[insn->node].function;
        const struct memory_object *o = known == NONE ? NULL : &dataflow->objects.data[known];
        uint32_t width = type_width(module->code, (struct type_id){insn->detail});
        if (!o || (o->function != NONE && o->function != function) || width != cell.length * 8)
            continue;
        for (uint32_t s = o->first_slot; s < o->first_slot + o->slot_count; s++)
            if (dataflow->slots.data[s].offset == (int64_t)cell.offset &&
                dataflow->slots.data[s].bytes == cell.length)
                dataflow->modules[m].slot_of_insn[i] = s;
    }
}

static uint32_t *table_of(uint32_t count)
{
    uint32_t *table = xmalloc_array(count + 1u, sizeof(*table));

    memset(table, 0xff, (count + 1u) * sizeof(*table));
    return table;
}

void objects_find(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    uint32_t first_insn = 0;

    dataflow->modules = xcalloc(model->module_count + 1u, sizeof(*dataflow->modules));
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        struct module_tables *tables = &dataflow->modules[m];
        tables->object_of_insn = table_of(code->insns_count);
        tables->slot_of_insn = table_of(code->insns_count);
        tables->register_of_insn = table_of(code->insns_count);
        tables->object_of_global = table_of(code->globals_count);
        tables->argument_variable = table_of(code->arguments_count);
        bitset_init(&tables->wanted, code->insns_count);
        tables->first_insn = first_insn;
        first_insn += code->insns_count;
    }
    add_globals(dataflow);
    for (uint32_t m = 0; m < model->module_count; m++)
        add_locals(dataflow, m);
    for (uint32_t m = 0; m < model->module_count; m++)
        scan_uses(dataflow, m);
    add_slots(dataflow);
    for (uint32_t m = 0; m < model->module_count; m++)
        name_slots(dataflow, m);
    for (uint32_t m = 0; dataflow->points_to && m < model->module_count; m++)
        name_by_pointers(dataflow, m);
}

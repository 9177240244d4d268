// SPDX-License-Identifier: Apache-2.0
// Values of the program as nodes of the graph, and what is done with them.
#include "analysis/points_to_internal.h"

bool type_carries(const struct code *code, struct type_id id)
{
    const struct type *type = code_type(code, id);

    switch (type->kind) {
    case TYPE_POINTER:
    case TYPE_ARRAY:
    case TYPE_VECTOR:
    case TYPE_STRUCT:
        return true;
    case TYPE_INT:
        return type->bits >= 8;
    case TYPE_FLOAT:
        return type->bits == 64;
    default:
        return false;
    }
}

bool operand_number(const struct code *code, struct operand operand, uint64_t *ret)
{
    if (operand_kind(operand) != OPERAND_CONSTANT)
        return false;
    const struct constant *constant = &code->constants[operand_index(operand)];
    if (constant->kind == CONSTANT_NULL)
        *ret = 0;
    else if (constant->kind == CONSTANT_INT && code_type(code, constant->type)->bits <= 64)
        *ret = constant->value;
    else
        return false;
    return true;
}

uint32_t value_node(struct points_to *pt, struct value value)
{
    if (!value_is_point(value))
        return value.bits;
    uint32_t point = point_find(pt, value_point(value));
    uint32_t *known = pt_memo_put(&pt->memo, (struct memo_key){UINT64_MAX, point, 0});
    if (!*known) {
        uint32_t node = node_create(pt);
        node_add_point(pt, node, point);
        *known = node; // nothing was put meanwhile
    }
    return *known;
}

void value_flow(struct points_to *pt, struct value value, uint32_t node)
{
    if (node == NODE_NONE || value.bits == 0)
        return;
    if (value_is_point(value))
        node_add_point(pt, node, point_find(pt, value_point(value)));
    else
        node_add_edge(pt, value.bits, node);
}

// The target of a constraint on the value, the same for the same.
static struct value through(struct points_to *pt, struct value value, uint32_t kind, int64_t offset,
                            uint64_t size)
{
    uint32_t node = value_node(pt, value);
    struct constraint constraint = {
        .kind = (uint8_t)kind, .is_pure = true, .offset = offset, .size = size};
    bool is_new;
    uint32_t *known = pt_memo_put_new(&pt->memo, constraint_key(pt, node, &constraint), &is_new);

    if (!is_new)
        return value_of_node(*known);
    uint32_t target = node_create(pt);
    *known = constraint.target = target;
    node_add_constraint(pt, node, constraint);
    return value_of_node(target);
}

// An address that is known may stay one.
static bool move_known(struct points_to *pt, uint32_t point, uint32_t kind, int64_t offset,
                       uint64_t size, struct value *ret)
{
    struct point p = pt->points.data[point];
    const struct pt_object *o = object_at(pt, p.object);
    struct offset_list list = {.count = 0};

    if (point == WORLD_POINT || p.offset == POINT_ANYWHERE || o->info.kind == OBJECT_FUNCTION)
        return false;
    if (kind == CONSTRAINT_SHIFT)
        layout_shift(&o->layout, p.offset, offset, &list);
    else if (kind == CONSTRAINT_WALK)
        layout_walk(&o->layout, o->info.size, p.offset, (uint64_t)offset, &list);
    else if (kind == CONSTRAINT_ARRAY && size > 1 && size < UINT32_MAX &&
             !layout_would_fold(&o->layout, p.offset, p.offset + size * (uint64_t)offset,
                                (uint64_t)offset))
        list.data[list.count++] = p.offset;
    if (list.count != 1 || list.anywhere || list.fold_stride ||
        (o->info.size && list.data[0] > o->info.size))
        return false;
    *ret = value_of_point(point_get(pt, p.object, list.data[0]));
    return true;
}

struct value value_move(struct points_to *pt, struct value value, enum constraint_kind kind,
                        int64_t offset, uint64_t size)
{
    struct value moved;

    if (value.bits == 0 || (kind == CONSTRAINT_SHIFT && offset == 0))
        return value;
    if (value_is_point(value) &&
        move_known(pt, point_find(pt, value_point(value)), kind, offset, size, &moved))
        return moved;
    return through(pt, value, kind, offset, size);
}

struct value value_shift(struct points_to *pt, struct value value, int64_t offset)
{
    return value_move(pt, value, CONSTRAINT_SHIFT, offset, 0);
}

struct value value_load(struct points_to *pt, struct value address, uint64_t size, bool carries)
{
    if (address.bits == 0)
        return (struct value){0};
    if (value_is_point(address)) {
        uint32_t point = point_find(pt, value_point(address));
        if (object_at(pt, pt->points.data[point].object)->info.kind == OBJECT_FUNCTION)
            return (struct value){0};
        uint32_t node = point_read(pt, point, size);
        return carries ? value_of_node(node) : (struct value){0};
    }
    struct value loaded = through(pt, address, CONSTRAINT_LOAD, 0, size);
    return carries ? loaded : (struct value){0};
}

void value_store(struct points_to *pt, struct value address, struct value value, uint64_t size)
{
    if (address.bits == 0)
        return;
    if (value_is_point(address)) {
        uint32_t point = point_find(pt, value_point(address));
        if (object_at(pt, pt->points.data[point].object)->info.kind != OBJECT_FUNCTION)
            value_flow(pt, value, point_write(pt, point, size));
        return;
    }
    uint32_t source = value_node(pt, value);
    struct memo_key key = {(uint64_t)CONSTRAINT_STORE << 32 | node_find(pt, address.bits), source,
                           size};
    bool is_new;
    pt_memo_put_new(&pt->memo, key, &is_new);
    if (is_new)
        node_add_constraint(
            pt, address.bits,
            (struct constraint){.kind = CONSTRAINT_STORE, .target = source, .size = size});
}

uint32_t value_copy_from(struct points_to *pt, struct value from, uint64_t length)
{
    struct object info = {.module = MODEL_NONE, .context = MODEL_NONE};
    uint32_t between = object_create(pt, info);

    object_at(pt, between)->is_temporary = true;
    node_add_constraint(
        pt, value_node(pt, from),
        (struct constraint){.kind = CONSTRAINT_COPY_FROM, .target = between, .size = length});
    return between;
}

void value_copy_to(struct points_to *pt, struct value to, uint32_t between, uint64_t length)
{
    node_add_constraint(
        pt, value_node(pt, to),
        (struct constraint){.kind = CONSTRAINT_COPY_TO, .target = between, .size = length});
}

void value_copy(struct points_to *pt, struct value to, struct value from, uint64_t length)
{
    if (to.bits && from.bits && length)
        value_copy_to(pt, to, value_copy_from(pt, from, length), length);
}

// ---- Operands

static struct value value_of_aggregate(struct points_to *pt, uint32_t module,
                                       const struct constant *constant)
{
    const struct code *code = pt->model->modules[module].code;
    uint32_t node = NODE_NONE;

    for (uint32_t i = 0; i < constant->operand_count; i++) {
        struct value part =
            value_of_operand(pt, module, code->operands[constant->first_operand + i]);
        if (part.bits && !node)
            node = node_create(pt);
        value_flow(pt, part, node);
    }
    return value_of_node(node);
}

static struct value value_of_expression(struct points_to *pt, uint32_t module,
                                        const struct constant *constant)
{
    const struct code *code = pt->model->modules[module].code;

    if (constant->operand_count == 0)
        return (struct value){0};
    struct value first = value_of_operand(pt, module, code->operands[constant->first_operand]);
    if (constant->opcode == INSN_GEP && constant->detail != CODE_NONE)
        return value_shift(pt, first, code->geps[constant->detail].offset);
    if (constant->opcode == INSN_SUB) // a difference
        return (struct value){0};
    if (constant->opcode == INSN_ADD)
        return value_move(pt, value_of_aggregate(pt, module, constant), CONSTRAINT_ANYWHERE, 0, 0);
    return constant->opcode == INSN_ICMP || constant->opcode == INSN_FCMP ? (struct value){0}
                                                                          : first;
}

struct value value_of_operand(struct points_to *pt, uint32_t module, struct operand operand)
{
    const struct code *code = pt->model->modules[module].code;
    uint32_t index = operand_index(operand);

    switch (operand_kind(operand)) {
    case OPERAND_INSN:
        insn_build(pt, module, index);
        return pt->insn_values[module][index];
    case OPERAND_ARGUMENT:
        return pt->argument_values[module][index];
    case OPERAND_GLOBAL:
        return pt->global_values[module][index];
    case OPERAND_CONSTANT:
        break;
    default:
        return (struct value){0};
    }
    const struct constant *constant = &code->constants[index];
    switch (constant->kind) {
    case CONSTANT_EXPRESSION:
        return value_of_expression(pt, module, constant);
    case CONSTANT_ALIAS_OF:
        return value_of_operand(pt, module, code->operands[constant->first_operand]);
    case CONSTANT_AGGREGATE:
        return value_of_aggregate(pt, module, constant);
    default:
        return (struct value){0};
    }
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Constraints from instructions. Integers carry pointers, too: through copies of any width, and
 * through sums and bit operations of 64 bits. Differences of two pointers, products, quotients and
 * remainders do not.
 */
#include "analysis/points_to_internal.h"
#include "common/budget.h"

struct at { // an instruction
    struct points_to *pt;
    const struct code *code;
    uint32_t module, index;
    const struct insn *insn;
};

static struct value operand_value(const struct at *at, uint32_t operand)
{
    return value_of_operand(at->pt, at->module, code_operand(at->code, at->insn, operand));
}

static struct value join(struct points_to *pt, struct value a, struct value b)
{
    if (a.bits == 0 || a.bits == b.bits)
        return b;
    if (b.bits == 0)
        return a;
    uint32_t node = node_create(pt);
    value_flow(pt, a, node);
    value_flow(pt, b, node);
    return value_of_node(node);
}

// ---- Memory

static struct value build_alloca(const struct at *at)
{
    const struct type *type = code_type(at->code, (struct type_id){at->insn->detail});
    uint64_t count;
    bool is_fixed = operand_number(at->code, code_operand(at->code, at->insn, 0), &count);
    struct object info = {.kind = OBJECT_LOCAL,
                          .module = at->module,
                          .index = at->index,
                          .context = MODEL_NONE,
                          .size = is_fixed ? type->size * count : 0};
    uint32_t object = object_create(at->pt, info);
    struct layout *layout = &object_at(at->pt, object)->layout;

    if (type->size && (!is_fixed || count > 1))
        layout_fold(layout, &at->pt->arena, 0, UINT64_MAX, type->size);
    layout_add_type(layout, &at->pt->arena, at->code, (struct type_id){at->insn->detail}, 0);
    return value_of_point(point_get(at->pt, object, 0));
}

static uint64_t access_size(const struct at *at)
{
    return code_type(at->code, (struct type_id){at->insn->detail})->store;
}

static struct value build_load(const struct at *at)
{
    return value_load(at->pt, operand_value(at, 0), access_size(at),
                      type_carries(at->code, at->insn->type));
}

static void build_store(const struct at *at)
{
    struct operand stored = code_operand(at->code, at->insn, 0);
    struct value value = {0};

    if (type_carries(at->code, (struct type_id){at->insn->detail}))
        value = value_of_operand(at->pt, at->module, stored);
    value_store(at->pt, operand_value(at, 1), value, access_size(at));
}

static struct value build_exchange(const struct at *at)
{
    uint64_t size = access_size(at);
    struct value address = operand_value(at, 0);

    if (at->insn->opcode == INSN_CMPXCHG) {
        value_store(at->pt, address, operand_value(at, 2), size);
        return value_load(at->pt, address, size, true);
    }
    struct value before = value_load(at->pt, address, size, true);
    struct value value = operand_value(at, 1);
    if (at->insn->subcode != RMW_XCHG && size < 8)
        value = (struct value){0};
    else if (at->insn->subcode != RMW_XCHG)
        value = value_move(at->pt, join(at->pt, before, value), CONSTRAINT_ANYWHERE, 0, 0);
    value_store(at->pt, address, value, size);
    return before;
}

// ---- Addresses

// One step of a GEP whose index is not constant.
static struct value build_step(const struct at *at, struct value value, const struct gep_step *step,
                               bool is_first)
{
    const struct type *container = code_type(at->code, step->container);
    int64_t stride = step->stride < 0 ? -step->stride : step->stride;

    if (stride == 0)
        return value;
    if (is_first || container->kind != TYPE_ARRAY)
        return value_move(at->pt, value, CONSTRAINT_WALK, stride, 0);
    return value_move(at->pt, value, CONSTRAINT_ARRAY, stride, container->count);
}

static struct value build_gep(const struct at *at)
{
    const struct gep *gep = &at->code->geps[at->insn->detail];
    struct value value = operand_value(at, 0);
    int64_t pending = 0;

    if (value.bits == 0 && gep->step_count == 1) { // an address as an index from null
        const struct gep_step *only = &at->code->gep_steps[gep->first_step];
        return only->stride == 1 ? value_of_operand(at->pt, at->module, only->index) : value;
    }
    for (uint32_t i = 0; i < gep->step_count; i++) {
        const struct gep_step *step = &at->code->gep_steps[gep->first_step + i];
        uint64_t number;
        if (step->field != CODE_NONE) {
            pending += step->stride;
        } else if (operand_number(at->code, step->index, &number)) {
            uint32_t bits = code_type(at->code, code_operand_type(at->code, step->index))->bits;
            if (bits < 64 && number >> (bits - 1) & 1)
                number |= UINT64_MAX << bits;
            pending += step->stride * (int64_t)number;
        } else {
            value = build_step(at, value_shift(at->pt, value, pending), step, i == 0);
            pending = 0;
        }
    }
    return value_shift(at->pt, value, pending);
}

// ---- Arithmetic

static bool is_difference(const struct at *at, struct operand right)
{
    if (operand_kind(right) != OPERAND_INSN)
        return false;
    return at->code->insns[operand_index(right)].opcode == INSN_PTRTOINT;
}

static struct value build_sum(const struct at *at)
{
    struct operand left = code_operand(at->code, at->insn, 0);
    struct operand right = code_operand(at->code, at->insn, 1);
    struct value a = operand_value(at, 0), b = operand_value(at, 1);
    uint64_t number;

    if (at->insn->opcode == INSN_SUB) {
        if (operand_number(at->code, right, &number))
            return value_shift(at->pt, a, -(int64_t)number);
        if (is_difference(at, right))
            return (struct value){0};
        return value_move(at->pt, a, CONSTRAINT_ANYWHERE, 0, 0);
    }
    if (operand_number(at->code, right, &number))
        return value_shift(at->pt, a, (int64_t)number);
    if (operand_number(at->code, left, &number))
        return value_shift(at->pt, b, (int64_t)number);
    return value_move(at->pt, join(at->pt, a, b), CONSTRAINT_ANYWHERE, 0, 0);
}

// Bits at the low end are often tags: the address is the same with and without.
#define MOST_TAG 15u

static struct value build_bits(const struct at *at)
{
    struct value a = operand_value(at, 0), b = operand_value(at, 1);
    uint64_t number;
    bool is_number = operand_number(at->code, code_operand(at->code, at->insn, 1), &number);

    if (is_number && at->insn->opcode == INSN_AND) {
        if (number >> 32 == 0) // only low bits are left
            return (struct value){0};
        if (~number <= MOST_TAG)
            return value_move(at->pt, a, CONSTRAINT_MASK, (int64_t)~number + 1, 0);
    } else if (is_number && number <= MOST_TAG) {
        return a;
    }
    return value_move(at->pt, join(at->pt, a, b), CONSTRAINT_ANYWHERE, 0, 0);
}

static struct value build_arithmetic(const struct at *at)
{
    if (code_type(at->code, at->insn->type)->kind == TYPE_INT &&
        code_type(at->code, at->insn->type)->bits < 64)
        return (struct value){0};
    switch (at->insn->opcode) {
    case INSN_ADD:
    case INSN_SUB:
        return build_sum(at);
    case INSN_AND:
    case INSN_OR:
    case INSN_XOR:
        return build_bits(at);
    default: // shifts
        return value_move(at->pt, operand_value(at, 0), CONSTRAINT_ANYWHERE, 0, 0);
    }
}

// ---- Others

static struct value build_phi(const struct at *at)
{
    uint32_t node = node_create(at->pt);

    at->pt->insn_values[at->module][at->index] = value_of_node(node);
    for (uint32_t i = 0; i + 1 < at->insn->operand_count; i += 2)
        value_flow(at->pt, operand_value(at, i), node);
    return value_of_node(node);
}

static struct value build_variadic(const struct at *at)
{
    struct value list = operand_value(at, 0);

    for (int i = 0; i < 2; i++)
        list = value_move(at->pt, list, CONSTRAINT_LOAD_ALL, 0, 0);
    return list;
}

static struct value build_call(const struct at *at)
{
    struct value result = {0};

    if (type_carries(at->code, at->insn->type))
        result = value_of_node(node_create(at->pt));
    call_build(at->pt, at->module, at->index, result);
    return result;
}

static void build_return(const struct at *at)
{
    const struct model_module *module = &at->pt->model->modules[at->module];
    uint32_t function = module->first_function + at->code->nodes[at->insn->node].function;

    if (at->insn->operand_count)
        value_flow(at->pt, operand_value(at, 0), at->pt->functions[function].result);
}

static struct value build(const struct at *at)
{
    switch ((enum insn_opcode)at->insn->opcode) {
    case INSN_ALLOCA:
        return build_alloca(at);
    case INSN_LOAD:
        return build_load(at);
    case INSN_STORE:
        build_store(at);
        break;
    case INSN_CMPXCHG:
    case INSN_RMW:
        return build_exchange(at);
    case INSN_GEP:
        return build_gep(at);
    case INSN_ADD:
    case INSN_SUB:
    case INSN_AND:
    case INSN_OR:
    case INSN_XOR:
    case INSN_SHL:
    case INSN_LSHR:
    case INSN_ASHR:
        return build_arithmetic(at);
    case INSN_TRUNC:
    case INSN_ZEXT:
    case INSN_SEXT:
    case INSN_PTRTOINT:
    case INSN_INTTOPTR:
    case INSN_BITCAST:
    case INSN_ADDRSPACECAST:
    case INSN_FREEZE:
    case INSN_EXTRACTELEMENT:
    case INSN_EXTRACTVALUE:
        return operand_value(at, 0);
    case INSN_INSERTELEMENT:
    case INSN_INSERTVALUE:
    case INSN_SHUFFLEVECTOR:
        return join(at->pt, operand_value(at, 0), operand_value(at, 1));
    case INSN_SELECT:
        return join(at->pt, operand_value(at, 1), operand_value(at, 2));
    case INSN_PHI:
        return build_phi(at);
    case INSN_VAARG:
        return build_variadic(at);
    case INSN_CALL:
    case INSN_INVOKE:
    case INSN_CALLBR:
        return build_call(at);
    case INSN_RET:
        build_return(at);
        break;
    case INSN_LANDINGPAD:
    case INSN_CATCHPAD:
        return value_of_node(at->pt->world);
    default:
        break;
    }
    return (struct value){0};
}

void insn_build(struct points_to *pt, uint32_t module, uint32_t index)
{
    const struct code *code = pt->model->modules[module].code;
    struct at at = {pt, code, module, index, &code->insns[index]};

    if (pt->insn_known[module][index])
        return;
    pt->insn_known[module][index] = true;
    struct value value = build(&at);
    if (type_carries(code, at.insn->type))
        pt->insn_values[module][index] = value;
}

// ---- Functions

// What is passed in memory is a copy of the function's own.
static struct value argument_value(struct points_to *pt, uint32_t module, uint32_t index)
{
    const struct code *code = pt->model->modules[module].code;
    const struct argument *argument = &code->arguments[index];

    if (!(argument->flags & ARGUMENT_BYVAL))
        return type_carries(code, argument->type) ? value_of_node(node_create(pt))
                                                  : (struct value){0};
    struct object info = {.kind = OBJECT_BYVAL,
                          .module = module,
                          .index = index,
                          .context = MODEL_NONE,
                          .size = code_type(code, argument->pointee)->size};
    uint32_t object = object_create(pt, info);
    layout_add_type(&object_at(pt, object)->layout, &pt->arena, code, argument->pointee, 0);
    return value_of_point(point_get(pt, object, 0));
}

static void module_prepare(struct points_to *pt, uint32_t m)
{
    const struct code *code = pt->model->modules[m].code;

    pt->insn_values[m] = xcalloc(code->insns_count + (size_t)1, sizeof(struct value));
    pt->insn_known[m] = xcalloc(code->insns_count + (size_t)1, sizeof(bool));
    pt->argument_values[m] = xcalloc(code->arguments_count + (size_t)1, sizeof(struct value));
    for (uint32_t a = 0; a < code->arguments_count; a++)
        pt->argument_values[m][a] = argument_value(pt, m, a);
    for (uint32_t f = 0; f < code->functions_count; f++)
        pt->functions[pt->model->modules[m].first_function + f].result = node_create(pt);
}

void program_build(struct points_to *pt)
{
    for (uint32_t m = 0; m < pt->model->module_count; m++)
        module_prepare(pt, m);
    for (uint32_t m = 0; m < pt->model->module_count; m++)
        for (uint32_t i = 0; i < pt->model->modules[m].code->insns_count; i++) {
            if (pt->budget && budget_is_spent(pt->budget))
                return;
            insn_build(pt, m, i);
        }
}

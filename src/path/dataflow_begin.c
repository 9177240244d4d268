// SPDX-License-Identifier: Apache-2.0
/*
 * What holds at first: initial values of variables; and what is taken to hold at some node.
 */
#include <string.h>

#include "layout/suspects.h"
#include "path/dataflow_internal.h"

// ---- Initial values

static struct operand member_at(const struct code *code, const struct constant *constant,
                                uint64_t *offset)
{
    const struct type *type = code_type(code, constant->type);
    struct operand none = operand_make(OPERAND_NONE, 0);
    uint32_t found = NONE;

    if (type->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < type->member_count && i < constant->operand_count; i++)
            if (code->type_members[type->first_member + i].offset <= *offset)
                found = i;
        if (found == NONE)
            return none;
        *offset -= code->type_members[type->first_member + found].offset;
    } else if (type->kind == TYPE_ARRAY && type->member_count) {
        uint64_t size = code_type(code, code_type_member(code, constant->type, 0))->size;
        if (size == 0 || *offset / size >= constant->operand_count)
            return none;
        found = (uint32_t)(*offset / size);
        *offset %= size;
    }
    return found == NONE ? none : code->operands[constant->first_operand + found];
}

// The number of so many bytes at the offset; false: it is not known. *ret_global: it is the address
// of that; else NONE.
static bool initial_number(const struct code *code, struct operand operand, uint64_t offset,
                           uint32_t bytes, uint64_t *ret, uint32_t *ret_global)
{
    for (;;) {
        bool is_address = operand_kind(operand) == OPERAND_GLOBAL && offset == 0 && bytes == 8;
        *ret_global = is_address ? operand_index(operand) : NONE;
        if (operand_kind(operand) != OPERAND_CONSTANT)
            return false;
        const struct constant *constant = &code->constants[operand_index(operand)];
        const struct type *type = code_type(code, constant->type);
        switch (constant->kind) {
        case CONSTANT_ZERO:
        case CONSTANT_NULL:
            *ret = 0;
            return offset + bytes <= type->store || constant->kind == CONSTANT_ZERO;
        case CONSTANT_INT:
            *ret = constant->value;
            return offset == 0 && type->bits == bytes * 8 && bytes <= 8;
        case CONSTANT_BYTES:
            if (offset + bytes > constant->byte_count)
                return false;
            *ret = 0;
            for (uint32_t i = 0; i < bytes; i++)
                *ret |= (uint64_t)code->bytes[constant->first_byte + offset + i] << (8 * i);
            return true;
        case CONSTANT_AGGREGATE:
            operand = member_at(code, constant, &offset);
            break;
        default:
            return false;
        }
    }
}

struct dataflow_value dataflow_begin(struct dataflow *dataflow)
{
    struct draft *draft = &dataflow->node_draft;

    if (!dataflow->has_code)
        return DATAFLOW_ONE;
    draft_clear(draft);
    draft->drops = true;
    for (uint32_t v = 0; v < dataflow->memory_count; v++) {
        const struct slot *slot = &dataflow->slots.data[dataflow->variables.data[v].index];
        const struct memory_object *object = &dataflow->objects.data[slot->object];
        const struct code *code = dataflow->model->modules[object->module].code;
        uint64_t number;
        uint32_t global = NONE;
        if (object->is_doubtful)
            continue;
        struct operand initialiser = code->globals[object->index].initialiser;
        if (initial_number(code, initialiser, (uint64_t)slot->offset, slot->bytes, &number,
                           &global))
            draft_set(draft, v, expression_constant(slot->bytes * 8, number));
        else if (global != NONE) {
            uint32_t address = dataflow->modules[object->module].address_of_global[global];
            // weak names may stand for nothing: nothing is said
            struct range all = range_full(64);
            draft_set(draft, v,
                      address == NONE ? state_unknown(&draft->state, &all)
                                      : expression_base(64, address));
        }
    }
    return draft_finish(draft);
}

// ---- Assumptions

static uint32_t slot_variable(const struct dataflow *dataflow, uint32_t object)
{
    uint32_t found = NONE;

    if (object == NONE)
        return NONE;
    const struct memory_object *o = &dataflow->objects.data[object];
    for (uint32_t s = o->first_slot; s < o->first_slot + o->slot_count; s++)
        if (dataflow->slots.data[s].offset == 0 && dataflow->slots.data[s].bytes == o->size)
            found = dataflow->slots.data[s].variable;
    return found;
}

// A local of the name; NONE - 1: there are several.
static uint32_t find_local(const struct dataflow *dataflow, uint32_t node, const char *name)
{
    uint32_t module, found = NONE;
    const struct code_node *at;
    const struct code *code = node_code(dataflow, node, &module, &at);
    const struct code_function *function = &code->functions[at->function];

    for (uint32_t i = 0; i < function->variable_count; i++) {
        const struct variable *variable = &code->variables[function->first_variable + i];
        if (strcmp(code_string(code, variable->name), name) != 0)
            continue;
        if (found != NONE || variable->kind != VARIABLE_DECLARED ||
            operand_kind(variable->storage) != OPERAND_INSN)
            return NONE - 1;
        found = slot_variable(
            dataflow, dataflow->modules[module].object_of_insn[operand_index(variable->storage)]);
        if (found == NONE)
            return NONE - 1;
    }
    return found;
}

static uint32_t find_variable(const struct dataflow *dataflow, uint32_t node, const char *name)
{
    uint32_t module, found = find_local(dataflow, node, name);
    const struct code_node *at;
    const struct code *code = node_code(dataflow, node, &module, &at);

    for (uint32_t g = 0; found == NONE && g < code->globals_count; g++) {
        const struct global *global = &code->globals[g];
        const char *source = code_string(code, global->debug_name);
        if (global->kind == GLOBAL_VARIABLE &&
            strcmp(*source ? source : code_string(code, global->name), name) == 0)
            found = slot_variable(dataflow, dataflow->modules[module].object_of_global[g]);
    }
    return found == NONE - 1 ? NONE : found;
}

static uint32_t predicate_of(uint32_t operator, bool is_unsigned)
{
    switch (operator) {
    case SUSPECTS_LESS:
        return is_unsigned ? PREDICATE_ULT : PREDICATE_SLT;
    case SUSPECTS_EQUAL:
        return PREDICATE_EQ;
    case SUSPECTS_GREATER:
        return is_unsigned ? PREDICATE_UGT : PREDICATE_SGT;
    case SUSPECTS_GREATER_EQUAL:
        return is_unsigned ? PREDICATE_UGE : PREDICATE_SGE;
    case SUSPECTS_NOT_EQUAL:
        return PREDICATE_NE;
    case SUSPECTS_LESS_EQUAL:
        return is_unsigned ? PREDICATE_ULE : PREDICATE_SLE;
    default:
        return PREDICATE_TRUE;
    }
}

// The variable may be made wider before it is compared, a small one with or without its sign,
// whatever the comparison is; then both are allowed.
static struct range range_of_assumption(uint32_t width, uint32_t predicate, int64_t constant,
                                        bool is_unsigned)
{
    struct range range = range_of_predicate(64, predicate, (uint64_t)constant);
    struct range zero = range_before_extend(&range, width, EXTENSION_ZERO);
    struct range sign = range_before_extend(&range, width, EXTENSION_SIGN);
    bool is_ordered = predicate != PREDICATE_EQ && predicate != PREDICATE_NE;

    if (width < 32 || !is_ordered)
        return range_union(&zero, &sign);
    if (!is_unsigned)
        return sign;
    // an unsigned constant may be given as a negative one
    int64_t most = width < 64 ? (int64_t)width_mask(width) : INT64_MAX;
    if (width < 64 && (constant > most || constant < -(most / 2) - 1))
        return range_full(width);
    return range_of_predicate(width, predicate, (uint64_t)constant & width_mask(width));
}

struct dataflow_value dataflow_assume(struct dataflow *dataflow, uint32_t node,
                                      const char *variable, uint32_t operator, int64_t constant,
                                      bool is_unsigned)
{
    if (!dataflow->has_code || node >= dataflow->model->node_count)
        return DATAFLOW_ONE;
    uint32_t found = find_variable(dataflow, node, variable);
    uint32_t predicate = predicate_of(operator, is_unsigned);
    if (found == NONE || predicate == PREDICATE_TRUE)
        return DATAFLOW_ONE;
    draft_clear(&dataflow->node_draft);
    struct range range =
        range_of_assumption(base_width(dataflow, found), predicate, constant, is_unsigned);
    range.is_wider = false;
    state_require(&dataflow->node_draft.state, draft_get(&dataflow->node_draft, found), &range);
    return draft_finish(&dataflow->node_draft);
}

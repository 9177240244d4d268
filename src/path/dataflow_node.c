// SPDX-License-Identifier: Apache-2.0
/*
 * What the instructions of a node say, in terms of what variables held before it. Only those are
 * looked at that a condition may depend on. Numbers are of their width and wrap around; where a
 * constant overflows although the program promised that it does not, it is anything.
 */
#include <string.h>

#include "path/dataflow_internal.h"

bool constant_number(const struct code *code, struct operand operand, uint64_t *ret)
{
    if (operand_kind(operand) != OPERAND_CONSTANT)
        return false;
    const struct constant *constant = &code->constants[operand_index(operand)];
    if (constant->kind != CONSTANT_INT && constant->kind != CONSTANT_NULL)
        return false;
    uint32_t width = type_width(code, constant->type);
    if (!width)
        return false;
    *ret = constant->kind == CONSTANT_NULL ? 0 : constant->value & width_mask(width);
    return true;
}

// Of an instruction of the node; lives until the next walk begins.
static struct expression *result_at(const struct walk *walk, uint32_t index)
{
    return &walk->dataflow->results.data[walk->first_result + index - walk->at->first_insn];
}

void walk_begin(struct walk *walk, struct dataflow *dataflow, struct draft *draft, uint32_t node)
{
    *walk = (struct walk){.dataflow = dataflow,
                          .draft = draft,
                          .node = node,
                          .function = dataflow->flow->node_function[node]};
    walk->code = node_code(dataflow, node, &walk->module, &walk->at);
    walk->first_result = (uint32_t)dataflow->results.length;
    expression_vec_resize(&dataflow->results, dataflow->results.length + walk->at->insn_count);
    for (uint32_t i = 0; i < walk->at->insn_count; i++)
        *result_at(walk, walk->at->first_insn + i) = (struct expression){0};
}

void walk_end(struct walk *walk)
{
    walk->dataflow->results.length = walk->first_result;
}

static struct expression unknown(struct walk *walk, uint32_t width)
{
    struct range all = range_full(width);

    return state_unknown(&walk->draft->state, &all);
}

static struct expression within(struct walk *walk, struct range range)
{
    range.is_wider = false;
    return range_is_single(&range) ? expression_constant(range.width, range.spans[0].low)
                                   : state_unknown(&walk->draft->state, &range);
}

// ---- Operands

// The address of something: never null, unless a weak name stands for nothing.
static struct expression address_of(struct walk *walk, const struct global *global, uint32_t width)
{
    bool is_weak = !global || global->linkage == LINKAGE_EXTERN_WEAK ||
                   global->kind == GLOBAL_ALIAS || global->kind == GLOBAL_IFUNC;

    return is_weak ? unknown(walk, width) : within(walk, range_span(width, 1, width_mask(width)));
}

static struct expression walk_constant(struct walk *walk, struct operand operand, uint32_t width)
{
    const struct constant *constant = &walk->code->constants[operand_index(operand)];
    uint64_t number;

    if (constant_number(walk->code, operand, &number))
        return expression_constant(width, number);
    // an address in a variable
    if (constant->kind == CONSTANT_EXPRESSION && constant->opcode == INSN_GEP) {
        struct operand base = walk->code->operands[constant->first_operand];
        if (operand_kind(base) == OPERAND_GLOBAL && constant->flags & INSN_INBOUNDS)
            return address_of(walk, &walk->code->globals[operand_index(base)], width);
    }
    return unknown(walk, width);
}

struct expression walk_operand(struct walk *walk, struct operand operand)
{
    uint32_t index = operand_index(operand);
    uint32_t width = operand_kind(operand) == OPERAND_NONE || operand_kind(operand) == OPERAND_NODE
                         ? 0
                         : type_width(walk->code, code_operand_type(walk->code, operand));
    const struct module_tables *tables = &walk->dataflow->modules[walk->module];

    if (!width)
        return (struct expression){0};
    switch (operand_kind(operand)) {
    case OPERAND_CONSTANT:
        return walk_constant(walk, operand, width);
    case OPERAND_GLOBAL:
        return width == 64 && tables->address_of_global[index] != NONE
                   ? expression_base(64, tables->address_of_global[index])
                   : address_of(walk, &walk->code->globals[index], width);
    case OPERAND_ARGUMENT:
        return tables->argument_variable[index] == NONE
                   ? unknown(walk, width)
                   : draft_get(walk->draft, tables->argument_variable[index]);
    case OPERAND_INSN:
        if (walk->code->insns[index].opcode == INSN_ALLOCA)
            return within(walk, range_span(width, 1, width_mask(width)));
        if (index >= walk->at->first_insn && index < walk->at->first_insn + walk->at->insn_count &&
            result_at(walk, index)->kind != EXPRESSION_NONE)
            return state_resolve(&walk->draft->state, *result_at(walk, index));
        return tables->register_of_insn[index] == NONE
                   ? unknown(walk, width)
                   : draft_get(walk->draft, tables->register_of_insn[index]);
    default:
        return unknown(walk, width);
    }
}

// ---- Arithmetic

static bool overflows(uint8_t opcode, uint32_t width, uint64_t a, uint64_t b, bool is_signed)
{
    __int128 x = is_signed ? width_signed(width, a) : (__int128)a;
    __int128 y = is_signed ? width_signed(width, b) : (__int128)b;
    __int128 result = opcode == INSN_ADD ? x + y : opcode == INSN_SUB ? x - y : x * y;

    return is_signed ? result != width_signed(width, (uint64_t)result & width_mask(width))
                     : result != (__int128)((uint64_t)result & width_mask(width));
}

// Of two constants; false: anything.
static bool compute(const struct insn *insn, uint32_t width, uint64_t a, uint64_t b, uint64_t *ret)
{
    int64_t x = width_signed(width, a), y = width_signed(width, b);

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_ADD:
        *ret = a + b;
        break;
    case INSN_SUB:
        *ret = a - b;
        break;
    case INSN_MUL:
        *ret = a * b;
        break;
    case INSN_UDIV:
    case INSN_UREM:
        if (b == 0)
            return false;
        *ret = insn->opcode == INSN_UDIV ? a / b : a % b;
        return true;
    case INSN_SDIV:
    case INSN_SREM:
        if (b == 0 || (y == -1 && a == width_sign(width)))
            return false;
        *ret = (uint64_t)(insn->opcode == INSN_SDIV ? x / y : x % y);
        return true;
    case INSN_SHL:
        if (b >= width)
            return false;
        *ret = a << b;
        break;
    case INSN_LSHR:
    case INSN_ASHR:
        if (b >= width)
            return false;
        *ret = insn->opcode == INSN_LSHR ? a >> b : (uint64_t)(x >> b);
        return true;
    case INSN_AND:
        *ret = a & b;
        return true;
    case INSN_OR:
        *ret = a | b;
        return true;
    case INSN_XOR:
        *ret = a ^ b;
        return true;
    default:
        return false;
    }
    if (insn->opcode == INSN_SHL) // of what is negative, or gets so, anything
        return !(insn->flags & (INSN_NSW | INSN_NUW)) ||
               (width_signed(width, *ret) >= 0 && (*ret & width_mask(width)) >> b == a);
    return !(insn->flags & INSN_NSW && overflows(insn->opcode, width, a, b, true)) &&
           !(insn->flags & INSN_NUW && overflows(insn->opcode, width, a, b, false));
}

// What is in [0, high] whatever the other operand is.
static struct range bounds_of(const struct insn *insn, uint32_t width, const struct range *left,
                              uint64_t right)
{
    uint64_t high = left->count ? left->spans[left->count - 1].high : 0;

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_AND:
        return range_span(width, 0, right);
    case INSN_UREM:
        return right ? range_span(width, 0, right - 1) : range_full(width);
    case INSN_UDIV:
        return right ? range_span(width, 0, high / right) : range_full(width);
    case INSN_LSHR:
        return right < width ? range_span(width, 0, high >> right) : range_full(width);
    case INSN_SREM: {
        int64_t most = width_signed(width, right);
        if (most <= 0)
            return range_full(width);
        bool positive = range_signed_low(left) >= 0;
        return range_span(width, positive ? 0 : (uint64_t)(1 - most), (uint64_t)(most - 1));
    }
    default:
        return range_full(width);
    }
}

// Of truth values.
static bool logic(struct walk *walk, const struct insn *insn, struct expression a,
                  struct expression b, struct expression *ret)
{
    const struct dataflow *dataflow = walk->dataflow;

    if (a.kind != EXPRESSION_TEST || b.kind != EXPRESSION_TEST || a.base != b.base)
        return false;
    const struct range *x = range_at(dataflow, (uint32_t)a.constant);
    const struct range *y = range_at(dataflow, (uint32_t)b.constant);
    struct range both;
    if (insn->opcode == INSN_AND)
        both = range_intersect(x, y);
    else if (insn->opcode == INSN_OR)
        both = range_union(x, y);
    else
        return false;
    struct expression base = expression_base(x->width, a.base);
    if (both.is_wider)
        return false;
    *ret = expression_test(&walk->draft->state, base, &both, a.width);
    return true;
}

static struct expression binary_constant(struct walk *walk, const struct insn *insn,
                                         struct expression a, uint64_t b)
{
    struct state *state = &walk->draft->state;
    uint64_t mask = width_mask(a.width);

    if (insn->opcode == INSN_ADD)
        return expression_add(state, a, b);
    if (insn->opcode == INSN_SUB)
        return expression_add(state, a, 0 - b);
    bool is_neutral =
        ((insn->opcode == INSN_OR || insn->opcode == INSN_XOR || insn->opcode == INSN_SHL ||
          insn->opcode == INSN_LSHR || insn->opcode == INSN_ASHR) &&
         b == 0) ||
        (insn->opcode == INSN_AND && b == mask) ||
        ((insn->opcode == INSN_MUL || insn->opcode == INSN_UDIV || insn->opcode == INSN_SDIV) &&
         b == 1 && a.width > 1);
    if (is_neutral)
        return a;
    if ((insn->opcode == INSN_AND || insn->opcode == INSN_MUL) && b == 0)
        return expression_constant(a.width, 0);
    if (insn->opcode == INSN_XOR && a.width == 1) {
        struct range zero = range_single(1, 0);
        return expression_test(state, a, &zero, 1);
    }
    if (insn->opcode == INSN_AND && b == 1 && a.kind == EXPRESSION_TEST)
        return a;
    struct range left = state_range(state, a);
    if (left.count == 0)
        return unknown(walk, a.width);
    return within(walk, bounds_of(insn, a.width, &left, b));
}

static bool commutes(uint8_t opcode)
{
    return opcode == INSN_ADD || opcode == INSN_MUL || opcode == INSN_AND || opcode == INSN_OR ||
           opcode == INSN_XOR;
}

static struct expression walk_binary(struct walk *walk, const struct insn *insn)
{
    struct expression a = walk_operand(walk, code_operand(walk->code, insn, 0));
    struct expression b = walk_operand(walk, code_operand(walk->code, insn, 1)), both;
    uint64_t number;

    if (a.kind == EXPRESSION_CONSTANT && b.kind == EXPRESSION_CONSTANT)
        return compute(insn, a.width, a.constant, b.constant, &number)
                   ? expression_constant(a.width, number)
                   : unknown(walk, a.width);
    if (b.kind == EXPRESSION_CONSTANT)
        return binary_constant(walk, insn, a, b.constant);
    if (a.kind == EXPRESSION_CONSTANT && commutes(insn->opcode))
        return binary_constant(walk, insn, b, a.constant);
    bool is_same = expression_is_equal(&a, &b);
    if (is_same && (insn->opcode == INSN_SUB || insn->opcode == INSN_XOR))
        return expression_constant(a.width, 0);
    if (is_same && (insn->opcode == INSN_AND || insn->opcode == INSN_OR))
        return a;
    if (logic(walk, insn, a, b, &both))
        return both;
    return unknown(walk, a.width);
}

static struct expression walk_compare(struct walk *walk, const struct insn *insn)
{
    struct expression a = walk_operand(walk, code_operand(walk->code, insn, 0));
    struct expression b = walk_operand(walk, code_operand(walk->code, insn, 1));
    struct state *state = &walk->draft->state;
    uint32_t outcomes = outcomes_of_predicate(insn->subcode);

    if (a.kind == EXPRESSION_NONE || b.kind == EXPRESSION_NONE)
        return unknown(walk, 1);
    if (a.kind == EXPRESSION_CONSTANT) {
        struct expression other = a;
        a = b;
        b = other;
        outcomes = outcomes_swap(outcomes);
    }
    if (b.kind == EXPRESSION_CONSTANT) {
        struct range range = range_of_outcomes(b.width, outcomes, b.constant);
        return expression_test(state, a, &range, 1);
    }
    if (expression_is_equal(&a, &b))
        return expression_constant(1, (outcomes & OUTCOME_EQUAL) != 0);
    return unknown(walk, 1);
}

static struct expression walk_cast(struct walk *walk, const struct insn *insn, uint32_t width)
{
    struct operand operand = code_operand(walk->code, insn, 0);
    struct expression a = walk_operand(walk, operand);
    struct state *state = &walk->draft->state;

    if (a.kind == EXPRESSION_NONE)
        return unknown(walk, width);
    switch ((enum insn_opcode)insn->opcode) {
    case INSN_ZEXT:
        return expression_extend(state, a, width, EXTENSION_ZERO);
    case INSN_SEXT:
        return expression_extend(state, a, width, EXTENSION_SIGN);
    case INSN_TRUNC:
        // a bool in memory is 0 or 1, and read by its lowest bit
        if (width == 1 && a.width == 8 && a.kind != EXPRESSION_CONSTANT) {
            struct range truth = range_span(8, 1, 0xff);
            return expression_test(state, a, &truth, 1);
        }
        return expression_truncate(state, a, width);
    default: // between pointers and numbers
        if (a.width == width)
            return a;
        return a.width > width ? expression_truncate(state, a, width)
                               : expression_extend(state, a, width, EXTENSION_ZERO);
    }
}

static struct expression walk_gep(struct walk *walk, const struct insn *insn, uint32_t width)
{
    const struct gep *gep = &walk->code->geps[insn->detail];
    int64_t offset;
    bool exact;
    uint32_t index = (uint32_t)(insn - walk->code->insns);

    // in a variable: its address is not null
    if (objects_base(walk->dataflow, walk->module, operand_make(OPERAND_INSN, index), &offset,
                     &exact) != NONE)
        return insn->flags & INSN_INBOUNDS ? within(walk, range_span(width, 1, width_mask(width)))
                                           : unknown(walk, width);
    struct expression base = walk_operand(walk, code_operand(walk->code, insn, 0));
    if (base.kind == EXPRESSION_NONE)
        return unknown(walk, width);
    exact = true;
    for (uint32_t s = 0; s < gep->step_count; s++) {
        uint64_t number;
        exact &=
            constant_number(walk->code, walk->code->gep_steps[gep->first_step + s].index, &number);
    }
    // from null there is no way to anything
    if (!exact || (base.kind == EXPRESSION_CONSTANT && gep->offset))
        return unknown(walk, width);
    return expression_add(&walk->draft->state, base, (uint64_t)gep->offset);
}

static struct expression walk_select(struct walk *walk, const struct insn *insn, uint32_t width)
{
    struct expression condition = walk_operand(walk, code_operand(walk->code, insn, 0));
    struct expression yes = walk_operand(walk, code_operand(walk->code, insn, 1));
    struct expression no = walk_operand(walk, code_operand(walk->code, insn, 2));
    struct state *state = &walk->draft->state;

    if (condition.kind == EXPRESSION_CONSTANT && condition.width == 1)
        return condition.constant ? yes : no;
    if (yes.kind == EXPRESSION_NONE || no.kind == EXPRESSION_NONE)
        return unknown(walk, width);
    if (expression_is_equal(&yes, &no))
        return yes;
    if (yes.kind == EXPRESSION_CONSTANT && no.kind == EXPRESSION_CONSTANT &&
        yes.constant + no.constant == 1 && condition.width == 1) {
        struct range range = range_single(1, yes.constant);
        return expression_test(state, condition, &range, width);
    }
    struct range a = state_range(state, yes), b = state_range(state, no);
    return within(walk, range_union(&a, &b));
}

// ---- Memory

static bool is_own(const struct walk *walk, uint32_t variable)
{
    return !is_local(walk->dataflow, variable) ||
           walk->dataflow->variables.data[variable].function == walk->function;
}

void walk_forget_set(struct walk *walk, uint32_t set)
{
    struct variable_set s = walk->dataflow->sets.data[set];

    for (uint32_t i = 0; i < s.count; i++)
        if (is_own(walk, s.data[i]))
            draft_forget(walk->draft, s.data[i]);
}

void walk_forget_locals(struct walk *walk)
{
    const uint32_t *start = walk->dataflow->function_start;

    for (uint32_t v = start[walk->function]; v < start[walk->function + 1]; v++)
        draft_forget(walk->draft, v);
}

static struct expression walk_load(struct walk *walk, uint32_t index, uint32_t width)
{
    uint32_t slot = walk->dataflow->modules[walk->module].slot_of_insn[index];
    uint32_t variable = slot == NONE ? NONE : walk->dataflow->slots.data[slot].variable;

    if (variable == NONE || !is_own(walk, variable))
        return unknown(walk, width);
    return draft_get(walk->draft, variable);
}

static void walk_store(struct walk *walk, uint32_t index)
{
    const struct insn *insn = &walk->code->insns[index];
    uint32_t slot = walk->dataflow->modules[walk->module].slot_of_insn[index];
    uint32_t variable = slot == NONE ? NONE : walk->dataflow->slots.data[slot].variable;

    if (variable != NONE)
        draft_set(walk->draft, variable, walk_operand(walk, code_operand(walk->code, insn, 0)));
    walk_forget_set(walk, effects_hits(walk->dataflow, walk->module, index));
}

// memset of a constant: each slot that is within has that byte in all of it.
static bool walk_memset(struct walk *walk, const struct insn *insn)
{
    const struct dataflow *dataflow = walk->dataflow;
    uint64_t byte, length;
    int64_t offset;
    bool exact;

    if (strncmp(callee_name(walk->code, insn), "llvm.memset.", 12) != 0 ||
        !constant_number(walk->code, code_operand(walk->code, insn, 1), &byte) ||
        !constant_number(walk->code, code_operand(walk->code, insn, 2), &length))
        return false;
    uint32_t object =
        objects_base(dataflow, walk->module, code_operand(walk->code, insn, 0), &offset, &exact);
    if (object == NONE || !exact || offset < 0)
        return false;
    const struct memory_object *o = &dataflow->objects.data[object];
    for (uint32_t s = o->first_slot; s < o->first_slot + o->slot_count; s++) {
        const struct slot *slot = &dataflow->slots.data[s];
        if (slot->variable == NONE || slot->offset < offset ||
            (uint64_t)(slot->offset - offset) + slot->bytes > length)
            continue;
        draft_set(
            walk->draft, slot->variable,
            expression_constant(slot->bytes * 8, (byte & 0xff) * UINT64_C(0x0101010101010101)));
    }
    return true;
}

static struct expression walk_intrinsic(struct walk *walk, uint32_t index, uint32_t width)
{
    const struct insn *insn = &walk->code->insns[index];
    const char *name = callee_name(walk->code, insn);

    walk_forget_set(walk, effects_hits(walk->dataflow, walk->module, index));
    if (name && code_call(walk->code, insn)->flags & CALL_INTRINSIC) {
        walk_memset(walk, insn);
        if (width && strncmp(name, "llvm.expect.", 12) == 0)
            return walk_operand(walk, code_operand(walk->code, insn, 0));
    }
    return width ? unknown(walk, width) : (struct expression){0};
}

// ---- Instructions

const struct insn *walk_call(const struct walk *walk)
{
    if (walk->at->site == CODE_NONE)
        return NULL;
    return &walk->code->insns[walk->code->sites[walk->at->site].insn];
}

static struct expression walk_insn(struct walk *walk, uint32_t index, uint32_t width)
{
    const struct insn *insn = &walk->code->insns[index];

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD:
        return walk_load(walk, index, width);
    case INSN_ICMP:
        return width == 1 ? walk_compare(walk, insn) : unknown(walk, width);
    case INSN_TRUNC:
    case INSN_ZEXT:
    case INSN_SEXT:
    case INSN_PTRTOINT:
    case INSN_INTTOPTR:
    case INSN_BITCAST:
        return walk_cast(walk, insn, width);
    case INSN_FREEZE:
        return walk_operand(walk, code_operand(walk->code, insn, 0));
    case INSN_SELECT:
        return walk_select(walk, insn, width);
    case INSN_GEP:
        return walk_gep(walk, insn, width);
    case INSN_ADD:
    case INSN_SUB:
    case INSN_MUL:
    case INSN_UDIV:
    case INSN_SDIV:
    case INSN_UREM:
    case INSN_SREM:
    case INSN_SHL:
    case INSN_LSHR:
    case INSN_ASHR:
    case INSN_AND:
    case INSN_OR:
    case INSN_XOR:
        return walk_binary(walk, insn);
    default:
        return unknown(walk, width);
    }
}

void walk_body(struct walk *walk)
{
    const struct module_tables *tables = &walk->dataflow->modules[walk->module];
    const struct insn *call = walk_call(walk);

    for (uint32_t k = 0; k < walk->at->insn_count; k++) {
        uint32_t index = walk->at->first_insn + k;
        const struct insn *insn = &walk->code->insns[index];
        uint32_t width =
            bitset_test(&tables->wanted, index) ? type_width(walk->code, insn->type) : 0;
        if (insn == call || insn->opcode == INSN_PHI || insn->opcode == INSN_ALLOCA)
            continue;
        struct expression result = {0};
        if (insn->opcode == INSN_STORE)
            walk_store(walk, index);
        else if (insn->opcode == INSN_CALL)
            result = walk_intrinsic(walk, index, width);
        else {
            if (width)
                result = walk_insn(walk, index, width);
            walk_forget_set(walk, effects_hits(walk->dataflow, walk->module, index));
        }
        *result_at(walk, index) = result;
        if (result.kind != EXPRESSION_NONE && tables->register_of_insn[index] != NONE)
            draft_set(walk->draft, tables->register_of_insn[index], result);
    }
}

void walk_external(struct walk *walk)
{
    const struct insn *call = walk_call(walk);

    if (!call)
        return;
    uint32_t index = (uint32_t)(call - walk->code->insns);
    uint32_t result = walk->dataflow->modules[walk->module].register_of_insn[index];
    walk_forget_set(walk, effects_hits(walk->dataflow, walk->module, index));
    if (result != NONE)
        draft_forget(walk->draft, result);
}

void walk_last(struct walk *walk)
{
    const uint32_t *start = walk->dataflow->last_start;

    for (uint32_t i = start[walk->node]; i < start[walk->node + 1]; i++)
        draft_forget(walk->draft, walk->dataflow->last[i]);
}

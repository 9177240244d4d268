// SPDX-License-Identifier: Apache-2.0
// What holds when a node is left by an edge: branches, also on what several instructions make of a
// comparison, switches; and what the next block begins with.
#include "path/dataflow_internal.h"

// ---- Conditions

static const struct insn *insn_here(const struct walk *walk, struct operand operand)
{
    uint32_t index = operand_index(operand);

    return operand_kind(operand) == OPERAND_INSN && index >= walk->at->first_insn &&
                   index < walk->at->first_insn + walk->at->insn_count
               ? &walk->code->insns[index]
               : NULL;
}

static void assume(struct walk *walk, struct operand operand, bool truth);

// x != 0 of what is itself a truth value.
static void assume_compare(struct walk *walk, const struct insn *insn, bool truth)
{
    struct operand left = code_operand(walk->code, insn, 0);
    uint64_t number;
    uint32_t predicate = insn->subcode;

    const struct insn *inner = insn_here(walk, left);
    if ((predicate == PREDICATE_EQ || predicate == PREDICATE_NE) && inner &&
        inner->opcode == INSN_ZEXT &&
        constant_number(walk->code, code_operand(walk->code, insn, 1), &number) && number == 0 &&
        type_width(walk->code, code_operand_type(walk->code, code_operand(walk->code, inner, 0))) ==
            1)
        assume(walk, code_operand(walk->code, inner, 0), truth == (predicate == PREDICATE_NE));
    struct expression a = walk_operand(walk, left);
    struct expression b = walk_operand(walk, code_operand(walk->code, insn, 1));
    uint32_t outcomes = outcomes_of_predicate(predicate);
    if (a.kind != EXPRESSION_NONE && b.kind != EXPRESSION_NONE)
        state_relate(&walk->draft->state, a, b, truth ? outcomes : OUTCOME_ALL & ~outcomes);
}

static void assume_logic(struct walk *walk, const struct insn *insn, bool truth)
{
    struct operand a = code_operand(walk->code, insn, 0), b = code_operand(walk->code, insn, 1);
    uint64_t number;

    if (insn->opcode == INSN_XOR) {
        if (constant_number(walk->code, b, &number))
            assume(walk, a, truth != (number & 1));
    } else if (truth == (insn->opcode == INSN_AND)) {
        assume(walk, a, truth);
        assume(walk, b, truth);
    }
}

// a ? b : false, a ? true : b.
static void assume_select(struct walk *walk, const struct insn *insn, bool truth)
{
    struct operand yes = code_operand(walk->code, insn, 1);
    struct operand no = code_operand(walk->code, insn, 2);
    uint64_t number;

    if (constant_number(walk->code, no, &number) && number != truth) {
        assume(walk, code_operand(walk->code, insn, 0), true);
        assume(walk, yes, truth);
    } else if (constant_number(walk->code, yes, &number) && number != truth) {
        assume(walk, code_operand(walk->code, insn, 0), false);
        assume(walk, no, truth);
    }
}

static void assume(struct walk *walk, struct operand operand, bool truth)
{
    const struct insn *insn = insn_here(walk, operand);
    struct expression value = walk_operand(walk, operand);
    struct range range = range_single(1, truth);

    if (value.kind == EXPRESSION_NONE || value.width != 1)
        return;
    state_require(&walk->draft->state, value, &range);
    if (!insn ||
        !bitset_test(&walk->dataflow->modules[walk->module].wanted, operand_index(operand)))
        return;
    switch ((enum insn_opcode)insn->opcode) {
    case INSN_ICMP:
        assume_compare(walk, insn, truth);
        return;
    case INSN_AND:
    case INSN_OR:
    case INSN_XOR:
        assume_logic(walk, insn, truth);
        return;
    case INSN_SELECT:
        assume_select(walk, insn, truth);
        return;
    case INSN_FREEZE:
        assume(walk, code_operand(walk->code, insn, 0), truth);
        return;
    case INSN_TRUNC: { // of a truth value that was made wider
        const struct insn *inner = insn_here(walk, code_operand(walk->code, insn, 0));
        if (inner && inner->opcode == INSN_ZEXT)
            assume(walk, code_operand(walk->code, inner, 0), truth);
        return;
    }
    default:
        return;
    }
}

// The numbers that lead to successor `edge` of a switch.
static struct range range_of_case(const struct walk *walk, const struct insn *insn, uint32_t width,
                                  uint32_t edge)
{
    struct range cases = range_empty(width);
    uint64_t number;

    if (edge) {
        if (!constant_number(walk->code, code_operand(walk->code, insn, 2 * edge), &number))
            return range_full(width);
        return range_single(width, number);
    }
    for (uint32_t o = 2; o + 1 < insn->operand_count; o += 2) {
        if (!constant_number(walk->code, code_operand(walk->code, insn, o), &number))
            return range_full(width);
        struct range one = range_single(width, number);
        cases = range_union(&cases, &one);
    }
    // what was left out to keep it short may lead to the default as well
    return cases.is_wider ? range_full(width) : range_complement(&cases);
}

void walk_condition_any(struct walk *walk, const uint32_t *edges, uint32_t count)
{
    const struct insn *last = &walk->code->insns[walk->at->first_insn + walk->at->insn_count - 1];

    if (walk->at->insn_count == 0 || count == 0)
        return;
    if (last->opcode == INSN_BR && last->operand_count == 3 && count == 1)
        assume(walk, code_operand(walk->code, last, 0), edges[0] == 0);
    if (last->opcode != INSN_SWITCH)
        return;
    struct expression value = walk_operand(walk, code_operand(walk->code, last, 0));
    if (value.kind == EXPRESSION_NONE)
        return;
    struct range range = range_empty(value.width);
    for (uint32_t i = 0; i < count; i++) {
        struct range one = range_of_case(walk, last, value.width, edges[i]);
        range = range_union(&range, &one);
    }
    state_require(&walk->draft->state, value, &range);
}

void walk_condition(struct walk *walk, uint32_t edge)
{
    walk_condition_any(walk, &edge, 1);
}

// ---- Edges

void walk_enter(struct walk *walk, uint32_t target)
{
    struct dataflow *dataflow = walk->dataflow;
    const struct model_module *module = &dataflow->model->modules[walk->module];
    const struct code_node *to = &walk->code->nodes[target - module->first_node];
    uint32_t here = walk->node - module->first_node;
    struct entry_vec values = VEC_INIT;

    for (uint32_t i = to->first_insn; i < to->first_insn + to->insn_count; i++) {
        const struct insn *insn = &walk->code->insns[i];
        uint32_t variable = dataflow->modules[walk->module].register_of_insn[i];
        if (insn->opcode != INSN_PHI)
            break;
        if (variable == NONE)
            continue;
        struct entry entry = {.variable = variable};
        for (uint32_t o = 0; o + 1 < insn->operand_count; o += 2)
            if (operand_index(code_operand(walk->code, insn, o + 1)) == here)
                entry.expression = walk_operand(walk, code_operand(walk->code, insn, o));
        entry_vec_push(&values, entry);
    }
    walk_last(walk);
    for (size_t i = 0; i < values.length; i++)
        draft_set(walk->draft, values.data[i].variable, values.data[i].expression);
    entry_vec_deinit(&values);
}

// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "common/strbuf.h"
#include "path/dataflow_internal.h"

static const char *name_of_local(const struct code *code, uint32_t insn, uint32_t function)
{
    const struct code_function *f = &code->functions[function];

    for (uint32_t i = 0; i < f->variable_count; i++) {
        const struct variable *variable = &code->variables[f->first_variable + i];
        if (variable->storage.bits == operand_make(OPERAND_INSN, insn).bits)
            return code_string(code, variable->name);
    }
    return NULL;
}

static void print_slot(const struct dataflow *dataflow, const struct slot *slot, struct strbuf *out)
{
    const struct memory_object *object = &dataflow->objects.data[slot->object];
    const struct code *code = dataflow->model->modules[object->module].code;
    const char *name;

    if (object->function == NONE) {
        const struct global *global = &code->globals[object->index];
        name = code_string(code, global->debug_name);
        strbuf_append(out, *name ? name : code_string(code, global->name));
    } else {
        name =
            name_of_local(code, object->index, dataflow->model->functions[object->function].index);
        if (name)
            strbuf_append(out, name);
        else
            strbuf_printf(out, "%%%" PRIu32, object->index);
    }
    if (slot->offset || slot->bytes != object->size)
        strbuf_printf(out, "[%" PRId64 "]", slot->offset);
}

static void print_variable(const struct dataflow *dataflow, uint32_t variable, struct strbuf *out)
{
    const struct tracked *tracked = &dataflow->variables.data[variable & ~BASE_SAVED];
    const struct code *code = dataflow->model->modules[tracked->module].code;

    switch ((enum variable_kind_tracked)tracked->kind) {
    case TRACKED_SLOT:
        print_slot(dataflow, &dataflow->slots.data[tracked->index], out);
        return;
    case TRACKED_REGISTER:
        strbuf_printf(out, "%%%" PRIu32, tracked->index);
        return;
    case TRACKED_ARGUMENT: {
        uint32_t named = code->arguments[tracked->index].variable;
        uint32_t first = code->functions[code->arguments[tracked->index].function].first_argument;
        if (named != CODE_NONE)
            strbuf_printf(out, "argument %s", code_string(code, code->variables[named].name));
        else
            strbuf_printf(out, "argument %" PRIu32, tracked->index - first);
        return;
    }
    case TRACKED_RESULT:
        strbuf_printf(out, "result of %s",
                      dataflow->model->functions[tracked->function].source_name);
        return;
    case TRACKED_ADDRESS:
        strbuf_printf(out, "&%s", dataflow->model->functions[tracked->index].source_name);
        return;
    case TRACKED_ENTRY:
        strbuf_printf(out, "entry of %s",
                      tracked->index >= dataflow->model->function_count
                          ? "other code"
                          : dataflow->model->functions[tracked->index].source_name);
        return;
    }
}

static void print_base(const struct dataflow *dataflow, uint32_t base, uint64_t add, uint32_t width,
                       struct strbuf *out)
{
    int64_t distance = width_signed(width, add);

    if (base & BASE_UNKNOWN)
        strbuf_printf(out, "?%" PRIu32, base & ~BASE_UNKNOWN);
    else
        print_variable(dataflow, base, out);
    if (distance)
        strbuf_printf(out, " %c %" PRIu64, distance < 0 ? '-' : '+',
                      distance < 0 ? 0 - (uint64_t)distance : (uint64_t)distance);
}

static void print_range(const struct range *range, struct strbuf *out)
{
    strbuf_append(out, "{");
    for (uint32_t i = 0; i < range->count; i++) {
        int64_t low = width_signed(range->width, range->spans[i].low);
        int64_t high = width_signed(range->width, range->spans[i].high);
        strbuf_printf(out, "%s%" PRId64, i ? ", " : "", low);
        if (range->spans[i].low != range->spans[i].high)
            strbuf_printf(out, "..%" PRId64, high);
    }
    strbuf_append(out, "}");
}

static uint32_t base_bits(const struct dataflow *dataflow, const struct value *value, uint32_t base)
{
    return base & BASE_UNKNOWN ? value->unknowns[base & ~BASE_UNKNOWN].base
                               : base_width(dataflow, base);
}

static void print_expression(const struct dataflow *dataflow, const struct expression *expression,
                             struct strbuf *out)
{
    static const char *const names[] = {
        [EXPRESSION_ZERO] = "zext", [EXPRESSION_SIGN] = "sext", [EXPRESSION_LOW] = "trunc"};

    switch ((enum expression_kind)expression->kind) {
    case EXPRESSION_CONSTANT:
        strbuf_printf(out, "%" PRId64, width_signed(expression->width, expression->constant));
        return;
    case EXPRESSION_COPY:
        print_base(dataflow, expression->base, expression->constant, expression->width, out);
        return;
    case EXPRESSION_TEST:
        print_base(dataflow, expression->base, 0, 64, out);
        strbuf_append(out, " in ");
        print_range(range_at(dataflow, (uint32_t)expression->constant), out);
        return;
    case EXPRESSION_NONE:
        strbuf_append(out, "?");
        return;
    default:
        strbuf_printf(out, "%s(", names[expression->kind]);
        print_base(dataflow, expression->base, 0, 64, out);
        strbuf_append(out, ")");
    }
}

static const char *outcomes_text(uint32_t outcomes)
{
    static const struct {
        uint32_t predicate;
        const char *text;
    } known[] = {{PREDICATE_EQ, "=="},  {PREDICATE_NE, "!="},   {PREDICATE_SLT, "<"},
                 {PREDICATE_SLE, "<="}, {PREDICATE_SGT, ">"},   {PREDICATE_SGE, ">="},
                 {PREDICATE_ULT, "<u"}, {PREDICATE_ULE, "<=u"}, {PREDICATE_UGT, ">u"},
                 {PREDICATE_UGE, ">=u"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (outcomes_of_predicate(known[i].predicate) == outcomes)
            return known[i].text;
    return "<>";
}

static void print_effects(const struct dataflow *dataflow, const struct value *value,
                          struct strbuf *out)
{
    const struct variable_set *any = &dataflow->sets.data[value->any];
    const char *between = "";

    for (uint32_t i = 0; i < value->entry_count; i++) {
        const struct expression *e = &value->entries[i].expression;
        strbuf_append(out, between);
        print_variable(dataflow, value->entries[i].variable, out);
        strbuf_append(out, " = ");
        print_expression(dataflow, e, out);
        between = ", ";
    }
    for (uint32_t i = 0; i < any->count; i++) {
        strbuf_append(out, between);
        print_variable(dataflow, any->data[i], out);
        strbuf_append(out, " = ?");
        between = ", ";
    }
    if (value->drops)
        strbuf_printf(out, "%slocals = ?", between);
}

static void print_conditions(const struct dataflow *dataflow, const struct value *value,
                             struct strbuf *out)
{
    const char *between = "; requires ";

    for (uint32_t i = 0; i < value->limit_count; i++) {
        strbuf_append(out, between);
        print_variable(dataflow, value->limits[i].base, out);
        strbuf_append(out, " in ");
        print_range(range_at(dataflow, value->limits[i].range), out);
        between = ", ";
    }
    for (uint32_t i = 0; i < value->relation_count; i++) {
        const struct relation *r = &value->relations[i];
        uint32_t width = base_bits(dataflow, value, r->left);
        strbuf_append(out, between);
        print_base(dataflow, r->left, r->left_add, width, out);
        strbuf_printf(out, " %s ", outcomes_text(r->outcomes));
        print_base(dataflow, r->right, r->right_add, width, out);
        between = ", ";
    }
    between = "; with ";
    for (uint32_t i = 0; i < value->unknown_count; i++) {
        const struct range *range = range_at(dataflow, value->unknowns[i].range);
        if (range_is_full(range))
            continue;
        strbuf_printf(out, "%s?%" PRIu32 " in ", between, i);
        print_range(range, out);
        between = ", ";
    }
}

void dataflow_print(struct dataflow *dataflow, struct dataflow_value value, struct strbuf *out)
{
    if (value.number <= 1) {
        strbuf_append(out, value.number ? "one" : "zero");
        return;
    }
    print_effects(dataflow, value_at(dataflow, value), out);
    print_conditions(dataflow, value_at(dataflow, value), out);
}

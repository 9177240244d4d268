// SPDX-License-Identifier: Apache-2.0
/*
 * A draft is a value in the making; finishing it gives it the one form that it has: constants where
 * only one number is left, unknowns numbered in the order of the variables that hold them, nothing
 * said twice.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "path/dataflow_internal.h"

// ---- Drafts

void draft_init(struct draft *draft, struct dataflow *dataflow)
{
    *draft = (struct draft){0};
    state_init(&draft->state, dataflow);
}

void draft_deinit(struct draft *draft)
{
    state_deinit(&draft->state);
    entry_vec_deinit(&draft->entries);
    numbering_vec_deinit(&draft->numbers);
    limit_vec_deinit(&draft->unknowns);
    u32_vec_deinit(&draft->any);
}

void draft_clear(struct draft *draft)
{
    state_clear(&draft->state);
    draft->entries.length = 0;
    draft->drops = false;
}

// Where the variable's entry is, or would be.
size_t entries_find(const struct entry *entries, size_t count, uint32_t variable)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries[middle].variable < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_entry(struct draft *draft, uint32_t variable, struct expression expression)
{
    size_t at = entries_find(draft->entries.data, draft->entries.length, variable);
    struct entry entry = {variable, 0, expression};

    if (at < draft->entries.length && draft->entries.data[at].variable == variable) {
        draft->entries.data[at] = entry;
        return;
    }
    entry_vec_push(&draft->entries, entry);
    memmove(&draft->entries.data[at + 1], &draft->entries.data[at],
            (draft->entries.length - 1 - at) * sizeof(entry));
    draft->entries.data[at] = entry;
}

static bool is_asynchronous(const struct dataflow *dataflow, uint32_t variable)
{
    return dataflow->variables.data[variable & ~BASE_SAVED].is_asynchronous;
}

struct expression draft_get(struct draft *draft, uint32_t variable)
{
    struct dataflow *dataflow = draft->state.dataflow;
    size_t at = entries_find(draft->entries.data, draft->entries.length, variable);
    bool found = at < draft->entries.length && draft->entries.data[at].variable == variable;
    uint32_t width = base_width(dataflow, variable);
    struct range all = range_full(width);

    if (is_asynchronous(dataflow, variable))
        return state_unknown(&draft->state, &all);
    if (found && draft->entries.data[at].expression.kind != EXPRESSION_NONE)
        return draft->entries.data[at].expression =
                   state_resolve(&draft->state, draft->entries.data[at].expression);
    if (!found && !(draft->drops && is_local(dataflow, variable)))
        return expression_base(width, variable);
    struct expression unknown = state_unknown(&draft->state, &all);
    put_entry(draft, variable, unknown);
    return unknown;
}

void draft_set(struct draft *draft, uint32_t variable, struct expression expression)
{
    if (is_asynchronous(draft->state.dataflow, variable))
        return;
    assert(expression.kind == EXPRESSION_NONE ||
           expression.width == base_width(draft->state.dataflow, variable));
    put_entry(draft, variable, expression);
}

void draft_forget(struct draft *draft, uint32_t variable)
{
    draft_set(draft, variable, (struct expression){0});
}

// ---- The one form

// What comparisons with a number that is known say is said by the other's range.
static void drop_known_relations(struct state *state)
{
    for (size_t i = 0; i < state->relations.length && !state->is_impossible; i++) {
        struct relation relation = state->relations.data[i];
        bool is_unknown = relation.left & BASE_UNKNOWN;
        uint32_t width = is_unknown ? state->unknowns.data[relation.left & ~BASE_UNKNOWN].width
                                    : base_width(state->dataflow, relation.left);
        struct expression left = expression_base(width, relation.left);
        struct expression right = expression_base(width, relation.right);

        left.constant = relation.left_add;
        right.constant = relation.right_add;
        struct range a = state_range(state, left), b = state_range(state, right);
        if (range_is_single(&a))
            left = expression_constant(width, a.spans[0].low);
        else if (range_is_single(&b))
            right = expression_constant(width, b.spans[0].low);
        else
            continue;
        state->relations.data[i] = state->relations.data[--state->relations.length];
        state_relate(state, left, right, relation.outcomes);
        state_settle(state);
        i = (size_t)-1;
    }
}

// The simplest that says the same of the variable.
static struct expression simplify(struct state *state, struct expression expression)
{
    if (!expression_has_base(&expression))
        return expression;
    expression = state_resolve(state, expression);
    struct range range = state_range(state, expression);
    if (range_is_single(&range))
        return expression_constant(range.width, range.spans[0].low);
    if (expression.kind != EXPRESSION_TEST)
        return expression;
    struct expression base = expression_base(0, expression.base);
    const struct range *in = range_at(state->dataflow, (uint32_t)expression.constant);
    base.width = in->width;
    range = state_range(state, base);
    range = range_intersect(&range, in);
    if (!range.is_wider)
        expression.constant = range_intern(state->dataflow, &range);
    return expression;
}

static struct numbering *count_occurrences(struct draft *draft)
{
    struct state *state = &draft->state;
    size_t count = state->unknowns.length;

    draft->numbers.length = 0;
    for (size_t i = 0; i < count; i++)
        numbering_vec_push(&draft->numbers,
                           (struct numbering){.is_only_copied = true, .is_same = true});
    struct numbering *numbers = draft->numbers.data;
    for (size_t i = 0; i < draft->entries.length; i++) {
        const struct expression *e = &draft->entries.data[i].expression;
        if (!expression_has_base(e) || !(e->base & BASE_UNKNOWN))
            continue;
        struct numbering *n = &numbers[e->base & ~BASE_UNKNOWN];
        if (n->occurrences++ == 0)
            n->first = *e;
        n->is_only_copied &= e->kind == EXPRESSION_COPY;
        n->is_same &= expression_is_equal(e, &n->first);
    }
    // comparisons with what nothing holds any more
    for (size_t i = 0; i < state->relations.length; i++) {
        const struct relation *r = &state->relations.data[i];
        bool left = !(r->left & BASE_UNKNOWN) || numbers[r->left & ~BASE_UNKNOWN].occurrences;
        bool right = !(r->right & BASE_UNKNOWN) || numbers[r->right & ~BASE_UNKNOWN].occurrences;
        if (!left || !right) {
            state->relations.data[i--] = state->relations.data[--state->relations.length];
            continue;
        }
        if (r->left & BASE_UNKNOWN)
            numbers[r->left & ~BASE_UNKNOWN].relations++;
        if (r->right & BASE_UNKNOWN)
            numbers[r->right & ~BASE_UNKNOWN].relations++;
    }
    return numbers;
}

// What is made of an unknown in one way only is an unknown itself.
static void tell_same(struct state *state, struct numbering *n, struct entry *entry,
                      struct limit_vec *unknowns)
{
    struct range range = state_range(state, n->first);

    if (n->occurrences == 1 && range_is_full(&range)) {
        entry->expression = (struct expression){0};
        return;
    }
    if (!n->number) {
        n->number = (uint32_t)unknowns->length + 1;
        limit_vec_push(unknowns,
                       (struct limit){range.width, range_intern(state->dataflow, &range)});
    }
    entry->expression = expression_base(range.width, BASE_UNKNOWN | (n->number - 1));
}

static void number_unknown(struct draft *draft, struct numbering *numbers, struct entry *entry,
                           struct limit_vec *unknowns)
{
    struct state *state = &draft->state;
    struct numbering *n = &numbers[entry->expression.base & ~BASE_UNKNOWN];

    if (n->is_same && n->relations == 0) {
        tell_same(state, n, entry, unknowns);
        return;
    }
    if (!n->number) {
        const struct unknown *unknown =
            &state->unknowns.data[entry->expression.base & ~BASE_UNKNOWN];
        struct range range = *range_at(state->dataflow, unknown->range);
        n->number = (uint32_t)unknowns->length + 1;
        n->shift = n->is_only_copied ? entry->expression.constant : 0;
        range = range_shift(&range, n->shift);
        limit_vec_push(unknowns,
                       (struct limit){range.width, range_intern(state->dataflow, &range)});
    }
    entry->expression.base = BASE_UNKNOWN | (n->number - 1);
    if (entry->expression.kind == EXPRESSION_COPY)
        entry->expression.constant =
            (entry->expression.constant - n->shift) & width_mask(entry->expression.width);
}

static uint32_t renumber(struct draft *draft, const struct numbering *numbers, uint32_t base,
                         uint64_t *add)
{
    if (!(base & BASE_UNKNOWN))
        return base;
    const struct numbering *n = &numbers[base & ~BASE_UNKNOWN];
    assert(n->number);
    *add = (*add - n->shift) & width_mask(draft->state.unknowns.data[base & ~BASE_UNKNOWN].width);
    return BASE_UNKNOWN | (n->number - 1);
}

int relation_compare(const void *a, const void *b)
{
    const struct relation *x = a, *y = b;

    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    if (x->right != y->right)
        return x->right < y->right ? -1 : 1;
    if (x->left_add != y->left_add)
        return x->left_add < y->left_add ? -1 : 1;
    return x->right_add < y->right_add ? -1 : x->right_add > y->right_add;
}

static void number_relations(struct draft *draft, const struct numbering *numbers)
{
    struct relation_vec *relations = &draft->state.relations;

    for (size_t i = 0; i < relations->length; i++) {
        struct relation *r = &relations->data[i];
        r->left = renumber(draft, numbers, r->left, &r->left_add);
        r->right = renumber(draft, numbers, r->right, &r->right_add);
        if (r->left > r->right)
            *r = (struct relation){
                r->right, r->left, r->right_add, r->left_add, outcomes_swap(r->outcomes), 0};
        if (r->outcomes == OUTCOME_EQUAL || r->outcomes == (OUTCOME_ALL & ~OUTCOME_EQUAL)) {
            uint32_t width =
                r->left & BASE_UNKNOWN ? 0 : base_width(draft->state.dataflow, r->left);
            if (width) {
                r->left_add = (r->left_add - r->right_add) & width_mask(width);
                r->right_add = 0;
            }
        }
    }
    if (relations->length > 1)
        qsort(relations->data, relations->length, sizeof(*relations->data), relation_compare);
}

static int compare_limits(const void *a, const void *b)
{
    const struct limit *x = a, *y = b;

    return x->base < y->base ? -1 : x->base > y->base;
}

static void sort_limits(struct draft *draft)
{
    struct limit_vec *limits = &draft->state.limits;
    size_t kept = 0;

    for (size_t i = 0; i < limits->length; i++)
        if (!range_is_full(range_at(draft->state.dataflow, limits->data[i].range)))
            limits->data[kept++] = limits->data[i];
    limits->length = kept;
    if (kept > 1)
        qsort(limits->data, kept, sizeof(*limits->data), compare_limits);
    if (kept > draft->state.dataflow->condition_most)
        limits->length = draft->state.dataflow->condition_most;
}

static bool is_identity(const struct draft *draft, const struct entry *entry)
{
    const struct expression *e = &entry->expression;

    return e->kind == EXPRESSION_COPY && e->constant == 0 && e->base == entry->variable &&
           !(draft->drops && is_local(draft->state.dataflow, entry->variable));
}

// Entries that say something; variables of which nothing is known into `any`.
static void sort_out_entries(struct draft *draft, struct u32_vec *any)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->entries.length; i++) {
        struct entry entry = draft->entries.data[i];
        if (entry.expression.kind == EXPRESSION_NONE) {
            if (!(draft->drops && is_local(draft->state.dataflow, entry.variable)))
                u32_vec_push(any, entry.variable);
        } else if (!is_identity(draft, &entry))
            draft->entries.data[kept++] = entry;
    }
    draft->entries.length = kept;
}

struct dataflow_value draft_finish(struct draft *draft)
{
    struct state *state = &draft->state;
    struct dataflow *dataflow = state->dataflow;
    struct limit_vec *unknowns = &draft->unknowns;
    struct u32_vec *any = &draft->any;

    unknowns->length = any->length = 0;
    state_settle(state);
    drop_known_relations(state);
    if (state->is_impossible)
        return DATAFLOW_ZERO;
    for (size_t i = 0; i < draft->entries.length; i++)
        draft->entries.data[i].expression = simplify(state, draft->entries.data[i].expression);
    struct numbering *numbers = count_occurrences(draft);
    for (size_t i = 0; i < draft->entries.length; i++) {
        struct entry *entry = &draft->entries.data[i];
        if (expression_has_base(&entry->expression) && entry->expression.base & BASE_UNKNOWN)
            number_unknown(draft, numbers, entry, unknowns);
    }
    number_relations(draft, numbers);
    sort_limits(draft);
    sort_out_entries(draft, any);
    size_t relations = state->relations.length;
    struct value value = {
        .any = set_intern(dataflow, any->data, (uint32_t)any->length),
        .drops = draft->drops,
        .entries = draft->entries.data,
        .entry_count = (uint32_t)draft->entries.length,
        .limits = state->limits.data,
        .limit_count = (uint32_t)state->limits.length,
        .relations = state->relations.data,
        .relation_count =
            (uint32_t)(relations > dataflow->condition_most ? dataflow->condition_most : relations),
        .unknowns = unknowns->data,
        .unknown_count = (uint32_t)unknowns->length};
    return value_intern(dataflow, &value);
}

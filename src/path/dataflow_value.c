// SPDX-License-Identifier: Apache-2.0
/*
 * Values, each kept once, and what is made of them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "path/dataflow_internal.h"

// ---- Keeping things once

static uint64_t hash_words(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        hash = hash_mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}

static bool is_same(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

uint32_t range_intern(struct dataflow *dataflow, const struct range *range)
{
    uint64_t hash = hash_words((uint64_t)range->width << 8 | range->count, range->spans,
                               range->count * sizeof(*range->spans));
    bool is_new;

    for (;; hash++) { // the next key where two ranges have the same
        uint32_t *number = number_map_put_new(&dataflow->range_numbers, hash, &is_new);
        if (!is_new && !range_is_equal(&dataflow->ranges.data[*number], range))
            continue;
        if (is_new) {
            *number = (uint32_t)dataflow->ranges.length;
            range_vec_push(&dataflow->ranges, *range);
            dataflow->ranges.data[*number].is_wider = false;
        }
        return *number;
    }
}

const struct range *range_at(const struct dataflow *dataflow, uint32_t range)
{
    assert(range < dataflow->ranges.length);
    return &dataflow->ranges.data[range];
}

uint32_t set_intern(struct dataflow *dataflow, const uint32_t *variables, uint32_t count)
{
    uint64_t hash = count;
    bool is_new;

    for (uint32_t i = 0; i < count; i++)
        hash = hash_mix(hash ^ variables[i]) + UINT64_C(0x9e3779b97f4a7c15);
    for (;; hash++) {
        uint32_t *number = number_map_put_new(&dataflow->set_numbers, hash, &is_new);
        if (!is_new) {
            const struct variable_set *set = &dataflow->sets.data[*number];
            if (set->count != count || !is_same(set->data, variables, count * sizeof(*variables)))
                continue;
            return *number;
        }
        *number = (uint32_t)dataflow->sets.length;
        const uint32_t *data =
            count ? arena_memdup(&dataflow->arena, variables, count * sizeof(*variables)) : NULL;
        variable_set_vec_push(&dataflow->sets, (struct variable_set){data, count});
        return *number;
    }
}

bool set_holds(const struct dataflow *dataflow, uint32_t set, uint32_t variable)
{
    const struct variable_set *s = &dataflow->sets.data[set];
    uint32_t low = 0, high = s->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->data[middle] < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->data[low] == variable;
}

const struct value *value_at(const struct dataflow *dataflow, struct dataflow_value value)
{
    assert(value.number < dataflow->values.length);
    return &dataflow->values.data[value.number];
}

static bool value_is_equal(const struct value *a, const struct value *b)
{
    return a->any == b->any && a->drops == b->drops && a->entry_count == b->entry_count &&
           a->limit_count == b->limit_count && a->relation_count == b->relation_count &&
           a->unknown_count == b->unknown_count &&
           is_same(a->entries, b->entries, a->entry_count * sizeof(*a->entries)) &&
           is_same(a->limits, b->limits, a->limit_count * sizeof(*a->limits)) &&
           is_same(a->relations, b->relations, a->relation_count * sizeof(*a->relations)) &&
           is_same(a->unknowns, b->unknowns, a->unknown_count * sizeof(*a->unknowns));
}

static const void *keep(struct dataflow *dataflow, const void *data, size_t bytes)
{
    return bytes ? arena_memdup(&dataflow->arena, data, bytes) : "";
}

struct dataflow_value value_intern(struct dataflow *dataflow, const struct value *value)
{
    uint64_t hash = hash_mix((uint64_t)value->any << 1 | value->drops);
    bool is_new;

    hash = hash_words(hash, value->entries, value->entry_count * sizeof(*value->entries));
    hash = hash_words(hash + 1, value->limits, value->limit_count * sizeof(*value->limits));
    hash =
        hash_words(hash + 2, value->relations, value->relation_count * sizeof(*value->relations));
    hash = hash_words(hash + 3, value->unknowns, value->unknown_count * sizeof(*value->unknowns));
    for (;; hash++) {
        uint32_t *number = number_map_put_new(&dataflow->value_numbers, hash, &is_new);
        if (!is_new && !value_is_equal(&dataflow->values.data[*number], value))
            continue;
        if (is_new) {
            struct value kept = *value;
            *number = (uint32_t)dataflow->values.length;
            kept.entries =
                keep(dataflow, value->entries, value->entry_count * sizeof(struct entry));
            kept.limits = keep(dataflow, value->limits, value->limit_count * sizeof(struct limit));
            kept.relations =
                keep(dataflow, value->relations, value->relation_count * sizeof(struct relation));
            kept.unknowns =
                keep(dataflow, value->unknowns, value->unknown_count * sizeof(struct limit));
            value_vec_push(&dataflow->values, kept);
        }
        return (struct dataflow_value){*number};
    }
}

// ---- Extend

// The value's unknowns, behind those that are there: how many there were.
static uint32_t load_unknowns(struct state *state, const struct value *value)
{
    uint32_t first = (uint32_t)state->unknowns.length;

    for (uint32_t i = 0; i < value->unknown_count; i++)
        unknown_vec_push(&state->unknowns,
                         (struct unknown){.range = value->unknowns[i].range,
                                          .width = (uint8_t)value->unknowns[i].base});
    return first;
}

static void load_state(struct state *state, const struct value *value)
{
    state_clear(state);
    load_unknowns(state, value);
    for (uint32_t i = 0; i < value->limit_count; i++)
        limit_vec_push(&state->limits, value->limits[i]);
    for (uint32_t i = 0; i < value->relation_count; i++)
        relation_vec_push(&state->relations, value->relations[i]);
}

static void load_draft(struct draft *draft, const struct value *value)
{
    const struct variable_set *any = &draft->state.dataflow->sets.data[value->any];
    uint32_t a = 0, e = 0;

    load_state(&draft->state, value);
    draft->drops = value->drops;
    draft->entries.length = 0;
    while (a < any->count || e < value->entry_count)
        if (e == value->entry_count ||
            (a < any->count && any->data[a] < value->entries[e].variable))
            entry_vec_push(&draft->entries, (struct entry){.variable = any->data[a++]});
        else
            entry_vec_push(&draft->entries, value->entries[e++]);
}

void draft_load(struct draft *draft, struct dataflow_value value)
{
    load_draft(draft, value_at(draft->state.dataflow, value));
}

// A base of the second value, in terms of the first.
static struct expression base_before(struct draft *draft, uint32_t base, uint32_t first_unknown,
                                     const struct value *value)
{
    if (base & BASE_UNKNOWN) {
        uint32_t number = base & ~BASE_UNKNOWN;
        return state_resolve(
            &draft->state,
            expression_base(value->unknowns[number].base, BASE_UNKNOWN | (first_unknown + number)));
    }
    return draft_get(draft, base);
}

static void extend_conditions(struct draft *draft, const struct value *value,
                              uint32_t first_unknown)
{
    struct state *state = &draft->state;

    for (uint32_t i = 0; i < value->limit_count && !state->is_impossible; i++) {
        struct range range = *range_at(state->dataflow, value->limits[i].range);
        state_require(state, draft_get(draft, value->limits[i].base), &range);
    }
    for (uint32_t i = 0; i < value->relation_count && !state->is_impossible; i++) {
        const struct relation *r = &value->relations[i];
        struct expression left = base_before(draft, r->left, first_unknown, value);
        struct expression right = base_before(draft, r->right, first_unknown, value);
        left = expression_add(state, left, r->left_add);
        right = expression_add(state, right, r->right_add);
        state_relate(state, left, right, r->outcomes);
    }
}

// draft's entries, where the second value does not say otherwise, and that one's.
static void extend_entries(struct draft *draft, const struct value *value, struct entry_vec *behind)
{
    struct dataflow *dataflow = draft->state.dataflow;
    const struct variable_set *any = &dataflow->sets.data[value->any];
    struct entry_vec before = draft->entries;
    size_t b = 0, e = 0;
    uint32_t a = 0;

    draft->entries = dataflow->before;
    draft->entries.length = 0;
    while (b < before.length || e < behind->length || a < any->count) {
        uint32_t from_before = b < before.length ? before.data[b].variable : NONE;
        uint32_t from_behind = e < behind->length ? behind->data[e].variable : NONE;
        uint32_t from_any = a < any->count ? any->data[a] : NONE;
        if (from_before < from_behind && from_before < from_any) {
            if (!(value->drops && is_local(dataflow, from_before)))
                entry_vec_push(&draft->entries, before.data[b]);
            b++;
            continue;
        }
        if (from_behind < from_any) {
            b += from_before == from_behind;
            entry_vec_push(&draft->entries, behind->data[e++]);
        } else {
            b += from_before == from_any;
            entry_vec_push(&draft->entries, (struct entry){.variable = from_any});
            a++;
        }
    }
    dataflow->before = before;
    draft->drops |= value->drops;
}

static struct dataflow_value extend(struct dataflow *dataflow, struct dataflow_value first,
                                    struct dataflow_value second)
{
    struct draft *draft = &dataflow->draft;
    struct value value = *value_at(dataflow, second);

    load_draft(draft, value_at(dataflow, first));
    uint32_t first_unknown = load_unknowns(&draft->state, &value);
    extend_conditions(draft, &value, first_unknown);
    if (draft->state.is_impossible)
        return DATAFLOW_ZERO;
    dataflow->behind.length = 0;
    for (uint32_t i = 0; i < value.entry_count; i++) {
        struct entry entry = value.entries[i];
        if (expression_has_base(&entry.expression))
            entry.expression = expression_substitute(
                &draft->state, entry.expression,
                base_before(draft, entry.expression.base, first_unknown, &value));
        entry_vec_push(&dataflow->behind, entry);
    }
    extend_entries(draft, &value, &dataflow->behind);
    return draft_finish(draft);
}

struct dataflow_value dataflow_extend(struct dataflow *dataflow, struct dataflow_value first,
                                      struct dataflow_value second)
{
    bool is_new;

    if (first.number == 0 || second.number == 0)
        return DATAFLOW_ZERO;
    if (first.number == 1 || second.number == 1)
        return first.number == 1 ? second : first;
    uint64_t key = (uint64_t)first.number << 32 | second.number;
    uint32_t *known = number_map_put_new(&dataflow->extends, key, &is_new);
    if (!is_new)
        return (struct dataflow_value){*known};
    struct dataflow_value ret = extend(dataflow, first, second);
    *number_map_put(&dataflow->extends, key) = ret.number;
    return ret;
}

// ---- Combine

struct pair {
    struct expression a, b, joined;
};
VEC_DEFINE(pair_vec, struct pair);

static struct range join(const struct range *a, const struct range *b)
{
    if (range_is_equal(a, b))
        return *a;
    struct range both = range_union(a, b);
    return range_close(&both);
}

static struct expression join_expressions(struct dataflow *dataflow, struct pair_vec *pairs,
                                          struct expression a, struct expression b)
{
    if (a.kind == EXPRESSION_NONE || b.kind == EXPRESSION_NONE)
        return (struct expression){0};
    bool is_unknown = expression_has_base(&a) && a.base & BASE_UNKNOWN;
    if (!is_unknown && expression_is_equal(&a, &b))
        return a;
    for (size_t i = 0; i < pairs->length; i++)
        if (expression_is_equal(&pairs->data[i].a, &a) &&
            expression_is_equal(&pairs->data[i].b, &b))
            return pairs->data[i].joined;
    struct range x = state_range(&dataflow->sides[0], a);
    struct range y = state_range(&dataflow->sides[1], b);
    struct range range = join(&x, &y);
    struct expression joined = state_unknown(&dataflow->draft.state, &range);
    pair_vec_push(pairs, (struct pair){a, b, joined});
    return joined;
}

static struct expression value_holds(const struct dataflow *dataflow, const struct value *value,
                                     uint32_t variable)
{
    size_t at = entries_find(value->entries, value->entry_count, variable);

    if (at < value->entry_count && value->entries[at].variable == variable)
        return value->entries[at].expression;
    if ((value->drops && is_local(dataflow, variable)) || set_holds(dataflow, value->any, variable))
        return (struct expression){0};
    return expression_base(base_width(dataflow, variable), variable);
}

static void combine_entries(struct dataflow *dataflow, const struct value *a, const struct value *b)
{
    const struct variable_set *any_a = &dataflow->sets.data[a->any];
    const struct variable_set *any_b = &dataflow->sets.data[b->any];
    struct draft *draft = &dataflow->draft;
    struct pair_vec pairs = VEC_INIT;
    uint32_t at[4] = {0};

    for (;;) {
        uint32_t next[4] = {
            at[0] < a->entry_count ? a->entries[at[0]].variable : NONE,
            at[1] < b->entry_count ? b->entries[at[1]].variable : NONE,
            at[2] < any_a->count ? any_a->data[at[2]] : NONE,
            at[3] < any_b->count ? any_b->data[at[3]] : NONE,
        };
        uint32_t variable = NONE;
        for (int i = 0; i < 4; i++)
            variable = next[i] < variable ? next[i] : variable;
        if (variable == NONE)
            break;
        for (int i = 0; i < 4; i++)
            at[i] += next[i] == variable;
        struct expression x = value_holds(dataflow, a, variable);
        struct expression y = value_holds(dataflow, b, variable);
        entry_vec_push(&draft->entries,
                       (struct entry){variable, 0, join_expressions(dataflow, &pairs, x, y)});
    }
    pair_vec_deinit(&pairs);
}

static void combine_limits(struct dataflow *dataflow, const struct value *a, const struct value *b)
{
    for (uint32_t i = 0, k = 0; i < a->limit_count && k < b->limit_count;) {
        const struct limit *x = &a->limits[i], *y = &b->limits[k];
        i += x->base <= y->base;
        k += y->base <= x->base;
        if (x->base != y->base)
            continue;
        struct range range = join(range_at(dataflow, x->range), range_at(dataflow, y->range));
        limit_vec_push(&dataflow->draft.state.limits,
                       (struct limit){x->base, range_intern(dataflow, &range)});
    }
}

static void combine_relations(struct dataflow *dataflow, const struct value *a,
                              const struct value *b)
{
    for (uint32_t i = 0, k = 0; i < a->relation_count && k < b->relation_count;) {
        struct relation x = a->relations[i];
        const struct relation *y = &b->relations[k];
        int order = relation_compare(&x, y);
        i += order <= 0;
        k += order >= 0;
        x.outcomes |= y->outcomes;
        if (order == 0 && x.outcomes != OUTCOME_ALL && !((x.left | x.right) & BASE_UNKNOWN))
            relation_vec_push(&dataflow->draft.state.relations, x);
    }
}

static struct dataflow_value combine(struct dataflow *dataflow, struct dataflow_value first,
                                     struct dataflow_value second)
{
    struct value a = *value_at(dataflow, first), b = *value_at(dataflow, second);
    struct draft *draft = &dataflow->draft;

    draft_clear(draft);
    load_state(&dataflow->sides[0], &a);
    load_state(&dataflow->sides[1], &b);
    draft->drops = a.drops || b.drops;
    combine_limits(dataflow, &a, &b);
    combine_relations(dataflow, &a, &b);
    combine_entries(dataflow, &a, &b);
    return draft_finish(draft);
}

struct dataflow_value dataflow_combine(struct dataflow *dataflow, struct dataflow_value a,
                                       struct dataflow_value b)
{
    bool is_new;

    if (a.number == b.number || a.number == 0 || b.number == 0)
        return a.number == 0 ? b : a;
    if (a.number > b.number)
        return dataflow_combine(dataflow, b, a);
    uint64_t key = (uint64_t)a.number << 32 | b.number;
    uint32_t *known = number_map_put_new(&dataflow->combines, key, &is_new);
    if (!is_new)
        return (struct dataflow_value){*known};
    struct dataflow_value ret = combine(dataflow, a, b);
    *number_map_put(&dataflow->combines, key) = ret.number;
    return ret;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Paths that show a value. Derivations refer to sets of reasons; for each set that is needed a few
 * *proofs* are chosen, each by one derivation and one proof of each of its parts, whose weights
 * combine to the set's weight; then the proofs of the value are told as rules. References lead to
 * earlier derivations only, so this ends. Stacks of our own, since paths are long.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "solve/pushdown/pushdown_internal.h"

struct proof {
    struct weight weight;
    uint32_t derivation;
    uint32_t left, right; // proofs; PUSHDOWN_NONE
};
VEC_DEFINE(proof_vec, struct proof);

struct proof_list {
    uint32_t first, count;
};
VEC_DEFINE(proof_list_vec, struct proof_list);
VEC_DEFINE(reasons_vec, struct reasons);

struct proving {
    const struct pushdown_automaton *automaton;
    struct proof_vec proofs;
    struct proof_list_vec lists;
    struct pushdown_map list_of; // by head and stop of the reasons
    struct proof_vec candidates;
    struct reasons_vec open;
};

static const struct derivation *derivation_at(const struct proving *proving, uint32_t id)
{
    return derivation_vec_at(&proving->automaton->derivations, id);
}

static const struct proof_list *list_of(const struct proving *proving, struct reasons reasons)
{
    const uint32_t *found =
        pushdown_map_get(&proving->list_of, (uint64_t)reasons.head << 32 | reasons.stop);

    return found ? &proving->lists.data[*found] : NULL;
}

// ---- Weights of proofs

static struct weight weight_of_rule(const struct pushdown_automaton *automaton,
                                    const struct derivation *derivation, struct weight left,
                                    struct weight right)
{
    const struct semiring *semiring = automaton->semiring;
    const struct pushdown_rule *rule = &automaton->system->rules.data[derivation->number];
    bool is_call = derivation->kind == DERIVED_CALL;

    if (automaton->direction == POST)
        return is_call ? semiring_merge(semiring, left, rule->weight, right, rule->tag)
                       : semiring_extend(semiring, left, rule->weight);
    left = is_call ? semiring_merge(semiring, semiring->one, rule->weight, left, rule->tag)
                   : semiring_extend(semiring, rule->weight, left);
    return semiring_extend(semiring, left, right);
}

static struct weight weight_of(const struct proving *proving, uint32_t id, uint32_t left,
                               uint32_t right)
{
    const struct semiring *semiring = proving->automaton->semiring;
    const struct derivation *derivation = derivation_at(proving, id);
    struct weight of_left =
        left == PUSHDOWN_NONE ? semiring->one : proving->proofs.data[left].weight;
    struct weight of_right =
        right == PUSHDOWN_NONE ? semiring->one : proving->proofs.data[right].weight;

    switch (derivation->kind) {
    case DERIVED_GIVEN:
        return derivation->weight;
    case DERIVED_ENTRY:
    case DERIVED_START:
        return semiring->one;
    case DERIVED_JOIN:
    case DERIVED_READ:
        return semiring_extend(semiring, of_left, of_right);
    case DERIVED_RULE:
    case DERIVED_CALL:
        return weight_of_rule(proving->automaton, derivation, of_left, of_right);
    }
    abort();
}

// ---- Choosing proofs

// Both parts' lists are there, or the parts are not.
static void add_candidates(struct proving *proving, uint32_t id)
{
    const struct derivation *derivation = derivation_at(proving, id);
    static const struct proof_list none = {PUSHDOWN_NONE, 1};
    const struct proof_list *left = list_of(proving, derivation->left);
    const struct proof_list *right = list_of(proving, derivation->right);

    assert((left != NULL) == (derivation->left.head != PUSHDOWN_NONE));
    assert((right != NULL) == (derivation->right.head != PUSHDOWN_NONE));
    left = left ? left : &none;
    right = right ? right : &none;
    for (uint32_t l = 0; l < left->count; l++)
        for (uint32_t r = 0; r < right->count; r++) {
            uint32_t of_left = left == &none ? PUSHDOWN_NONE : left->first + l;
            uint32_t of_right = right == &none ? PUSHDOWN_NONE : right->first + r;

            proof_vec_push(
                &proving->candidates,
                (struct proof){weight_of(proving, id, of_left, of_right), id, of_left, of_right});
        }
}

// What was chosen `before`, combined with all candidates behind this one.
static struct weight combine_without(const struct proving *proving, struct weight before,
                                     size_t without)
{
    const struct semiring *semiring = proving->automaton->semiring;

    for (size_t i = without + 1; i < proving->candidates.length; i++)
        before = semiring_combine(semiring, before, proving->candidates.data[i].weight);
    return before;
}

// Keeps those without which the rest would be worth less. Where the semiring does not distribute,
// each may be worth nothing though together they are: then one, which is a path all the same.
static void choose(struct proving *proving)
{
    const struct semiring *semiring = proving->automaton->semiring;
    struct proof_vec *candidates = &proving->candidates;
    struct weight total = semiring->zero, kept = semiring->zero;
    struct proof any = candidates->length ? candidates->data[0] : (struct proof){0};
    bool has_any = candidates->length > 0;
    size_t count = 0;

    for (size_t i = 0; i < candidates->length; i++) {
        struct weight more = semiring_combine(semiring, total, candidates->data[i].weight);

        if (!weight_is_equal(more, total))
            candidates->data[count++] = candidates->data[i];
        total = more;
    }
    candidates->length = count;
    if (has_any && !count)
        proof_vec_push(&proving->proofs, any);
    for (size_t i = 0; i < candidates->length; i++) {
        if (weight_is_equal(combine_without(proving, kept, i), total))
            continue;
        kept = semiring_combine(semiring, kept, candidates->data[i].weight);
        proof_vec_push(&proving->proofs, candidates->data[i]);
    }
}

static void need(struct proving *proving, struct reasons reasons)
{
    if (reasons.head != PUSHDOWN_NONE && !list_of(proving, reasons))
        reasons_vec_push(&proving->open, reasons);
}

// Chooses for the reasons that are open last, if all that they refer to has been chosen.
static void prove_last(struct proving *proving)
{
    struct reasons reasons = *reasons_vec_last(&proving->open);
    size_t open = proving->open.length;

    if (list_of(proving, reasons)) {
        proving->open.length--;
        return;
    }
    for (uint32_t d = reasons.head; d != PUSHDOWN_NONE && d != reasons.stop;
         d = derivation_at(proving, d)->previous) {
        need(proving, derivation_at(proving, d)->left);
        need(proving, derivation_at(proving, d)->right);
    }
    if (proving->open.length > open)
        return;
    proving->candidates.length = 0;
    for (uint32_t d = reasons.head; d != PUSHDOWN_NONE && d != reasons.stop;
         d = derivation_at(proving, d)->previous)
        add_candidates(proving, d);
    struct proof_list list = {(uint32_t)proving->proofs.length, 0};
    choose(proving);
    assert(proving->proofs.length < PUSHDOWN_NONE);
    list.count = (uint32_t)proving->proofs.length - list.first;
    *pushdown_map_put(&proving->list_of, (uint64_t)reasons.head << 32 | reasons.stop) =
        (uint32_t)proving->lists.length;
    proof_list_vec_push(&proving->lists, list);
    proving->open.length--;
}

static struct proof_list prove(struct proving *proving, struct reasons reasons)
{
    need(proving, reasons);
    while (proving->open.length)
        prove_last(proving);
    return reasons.head == PUSHDOWN_NONE ? (struct proof_list){0, 0} : *list_of(proving, reasons);
}

// ---- Telling them

// What is left to be told, last first.
struct item {
    bool is_rule; // else a proof
    uint32_t number;
};
VEC_DEFINE(item_vec, struct item);

struct telling {
    const struct proving *proving;
    struct item_vec items;
    struct pushdown_id_vec rules;
    struct pushdown_id_vec read; // symbols, from the bottom
    struct pushdown_id_vec
        given;        // transitions: from the bottom behind post, from the top behind pre
    uint32_t control; // that reading began with
    struct weight given_weight;
};

static void tell_part(struct telling *telling, uint32_t proof)
{
    if (proof != PUSHDOWN_NONE)
        item_vec_push(&telling->items, (struct item){false, proof});
}

// What is told first is pushed last.
static void tell_proof(struct telling *telling, const struct proof *proof)
{
    const struct pushdown_automaton *automaton = telling->proving->automaton;
    const struct derivation *derivation = derivation_at(telling->proving, proof->derivation);
    bool is_rule = derivation->kind == DERIVED_RULE || derivation->kind == DERIVED_CALL;
    struct item rule = {true, derivation->number};

    if (derivation->kind == DERIVED_GIVEN) {
        pushdown_id_vec_push(&telling->given, derivation->number);
        telling->given_weight =
            semiring_extend(automaton->semiring, telling->given_weight, derivation->weight);
    } else if (derivation->kind == DERIVED_START) {
        telling->control = derivation->number;
    } else if (derivation->kind == DERIVED_READ) {
        pushdown_id_vec_push(&telling->read, derivation->number);
    }
    tell_part(telling, proof->right);
    if (is_rule && automaton->direction == POST)
        item_vec_push(&telling->items, rule);
    tell_part(telling, proof->left);
    if (is_rule && automaton->direction == PRE)
        item_vec_push(&telling->items, rule);
}

// False: more rules than that.
static bool tell(struct telling *telling, uint32_t proof, uint64_t limit)
{
    tell_part(telling, proof);
    while (telling->items.length) {
        struct item item = item_vec_pop(&telling->items);

        if (!item.is_rule) {
            tell_proof(telling, &telling->proving->proofs.data[item.number]);
            continue;
        }
        if (telling->rules.length == limit || telling->rules.length == UINT32_MAX)
            return false;
        pushdown_id_vec_push(&telling->rules, item.number);
    }
    return true;
}

static void reverse(struct pushdown_id_vec *ids)
{
    for (size_t i = 0, k = ids->length; i + 1 < k; i++) {
        uint32_t first = ids->data[i];

        ids->data[i] = ids->data[--k];
        ids->data[k] = first;
    }
}

// The configuration of the given set, by its transitions. Where its stack is empty there are none,
// and the state is where the rules lead to or begin.
static struct pushdown_configuration given_configuration(struct telling *telling)
{
    const struct pushdown_automaton *automaton = telling->proving->automaton;
    const struct pushdown_rule *rules = automaton->system->rules.data;
    struct pushdown_id_vec *given = &telling->given;
    struct pushdown_configuration result = {.state = telling->control,
                                            .count = (uint32_t)given->length};

    if (automaton->direction == POST)
        reverse(given);
    if (automaton->direction == PRE && telling->rules.length)
        result.state = rules[*pushdown_id_vec_last(&telling->rules)].to;
    for (size_t i = 0; i < given->length; i++) {
        const struct head *head =
            &automaton->heads.data[automaton->transitions.data[given->data[i]].head];

        assert(automaton_is_control(automaton, head->state) == (i == 0));
        result.state = i == 0 ? head->state : result.state;
        given->data[i] = head->symbol;
    }
    result.symbols = pushdown_id_vec_steal(given);
    return result;
}

static bool witness_of(const struct proving *proving, uint32_t proof, uint64_t limit,
                       struct pushdown_witness *ret)
{
    struct telling telling = {
        .proving = proving,
        .control = PUSHDOWN_NONE,
        .given_weight = proving->automaton->semiring->one,
    };
    bool fits = tell(&telling, proof, limit);

    item_vec_deinit(&telling.items);
    if (!fits) {
        pushdown_id_vec_deinit(&telling.rules);
        pushdown_id_vec_deinit(&telling.read);
        pushdown_id_vec_deinit(&telling.given);
        return false;
    }
    assert(telling.control != PUSHDOWN_NONE);
    struct pushdown_configuration given = given_configuration(&telling);
    reverse(&telling.read);
    struct pushdown_configuration asked = {telling.control, NULL, (uint32_t)telling.read.length};
    asked.symbols = pushdown_id_vec_steal(&telling.read);
    bool is_post = proving->automaton->direction == POST;
    *ret = (struct pushdown_witness){
        .from = is_post ? given : asked,
        .to = is_post ? asked : given,
        .given = telling.given_weight,
        .weight = proving->proofs.data[proof].weight,
        .rule_count = (uint32_t)telling.rules.length,
    };
    ret->rules = pushdown_id_vec_steal(&telling.rules);
    return true;
}

bool pushdown_witnesses_of_set(struct pushdown_automaton *automaton,
                               const struct pushdown_automaton *set, uint64_t limit,
                               struct pushdown_witnesses *ret)
{
    size_t kept = automaton->derivations.length;
    struct proving proving = {.automaton = automaton, .list_of = MAP_INIT};
    struct pushdown_witnesses witnesses = {NULL, 0};
    struct reasons reasons;
    bool fits = true;

    read_set(automaton, set, &reasons);
    struct proof_list list = prove(&proving, reasons);
    witnesses.paths = xcalloc(list.count + 1u, sizeof(*witnesses.paths));
    for (uint32_t i = 0; fits && i < list.count; i++) {
        fits = witness_of(&proving, list.first + i, limit, &witnesses.paths[i]);
        if (fits)
            limit -= witnesses.paths[witnesses.count++].rule_count;
    }
    if (fits)
        *ret = witnesses;
    else
        pushdown_witnesses_deinit(&witnesses);
    automaton->derivations.length = kept;
    proof_vec_deinit(&proving.proofs);
    proof_list_vec_deinit(&proving.lists);
    pushdown_map_deinit(&proving.list_of);
    proof_vec_deinit(&proving.candidates);
    reasons_vec_deinit(&proving.open);
    return fits;
}

bool pushdown_witnesses(struct pushdown_automaton *automaton,
                        const struct pushdown_configuration *configuration, uint64_t limit,
                        struct pushdown_witnesses *ret)
{
    struct pushdown_automaton *set = set_of_one(automaton, configuration);
    bool fits = pushdown_witnesses_of_set(automaton, set, limit, ret);

    pushdown_automaton_destroy(set);
    return fits;
}

void pushdown_witnesses_deinit(struct pushdown_witnesses *witnesses)
{
    for (uint32_t i = 0; i < witnesses->count; i++) {
        free(witnesses->paths[i].from.symbols);
        free(witnesses->paths[i].to.symbols);
        free(witnesses->paths[i].rules);
    }
    free(witnesses->paths);
    *witnesses = (struct pushdown_witnesses){NULL, 0};
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Post and pre: transitions are added and bettered until no rule gives more.
 *
 * Schwoon, 2002, algorithms 1 and 2, with weights as in Reps, Schwoon, Jha, Melski, 2005, and calls
 * merged as in Lal, Reps, Balakrishnan, 2005. Where we differ: what a transition passes on is what
 * it has gained since it last did; of two transitions that a rule needs, the one that comes second
 * makes the result, so that none is made that both would make again.
 *
 * Post. Each entry <q, g'> of a callee has a state behind it, "inside". The transition (q, g',
 * inside) has the weight one; those into `inside` are worth what the callee has done so far, those
 * without a symbol what it has done at its end; (inside, g'', s) is worth what was done up to and
 * with the call. All calls of an entry share what is inside.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/cleanup.h"
#include "solve/pushdown/pushdown_internal.h"

struct saturation {
    struct pushdown_automaton *automaton;
    const struct semiring *semiring;
    const struct pushdown_rule *rules;
    struct queue queue;
    uint32_t *result_head; // by rule: of what its transitions leave, the side that is not indexed
    uint32_t *start, *by_head; // rules by head, of the side that they are looked for
    uint32_t indexed;          // heads: later ones have no rules
};

static struct transition *transition_at(const struct saturation *saturation, uint32_t id)
{
    return transition_vec_at(&saturation->automaton->transitions, id);
}

// What a transition is worth, or has gained, and why.
struct part {
    struct weight weight;
    struct reasons reasons;
};

static struct part part_of(const struct tally *tally)
{
    return (struct part){tally->weight, tally_reasons(tally)};
}

// A transition is worth this as well.
static void improve(struct saturation *saturation, uint32_t head, uint32_t to, struct weight value,
                    struct derivation how)
{
    const struct semiring *semiring = saturation->semiring;

    if (weight_is_equal(value, semiring->zero))
        return;
    uint32_t id = automaton_transition(saturation->automaton, head, to);
    struct tally *tally = &transition_at(saturation, id)->tally;
    if (semiring->is_superior && tally->is_known) {
        assert(semiring->rank(semiring->context, value) >=
               semiring->rank(semiring->context, tally->weight));
        return;
    }
    if (tally_improve(tally, saturation->automaton, value, how))
        queue_push(&saturation->queue, tally, id);
}

static struct derivation by_rule(uint32_t rule, struct reasons left, struct reasons right)
{
    return (struct derivation){.kind = DERIVED_RULE, .number = rule, .left = left, .right = right};
}

static struct derivation by_call(uint32_t rule, struct reasons left, struct reasons right)
{
    return (struct derivation){.kind = DERIVED_CALL, .number = rule, .left = left, .right = right};
}

// ---- Rules by head

static uint32_t head_of_rule(struct pushdown_automaton *automaton, const struct pushdown_rule *rule,
                             bool right_side)
{
    if (!right_side)
        return automaton_head(automaton, rule->state, rule->symbol);
    return automaton_head(automaton, rule->to, rule->top);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

// All rules, by what they push below and by number; each as both.
static uint64_t *rules_by_below(const struct saturation *saturation, uint32_t count)
{
    uint64_t *keys = xmalloc_array(count + 1u, sizeof(*keys));

    for (uint32_t r = 0; r < count; r++)
        keys[r] = (uint64_t)saturation->rules[r].below << 32 | r;
    qsort(keys, count, sizeof(*keys), compare_keys);
    return keys;
}

// Behind pre rules are looked for by what they lead to, behind post by what they begin with. Those
// of a head are in order of what they push below.
static void index_rules(struct saturation *saturation, bool by_right_side)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    uint32_t count = pushdown_rule_count(automaton->system);
    uint32_t *head = xmalloc_array(count + 1u, sizeof(*head));

    saturation->result_head = xmalloc_array(count + 1u, sizeof(uint32_t));
    saturation->by_head = xmalloc_array(count + 1u, sizeof(uint32_t));
    for (uint32_t r = 0; r < count; r++) {
        head[r] = head_of_rule(automaton, &saturation->rules[r], by_right_side);
        saturation->result_head[r] = head_of_rule(automaton, &saturation->rules[r], !by_right_side);
    }
    saturation->indexed = (uint32_t)automaton->heads.length;
    uint32_t *start = xcalloc(saturation->indexed + 2u, sizeof(*start));
    for (uint32_t r = 0; r < count; r++)
        start[head[r] + 2]++;
    for (uint32_t h = 0; h < saturation->indexed; h++)
        start[h + 2] += start[h + 1];
    _cleanup_free_ uint64_t *keys = rules_by_below(saturation, count);
    for (uint32_t k = 0; k < count; k++)
        saturation->by_head[start[head[(uint32_t)keys[k]] + 1]++] = (uint32_t)keys[k];
    saturation->start = start;
    free(head);
}

// ---- Post

// The state behind a callee's entry.
static uint32_t inside_of(struct saturation *saturation, uint32_t entry)
{
    struct pushdown_automaton *automaton = saturation->automaton;

    if (automaton->heads.data[entry].inside == PUSHDOWN_NONE) {
        uint32_t inside = pushdown_automaton_add_state(automaton);

        automaton->states.data[inside].entry = entry;
        automaton->heads.data[entry].inside = inside;
        improve(
            saturation, entry, inside, saturation->semiring->one,
            (struct derivation){.kind = DERIVED_ENTRY, .left = NO_REASONS, .right = NO_REASONS});
    }
    return automaton->heads.data[entry].inside;
}

static void add_pair(struct pushdown_automaton *automaton, uint32_t head, uint32_t rule,
                     uint32_t transition)
{
    uint32_t *first = &head_vec_at(&automaton->heads, head)->pairs;

    assert(automaton->pairs.length < PUSHDOWN_NONE);
    pair_vec_push(&automaton->pairs, (struct pair){rule, transition, *first});
    *first = (uint32_t)automaton->pairs.length - 1;
}

// A call that ends: caller, which is at the call, goes on behind it, in the state that the end has.
static void merge_call(struct saturation *saturation, uint32_t rule_id, uint32_t caller,
                       struct part before, uint32_t end, struct part inside)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    const struct pushdown_rule *rule = &saturation->rules[rule_id];
    uint32_t state = automaton->heads.data[transition_at(saturation, end)->head].state;

    improve(
        saturation, automaton_head(automaton, state, rule->below),
        transition_at(saturation, caller)->to,
        semiring_merge(saturation->semiring, before.weight, rule->weight, inside.weight, rule->tag),
        by_call(rule_id, before.reasons, inside.reasons));
}

static void post_call(struct saturation *saturation, uint32_t rule_id, uint32_t id, bool is_first,
                      struct part gained)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    const struct pushdown_rule *rule = &saturation->rules[rule_id];
    uint32_t entry = saturation->result_head[rule_id], inside = inside_of(saturation, entry);

    improve(saturation, automaton_head(automaton, inside, rule->below),
            transition_at(saturation, id)->to,
            semiring_extend(saturation->semiring, gained.weight, rule->weight),
            by_rule(rule_id, gained.reasons, NO_REASONS));
    if (!saturation->semiring->merge)
        return;
    if (is_first)
        add_pair(automaton, entry, rule_id, id);
    for (uint32_t e = automaton->states.data[inside].epsilons; e != PUSHDOWN_NONE;
         e = transition_at(saturation, e)->next_of_state) {
        const struct tally *tally = &transition_at(saturation, e)->tally;

        if (tally->is_known)
            merge_call(saturation, rule_id, id, gained, e, part_of(tally));
    }
}

// What is at the top of the stack can go on.
static void post_rules(struct saturation *saturation, uint32_t id, bool is_first,
                       struct part gained)
{
    uint32_t head = transition_at(saturation, id)->head;

    if (head >= saturation->indexed)
        return;
    for (uint32_t i = saturation->start[head]; i < saturation->start[head + 1]; i++) {
        uint32_t r = saturation->by_head[i];

        if (saturation->rules[r].below != PUSHDOWN_NONE) {
            post_call(saturation, r, id, is_first, gained);
            continue;
        }
        improve(saturation, saturation->result_head[r], transition_at(saturation, id)->to,
                semiring_extend(saturation->semiring, gained.weight, saturation->rules[r].weight),
                by_rule(r, gained.reasons, NO_REASONS));
    }
}

// `end` has popped all down to the state that `below` leaves.
static void post_join(struct saturation *saturation, uint32_t below, struct part before,
                      uint32_t end, struct part after)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    uint32_t state = automaton->heads.data[transition_at(saturation, end)->head].state;
    uint32_t symbol = automaton->heads.data[transition_at(saturation, below)->head].symbol;

    improve(
        saturation, automaton_head(automaton, state, symbol), transition_at(saturation, below)->to,
        semiring_extend(saturation->semiring, before.weight, after.weight),
        (struct derivation){.kind = DERIVED_JOIN, .left = before.reasons, .right = after.reasons});
}

// Calls are merged one by one where that differs from going on behind them.
static bool is_merged(const struct saturation *saturation, uint32_t state)
{
    return saturation->semiring->merge &&
           saturation->automaton->states.data[state].entry != PUSHDOWN_NONE;
}

static void post_end(struct saturation *saturation, uint32_t id, struct part gained)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    uint32_t to = transition_at(saturation, id)->to;

    if (is_merged(saturation, to)) {
        uint32_t entry = automaton->states.data[to].entry;

        for (uint32_t p = automaton->heads.data[entry].pairs; p != PUSHDOWN_NONE;
             p = automaton->pairs.data[p].next) {
            struct pair pair = automaton->pairs.data[p];
            const struct tally *tally = &transition_at(saturation, pair.transition)->tally;

            merge_call(saturation, pair.rule, pair.transition, part_of(tally), id, gained);
        }
        return;
    }
    for (uint32_t t = automaton->states.data[to].out; t != PUSHDOWN_NONE;
         t = transition_at(saturation, t)->next_of_state) {
        const struct tally *tally = &transition_at(saturation, t)->tally;

        if (tally->is_known)
            post_join(saturation, t, part_of(tally), id, gained);
    }
}

static void post_below(struct saturation *saturation, uint32_t id, uint32_t from,
                       struct part gained)
{
    if (is_merged(saturation, from))
        return;
    for (uint32_t e = saturation->automaton->states.data[from].epsilons; e != PUSHDOWN_NONE;
         e = transition_at(saturation, e)->next_of_state) {
        const struct tally *tally = &transition_at(saturation, e)->tally;

        if (tally->is_known)
            post_join(saturation, id, gained, e, part_of(tally));
    }
}

static void post_transition(struct saturation *saturation, uint32_t id, bool is_first,
                            struct part gained)
{
    const struct pushdown_automaton *automaton = saturation->automaton;
    struct head head = automaton->heads.data[transition_at(saturation, id)->head];

    if (head.symbol == PUSHDOWN_NONE)
        post_end(saturation, id, gained);
    else if (automaton_is_control(automaton, head.state))
        post_rules(saturation, id, is_first, gained);
    else
        post_below(saturation, id, head.state, gained);
}

// ---- Pre

// The whole of a call: `callee` leads from its entry to the state `behind`, a control state when it
// has returned; `rest` from there on.
static void improve_by_call(struct saturation *saturation, uint32_t rule_id, uint32_t behind,
                            struct part callee, uint32_t to, struct part rest)
{
    const struct semiring *semiring = saturation->semiring;
    const struct pushdown_rule *rule = &saturation->rules[rule_id];
    bool has_returned = automaton_is_control(saturation->automaton, behind);
    struct weight call = has_returned ? semiring_merge(semiring, semiring->one, rule->weight,
                                                       callee.weight, rule->tag)
                                      : semiring_extend(semiring, rule->weight, callee.weight);

    improve(saturation, saturation->result_head[rule_id], to,
            semiring_extend(semiring, call, rest.weight),
            has_returned ? by_call(rule_id, callee.reasons, rest.reasons)
                         : by_rule(rule_id, callee.reasons, rest.reasons));
}

// A call that returns: to what is behind it, as far as that is known.
static void pre_call(struct saturation *saturation, uint32_t rule_id, uint32_t id, bool is_first,
                     struct part gained)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    uint32_t behind = transition_at(saturation, id)->to;
    uint32_t next = automaton_head(automaton, behind, saturation->rules[rule_id].below);

    if (is_first)
        add_pair(automaton, next, rule_id, id);
    for (uint32_t t = automaton->heads.data[next].transitions; t != PUSHDOWN_NONE;
         t = transition_at(saturation, t)->next_of_head) {
        const struct transition *rest = transition_at(saturation, t);

        if (rest->tally.is_known)
            improve_by_call(saturation, rule_id, behind, gained, rest->to, part_of(&rest->tally));
    }
}

// The first rule of a head that pushes this below, or the first behind it.
static uint32_t first_below(const struct saturation *saturation, uint32_t head, uint32_t below)
{
    uint32_t low = saturation->start[head], high = saturation->start[head + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (saturation->rules[saturation->by_head[middle]].below < below)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Calls that stay pending: what is below them is part of what was given and does not change, and is
// little where the rules may be many (every call of a function that is deep in a stack).
static void pre_pending(struct saturation *saturation, uint32_t id, struct part gained)
{
    const struct pushdown_automaton *automaton = saturation->automaton;
    uint32_t head = transition_at(saturation, id)->head, to = transition_at(saturation, id)->to;

    for (uint32_t t = automaton->states.data[to].out; t != PUSHDOWN_NONE;
         t = transition_at(saturation, t)->next_of_state) {
        uint32_t below = automaton->heads.data[transition_at(saturation, t)->head].symbol;

        for (uint32_t i = first_below(saturation, head, below);
             i < saturation->start[head + 1] &&
             saturation->rules[saturation->by_head[i]].below == below;
             i++) {
            const struct transition *rest = transition_at(saturation, t);

            improve_by_call(saturation, saturation->by_head[i], to, gained, rest->to,
                            part_of(&rest->tally));
        }
    }
}

static void pre_transition(struct saturation *saturation, uint32_t id, bool is_first,
                           struct part gained)
{
    struct pushdown_automaton *automaton = saturation->automaton;
    const struct semiring *semiring = saturation->semiring;
    uint32_t head = transition_at(saturation, id)->head, to = transition_at(saturation, id)->to;

    // Calls that wait for what is behind them
    for (uint32_t p = automaton->heads.data[head].pairs; p != PUSHDOWN_NONE;
         p = automaton->pairs.data[p].next) {
        struct pair pair = automaton->pairs.data[p];
        const struct transition *callee = transition_at(saturation, pair.transition);

        improve_by_call(saturation, pair.rule, callee->to, part_of(&callee->tally), to, gained);
    }
    if (head >= saturation->indexed)
        return;
    uint32_t i = saturation->start[head];
    if (!automaton_is_control(automaton, to)) {
        pre_pending(saturation, id, gained);
        i = first_below(saturation, head, PUSHDOWN_NONE);
    }
    for (; i < saturation->start[head + 1]; i++) {
        uint32_t r = saturation->by_head[i];
        const struct pushdown_rule *rule = &saturation->rules[r];

        if (rule->below != PUSHDOWN_NONE)
            pre_call(saturation, r, id, is_first, gained);
        else
            improve(saturation, saturation->result_head[r], to,
                    semiring_extend(semiring, rule->weight, gained.weight),
                    by_rule(r, gained.reasons, NO_REASONS));
    }
}

// Rules that pop lead to what is below whatever it is.
static void pre_pops(struct saturation *saturation)
{
    uint32_t count = pushdown_rule_count(saturation->automaton->system);

    for (uint32_t r = 0; r < count; r++)
        if (saturation->rules[r].top == PUSHDOWN_NONE)
            improve(saturation, saturation->result_head[r], saturation->rules[r].to,
                    saturation->rules[r].weight, by_rule(r, NO_REASONS, NO_REASONS));
}

// ----

static bool work(struct saturation *saturation, struct budget *budget)
{
    bool is_post = saturation->automaton->direction == POST;

    for (struct queue_entry entry; queue_pop(&saturation->queue, &entry);) {
        struct tally *tally = &transition_at(saturation, entry.id)->tally;
        bool is_first = !tally->is_known;
        struct part gained;

        if (!tally_is_due(tally, &entry))
            continue;
        if (budget && budget_is_spent(budget))
            return false;
        gained.weight = tally_send(tally, saturation->semiring->zero, &gained.reasons);
        if (is_post)
            post_transition(saturation, entry.id, is_first, gained);
        else
            pre_transition(saturation, entry.id, is_first, gained);
    }
    return true;
}

static bool saturate(struct pushdown_automaton *automaton, enum direction direction,
                     struct budget *budget)
{
    struct saturation saturation = {
        .automaton = automaton,
        .semiring = automaton->semiring,
        .rules = automaton->system->rules.data,
        .queue = {.semiring = automaton->semiring},
    };

    assert(automaton->direction == NOT_SATURATED && !automaton->has_any);
    automaton->direction = direction;
    index_rules(&saturation, direction == PRE);
    for (uint32_t t = 0; t < automaton->transitions.length; t++)
        queue_push(&saturation.queue, &automaton->transitions.data[t].tally, t);
    if (direction == PRE)
        pre_pops(&saturation);
    automaton->is_complete = work(&saturation, budget);
    queue_vec_deinit(&saturation.queue.heap);
    free(saturation.result_head);
    free(saturation.start);
    free(saturation.by_head);
    return automaton->is_complete;
}

bool pushdown_post(struct pushdown_automaton *automaton, struct budget *budget)
{
    return saturate(automaton, POST, budget);
}

bool pushdown_pre(struct pushdown_automaton *automaton, struct budget *budget)
{
    return saturate(automaton, PRE, budget);
}

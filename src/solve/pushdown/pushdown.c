// SPDX-License-Identifier: Apache-2.0
// Rules and automata as they are kept; tallies and the worklist, which saturation and reading
// share.
#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/pushdown/pushdown_internal.h"

// ---- Systems

struct pushdown *pushdown_create(const struct semiring *semiring, uint32_t state_count,
                                 uint32_t symbol_count)
{
    struct pushdown *system = xcalloc(1, sizeof(*system));

    assert(semiring->extend && semiring->combine);
    assert(!semiring->is_superior || semiring->rank);
    assert(!weight_is_equal(semiring->zero, semiring->one));
    assert(symbol_count <= PUSHDOWN_ANY);
    *system = (struct pushdown){semiring, state_count, symbol_count, VEC_INIT};
    return system;
}

void pushdown_destroy(struct pushdown *system)
{
    if (!system)
        return;
    pushdown_rule_vec_deinit(&system->rules);
    free(system);
}

uint32_t pushdown_add_rule(struct pushdown *system, const struct pushdown_rule *rule)
{
    assert(rule->state < system->state_count && rule->to < system->state_count);
    assert(rule->symbol < system->symbol_count);
    assert(rule->top == PUSHDOWN_NONE || rule->top < system->symbol_count);
    assert(rule->below == PUSHDOWN_NONE ||
           (rule->top != PUSHDOWN_NONE && rule->below < system->symbol_count));
    assert(system->rules.length < PUSHDOWN_NONE);
    pushdown_rule_vec_push(&system->rules, *rule);
    return (uint32_t)system->rules.length - 1;
}

uint32_t pushdown_rule_count(const struct pushdown *system)
{
    return (uint32_t)system->rules.length;
}

const struct pushdown_rule *pushdown_rule_at(const struct pushdown *system, uint32_t rule)
{
    return pushdown_rule_vec_at(&system->rules, rule);
}

// ---- Automata

struct pushdown_automaton *pushdown_automaton_create(const struct pushdown *system)
{
    struct pushdown_automaton *automaton = xcalloc(1, sizeof(*automaton));

    automaton->system = system;
    automaton->semiring = system->semiring;
    automaton_state_vec_reserve(&automaton->states, system->state_count);
    for (uint32_t s = 0; s < system->state_count; s++)
        pushdown_automaton_add_state(automaton);
    return automaton;
}

void pushdown_automaton_destroy(struct pushdown_automaton *automaton)
{
    if (!automaton)
        return;
    automaton_state_vec_deinit(&automaton->states);
    head_vec_deinit(&automaton->heads);
    pushdown_map_deinit(&automaton->head_of);
    transition_vec_deinit(&automaton->transitions);
    pushdown_map_deinit(&automaton->transition_of);
    pair_vec_deinit(&automaton->pairs);
    derivation_vec_deinit(&automaton->derivations);
    free(automaton);
}

uint32_t pushdown_automaton_add_state(struct pushdown_automaton *automaton)
{
    assert(automaton->states.length < PUSHDOWN_NONE);
    automaton_state_vec_push(
        &automaton->states,
        (struct automaton_state){PUSHDOWN_NONE, PUSHDOWN_NONE, PUSHDOWN_NONE, false});
    return (uint32_t)automaton->states.length - 1;
}

void pushdown_automaton_set_final(struct pushdown_automaton *automaton, uint32_t state)
{
    assert(automaton->direction == NOT_SATURATED);
    automaton_state_vec_at(&automaton->states, state)->is_final = true;
}

uint32_t automaton_find_head(const struct pushdown_automaton *automaton, uint32_t state,
                             uint32_t symbol)
{
    const uint32_t *found = pushdown_map_get(&automaton->head_of, (uint64_t)state << 32 | symbol);

    return found ? *found : PUSHDOWN_NONE;
}

uint32_t automaton_head(struct pushdown_automaton *automaton, uint32_t state, uint32_t symbol)
{
    bool is_new;
    uint32_t *head =
        pushdown_map_put_new(&automaton->head_of, (uint64_t)state << 32 | symbol, &is_new);

    assert(state < automaton->states.length);
    if (is_new) {
        *head = (uint32_t)automaton->heads.length;
        head_vec_push(&automaton->heads,
                      (struct head){state, symbol, PUSHDOWN_NONE, PUSHDOWN_NONE, PUSHDOWN_NONE});
    }
    return *head;
}

static uint32_t add_transition(struct pushdown_automaton *automaton, uint32_t head_id, uint32_t to)
{
    struct head *head = head_vec_at(&automaton->heads, head_id);
    struct automaton_state *at = automaton_state_vec_at(
        &automaton->states, head->symbol == PUSHDOWN_NONE ? to : head->state);
    uint32_t *first = head->symbol == PUSHDOWN_NONE ? &at->epsilons : &at->out;
    uint32_t id = (uint32_t)automaton->transitions.length;

    assert(id < PUSHDOWN_NONE);
    transition_vec_push(&automaton->transitions, (struct transition){
                                                     .tally = {.weight = automaton->semiring->zero,
                                                               .unsent = automaton->semiring->zero,
                                                               .derivation = PUSHDOWN_NONE,
                                                               .sent = PUSHDOWN_NONE},
                                                     .head = head_id,
                                                     .to = to,
                                                     .next_of_head = head->transitions,
                                                     .next_of_state = *first,
                                                 });
    head->transitions = id;
    *first = id;
    return id;
}

// Most heads have very few transitions: those are looked at before the table is.
#define FIRST_LOOKED_AT 3

uint32_t automaton_transition(struct pushdown_automaton *automaton, uint32_t head, uint32_t to)
{
    uint32_t id = head_vec_at(&automaton->heads, head)->transitions;
    bool is_new;

    for (int i = 0; i < FIRST_LOOKED_AT && id != PUSHDOWN_NONE; i++) {
        if (automaton->transitions.data[id].to == to)
            return id;
        id = automaton->transitions.data[id].next_of_head;
    }
    uint32_t *found =
        pushdown_map_put_new(&automaton->transition_of, (uint64_t)head << 32 | to, &is_new);
    if (is_new)
        *found = add_transition(automaton, head, to);
    return *found;
}

void pushdown_automaton_add_transition(struct pushdown_automaton *automaton, uint32_t from,
                                       uint32_t symbol, uint32_t to, struct weight weight)
{
    assert(automaton->direction == NOT_SATURATED);
    assert(from < automaton->states.length && to < automaton->states.length);
    assert(!automaton_is_control(automaton, to));
    assert(symbol < automaton->system->symbol_count || symbol == PUSHDOWN_ANY);
    if (weight_is_equal(weight, automaton->semiring->zero))
        return;
    automaton->has_any |= symbol == PUSHDOWN_ANY;
    uint32_t id = automaton_transition(automaton, automaton_head(automaton, from, symbol), to);
    tally_improve(&automaton->transitions.data[id].tally, automaton, weight,
                  (struct derivation){.kind = DERIVED_GIVEN,
                                      .number = id,
                                      .left = NO_REASONS,
                                      .right = NO_REASONS,
                                      .weight = weight});
}

void pushdown_automaton_add_configuration(struct pushdown_automaton *automaton,
                                          const struct pushdown_configuration *configuration)
{
    uint32_t at = configuration->state;

    assert(automaton_is_control(automaton, at));
    for (uint32_t i = 0; i < configuration->count; i++) {
        uint32_t next = pushdown_automaton_add_state(automaton);

        pushdown_automaton_add_transition(automaton, at, configuration->symbols[i], next,
                                          automaton->semiring->one);
        at = next;
    }
    pushdown_automaton_set_final(automaton, at);
}

uint32_t pushdown_automaton_state_count(const struct pushdown_automaton *automaton)
{
    return (uint32_t)automaton->states.length;
}

uint32_t pushdown_automaton_transition_count(const struct pushdown_automaton *automaton)
{
    return (uint32_t)automaton->transitions.length;
}

bool pushdown_is_complete(const struct pushdown_automaton *automaton)
{
    return automaton->is_complete;
}

// ---- Tallies

bool tally_improve(struct tally *tally, struct pushdown_automaton *automaton, struct weight value,
                   struct derivation how)
{
    const struct semiring *semiring = automaton->semiring;
    struct weight total = semiring_combine(semiring, tally->weight, value);

    if (weight_is_equal(total, tally->weight))
        return false;
    assert(!weight_is_equal(total, semiring->zero));
    assert(automaton->derivations.length < PUSHDOWN_NONE);
    // Where the new weight is as good as all together, the others need not be told of again.
    how.previous = weight_is_equal(total, value) ? PUSHDOWN_NONE : tally->derivation;
    tally->derivation = (uint32_t)automaton->derivations.length;
    derivation_vec_push(&automaton->derivations, how);
    tally->unsent = semiring_combine(semiring, tally->unsent, value);
    tally->weight = total;
    return true;
}

struct reasons tally_reasons(const struct tally *tally)
{
    return (struct reasons){tally->derivation, PUSHDOWN_NONE};
}

struct weight tally_send(struct tally *tally, struct weight zero, struct reasons *reasons)
{
    struct weight unsent = tally->unsent;

    assert(tally->is_queued && tally->derivation != tally->sent);
    *reasons = (struct reasons){tally->derivation, tally->sent};
    tally->sent = tally->derivation;
    tally->unsent = zero;
    tally->is_queued = false;
    tally->is_known = true;
    return unsent;
}

// ---- The worklist

static void sift_down(struct queue_vec *heap)
{
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < heap->length && heap->data[child + 1].rank < heap->data[child].rank)
            child++;
        if (child >= heap->length || heap->data[child].rank >= heap->data[i].rank)
            return;
        struct queue_entry entry = heap->data[i];
        heap->data[i] = heap->data[child];
        heap->data[child] = entry;
        i = child;
    }
}

void queue_push(struct queue *queue, struct tally *tally, uint32_t id)
{
    const struct semiring *semiring = queue->semiring;
    struct queue_vec *heap = &queue->heap;
    uint64_t rank = tally->is_queued ? tally->rank : queue->clock++;

    if (semiring->rank)
        rank = semiring->rank(semiring->context, tally->unsent);
    if (tally->is_queued && rank >= tally->rank)
        return;
    tally->is_queued = true;
    tally->rank = rank;
    queue_vec_push(heap, (struct queue_entry){rank, id});
    for (size_t i = heap->length - 1; i > 0 && heap->data[(i - 1) / 2].rank > rank;
         i = (i - 1) / 2) {
        struct queue_entry entry = heap->data[i];
        heap->data[i] = heap->data[(i - 1) / 2];
        heap->data[(i - 1) / 2] = entry;
    }
}

bool queue_pop(struct queue *queue, struct queue_entry *ret)
{
    if (!queue->heap.length)
        return false;
    *ret = queue->heap.data[0];
    queue->heap.data[0] = queue->heap.data[--queue->heap.length];
    sift_down(&queue->heap);
    return true;
}

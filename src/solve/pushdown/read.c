// SPDX-License-Identifier: Apache-2.0
/*
 * What a set of configurations is worth: the saturated automaton and that of the set read the same
 * stacks, from the top. A place is a state of each; its tally is what all stacks that lead there
 * from a common control state are worth. Sets may be infinite, so places are worked on until none
 * gets better.
 */
#include <assert.h>

#include "solve/pushdown/pushdown_internal.h"

struct place {
    struct tally tally;
    uint32_t state;  // of the saturated automaton
    uint32_t in_set; // of the set's
};
VEC_DEFINE(place_vec, struct place);

struct reading {
    struct pushdown_automaton *automaton;
    const struct pushdown_automaton *set;
    const struct semiring *semiring;
    struct place_vec places;
    struct pushdown_map place_of;
    struct queue queue;
    struct tally result;
};

static struct tally no_tally(const struct semiring *semiring)
{
    return (struct tally){.weight = semiring->zero,
                          .unsent = semiring->zero,
                          .derivation = PUSHDOWN_NONE,
                          .sent = PUSHDOWN_NONE};
}

static void improve_place(struct reading *reading, uint32_t state, uint32_t in_set,
                          struct weight value, struct derivation how)
{
    bool is_new;
    uint32_t *id =
        pushdown_map_put_new(&reading->place_of, (uint64_t)state << 32 | in_set, &is_new);

    if (is_new) {
        *id = (uint32_t)reading->places.length;
        place_vec_push(&reading->places,
                       (struct place){no_tally(reading->semiring), state, in_set});
    }
    struct tally *tally = &reading->places.data[*id].tally;
    if (tally_improve(tally, reading->automaton, value, how))
        queue_push(&reading->queue, tally, *id);
}

static void read_transition(struct reading *reading, const struct transition *transition,
                            uint32_t to_in_set, struct weight gained, struct reasons reasons)
{
    const struct semiring *semiring = reading->semiring;
    struct derivation how = {
        .kind = DERIVED_READ,
        .number = reading->automaton->heads.data[transition->head].symbol,
        .left = reasons,
        .right = tally_reasons(&transition->tally),
    };
    struct weight value;

    assert(how.number != PUSHDOWN_NONE);
    if (weight_is_equal(transition->tally.weight, semiring->zero))
        return;
    if (reading->automaton->direction == POST) {
        struct reasons top = how.left;

        how.left = how.right;
        how.right = top;
        value = semiring_extend(semiring, transition->tally.weight, gained);
    } else {
        value = semiring_extend(semiring, gained, transition->tally.weight);
    }
    improve_place(reading, transition->to, to_in_set, value, how);
}

// All that both can read next.
static void read_on(struct reading *reading, const struct place *place, struct weight gained,
                    struct reasons reasons)
{
    const struct pushdown_automaton *automaton = reading->automaton, *set = reading->set;

    for (uint32_t s = set->states.data[place->in_set].out; s != PUSHDOWN_NONE;
         s = set->transitions.data[s].next_of_state) {
        const struct transition *in_set = &set->transitions.data[s];
        uint32_t symbol = set->heads.data[in_set->head].symbol, head;

        if (symbol == PUSHDOWN_ANY) {
            for (uint32_t t = automaton->states.data[place->state].out; t != PUSHDOWN_NONE;
                 t = automaton->transitions.data[t].next_of_state)
                read_transition(reading, &automaton->transitions.data[t], in_set->to, gained,
                                reasons);
            continue;
        }
        head = automaton_find_head(automaton, place->state, symbol);
        if (head == PUSHDOWN_NONE)
            continue;
        for (uint32_t t = automaton->heads.data[head].transitions; t != PUSHDOWN_NONE;
             t = automaton->transitions.data[t].next_of_head)
            read_transition(reading, &automaton->transitions.data[t], in_set->to, gained, reasons);
    }
}

// The empty stack, where the set has it. Only there do transitions without a symbol count: all else
// that they lead to has been joined.
static void read_empty(struct reading *reading, uint32_t control, struct reasons start)
{
    struct pushdown_automaton *automaton = reading->automaton;
    uint32_t head = automaton_find_head(automaton, control, PUSHDOWN_NONE);

    for (uint32_t t = head == PUSHDOWN_NONE ? head : automaton->heads.data[head].transitions;
         t != PUSHDOWN_NONE; t = automaton->transitions.data[t].next_of_head) {
        const struct transition *transition = &automaton->transitions.data[t];

        if (automaton->states.data[transition->to].is_final)
            tally_improve(&reading->result, automaton, transition->tally.weight,
                          (struct derivation){.kind = DERIVED_JOIN,
                                              .left = tally_reasons(&transition->tally),
                                              .right = start});
    }
}

static void read_start(struct reading *reading, uint32_t control)
{
    struct derivation start = {
        .kind = DERIVED_START, .number = control, .left = NO_REASONS, .right = NO_REASONS};

    improve_place(reading, control, control, reading->semiring->one, start);
    if (reading->set->states.data[control].is_final) {
        uint32_t *place = pushdown_map_get(&reading->place_of, (uint64_t)control << 32 | control);

        read_empty(reading, control, tally_reasons(&reading->places.data[*place].tally));
    }
}

static void read_place(struct reading *reading, uint32_t id)
{
    struct place place = reading->places.data[id];
    struct reasons reasons;
    struct weight gained =
        tally_send(&reading->places.data[id].tally, reading->semiring->zero, &reasons);

    if (reading->automaton->states.data[place.state].is_final &&
        reading->set->states.data[place.in_set].is_final)
        tally_improve(
            &reading->result, reading->automaton, gained,
            (struct derivation){.kind = DERIVED_JOIN, .left = reasons, .right = NO_REASONS});
    read_on(reading, &place, gained, reasons);
}

struct weight read_set(struct pushdown_automaton *automaton, const struct pushdown_automaton *set,
                       struct reasons *reasons)
{
    struct reading reading = {
        .automaton = automaton,
        .set = set,
        .semiring = automaton->semiring,
        .place_of = MAP_INIT,
        .queue = {.semiring = automaton->semiring},
        .result = no_tally(automaton->semiring),
    };

    assert(automaton->direction != NOT_SATURATED && set->direction == NOT_SATURATED);
    assert(automaton->system == set->system);
    for (uint32_t control = 0; control < automaton->system->state_count; control++)
        if (set->states.data[control].out != PUSHDOWN_NONE || set->states.data[control].is_final)
            read_start(&reading, control);
    for (struct queue_entry entry; queue_pop(&reading.queue, &entry);)
        if (tally_is_due(&reading.places.data[entry.id].tally, &entry))
            read_place(&reading, entry.id);
    *reasons = tally_reasons(&reading.result);
    place_vec_deinit(&reading.places);
    pushdown_map_deinit(&reading.place_of);
    queue_vec_deinit(&reading.queue.heap);
    return reading.result.weight;
}

struct pushdown_automaton *set_of_one(const struct pushdown_automaton *automaton,
                                      const struct pushdown_configuration *configuration)
{
    struct pushdown_automaton *set = pushdown_automaton_create(automaton->system);

    pushdown_automaton_add_configuration(set, configuration);
    return set;
}

struct weight pushdown_value_of_set(struct pushdown_automaton *automaton,
                                    const struct pushdown_automaton *set)
{
    size_t kept = automaton->derivations.length;
    struct reasons reasons;
    struct weight value = read_set(automaton, set, &reasons);

    automaton->derivations.length = kept;
    return value;
}

struct weight pushdown_value(struct pushdown_automaton *automaton,
                             const struct pushdown_configuration *configuration)
{
    struct pushdown_automaton *set = set_of_one(automaton, configuration);
    struct weight value = pushdown_value_of_set(automaton, set);

    pushdown_automaton_destroy(set);
    return value;
}

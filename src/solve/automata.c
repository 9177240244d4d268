// SPDX-License-Identifier: Apache-2.0
// A language with its contexts as a deterministic automaton; events, sets and tuples.
#include "solve/automata.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automata_private.h"

// ---- Sets of ids

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

struct id_set id_set_make(uint32_t *ids, uint32_t count)
{
    uint32_t kept = 0;

    if (count)
        qsort(ids, count, sizeof(*ids), compare_ids);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    return (struct id_set){ids, kept};
}

bool id_set_has(struct id_set set, uint32_t id)
{
    uint32_t low = 0, high = set.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set.data[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.count && set.data[low] == id;
}

struct id_set id_set_copy(struct arena *arena, struct id_set set)
{
    for (uint32_t i = 1; i < set.count; i++)
        assert(set.data[i - 1] < set.data[i]);
    if (!set.count)
        return (struct id_set){NULL, 0};
    return (struct id_set){arena_memdup(arena, set.data, set.count * sizeof(*set.data)), set.count};
}

// ---- Spots

static int compare_spots(const void *a, const void *b)
{
    const struct node_spot *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

struct spot_set spot_set_make(struct node_spot *spots, uint32_t count)
{
    uint32_t kept = 0;

    if (count)
        qsort(spots, count, sizeof(*spots), compare_spots);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || compare_spots(&spots[i], &spots[kept - 1]) != 0)
            spots[kept++] = spots[i];
    return (struct spot_set){spots, kept};
}

struct spot_set spot_set_copy(struct arena *arena, struct spot_set set)
{
    for (uint32_t i = 1; i < set.count; i++)
        assert(compare_spots(&set.data[i - 1], &set.data[i]) < 0);
    if (!set.count)
        return (struct spot_set){NULL, 0};
    return (struct spot_set){arena_memdup(arena, set.data, set.count * sizeof(*set.data)),
                             set.count};
}

bool is_step_at(const struct letter *letter, struct id_set nodes, struct spot_set spots)
{
    if (!id_set_has(nodes, letter->node))
        return false;
    return spots.count ? spot_set_has(spots, (struct node_spot){letter->node, letter->insn})
                       : letter->insn == 0;
}

// ---- Events

static struct event event_copy(struct arena *arena, const struct event *event)
{
    struct event copy = *event;

    if (event->nodes_any)
        copy.nodes = (struct id_set){NULL, 0};
    if (event->functions_any)
        copy.functions = (struct id_set){NULL, 0};
    copy.nodes = id_set_copy(arena, copy.nodes);
    copy.functions = id_set_copy(arena, copy.functions);
    copy.callers = id_set_copy(arena, event->callers);
    copy.spots = spot_set_copy(arena, event->spots);
    return copy;
}

void event_list_init(struct event_list *list, const struct event *events, uint32_t count)
{
    arena_init(&list->arena);
    list->count = count;
    list->events = arena_alloc_array(&list->arena, count + (size_t)1, struct event);
    for (uint32_t i = 0; i < count; i++)
        list->events[i] = event_copy(&list->arena, &events[i]);
}

void event_list_deinit(struct event_list *list)
{
    arena_deinit(&list->arena);
}

static bool event_matches(const struct event *event, const struct letter *letter)
{
    if (event->kind != letter->kind || (letter->inside & event->required) != event->required ||
        (letter->inside & event->forbidden))
        return false;
    if (event->kind == EVENT_STEP)
        return event->nodes_any || is_step_at(letter, event->nodes, event->spots);
    if (!event->nodes_any && !id_set_has(event->nodes, letter->node))
        return false;
    return event->functions_any || id_set_has(event->functions, letter->function);
}

bool event_list_matches(const struct event_list *list, const struct letter *letter)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (event_matches(&list->events[i], letter))
            return true;
    return false;
}

static bool event_minds(const struct event *event, uint32_t node)
{
    if (!event->nodes_any)
        return id_set_has(event->nodes, node);
    return event->kind == EVENT_STEP || node >= event->caller_limit ||
           id_set_has(event->callers, node);
}

bool event_list_minds(const struct event_list *list, uint32_t node)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (event_minds(&list->events[i], node))
            return true;
    return false;
}

// ---- Tuples

void tuple_table_deinit(struct tuple_table *table)
{
    tuple_map_deinit(&table->map);
    tuple_vec_deinit(&table->tuples);
    arena_deinit(&table->arena);
}

uint32_t tuple_table_number(struct tuple_table *table, const uint32_t *words, size_t count)
{
    uint32_t *found = tuple_map_get(&table->map, (struct tuple){words, (uint32_t)count});

    if (found)
        return *found;
    assert(table->tuples.length < UINT32_MAX - 16);
    struct tuple tuple = {arena_memdup(&table->arena, words, count * sizeof(*words)),
                          (uint32_t)count};
    tuple_vec_push(&table->tuples, tuple);
    *tuple_map_put(&table->map, tuple) = (uint32_t)table->tuples.length;
    return (uint32_t)table->tuples.length;
}

// ---- The automaton

// Without contexts its states and symbols are the language's. With them they are tuples: of states
// (contexts behind the last letter, language's state), of symbols (those before the call, its
// symbol). LANGUAGE_ALL needs no contexts. A language that is dead from the start has state 1.
struct language_automaton {
    struct automaton base;
    struct language *language;
    struct event_list calls; // of the contexts
    uint64_t *context_bits;  // by call
    uint32_t context_count;
    uint64_t open; // contexts that a return restores
    bool is_dead;
    char *name;
    struct node_spot *spots;
    struct tuple_table states, symbols;
};

static struct language_automaton *of(struct automaton *automaton)
{
    return (struct language_automaton *)automaton;
}

static uint32_t number_with(struct tuple_table *table, uint64_t contexts, uint32_t value)
{
    uint32_t words[3] = {(uint32_t)contexts, (uint32_t)(contexts >> 32), value};

    return tuple_table_number(table, words, 3);
}

static uint64_t contexts_of(struct tuple tuple)
{
    return tuple.words[0] | (uint64_t)tuple.words[1] << 32;
}

static uint32_t pack(struct language_automaton *own, uint64_t contexts, uint32_t state)
{
    if (state == LANGUAGE_DEAD || state == LANGUAGE_ALL || !own->context_count)
        return state;
    return number_with(&own->states, contexts, state);
}

static uint32_t unpack(struct language_automaton *own, uint32_t state, uint64_t *contexts)
{
    assert(state != AUTOMATON_DEAD);
    *contexts = 0;
    if (state == LANGUAGE_ALL || !own->context_count)
        return state;
    struct tuple tuple = tuple_table_get(&own->states, state);
    *contexts = contexts_of(tuple);
    return tuple.words[2];
}

// The contexts that a call begins.
static uint64_t contexts_begun(const struct language_automaton *own, const struct letter *call)
{
    uint64_t begun = 0;

    for (uint32_t i = 0; i < own->context_count; i++)
        if (event_matches(&own->calls.events[i], call))
            begun |= own->context_bits[i];
    return begun;
}

static uint32_t read_step(struct automaton *automaton, uint32_t state, uint32_t node, uint32_t insn)
{
    struct language_automaton *own = of(automaton);
    struct letter letter = {.kind = EVENT_STEP, .node = node, .insn = insn};
    uint32_t pushed, inner = unpack(own, state, &letter.inside);

    if (own->is_dead)
        return AUTOMATON_DEAD;
    letter.after = letter.inside;
    return pack(own, letter.after, language_read(own->language, inner, &letter, 0, &pushed));
}

static uint32_t automaton_call(struct automaton *automaton, uint32_t state, uint32_t node,
                               uint32_t function, uint32_t *symbol)
{
    struct language_automaton *own = of(automaton);
    struct letter letter = {.kind = EVENT_CALL, .node = node, .function = function};
    uint32_t inner = unpack(own, state, &letter.inside);

    *symbol = 0;
    if (own->is_dead)
        return AUTOMATON_DEAD;
    letter.after = letter.inside | contexts_begun(own, &letter);
    uint32_t next = language_read(own->language, inner, &letter, 0, symbol);
    if (own->language->is_regular)
        *symbol = 0;
    if (own->open && state != LANGUAGE_ALL)
        *symbol = number_with(&own->symbols, letter.inside & own->open, *symbol);
    return pack(own, letter.after, next);
}

static uint32_t automaton_leave(struct automaton *automaton, uint32_t state, uint32_t symbol,
                                uint32_t node, uint32_t function)
{
    struct language_automaton *own = of(automaton);
    struct letter call = {.kind = EVENT_CALL, .node = node, .function = function};
    struct letter letter = {.kind = EVENT_LEAVE, .node = node, .function = function, .call = &call};
    uint32_t pushed, inner = unpack(own, state, &letter.inside);

    if (own->is_dead)
        return AUTOMATON_DEAD;
    if (state == LANGUAGE_ALL)
        return state;
    if (own->open) {
        struct tuple before = tuple_table_get(&own->symbols, symbol);
        letter.inside = (letter.inside & ~own->open) | contexts_of(before);
        symbol = before.words[2];
    }
    letter.after = letter.inside;
    call.inside = letter.inside;
    call.after = call.inside | contexts_begun(own, &call);
    if (own->language->is_regular)
        symbol = LANGUAGE_OUTER;
    return pack(own, letter.after, language_read(own->language, inner, &letter, symbol, &pushed));
}

static bool automaton_accepts(struct automaton *automaton, uint32_t state)
{
    struct language_automaton *own = of(automaton);
    uint64_t contexts;
    uint32_t inner = unpack(own, state, &contexts);

    return !own->is_dead && language_accepts(own->language, inner);
}

static bool automaton_minds(const struct automaton *automaton, uint32_t node)
{
    const struct language_automaton *own = (const struct language_automaton *)automaton;

    return own->language->minds(own->language, node) || event_list_minds(&own->calls, node);
}

static void automaton_free(struct automaton *automaton)
{
    struct language_automaton *own = of(automaton);

    language_destroy(own->language);
    event_list_deinit(&own->calls);
    tuple_table_deinit(&own->states);
    tuple_table_deinit(&own->symbols);
    free(own->context_bits);
    free(own->spots);
    free(own->name);
    free(own);
}

static void take_contexts(struct language_automaton *own, const struct context *contexts,
                          uint32_t count)
{
    struct event *calls = xcalloc(count + (size_t)1, sizeof(*calls));

    assert(count <= AUTOMATA_CONTEXTS_MAX);
    own->context_count = count;
    own->context_bits = xcalloc(count + (size_t)1, sizeof(*own->context_bits));
    for (uint32_t i = 0; i < count; i++) {
        assert(contexts[i].call.kind == EVENT_CALL && !contexts[i].call.required &&
               !contexts[i].call.forbidden);
        assert(contexts[i].kind == CONTEXT_OPEN || own->language->is_regular);
        calls[i] = contexts[i].call;
        own->context_bits[i] = UINT64_C(1) << i;
        if (contexts[i].kind == CONTEXT_OPEN)
            own->open |= own->context_bits[i];
    }
    event_list_init(&own->calls, calls, count);
    free(calls);
}

struct automaton *automaton_create(struct language *language, const struct context *contexts,
                                   uint32_t context_count, const char *name)
{
    struct language_automaton *own = xcalloc(1, sizeof(*own));

    own->language = language;
    take_contexts(own, contexts, context_count);
    own->name = xstrdup(name);
    uint32_t start = language_start(language, 0);
    own->is_dead = start == LANGUAGE_DEAD;
    own->base = (struct automaton){
        .name = own->name,
        .initial = pack(own, 0, own->is_dead ? 1 : start),
        .is_regular = language->is_regular && !own->open,
        .step = read_step,
        .call = automaton_call,
        .leave = automaton_leave,
        .accepts = automaton_accepts,
        .minds = automaton_minds,
        .destroy = automaton_free,
    };
    return &own->base;
}

void automaton_set_spots(struct automaton *automaton, const struct node_spot *spots, uint32_t count)
{
    struct language_automaton *own = of(automaton);
    uint32_t kept = 0;

    assert(automaton->destroy == automaton_free && !own->spots);
    own->spots = xmalloc_array(count + (size_t)1, sizeof(*own->spots));
    for (uint32_t i = 0; i < count; i++)
        if (spots[i].insn)
            own->spots[kept++] = spots[i];
    automaton->spots = spot_set_make(own->spots, kept);
}

uint64_t automaton_size(const struct automaton *automaton)
{
    const struct language_automaton *own = (const struct language_automaton *)automaton;

    assert(automaton->destroy == automaton_free);
    return own->language->size(own->language) + tuple_table_size(&own->states) +
           tuple_table_size(&own->symbols);
}

void language_destroy(struct language *language)
{
    if (language)
        language->destroy(language);
}

bool language_is_regular(const struct language *language)
{
    return language->is_regular;
}

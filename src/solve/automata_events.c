// SPDX-License-Identifier: Apache-2.0
// Languages that have no parts but events and node sets: things that happen, traces, one letter.
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automata_private.h"

enum { WAITING = 1, READ = 2 }; // states of the small ones

static uint64_t size_none(const struct language *language)
{
    (void)language;
    return 0;
}

static bool accepts_never(struct language *language, uint32_t state)
{
    (void)language;
    (void)state;
    return false;
}

// ---- Every stretch, none, the empty one

struct constant {
    struct language base;
    uint32_t start;
};

static uint32_t constant_start(struct language *language, uint64_t contexts)
{
    (void)contexts;
    return ((struct constant *)language)->start;
}

static uint32_t constant_read(struct language *language, uint32_t state,
                              const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    (void)language;
    (void)state;
    (void)letter;
    (void)popped;
    (void)pushed;
    return LANGUAGE_DEAD; // only the empty one is ever asked
}

static bool constant_accepts(struct language *language, uint32_t state)
{
    (void)language;
    return state == WAITING;
}

static bool constant_minds(const struct language *language, uint32_t node)
{
    (void)node;
    return ((const struct constant *)language)->start == WAITING;
}

static void constant_destroy(struct language *language)
{
    free(language);
}

static struct language *constant_create(uint32_t start)
{
    struct constant *own = xcalloc(1, sizeof(*own));

    own->start = start;
    own->base = (struct language){.is_regular = true,
                                  .start = constant_start,
                                  .read = constant_read,
                                  .accepts = constant_accepts,
                                  .minds = constant_minds,
                                  .size = size_none,
                                  .destroy = constant_destroy};
    return &own->base;
}

struct language *language_all(void)
{
    return constant_create(LANGUAGE_ALL);
}

struct language *language_nothing(void)
{
    return constant_create(LANGUAGE_DEAD);
}

struct language *language_empty(void)
{
    return constant_create(WAITING);
}

// ---- A letter that matches: somewhere, or as the only one

struct matching {
    struct language base;
    struct event_list events;
    bool other; // of a pattern: a letter that matches none
};

static uint32_t matching_start(struct language *language, uint64_t contexts)
{
    (void)language;
    (void)contexts;
    return WAITING;
}

static uint32_t happens_read(struct language *language, uint32_t state, const struct letter *letter,
                             uint32_t popped, uint32_t *pushed)
{
    const struct matching *own = (struct matching *)language;

    (void)popped;
    (void)pushed;
    return event_list_matches(&own->events, letter) ? LANGUAGE_ALL : state;
}

static bool happens_minds(const struct language *language, uint32_t node)
{
    return event_list_minds(&((const struct matching *)language)->events, node);
}

static uint32_t letter_read(struct language *language, uint32_t state, const struct letter *letter,
                            uint32_t popped, uint32_t *pushed)
{
    const struct matching *own = (struct matching *)language;

    (void)popped;
    (void)pushed;
    if (state == READ)
        return LANGUAGE_DEAD;
    return event_list_matches(&own->events, letter) != own->other ? READ : LANGUAGE_DEAD;
}

static bool letter_accepts(struct language *language, uint32_t state)
{
    (void)language;
    return state == READ;
}

static bool letter_minds(const struct language *language, uint32_t node)
{
    (void)language;
    (void)node;
    return true;
}

static void matching_destroy(struct language *language)
{
    event_list_deinit(&((struct matching *)language)->events);
    free(language);
}

static struct matching *matching_create(const struct event *events, uint32_t count)
{
    struct matching *own = xcalloc(1, sizeof(*own));

    event_list_init(&own->events, events, count);
    own->base = (struct language){.is_regular = true,
                                  .start = matching_start,
                                  .read = happens_read,
                                  .accepts = accepts_never,
                                  .minds = happens_minds,
                                  .size = size_none,
                                  .destroy = matching_destroy};
    return own;
}

struct language *language_happens(const struct event *events, uint32_t count)
{
    return &matching_create(events, count)->base;
}

struct language *language_ran(struct id_set nodes)
{
    struct event event = {.kind = EVENT_STEP, .nodes = nodes};

    return language_happens(&event, 1);
}

struct language *language_never(struct id_set nodes)
{
    return language_not(language_ran(nodes));
}

struct language *language_letter(const struct event *events, uint32_t count, bool other)
{
    struct matching *own = matching_create(events, count);

    own->other = other;
    own->base.read = letter_read;
    own->base.accepts = letter_accepts;
    own->base.minds = letter_minds;
    return &own->base;
}

// ---- Not all of these nodes

// A state is the set of those that ran, as two words.
struct not_all {
    struct language base;
    struct arena arena;
    struct id_set nodes;
    struct tuple_table states;
};

static uint32_t not_all_number(struct not_all *own, uint64_t ran)
{
    uint64_t all = own->nodes.count == 64 ? UINT64_MAX : (UINT64_C(1) << own->nodes.count) - 1;
    uint32_t words[2] = {(uint32_t)ran, (uint32_t)(ran >> 32)};

    return ran == all ? LANGUAGE_DEAD : tuple_table_number(&own->states, words, 2);
}

static uint32_t not_all_start(struct language *language, uint64_t contexts)
{
    (void)contexts;
    return not_all_number((struct not_all *)language, 0);
}

static uint32_t not_all_read(struct language *language, uint32_t state, const struct letter *letter,
                             uint32_t popped, uint32_t *pushed)
{
    struct not_all *own = (struct not_all *)language;

    (void)popped;
    (void)pushed;
    if (letter->kind != EVENT_STEP || letter->insn || !id_set_has(own->nodes, letter->node))
        return state;
    struct tuple tuple = tuple_table_get(&own->states, state);
    uint64_t ran = tuple.words[0] | (uint64_t)tuple.words[1] << 32;
    for (uint32_t i = 0; i < own->nodes.count; i++)
        if (own->nodes.data[i] == letter->node)
            ran |= UINT64_C(1) << i;
    return not_all_number(own, ran);
}

static bool not_all_accepts(struct language *language, uint32_t state)
{
    (void)language;
    (void)state;
    return true;
}

static bool not_all_minds(const struct language *language, uint32_t node)
{
    return id_set_has(((const struct not_all *)language)->nodes, node);
}

static uint64_t not_all_size(const struct language *language)
{
    return tuple_table_size(&((const struct not_all *)language)->states);
}

static void not_all_destroy(struct language *language)
{
    struct not_all *own = (struct not_all *)language;

    tuple_table_deinit(&own->states);
    arena_deinit(&own->arena);
    free(own);
}

struct language *language_not_all(struct id_set nodes)
{
    if (nodes.count > AUTOMATA_NOT_ALL_MAX)
        return NULL;
    struct not_all *own = xcalloc(1, sizeof(*own));
    own->nodes = id_set_copy(&own->arena, nodes);
    own->base = (struct language){.is_regular = true,
                                  .start = not_all_start,
                                  .read = not_all_read,
                                  .accepts = not_all_accepts,
                                  .minds = not_all_minds,
                                  .size = not_all_size,
                                  .destroy = not_all_destroy};
    return &own->base;
}

// ---- Traces

// A state is the set of numbers of entries that may have been seen so far, ascending. An unreliable
// trace takes each entry as early as it can and needs one number only.
struct trace {
    struct language base;
    struct arena arena;
    enum trace_kind kind;
    struct trace_entry *entries;
    uint32_t count;
    struct id_set alphabet;
    struct tuple_table states;
    struct word_vec next;
};

static uint32_t trace_number(struct trace *own)
{
    const struct word_vec *seen = &own->next;

    if (seen->length == 0)
        return LANGUAGE_DEAD;
    if (own->kind != TRACE_RELIABLE && seen->data[seen->length - 1] == own->count)
        return LANGUAGE_ALL;
    return tuple_table_number(&own->states, seen->data, seen->length);
}

static uint32_t trace_start(struct language *language, uint64_t contexts)
{
    struct trace *own = (struct trace *)language;

    (void)contexts;
    word_vec_clear(&own->next);
    word_vec_push(&own->next, 0);
    return trace_number(own);
}

static void trace_add(struct trace *own, uint32_t seen)
{
    if (own->next.length == 0 || *word_vec_last(&own->next) != seen)
        word_vec_push(&own->next, seen);
}

static uint32_t trace_read(struct language *language, uint32_t state, const struct letter *letter,
                           uint32_t popped, uint32_t *pushed)
{
    struct trace *own = (struct trace *)language;
    struct tuple seen = tuple_table_get(&own->states, state);

    (void)popped;
    (void)pushed;
    if (letter->kind != EVENT_STEP)
        return state;
    bool must = own->kind != TRACE_UNRELIABLE && letter->insn == 0 &&
                id_set_has(own->alphabet, letter->node);
    word_vec_clear(&own->next);
    if (own->kind == TRACE_BURST) // may begin with the next letter
        word_vec_push(&own->next, 0);
    for (uint32_t i = 0; i < seen.count; i++) {
        uint32_t at = seen.words[i];
        bool is_next =
            at < own->count && is_step_at(letter, own->entries[at].nodes, own->entries[at].spots);
        if (!must && !(is_next && own->kind == TRACE_UNRELIABLE))
            trace_add(own, at);
        if (is_next)
            trace_add(own, at + 1);
    }
    return trace_number(own);
}

static bool trace_accepts(struct language *language, uint32_t state)
{
    struct trace *own = (struct trace *)language;
    struct tuple seen = tuple_table_get(&own->states, state);

    return seen.words[seen.count - 1] == own->count;
}

static bool trace_minds(const struct language *language, uint32_t node)
{
    const struct trace *own = (const struct trace *)language;

    if (own->kind != TRACE_UNRELIABLE && id_set_has(own->alphabet, node))
        return true;
    for (uint32_t i = 0; i < own->count; i++)
        if (id_set_has(own->entries[i].nodes, node))
            return true;
    return false;
}

static uint64_t trace_size(const struct language *language)
{
    return tuple_table_size(&((const struct trace *)language)->states);
}

static void trace_destroy(struct language *language)
{
    struct trace *own = (struct trace *)language;

    tuple_table_deinit(&own->states);
    word_vec_deinit(&own->next);
    arena_deinit(&own->arena);
    free(own);
}

struct language *language_trace(enum trace_kind kind, const struct trace_entry *entries,
                                uint32_t count, struct id_set alphabet)
{
    struct trace *own = xcalloc(1, sizeof(*own));

    own->kind = kind;
    own->count = count;
    own->entries = arena_alloc_array(&own->arena, count + (size_t)1, struct trace_entry);
    for (uint32_t i = 0; i < count; i++)
        own->entries[i] = (struct trace_entry){id_set_copy(&own->arena, entries[i].nodes),
                                               spot_set_copy(&own->arena, entries[i].spots)};
    own->alphabet = id_set_copy(&own->arena, alphabet);
    own->base = (struct language){.is_regular = true,
                                  .start = trace_start,
                                  .read = trace_read,
                                  .accepts = trace_accepts,
                                  .minds = trace_minds,
                                  .size = trace_size,
                                  .destroy = trace_destroy};
    return &own->base;
}

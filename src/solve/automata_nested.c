// SPDX-License-Identifier: Apache-2.0
// Languages that look at the nesting of calls, and `without`, which rides on the part it looks at.
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automata_private.h"

// ---- Without: a state is the state of what may not have been before

struct without {
    struct language base;
    struct event_list events;
    struct language *before;
    struct tuple_table states;
};

static uint32_t without_number(struct without *own, uint32_t before)
{
    // Once it is there for good, the event comes too late; where it cannot be, it may still come.
    return before == LANGUAGE_ALL ? LANGUAGE_DEAD : tuple_table_number(&own->states, &before, 1);
}

static uint32_t without_start(struct language *language, uint64_t contexts)
{
    struct without *own = (struct without *)language;

    return without_number(own, language_start(own->before, contexts));
}

static uint32_t without_read(struct language *language, uint32_t state, const struct letter *letter,
                             uint32_t popped, uint32_t *pushed)
{
    struct without *own = (struct without *)language;
    uint32_t before = tuple_table_get(&own->states, state).words[0];

    if (!language_accepts(own->before, before) && event_list_matches(&own->events, letter))
        return LANGUAGE_ALL;
    return without_number(own, language_read(own->before, before, letter, popped, pushed));
}

static bool without_accepts(struct language *language, uint32_t state)
{
    (void)language;
    (void)state;
    return false;
}

static bool without_minds(const struct language *language, uint32_t node)
{
    const struct without *own = (const struct without *)language;

    return event_list_minds(&own->events, node) || own->before->minds(own->before, node);
}

static uint64_t without_size(const struct language *language)
{
    const struct without *own = (const struct without *)language;

    return tuple_table_size(&own->states) + own->before->size(own->before);
}

static void without_destroy(struct language *language)
{
    struct without *own = (struct without *)language;

    event_list_deinit(&own->events);
    language_destroy(own->before);
    tuple_table_deinit(&own->states);
    free(own);
}

struct language *language_without(const struct event *events, uint32_t count,
                                  struct language *before)
{
    struct without *own = xcalloc(1, sizeof(*own));

    event_list_init(&own->events, events, count);
    own->before = before;
    own->base = (struct language){.is_regular = before->is_regular,
                                  .start = without_start,
                                  .read = without_read,
                                  .accepts = without_accepts,
                                  .minds = without_minds,
                                  .size = without_size,
                                  .destroy = without_destroy};
    return &own->base;
}

// ---- Inside: a state is the walks of the inner part, one for each open call that matches

// WALK_CALL began with the call that is open at this level. WALK_OUTER began with the stretch,
// inside a call made before; it stays as long as the context holds.
struct inside {
    struct language base;
    struct language *inner;
    struct event_list call;
    uint64_t context;
    struct tuple_table states; // a symbol is the state before the call
    struct word_vec next;
};

static uint32_t inside_number(struct inside *own)
{
    if (walks_settle(&own->next, 0))
        return LANGUAGE_ALL;
    return tuple_table_number(&own->states, own->next.data, own->next.length);
}

static uint32_t inside_start(struct language *language, uint64_t contexts)
{
    struct inside *own = (struct inside *)language;

    word_vec_clear(&own->next);
    if (contexts & own->context)
        walks_add(&own->next, WALK_OUTER, language_start(own->inner, contexts));
    return inside_number(own);
}

// Does the return end a call whose inside fits?
static bool inside_ends(struct inside *own, struct tuple now, const struct letter *letter,
                        uint32_t popped)
{
    uint32_t ended = popped == LANGUAGE_OUTER ? WALK_OUTER : WALK_CALL;

    if (!event_list_matches(&own->call, letter->call))
        return false;
    for (uint32_t i = 0; i < now.count; i += 2)
        if (now.words[i] == ended && language_accepts(own->inner, now.words[i + 1]))
            return true;
    return false;
}

static uint32_t inside_read(struct language *language, uint32_t state, const struct letter *letter,
                            uint32_t popped, uint32_t *pushed)
{
    struct inside *own = (struct inside *)language;
    struct tuple now = tuple_table_get(&own->states, state), below = {NULL, 0};

    word_vec_clear(&own->next);
    if (letter->kind == EVENT_LEAVE && inside_ends(own, now, letter, popped))
        return LANGUAGE_ALL;
    if (letter->kind == EVENT_LEAVE && popped != LANGUAGE_OUTER)
        below = tuple_table_get(&own->states, popped);
    // What was inside a call that was open before the stretch began is over with its return.
    bool left =
        letter->kind == EVENT_LEAVE && popped == LANGUAGE_OUTER && !(letter->inside & own->context);
    if (!left)
        walks_read(own->inner, now, letter, below, true, &own->next);
    if (letter->kind == EVENT_CALL) {
        *pushed = state;
        if (event_list_matches(&own->call, letter))
            walks_add(&own->next, WALK_CALL, language_start(own->inner, letter->after));
    }
    return inside_number(own);
}

static bool inside_accepts(struct language *language, uint32_t state)
{
    struct inside *own = (struct inside *)language;
    struct tuple now = tuple_table_get(&own->states, state);

    return walks_accept(own->inner, now.words, now.count);
}

static bool inside_minds(const struct language *language, uint32_t node)
{
    const struct inside *own = (const struct inside *)language;

    return event_list_minds(&own->call, node) || own->inner->minds(own->inner, node);
}

static uint64_t inside_size(const struct language *language)
{
    const struct inside *own = (const struct inside *)language;

    return tuple_table_size(&own->states) + own->inner->size(own->inner);
}

static void inside_destroy(struct language *language)
{
    struct inside *own = (struct inside *)language;

    language_destroy(own->inner);
    event_list_deinit(&own->call);
    tuple_table_deinit(&own->states);
    word_vec_deinit(&own->next);
    free(own);
}

struct language *language_inside(struct language *inner, const struct event *call, uint32_t context)
{
    struct inside *own = xcalloc(1, sizeof(*own));

    assert(call->kind == EVENT_CALL && context < AUTOMATA_CONTEXTS_MAX);
    own->inner = inner;
    event_list_init(&own->call, call, 1);
    own->context = UINT64_C(1) << context;
    own->base = (struct language){.is_regular = false,
                                  .start = inside_start,
                                  .read = inside_read,
                                  .accepts = inside_accepts,
                                  .minds = inside_minds,
                                  .size = inside_size,
                                  .destroy = inside_destroy};
    return &own->base;
}

// ---- Balanced: states and symbols are alike, "no call is open" and "one is"

enum { BALANCE_EVEN = 1, BALANCE_OPEN = 2 };

static uint32_t balanced_start(struct language *language, uint64_t contexts)
{
    (void)language;
    (void)contexts;
    return BALANCE_EVEN;
}

static uint32_t balanced_read(struct language *language, uint32_t state,
                              const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    (void)language;
    if (letter->kind == EVENT_STEP)
        return state;
    if (letter->kind == EVENT_LEAVE)
        return popped == LANGUAGE_OUTER ? LANGUAGE_DEAD : popped;
    *pushed = state;
    return BALANCE_OPEN;
}

static bool balanced_accepts(struct language *language, uint32_t state)
{
    (void)language;
    return state == BALANCE_EVEN;
}

static bool minds_all(const struct language *language, uint32_t node)
{
    (void)language;
    (void)node;
    return true;
}

static uint64_t balanced_size(const struct language *language)
{
    (void)language;
    return 0;
}

static void balanced_destroy(struct language *language)
{
    free(language);
}

struct language *language_balanced(void)
{
    struct language *own = xcalloc(1, sizeof(*own));

    *own = (struct language){.is_regular = false,
                             .start = balanced_start,
                             .read = balanced_read,
                             .accepts = balanced_accepts,
                             .minds = minds_all,
                             .size = balanced_size,
                             .destroy = balanced_destroy};
    return own;
}

// ---- A call and all that is in it

// A state: (CALL_BEFORE), (CALL_WITHIN, inner state), (CALL_BEHIND). A symbol: (0) of the call
// itself, (1, inner symbol) of those in it.
enum { CALL_BEFORE, CALL_WITHIN, CALL_BEHIND };

struct whole_call {
    struct language base;
    struct event_list calls;
    struct language *inner;
    bool unfinished;
    struct tuple_table states, symbols;
};

static uint32_t whole_call_number(struct whole_call *own, uint32_t where, uint32_t inner)
{
    uint32_t words[2] = {where, inner};

    if (where == CALL_WITHIN && inner == LANGUAGE_DEAD)
        return LANGUAGE_DEAD;
    return tuple_table_number(&own->states, words, 2);
}

static uint32_t whole_call_start(struct language *language, uint64_t contexts)
{
    (void)contexts;
    return whole_call_number((struct whole_call *)language, CALL_BEFORE, 0);
}

static uint32_t whole_call_begin(struct whole_call *own, const struct letter *letter,
                                 uint32_t *pushed)
{
    const uint32_t itself = 0;

    if (letter->kind != EVENT_CALL || !event_list_matches(&own->calls, letter))
        return LANGUAGE_DEAD;
    *pushed = tuple_table_number(&own->symbols, &itself, 1);
    return whole_call_number(own, CALL_WITHIN, language_start(own->inner, letter->after));
}

static uint32_t whole_call_end(struct whole_call *own, uint32_t inner)
{
    if (own->unfinished || !language_accepts(own->inner, inner))
        return LANGUAGE_DEAD;
    return whole_call_number(own, CALL_BEHIND, 0);
}

static uint32_t whole_call_read(struct language *language, uint32_t state,
                                const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    struct whole_call *own = (struct whole_call *)language;
    struct tuple now = tuple_table_get(&own->states, state);
    uint32_t inner = now.words[1], symbol = LANGUAGE_OUTER, made[2] = {1, 0};

    if (now.words[0] == CALL_BEHIND)
        return LANGUAGE_DEAD;
    if (now.words[0] == CALL_BEFORE)
        return whole_call_begin(own, letter, pushed);
    if (letter->kind == EVENT_LEAVE) {
        struct tuple top = tuple_table_get(&own->symbols, popped);
        if (top.count == 1)
            return whole_call_end(own, inner);
        symbol = top.words[1];
    }
    inner = language_read(own->inner, inner, letter, symbol, &made[1]);
    if (letter->kind == EVENT_CALL)
        *pushed = tuple_table_number(&own->symbols, made, 2);
    return whole_call_number(own, CALL_WITHIN, inner);
}

static bool whole_call_accepts(struct language *language, uint32_t state)
{
    struct whole_call *own = (struct whole_call *)language;
    struct tuple now = tuple_table_get(&own->states, state);

    if (now.words[0] == CALL_WITHIN)
        return own->unfinished && language_accepts(own->inner, now.words[1]);
    return now.words[0] == CALL_BEHIND;
}

static uint64_t whole_call_size(const struct language *language)
{
    const struct whole_call *own = (const struct whole_call *)language;

    return tuple_table_size(&own->states) + tuple_table_size(&own->symbols) +
           own->inner->size(own->inner);
}

static void whole_call_destroy(struct language *language)
{
    struct whole_call *own = (struct whole_call *)language;

    event_list_deinit(&own->calls);
    language_destroy(own->inner);
    tuple_table_deinit(&own->states);
    tuple_table_deinit(&own->symbols);
    free(own);
}

struct language *language_call(const struct event *calls, uint32_t count, struct language *inner,
                               bool unfinished)
{
    struct whole_call *own = xcalloc(1, sizeof(*own));

    event_list_init(&own->calls, calls, count);
    own->inner = inner;
    own->unfinished = unfinished;
    own->base = (struct language){.is_regular = false,
                                  .start = whole_call_start,
                                  .read = whole_call_read,
                                  .accepts = whole_call_accepts,
                                  .minds = minds_all,
                                  .size = whole_call_size,
                                  .destroy = whole_call_destroy};
    return &own->base;
}

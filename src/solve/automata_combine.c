// SPDX-License-Identifier: Apache-2.0
// Languages made of languages: not, and, or, then, repeated, without.
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automata_private.h"

// ---- Sets of walks

void walks_add(struct word_vec *pairs, uint32_t from, uint32_t now)
{
    word_vec_push(pairs, from);
    word_vec_push(pairs, now);
}

struct walk {
    uint32_t from, now;
};

static int compare_walks(const void *a, const void *b)
{
    const struct walk *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->now < y->now ? -1 : x->now > y->now;
}

bool walks_settle(struct word_vec *pairs, size_t first)
{
    size_t kept = first;

    if (pairs->length > first)
        qsort(pairs->data + first, (pairs->length - first) / 2, sizeof(struct walk), compare_walks);
    for (size_t i = first; i < pairs->length; i += 2) {
        uint32_t from = pairs->data[i], now = pairs->data[i + 1];
        if (now == LANGUAGE_ALL)
            return true;
        if (now == LANGUAGE_DEAD ||
            (kept > first && pairs->data[kept - 2] == from && pairs->data[kept - 1] == now))
            continue;
        pairs->data[kept++] = from;
        pairs->data[kept++] = now;
    }
    pairs->length = kept;
    return false;
}

// The walk was in state `from` at the call that returns: it is now in every pair of that state.
static void walk_return(struct language *language, uint32_t from, uint32_t now,
                        const struct letter *letter, struct tuple below, struct word_vec *ret)
{
    uint32_t symbol, pushed;

    language_read(language, from, letter->call, 0, &symbol);
    uint32_t next = language_read(language, now, letter, symbol, &pushed);
    for (uint32_t i = 0; i < below.count; i += 2)
        if (below.words[i + 1] == from)
            walks_add(ret, below.words[i], next);
}

void walks_read(struct language *language, struct tuple pairs, const struct letter *letter,
                struct tuple below, bool tracked, struct word_vec *ret)
{
    uint32_t pushed;

    for (uint32_t i = 0; i < pairs.count; i += 2) {
        uint32_t from = pairs.words[i], now = pairs.words[i + 1];
        if (letter->kind == EVENT_LEAVE && from == WALK_CALL)
            continue;
        if (letter->kind == EVENT_LEAVE && from != WALK_OUTER) {
            walk_return(language, from, now, letter, below, ret);
            continue;
        }
        if (letter->kind == EVENT_CALL && tracked)
            from = now;
        walks_add(ret, from, language_read(language, now, letter, LANGUAGE_OUTER, &pushed));
    }
}

bool walks_accept(struct language *language, const uint32_t *pairs, size_t count)
{
    for (size_t i = 0; i < count; i += 2)
        if (language_accepts(language, pairs[i + 1]))
            return true;
    return false;
}

// ---- Not

struct negation {
    struct language base;
    struct language *part;
};

static uint32_t negated(uint32_t state)
{
    if (state == LANGUAGE_ALL)
        return LANGUAGE_DEAD;
    return state == LANGUAGE_DEAD ? LANGUAGE_ALL : state;
}

static uint32_t negation_start(struct language *language, uint64_t contexts)
{
    return negated(language_start(((struct negation *)language)->part, contexts));
}

static uint32_t negation_read(struct language *language, uint32_t state,
                              const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    return negated(
        language_read(((struct negation *)language)->part, state, letter, popped, pushed));
}

static bool negation_accepts(struct language *language, uint32_t state)
{
    return !language_accepts(((struct negation *)language)->part, state);
}

static bool negation_minds(const struct language *language, uint32_t node)
{
    const struct language *part = ((const struct negation *)language)->part;

    return part->minds(part, node);
}

static uint64_t negation_size(const struct language *language)
{
    const struct language *part = ((const struct negation *)language)->part;

    return part->size(part);
}

static void negation_destroy(struct language *language)
{
    language_destroy(((struct negation *)language)->part);
    free(language);
}

struct language *language_not(struct language *part)
{
    struct negation *own = xcalloc(1, sizeof(*own));

    own->part = part;
    own->base = (struct language){.is_regular = part->is_regular,
                                  .start = negation_start,
                                  .read = negation_read,
                                  .accepts = negation_accepts,
                                  .minds = negation_minds,
                                  .size = negation_size,
                                  .destroy = negation_destroy};
    return &own->base;
}

// ---- And, or: a state is the parts' states

struct product {
    struct language base;
    struct language **parts;
    uint32_t count;
    bool is_or;
    struct tuple_table states, symbols;
};

// words: the parts' states.
static uint32_t product_number(struct product *own, const uint32_t *words)
{
    uint32_t deciding = own->is_or ? LANGUAGE_ALL : LANGUAGE_DEAD;
    uint32_t settled = 0;

    for (uint32_t i = 0; i < own->count; i++) {
        if (words[i] == deciding)
            return deciding;
        settled += words[i] == negated(deciding);
    }
    if (settled == own->count)
        return negated(deciding);
    return tuple_table_number(&own->states, words, own->count);
}

static uint32_t product_start(struct language *language, uint64_t contexts)
{
    struct product *own = (struct product *)language;
    struct word_vec words = VEC_INIT;

    word_vec_resize(&words, own->count);
    assert(words.data);
    for (uint32_t i = 0; i < own->count; i++)
        words.data[i] = language_start(own->parts[i], contexts);
    uint32_t state = product_number(own, words.data);
    word_vec_deinit(&words);
    return state;
}

static uint32_t product_read(struct language *language, uint32_t state, const struct letter *letter,
                             uint32_t popped, uint32_t *pushed)
{
    struct product *own = (struct product *)language;
    struct tuple now = tuple_table_get(&own->states, state);
    struct tuple symbols = {NULL, 0};
    struct word_vec words = VEC_INIT;

    if (letter->kind == EVENT_LEAVE && popped != LANGUAGE_OUTER && !language->is_regular)
        symbols = tuple_table_get(&own->symbols, popped);
    word_vec_resize(&words, (size_t)own->count * 2);
    assert(words.data);
    uint32_t *states = words.data, *made = words.data + own->count;
    for (uint32_t i = 0; i < own->count; i++)
        states[i] = language_read(own->parts[i], now.words[i], letter,
                                  symbols.count ? symbols.words[i] : LANGUAGE_OUTER, &made[i]);
    if (letter->kind == EVENT_CALL && !language->is_regular)
        *pushed = tuple_table_number(&own->symbols, made, own->count);
    uint32_t next = product_number(own, states);
    word_vec_deinit(&words);
    return next;
}

static bool product_accepts(struct language *language, uint32_t state)
{
    struct product *own = (struct product *)language;
    struct tuple now = tuple_table_get(&own->states, state);

    for (uint32_t i = 0; i < own->count; i++)
        if (language_accepts(own->parts[i], now.words[i]) == own->is_or)
            return own->is_or;
    return !own->is_or;
}

static bool product_minds(const struct language *language, uint32_t node)
{
    const struct product *own = (const struct product *)language;

    for (uint32_t i = 0; i < own->count; i++)
        if (own->parts[i]->minds(own->parts[i], node))
            return true;
    return false;
}

static uint64_t product_size(const struct language *language)
{
    const struct product *own = (const struct product *)language;
    uint64_t size = tuple_table_size(&own->states) + tuple_table_size(&own->symbols);

    for (uint32_t i = 0; i < own->count; i++)
        size += own->parts[i]->size(own->parts[i]);
    return size;
}

static void product_destroy(struct language *language)
{
    struct product *own = (struct product *)language;

    for (uint32_t i = 0; i < own->count; i++)
        language_destroy(own->parts[i]);
    free(own->parts);
    tuple_table_deinit(&own->states);
    tuple_table_deinit(&own->symbols);
    free(own);
}

static struct language *product_create(struct language **parts, uint32_t count, bool is_or)
{
    if (count == 0)
        return is_or ? language_nothing() : language_all();
    if (count == 1)
        return parts[0];
    struct product *own = xcalloc(1, sizeof(*own));
    own->parts = xmemdup(parts, count * sizeof(*parts));
    own->count = count;
    own->is_or = is_or;
    own->base = (struct language){.is_regular = true,
                                  .start = product_start,
                                  .read = product_read,
                                  .accepts = product_accepts,
                                  .minds = product_minds,
                                  .size = product_size,
                                  .destroy = product_destroy};
    for (uint32_t i = 0; i < count; i++)
        own->base.is_regular &= parts[i]->is_regular;
    return &own->base;
}

struct language *language_and(struct language **parts, uint32_t count)
{
    return product_create(parts, count, false);
}

struct language *language_or(struct language **parts, uint32_t count)
{
    return product_create(parts, count, true);
}

// ---- Then: a state is the first part's state and the walks of the second that may have begun

struct sequence {
    struct language base;
    struct language *first, *second;
    struct tuple_table states, symbols; // a symbol is the first part's symbol and the state before
    struct word_vec next;
};

// next: the first part's state, pairs. Where the first may have ended, the second begins.
static uint32_t sequence_number(struct sequence *own, uint64_t contexts)
{
    struct word_vec *next = &own->next;

    if (language_accepts(own->first, next->data[0]))
        walks_add(next, WALK_OUTER, language_start(own->second, contexts));
    if (walks_settle(next, 1))
        return LANGUAGE_ALL;
    if (next->data[0] == LANGUAGE_DEAD && next->length == 1)
        return LANGUAGE_DEAD;
    return tuple_table_number(&own->states, next->data, next->length);
}

static uint32_t sequence_start(struct language *language, uint64_t contexts)
{
    struct sequence *own = (struct sequence *)language;

    word_vec_clear(&own->next);
    word_vec_push(&own->next, language_start(own->first, contexts));
    return sequence_number(own, contexts);
}

static struct tuple pairs_behind(struct tuple tuple, uint32_t first)
{
    return (struct tuple){tuple.words + first, tuple.count - first};
}

static uint32_t sequence_read(struct language *language, uint32_t state,
                              const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    struct sequence *own = (struct sequence *)language;
    struct tuple now = tuple_table_get(&own->states, state), below = {NULL, 0};
    uint32_t symbol = LANGUAGE_OUTER, made;

    if (letter->kind == EVENT_LEAVE && popped != LANGUAGE_OUTER && !language->is_regular) {
        struct tuple before = tuple_table_get(&own->symbols, popped);
        symbol = before.words[0];
        below = pairs_behind(tuple_table_get(&own->states, before.words[1]), 1);
    }
    word_vec_clear(&own->next);
    word_vec_push(&own->next, language_read(own->first, now.words[0], letter, symbol, &made));
    walks_read(own->second, pairs_behind(now, 1), letter, below, !own->second->is_regular,
               &own->next);
    if (letter->kind == EVENT_CALL && !language->is_regular) {
        uint32_t words[2] = {made, state};
        *pushed = tuple_table_number(&own->symbols, words, 2);
    }
    return sequence_number(own, letter->after);
}

static bool sequence_accepts(struct language *language, uint32_t state)
{
    struct sequence *own = (struct sequence *)language;
    struct tuple now = tuple_table_get(&own->states, state);

    return walks_accept(own->second, now.words + 1, now.count - 1);
}

static bool sequence_minds(const struct language *language, uint32_t node)
{
    const struct sequence *own = (const struct sequence *)language;

    return own->first->minds(own->first, node) || own->second->minds(own->second, node);
}

static uint64_t sequence_size(const struct language *language)
{
    const struct sequence *own = (const struct sequence *)language;

    return tuple_table_size(&own->states) + tuple_table_size(&own->symbols) +
           own->first->size(own->first) + own->second->size(own->second);
}

static void sequence_destroy(struct language *language)
{
    struct sequence *own = (struct sequence *)language;

    language_destroy(own->first);
    language_destroy(own->second);
    tuple_table_deinit(&own->states);
    tuple_table_deinit(&own->symbols);
    word_vec_deinit(&own->next);
    free(own);
}

struct language *language_then(struct language *first, struct language *second)
{
    struct sequence *own = xcalloc(1, sizeof(*own));

    own->first = first;
    own->second = second;
    own->base = (struct language){.is_regular = first->is_regular && second->is_regular,
                                  .start = sequence_start,
                                  .read = sequence_read,
                                  .accepts = sequence_accepts,
                                  .minds = sequence_minds,
                                  .size = sequence_size,
                                  .destroy = sequence_destroy};
    return &own->base;
}

// ---- Repeated: a state is whether the stretch so far is in it, and the walks that may be under
// way

struct repetition {
    struct language base;
    struct language *part;
    struct tuple_table states; // a symbol is the state before the call
    struct word_vec next;
};

// next: room for one word, pairs. Where a part may have ended, one more begins.
static uint32_t repetition_number(struct repetition *own, bool at_start, uint64_t contexts)
{
    struct word_vec *next = &own->next;
    bool ended = at_start || walks_accept(own->part, next->data + 1, next->length - 1);

    if (ended)
        walks_add(next, WALK_OUTER, language_start(own->part, contexts));
    next->data[0] = ended;
    if (walks_settle(next, 1))
        return LANGUAGE_ALL;
    if (!ended && next->length == 1)
        return LANGUAGE_DEAD;
    return tuple_table_number(&own->states, next->data, next->length);
}

static uint32_t repetition_start(struct language *language, uint64_t contexts)
{
    struct repetition *own = (struct repetition *)language;

    word_vec_clear(&own->next);
    word_vec_push(&own->next, 0);
    return repetition_number(own, true, contexts);
}

static uint32_t repetition_read(struct language *language, uint32_t state,
                                const struct letter *letter, uint32_t popped, uint32_t *pushed)
{
    struct repetition *own = (struct repetition *)language;
    struct tuple now = tuple_table_get(&own->states, state), below = {NULL, 0};

    if (letter->kind == EVENT_LEAVE && popped != LANGUAGE_OUTER && !language->is_regular)
        below = pairs_behind(tuple_table_get(&own->states, popped), 1);
    word_vec_clear(&own->next);
    word_vec_push(&own->next, 0);
    walks_read(own->part, pairs_behind(now, 1), letter, below, !language->is_regular, &own->next);
    if (letter->kind == EVENT_CALL && !language->is_regular)
        *pushed = state;
    return repetition_number(own, false, letter->after);
}

static bool repetition_accepts(struct language *language, uint32_t state)
{
    return tuple_table_get(&((struct repetition *)language)->states, state).words[0];
}

// No letter is nothing: the empty stretch is in it, others only as far as their parts are.
static bool repetition_minds(const struct language *language, uint32_t node)
{
    (void)language;
    (void)node;
    return true;
}

static uint64_t repetition_size(const struct language *language)
{
    const struct repetition *own = (const struct repetition *)language;

    return tuple_table_size(&own->states) + own->part->size(own->part);
}

static void repetition_destroy(struct language *language)
{
    struct repetition *own = (struct repetition *)language;

    language_destroy(own->part);
    tuple_table_deinit(&own->states);
    word_vec_deinit(&own->next);
    free(own);
}

struct language *language_repeat(struct language *part)
{
    struct repetition *own = xcalloc(1, sizeof(*own));

    own->part = part;
    own->base = (struct language){.is_regular = part->is_regular,
                                  .start = repetition_start,
                                  .read = repetition_read,
                                  .accepts = repetition_accepts,
                                  .minds = repetition_minds,
                                  .size = repetition_size,
                                  .destroy = repetition_destroy};
    return &own->base;
}

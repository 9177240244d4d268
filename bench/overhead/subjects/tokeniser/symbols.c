// SPDX-License-Identifier: Apache-2.0
#include "tokeniser.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t size)
{
    void *made = calloc(1, size);
    if (!made)
        abort();
    return made;
}

void symbols_init(struct symbols *symbols)
{
    *symbols = (struct symbols){.bucket_count = 64};
    symbols->buckets = allocate(symbols->bucket_count * sizeof(*symbols->buckets));
}

static void destroy_chain(struct symbol *symbol)
{
    while (symbol) {
        struct symbol *next = symbol->next;
        free(symbol->name);
        free(symbol);
        symbol = next;
    }
}

void symbols_deinit(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->bucket_count; i++)
        destroy_chain(symbols->buckets[i]);
    free(symbols->buckets);
}

/* FNV-1a. */
static uint32_t mix(uint32_t hash, unsigned char byte)
{
    return (hash ^ byte) * 16777619u;
}

static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = mix(hash, (unsigned char)name[i]);
    return hash;
}

static struct symbol **bucket_of(const struct symbols *symbols, uint32_t hash)
{
    return &symbols->buckets[hash & (symbols->bucket_count - 1)];
}

static bool is_same(const struct symbol *symbol, const char *name, size_t length, uint32_t hash)
{
    return symbol->hash == hash && symbol->length == length && !memcmp(symbol->name, name, length);
}

static struct symbol *find(const struct symbols *symbols, const char *name, size_t length,
                           uint32_t hash)
{
    struct symbol *symbol = *bucket_of(symbols, hash);
    while (symbol && !is_same(symbol, name, length, hash))
        symbol = symbol->next;
    return symbol;
}

static void link_symbol(struct symbols *symbols, struct symbol *symbol)
{
    struct symbol **bucket = bucket_of(symbols, symbol->hash);
    symbol->next = *bucket;
    *bucket = symbol;
}

static void grow(struct symbols *symbols)
{
    struct symbols old = *symbols;
    symbols->bucket_count *= 2;
    symbols->buckets = allocate(symbols->bucket_count * sizeof(*symbols->buckets));
    for (size_t i = 0; i < old.bucket_count; i++) {
        for (struct symbol *symbol = old.buckets[i], *next; symbol; symbol = next) {
            next = symbol->next;
            link_symbol(symbols, symbol);
        }
    }
    free(old.buckets);
}

struct symbol *symbols_add(struct symbols *symbols, const char *name, size_t length, unsigned line)
{
    uint32_t hash = hash_name(name, length);
    struct symbol *symbol = find(symbols, name, length, hash);
    if (!symbol) {
        if (symbols->symbol_count >= symbols->bucket_count)
            grow(symbols);
        symbol = allocate(sizeof(*symbol));
        symbol->name = allocate(length + 1);
        memcpy(symbol->name, name, length);
        symbol->length = length;
        symbol->hash = hash;
        symbol->first_line = line;
        link_symbol(symbols, symbol);
        symbols->symbol_count++;
    }
    symbol->count++;
    return symbol;
}

static int compare(const void *left, const void *right)
{
    const struct symbol *a = *(struct symbol *const *)left, *b = *(struct symbol *const *)right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Most frequent first; the caller frees the array. */
struct symbol **symbols_sorted(const struct symbols *symbols)
{
    struct symbol **sorted = allocate((symbols->symbol_count + 1) * sizeof(struct symbol *));
    size_t at = 0;
    for (size_t i = 0; i < symbols->bucket_count; i++) {
        for (struct symbol *symbol = symbols->buckets[i]; symbol; symbol = symbol->next)
            sorted[at++] = symbol;
    }
    qsort(sorted, at, sizeof(struct symbol *), compare);
    return sorted;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * A typed hash map, made by a macro, with 64-bit or string keys.
 *
 *     MAP_DEFINE_U64(site_map, uint32_t);                  // uint64_t -> uint32_t
 *     MAP_DEFINE_STRING(symbol_map, struct symbol *);      // const char * -> struct symbol *
 *
 *     struct site_map map = MAP_INIT;
 *     *site_map_put(&map, address) = site;                 // zero-filled when new
 *     uint32_t *found = site_map_get(&map, address);       // NULL when absent
 *     MAP_FOREACH (site_map, &map, entry)                  // struct site_map_entry *entry
 *             use(entry->key, entry->value);
 *     site_map_deinit(&map);
 *
 * String keys are borrowed: they live as long as the map (use an arena). Pointers into the map live
 * until the next put or remove. Order of iteration depends on keys and history only, so that output
 * is the same from run to run, but print in an order of your own. Open addressing with linear
 * probing, at most 3/4 full; removal shifts back, no tombstones.
 *
 * MAP_DEFINE(name, key_type, value_type, hash_function, equal_function) takes any plain key:
 * uint64_t hash_function(key) and bool equal_function(key, key).
 */
#ifndef INQUEST_COMMON_MAP_H
#define INQUEST_COMMON_MAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"

#define MAP_INIT {NULL, NULL, 0, 0}

#define MAP_FUNCTION static inline __attribute__((__unused__))

static inline uint64_t map_hash_u64(uint64_t key)
{
    return hash_mix(key);
}

static inline bool map_equal_u64(uint64_t a, uint64_t b)
{
    return a == b;
}

static inline uint64_t map_hash_string(const char *key)
{
    return hash_mix(hash_string(HASH_SEED, key));
}

static inline bool map_equal_string(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

#define MAP_DEFINE_U64(name, value_type)                                                           \
    MAP_DEFINE(name, uint64_t, value_type, map_hash_u64, map_equal_u64)

#define MAP_DEFINE_STRING(name, value_type)                                                        \
    MAP_DEFINE(name, const char *, value_type, map_hash_string, map_equal_string)

/* tags[i] is 0 where slot i is empty, else 32 bits of the hash with the lowest bit set. */
#define MAP_DEFINE(name, key_type, value_type, hash_function, equal_function)                      \
    struct name##_entry {                                                                          \
        key_type key;                                                                              \
        value_type value;                                                                          \
    };                                                                                             \
                                                                                                   \
    struct name {                                                                                  \
        struct name##_entry *slots;                                                                \
        uint32_t *tags;                                                                            \
        size_t capacity; /* 0 or a power of two */                                                 \
        size_t length;                                                                             \
    };                                                                                             \
                                                                                                   \
    MAP_FUNCTION void name##_init(struct name *map)                                                \
    {                                                                                              \
        *map = (struct name)MAP_INIT;                                                              \
    }                                                                                              \
                                                                                                   \
    MAP_FUNCTION void name##_deinit(struct name *map)                                              \
    {                                                                                              \
        free(map->slots);                                                                          \
        free(map->tags);                                                                           \
        *map = (struct name)MAP_INIT;                                                              \
    }                                                                                              \
                                                                                                   \
    /* Keeps the memory. */                                                                        \
    MAP_FUNCTION void name##_clear(struct name *map)                                               \
    {                                                                                              \
        if (map->capacity)                                                                         \
            memset(map->tags, 0, map->capacity * sizeof(*map->tags));                              \
        map->length = 0;                                                                           \
    }                                                                                              \
                                                                                                   \
    /* The slot that holds key, or the empty one where it would go; needs an empty slot. */        \
    MAP_FUNCTION size_t name##_find(const struct name *map, key_type key, uint32_t tag)            \
    {                                                                                              \
        size_t mask = map->capacity - 1;                                                           \
        size_t i = tag >> 1 & mask;                                                                \
        while (map->tags[i] && !(map->tags[i] == tag && equal_function(map->slots[i].key, key)))   \
            i = (i + 1) & mask;                                                                    \
        return i;                                                                                  \
    }                                                                                              \
                                                                                                   \
    MAP_FUNCTION uint32_t name##_tag(key_type key)                                                 \
    {                                                                                              \
        return (uint32_t)hash_function(key) | 1;                                                   \
    }                                                                                              \
                                                                                                   \
    MAP_FUNCTION void name##_grow(struct name *map)                                                \
    {                                                                                              \
        struct name old = *map;                                                                    \
        assert(old.capacity <= UINT32_MAX / 4);                                                    \
        map->capacity = old.capacity ? old.capacity * 2 : 8;                                       \
        map->slots = xmalloc_array(map->capacity, sizeof(*map->slots));                            \
        map->tags = xcalloc(map->capacity, sizeof(*map->tags));                                    \
        for (size_t i = 0; i < old.capacity; i++) {                                                \
            if (!old.tags[i])                                                                      \
                continue;                                                                          \
            size_t slot = name##_find(map, old.slots[i].key, old.tags[i]);                         \
            map->slots[slot] = old.slots[i];                                                       \
            map->tags[slot] = old.tags[i];                                                         \
        }                                                                                          \
        free(old.slots);                                                                           \
        free(old.tags);                                                                            \
    }                                                                                              \
                                                                                                   \
    /* The value of key, or NULL. */                                                               \
    MAP_FUNCTION value_type *name##_get(const struct name *map, key_type key)                      \
    {                                                                                              \
        if (map->length == 0)                                                                      \
            return NULL;                                                                           \
        size_t slot = name##_find(map, key, name##_tag(key));                                      \
        return map->tags[slot] ? &map->slots[slot].value : NULL;                                   \
    }                                                                                              \
                                                                                                   \
    /* The value of key, zero-filled when it was absent, which *ret_new then says (may be NULL).   \
     */                                                                                            \
    MAP_FUNCTION value_type *name##_put_new(struct name *map, key_type key, bool *ret_new)         \
    {                                                                                              \
        if (map->length >= map->capacity / 4 * 3)                                                  \
            name##_grow(map);                                                                      \
        uint32_t tag = name##_tag(key);                                                            \
        size_t slot = name##_find(map, key, tag);                                                  \
        bool is_new = !map->tags[slot];                                                            \
        if (is_new) {                                                                              \
            memset(&map->slots[slot], 0, sizeof(map->slots[slot]));                                \
            map->slots[slot].key = key;                                                            \
            map->tags[slot] = tag;                                                                 \
            map->length++;                                                                         \
        }                                                                                          \
        if (ret_new)                                                                               \
            *ret_new = is_new;                                                                     \
        return &map->slots[slot].value;                                                            \
    }                                                                                              \
                                                                                                   \
    MAP_FUNCTION value_type *name##_put(struct name *map, key_type key)                            \
    {                                                                                              \
        return name##_put_new(map, key, NULL);                                                     \
    }                                                                                              \
                                                                                                   \
    /* Whether key was there. */                                                                   \
    MAP_FUNCTION bool name##_remove(struct name *map, key_type key)                                \
    {                                                                                              \
        if (map->length == 0)                                                                      \
            return false;                                                                          \
        size_t mask = map->capacity - 1;                                                           \
        size_t hole = name##_find(map, key, name##_tag(key));                                      \
        if (!map->tags[hole])                                                                      \
            return false;                                                                          \
        for (size_t i = (hole + 1) & mask; map->tags[i]; i = (i + 1) & mask) {                     \
            size_t home = map->tags[i] >> 1 & mask;                                                \
            if (((i - home) & mask) < ((i - hole) & mask))                                         \
                continue;                                                                          \
            map->slots[hole] = map->slots[i];                                                      \
            map->tags[hole] = map->tags[i];                                                        \
            hole = i;                                                                              \
        }                                                                                          \
        map->tags[hole] = 0;                                                                       \
        map->length--;                                                                             \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    /* The first entry from *index on, which moves behind it; NULL at the end. */                  \
    MAP_FUNCTION struct name##_entry *name##_next(const struct name *map, size_t *index)           \
    {                                                                                              \
        while (*index < map->capacity) {                                                           \
            size_t i = (*index)++;                                                                 \
            if (map->tags[i])                                                                      \
                return &map->slots[i];                                                             \
        }                                                                                          \
        return NULL;                                                                               \
    }

/* Every entry; the map may not be put to or removed from meanwhile. */
#define MAP_FOREACH(name, map, entry)                                                              \
    for (size_t entry##_index_ = 0, entry##_once_ = 1; entry##_once_; entry##_once_ = 0)           \
        for (struct name##_entry * entry; (entry = name##_next((map), &entry##_index_));)

#endif

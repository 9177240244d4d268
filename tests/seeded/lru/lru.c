// SPDX-License-Identifier: Apache-2.0
/*
 * A cache that forgets what was used longest ago, driven by commands, one a line:
 * put K V, get K, drop K, limit N, prefix P, list, stat.
 *
 *     lru [CAPACITY]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 32

struct entry {
    struct entry *chain; // of its bucket
    struct entry *newer, *older;
    char *key;
    char *value;
};

struct cache {
    struct entry *bucket[BUCKETS];
    struct entry *newest, *oldest;
    struct entry *recent; // the entry of the last lookup: programs ask twice
    int count, capacity;
    unsigned long hits, misses, shortcuts, evictions;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

static unsigned hash(const char *key)
{
    unsigned value = 2166136261u;
    for (; *key != '\0'; key++)
        value = (value ^ (unsigned char)*key) * 16777619u;
    return value % BUCKETS;
}

// ---- The list by age

static void list_remove(struct cache *cache, struct entry *entry)
{
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
    entry->newer = entry->older = NULL;
}

static void list_push(struct cache *cache, struct entry *entry)
{
    entry->older = cache->newest;
    entry->newer = NULL;
    if (cache->newest != NULL)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
}

static void touch(struct cache *cache, struct entry *entry)
{
    if (cache->newest == entry)
        return;
    list_remove(cache, entry);
    list_push(cache, entry);
}

// ---- The table

static void chain_remove(struct cache *cache, struct entry *entry)
{
    struct entry **link = &cache->bucket[hash(entry->key)];
    while (*link != entry)
        link = &(*link)->chain;
    *link = entry->chain;
}

static void entry_free(struct entry *entry)
{
    free(entry->value);
    free(entry->key);
    free(entry);
}

static void entry_discard(struct cache *cache, struct entry *entry)
{
    list_remove(cache, entry);
    chain_remove(cache, entry);
    entry_free(entry);
    cache->count--;
}

static struct entry *lookup(struct cache *cache, const char *key)
{
    struct entry *entry = cache->recent;
    if (entry != NULL && strcmp(entry->key, key) == 0) {
        cache->shortcuts++;
        return entry;
    }
    for (entry = cache->bucket[hash(key)]; entry != NULL; entry = entry->chain) {
        if (strcmp(entry->key, key) == 0) {
            cache->recent = entry;
            return entry;
        }
    }
    return NULL;
}

static void evict(struct cache *cache)
{
    struct entry *victim = cache->oldest;
    if (cache->recent == victim)
        cache->recent = NULL;
    entry_discard(cache, victim);
    cache->evictions++;
}

static struct entry *entry_add(struct cache *cache, const char *key, const char *value)
{
    struct entry *entry = must(calloc(1, sizeof *entry));
    unsigned bucket = hash(key);
    entry->key = must(strdup(key));
    entry->value = must(strdup(value));
    entry->chain = cache->bucket[bucket];
    cache->bucket[bucket] = entry;
    list_push(cache, entry);
    cache->count++;
    return entry;
}

// ---- Commands

static void command_put(struct cache *cache, const char *key, const char *value)
{
    struct entry *entry = lookup(cache, key);
    if (entry != NULL) {
        char *copy = must(strdup(value));
        free(entry->value);
        entry->value = copy;
        touch(cache, entry);
        return;
    }
    while (cache->count >= cache->capacity)
        evict(cache);
    entry_add(cache, key, value);
}

static void command_get(struct cache *cache, const char *key)
{
    struct entry *entry = lookup(cache, key);
    if (entry == NULL) {
        cache->misses++;
        printf("%s: -\n", key);
        return;
    }
    cache->hits++;
    touch(cache, entry);
    printf("%s: %s\n", key, entry->value);
}

static void command_drop(struct cache *cache, const char *key)
{
    struct entry *entry = lookup(cache, key);
    if (entry == NULL) {
        printf("%s: not there\n", key);
        return;
    }
    if (cache->recent == entry)
        cache->recent = NULL;
    entry_discard(cache, entry);
}

static void command_limit(struct cache *cache, int capacity)
{
    if (capacity < 1) {
        puts("bad limit");
        return;
    }
    while (cache->count > capacity)
        evict(cache);
    cache->capacity = capacity;
}

// Drops all keys that start so.
static void command_prefix(struct cache *cache, const char *prefix)
{
    size_t length = strlen(prefix);
    int dropped = 0;
    for (struct entry *entry = cache->newest; entry != NULL;) {
        struct entry *older = entry->older;
        if (strncmp(entry->key, prefix, length) == 0) {
            entry_discard(cache, entry);
            dropped++;
        }
        entry = older;
    }
    printf("%s*: %d dropped\n", prefix, dropped);
}

static void command_list(const struct cache *cache)
{
    for (const struct entry *entry = cache->newest; entry != NULL; entry = entry->older)
        printf("%s%s", entry->key, entry->older != NULL ? " " : "");
    putchar('\n');
}

static void command_stat(const struct cache *cache)
{
    int longest = 0;
    for (int i = 0; i < BUCKETS; i++) {
        int length = 0;
        for (const struct entry *entry = cache->bucket[i]; entry != NULL; entry = entry->chain)
            length++;
        if (length > longest)
            longest = length;
    }
    printf("%d of %d, %lu hits, %lu misses, %lu evictions, chain %d\n", cache->count,
           cache->capacity, cache->hits, cache->misses, cache->evictions, longest);
}

static void command(struct cache *cache, char *line)
{
    char *word = strtok(line, " \n");
    char *key = strtok(NULL, " \n");
    char *value = strtok(NULL, "\n");
    if (word == NULL)
        return;
    if (strcmp(word, "list") == 0)
        command_list(cache);
    else if (strcmp(word, "stat") == 0)
        command_stat(cache);
    else if (key == NULL)
        printf("%s: what?\n", word);
    else if (strcmp(word, "put") == 0 && value != NULL)
        command_put(cache, key, value);
    else if (strcmp(word, "get") == 0)
        command_get(cache, key);
    else if (strcmp(word, "drop") == 0)
        command_drop(cache, key);
    else if (strcmp(word, "limit") == 0)
        command_limit(cache, atoi(key));
    else if (strcmp(word, "prefix") == 0)
        command_prefix(cache, key);
    else
        printf("%s: unknown\n", word);
}

int main(int argc, char **argv)
{
    struct cache cache = {0};
    char line[256];
    cache.capacity = argc > 1 ? atoi(argv[1]) : 8;
    if (cache.capacity < 1)
        cache.capacity = 1;
    while (fgets(line, sizeof line, stdin) != NULL)
        command(&cache, line);
    while (cache.oldest != NULL)
        evict(&cache);
    return 0;
}

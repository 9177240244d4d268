// SPDX-License-Identifier: Apache-2.0
/*
 * cache: a cache of fixed size with a list in order of use, driven by commands on standard input
 * (`get KEY`, `put KEY VALUE`, `drop KEY`, `size N`, `dump`).
 *
 * What goes wrong: list_unlink() sees to both ends of the list, except when the last entry is also
 * the first one: then `oldest` keeps pointing at it after it was freed, and the next eviction
 * unlinks it once more, following what malloc has left there. With one entry left, `drop` it and
 * let the cache shrink: inputs/cache.crash. A cache of size 0 has nothing to evict:
 * inputs/cache.null.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *newer, *older;
    int key;
    char value[24];
};

struct cache {
    struct item *newest, *oldest;
    int count, size;
    long hits, misses;
};

static void list_push(struct cache *cache, struct item *item)
{
    item->newer = NULL;
    item->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = item;
    else
        cache->oldest = item;
    cache->newest = item;
    cache->count++;
}

static void list_unlink(struct cache *cache, struct item *item)
{
    if (item->newer)
        item->newer->older = item->older;
    else
        cache->newest = item->older;
    if (item->older)
        item->older->newer = item->newer;
    else if (item->newer)
        cache->oldest = item->newer;
    cache->count--;
}

static struct item *cache_find(struct cache *cache, int key)
{
    struct item *item = cache->newest;

    while (item && item->key != key)
        item = item->older;
    return item;
}

static void cache_evict(struct cache *cache)
{
    struct item *item = cache->oldest;

    list_unlink(cache, item);
    free(item);
}

static const char *cache_get(struct cache *cache, int key)
{
    struct item *item = cache_find(cache, key);

    if (!item) {
        cache->misses++;
        return NULL;
    }
    cache->hits++;
    if (item != cache->newest) {
        list_unlink(cache, item);
        list_push(cache, item);
    }
    return item->value;
}

static void cache_put(struct cache *cache, int key, const char *value)
{
    struct item *item = cache_find(cache, key);

    if (!item) {
        while (cache->count >= cache->size)
            cache_evict(cache);
        item = calloc(1, sizeof(*item));
        if (!item)
            abort();
        item->key = key;
        list_push(cache, item);
    }
    strncpy(item->value, value, sizeof(item->value) - 1);
}

static void cache_drop(struct cache *cache, int key)
{
    struct item *item = cache_find(cache, key);

    if (item) {
        list_unlink(cache, item);
        free(item);
    }
}

static void cache_resize(struct cache *cache, int size)
{
    cache->size = size;
    while (cache->count > cache->size || (size == 0 && cache->oldest))
        cache_evict(cache);
}

static void cache_dump(const struct cache *cache)
{
    for (const struct item *item = cache->newest; item; item = item->older)
        printf("%d=%s ", item->key, item->value);
    printf("(%d of %d, %ld hits, %ld misses)\n", cache->count, cache->size, cache->hits,
           cache->misses);
}

static int command(struct cache *cache, const char *line)
{
    char word[16] = "", value[24] = "";
    int number = 0;

    if (sscanf(line, "%15s %d %23s", word, &number, value) < 1)
        return 1;
    if (strcmp(word, "get") == 0) {
        const char *found = cache_get(cache, number);
        printf("%d: %s\n", number, found ? found : "-");
    } else if (strcmp(word, "put") == 0)
        cache_put(cache, number, value);
    else if (strcmp(word, "drop") == 0)
        cache_drop(cache, number);
    else if (strcmp(word, "size") == 0)
        cache_resize(cache, number);
    else if (strcmp(word, "dump") == 0)
        cache_dump(cache);
    else
        return 0;
    return 1;
}

int main(void)
{
    struct cache cache = {.size = 4};
    char line[128];

    while (fgets(line, sizeof(line), stdin))
        if (!command(&cache, line))
            fprintf(stderr, "cache: not understood: %s", line);
    cache_dump(&cache);
    return 0;
}

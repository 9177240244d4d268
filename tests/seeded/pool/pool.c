// SPDX-License-Identifier: Apache-2.0
/*
 * An allocator on one arena, tried out by commands: new ID SIZE, free ID, grow ID SIZE, fill ID C,
 * show ID, map. Blocks lie side by side, each with a header that knows its size and the size before
 * it; neighbours that are free become one. Gives up when headers contradict each other.
 *
 *     pool [-s SIZE] [-f]     -s: of the arena, -f: the first block that is large enough (else the
 * best)
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT       16
#define ARENA_MOST 8192
#define ID_MOST    32
#define USED       0x5553u
#define FREE       0x4652u

struct block {
    uint32_t size, before; // bytes with the header; of the block before, 0: the first
    uint32_t state;
    uint32_t wanted; // bytes that were asked for
};

_Static_assert(sizeof(struct block) == UNIT, "a header is one unit");

struct pool {
    unsigned char *arena;
    uint32_t size;
    bool first_fit;
    struct block *held[ID_MOST];
    int splits, joins, refused;
};

// ---- Blocks

static struct block *block_at(const struct pool *pool, uint32_t offset)
{
    return (struct block *)(pool->arena + offset);
}

static uint32_t offset_of(const struct pool *pool, const struct block *block)
{
    return (uint32_t)((const unsigned char *)block - pool->arena);
}

static struct block *block_next(const struct pool *pool, const struct block *block)
{
    uint32_t offset = offset_of(pool, block);
    if (block->size < UNIT || block->size > pool->size - offset)
        abort();
    offset += block->size;
    return offset < pool->size ? block_at(pool, offset) : NULL;
}

static struct block *block_before(const struct pool *pool, const struct block *block)
{
    return block->before == 0 ? NULL : block_at(pool, offset_of(pool, block) - block->before);
}

static unsigned char *content(struct block *block)
{
    return (unsigned char *)(block + 1);
}

static uint32_t units(uint32_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT + UNIT;
}

static void pool_check(const struct pool *pool)
{
    uint32_t before = 0, offset = 0;
    while (offset < pool->size) {
        const struct block *block = block_at(pool, offset);
        if (block->size < UNIT || block->size % UNIT != 0 || block->before != before ||
            (block->state != USED && block->state != FREE))
            abort();
        if (block->state == USED && block->wanted + UNIT > block->size)
            abort();
        before = block->size;
        offset += block->size;
    }
    if (offset != pool->size)
        abort();
}

// ---- Taking and giving back

static struct block *block_choose(const struct pool *pool, uint32_t size)
{
    struct block *best = NULL;
    for (struct block *block = block_at(pool, 0); block != NULL; block = block_next(pool, block)) {
        if (block->state != FREE || block->size < size)
            continue;
        if (pool->first_fit)
            return block;
        if (best == NULL || block->size < best->size)
            best = block;
    }
    return best;
}

// Cuts what is over off, if it is worth it.
static void block_split(struct pool *pool, struct block *block, uint32_t size)
{
    if (block->size < size + 2 * UNIT)
        return;
    uint32_t rest = block->size - size;
    block->size = size;
    struct block *over = block_next(pool, block);
    over->size = rest;
    over->before = size;
    over->state = FREE;
    over->wanted = 0;
    struct block *next = block_next(pool, over);
    if (next != NULL)
        next->before = rest;
    pool->splits++;
}

// Joins a block with the one that follows it.
static void block_join(struct pool *pool, struct block *block)
{
    struct block *gone = block_next(pool, block);
    struct block *next = block_next(pool, gone);
    block->size += gone->size;
    if (next != NULL)
        next->before = block->size;
    pool->joins++;
}

static struct block *pool_take(struct pool *pool, uint32_t bytes)
{
    uint32_t size = units(bytes);
    struct block *block = block_choose(pool, size);
    if (block == NULL) {
        pool->refused++;
        return NULL;
    }
    block_split(pool, block, size);
    block->state = USED;
    block->wanted = bytes;
    return block;
}

static void pool_give(struct pool *pool, struct block *block)
{
    block->state = FREE;
    block->wanted = 0;
    struct block *next = block_next(pool, block);
    if (next != NULL && next->state == FREE)
        block_join(pool, block);
    struct block *before = block_before(pool, block);
    if (before != NULL && before->state == FREE)
        block_join(pool, before);
}

// Makes a block larger or smaller, where it is if there is room behind it; else it moves.
static struct block *pool_resize(struct pool *pool, struct block *block, uint32_t bytes)
{
    uint32_t size = units(bytes);
    struct block *next = block_next(pool, block);
    if (size <= block->size) {
        block->wanted = bytes;
        return block;
    }
    if (next != NULL && next->state == FREE && block->size + next->size >= size - UNIT) {
        block_join(pool, block);
        block_split(pool, block, size);
        block->wanted = bytes;
        return block;
    }
    struct block *moved = pool_take(pool, bytes);
    if (moved == NULL)
        return NULL;
    memcpy(content(moved), content(block), block->wanted);
    pool_give(pool, block);
    return moved;
}

// ---- Commands

static void command_new(struct pool *pool, int id, uint32_t size)
{
    if (pool->held[id] != NULL) {
        printf("%d is there\n", id);
        return;
    }
    pool->held[id] = pool_take(pool, size);
    if (pool->held[id] == NULL)
        printf("%d: no room\n", id);
    else
        memset(content(pool->held[id]), '.', size);
}

static void command_grow(struct pool *pool, int id, uint32_t size)
{
    uint32_t before = pool->held[id]->wanted;
    struct block *block = pool_resize(pool, pool->held[id], size);
    if (block == NULL) {
        printf("%d: no room\n", id);
        return;
    }
    pool->held[id] = block;
    if (size > before)
        memset(content(block) + before, '+', size - before);
}

static void command_show(struct pool *pool, int id)
{
    const struct block *block = pool->held[id];
    unsigned sum = 0;
    for (uint32_t i = 0; i < block->wanted; i++)
        sum = sum * 31 + content(pool->held[id])[i];
    printf("%d: %u bytes at %u, sum %08x\n", id, block->wanted, offset_of(pool, block), sum);
}

static void command_map(const struct pool *pool)
{
    int blocks = 0;
    uint32_t free_bytes = 0, largest = 0;
    for (const struct block *block = block_at(pool, 0); block != NULL;
         block = block_next(pool, block)) {
        blocks++;
        if (block->state != FREE)
            continue;
        free_bytes += block->size;
        if (block->size > largest)
            largest = block->size;
    }
    printf("%d blocks, %u free, largest %u\n", blocks, free_bytes, largest);
}

static void command(struct pool *pool, const char *line)
{
    char word[16], argument[16] = "";
    int id = -1;
    int count = sscanf(line, "%15s %d %15s", word, &id, argument);
    int size = atoi(argument);
    if (count < 1)
        return;
    if (strcmp(word, "map") == 0) {
        command_map(pool);
        return;
    }
    if (id < 0 || id >= ID_MOST || size < 0 || size > ARENA_MOST) {
        puts("bad number");
        return;
    }
    if (strcmp(word, "new") == 0 && count == 3) {
        command_new(pool, id, (uint32_t)size);
    } else if (pool->held[id] == NULL) {
        printf("%d is not there\n", id);
    } else if (strcmp(word, "free") == 0) {
        pool_give(pool, pool->held[id]);
        pool->held[id] = NULL;
    } else if (strcmp(word, "grow") == 0 && count == 3) {
        command_grow(pool, id, (uint32_t)size);
    } else if (strcmp(word, "fill") == 0 && count == 3) {
        memset(content(pool->held[id]), argument[0], pool->held[id]->wanted);
    } else if (strcmp(word, "show") == 0) {
        command_show(pool, id);
    } else {
        puts("what?");
    }
}

int main(int argc, char **argv)
{
    struct pool pool = {.size = 1024};
    char line[64];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-f") == 0)
            pool.first_fit = true;
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            pool.size = (uint32_t)atoi(argv[++i]) / UNIT * UNIT;
    }
    if (pool.size < 4 * UNIT || pool.size > ARENA_MOST)
        pool.size = 1024;
    pool.arena = calloc(1, pool.size);
    if (pool.arena == NULL)
        return 3;
    block_at(&pool, 0)->size = pool.size;
    block_at(&pool, 0)->state = FREE;
    for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
        command(&pool, line);
        if (number % 8 == 0)
            pool_check(&pool);
    }
    pool_check(&pool);
    command_map(&pool);
    printf("%d splits, %d joins, %d refused\n", pool.splits, pool.joins, pool.refused);
    free(pool.arena);
    return 0;
}

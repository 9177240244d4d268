// SPDX-License-Identifier: Apache-2.0
#include "common/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

enum { ARENA_ALIGN = _Alignof(max_align_t) };

/* Chunks double from the first size to the last; a larger piece gets a chunk of its own. */
enum { ARENA_FIRST_CHUNK = 4096, ARENA_LAST_CHUNK = 1 << 20 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size;
    _Alignas(max_align_t) char data[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena)ARENA_INIT;
}

void arena_clear(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    arena_init(arena);
}

void arena_deinit(struct arena *arena)
{
    arena_clear(arena);
}

static struct arena_chunk *arena_chunk_create(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct arena_chunk))
        alloc_fail(size);
    struct arena_chunk *chunk = xcalloc(1, sizeof(*chunk) + size);
    chunk->size = size;
    return chunk;
}

/* A piece too large for what is left: its own chunk goes below the newest, which stays in use. */
static void *arena_alloc_large(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena_chunk_create(size);
    if (arena->chunks) {
        chunk->older = arena->chunks->older;
        arena->chunks->older = chunk;
    } else {
        arena->chunks = chunk;
    }
    return chunk->data;
}

static void arena_grow(struct arena *arena)
{
    size_t size = ARENA_FIRST_CHUNK;
    if (arena->chunks && arena->chunks->size >= ARENA_FIRST_CHUNK)
        size = arena->chunks->size * 2;
    if (size > ARENA_LAST_CHUNK)
        size = ARENA_LAST_CHUNK;
    struct arena_chunk *chunk = arena_chunk_create(size);
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk->data;
    arena->left = size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGN)
        alloc_fail(size);
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (size == 0)
        size = ARENA_ALIGN;
    arena->used += size;
    if (size > arena->left) {
        if (size > ARENA_FIRST_CHUNK / 4)
            return arena_alloc_large(arena, size);
        arena_grow(arena);
    }
    assert(size <= arena->left);
    void *piece = arena->next;
    arena->next += size;
    arena->left -= size;
    return piece;
}

void *arena_alloc_many(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        alloc_fail(SIZE_MAX);
    return arena_alloc(arena, bytes);
}

void *arena_memdup(struct arena *arena, const void *data, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return arena_memdup(arena, string, strlen(string) + 1);
}

char *arena_strndup(struct arena *arena, const char *string, size_t length)
{
    size_t actual = strnlen(string, length);
    char *copy = arena_alloc(arena, actual + 1);
    memcpy(copy, string, actual);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    char *string = arena_alloc(arena, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(string, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return string;
}

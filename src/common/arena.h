// SPDX-License-Identifier: Apache-2.0
/*
 * An arena: memory that is handed out piece by piece and thrown away whole.
 *
 *     struct arena arena;
 *     arena_init(&arena);
 *     struct rule *rules = arena_alloc_array(&arena, count, struct rule);
 *     const char *name = arena_printf(&arena, "%s#%u", function, index);
 *     arena_deinit(&arena);
 *
 * Pieces are zero-filled, aligned for any type, and stay where they are until arena_clear or
 * arena_deinit. Nothing is freed singly. There are no destructors: what is put into an arena owns
 * nothing outside of it.
 */
#ifndef INQUEST_COMMON_ARENA_H
#define INQUEST_COMMON_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *next;                 /* free space in the newest chunk */
    size_t left;
    size_t used; /* bytes handed out, for statistics */
};

#define ARENA_INIT {NULL, NULL, 0, 0}

void arena_init(struct arena *arena);
void arena_deinit(struct arena *arena);
/* All pieces are gone; the arena can be used again. */
void arena_clear(struct arena *arena);

void *arena_alloc(struct arena *arena, size_t size) __attribute__((__returns_nonnull__));
/* The product is checked. */
void *arena_alloc_many(struct arena *arena, size_t count, size_t size)
    __attribute__((__returns_nonnull__));
#define arena_alloc_array(arena, count, type)                                                      \
    ((type *)arena_alloc_many((arena), (count), sizeof(type)))
#define arena_alloc_one(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

void *arena_memdup(struct arena *arena, const void *data, size_t size)
    __attribute__((__returns_nonnull__));
char *arena_strdup(struct arena *arena, const char *string) __attribute__((__returns_nonnull__));
/* At most length bytes, always NUL-terminated. */
char *arena_strndup(struct arena *arena, const char *string, size_t length)
    __attribute__((__returns_nonnull__));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 2, 3)));

/* Bytes handed out since the last clear. */
static inline size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

#define _cleanup_arena_ __attribute__((__cleanup__(arena_deinit)))

#endif

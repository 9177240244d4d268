// SPDX-License-Identifier: Apache-2.0
/*
 * Allocation that does not fail: where there is no memory the tool says so and exits with 2.
 *
 *     struct node *nodes = xmalloc_array(count, sizeof(*nodes));
 *     ...
 *     free(nodes);
 *
 * Every function gives memory to be freed with free(). A size of 0 gives a unique pointer.
 * Sizes that come out of a file are checked against that file's size before they get here: a
 * corrupt count is bad input (struct error), not lack of memory.
 */
#ifndef INQUEST_COMMON_ALLOC_H
#define INQUEST_COMMON_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

/* Say "out of memory" and exit with 2. */
void alloc_fail(size_t size) __attribute__((__noreturn__, __cold__));

void *xmalloc(size_t size) __attribute__((__malloc__, __returns_nonnull__));
/* Zero-filled; the product is checked. */
void *xcalloc(size_t count, size_t size) __attribute__((__malloc__, __returns_nonnull__));
/* Not filled; the product is checked. */
void *xmalloc_array(size_t count, size_t size) __attribute__((__malloc__, __returns_nonnull__));
void *xrealloc(void *pointer, size_t size) __attribute__((__returns_nonnull__));
/* The product is checked. */
void *xrealloc_array(void *pointer, size_t count, size_t size) __attribute__((__returns_nonnull__));

char *xstrdup(const char *string) __attribute__((__malloc__, __returns_nonnull__));
/* At most length bytes, always NUL-terminated. */
char *xstrndup(const char *string, size_t length) __attribute__((__malloc__, __returns_nonnull__));
void *xmemdup(const void *data, size_t size) __attribute__((__malloc__, __returns_nonnull__));

char *xasprintf(const char *format, ...)
    __attribute__((__malloc__, __returns_nonnull__, __format__(__printf__, 1, 2)));
char *xvasprintf(const char *format, va_list arguments)
    __attribute__((__malloc__, __returns_nonnull__, __format__(__printf__, 1, 0)));

#endif

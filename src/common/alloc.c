// SPDX-License-Identifier: Apache-2.0
#include "common/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void alloc_fail(size_t size)
{
    if (size)
        fprintf(stderr, "inquest: out of memory (%zu bytes were asked for)\n", size);
    else
        fputs("inquest: out of memory\n", stderr);
    exit(2);
}

static size_t alloc_product(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        alloc_fail(SIZE_MAX);
    return bytes;
}

void *xmalloc(size_t size)
{
    void *pointer = malloc(size ? size : 1);
    if (!pointer)
        alloc_fail(size);
    return pointer;
}

void *xcalloc(size_t count, size_t size)
{
    size_t bytes = alloc_product(count, size);
    void *pointer = calloc(1, bytes ? bytes : 1);
    if (!pointer)
        alloc_fail(bytes);
    return pointer;
}

void *xmalloc_array(size_t count, size_t size)
{
    return xmalloc(alloc_product(count, size));
}

void *xrealloc(void *pointer, size_t size)
{
    void *moved = realloc(pointer, size ? size : 1);
    if (!moved)
        alloc_fail(size);
    return moved;
}

void *xrealloc_array(void *pointer, size_t count, size_t size)
{
    return xrealloc(pointer, alloc_product(count, size));
}

void *xmemdup(const void *data, size_t size)
{
    void *copy = xmalloc(size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *xstrdup(const char *string)
{
    return xmemdup(string, strlen(string) + 1);
}

char *xstrndup(const char *string, size_t length)
{
    size_t actual = strnlen(string, length);
    char *copy = xmalloc(actual + 1);
    memcpy(copy, string, actual);
    copy[actual] = '\0';
    return copy;
}

char *xvasprintf(const char *format, va_list arguments)
{
    char *string;
    if (vasprintf(&string, format, arguments) < 0)
        alloc_fail(0);
    return string;
}

char *xasprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *string = xvasprintf(format, arguments);
    va_end(arguments);
    return string;
}

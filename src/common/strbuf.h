// SPDX-License-Identifier: Apache-2.0
/*
 * A string that grows.
 *
 *     struct strbuf text = STRBUF_INIT;
 *     strbuf_printf(&text, "%s:%u", file, line);
 *     strbuf_append(&text, " in ");
 *     puts(text.data);
 *     strbuf_deinit(&text);
 *
 * data is never NULL and always NUL-terminated at length (it may hold NULs before that). It lives
 * until the next change.
 */
#ifndef INQUEST_COMMON_STRBUF_H
#define INQUEST_COMMON_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data;
    size_t length;
    size_t capacity; /* 0 while data is the shared empty string */
};

/* What data points to before the first change; never written to. */
extern char strbuf_empty[1];

#define STRBUF_INIT {strbuf_empty, 0, 0}

void strbuf_init(struct strbuf *buffer);
void strbuf_deinit(struct strbuf *buffer);
/* Keeps the memory. */
void strbuf_clear(struct strbuf *buffer);
/* Room for extra more bytes and the NUL. */
void strbuf_reserve(struct strbuf *buffer, size_t extra);
/* length may not be more than it is. */
void strbuf_truncate(struct strbuf *buffer, size_t length);

void strbuf_append(struct strbuf *buffer, const char *string);
void strbuf_append_bytes(struct strbuf *buffer, const void *data, size_t size);
void strbuf_append_char(struct strbuf *buffer, char character);
void strbuf_append_repeated(struct strbuf *buffer, char character, size_t count);
void strbuf_printf(struct strbuf *buffer, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));
void strbuf_vprintf(struct strbuf *buffer, const char *format, va_list arguments)
    __attribute__((__format__(__printf__, 2, 0)));

/* string with control characters, backslashes and bytes that are not UTF-8 as \n, \t, \\ or \xNN.
 */
void strbuf_append_escaped(struct strbuf *buffer, const char *string);

/* The string, now the caller's to free; the buffer is empty. */
char *strbuf_steal(struct strbuf *buffer) __attribute__((__returns_nonnull__));

#define _cleanup_strbuf_ __attribute__((__cleanup__(strbuf_deinit)))

#endif

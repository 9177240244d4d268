// SPDX-License-Identifier: Apache-2.0
#include "common/strbuf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

char strbuf_empty[1];

void strbuf_init(struct strbuf *buffer)
{
    *buffer = (struct strbuf)STRBUF_INIT;
}

void strbuf_deinit(struct strbuf *buffer)
{
    if (buffer->capacity)
        free(buffer->data);
    strbuf_init(buffer);
}

void strbuf_clear(struct strbuf *buffer)
{
    strbuf_truncate(buffer, 0);
}

void strbuf_truncate(struct strbuf *buffer, size_t length)
{
    assert(length <= buffer->length);
    buffer->length = length;
    if (buffer->capacity)
        buffer->data[length] = '\0';
}

void strbuf_reserve(struct strbuf *buffer, size_t extra)
{
    if (extra > SIZE_MAX / 2 - buffer->length)
        alloc_fail(extra);
    size_t needed = buffer->length + extra + 1;
    if (needed <= buffer->capacity)
        return;
    size_t grown = buffer->capacity + buffer->capacity / 2;
    if (grown < 32)
        grown = 32;
    if (grown < needed)
        grown = needed;
    buffer->data = xrealloc(buffer->capacity ? buffer->data : NULL, grown);
    buffer->capacity = grown;
    buffer->data[buffer->length] = '\0';
}

void strbuf_append_bytes(struct strbuf *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    strbuf_reserve(buffer, size);
    memcpy(buffer->data + buffer->length, data, size);
    buffer->length += size;
    buffer->data[buffer->length] = '\0';
}

void strbuf_append(struct strbuf *buffer, const char *string)
{
    strbuf_append_bytes(buffer, string, strlen(string));
}

void strbuf_append_char(struct strbuf *buffer, char character)
{
    strbuf_append_bytes(buffer, &character, 1);
}

void strbuf_append_repeated(struct strbuf *buffer, char character, size_t count)
{
    if (count == 0)
        return;
    strbuf_reserve(buffer, count);
    memset(buffer->data + buffer->length, character, count);
    buffer->length += count;
    buffer->data[buffer->length] = '\0';
}

void strbuf_vprintf(struct strbuf *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    strbuf_reserve(buffer, 64);
    size_t room = buffer->capacity - buffer->length;
    int length = vsnprintf(buffer->data + buffer->length, room, format, arguments);
    assert(length >= 0);
    if ((size_t)length >= room) {
        strbuf_reserve(buffer, (size_t)length);
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    buffer->length += (size_t)length;
}

void strbuf_printf(struct strbuf *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    strbuf_vprintf(buffer, format, arguments);
    va_end(arguments);
}

/* How many bytes the UTF-8 sequence at bytes has; 0 where there is none. Stops at a NUL. */
static size_t strbuf_utf8_length(const unsigned char *bytes)
{
    unsigned lead = bytes[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xed && bytes[1] > 0x9f) ||
        (lead == 0xf0 && bytes[1] < 0x90) || (lead == 0xf4 && bytes[1] > 0x8f))
        return 0;
    /* C1 controls (U+0080 to U+009F) can drive terminals. */
    if (lead == 0xc2 && bytes[1] < 0xa0)
        return 0;
    return length;
}

void strbuf_append_escaped(struct strbuf *buffer, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    while (*at) {
        size_t length = strbuf_utf8_length(at);
        if (*at == '\n' || *at == '\t' || *at == '\\') {
            char text[2] = {'\\', *at == '\n' ? 'n' : *at == '\t' ? 't' : '\\'};
            strbuf_append_bytes(buffer, text, 2);
            at++;
        } else if (length == 0 || *at < 0x20 || *at == 0x7f) {
            strbuf_printf(buffer, "\\x%02x", *at);
            at++;
        } else {
            strbuf_append_bytes(buffer, at, length);
            at += length;
        }
    }
}

char *strbuf_steal(struct strbuf *buffer)
{
    strbuf_reserve(buffer, 0);
    char *data = buffer->data;
    strbuf_init(buffer);
    return data;
}

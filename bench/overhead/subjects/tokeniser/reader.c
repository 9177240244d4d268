// SPDX-License-Identifier: Apache-2.0
#include "tokeniser.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_all(struct reader *reader, FILE *file)
{
    size_t room = 0;
    for (;;) {
        if (reader->size == room) {
            room = room ? room * 2 : 1 << 16;
            char *grown = realloc(reader->data, room);
            if (!grown)
                return false;
            reader->data = grown;
        }
        size_t got = fread(reader->data + reader->size, 1, room - reader->size, file);
        if (!got)
            return !ferror(file);
        reader->size += got;
    }
}

bool reader_open(struct reader *reader, const char *path)
{
    *reader = (struct reader){.line = 1, .column = 1};
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    bool done = read_all(reader, file);
    fclose(file);
    return done;
}

void reader_close(struct reader *reader)
{
    free(reader->data);
    reader->data = NULL;
}

bool reader_at_end(const struct reader *reader)
{
    return reader->at >= reader->size;
}

static int byte_at(const struct reader *reader, size_t at)
{
    return at < reader->size ? (unsigned char)reader->data[at] : -1;
}

int reader_peek(const struct reader *reader)
{
    return byte_at(reader, reader->at);
}

int reader_peek_second(const struct reader *reader)
{
    return byte_at(reader, reader->at + 1);
}

static void advance_position(struct reader *reader, int c)
{
    if (c == '\n') {
        reader->line++;
        reader->column = 1;
    } else {
        reader->column++;
    }
}

/* A backslash before the end of a line joins it with the next one. */
static bool skip_joint(struct reader *reader)
{
    if (reader_peek(reader) != '\\' || reader_peek_second(reader) != '\n')
        return false;
    reader->at += 2;
    reader->line++;
    reader->column = 1;
    return true;
}

int reader_next(struct reader *reader)
{
    if (reader_at_end(reader))
        return -1;
    int c = reader_peek(reader);
    reader->at++;
    advance_position(reader, c);
    while (skip_joint(reader))
        continue;
    return c;
}

bool reader_accept(struct reader *reader, int wanted)
{
    if (reader_peek(reader) != wanted)
        return false;
    reader_next(reader);
    return true;
}

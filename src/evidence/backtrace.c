// SPDX-License-Identifier: Apache-2.0
#include "evidence/backtrace.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "evidence/backtrace_text.h"

// Longer lines are no frames.
#define LINE_MAX_LENGTH 65536u

enum { READER_GDB, READER_SANITIZER, READER_GLIBC, READERS };

static const char *const names[READERS] = {"gdb's", "the sanitizer's", "the program's own"};

void backtrace_destroy(struct backtrace *backtrace)
{
    if (!backtrace)
        return;
    arena_deinit(&backtrace->arena);
    free(backtrace);
}

// Without colours ("\033[33m") and other control characters.
static void clean_line(struct strbuf *line, const char *at, const char *end)
{
    strbuf_clear(line);
    if ((size_t)(end - at) > LINE_MAX_LENGTH)
        return;
    for (; at < end; at++) {
        if (*at == '\033' && at + 1 < end && at[1] == '[') {
            at += 2;
            while (at < end && (*at < '@' || *at > '~'))
                at++;
            continue;
        }
        if (*at == '\t' || (unsigned char)*at >= ' ')
            strbuf_append_char(line, *at);
    }
}

static void read_lines(const char *text, size_t length, struct backtrace_reader *readers)
{
    struct gdb_reader *gdb = gdb_reader_create(&readers[READER_GDB]);
    struct sanitizer_reader *sanitizer = sanitizer_reader_create(&readers[READER_SANITIZER]);
    struct glibc_reader *glibc = glibc_reader_create(&readers[READER_GLIBC]);
    const char *at = text, *end = text + length;
    _cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
    for (uint32_t number = 1; at < end; number += number < UINT32_MAX) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        clean_line(&line, at, stop ? stop : end);
        gdb_reader_line(gdb, line.data, number);
        sanitizer_reader_line(sanitizer, line.data, number);
        glibc_reader_line(glibc, line.data, number);
        at = stop ? stop + 1 : end;
    }
    gdb_reader_finish(gdb);
    sanitizer_reader_finish(sanitizer);
    glibc_reader_finish(glibc);
}

// A debugger looks from outside and last; what the program printed of itself is older.
static struct error *choose(struct backtrace_reader *readers, const char *file, int *ret)
{
    const char *reason = NULL;
    uint32_t line = 0;
    for (int i = 0; i < READERS; i++) {
        if (readers[i].problem) {
            struct error *err = readers[i].problem;
            readers[i].problem = NULL;
            return error_in_file(err, file);
        }
        if (readers[i].stacks.length) {
            *ret = i;
            return NULL;
        }
        if (readers[i].reason && !reason) {
            reason = readers[i].reason;
            line = readers[i].first_line;
        }
    }
    if (reason)
        return error_create_at_line(ERROR_NOT_FOUND, file, line, "no stack of the failure: %s",
                                    reason);
    return error_create_file(ERROR_NOT_FOUND, file, "no stack is in it");
}

static void warn_of_others(struct backtrace_reader *readers, int chosen)
{
    for (int i = 0; i < READERS; i++) {
        if (i != chosen && readers[i].stacks.length)
            reader_warn(&readers[chosen], "%s stack on line %u is used, %s on line %u is not",
                        names[chosen], readers[chosen].first_line, names[i], readers[i].first_line);
    }
}

// "space::type<a::b>::name(int) const" is "name", as debug information has it.
static const char *plain_name(struct arena *arena, const char *name)
{
    const char *start = name, *end = name + strlen(name);
    int depth = 0;
    if (!strpbrk(name, ":(") || strstr(name, "operator"))
        return name;
    for (const char *at = name; at < end; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth == 0 && at[0] == ':' && at[1] == ':')
            start = at + 2;
        else if (depth == 0 && *at == '(' && at > start)
            end = at;
    }
    return start < end ? arena_strndup(arena, start, (size_t)(end - start)) : name;
}

static void simplify_names(struct arena *arena, const struct backtrace_stack_vec *stacks)
{
    for (size_t s = 0; s < stacks->length; s++) {
        for (uint32_t i = 0; i < stacks->data[s].frame_count; i++) {
            struct backtrace_frame *frame = &stacks->data[s].frames[i];
            if (frame->function)
                frame->function = plain_name(arena, frame->function);
        }
    }
}

static void keep(struct backtrace *backtrace, struct backtrace_reader *reader)
{
    struct arena *arena = &backtrace->arena;
    simplify_names(arena, &reader->stacks);
    backtrace->dialect = reader->dialect;
    backtrace->stack_count = (uint32_t)reader->stacks.length;
    backtrace->stacks = arena_memdup(arena, reader->stacks.data,
                                     reader->stacks.length * sizeof(*reader->stacks.data));
    backtrace->signal = reader->signal;
    backtrace->command = reader->command;
    backtrace->pid = reader->pid;
    backtrace->warning_count = (uint32_t)reader->warnings.length;
    backtrace->warnings =
        arena_memdup(arena, reader->warnings.data ? (void *)reader->warnings.data : "",
                     reader->warnings.length * sizeof(*reader->warnings.data));
}

struct error *backtrace_read(const char *text, size_t length, const char *file,
                             struct backtrace **ret)
{
    struct backtrace *backtrace = xcalloc(1, sizeof(*backtrace));
    struct backtrace_reader readers[READERS] = {{0}};
    int chosen = 0;
    arena_init(&backtrace->arena);
    for (int i = 0; i < READERS; i++)
        readers[i].arena = &backtrace->arena;
    read_lines(text, length, readers);
    struct error *err = choose(readers, file, &chosen);
    if (!err) {
        warn_of_others(readers, chosen);
        keep(backtrace, &readers[chosen]);
    }
    for (int i = 0; i < READERS; i++) {
        backtrace_warning_vec_deinit(&readers[i].warnings);
        backtrace_stack_vec_deinit(&readers[i].stacks);
        error_destroy(readers[i].problem);
    }
    if (err) {
        backtrace_destroy(backtrace);
        return err;
    }
    *ret = backtrace;
    return NULL;
}

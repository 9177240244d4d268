// SPDX-License-Identifier: Apache-2.0
#include "evidence/backtrace_text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

// A time stamp and the name of a job, as logs put them before each line.
#define PREFIX_MAX 80

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *text_skip(const char *at, const char *word)
{
    size_t length = strlen(word);
    return at && strncmp(at, word, length) == 0 ? at + length : NULL;
}

const char *text_spaces(const char *at)
{
    while (at && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

const char *text_number(const char *at, uint32_t *ret)
{
    uint64_t value = 0;
    if (!at || !is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return NULL;
    }
    *ret = (uint32_t)value;
    return at;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *text_hex(const char *at, uint64_t *ret)
{
    uint64_t value = 0;
    at = text_skip(at, "0x");
    if (!at || hex_digit(*at) < 0)
        return NULL;
    for (; hex_digit(*at) >= 0; at++) {
        if (value >> 60)
            return NULL;
        value = value << 4 | (uint64_t)hex_digit(*at);
    }
    *ret = value;
    return at;
}

bool text_begins(const char *line, const char *word)
{
    return text_skip(line, word) != NULL;
}

bool text_ends(const char *line, const char *word)
{
    size_t length = strlen(line), tail = strlen(word);
    return tail <= length && strcmp(line + length - tail, word) == 0;
}

bool text_find_number(const char *line, const char *word, uint32_t *ret)
{
    const char *found = strstr(line, word);
    return found && text_number(found + strlen(word), ret);
}

bool text_find_hex(const char *line, const char *word, uint64_t *ret)
{
    const char *found = strstr(line, word);
    return found && text_hex(found + strlen(word), ret);
}

const char *text_frame_number(const char *line, uint32_t *number, bool *is_plain)
{
    bool plain = true;
    for (const char *at = line; *at && at - line < PREFIX_MAX; at++) {
        bool starts = at == line || strchr(" \t>|-", at[-1]);
        if (*at == '#' && starts) {
            const char *behind = text_number(at + 1, number);
            if (behind && (*behind == ' ' || *behind == '\t')) {
                *is_plain = plain;
                return text_spaces(behind);
            }
        }
        plain &= *at == ' ' || *at == '\t' || *at == '>';
    }
    return NULL;
}

bool text_place(struct arena *arena, const char *at, size_t length, struct backtrace_frame *frame)
{
    uint32_t numbers[2] = {0, 0}, count = 0;
    while (count < 2) {
        size_t digits = 0;
        while (digits < length && is_digit(at[length - digits - 1]))
            digits++;
        if (digits == 0 || digits + 1 >= length || at[length - digits - 1] != ':' ||
            !text_number(at + length - digits, &numbers[count]))
            break;
        length -= digits + 1;
        count++;
    }
    if (count == 0)
        return false;
    frame->line = numbers[count - 1];
    frame->column = count == 2 ? numbers[0] : 0;
    frame->file = arena_strndup(arena, at, length);
    return true;
}

void reader_warn(struct backtrace_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = xvasprintf(format, arguments);
    va_end(arguments);
    backtrace_warning_vec_push(&reader->warnings, arena_strdup(reader->arena, text));
    free(text);
}

void reader_keep_stack(struct backtrace_reader *reader, const struct backtrace_frame_vec *frames,
                       struct backtrace_stack stack)
{
    stack.frames = arena_memdup(reader->arena, frames->data ? (void *)frames->data : "",
                                frames->length * sizeof(*frames->data));
    stack.frame_count = (uint32_t)frames->length;
    backtrace_stack_vec_push(&reader->stacks, stack);
}

int backtrace_signal_number(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"SEGV", SIGSEGV}, {"BUS", SIGBUS},   {"ABRT", SIGABRT}, {"FPE", SIGFPE},
        {"ILL", SIGILL},   {"TRAP", SIGTRAP}, {"SYS", SIGSYS},   {"INT", SIGINT},
        {"TERM", SIGTERM}, {"KILL", SIGKILL}, {"QUIT", SIGQUIT}, {"HUP", SIGHUP},
        {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
        {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},
    };
    if (length > 3 && strncmp(name, "SIG", 3) == 0) {
        name += 3;
        length -= 3;
    }
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strlen(signals[i].name) == length && strncmp(signals[i].name, name, length) == 0)
            return signals[i].number;
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_prefix.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum prefix_kind {
    PREFIX_PRIORITY = 1, // <13>
    PREFIX_TIME,
    PREFIX_HOST,
    PREFIX_PROGRAM, // prog[123]:
    PREFIX_LEVEL,
    PREFIX_BRACKET, // [anything short]
};

struct cursor {
    const char *at, *end;
};

static bool take_char(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool take_any(struct cursor *cursor, const char *set)
{
    if (cursor->at == cursor->end || !*cursor->at || !strchr(set, *cursor->at))
        return false;
    cursor->at++;
    return true;
}

// Between `least` and `most` digits.
static bool take_digits(struct cursor *cursor, size_t least, size_t most)
{
    size_t count = 0;
    while (cursor->at + count < cursor->end && count <= most &&
           isdigit((unsigned char)cursor->at[count]))
        count++;
    if (count < least || count > most)
        return false;
    cursor->at += count;
    return true;
}

static size_t take_spaces(struct cursor *cursor)
{
    const char *start = cursor->at;
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
    return (size_t)(cursor->at - start);
}

// One of the words of a list between blanks, in this case or in capitals; the longest first.
static bool take_word(struct cursor *cursor, const char *words)
{
    while (*words) {
        size_t size = strcspn(words, " ");
        size_t left = (size_t)(cursor->end - cursor->at);
        if (size && left >= size && strncasecmp(words, cursor->at, size) == 0 &&
            (left == size || !isalnum((unsigned char)cursor->at[size]))) {
            cursor->at += size;
            return true;
        }
        words += size + (words[size] == ' ');
    }
    return false;
}

static const char months[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
static const char days[] = "Mon Tue Wed Thu Fri Sat Sun";
static const char levels[] =
    "emergency emerg panic alert critical crit fatal severe error err warning warn notice "
    "information info debug trace verbose fine finer finest e w i d t v f";

static void take_fraction(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (take_any(&next, ".,") && take_digits(&next, 1, 9))
        *cursor = next;
}

static void take_zone(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (take_char(&next, 'Z')) {
        *cursor = next;
        return;
    }
    take_spaces(&next);
    if (take_any(&next, "+-") && take_digits(&next, 2, 4)) {
        if (take_char(&next, ':') && !take_digits(&next, 2, 2))
            return;
        *cursor = next;
        return;
    }
    next = *cursor;
    if (take_spaces(&next) && take_word(&next, "UTC GMT CET CEST EST EDT CST CDT PST PDT"))
        *cursor = next;
}

// 12:00:00, with a fraction and a zone
static bool take_clock(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (!take_digits(&next, 1, 2) || !take_char(&next, ':') || !take_digits(&next, 2, 2) ||
        !take_char(&next, ':') || !take_digits(&next, 2, 2))
        return false;
    take_fraction(&next);
    take_zone(&next);
    *cursor = next;
    return true;
}

// 2024-03-01, 2024/03/01, 01.03.2024, 03/01/24
static bool take_date(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (take_digits(&next, 4, 4) && take_any(&next, "-/.") && take_digits(&next, 2, 2) &&
        take_any(&next, "-/.") && take_digits(&next, 2, 2)) {
        *cursor = next;
        return true;
    }
    next = *cursor;
    if (!take_digits(&next, 1, 2) || !take_any(&next, "-/.") || !take_digits(&next, 1, 2) ||
        !take_any(&next, "-/.") || (!take_digits(&next, 4, 4) && !take_digits(&next, 2, 2)))
        return false;
    *cursor = next;
    return true;
}

// "Mon Mar  1 12:00:00 2024", "Mar  1 12:00:00", "01/Mar/2024:12:00:00 +0100"
static bool take_named_date(struct cursor *cursor)
{
    struct cursor next = *cursor, year;
    if (take_word(&next, days)) {
        take_char(&next, ',');
        take_spaces(&next);
    }
    if (take_word(&next, months) && take_spaces(&next) && take_digits(&next, 1, 2) &&
        take_spaces(&next) && take_clock(&next)) {
        year = next;
        if (take_spaces(&year) && take_digits(&year, 4, 4))
            next = year;
        *cursor = next;
        return true;
    }
    next = *cursor;
    if (!take_digits(&next, 1, 2) || !take_any(&next, "/-") || !take_word(&next, months) ||
        !take_any(&next, "/-") || !take_digits(&next, 2, 4) || !take_any(&next, ": ") ||
        !take_clock(&next))
        return false;
    *cursor = next;
    return true;
}

// Seconds since the Epoch, or with a fraction since the start.
static bool take_seconds(struct cursor *cursor)
{
    struct cursor next = *cursor;
    const char *start = next.at;
    if (!take_digits(&next, 1, 19))
        return false;
    size_t digits = (size_t)(next.at - start);
    const char *whole = next.at;
    take_fraction(&next);
    if (next.at == whole && digits < 9)
        return false;
    *cursor = next;
    return true;
}

static bool take_time(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (take_named_date(cursor))
        return true;
    if (take_date(&next)) {
        struct cursor clock = next;
        if ((take_any(&clock, "Tt_:-") || take_spaces(&clock)) && take_clock(&clock))
            next = clock;
        *cursor = next;
        return true;
    }
    return take_clock(cursor) || take_seconds(cursor);
}

// The time, in brackets or not.
static bool take_framed_time(struct cursor *cursor)
{
    struct cursor next = *cursor;
    char close = '\0';
    if (take_char(&next, '['))
        close = ']';
    else if (take_char(&next, '('))
        close = ')';
    if (close)
        take_spaces(&next);
    if (!take_time(&next))
        return false;
    if (close && !take_char(&next, close))
        return false;
    *cursor = next;
    return true;
}

static bool take_priority(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (!take_char(&next, '<') || !take_digits(&next, 1, 3) || !take_char(&next, '>'))
        return false;
    *cursor = next;
    return true;
}

static bool take_name(struct cursor *cursor, const char *also)
{
    const char *start = cursor->at;
    while (cursor->at < cursor->end && cursor->at - start < 64 && *cursor->at &&
           (isalnum((unsigned char)*cursor->at) || strchr(also, *cursor->at)))
        cursor->at++;
    return cursor->at > start;
}

// "prog:", "prog[123]:", "prog(123):"
static bool take_program(struct cursor *cursor, int64_t *ret_pid)
{
    struct cursor next = *cursor;
    int64_t pid = 0;
    if (!take_name(&next, "_-./@"))
        return false;
    char close = take_char(&next, '[') ? ']' : take_char(&next, '(') ? ')' : '\0';
    if (close) {
        const char *digits = next.at;
        if (!take_digits(&next, 1, 10) || !take_char(&next, close))
            return false;
        for (; isdigit((unsigned char)*digits); digits++)
            pid = pid * 10 + (*digits - '0');
    }
    if (!take_char(&next, ':'))
        return false;
    *cursor = next;
    *ret_pid = pid;
    return true;
}

static bool take_level(struct cursor *cursor)
{
    struct cursor next = *cursor;
    char close = take_char(&next, '[')   ? ']'
                 : take_char(&next, '<') ? '>'
                 : take_char(&next, '(') ? ')'
                                         : '\0';
    if (!take_word(&next, levels))
        return false;
    if (close ? (take_spaces(&next), !take_char(&next, close))
              : next.at < next.end && !strchr(" \t:|-", *next.at))
        return false;
    *cursor = next;
    return true;
}

static bool take_bracket(struct cursor *cursor)
{
    struct cursor next = *cursor;
    char close = take_char(&next, '[') ? ']' : take_char(&next, '(') ? ')' : '\0';
    if (!close)
        return false;
    take_spaces(&next);
    if (!take_name(&next, "_-./@:#+, ") || !take_char(&next, close))
        return false;
    *cursor = next;
    return true;
}

// What may stand between two of them.
static bool take_separator(struct cursor *cursor)
{
    const char *start = cursor->at;
    take_spaces(cursor);
    struct cursor next = *cursor;
    if (take_any(&next, ":-|") && (next.at == next.end || *next.at == ' ' || *next.at == '\t')) {
        take_spaces(&next);
        *cursor = next;
    }
    return cursor->at > start;
}

static bool add_end(struct log_prefix *prefix, struct cursor *cursor, const char *start,
                    enum prefix_kind kind)
{
    if (!take_separator(cursor) && kind != PREFIX_PRIORITY && kind != PREFIX_BRACKET)
        return false;
    if (prefix->count == LOG_PREFIX_MOST)
        return false;
    prefix->ends[prefix->count++] = (size_t)(cursor->at - start);
    return true;
}

// What comes next behind `last`; 0: nothing that is known.
static enum prefix_kind take_next(struct cursor *cursor, enum prefix_kind last, int64_t *ret_pid)
{
    struct cursor host = *cursor, program;
    if (last == 0 && take_priority(cursor))
        return PREFIX_PRIORITY;
    if (take_framed_time(cursor))
        return PREFIX_TIME;
    if (take_level(cursor))
        return PREFIX_LEVEL;
    if (take_bracket(cursor))
        return PREFIX_BRACKET;
    if (last == PREFIX_TIME && take_name(&host, "_-.:")) {
        program = host;
        int64_t unused;
        if (take_spaces(&program) && take_program(&program, &unused)) {
            *cursor = host;
            return PREFIX_HOST;
        }
    }
    if (last != PREFIX_PROGRAM && take_program(cursor, ret_pid))
        return PREFIX_PROGRAM;
    return (enum prefix_kind)0;
}

// Levels and brackets alone are the program's own.
static bool may_be_first(enum prefix_kind kind, int64_t pid)
{
    return kind == PREFIX_PRIORITY || kind == PREFIX_TIME || (kind == PREFIX_PROGRAM && pid);
}

void log_prefix_read(const char *bytes, size_t length, struct log_prefix *ret)
{
    struct cursor cursor = {bytes, bytes + length};
    enum prefix_kind last = (enum prefix_kind)0;
    *ret = (struct log_prefix){0};
    do {
        struct cursor next = cursor;
        int64_t pid = 0;
        last = take_next(&next, last, &pid);
        if (!last || (ret->count == 0 && !may_be_first(last, pid)) ||
            !add_end(ret, &next, bytes, last))
            return;
        if (pid)
            ret->pid = pid;
        cursor = next;
    } while (cursor.at < cursor.end);
}

// SPDX-License-Identifier: Apache-2.0
/* Replaces what matches a pattern, line by line, as the change filter of Kernighan and Plauger's
 * Software Tools does and the subject 'replace' of the Siemens suite after it; written anew.
 *
 * A subject of the overhead benchmark: matching is a recursion over functions of a few lines each,
 * all in one file and none of them static, so that the compiler may inline them and must keep them
 * as well. Use:
 *
 *     replacer FILE PATTERN REPLACEMENT [PATTERN REPLACEMENT]...
 *
 * Patterns:      c        that character          ?        any character
 *                %        the line's begin        $        the line's end
 *                [a-z]    one of a set            [^a-z]   one not in it
 *                X*       any number of X         @c       c itself; @t a tab, @n a newline
 * Replacements:  &        what matched            @c       as above
 *
 * A compiled pattern is a string of units, each with its kind first:
 *
 *     CHARACTER c, ANY, BEGIN, END, SET n c1..cn, NOT_SET n c1..cn, MANY followed by the unit
 *     that is repeated
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, PAIRS = 32, DITTO = 1 };
enum unit_kind {
    CHARACTER = 'c',
    ANY = '?',
    BEGIN = '%',
    END = '$',
    SET = '[',
    NOT_SET = '!',
    MANY = '*'
};

/* Text that grows up to LONGEST; what does not fit is remembered as an overflow. */
struct buffer {
    unsigned char bytes[LONGEST];
    int length;
    bool overflow;
};

struct pair {
    struct buffer pattern;
    struct buffer replacement;
};

struct totals {
    unsigned long lines;
    unsigned long changed;
    unsigned long replaced;
};

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->overflow = false;
}

void buffer_add(struct buffer *buffer, int c)
{
    if (buffer->length < LONGEST)
        buffer->bytes[buffer->length++] = (unsigned char)c;
    else
        buffer->overflow = true;
}

int buffer_at(const struct buffer *buffer, int at)
{
    return at < buffer->length ? buffer->bytes[at] : -1;
}

/* Reading patterns and replacements: 'at' goes from character to character of the source. */

int peek(const char *source, int at)
{
    return (unsigned char)source[at];
}

int take(const char *source, int *at)
{
    return (unsigned char)source[(*at)++];
}

int take_escaped(const char *source, int *at)
{
    int c = take(source, at);
    if (c != '@' || !peek(source, *at))
        return c;
    c = take(source, at);
    return c == 't' ? '\t' : c == 'n' ? '\n' : c;
}

bool is_same_class(int low, int high)
{
    bool digits = low >= '0' && high <= '9';
    bool small = low >= 'a' && high <= 'z';
    bool large = low >= 'A' && high <= 'Z';
    return digits || small || large;
}

bool is_range(const char *source, int at, int low)
{
    int high = peek(source, at) == '-' ? peek(source, at + 1) : 0;
    return high && low <= high && is_same_class(low, high);
}

void add_range(struct buffer *pattern, int low, int high)
{
    for (int c = low; c <= high; c++)
        buffer_add(pattern, c);
}

void make_set_element(struct buffer *pattern, const char *source, int *at)
{
    int low = take_escaped(source, at);
    if (!is_range(source, *at, low)) {
        buffer_add(pattern, low);
        return;
    }
    take(source, at);
    add_range(pattern, low, take(source, at));
}

bool make_set(struct buffer *pattern, const char *source, int *at)
{
    bool negated = peek(source, *at) == '^';
    if (negated)
        take(source, at);
    buffer_add(pattern, negated ? NOT_SET : SET);
    int count_at = pattern->length;
    buffer_add(pattern, 0);
    while (peek(source, *at) && peek(source, *at) != ']')
        make_set_element(pattern, source, at);
    int count = pattern->length - count_at - 1;
    if (pattern->overflow || count > 255 || take(source, at) != ']')
        return false;
    pattern->bytes[count_at] = (unsigned char)count;
    return true;
}

bool is_repeatable(const struct buffer *pattern, int unit)
{
    int kind = buffer_at(pattern, unit);
    return kind == CHARACTER || kind == ANY || kind == SET || kind == NOT_SET;
}

void make_repeated(struct buffer *pattern, int unit)
{
    buffer_add(pattern, 0);
    if (pattern->overflow)
        return;
    memmove(pattern->bytes + unit + 1, pattern->bytes + unit, (size_t)(pattern->length - unit - 1));
    pattern->bytes[unit] = MANY;
}

void make_character(struct buffer *pattern, int c)
{
    buffer_add(pattern, CHARACTER);
    buffer_add(pattern, c);
}

/* One unit; last is where the unit before it stands, or -1. */
bool make_unit(struct buffer *pattern, const char *source, int *at, int last)
{
    int c = peek(source, *at);
    if (c == '%' && *at == 0)
        buffer_add(pattern, BEGIN);
    else if (c == '$' && !peek(source, *at + 1))
        buffer_add(pattern, END);
    else if (c == '?')
        buffer_add(pattern, ANY);
    else if (c == '*' && last >= 0 && is_repeatable(pattern, last))
        make_repeated(pattern, last);
    else if (c != '[') {
        make_character(pattern, take_escaped(source, at));
        return true;
    }
    take(source, at);
    return c != '[' || make_set(pattern, source, at);
}

bool pattern_make(struct buffer *pattern, const char *source)
{
    int at = 0, last = -1;
    buffer_clear(pattern);
    while (peek(source, at)) {
        int unit = pattern->length;
        if (!make_unit(pattern, source, &at, last))
            return false;
        last = unit;
    }
    return !pattern->overflow;
}

/* DITTO stands for what matched; a character that happens to be DITTO is not supported. */
bool replacement_make(struct buffer *replacement, const char *source)
{
    int at = 0;
    buffer_clear(replacement);
    while (peek(source, at)) {
        bool ditto = peek(source, at) == '&';
        int c = take_escaped(source, &at);
        buffer_add(replacement, ditto ? DITTO : c);
    }
    return !replacement->overflow;
}

/* Matching. */

int unit_size(const struct buffer *pattern, int unit)
{
    switch (buffer_at(pattern, unit)) {
    case CHARACTER:
        return 2;
    case SET:
    case NOT_SET:
        return 2 + buffer_at(pattern, unit + 1);
    default:
        return 1;
    }
}

bool set_has(const struct buffer *pattern, int unit, int c)
{
    for (int i = buffer_at(pattern, unit + 1); i > 0; i--) {
        if (buffer_at(pattern, unit + 1 + i) == c)
            return true;
    }
    return false;
}

bool is_end(const struct buffer *line, int at)
{
    return at >= line->length;
}

bool unit_accepts(const struct buffer *pattern, int unit, int c)
{
    switch (buffer_at(pattern, unit)) {
    case CHARACTER:
        return c == buffer_at(pattern, unit + 1);
    case ANY:
        return true;
    case SET:
        return set_has(pattern, unit, c);
    case NOT_SET:
        return !set_has(pattern, unit, c);
    default:
        return false;
    }
}

/* Whether one unit matches at *at, which then is behind what it matched. */
bool match_unit(const struct buffer *line, int *at, const struct buffer *pattern, int unit)
{
    int kind = buffer_at(pattern, unit);
    if (kind == BEGIN)
        return *at == 0;
    if (kind == END)
        return is_end(line, *at);
    if (is_end(line, *at) || !unit_accepts(pattern, unit, buffer_at(line, *at)))
        return false;
    ++*at;
    return true;
}

int match_from(const struct buffer *line, int at, const struct buffer *pattern, int unit);

/* As many as there are, then one less each time until the rest matches. */
int match_many(const struct buffer *line, int at, const struct buffer *pattern, int unit)
{
    int behind = at, rest = unit + unit_size(pattern, unit);
    while (match_unit(line, &behind, pattern, unit))
        continue;
    for (; behind >= at; behind--) {
        int end = match_from(line, behind, pattern, rest);
        if (end >= 0)
            return end;
    }
    return -1;
}

/* The end of what the pattern, from a unit on, matches at this place, or -1. */
int match_from(const struct buffer *line, int at, const struct buffer *pattern, int unit)
{
    while (unit < pattern->length) {
        if (buffer_at(pattern, unit) == MANY)
            return match_many(line, at, pattern, unit + 1);
        if (!match_unit(line, &at, pattern, unit))
            return -1;
        unit += unit_size(pattern, unit);
    }
    return at;
}

/* Replacing. */

void add_replacement(struct buffer *result, const struct pair *pair, const struct buffer *line,
                     int start, int end)
{
    for (int i = 0; i < pair->replacement.length; i++) {
        int c = buffer_at(&pair->replacement, i);
        if (c != DITTO) {
            buffer_add(result, c);
            continue;
        }
        for (int at = start; at < end; at++)
            buffer_add(result, buffer_at(line, at));
    }
}

/* An empty match is replaced too, but not where the match before it ended. */
unsigned long replace_line(struct buffer *result, const struct buffer *line,
                           const struct pair *pair)
{
    unsigned long count = 0;
    int at = 0, last_end = -1;
    buffer_clear(result);
    while (at <= line->length) {
        int end = match_from(line, at, &pair->pattern, 0);
        if (end >= 0 && end != last_end) {
            add_replacement(result, pair, line, at, end);
            last_end = end;
            count++;
        }
        if (end > at) {
            at = end;
        } else {
            if (!is_end(line, at))
                buffer_add(result, buffer_at(line, at));
            at++;
        }
    }
    return count;
}

bool read_line(struct buffer *line, FILE *file)
{
    buffer_clear(line);
    int c = getc_unlocked(file);
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(file))
        buffer_add(line, c);
    return true;
}

void write_line(const struct buffer *line)
{
    for (int i = 0; i < line->length; i++)
        putchar_unlocked(buffer_at(line, i));
    putchar_unlocked('\n');
}

/* Two buffers take turns; returns the one with the result. */
struct buffer *apply_pairs(struct buffer *from, struct buffer *to, const struct pair *pairs,
                           int pair_count, struct totals *totals)
{
    unsigned long before = totals->replaced;
    for (int i = 0; i < pair_count; i++) {
        totals->replaced += replace_line(to, from, &pairs[i]);
        struct buffer *swapped = from;
        from = to;
        to = swapped;
    }
    totals->lines++;
    totals->changed += totals->replaced != before;
    return from;
}

void replace_file(FILE *file, const struct pair *pairs, int pair_count, struct totals *totals)
{
    static struct buffer line, other;
    while (read_line(&line, file))
        write_line(apply_pairs(&line, &other, pairs, pair_count, totals));
}

void stop(const char *problem, const char *subject)
{
    fprintf(stderr, "replacer: %s '%s'\n", problem, subject);
    exit(2);
}

int main(int argc, char **argv)
{
    static struct pair pairs[PAIRS];
    struct totals totals = {0};
    int pair_count = (argc - 2) / 2;
    if (argc < 4 || argc % 2 || pair_count > PAIRS)
        stop("usage: replacer FILE PATTERN REPLACEMENT...; wrong number of arguments for", argv[0]);
    for (int i = 0; i < pair_count; i++) {
        if (!pattern_make(&pairs[i].pattern, argv[2 + 2 * i]))
            stop("bad pattern", argv[2 + 2 * i]);
        if (!replacement_make(&pairs[i].replacement, argv[3 + 2 * i]))
            stop("replacement too long:", argv[3 + 2 * i]);
    }
    FILE *file = fopen(argv[1], "r");
    if (!file)
        stop("cannot read", argv[1]);
    replace_file(file, pairs, pair_count, &totals);
    fclose(file);
    printf("%lu lines, %lu changed, %lu replaced\n", totals.lines, totals.changed, totals.replaced);
    return 0;
}

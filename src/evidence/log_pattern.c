// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_pattern.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/hash.h"
#include "common/strbuf.h"

static struct log_pattern of_element(struct arena *arena, struct log_element element)
{
    return (struct log_pattern){arena_memdup(arena, &element, sizeof(element)), 1};
}

struct log_pattern log_pattern_literal(struct arena *arena, const char *bytes, size_t length)
{
    if (length == 0)
        return (struct log_pattern){NULL, 0};
    assert(length < UINT32_MAX);
    return of_element(arena, (struct log_element){
                                 .kind = LOG_LITERAL, .bytes = bytes, .length = (uint32_t)length});
}

struct log_pattern log_pattern_hole(struct arena *arena, enum log_class class)
{
    bool is_open = class == LOG_LINE || class == LOG_TEXT;
    return of_element(arena, (struct log_element){.kind = LOG_HOLE,
                                                  .class = (uint8_t)class,
                                                  .may_be_empty = is_open,
                                                  .length = class == LOG_CHAR ? 1 : LOG_ENDLESS});
}

struct log_pattern log_pattern_parameter(struct arena *arena, enum log_element_kind kind,
                                         uint32_t parameter)
{
    return of_element(arena, (struct log_element){.kind = (uint8_t)kind, .parameter = parameter});
}

// "ab" and "c" side by side are "abc".
static struct log_element join_literals(struct arena *arena, const struct log_element *a,
                                        const struct log_element *b)
{
    char *bytes = arena_alloc(arena, (size_t)a->length + b->length);
    memcpy(bytes, a->bytes, a->length);
    memcpy(bytes + a->length, b->bytes, b->length);
    return (struct log_element){
        .kind = LOG_LITERAL, .bytes = bytes, .length = a->length + b->length};
}

struct log_pattern log_pattern_join(struct arena *arena, struct log_pattern a, struct log_pattern b)
{
    if (a.count == 0 || b.count == 0)
        return a.count ? a : b;
    bool meet = a.elements[a.count - 1].kind == LOG_LITERAL && b.elements[0].kind == LOG_LITERAL;
    uint32_t count = a.count + b.count - meet;
    struct log_element *elements = arena_alloc_array(arena, count, struct log_element);
    memcpy(elements, a.elements, a.count * sizeof(*elements));
    memcpy(elements + a.count, b.elements + meet, (b.count - meet) * sizeof(*elements));
    if (meet)
        elements[a.count - 1] = join_literals(arena, &a.elements[a.count - 1], &b.elements[0]);
    return (struct log_pattern){elements, count};
}

static bool element_equal(const struct log_element *a, const struct log_element *b)
{
    return a->kind == b->kind && a->class == b->class && a->may_be_empty == b->may_be_empty &&
           a->parameter == b->parameter && a->length == b->length &&
           (a->kind != LOG_LITERAL || memcmp(a->bytes, b->bytes, a->length) == 0);
}

bool log_pattern_equal(struct log_pattern a, struct log_pattern b)
{
    if (a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++) {
        if (!element_equal(&a.elements[i], &b.elements[i]))
            return false;
    }
    return true;
}

uint64_t log_pattern_hash(struct log_pattern pattern)
{
    uint64_t hash = HASH_SEED;
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        hash = hash_u64(hash, (uint64_t)e->kind << 32 | (uint64_t)e->class << 8 | e->may_be_empty);
        hash = hash_u64(hash, (uint64_t)e->parameter << 32 | e->length);
        if (e->kind == LOG_LITERAL)
            hash = hash_bytes(hash, e->bytes, e->length);
    }
    return hash_mix(hash);
}

bool log_pattern_has_parameter(struct log_pattern pattern)
{
    for (uint32_t i = 0; i < pattern.count; i++) {
        if (pattern.elements[i].kind == LOG_FORMAT_OF || pattern.elements[i].kind == LOG_TEXT_OF)
            return true;
    }
    return false;
}

uint32_t log_pattern_weight(struct log_pattern pattern)
{
    uint32_t weight = 0;
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        for (uint32_t c = 0; e->kind == LOG_LITERAL && c < e->length; c++)
            weight += !isspace((unsigned char)e->bytes[c]);
    }
    return weight;
}

uint32_t log_pattern_bound(struct log_pattern pattern)
{
    uint64_t bound = 0;
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        if ((e->kind != LOG_LITERAL && e->kind != LOG_HOLE) || e->length == LOG_ENDLESS)
            return LOG_ENDLESS;
        bound += e->length;
    }
    return bound < LOG_ENDLESS ? (uint32_t)bound : LOG_ENDLESS;
}

// ---- Alternatives

static bool holds_line_break(struct log_pattern pattern)
{
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        if (e->kind == LOG_LITERAL
                ? memchr(e->bytes, '\n', e->length) != NULL
                : e->kind != LOG_HOLE || e->class == LOG_TEXT || e->class == LOG_CHAR)
            return true;
    }
    return false;
}

// One hole for all of them.
static void widen(struct arena *arena, struct log_patterns *patterns)
{
    bool breaks = false;
    for (size_t i = 0; i < patterns->length; i++)
        breaks |= holds_line_break(patterns->data[i]);
    log_patterns_clear(patterns);
    log_patterns_push(patterns, log_pattern_hole(arena, breaks ? LOG_TEXT : LOG_LINE));
}

void log_patterns_add(struct arena *arena, struct log_patterns *patterns,
                      struct log_pattern pattern)
{
    for (size_t i = 0; i < patterns->length; i++) {
        if (log_pattern_equal(patterns->data[i], pattern))
            return;
    }
    log_patterns_push(patterns, pattern);
    if (patterns->length > LOG_ALTERNATIVES)
        widen(arena, patterns);
}

void log_patterns_join(struct arena *arena, struct log_patterns *patterns,
                       const struct log_patterns *more)
{
    struct log_patterns wide = VEC_INIT, product = VEC_INIT;
    if (more->length > 1 && patterns->length * more->length > LOG_ALTERNATIVES) {
        for (size_t i = 0; i < more->length; i++)
            log_patterns_push(&wide, more->data[i]);
        widen(arena, &wide);
        more = &wide;
    }
    for (size_t i = 0; i < patterns->length; i++) {
        for (size_t j = 0; j < more->length; j++)
            log_patterns_add(arena, &product,
                             log_pattern_join(arena, patterns->data[i], more->data[j]));
    }
    log_patterns_deinit(patterns);
    log_patterns_deinit(&wide);
    *patterns = product;
}

static void append_one(struct arena *arena, struct log_patterns *patterns, struct log_pattern one)
{
    for (size_t i = 0; i < patterns->length; i++)
        patterns->data[i] = log_pattern_join(arena, patterns->data[i], one);
}

void log_patterns_join_literal(struct arena *arena, struct log_patterns *patterns, const char *text)
{
    append_one(arena, patterns, log_pattern_literal(arena, text, strlen(text)));
}

void log_patterns_join_hole(struct arena *arena, struct log_patterns *patterns,
                            enum log_class class)
{
    append_one(arena, patterns, log_pattern_hole(arena, class));
}

// ---- Formats (C17 7.21.6.1, with what glibc adds)

struct conversion {
    const char *at, *end;
    uint32_t argument;  // number of the next one
    bool is_positional; // "%2$s": numbers are not counted
    bool is_sized;      // has a width or a precision
    bool is_varied;     // one of them is an argument
    bool has_precision;
    bool is_local; // ' or I: as the locale has it
    bool is_long;  // l: of a string, wide characters
    uint32_t size; // the largest width or precision
};

static void read_number(struct conversion *conversion)
{
    uint32_t value = 0;
    for (; conversion->at < conversion->end && isdigit((unsigned char)*conversion->at);
         conversion->at++)
        value = value < 100000 ? value * 10 + (uint32_t)(*conversion->at - '0') : value;
    conversion->is_sized = true;
    if (value > conversion->size)
        conversion->size = value;
}

// A width or precision behind * or as digits, and "2$" behind them.
static void read_size(struct conversion *conversion)
{
    const char *start = conversion->at;
    if (conversion->at < conversion->end && *conversion->at == '*') {
        conversion->at++;
        conversion->argument++;
        conversion->is_sized = conversion->is_varied = true;
        while (conversion->at < conversion->end && isdigit((unsigned char)*conversion->at))
            conversion->at++;
    } else if (conversion->at < conversion->end && isdigit((unsigned char)*conversion->at)) {
        read_number(conversion);
    }
    if (conversion->at > start && conversion->at < conversion->end && *conversion->at == '$') {
        conversion->at++;
        conversion->is_positional = true;
        conversion->is_sized = conversion->is_varied;
    }
}

static void read_flags(struct conversion *conversion)
{
    for (;
         conversion->at < conversion->end && *conversion->at && strchr("-+ #0'I", *conversion->at);
         conversion->at++)
        conversion->is_local |= *conversion->at == '\'' || *conversion->at == 'I';
}

// Everything between % and the letter.
static void read_conversion(struct conversion *conversion)
{
    read_size(conversion); // the number of "%2$s"
    read_flags(conversion);
    read_size(conversion);
    if (conversion->at < conversion->end && *conversion->at == '.') {
        conversion->at++;
        conversion->has_precision = conversion->is_sized = true;
        read_size(conversion);
    }
    for (;
         conversion->at < conversion->end && *conversion->at && strchr("hljztLqZ", *conversion->at);
         conversion->at++)
        conversion->is_long |= *conversion->at == 'l';
}

static struct log_element number_hole(const struct conversion *conversion, enum log_class class)
{
    struct log_element hole = {.kind = LOG_HOLE, .class = (uint8_t)class, .length = LOG_ENDLESS};
    hole.may_be_empty = conversion->has_precision; // "%.0d" of 0
    if (conversion->is_local)
        hole.class = LOG_LINE;
    if (!conversion->is_varied && class != LOG_FLOAT)
        hole.length = conversion->size + 26; // 22 octal digits of 64 bits, a sign, "0x"
    return hole;
}

static void append_text(struct arena *arena, const struct conversion *conversion,
                        const struct log_arguments *arguments, struct log_patterns *out)
{
    struct log_patterns texts = VEC_INIT;
    bool is_plain = !conversion->is_sized && !conversion->is_positional && !conversion->is_long;
    if (arguments && is_plain)
        arguments->text(arguments->context, conversion->argument, &texts);
    if (texts.length)
        log_patterns_join(arena, out, &texts);
    else
        log_patterns_join_hole(arena, out, LOG_TEXT);
    log_patterns_deinit(&texts);
}

// One conversion, `at` behind the %. Behind it on return.
static void append_conversion(struct arena *arena, struct conversion *conversion,
                              const struct log_arguments *arguments, struct log_patterns *out)
{
    read_conversion(conversion);
    char letter = conversion->at < conversion->end ? *conversion->at++ : '\0';
    struct log_element hole = {0};
    switch (letter) {
    case '%':
        log_patterns_join_literal(arena, out, "%");
        return;
    case 'n':
        conversion->argument++;
        return;
    case 'm':
        log_patterns_join_hole(arena, out, LOG_LINE);
        return;
    case 's':
        append_text(arena, conversion, arguments, out);
        conversion->argument++;
        return;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
        hole = number_hole(conversion, LOG_INTEGER);
        break;
    case 'x':
    case 'X':
        hole = number_hole(conversion, LOG_HEX);
        break;
    case 'p':
        hole = number_hole(conversion, LOG_POINTER);
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        hole = number_hole(conversion, LOG_FLOAT);
        break;
    case 'c':
        if (conversion->is_sized || conversion->is_long)
            log_patterns_join_hole(arena, out, LOG_TEXT);
        else
            log_patterns_join_hole(arena, out, LOG_CHAR);
        conversion->argument++;
        return;
    default: // wide texts, what programs registered, what is no format
        log_patterns_join_hole(arena, out, LOG_TEXT);
        conversion->argument++;
        return;
    }
    append_one(arena, out, of_element(arena, hole));
    conversion->argument++;
}

void log_format_parse(struct arena *arena, const char *format, size_t length,
                      const struct log_arguments *arguments, struct log_patterns *out)
{
    struct log_patterns made = VEC_INIT;
    const char *at = format, *end = format + length;
    uint32_t argument = 0;
    bool is_positional = false;
    log_patterns_push(&made, (struct log_pattern){NULL, 0});
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at));
        const char *stop = percent ? percent : end;
        append_one(arena, &made, log_pattern_literal(arena, at, (size_t)(stop - at)));
        if (!percent)
            break;
        struct conversion conversion = {
            .at = percent + 1, .end = end, .argument = argument, .is_positional = is_positional};
        append_conversion(arena, &conversion, arguments, &made);
        at = conversion.at;
        argument = conversion.argument;
        is_positional = conversion.is_positional;
    }
    for (size_t i = 0; i < made.length; i++)
        log_patterns_add(arena, out, made.data[i]);
    log_patterns_deinit(&made);
}

// ---- Text

void log_pattern_print(struct log_pattern pattern, struct strbuf *text)
{
    static const char *const classes[LOG_CLASS_COUNT] = {
        "<integer>", "<hex>", "<float>", "<pointer>", "<char>", "<line>", "<text>"};

    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        switch ((enum log_element_kind)e->kind) {
        case LOG_LITERAL: {
            char *copy = xstrndup(e->bytes, e->length);
            strbuf_append_escaped(text, copy);
            free(copy);
            break;
        }
        case LOG_HOLE:
            strbuf_append(text, classes[e->class]);
            break;
        case LOG_FORMAT_OF:
            strbuf_printf(text, "<format %u>", e->parameter);
            break;
        case LOG_TEXT_OF:
            strbuf_printf(text, "<text %u>", e->parameter);
            break;
        }
    }
}

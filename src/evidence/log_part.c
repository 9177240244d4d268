// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_part.h"

#include <ctype.h>

#include "common/arena.h"

#define MOST_PARTS 64

bool log_pattern_has_text(struct log_pattern pattern)
{
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        if (e->kind == LOG_HOLE && (e->class == LOG_TEXT || e->class == LOG_CHAR))
            return true;
    }
    return false;
}

bool log_pattern_is_free(struct log_pattern pattern)
{
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        for (uint32_t c = 0; e->kind == LOG_LITERAL && c < e->length; c++) {
            if (e->bytes[c] != '\n')
                return false;
        }
    }
    return log_pattern_has_text(pattern);
}

bool log_pattern_is_line(struct log_pattern pattern)
{
    const struct log_element *last = pattern.count ? &pattern.elements[pattern.count - 1] : NULL;
    if (!last || last->kind != LOG_LITERAL || log_pattern_is_free(pattern))
        return false;
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        const char *found = e->kind == LOG_LITERAL ? memchr(e->bytes, '\n', e->length) : NULL;
        if (found && (e != last || found != e->bytes + e->length - 1))
            return false;
    }
    return last->bytes[last->length - 1] == '\n';
}

// ---- Cutting

// The pattern with literals cut at line breaks; a break is a literal of length 0.
VEC_DEFINE(cut_elements, struct log_element);

static void cut_literal(const struct log_element *literal, struct cut_elements *out)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i <= literal->length; i++) {
        bool is_break = i < literal->length && literal->bytes[i] == '\n';
        if (i < literal->length && !is_break)
            continue;
        uint32_t end = i;
        if (is_break && end > start && literal->bytes[end - 1] == '\r')
            end--; // taken off lines as well
        if (end > start)
            cut_elements_push(out, (struct log_element){.kind = LOG_LITERAL,
                                                        .bytes = literal->bytes + start,
                                                        .length = end - start});
        if (is_break)
            cut_elements_push(out, (struct log_element){.kind = LOG_LITERAL});
        start = i + 1;
    }
}

static bool is_break(const struct log_element *element)
{
    return element->kind == LOG_LITERAL && element->length == 0;
}

static uint32_t weight_of(const struct log_element *elements, uint32_t count)
{
    return log_pattern_weight((struct log_pattern){elements, count});
}

// Elements first..last are a part.
static void add_part(const struct log_part *model, const struct log_element *elements,
                     uint32_t first, uint32_t last, bool ends_line, struct log_parts *out)
{
    struct log_part part = *model;
    part.elements = elements + first;
    part.count = last - first;
    part.weight = weight_of(part.elements, part.count);
    part.ends_line = ends_line;
    if (part.count > 0 || ends_line)
        log_parts_push(out, part);
}

// Texts are taken to hold no line break, but one at their end where the output ends with them (a
// line that was read, say); a character may be one.
static bool may_break(const struct log_element *elements, uint32_t count, uint32_t index)
{
    const struct log_element *e = &elements[index];
    return e->kind == LOG_HOLE &&
           (e->class == LOG_CHAR || (e->class == LOG_TEXT && index + 1 == count));
}

// All parts that begin with element `first`: up to the next line break for certain, and up to each
// possible one on the way.
static void add_parts(const struct log_part *model, const struct log_element *elements,
                      uint32_t count, uint32_t first, struct log_parts *out)
{
    for (uint32_t i = first; i < count; i++) {
        const struct log_element *e = &elements[i];
        if (is_break(e)) {
            add_part(model, elements, first, i, true, out);
            return;
        }
        if (may_break(elements, count, i))
            add_part(model, elements, first, e->class == LOG_CHAR ? i : i + 1, true, out);
    }
    add_part(model, elements, first, count, false, out);
}

bool log_parts_cut(struct arena *arena, struct log_pattern pattern, uint32_t output,
                   struct log_parts *out)
{
    struct cut_elements cut = VEC_INIT;
    size_t before = out->length;
    for (uint32_t i = 0; i < pattern.count; i++) {
        if (pattern.elements[i].kind == LOG_LITERAL)
            cut_literal(&pattern.elements[i], &cut);
        else
            cut_elements_push(&cut, pattern.elements[i]);
    }
    uint32_t count = (uint32_t)cut.length;
    if (count == 0)
        return true; // writes nothing
    const struct log_element *elements = arena_memdup(arena, cut.data, count * sizeof(*elements));
    cut_elements_deinit(&cut);
    for (uint32_t i = 0; i <= count && out->length - before <= MOST_PARTS * 4; i++) {
        const struct log_element *previous = i ? &elements[i - 1] : NULL;
        struct log_part model = {.output = output, .begins_output = i == 0};
        bool may_begin = !previous || is_break(previous) || may_break(elements, count, i - 1);
        if (may_begin && i < count)
            add_parts(&model, elements, count, i, out);
    }
    if (out->length - before <= MOST_PARTS * 4)
        return true;
    out->length = before;
    return false;
}

// ---- Matching

static bool fits(enum log_class class, unsigned char c)
{
    switch (class) {
    case LOG_INTEGER:
        return isdigit(c) || c == '-' || c == '+' || c == ' ';
    case LOG_HEX:
        return isxdigit(c) || c == 'x' || c == 'X' || c == ' ' || c == '-' || c == '+';
    case LOG_FLOAT: // digits of %a, inf, nan, any locale's point
        return isxdigit(c) || c >= 0x80 || (c && strchr("+- .,xXpPinINftyTY'()", c));
    case LOG_POINTER:
        return isxdigit(c) || (c && strchr("x() nil-+", c));
    case LOG_CHAR:
    case LOG_LINE:
    case LOG_TEXT:
    default:
        return true;
    }
}

// From the set of positions `at` (flags) to those behind a hole.
static void pass_hole(const struct log_element *hole, const char *line, uint32_t length,
                      uint8_t *at)
{
    uint8_t carried = 0; // in the hole, at least one character in
    for (uint32_t i = 0; i <= length; i++) {
        uint8_t here = at[i];
        at[i] = carried | (hole->may_be_empty && here);
        carried = i < length && (carried | here) &&
                  fits((enum log_class)hole->class, (unsigned char)line[i]);
    }
}

static void pass_char(uint32_t length, uint8_t *at)
{
    memmove(at + 1, at, length);
    at[0] = 0;
}

static void pass_literal(const struct log_element *literal, const char *line, uint32_t length,
                         uint8_t *at)
{
    uint32_t size = literal->length;
    for (uint32_t i = length + 1; i-- > 0;) {
        at[i] = i >= size && at[i - size] && memcmp(line + i - size, literal->bytes, size) == 0;
    }
}

uint32_t log_part_ends(const struct log_part *part, const char *line, uint32_t length, uint32_t at,
                       uint8_t *scratch, uint32_t *ends)
{
    uint32_t e = 0, count = 0;
    // What comes before the first hole has one place only.
    for (; e < part->count && part->elements[e].kind == LOG_LITERAL; e++) {
        uint32_t size = part->elements[e].length;
        if (length - at < size || memcmp(line + at, part->elements[e].bytes, size) != 0)
            return 0;
        at += size;
    }
    if (e == part->count) {
        if (part->ends_line && at != length)
            return 0;
        ends[0] = part->ends_line ? length + 1 : at;
        return 1;
    }
    // Positions from here on.
    const char *rest = line + at;
    uint32_t left = length - at;
    memset(scratch, 0, left + 1);
    scratch[0] = 1;
    for (; e < part->count; e++) {
        const struct log_element *element = &part->elements[e];
        if (element->kind == LOG_LITERAL)
            pass_literal(element, rest, left, scratch);
        else if (element->class == LOG_CHAR)
            pass_char(left, scratch);
        else
            pass_hole(element, rest, left, scratch);
    }
    if (part->ends_line) {
        ends[0] = length + 1;
        return scratch[left];
    }
    for (uint32_t i = 0; i <= left; i++) {
        if (scratch[i])
            ends[count++] = at + i;
    }
    return count;
}

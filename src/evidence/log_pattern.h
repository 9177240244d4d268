// SPDX-License-Identifier: Apache-2.0
/*
 * What an output of a program may look like: text that is known, and holes for what is not.
 *
 *     struct log_patterns formats = VEC_INIT;
 *     log_format_parse(&arena, "cannot open %s: %m\n", 20, NULL, &formats);
 *     // formats.data[0]: "cannot open ", LOG_TEXT, ": ", LOG_LINE, "\n"
 *     log_patterns_deinit(&formats);
 *
 * A pattern stands for a set of texts that holds every text the output can have: holes are never
 * too narrow. Where several known texts are possible there is a pattern for each (alternatives);
 * too many of them become a hole. While a function's outputs are put together a pattern may also
 * name the function's parameters, whose texts its callers know.
 *
 * Patterns are immutable, in an arena; literals point into the model or the arena.
 */
#ifndef EVIDENCE_LOG_PATTERN_H
#define EVIDENCE_LOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/vec.h"

struct arena;
struct strbuf;

enum log_class {
    LOG_INTEGER, // %d, %u, %o
    LOG_HEX,     // %x
    LOG_FLOAT,   // %f, %e, %g, %a, in any locale
    LOG_POINTER, // %p
    LOG_CHAR,    // one byte, a line break as well
    LOG_LINE,    // anything but a line break
    LOG_TEXT,    // anything
    LOG_CLASS_COUNT,
};

enum log_element_kind {
    LOG_LITERAL,
    LOG_HOLE,
    LOG_FORMAT_OF, // parameter `parameter` of the function at hand, as a format
    LOG_TEXT_OF,   // the same, as text
};

struct log_element {
    uint8_t kind;       // enum log_element_kind
    uint8_t class;      // enum log_class, of a hole
    bool may_be_empty;  // of a hole
    uint32_t parameter; // of the last two kinds
    const char *bytes;  // of a literal
    uint32_t length;    // of a literal, not 0; of a hole the most it can print, or LOG_ENDLESS
};

#define LOG_ENDLESS UINT32_MAX

struct log_pattern {
    const struct log_element *elements; // no two literals side by side
    uint32_t count;                     // 0: the empty text
};

VEC_DEFINE(log_patterns, struct log_pattern);

// More alternatives than this become one hole.
#define LOG_ALTERNATIVES 48

struct log_pattern log_pattern_literal(struct arena *arena, const char *bytes, size_t length);
struct log_pattern log_pattern_hole(struct arena *arena, enum log_class class);
struct log_pattern log_pattern_parameter(struct arena *arena, enum log_element_kind kind,
                                         uint32_t parameter);
struct log_pattern log_pattern_join(struct arena *arena, struct log_pattern a,
                                    struct log_pattern b);
bool log_pattern_equal(struct log_pattern a, struct log_pattern b);
uint64_t log_pattern_hash(struct log_pattern pattern);
bool log_pattern_has_parameter(struct log_pattern pattern);
// Characters of its literals that are no white space.
uint32_t log_pattern_weight(struct log_pattern pattern);
// The longest text it stands for, or LOG_ENDLESS.
uint32_t log_pattern_bound(struct log_pattern pattern);

// One more alternative, unless it is there.
void log_patterns_add(struct arena *arena, struct log_patterns *patterns,
                      struct log_pattern pattern);
// Each of *patterns followed by each of `more`.
void log_patterns_join(struct arena *arena, struct log_patterns *patterns,
                       const struct log_patterns *more);
void log_patterns_join_literal(struct arena *arena, struct log_patterns *patterns,
                               const char *text);
void log_patterns_join_hole(struct arena *arena, struct log_patterns *patterns,
                            enum log_class class);

// The texts that argument `index` of a format (from 0) may have, as alternatives added to `out`.
struct log_arguments {
    void (*text)(void *context, uint32_t index, struct log_patterns *out);
    void *context;
};

// What printf makes of a format; `arguments` NULL: of any arguments. Added to `out`.
void log_format_parse(struct arena *arena, const char *format, size_t length,
                      const struct log_arguments *arguments, struct log_patterns *out);

// For people and tests: literals escaped, <integer>, <text>, <format 1>.
void log_pattern_print(struct log_pattern pattern, struct strbuf *text);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * The words that the table of effects is written in (docs/library.md), one array an area:
 *
 *     const struct effects_entry effects_strings[] = {
 *         EFFECTS("strchr index", READS(AT(0), STRING), RETURNS_WITHIN(ARG(0))),
 *     };
 *
 * Names are separated by spaces; one that ends in * stands for all that begin like it.
 */
#ifndef ANALYSIS_EFFECTS_TABLE_H
#define ANALYSIS_EFFECTS_TABLE_H

#include <stddef.h>

#include "analysis/effects.h"

struct effects_entry {
    const char *names;
    struct effects effects;
};

// clang-format off
#define AREAS(X)                                                                                   \
    X(strings) X(wide) X(memory) X(stdio) X(formats) X(files) X(process) X(threads) X(time)        \
    X(locale) X(math) X(sockets) X(search) X(system) X(databases) X(compiler)
// clang-format on

#define DECLARE(area)                                                                              \
    extern const struct effects_entry effects_##area[];                                            \
    extern const uint32_t effects_##area##_count;
AREAS(DECLARE)
#undef DECLARE

#define AREA_END(area)                                                                             \
    const uint32_t effects_##area##_count = sizeof(effects_##area) / sizeof(*effects_##area);

// ---- Entries

#define ENTRY(names, never_returns, format, ...)                                                   \
    {                                                                                              \
        names,                                                                                     \
        {                                                                                          \
            (const struct effect[]){__VA_ARGS__},                                                  \
                sizeof((const struct effect[]){__VA_ARGS__}) / sizeof(struct effect),              \
                never_returns, format                                                              \
        }                                                                                          \
    }
#define EFFECTS(names, ...)        ENTRY(names, false, EFFECT_NO_ARGUMENT, __VA_ARGS__)
#define NEVER_RETURNS(names, ...)  ENTRY(names, true, EFFECT_NO_ARGUMENT, __VA_ARGS__)
#define PRINTS(names, format, ...) ENTRY(names, false, format, __VA_ARGS__)
#define NO_EFFECTS(names)                                                                          \
    {                                                                                              \
        names,                                                                                     \
        {                                                                                          \
            NULL, 0, false, EFFECT_NO_ARGUMENT                                                     \
        }                                                                                          \
    }
#define ENDS(names)                                                                                \
    {                                                                                              \
        names,                                                                                     \
        {                                                                                          \
            NULL, 0, true, EFFECT_NO_ARGUMENT                                                      \
        }                                                                                          \
    }

// ---- Places

#define NOTHING         {EFFECT_NOTHING, 0}
#define ARG(i)          {EFFECT_ARGUMENT, i}
#define AT(i)           {EFFECT_POINTEE, i}
#define AT_AT(i)        {EFFECT_POINTEE_POINTEE, i}
#define ALL_FROM(i)     {EFFECT_REACHABLE, i}
#define REST(i)         {EFFECT_VARIADIC, i}
#define AT_REST(i)      {EFFECT_VARIADIC_POINTEE, i}
#define LISTED(i)       {EFFECT_LISTED, i}
#define AT_LISTED(i)    {EFFECT_LISTED_POINTEE, i}
#define RESULT          {EFFECT_RESULT, 0}
#define AT_RESULT       {EFFECT_RESULT_POINTEE, 0}
#define STATE(state)    {EFFECT_STATE, EFFECT_STATE_##state}
#define AT_STATE(state) {EFFECT_STATE_POINTEE, EFFECT_STATE_##state}

// ---- Extents: always the last argument, since they have commas

#define ANY          {EFFECT_ANY_LENGTH, 0, 0}
#define BYTES(n)     {EFFECT_BYTES, n, 0}
#define TIMES(a)     {EFFECT_TIMES, a, EFFECT_NO_ARGUMENT}
#define TIMES2(a, b) {EFFECT_TIMES, a, b}
#define SCALED(a, n) {EFFECT_SCALED, a, n}
#define STRING       {EFFECT_STRING, 0, 0}

// ---- Effects

#define READS(place, ...)  {.kind = EFFECT_READ, .from = place, .extent = __VA_ARGS__}
#define WRITES(place, ...) {.kind = EFFECT_WRITE, .to = place, .extent = __VA_ARGS__}
#define SETS(place, ...)   {.kind = EFFECT_SETS, .to = place, .extent = __VA_ARGS__}
#define COPIES(a, b, ...)  {.kind = EFFECT_COPY, .from = a, .to = b, .extent = __VA_ARGS__}
#define MOVES(a, b, ...)                                                                           \
    {.kind = EFFECT_COPY, .moved = true, .from = a, .to = b, .extent = __VA_ARGS__}
#define ALLOCATES(place)      {.kind = EFFECT_ALLOCATES, .to = place}
#define RELEASES(place)       {.kind = EFFECT_RELEASES, .from = place}
#define RETURNS(place)        {.kind = EFFECT_RETURNS, .from = place}
#define RETURNS_WITHIN(place) {.kind = EFFECT_RETURNS, .moved = true, .from = place}
#define CALLS(place, ...)                                                                          \
    {                                                                                              \
        .kind = EFFECT_CALLS, .from = place, .arguments = { __VA_ARGS__ }                          \
    }
#define CALLS_WITHIN(place, ...)                                                                   \
    {                                                                                              \
        .kind = EFFECT_CALLS, .moved = true, .from = place, .arguments = { __VA_ARGS__ }           \
    }
#define CALLS_INTO(target, place, ...)                                                             \
    {                                                                                              \
        .kind = EFFECT_CALLS, .from = place, .to = target, .arguments = { __VA_ARGS__ }            \
    }

// ---- What is common

#define USES(state)     READS(STATE(state), ANY)
#define LEAVES(state)   WRITES(STATE(state), ANY)
#define CHANGES(state)  USES(state), LEAVES(state)
#define FAILS           LEAVES(ERRNO)
#define READS_STRING(i) READS(AT(i), STRING)
// System calls; those that take a path.
#define KERNEL  CHANGES(FILES), FAILS
#define PATH(i) READS_STRING(i), USES(PROCESS), KERNEL
// Reads and writes the first bytes of what argument i points to.
#define UPDATES(i, n) READS(AT(i), BYTES(n)), WRITES(AT(i), BYTES(n))
// Bytes that go to or come from files, with the pointers that are in them.
#define TO_FILE(i, ...)   READS(AT(i), __VA_ARGS__), MOVES(AT(i), STATE(FILES), __VA_ARGS__)
#define FROM_FILE(i, ...) WRITES(AT(i), __VA_ARGS__), MOVES(STATE(FILES), AT(i), __VA_ARGS__)
// Streams may have buffers of the program (setvbuf, fmemopen, open_memstream), and functions of
// the program (fopencookie), which get the stream's buffer or that of the caller.
#define COOKIES(place) CALLS(STATE(STREAMS), STATE(STREAMS), place)
#define STDIO                                                                                      \
    CHANGES(STREAMS), READS(AT_STATE(STREAMS), ANY), WRITES(AT_STATE(STREAMS), ANY),               \
        COOKIES(STATE(STREAMS)), KERNEL
#define STREAM(i) READS(AT(i), BYTES(216)), WRITES(AT(i), BYTES(216)), STDIO
// Memory of the heap.
#define ALLOCATOR CHANGES(HEAP), FAILS
// *i is a structure of the library's, with pointers to further memory that it owns.
#define ALLOCATES_STRUCTURE(i)                                                                     \
    ALLOCATES(AT(i)), WRITES(AT(i), ANY), MOVES(AT(i), AT_AT(i), ANY), ALLOCATOR

#endif

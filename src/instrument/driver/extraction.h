/*
 * Which members of archives a linker may take: those that define what is wanted, and what those
 * want in turn. Linkers differ in when they look where, so neither the order of inputs counts nor
 * what else defines a symbol: the result holds for GNU ld, gold and lld, and may be more than is
 * taken.
 *
 *     struct extraction extraction = EXTRACTION_INIT;
 *     extraction_want(&extraction, "printf");                 // every undefined symbol of objects
 *     uint32_t member = extraction_add_member(&extraction, &defined, &wanted);
 *     extraction_close(&extraction, &arena);
 *     if (extraction_may_take(&extraction, member))
 *             ...
 *     extraction_deinit(&extraction);
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_EXTRACTION_H
#define INQUEST_INSTRUMENT_DRIVER_EXTRACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/map.h"
#include "common/vec.h"

struct arena;
struct arguments;

MAP_DEFINE_STRING(symbol_numbers, uint32_t); /* 1 + number */
VEC_DEFINE(numbers, uint32_t);

struct extraction_symbol {
    const char *name;
    bool wanted;
    uint32_t definition; /* 1 + the first one, or 0 */
};
VEC_DEFINE(extraction_symbols, struct extraction_symbol);

struct extraction_definition {
    uint32_t member;
    uint32_t next; /* 1 + the next one of the same symbol, or 0 */
};
VEC_DEFINE(extraction_definitions, struct extraction_definition);

struct extraction_member {
    size_t first_want;
    size_t want_count; /* symbols in `wants` */
    bool may_be_taken;
};
VEC_DEFINE(extraction_members, struct extraction_member);

struct extraction {
    struct symbol_numbers numbers;
    struct extraction_symbols symbols;
    struct extraction_definitions definitions;
    struct extraction_members members;
    struct numbers wants;
    struct numbers work; /* symbols that are wanted, not looked at yet */
    bool all;            /* any symbol may be wanted: bitcode, and what cannot be read */
    bool wraps;          /* --wrap is there */
};

#define EXTRACTION_INIT {MAP_INIT, VEC_INIT, VEC_INIT, VEC_INIT, VEC_INIT, VEC_INIT, false, false}

void extraction_deinit(struct extraction *extraction);

/* Names are borrowed. */
void extraction_want(struct extraction *extraction, const char *name);
uint32_t extraction_add_member(struct extraction *extraction, const struct arguments *defined,
                               const struct arguments *wanted);
/* Once everything is known; the arena is for names. */
void extraction_close(struct extraction *extraction, struct arena *arena);
bool extraction_may_take(const struct extraction *extraction, uint32_t member);

#endif

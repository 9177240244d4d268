// SPDX-License-Identifier: Apache-2.0
// Sorting, searching, trees, patterns, options of the command line, obstacks.
#include "analysis/effects_table.h"

// Elements change places; comparison sees them where they are.
#define SORTS                                                                                      \
    READS(AT(0), TIMES2(1, 2)), WRITES(AT(0), TIMES2(1, 2)), MOVES(AT(0), AT(0), TIMES2(1, 2))

// Nodes of a tree: *1 and every node may point to every node, and holds a key.
#define TREE READS(AT(1), BYTES(8)), READS(AT_AT(1), ANY), CALLS(ARG(2), ARG(0), AT_AT(1))

// argv is put in order; what is found is in optarg and the rest of the state.
#define OPTIONS                                                                                    \
    READS(AT(1), SCALED(0, 8)), WRITES(AT(1), SCALED(0, 8)), MOVES(AT(1), AT(1), SCALED(0, 8)),    \
        READS(AT_AT(1), STRING), READS_STRING(2), MOVES(AT(1), STATE(TOKENS), SCALED(0, 8)),       \
        CHANGES(TOKENS), USES(ENVIRONMENT), USES(LOCALE), COOKIES(AT(1)), STDIO

// A compiled pattern owns memory that matching changes as well.
#define COMPILED(i)  READS(ALL_FROM(i), ANY), WRITES(ALL_FROM(i), ANY), CHANGES(HEAP), USES(LOCALE)
#define REGISTERS(i) UPDATES(i, 24), WRITES(AT_AT(i), ANY), RELEASES(AT(i)), ALLOCATES(AT(i))

// Chunks of an obstack come from functions that it holds, and point to one another.
#define OBSTACK                                                                                    \
    UPDATES(0, 88), READS(AT_AT(0), ANY), WRITES(AT_AT(0), ANY), MOVES(AT(0), AT(0), BYTES(88)),   \
        MOVES(AT(0), AT_AT(0), ANY), MOVES(AT_AT(0), AT(0), BYTES(88)),                            \
        MOVES(AT_AT(0), AT_AT(0), ANY), CALLS_INTO(AT(0), AT(0), AT(0), AT(0)),                    \
        CALLS_INTO(AT(0), AT(0), AT_AT(0), AT_AT(0))

const struct effects_entry effects_search[] = {
    EFFECTS("qsort", SORTS, CALLS_WITHIN(ARG(3), ARG(0), ARG(0))),
    EFFECTS("qsort_r", SORTS, CALLS_WITHIN(ARG(3), ARG(0), ARG(0), ARG(4))),
    EFFECTS("bsearch", READS(AT(0), ANY), READS(AT(1), TIMES2(2, 3)),
            CALLS_WITHIN(ARG(4), ARG(0), ARG(1)), RETURNS_WITHIN(ARG(1))),
    EFFECTS("lfind", READS(AT(2), BYTES(8)), READS(AT(0), ANY), READS(AT(1), ANY),
            CALLS_WITHIN(ARG(4), ARG(0), ARG(1)), RETURNS_WITHIN(ARG(1))),
    EFFECTS("lsearch", UPDATES(2, 8), READS(AT(0), TIMES(3)), READS(AT(1), ANY), WRITES(AT(1), ANY),
            MOVES(AT(0), AT(1), ANY), CALLS_WITHIN(ARG(4), ARG(0), ARG(1)), RETURNS_WITHIN(ARG(1))),
    EFFECTS("tsearch", TREE, WRITES(AT(1), BYTES(8)), WRITES(AT_AT(1), ANY), ALLOCATES(RESULT),
            COPIES(AT(1), RESULT, BYTES(8)), COPIES(RESULT, AT(1), BYTES(8)),
            COPIES(ARG(0), AT_RESULT, ANY), MOVES(AT(1), AT_AT(1), ANY), CHANGES(HEAP)),
    EFFECTS("tfind", TREE, COPIES(AT(1), RESULT, BYTES(8))),
    EFFECTS("tdelete", TREE, WRITES(AT(1), BYTES(8)), WRITES(AT_AT(1), ANY),
            MOVES(AT_AT(1), AT(1), BYTES(8)), MOVES(AT(1), AT_AT(1), ANY),
            COPIES(AT(1), RESULT, BYTES(8)), RETURNS(ARG(1)), RELEASES(AT(1)), CHANGES(HEAP)),
    EFFECTS("twalk", READS(ALL_FROM(0), ANY), CALLS(ARG(1), ARG(0)), CALLS(ARG(1), ALL_FROM(0))),
    EFFECTS("twalk_r", READS(ALL_FROM(0), ANY), CALLS(ARG(1), ARG(0), NOTHING, ARG(2)),
            CALLS(ARG(1), ALL_FROM(0), NOTHING, ARG(2))),
    EFFECTS("tdestroy", READS(ALL_FROM(0), ANY), CALLS(ARG(1), ALL_FROM(0)), RELEASES(ARG(0)),
            CHANGES(HEAP)),
    EFFECTS("hcreate", CHANGES(DATABASE), ALLOCATOR),
    EFFECTS("hdestroy", CHANGES(DATABASE), CHANGES(HEAP)),
    // An ENTRY is given by value: its key and its data.
    EFFECTS("hsearch", READS_STRING(0), COPIES(ARG(0), STATE(DATABASE), ANY),
            COPIES(ARG(1), STATE(DATABASE), ANY), READS(AT_STATE(DATABASE), STRING),
            CHANGES(DATABASE), FAILS, RETURNS(STATE(DATABASE))),
    EFFECTS("insque", READS(AT(1), BYTES(8)), COPIES(ARG(0), AT(1), BYTES(8)),
            WRITES(AT(1), BYTES(8)), COPIES(AT(1), AT(0), BYTES(16)),
            COPIES(ARG(1), AT(0), BYTES(16)), SETS(AT(0), BYTES(16)),
            COPIES(ARG(0), AT_AT(1), BYTES(16)), WRITES(AT_AT(1), BYTES(16))),
    EFFECTS("remque", READS(AT(0), BYTES(16)), COPIES(AT(0), AT_AT(0), BYTES(16)),
            WRITES(AT_AT(0), BYTES(16))),

    EFFECTS("regcomp", READS_STRING(1), ALLOCATES_STRUCTURE(0), USES(LOCALE)),
    EFFECTS("regexec", COMPILED(0), READS_STRING(1), READS(AT(3), BYTES(8)),
            WRITES(AT(3), SCALED(2, 8))),
    EFFECTS("regfree", READS(ALL_FROM(0), ANY), WRITES(AT(0), BYTES(64)), RELEASES(AT(0)),
            CHANGES(HEAP)),
    EFFECTS("regerror", WRITES(AT(2), TIMES(3)), USES(LOCALE)),
    EFFECTS("re_compile_pattern", READS(AT(0), TIMES(1)), READS(ALL_FROM(2), ANY),
            WRITES(AT_AT(2), ANY), RELEASES(AT(2)), ALLOCATES_STRUCTURE(2), USES(LOCALE),
            RETURNS(STATE(STRINGS))),
    EFFECTS("re_compile_fastmap", COMPILED(0)),
    EFFECTS("re_set_syntax", CHANGES(LOCALE)),
    EFFECTS("re_set_registers", UPDATES(0, 64), WRITES(AT(1), BYTES(24)),
            COPIES(ARG(3), AT(1), BYTES(24)), COPIES(ARG(4), AT(1), BYTES(24))),
    EFFECTS("re_search", COMPILED(0), READS(AT(1), TIMES(2)), REGISTERS(5)),
    EFFECTS("re_match", COMPILED(0), READS(AT(1), TIMES(2)), REGISTERS(4)),
    EFFECTS("re_search_2", COMPILED(0), READS(AT(1), TIMES(2)), READS(AT(3), TIMES(4)),
            REGISTERS(7)),
    EFFECTS("re_match_2", COMPILED(0), READS(AT(1), TIMES(2)), READS(AT(3), TIMES(4)),
            REGISTERS(6)),
    EFFECTS("re_comp", READS_STRING(0), CHANGES(TOKENS), CHANGES(HEAP), USES(LOCALE),
            RETURNS(STATE(STRINGS))),
    EFFECTS("re_exec", READS_STRING(0), CHANGES(TOKENS), USES(LOCALE)),

    EFFECTS("getopt __posix_getopt", OPTIONS),
    // Options may name an int that is set.
    EFFECTS("getopt_long getopt_long_only", OPTIONS, READS(AT(3), ANY), READS(AT_AT(3), STRING),
            WRITES(AT_AT(3), BYTES(4)), WRITES(AT(4), BYTES(4))),

    EFFECTS("_obstack_begin", WRITES(AT(0), BYTES(88)), COPIES(ARG(3), AT(0), BYTES(88)),
            COPIES(ARG(4), AT(0), BYTES(88)), CALLS_INTO(AT(0), ARG(3), NOTHING), OBSTACK),
    EFFECTS("_obstack_begin_1", WRITES(AT(0), BYTES(88)), COPIES(ARG(3), AT(0), BYTES(88)),
            COPIES(ARG(4), AT(0), BYTES(88)), COPIES(ARG(5), AT(0), BYTES(88)),
            CALLS_INTO(AT(0), ARG(3), ARG(5)), OBSTACK),
    EFFECTS("_obstack_newchunk", OBSTACK),
    EFFECTS("obstack_free _obstack_free", MOVES(ARG(1), AT(0), BYTES(88)), OBSTACK),
    EFFECTS("_obstack_allocated_p _obstack_memory_used", READS(ALL_FROM(0), ANY)),
};
AREA_END(search)

// SPDX-License-Identifier: Apache-2.0
// Locales, messages, conversion between character sets.
#include "analysis/effects_table.h"

// Catalogues are files that the environment may name. errno stays.
#define CATALOGUES                                                                                 \
    CHANGES(LOCALE), USES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), STRING), CHANGES(FILES),      \
        CHANGES(HEAP), RETURNS(STATE(STRINGS))
#define LOADS                                                                                      \
    CHANGES(LOCALE), USES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), STRING), KERNEL, CHANGES(HEAP)

const struct effects_entry effects_locale[] = {
    EFFECTS("setlocale", READS_STRING(1), LOADS, LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    // A locale has tables of the library's, which macros of <ctype.h> look into.
    EFFECTS("newlocale", READS_STRING(1), READS(AT(2), ANY), WRITES(AT(2), ANY), LOADS,
            ALLOCATES(RESULT), RETURNS(ARG(2)), RETURNS(STATE(LOCALE)), RELEASES(ARG(2)),
            MOVES(STATE(STRINGS), AT_RESULT, ANY)),
    EFFECTS("duplocale", READS(AT(0), ANY), ALLOCATES(RESULT), COPIES(AT(0), AT_RESULT, ANY),
            RETURNS(STATE(LOCALE)), ALLOCATOR),
    EFFECTS("freelocale", RELEASES(ARG(0)), CHANGES(LOCALE), CHANGES(HEAP)),
    EFFECTS("uselocale", COPIES(ARG(0), STATE(LOCALE), ANY), COPIES(STATE(LOCALE), RESULT, ANY),
            CHANGES(LOCALE), FAILS),
    EFFECTS("localeconv", USES(LOCALE), LEAVES(LOCALE), RETURNS(STATE(LOCALE))),
    EFFECTS("nl_langinfo", USES(LOCALE), RETURNS(STATE(STRINGS))),
    EFFECTS("nl_langinfo_l", READS(AT(1), ANY), RETURNS(STATE(STRINGS))),
    EFFECTS("gettext", READS_STRING(0), CATALOGUES, RETURNS(ARG(0))),
    EFFECTS("dgettext dcgettext", READS_STRING(0), READS_STRING(1), CATALOGUES, RETURNS(ARG(1))),
    EFFECTS("ngettext", READS_STRING(0), READS_STRING(1), CATALOGUES, RETURNS(ARG(0)),
            RETURNS(ARG(1))),
    EFFECTS("dngettext dcngettext", READS_STRING(0), READS_STRING(1), READS_STRING(2), CATALOGUES,
            RETURNS(ARG(1)), RETURNS(ARG(2))),
    EFFECTS("textdomain", READS_STRING(0), CHANGES(LOCALE), LEAVES(STRINGS), ALLOCATOR,
            RETURNS(STATE(STRINGS))),
    EFFECTS("bindtextdomain bind_textdomain_codeset", READS_STRING(0), READS_STRING(1),
            CHANGES(LOCALE), LEAVES(STRINGS), ALLOCATOR, RETURNS(STATE(STRINGS))),
    EFFECTS("catopen", READS_STRING(0), LOADS, ALLOCATES(RESULT), FAILS),
    EFFECTS("catgets", READS(AT(0), ANY), USES(STRINGS), FAILS, RETURNS(ARG(3)),
            RETURNS_WITHIN(ARG(0)), RETURNS(STATE(STRINGS))),
    EFFECTS("catclose", READS(AT(0), ANY), RELEASES(ARG(0)), CHANGES(HEAP), KERNEL),
    EFFECTS("iconv_open", READS_STRING(0), READS_STRING(1), LOADS, ALLOCATES(RESULT), FAILS),
    // *1 and *3 are the texts, *2 and *4 what is left of them.
    EFFECTS("iconv", READS(AT(0), ANY), WRITES(AT(0), ANY), UPDATES(1, 8), UPDATES(2, 8),
            UPDATES(3, 8), UPDATES(4, 8), READS(AT_AT(1), ANY), WRITES(AT_AT(3), ANY),
            MOVES(AT(1), AT(1), BYTES(8)), MOVES(AT(3), AT(3), BYTES(8)), USES(LOCALE), FAILS),
    EFFECTS("iconv_close", READS(AT(0), ANY), RELEASES(ARG(0)), CHANGES(LOCALE), CHANGES(HEAP),
            FAILS),
};
AREA_END(locale)

// SPDX-License-Identifier: Apache-2.0
// Wide strings, multibyte characters and their conversion. A wchar_t is 4 bytes.
#include "analysis/effects_table.h"

// The state of a conversion, or one of the library's own where it is NULL.
#define SHIFT_STATE(i) UPDATES(i, 8), CHANGES(LOCALE), FAILS
// *i is the text; it moves on to where conversion ended.
#define MOVES_TEXT(i)      READS(AT_AT(i), ANY), UPDATES(i, 8), MOVES(AT(i), AT(i), BYTES(8))
#define ENDS_AT(text, end) MOVES(ARG(text), AT(end), BYTES(8)), WRITES(AT(end), BYTES(8))
#define COPIES_WIDE(to, from, count)                                                               \
    COPIES(AT(from), AT(to), SCALED(count, 4)), READS(AT(from), SCALED(count, 4)),                 \
        SETS(AT(to), SCALED(count, 4))

const struct effects_entry effects_wide[] = {
    EFFECTS("wcslen", READS_STRING(0)),
    EFFECTS("wcsnlen", READS(AT(0), SCALED(1, 4))),
    EFFECTS("wcscmp wcscasecmp wcscoll", READS_STRING(0), READS_STRING(1), USES(LOCALE), FAILS),
    EFFECTS("wcsncmp wcsncasecmp wmemcmp", READS(AT(0), SCALED(2, 4)), READS(AT(1), SCALED(2, 4)),
            USES(LOCALE)),
    EFFECTS("wcscpy", READS_STRING(1), SETS(AT(0), STRING), RETURNS(ARG(0))),
    EFFECTS("wcpcpy", READS_STRING(1), SETS(AT(0), STRING), RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcsncpy", READS(AT(1), SCALED(2, 4)), SETS(AT(0), SCALED(2, 4)), RETURNS(ARG(0))),
    EFFECTS("wcpncpy", READS(AT(1), SCALED(2, 4)), SETS(AT(0), SCALED(2, 4)),
            RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcscat", READS_STRING(1), READS_STRING(0), WRITES(AT(0), STRING), RETURNS(ARG(0))),
    EFFECTS("wcsncat", READS(AT(1), SCALED(2, 4)), READS_STRING(0), WRITES(AT(0), STRING),
            RETURNS(ARG(0))),
    EFFECTS("wcschr wcsrchr wcschrnul", READS_STRING(0), RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcsstr wcswcs wcspbrk", READS_STRING(0), READS_STRING(1), RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcsspn wcscspn", READS_STRING(0), READS_STRING(1)),
    EFFECTS("wcstok", READS_STRING(0), READS_STRING(1), WRITES(AT(0), STRING), UPDATES(2, 8),
            MOVES(ARG(0), AT(2), BYTES(8)), MOVES(AT(2), AT(2), BYTES(8)),
            MOVES(AT(2), RESULT, BYTES(8)), READS(AT_AT(2), STRING), WRITES(AT_AT(2), STRING),
            RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcsdup", READS_STRING(0), ALLOCATES(RESULT), SETS(AT_RESULT, STRING), ALLOCATOR),
    EFFECTS("wcsxfrm", READS_STRING(1), WRITES(AT(0), SCALED(2, 4)), USES(LOCALE), FAILS),
    EFFECTS("wmemcpy wmemmove", COPIES_WIDE(0, 1, 2), RETURNS(ARG(0))),
    EFFECTS("wmempcpy", COPIES_WIDE(0, 1, 2), RETURNS_WITHIN(ARG(0))),
    EFFECTS("wmemset", SETS(AT(0), SCALED(2, 4)), RETURNS(ARG(0))),
    EFFECTS("wmemchr", READS(AT(0), SCALED(2, 4)), RETURNS_WITHIN(ARG(0))),
    EFFECTS("wcstol wcstoll wcstoul wcstoull wcstod wcstof wcstold wcstoimax wcstoumax",
            READS_STRING(0), ENDS_AT(0, 1), USES(LOCALE), FAILS),
    EFFECTS("wcwidth iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint"
            " iswpunct iswspace iswupper iswxdigit towlower towupper wctob btowc",
            USES(LOCALE)),
    EFFECTS("wcswidth", READS(AT(0), SCALED(1, 4)), USES(LOCALE)),
    // Descriptions of classes: pointers into the locale.
    EFFECTS("wctype wctrans", READS_STRING(0), USES(LOCALE), RETURNS_WITHIN(STATE(LOCALE))),
    EFFECTS("iswctype towctrans", USES(LOCALE)),
    EFFECTS("iswalnum_l iswalpha_l iswblank_l iswcntrl_l iswdigit_l iswgraph_l iswlower_l"
            " iswprint_l iswpunct_l iswspace_l iswupper_l iswxdigit_l towlower_l towupper_l",
            READS(AT(1), ANY)),
    EFFECTS("iswctype_l", READS(AT(2), ANY)),
    EFFECTS("wctype_l", READS_STRING(0), READS(AT(1), ANY), RETURNS_WITHIN(STATE(LOCALE))),

    EFFECTS("mblen", READS(AT(0), TIMES(1)), CHANGES(LOCALE), FAILS),
    EFFECTS("mbtowc", WRITES(AT(0), BYTES(4)), READS(AT(1), TIMES(2)), CHANGES(LOCALE), FAILS),
    EFFECTS("wctomb", WRITES(AT(0), BYTES(16)), CHANGES(LOCALE), FAILS),
    EFFECTS("mbrlen", READS(AT(0), TIMES(1)), SHIFT_STATE(2)),
    EFFECTS("mbrtowc mbrtoc32", WRITES(AT(0), BYTES(4)), READS(AT(1), TIMES(2)), SHIFT_STATE(3)),
    EFFECTS("mbrtoc16", WRITES(AT(0), BYTES(2)), READS(AT(1), TIMES(2)), SHIFT_STATE(3)),
    EFFECTS("wcrtomb c32rtomb c16rtomb", WRITES(AT(0), BYTES(16)), SHIFT_STATE(2)),
    EFFECTS("mbsinit", READS(AT(0), BYTES(8))),
    EFFECTS("mbstowcs", READS(AT(1), STRING), WRITES(AT(0), SCALED(2, 4)), USES(LOCALE), FAILS),
    EFFECTS("wcstombs", READS(AT(1), STRING), WRITES(AT(0), TIMES(2)), USES(LOCALE), FAILS),
    EFFECTS("mbsrtowcs", MOVES_TEXT(1), WRITES(AT(0), SCALED(2, 4)), SHIFT_STATE(3)),
    EFFECTS("wcsrtombs", MOVES_TEXT(1), WRITES(AT(0), TIMES(2)), SHIFT_STATE(3)),
    EFFECTS("mbsnrtowcs", MOVES_TEXT(1), WRITES(AT(0), SCALED(3, 4)), SHIFT_STATE(4)),
    EFFECTS("wcsnrtombs", MOVES_TEXT(1), WRITES(AT(0), TIMES(3)), SHIFT_STATE(4)),
};
AREA_END(wide)

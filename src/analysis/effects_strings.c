// SPDX-License-Identifier: Apache-2.0
// Strings, blocks of memory, characters, numbers as text.
#include "analysis/effects_table.h"

#define COPIES_BLOCK(to, from, count)                                                              \
    COPIES(AT(from), AT(to), TIMES(count)), READS(AT(from), TIMES(count)),                         \
        SETS(AT(to), TIMES(count))
// *end points into the text, when end is not NULL and the base is one.
#define ENDS_AT(text, end) MOVES(ARG(text), AT(end), BYTES(8)), WRITES(AT(end), BYTES(8))
#define GROWS_ARGZ                                                                                 \
    UPDATES(0, 8), UPDATES(1, 8), RELEASES(AT(0)), READS(AT_AT(0), ANY), WRITES(AT_AT(0), ANY),    \
        ALLOCATES(AT(0)), ALLOCATOR

const struct effects_entry effects_strings[] = {
    EFFECTS("strlen", READS_STRING(0)),
    EFFECTS("strnlen", READS(AT(0), TIMES(1))),
    EFFECTS("strcmp strcasecmp", READS_STRING(0), READS_STRING(1), USES(LOCALE)),
    EFFECTS("strverscmp", READS_STRING(0), READS_STRING(1)),
    EFFECTS("strncmp strncasecmp", READS(AT(0), TIMES(2)), READS(AT(1), TIMES(2)), USES(LOCALE)),
    EFFECTS("strcoll", READS_STRING(0), READS_STRING(1), USES(LOCALE), FAILS),
    EFFECTS("strcoll_l strcasecmp_l", READS_STRING(0), READS_STRING(1), READS(AT(2), ANY), FAILS),
    EFFECTS("strncasecmp_l", READS(AT(0), TIMES(2)), READS(AT(1), TIMES(2)), READS(AT(3), ANY)),
    EFFECTS("strcpy", READS_STRING(1), SETS(AT(0), STRING), RETURNS(ARG(0))),
    EFFECTS("stpcpy", READS_STRING(1), SETS(AT(0), STRING), RETURNS_WITHIN(ARG(0))),
    EFFECTS("strncpy", READS(AT(1), TIMES(2)), SETS(AT(0), TIMES(2)), RETURNS(ARG(0))),
    EFFECTS("stpncpy", READS(AT(1), TIMES(2)), SETS(AT(0), TIMES(2)), RETURNS_WITHIN(ARG(0))),
    EFFECTS("strcat", READS_STRING(1), READS_STRING(0), WRITES(AT(0), STRING), RETURNS(ARG(0))),
    EFFECTS("strncat", READS(AT(1), TIMES(2)), READS_STRING(0), WRITES(AT(0), STRING),
            RETURNS(ARG(0))),
    EFFECTS("strlcpy", READS_STRING(1), WRITES(AT(0), TIMES(2))),
    EFFECTS("strlcat", READS_STRING(1), READS(AT(0), TIMES(2)), WRITES(AT(0), TIMES(2))),
    EFFECTS("strchr strrchr strchrnul index rindex", READS_STRING(0), RETURNS_WITHIN(ARG(0))),
    EFFECTS("strstr strcasestr strpbrk", READS_STRING(0), READS_STRING(1), USES(LOCALE),
            RETURNS_WITHIN(ARG(0))),
    EFFECTS("strspn strcspn", READS_STRING(0), READS_STRING(1)),
    // The rest of the text is kept for the next call, which cuts it.
    EFFECTS("strtok", READS_STRING(0), READS_STRING(1), WRITES(AT(0), STRING),
            MOVES(ARG(0), STATE(TOKENS), ANY), MOVES(STATE(TOKENS), RESULT, ANY), CHANGES(TOKENS),
            READS(AT_STATE(TOKENS), STRING), WRITES(AT_STATE(TOKENS), STRING),
            RETURNS_WITHIN(ARG(0))),
    EFFECTS("strtok_r __strtok_r", READS_STRING(0), READS_STRING(1), WRITES(AT(0), STRING),
            READS(AT(2), BYTES(8)), MOVES(ARG(0), AT(2), BYTES(8)), MOVES(AT(2), AT(2), BYTES(8)),
            MOVES(AT(2), RESULT, BYTES(8)), WRITES(AT(2), BYTES(8)), READS(AT_AT(2), STRING),
            WRITES(AT_AT(2), STRING), RETURNS_WITHIN(ARG(0))),
    EFFECTS("strsep", READS(AT(0), BYTES(8)), READS_STRING(1), MOVES(AT(0), AT(0), BYTES(8)),
            WRITES(AT(0), BYTES(8)), COPIES(AT(0), RESULT, BYTES(8)), READS(AT_AT(0), STRING),
            WRITES(AT_AT(0), STRING)),
    EFFECTS("strdup __strdup", READS_STRING(0), ALLOCATES(RESULT), SETS(AT_RESULT, STRING),
            ALLOCATOR),
    EFFECTS("strndup __strndup", READS(AT(0), TIMES(1)), ALLOCATES(RESULT), SETS(AT_RESULT, STRING),
            ALLOCATOR),
    EFFECTS("strxfrm", READS_STRING(1), WRITES(AT(0), TIMES(2)), USES(LOCALE), FAILS),
    EFFECTS("strxfrm_l", READS_STRING(1), WRITES(AT(0), TIMES(2)), READS(AT(3), ANY), FAILS),
    EFFECTS("strfry memfrob", READS(AT(0), ANY), WRITES(AT(0), ANY), CHANGES(RANDOM),
            RETURNS(ARG(0))),

    EFFECTS("memcpy memmove", COPIES_BLOCK(0, 1, 2), RETURNS(ARG(0))),
    EFFECTS("mempcpy __mempcpy", COPIES_BLOCK(0, 1, 2), RETURNS_WITHIN(ARG(0))),
    EFFECTS("memccpy", COPIES(AT(1), AT(0), TIMES(3)), READS(AT(1), TIMES(3)),
            WRITES(AT(0), TIMES(3)), RETURNS_WITHIN(ARG(0))),
    EFFECTS("bcopy", COPIES_BLOCK(1, 0, 2)),
    EFFECTS("memset memset_explicit", SETS(AT(0), TIMES(2)), RETURNS(ARG(0))),
    EFFECTS("bzero explicit_bzero", SETS(AT(0), TIMES(1))),
    EFFECTS("memcmp bcmp", READS(AT(0), TIMES(2)), READS(AT(1), TIMES(2))),
    EFFECTS("memchr memrchr", READS(AT(0), TIMES(2)), RETURNS_WITHIN(ARG(0))),
    EFFECTS("rawmemchr __rawmemchr", READS(AT(0), ANY), RETURNS_WITHIN(ARG(0))),
    EFFECTS("memmem", READS(AT(0), TIMES(1)), READS(AT(2), TIMES(3)), RETURNS_WITHIN(ARG(0))),
    EFFECTS("swab", MOVES(AT(0), AT(1), TIMES(2)), READS(AT(0), TIMES(2)), WRITES(AT(1), TIMES(2))),

    EFFECTS("atoi atol atoll atof", READS_STRING(0), USES(LOCALE), FAILS),
    EFFECTS("strtol strtoll strtoul strtoull strtoimax strtoumax strtoq strtouq strtod strtof"
            " strtold __strtol_internal __strtoul_internal __strtod_internal strtof32 strtof64"
            " strtof32x strtof64x strtof128",
            READS_STRING(0), ENDS_AT(0, 1), USES(LOCALE), FAILS),
    EFFECTS("strtod_l strtof_l strtold_l", READS_STRING(0), ENDS_AT(0, 1), READS(AT(2), ANY),
            FAILS),
    EFFECTS("strtol_l strtoul_l strtoll_l strtoull_l", READS_STRING(0), ENDS_AT(0, 1),
            READS(AT(3), ANY), FAILS),
    EFFECTS("strfromd strfromf strfroml", WRITES(AT(0), TIMES(1)), READS_STRING(2), USES(LOCALE),
            FAILS),
    EFFECTS("a64l", READS_STRING(0)),
    EFFECTS("l64a", LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    EFFECTS("ecvt fcvt qecvt qfcvt", WRITES(AT(2), BYTES(4)), WRITES(AT(3), BYTES(4)),
            LEAVES(STRINGS), RETURNS_WITHIN(STATE(STRINGS))),
    EFFECTS("ecvt_r fcvt_r qecvt_r qfcvt_r", WRITES(AT(2), BYTES(4)), WRITES(AT(3), BYTES(4)),
            WRITES(AT(4), TIMES(5)), FAILS),
    EFFECTS("gcvt qgcvt", SETS(AT(2), STRING), RETURNS(ARG(2))),

    EFFECTS("isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace"
            " isupper isxdigit tolower toupper",
            USES(LOCALE)),
    EFFECTS("isalnum_l isalpha_l isblank_l iscntrl_l isdigit_l isgraph_l islower_l isprint_l"
            " ispunct_l isspace_l isupper_l isxdigit_l tolower_l toupper_l",
            READS(AT(1), ANY)),
    NO_EFFECTS("isascii toascii ffs ffsl ffsll abs labs llabs imaxabs div ldiv lldiv imaxdiv"),
    EFFECTS("__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc", USES(LOCALE),
            RETURNS(STATE(STRINGS))),
    EFFECTS("__ctype_get_mb_cur_max", USES(LOCALE)),

    EFFECTS("strerror __strerror_l", LEAVES(STRINGS), USES(LOCALE), RETURNS(STATE(STRINGS))),
    EFFECTS("strerror_l", LEAVES(STRINGS), READS(AT(1), ANY), RETURNS(STATE(STRINGS))),
    EFFECTS("strerror_r __strerror_r", WRITES(AT(1), TIMES(2)), USES(LOCALE), FAILS,
            RETURNS(ARG(1)), RETURNS(STATE(STRINGS))),
    EFFECTS("__xpg_strerror_r", WRITES(AT(1), TIMES(2)), USES(LOCALE), FAILS),
    EFFECTS("strsignal", LEAVES(STRINGS), USES(LOCALE), RETURNS(STATE(STRINGS))),
    EFFECTS("sigabbrev_np sigdescr_np strerrorname_np strerrordesc_np gnu_get_libc_version"
            " gnu_get_libc_release",
            USES(STRINGS), RETURNS(STATE(STRINGS))),

    // These give back their argument or a constant text.
    EFFECTS("basename", READS_STRING(0), RETURNS_WITHIN(ARG(0)), RETURNS(STATE(STRINGS))),
    EFFECTS("__xpg_basename dirname", READS_STRING(0), WRITES(AT(0), STRING),
            RETURNS_WITHIN(ARG(0)), RETURNS(STATE(STRINGS))),
    EFFECTS("argz_create", READS(AT(0), ANY), READS(AT_AT(0), STRING), ALLOCATES(AT(1)),
            WRITES(AT(1), BYTES(8)), WRITES(AT(2), BYTES(8)), ALLOCATOR),
    EFFECTS("argz_create_sep", READS_STRING(0), ALLOCATES(AT(2)), WRITES(AT(2), BYTES(8)),
            WRITES(AT(3), BYTES(8)), ALLOCATOR),
    EFFECTS("argz_add argz_add_sep", GROWS_ARGZ, READS_STRING(2)),
    EFFECTS("envz_add", GROWS_ARGZ, READS_STRING(2), READS_STRING(3)),
    EFFECTS("argz_append", GROWS_ARGZ, READS(AT(2), TIMES(3))),
    EFFECTS("argz_next", READS(AT(0), TIMES(1)), READS_STRING(2), RETURNS_WITHIN(ARG(0)),
            RETURNS_WITHIN(ARG(2))),
    EFFECTS("argz_count", READS(AT(0), TIMES(1))),
    EFFECTS("argz_stringify", READS(AT(0), TIMES(1)), WRITES(AT(0), TIMES(1))),
    EFFECTS("getsubopt", READS(AT(0), BYTES(8)), READS(AT_AT(0), STRING), WRITES(AT_AT(0), STRING),
            READS(AT(1), ANY), READS(AT_AT(1), STRING), MOVES(AT(0), AT(0), BYTES(8)),
            WRITES(AT(0), BYTES(8)), MOVES(AT(0), AT(2), BYTES(8)), WRITES(AT(2), BYTES(8))),
    EFFECTS("rpmatch", READS_STRING(0), USES(LOCALE)),
    EFFECTS("fnmatch", READS_STRING(0), READS_STRING(1), USES(LOCALE), FAILS),
    EFFECTS("crypt", READS_STRING(0), READS_STRING(1), LEAVES(STRINGS), FAILS,
            RETURNS(STATE(STRINGS))),
    EFFECTS("crypt_r", READS_STRING(0), READS_STRING(1), READS(AT(2), ANY), WRITES(AT(2), ANY),
            FAILS, RETURNS_WITHIN(ARG(2))),
};
AREA_END(strings)

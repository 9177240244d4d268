// SPDX-License-Identifier: Apache-2.0
// printf, scanf and their like.
#include "analysis/effects_table.h"

// %s reads what an argument points to, %n writes it.
#define PRINTED(format, rest)                                                                      \
    READS_STRING(format), READS(AT_REST(rest), ANY), WRITES(AT_REST(rest), BYTES(8)),              \
        USES(LOCALE), CHANGES(ERRNO)
// A va_list is 24 bytes on x86-64, 32 on others; the place in it moves on.
#define TAKES_LIST(list)                                                                           \
    MOVES(AT(list), AT(list), BYTES(32)), UPDATES(list, 32), READS(LISTED(list), ANY)
#define PRINTED_LIST(format, list)                                                                 \
    READS_STRING(format), TAKES_LIST(list), READS(AT_LISTED(list), ANY),                           \
        WRITES(AT_LISTED(list), BYTES(8)), USES(LOCALE), CHANGES(ERRNO)
// To streams: texts may be handed to functions of fopencookie as they are.
#define PRINTED_OUT(format, rest) PRINTED(format, rest), COOKIES(ARG(format)), COOKIES(REST(rest))
#define PRINTED_LIST_OUT(format, list)                                                             \
    PRINTED_LIST(format, list), COOKIES(ARG(format)), COOKIES(LISTED(list))
#define ALLOCATES_TEXT(i) ALLOCATES(AT(i)), WRITES(AT(i), BYTES(8)), CHANGES(HEAP)

// %ms allocates.
#define SCANNED(format, rest)                                                                      \
    READS_STRING(format), WRITES(AT_REST(rest), ANY), ALLOCATES(AT_REST(rest)), USES(LOCALE),      \
        ALLOCATOR
#define SCANNED_LIST(format, list)                                                                 \
    READS_STRING(format), TAKES_LIST(list), WRITES(AT_LISTED(list), ANY),                          \
        ALLOCATES(AT_LISTED(list)), USES(LOCALE), ALLOCATOR

const struct effects_entry effects_formats[] = {
    PRINTS("printf wprintf iprintf", 0, PRINTED_OUT(0, 1), STDIO),
    PRINTS("__printf_chk __wprintf_chk", 1, PRINTED_OUT(1, 2), STDIO),
    PRINTS("fprintf fwprintf fiprintf", 1, PRINTED_OUT(1, 2), STREAM(0)),
    PRINTS("__fprintf_chk __fwprintf_chk", 2, PRINTED_OUT(2, 3), STREAM(0)),
    PRINTS("dprintf", 1, PRINTED(1, 2), KERNEL),
    PRINTS("__dprintf_chk", 2, PRINTED(2, 3), KERNEL),
    PRINTS("sprintf siprintf", 1, PRINTED(1, 2), WRITES(AT(0), STRING)),
    PRINTS("__sprintf_chk", 3, PRINTED(3, 4), WRITES(AT(0), STRING)),
    PRINTS("snprintf", 2, PRINTED(2, 3), WRITES(AT(0), TIMES(1))),
    PRINTS("__snprintf_chk", 4, PRINTED(4, 5), WRITES(AT(0), TIMES(1))),
    PRINTS("swprintf", 2, PRINTED(2, 3), WRITES(AT(0), SCALED(1, 4))),
    PRINTS("__swprintf_chk", 4, PRINTED(4, 5), WRITES(AT(0), SCALED(1, 4))),
    PRINTS("asprintf", 1, PRINTED(1, 2), ALLOCATES_TEXT(0)),
    PRINTS("__asprintf_chk", 2, PRINTED(2, 3), ALLOCATES_TEXT(0)),

    PRINTS("vprintf vwprintf", 0, PRINTED_LIST_OUT(0, 1), STDIO),
    PRINTS("__vprintf_chk __vwprintf_chk", 1, PRINTED_LIST_OUT(1, 2), STDIO),
    PRINTS("vfprintf vfwprintf", 1, PRINTED_LIST_OUT(1, 2), STREAM(0)),
    PRINTS("__vfprintf_chk __vfwprintf_chk", 2, PRINTED_LIST_OUT(2, 3), STREAM(0)),
    PRINTS("vdprintf", 1, PRINTED_LIST(1, 2), KERNEL),
    PRINTS("__vdprintf_chk", 2, PRINTED_LIST(2, 3), KERNEL),
    PRINTS("vsprintf", 1, PRINTED_LIST(1, 2), WRITES(AT(0), STRING)),
    PRINTS("__vsprintf_chk", 3, PRINTED_LIST(3, 4), WRITES(AT(0), STRING)),
    PRINTS("vsnprintf", 2, PRINTED_LIST(2, 3), WRITES(AT(0), TIMES(1))),
    PRINTS("__vsnprintf_chk", 4, PRINTED_LIST(4, 5), WRITES(AT(0), TIMES(1))),
    PRINTS("vswprintf", 2, PRINTED_LIST(2, 3), WRITES(AT(0), SCALED(1, 4))),
    PRINTS("__vswprintf_chk", 4, PRINTED_LIST(4, 5), WRITES(AT(0), SCALED(1, 4))),
    PRINTS("vasprintf", 1, PRINTED_LIST(1, 2), ALLOCATES_TEXT(0)),
    PRINTS("__vasprintf_chk", 2, PRINTED_LIST(2, 3), ALLOCATES_TEXT(0)),

    EFFECTS("scanf wscanf", SCANNED(0, 1), STDIO),
    EFFECTS("fscanf fwscanf", SCANNED(1, 2), STREAM(0)),
    EFFECTS("sscanf swscanf", SCANNED(1, 2), READS_STRING(0)),
    EFFECTS("vscanf vwscanf", SCANNED_LIST(0, 1), STDIO),
    EFFECTS("vfscanf vfwscanf", SCANNED_LIST(1, 2), STREAM(0)),
    EFFECTS("vsscanf vswscanf", SCANNED_LIST(1, 2), READS_STRING(0)),

    PRINTS("warn warnx", 0, PRINTED_OUT(0, 1), STDIO),
    PRINTS("vwarn vwarnx", 0, PRINTED_LIST_OUT(0, 1), STDIO),
    ENTRY("err errx", true, 1, PRINTED_OUT(1, 2), STDIO),
    ENTRY("verr verrx", true, 1, PRINTED_LIST_OUT(1, 2), STDIO),
    PRINTS("error", 2, PRINTED_OUT(2, 3), STDIO),
    PRINTS("error_at_line", 4, PRINTED_OUT(4, 5), READS_STRING(2), STDIO),
    // The name that openlog was given is kept.
    EFFECTS("openlog", COPIES(ARG(0), STATE(PROCESS), ANY), LEAVES(PROCESS), KERNEL),
    EFFECTS("closelog setlogmask", CHANGES(PROCESS), KERNEL),
    PRINTS("syslog", 1, PRINTED(1, 2), CHANGES(PROCESS), READS(AT_STATE(PROCESS), STRING),
           USES(TIME), KERNEL),
    PRINTS("__syslog_chk", 2, PRINTED(2, 3), CHANGES(PROCESS), READS(AT_STATE(PROCESS), STRING),
           USES(TIME), KERNEL),
    PRINTS("vsyslog", 1, PRINTED_LIST(1, 2), CHANGES(PROCESS), READS(AT_STATE(PROCESS), STRING),
           USES(TIME), KERNEL),
    PRINTS("__vsyslog_chk", 2, PRINTED_LIST(2, 3), CHANGES(PROCESS),
           READS(AT_STATE(PROCESS), STRING), USES(TIME), KERNEL),
    EFFECTS("strfmon", WRITES(AT(0), TIMES(1)), READS_STRING(2), USES(LOCALE), FAILS),
    EFFECTS("strfmon_l", WRITES(AT(0), TIMES(1)), READS(AT(2), ANY), READS_STRING(3), FAILS),
};
AREA_END(formats)

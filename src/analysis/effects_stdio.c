// SPDX-License-Identifier: Apache-2.0
// Streams.
#include "analysis/effects_table.h"

// A line is read into a buffer that is the caller's and grows.
#define READS_LINE(stream)                                                                         \
    UPDATES(0, 8), UPDATES(1, 8), WRITES(AT_AT(0), ANY), ALLOCATES(AT(0)), RELEASES(AT(0)),        \
        ALLOCATOR, STREAM(stream), COOKIES(AT(0))
#define OPENS ALLOCATOR, STDIO, RETURNS(STATE(STREAMS))
// The stream uses the caller's memory from now on.
#define KEEPS_BUFFER(i) COPIES(ARG(i), STATE(STREAMS), ANY)
// Blocks: they may carry pointers, which buffers of the program get to hold.
#define WRITES_BLOCKS(size, count, stream)                                                         \
    TO_FILE(0, TIMES2(size, count)), MOVES(AT(0), AT_STATE(STREAMS), TIMES2(size, count)),         \
        COOKIES(ARG(0)), STREAM(stream)
#define READS_BLOCKS(size, count, stream)                                                          \
    FROM_FILE(0, TIMES2(size, count)), MOVES(AT_STATE(STREAMS), AT(0), TIMES2(size, count)),       \
        COOKIES(ARG(0)), STREAM(stream)

const struct effects_entry effects_stdio[] = {
    EFFECTS("fopen fopen64", READS_STRING(0), READS_STRING(1), USES(PROCESS), OPENS),
    EFFECTS("fdopen", READS_STRING(1), OPENS),
    EFFECTS("freopen freopen64", READS_STRING(0), READS_STRING(1), STREAM(2), ALLOCATOR,
            RETURNS(ARG(2))),
    EFFECTS("tmpfile tmpfile64", OPENS),
    EFFECTS("popen", READS_STRING(0), READS_STRING(1), USES(ENVIRONMENT),
            READS(AT_STATE(ENVIRONMENT), STRING), CHANGES(PROCESS), OPENS),
    EFFECTS("pclose", STREAM(0), CHANGES(PROCESS), CHANGES(HEAP)),
    EFFECTS("fclose", STREAM(0), CHANGES(HEAP)),
    EFFECTS("fcloseall", STDIO),
    EFFECTS("fflush fflush_unlocked", STREAM(0)),
    EFFECTS("fmemopen", READS(AT(0), TIMES(1)), WRITES(AT(0), TIMES(1)), READS_STRING(2),
            KEEPS_BUFFER(0), OPENS),
    EFFECTS("open_memstream open_wmemstream", ALLOCATES(AT(0)), WRITES(AT(0), BYTES(8)),
            WRITES(AT(1), BYTES(8)), KEEPS_BUFFER(0), KEEPS_BUFFER(1),
            COPIES(AT(0), STATE(STREAMS), BYTES(8)), OPENS),
    // The functions are a structure, given by value: a pointer to a copy.
    EFFECTS("fopencookie", READS_STRING(1), READS(AT(2), BYTES(32)), KEEPS_BUFFER(0),
            COPIES(AT(2), STATE(STREAMS), BYTES(32)), CALLS(AT(2), ARG(0), STATE(STREAMS)), OPENS),
    EFFECTS("setvbuf setbuf setbuffer", KEEPS_BUFFER(1), COPIES(ARG(1), AT(0), BYTES(216)),
            WRITES(AT(1), ANY), STREAM(0)),
    EFFECTS("setlinebuf", STREAM(0)),

    EFFECTS("fwrite fwrite_unlocked", WRITES_BLOCKS(1, 2, 3)),
    EFFECTS("fread fread_unlocked", READS_BLOCKS(1, 2, 3)),
    EFFECTS("__fread_chk __fread_unlocked_chk", READS_BLOCKS(2, 3, 4)),
    EFFECTS("puts", READS_STRING(0), COOKIES(ARG(0)), STDIO),
    EFFECTS("putchar putchar_unlocked putwchar putwchar_unlocked getchar getchar_unlocked getwchar"
            " getwchar_unlocked",
            STDIO),
    EFFECTS("putc fputc putc_unlocked fputc_unlocked _IO_putc putw fputwc putwc fputwc_unlocked"
            " putwc_unlocked ungetc ungetwc",
            STREAM(1)),
    EFFECTS("fputs fputs_unlocked fputws fputws_unlocked", READS_STRING(0), COOKIES(ARG(0)),
            STREAM(1)),
    EFFECTS("getc fgetc getc_unlocked fgetc_unlocked _IO_getc getw fgetwc getwc fgetwc_unlocked"
            " getwc_unlocked __uflow __underflow __wuflow __wunderflow __overflow __woverflow",
            STREAM(0)),
    EFFECTS("fgets fgets_unlocked", WRITES(AT(0), TIMES(1)), COOKIES(ARG(0)), STREAM(2),
            RETURNS(ARG(0))),
    EFFECTS("__fgets_chk __fgets_unlocked_chk", WRITES(AT(0), TIMES(2)), COOKIES(ARG(0)), STREAM(3),
            RETURNS(ARG(0))),
    EFFECTS("fgetws fgetws_unlocked", WRITES(AT(0), SCALED(1, 4)), COOKIES(ARG(0)), STREAM(2),
            RETURNS(ARG(0))),
    EFFECTS("__fgetws_chk __fgetws_unlocked_chk", WRITES(AT(0), SCALED(2, 4)), COOKIES(ARG(0)),
            STREAM(3), RETURNS(ARG(0))),
    EFFECTS("gets", WRITES(AT(0), ANY), COOKIES(ARG(0)), STDIO, RETURNS(ARG(0))),
    EFFECTS("getline", READS_LINE(2)),
    EFFECTS("getdelim __getdelim", READS_LINE(3)),

    EFFECTS("fseek fseeko fseeko64 ftell ftello ftello64 rewind", STREAM(0)),
    EFFECTS("fgetpos fgetpos64", WRITES(AT(1), BYTES(16)), STREAM(0)),
    EFFECTS("fsetpos fsetpos64", READS(AT(1), BYTES(16)), STREAM(0)),
    EFFECTS("ferror feof fileno ferror_unlocked feof_unlocked fileno_unlocked __fpending"
            " __fbufsize __freading __fwriting __freadable __fwritable __flbf __ferror_unlocked",
            READS(AT(0), BYTES(216)), USES(STREAMS), FAILS),
    EFFECTS("clearerr clearerr_unlocked fpurge __fpurge __fsetlocking fwide __fseterr",
            READS(AT(0), BYTES(216)), WRITES(AT(0), BYTES(216)), CHANGES(STREAMS)),
    EFFECTS("flockfile funlockfile ftrylockfile", READS(AT(0), BYTES(216)),
            WRITES(AT(0), BYTES(216)), CHANGES(STREAMS), CHANGES(THREADS)),
    EFFECTS("_flushlbf", STDIO),
    EFFECTS("perror", READS_STRING(0), USES(ERRNO), USES(LOCALE), COOKIES(ARG(0)), STDIO),
    EFFECTS("psignal", READS_STRING(1), USES(LOCALE), COOKIES(ARG(1)), STDIO),
    EFFECTS("psiginfo", READS_STRING(1), READS(AT(0), BYTES(128)), USES(LOCALE), COOKIES(ARG(1)),
            STDIO),
    EFFECTS("remove", PATH(0)),
    EFFECTS("tmpnam", WRITES(AT(0), BYTES(20)), LEAVES(STRINGS), KERNEL, RETURNS(ARG(0)),
            RETURNS(STATE(STRINGS))),
    EFFECTS("tmpnam_r", WRITES(AT(0), BYTES(20)), KERNEL, RETURNS(ARG(0))),
    EFFECTS("tempnam", READS_STRING(0), READS_STRING(1), USES(ENVIRONMENT), ALLOCATES(RESULT),
            SETS(AT_RESULT, STRING), ALLOCATOR, KERNEL),
    EFFECTS("ctermid", WRITES(AT(0), BYTES(9)), LEAVES(STRINGS), RETURNS(ARG(0)),
            RETURNS(STATE(STRINGS))),
    EFFECTS("cuserid", WRITES(AT(0), BYTES(9)), LEAVES(STRINGS), USES(PROCESS), KERNEL,
            RETURNS(ARG(0)), RETURNS(STATE(STRINGS))),
    EFFECTS("getpass", READS_STRING(0), LEAVES(STRINGS), STDIO, RETURNS(STATE(STRINGS))),

    EFFECTS("setmntent", READS_STRING(0), READS_STRING(1), OPENS),
    EFFECTS("endmntent", STREAM(0), CHANGES(HEAP)),
    EFFECTS("getmntent", STREAM(0), LEAVES(DATABASE), RETURNS(STATE(DATABASE))),
    EFFECTS("getmntent_r", STREAM(0), WRITES(AT(1), BYTES(40)), WRITES(AT(2), TIMES(3)),
            MOVES(ARG(2), AT(1), BYTES(40)), MOVES(STATE(STRINGS), AT(1), BYTES(40)),
            RETURNS(ARG(1))),
    EFFECTS("addmntent", STREAM(0), READS(AT(1), BYTES(40)), READS(AT_AT(1), STRING)),
    EFFECTS("hasmntopt", READS(AT(0), BYTES(40)), READS(AT_AT(0), STRING), READS_STRING(1),
            MOVES(AT(0), RESULT, BYTES(40))),
};
AREA_END(stdio)

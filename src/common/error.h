// SPDX-License-Identifier: Apache-2.0
/*
 * Errors of the kind "the world is bad": a truncated core, no DWARF, a file that cannot be opened.
 *
 * A function that can fail so returns `struct error *`: NULL is success, anything else is owned by
 * the caller, who returns it further, or destroys it, or prints it. Outputs are written on success
 * only. Bugs of ours are asserts; "we do not know" is a value, not an error.
 *
 *     struct error *err = core_open(path, &core);
 *     if (err)
 *             return error_prefix(err, "cannot read the core");
 *     ...
 *     if (size > left)
 *             return error_create_at_offset(ERROR_FORMAT, path, offset, "truncated note");
 *
 * A message is one sentence in lower case without a full stop: what failed first, the subject in
 * 'quotes'. The file and the place are kept apart from it and added when it is printed:
 *
 *     inquest: truncated note: 'core', offset 0x1c8
 *     inquest: cannot open 'core': No such file or directory
 */
#ifndef INQUEST_COMMON_ERROR_H
#define INQUEST_COMMON_ERROR_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum error_code {
    ERROR_OTHER,       /* none of those below */
    ERROR_SYSTEM,      /* a system call failed; errnum is set */
    ERROR_FORMAT,      /* bad input: malformed, truncated or contradicting itself */
    ERROR_MISMATCH,    /* good input that belongs to another build, or another version */
    ERROR_NOT_FOUND,   /* what was asked for is not there */
    ERROR_UNSUPPORTED, /* good input of a kind that is not handled, as another architecture */
    ERROR_LIMIT,       /* a limit on time, memory or size was reached */
    ERROR_USAGE,       /* the command line is wrong */
};

enum error_place {
    ERROR_PLACE_NONE,
    ERROR_PLACE_OFFSET,  /* place is an offset in the file */
    ERROR_PLACE_ADDRESS, /* place is an address in the failed process */
    ERROR_PLACE_LINE,    /* place is a line of the file, from 1 */
};

struct error {
    enum error_code code;
    int errnum;    /* an errno value, or 0 */
    char *message; /* never NULL; without the file, the place and strerror */
    char *file;    /* or NULL */
    enum error_place place_kind;
    uint64_t place;
};

struct error *error_create(enum error_code code, const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 2, 3)));

/* The same with the file that it is about; file is copied. */
struct error *error_create_file(enum error_code code, const char *file, const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 3, 4)));
struct error *error_create_at_offset(enum error_code code, const char *file, uint64_t offset,
                                     const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 4, 5)));
struct error *error_create_at_address(enum error_code code, const char *file, uint64_t address,
                                      const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 4, 5)));
struct error *error_create_at_line(enum error_code code, const char *file, uint64_t line,
                                   const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 4, 5)));

/* ERROR_SYSTEM: `cannot open 'path': strerror`, where format gives "cannot open". path may be NULL.
 */
struct error *error_errno(int errnum, const char *path, const char *format, ...)
    __attribute__((__returns_nonnull__, __format__(__printf__, 3, 4)));

/* The same error with `PREFIX: ` before its message; consumes err and gives it back. NULL stays
 * NULL. */
struct error *error_prefix(struct error *err, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

/* The same error, about this file where none is named yet. NULL stays NULL. */
struct error *error_in_file(struct error *err, const char *file);

/* NULL is fine. */
void error_destroy(struct error *err);

/* The whole text in one line, control characters escaped; to be freed. */
char *error_text(const struct error *err) __attribute__((__returns_nonnull__));

/* One line, `inquest: TEXT`, to stderr (or the stream given). Keeps the error. */
void error_print(const struct error *err);
void error_print_to(FILE *stream, const struct error *err);

/* One line, `inquest: warning: TEXT`, to stderr, for what is said and skipped; destroys the error.
 */
void error_warn(struct error *err);

/* At the end of scope: `_cleanup_error_ struct error *err = NULL;` */
static inline void error_cleanup(struct error **err)
{
    error_destroy(*err);
}
#define _cleanup_error_ __attribute__((__cleanup__(error_cleanup)))

#endif

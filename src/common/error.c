// SPDX-License-Identifier: Apache-2.0
#include "common/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"

/* Takes over message. */
static struct error *error_make(enum error_code code, const char *file, char *message)
{
    struct error *err = xcalloc(1, sizeof(*err));
    err->code = code;
    err->message = message;
    err->file = file ? xstrdup(file) : NULL;
    return err;
}

#define ERROR_MESSAGE(ret, format)                                                                 \
    do {                                                                                           \
        va_list arguments_;                                                                        \
        va_start(arguments_, format);                                                              \
        *(ret) = xvasprintf(format, arguments_);                                                   \
        va_end(arguments_);                                                                        \
    } while (0)

struct error *error_create(enum error_code code, const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    return error_make(code, NULL, message);
}

struct error *error_create_file(enum error_code code, const char *file, const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    return error_make(code, file, message);
}

static struct error *error_make_at(enum error_code code, const char *file, enum error_place kind,
                                   uint64_t place, char *message)
{
    struct error *err = error_make(code, file, message);
    err->place_kind = kind;
    err->place = place;
    return err;
}

struct error *error_create_at_offset(enum error_code code, const char *file, uint64_t offset,
                                     const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    return error_make_at(code, file, ERROR_PLACE_OFFSET, offset, message);
}

struct error *error_create_at_address(enum error_code code, const char *file, uint64_t address,
                                      const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    return error_make_at(code, file, ERROR_PLACE_ADDRESS, address, message);
}

struct error *error_create_at_line(enum error_code code, const char *file, uint64_t line,
                                   const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    return error_make_at(code, file, ERROR_PLACE_LINE, line, message);
}

struct error *error_errno(int errnum, const char *path, const char *format, ...)
{
    char *message;
    ERROR_MESSAGE(&message, format);
    struct error *err = error_make(ERROR_SYSTEM, path, message);
    err->errnum = errnum;
    return err;
}

struct error *error_prefix(struct error *err, const char *format, ...)
{
    if (!err)
        return NULL;
    _cleanup_free_ char *prefix = NULL;
    ERROR_MESSAGE(&prefix, format);
    char *message = xasprintf("%s: %s", prefix, err->message);
    free(err->message);
    err->message = message;
    return err;
}

struct error *error_in_file(struct error *err, const char *file)
{
    if (err && !err->file)
        err->file = xstrdup(file);
    return err;
}

void error_destroy(struct error *err)
{
    if (!err)
        return;
    free(err->message);
    free(err->file);
    free(err);
}

static void error_append_place(struct strbuf *text, const struct error *err)
{
    const char *separator = err->file ? "," : ":";
    switch (err->place_kind) {
    case ERROR_PLACE_NONE:
        break;
    case ERROR_PLACE_OFFSET:
        strbuf_printf(text, "%s offset 0x%" PRIx64, separator, err->place);
        break;
    case ERROR_PLACE_ADDRESS:
        strbuf_printf(text, "%s address 0x%" PRIx64, separator, err->place);
        break;
    case ERROR_PLACE_LINE:
        strbuf_printf(text, "%s line %" PRIu64, separator, err->place);
        break;
    }
}

char *error_text(const struct error *err)
{
    assert(err);
    struct strbuf text = STRBUF_INIT;
    strbuf_append_escaped(&text, err->message);
    if (err->file) {
        strbuf_append(&text, err->errnum ? " '" : ": '");
        strbuf_append_escaped(&text, err->file);
        strbuf_append_char(&text, '\'');
    }
    error_append_place(&text, err);
    if (err->errnum)
        strbuf_printf(&text, ": %s", strerror(err->errnum));
    return strbuf_steal(&text);
}

void error_print_to(FILE *stream, const struct error *err)
{
    _cleanup_free_ char *text = error_text(err);
    fprintf(stream, "inquest: %s\n", text);
}

void error_print(const struct error *err)
{
    error_print_to(stderr, err);
}

void error_warn(struct error *err)
{
    _cleanup_free_ char *text = error_text(err);
    fprintf(stderr, "inquest: warning: %s\n", text);
    error_destroy(err);
}

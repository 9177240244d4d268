/*
 * Command lines: lists of arguments, and the response files (@FILE) in them.
 *
 *     struct arguments arguments = VEC_INIT;
 *     arguments_expand(&arena, (const char *const *)argv + 1, argc - 1, &arguments);
 *     arguments_push(&arguments, "-g");
 *     arguments_deinit(&arguments);
 *
 * The strings are borrowed, from argv or from an arena; the list owns the array only.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_ARGUMENTS_H
#define INQUEST_INSTRUMENT_DRIVER_ARGUMENTS_H

#include <stdbool.h>

#include "common/vec.h"

struct arena;
struct strbuf;

VEC_DEFINE(arguments, const char *);
#define _cleanup_arguments_ __attribute__((__cleanup__(arguments_deinit)))

/*
 * Appends values to ret, every @FILE replaced by the arguments in FILE, as clang does it: a file
 * that cannot be read stays as it is (clang then says so), files may name further ones.
 */
void arguments_expand(struct arena *arena, const char *const *values, size_t count,
                      struct arguments *ret);

/* Appends the arguments that text (of a response file) holds; they live in the arena. */
void arguments_split(struct arena *arena, const char *text, size_t length, struct arguments *ret);

/* Appends the arguments as a response file has them, one a line, each in double quotes. */
void arguments_quote_response(const struct arguments *arguments, struct strbuf *ret);

/* Appends one argument as a POSIX shell would take it. */
void arguments_quote_shell(const char *argument, struct strbuf *ret);

bool arguments_contain(const struct arguments *arguments, const char *value);

/* The last component of a path. */
const char *path_name(const char *path);

static inline bool has_prefix(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

#endif

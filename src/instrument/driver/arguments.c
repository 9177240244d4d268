#include "instrument/driver/arguments.h"

#include <string.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"

/* A response file that names itself ends here; clang gives up on it too. */
#define NESTING_MAX 20

static bool is_space(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

/* One argument from text[at]; gives the position behind it. LLVM's TokenizeGNUCommandLine. */
static size_t argument_split(const char *text, size_t length, size_t at, struct strbuf *token)
{
    char quote = 0;
    for (; at < length; at++) {
        char character = text[at];
        if (character == '\\' && at + 1 < length) {
            strbuf_append_char(token, text[++at]);
        } else if (quote) {
            if (character == quote)
                quote = 0;
            else
                strbuf_append_char(token, character);
        } else if (character == '"' || character == '\'') {
            quote = character;
        } else if (is_space(character) || character == '\0') {
            break;
        } else {
            strbuf_append_char(token, character);
        }
    }
    return at;
}

void arguments_split(struct arena *arena, const char *text, size_t length, struct arguments *ret)
{
    _cleanup_strbuf_ struct strbuf token = STRBUF_INIT;
    size_t at = 0;
    for (;;) {
        while (at < length && (is_space(text[at]) || text[at] == '\0'))
            at++;
        if (at == length)
            return;
        strbuf_clear(&token);
        at = argument_split(text, length, at, &token);
        arguments_push(ret, arena_strdup(arena, token.data));
    }
}

static void expand(struct arena *arena, const char *const *values, size_t count, unsigned depth,
                   struct arguments *ret);

/* Whether @path could be expanded. */
static bool expand_file(struct arena *arena, const char *path, unsigned depth,
                        struct arguments *ret)
{
    if (depth == NESTING_MAX)
        return false;
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (err) {
        error_destroy(err);
        return false;
    }
    const char *text = (const char *)bytes.data;
    size_t length = bytes.size;
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return false; /* UTF-16: left to clang, which converts it */
    size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    _cleanup_arguments_ struct arguments nested = VEC_INIT;
    arguments_split(arena, text + mark, length - mark, &nested);
    expand(arena, nested.data, nested.length, depth + 1, ret);
    return true;
}

static void expand(struct arena *arena, const char *const *values, size_t count, unsigned depth,
                   struct arguments *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i][0] != '@' || !expand_file(arena, values[i] + 1, depth, ret))
            arguments_push(ret, values[i]);
    }
}

void arguments_expand(struct arena *arena, const char *const *values, size_t count,
                      struct arguments *ret)
{
    expand(arena, values, count, 0, ret);
}

void arguments_quote_response(const struct arguments *arguments, struct strbuf *ret)
{
    for (size_t i = 0; i < arguments->length; i++) {
        strbuf_append_char(ret, '"');
        for (const char *c = arguments->data[i]; *c; c++) {
            if (*c == '"' || *c == '\\')
                strbuf_append_char(ret, '\\');
            strbuf_append_char(ret, *c);
        }
        strbuf_append(ret, "\"\n");
    }
}

void arguments_quote_shell(const char *argument, struct strbuf *ret)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789%+,-./:=@_";
    if (*argument && argument[strspn(argument, safe)] == '\0') {
        strbuf_append(ret, argument);
        return;
    }
    strbuf_append_char(ret, '\'');
    for (const char *c = argument; *c; c++) {
        if (*c == '\'')
            strbuf_append(ret, "'\\''");
        else
            strbuf_append_char(ret, *c);
    }
    strbuf_append_char(ret, '\'');
}

bool arguments_contain(const struct arguments *arguments, const char *value)
{
    for (size_t i = 0; i < arguments->length; i++) {
        if (strcmp(arguments->data[i], value) == 0)
            return true;
    }
    return false;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#include "instrument/driver/options.h"

#include <stdint.h>
#include <string.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/strbuf.h"

const char options_help[] =
    "INQUEST OPTIONS:\n"
    "  -finquest=LEVEL[,SCHEME...]\n"
    "                          What the program records of its run: none (model only), calls,\n"
    "                          paths (the default) or full. Scheme: suspects (sampled predicates)\n"
    "  -fno-inquest-tunable    No plain copies of functions: smaller, and 'inquest tune' cannot\n"
    "                          switch recording off\n"
    "  -finquest-include=PATTERN\n"
    "                          Instrument functions whose names match, and no others (repeatable)\n"
    "  -finquest-exclude=PATTERN\n"
    "                          Do not instrument functions whose names match (repeatable)\n"
    "  -finquest-embed-objects Put objects without a model into the output, so that it can be\n"
    "                          linked again without them\n"
    "\n";

static const char *const level_names[] = {
    [SECTION_LEVEL_NONE] = "none",
    [SECTION_LEVEL_CALLS] = "calls",
    [SECTION_LEVEL_PATHS] = "paths",
    [SECTION_LEVEL_FULL] = "full",
};
#define LEVEL_COUNT (sizeof(level_names) / sizeof(level_names[0]))

void options_deinit(struct options *options)
{
    arguments_deinit(&options->schemes);
    arguments_deinit(&options->includes);
    arguments_deinit(&options->excludes);
    arguments_deinit(&options->maps);
}

static bool level_parse(const char *name, enum section_level *ret)
{
    for (unsigned i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *ret = (enum section_level)i;
            return true;
        }
    }
    return false;
}

/* How many letters have to be changed, added or left out to make one name of another. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], length = strlen(b);
    if (strlen(a) >= 32 || length >= 32)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = shorter < change ? shorter : change;
        }
    }
    return row[length];
}

static const char *const scheme_names[] = {OPTIONS_SUSPECTS};
#define SCHEME_COUNT (sizeof(scheme_names) / sizeof(scheme_names[0]))

static struct error *scheme_parse(const char *name, const char *argument, const char **ret)
{
    for (size_t i = 0; i < SCHEME_COUNT; i++) {
        if (strcmp(name, scheme_names[i]) == 0) {
            *ret = scheme_names[i];
            return NULL;
        }
    }
    for (size_t i = 0; i < SCHEME_COUNT; i++) {
        if (distance(name, scheme_names[i]) <= 3)
            return error_create(ERROR_USAGE, "unknown scheme '%s' in '%s': did you mean '%s'?",
                                name, argument, scheme_names[i]);
    }
    return error_create(ERROR_USAGE, "unknown scheme '%s' in '%s': there is 'suspects'", name,
                        argument);
}

/* LEVEL[,SCHEME...]; the last -finquest= on a command line counts as a whole. */
static struct error *parse_level(struct options *options, struct arena *arena, const char *argument,
                                 const char *value)
{
    char *rest = arena_strdup(arena, value);
    const char *name = strsep(&rest, ",");
    if (!level_parse(name, &options->level))
        return error_create(ERROR_USAGE,
                            "invalid level '%s' in '%s': one of none, calls, paths, full is wanted",
                            name, argument);
    arguments_clear(&options->schemes);
    while ((name = strsep(&rest, ","))) {
        const char *scheme = NULL;
        struct error *err = scheme_parse(name, argument, &scheme);
        if (err)
            return err;
        if (!arguments_contain(&options->schemes, scheme))
            arguments_push(&options->schemes, scheme);
    }
    return NULL;
}

static struct error *parse_pattern(struct arguments *patterns, const char *argument,
                                   const char *pattern)
{
    if (!*pattern)
        return error_create(ERROR_USAGE, "'%s' needs a pattern", argument);
    arguments_push(patterns, pattern);
    return NULL;
}

struct error *options_parse(struct options *options, struct arena *arena, const char *argument,
                            bool *ret_taken)
{
    static const char level[] = "-finquest=";
    static const char include[] = "-finquest-include=";
    static const char exclude[] = "-finquest-exclude=";

    *ret_taken = has_prefix(argument, "-finquest") || has_prefix(argument, "-fno-inquest");
    if (!*ret_taken)
        return NULL;
    if (has_prefix(argument, level))
        return parse_level(options, arena, argument, argument + strlen(level));
    if (has_prefix(argument, include))
        return parse_pattern(&options->includes, argument, argument + strlen(include));
    if (has_prefix(argument, exclude))
        return parse_pattern(&options->excludes, argument, argument + strlen(exclude));
    const char *name = strstr(argument, "inquest") + strlen("inquest");
    bool *value = strcmp(name, "-tunable") == 0         ? &options->tunable
                  : strcmp(name, "-embed-objects") == 0 ? &options->embeds
                                                        : NULL;
    if (!value)
        return error_create(ERROR_USAGE, "unknown argument: '%s'", argument);
    *value = !has_prefix(argument, "-fno-");
    return NULL;
}

bool options_sample(const struct options *options)
{
    return arguments_contain(&options->schemes, OPTIONS_SUSPECTS);
}

static void encode(struct strbuf *buffer, const char *key, const char *value)
{
    strbuf_printf(buffer, "%s%s=", buffer->length ? ":" : "", key);
    for (const char *c = value; *c; c++) {
        if (strchr(":%=,", *c) || *c < 0x21 || *c > 0x7e)
            strbuf_printf(buffer, "%%%02X", (unsigned)(unsigned char)*c);
        else
            strbuf_append_char(buffer, *c);
    }
}

static void encode_all(struct strbuf *buffer, const char *key, const struct arguments *values)
{
    for (size_t i = 0; i < values->length; i++)
        encode(buffer, key, values->data[i]);
}

void options_encode(const struct options *options, struct strbuf *ret)
{
    encode(ret, "level", level_names[options->level]);
    encode(ret, "tunable", options->tunable ? "1" : "0");
    encode_all(ret, "scheme", &options->schemes);
    encode_all(ret, "include", &options->includes);
    encode_all(ret, "exclude", &options->excludes);
    encode_all(ret, "map", &options->maps);
}

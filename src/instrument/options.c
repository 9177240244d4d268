// SPDX-License-Identifier: Apache-2.0
// The plugin's side of INQUEST_PLUGIN; the format stands in instrument/driver/options.h.
#include "instrument/instrument.h"

#include "common/alloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The decoded value, or NULL.
static char *decode(const char *text, size_t length)
{
    char *value = xmalloc(length + 1), *end = value;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            *end++ = text[i];
            continue;
        }
        if (i + 2 >= length || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) {
            free(value);
            return NULL;
        }
        *end++ = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
        i += 2;
    }
    *end = '\0';
    return value;
}

static bool parse_level(const char *value, uint32_t *level)
{
    static const char *const names[] = {"none", "calls", "paths", "full"};

    for (uint32_t i = 0; i < 4; i++)
        if (!strcmp(value, names[i])) {
            *level = i;
            return true;
        }
    return false;
}

static void append(char ***list, uint32_t *count, char *value)
{
    *list = xrealloc_array(*list, *count + 1u, sizeof(**list));
    (*list)[(*count)++] = value;
}

// Takes the value.
static bool set(struct instrument_options *options, const char *key, size_t key_length, char *value)
{
    bool ok = true;

    if (key_length == 7 && !memcmp(key, "include", 7))
        append(&options->include, &options->include_count, value);
    else if (key_length == 7 && !memcmp(key, "exclude", 7))
        append(&options->exclude, &options->exclude_count, value);
    else {
        if (key_length == 5 && !memcmp(key, "level", 5))
            ok = parse_level(value, &options->level);
        else if (key_length == 7 && !memcmp(key, "tunable", 7))
            options->tunable = !strcmp(value, "1");
        else if (key_length == 6 && !memcmp(key, "scheme", 6) && !strcmp(value, "suspects"))
            options->suspects = true;
        else if (key_length == 3 && !memcmp(key, "map", 3))
            ok = prefix_map_add(&options->map, &options->arena, value);
        else
            ok = false;
        free(value);
    }
    return ok;
}

bool instrument_options_init(struct instrument_options *options, const char *text,
                             const char **problem)
{
    *options = (struct instrument_options){.level = SECTION_LEVEL_PATHS, .tunable = true};
    while (text && *text) {
        size_t length = strcspn(text, ":");
        const char *equals = memchr(text, '=', length);
        char *value = equals ? decode(equals + 1, length - (size_t)(equals + 1 - text)) : NULL;

        if (!value || !set(options, text, (size_t)(equals - text), value)) {
            *problem = text;
            instrument_options_deinit(options);
            return false;
        }
        text += length + (text[length] == ':');
    }
    return true;
}

static void free_list(char **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void instrument_options_deinit(struct instrument_options *options)
{
    free_list(options->include, options->include_count);
    free_list(options->exclude, options->exclude_count);
    prefix_map_deinit(&options->map);
    arena_deinit(&options->arena);
    *options = (struct instrument_options){0};
}

static bool matches(char *const *patterns, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

bool instrument_options_wants(const struct instrument_options *options, const char *name)
{
    if (options->include_count && !matches(options->include, options->include_count, name))
        return false;
    return !matches(options->exclude, options->exclude_count, name);
}

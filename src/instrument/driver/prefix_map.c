#include "instrument/driver/prefix_map.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/strbuf.h"
#include "instrument/driver/arguments.h"

void prefix_map_deinit(struct prefix_map *map)
{
    prefixes_deinit(&map->prefixes);
}

/* What stands behind the first of these that argument begins with, or NULL. */
static const char *value_of(const char *argument, const char *const options[2])
{
    for (size_t i = 0; i < 2; i++) {
        if (has_prefix(argument, options[i]))
            return argument + strlen(options[i]);
    }
    return NULL;
}

static const char *map_value(const char *argument)
{
    static const char *const options[] = {"-ffile-prefix-map=", "-fdebug-prefix-map="};
    return value_of(argument, options);
}

const char *prefix_map_pair(const char *argument)
{
    const char *value = map_value(argument);
    return value && strchr(value, '=') ? value : NULL;
}

bool prefix_map_add(struct prefix_map *map, struct arena *arena, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (!equals)
        return false;
    struct prefix prefix = {arena_strndup(arena, pair, (size_t)(equals - pair)),
                            arena_strdup(arena, equals + 1)};
    prefixes_push(&map->prefixes, prefix);
    return true;
}

bool prefix_map_take(struct prefix_map *map, struct arena *arena, const char *argument)
{
    static const char *const directories[] = {"-fdebug-compilation-dir=",
                                              "-ffile-compilation-dir="};
    const char *directory = value_of(argument, directories);
    const char *pair = map_value(argument);
    if (directory)
        map->directory = directory;
    if (pair)
        prefix_map_add(map, arena, pair);
    return directory || pair;
}

/* The prefix that counts for path, or NULL. */
static const struct prefix *find_prefix(const struct prefix_map *map, const char *path,
                                        bool absolute)
{
    for (size_t i = map->prefixes.length; i-- > 0;) {
        const struct prefix *prefix = &map->prefixes.data[i];
        if (has_prefix(path, prefix->from) && (!absolute || prefix->from[0] == '/'))
            return prefix;
    }
    return NULL;
}

const char *prefix_map_path(const struct prefix_map *map, struct arena *arena, const char *path)
{
    const struct prefix *prefix = find_prefix(map, path, false);
    if (!prefix)
        return path;
    return arena_printf(arena, "%s%s", prefix->to, path + strlen(prefix->from));
}

static bool may_begin(const char *argument, size_t at)
{
    if (at == 0 || strchr("=,:", argument[at - 1]))
        return true;
    return at == 2 && argument[0] == '-' && argument[1] != '-';
}

const char *prefix_map_argument(const struct prefix_map *map, struct arena *arena,
                                const char *argument)
{
    if (!map->prefixes.length)
        return argument;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    for (size_t at = 0; argument[at];) {
        const struct prefix *prefix = argument[at] == '/' && may_begin(argument, at)
                                          ? find_prefix(map, argument + at, true)
                                          : NULL;
        if (prefix) {
            strbuf_append(&text, prefix->to);
            at += strlen(prefix->from);
        } else {
            strbuf_append_char(&text, argument[at++]);
        }
    }
    return arena_strdup(arena, text.data);
}

/* Clang trusts PWD where it leads here, so that symbolic links stay as the user sees them. */
static const char *current_directory(struct arena *arena)
{
    char path[PATH_MAX];
    struct stat named;
    struct stat here;
    const char *name = getenv("PWD");
    if (name && name[0] == '/' && stat(name, &named) == 0 && stat(".", &here) == 0 &&
        named.st_dev == here.st_dev && named.st_ino == here.st_ino)
        return name;
    return getcwd(path, sizeof(path)) ? arena_strdup(arena, path) : "";
}

const char *prefix_map_directory(const struct prefix_map *map, struct arena *arena)
{
    return prefix_map_path(map, arena, map->directory ? map->directory : current_directory(arena));
}

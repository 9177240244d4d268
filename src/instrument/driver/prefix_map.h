/*
 * -ffile-prefix-map=OLD=NEW and -fdebug-prefix-map=OLD=NEW, as clang applies them to debug
 * information: a path that begins with OLD (bytes, not directories) begins with NEW instead; of
 * several that fit the last one on the command line counts, and only that one.
 *
 *     struct prefix_map map = PREFIX_MAP_INIT;
 *     prefix_map_take(&map, &arena, "-ffile-prefix-map=/build=.");      // true
 *     prefix_map_path(&map, &arena, "/build/x.o");                      // "./x.o"
 *     prefix_map_argument(&map, &arena, "--version-script=/build/v");   // "--version-script=./v"
 *     prefix_map_deinit(&map);
 *
 * The plugin has this file, too, for the names of sources.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_PREFIX_MAP_H
#define INQUEST_INSTRUMENT_DRIVER_PREFIX_MAP_H

#include <stdbool.h>

#include "common/vec.h"

struct arena;

struct prefix {
    const char *from, *to;
};
VEC_DEFINE(prefixes, struct prefix);

struct prefix_map {
    struct prefixes prefixes;
    const char *directory; /* -fdebug-compilation-dir, -ffile-compilation-dir; NULL: not given */
};

#define PREFIX_MAP_INIT {VEC_INIT, NULL}

void prefix_map_deinit(struct prefix_map *map);

/* OLD=NEW of an argument that is such an option; NULL: it is none, or clang will refuse it. */
const char *prefix_map_pair(const char *argument);
/* One more OLD=NEW; true. False where there is no '='. */
bool prefix_map_add(struct prefix_map *map, struct arena *arena, const char *pair);
/* Whether the argument is one of these options, which is then heeded. */
bool prefix_map_take(struct prefix_map *map, struct arena *arena, const char *argument);

/* The path as it is to be stored; itself, or in the arena. */
const char *prefix_map_path(const struct prefix_map *map, struct arena *arena, const char *path);

/*
 * The same for an argument with paths in it: at its start, behind '=', ',' and ':', and behind the
 * letter of an option (-L/usr/lib). Only prefixes that are absolute count there, since any word may
 * begin as a relative one does.
 */
const char *prefix_map_argument(const struct prefix_map *map, struct arena *arena,
                                const char *argument);

/* Where we are, as clang says it in debug information. */
const char *prefix_map_directory(const struct prefix_map *map, struct arena *arena);

#endif

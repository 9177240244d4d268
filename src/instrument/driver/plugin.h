/*
 * The compiler plugin that belongs to this driver: ../lib/inquest/inquest-plugin.so, seen from the
 * driver's real path, in the build tree as well as installed.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_PLUGIN_H
#define INQUEST_INSTRUMENT_DRIVER_PLUGIN_H

#include <stdint.h>

struct arena;
struct error;

/* Its path, in the arena; an error when there is none that clang could load. */
struct error *plugin_find(struct arena *arena, const char **ret_path);

/* What programs that sample are linked with: libinquest-runtime.a beside it. */
struct error *plugin_find_runtime(struct arena *arena, const char **ret_path);

/* This driver under a linker's name, beside it, too. */
struct error *plugin_find_linker(struct arena *arena, const char *name, const char **ret_path);

/* The directory that inquest.h is in. */
struct error *plugin_find_headers(struct arena *arena, const char **ret_path);

/* Of the file's contents: tells one plugin from another for caches. */
struct error *plugin_hash(const char *path, uint64_t *ret);

#endif

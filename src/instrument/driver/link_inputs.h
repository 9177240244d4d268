/*
 * The inputs of a link, as the linker will find them.
 *
 *     struct link_inputs inputs = {.arena = &arena, .arguments = &arguments, ...};
 *     link_inputs_read(&inputs, &record);
 *     ... inputs.bodies ...
 *     link_inputs_deinit(&inputs);
 *
 * Walks the linker's command line (libraries are searched for as the linker does, linker scripts
 * such as libc.so are looked into) and writes arguments and inputs into the record. Only regular
 * files are opened: a pipe can be read once, and that is the linker's.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINK_INPUTS_H
#define INQUEST_INSTRUMENT_DRIVER_LINK_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/file.h"
#include "common/sha256.h"
#include "common/vec.h"
#include "instrument/driver/arguments.h"

struct arena;
struct link_record;
struct prefix_map;
struct request;

/* Contents that a record names by hash. */
enum link_embedding {
    LINK_EMBED_NEVER,  /* shared libraries: the program needs them to run, too */
    LINK_EMBED_ASKED,  /* with -finquest-embed-objects */
    LINK_EMBED_ALWAYS, /* small, and not to be had elsewhere: scripts, assembled sources */
};
struct link_body {
    const unsigned char *data;
    size_t size;
    struct sha256 hash;
    enum link_embedding embedding;
};
VEC_DEFINE(link_bodies, struct link_body);
VEC_DEFINE(file_list, struct file_bytes);

struct link_inputs {
    struct arena *arena;
    const struct request *request;
    const struct arguments *arguments; /* the linker's, its response files expanded */
    const struct arguments *added;     /* those that we add, before the user's inputs */
    const struct prefix_map *map;

    /* What was found. */
    size_t position;           /* in arguments, where those are added */
    struct link_bodies bodies; /* each once */
    struct file_list files;    /* mapped: the bodies are in them */
    const char *outdated;      /* some input with a model of another version, or NULL */
    bool members_open;         /* of some member it is not known whether the linker takes it */
};

/* Strings in the record are in the arena, or the user's. */
void link_inputs_read(struct link_inputs *inputs, struct link_record *record);
void link_inputs_deinit(struct link_inputs *inputs);

#endif

/*
 * What the driver tells itself across clang.
 *
 * Inputs of a link are all there only when the linker is run: sources have been compiled, and clang
 * has said all that it says to a linker. So clang is told to run us in the linker's place
 * (--ld-path), and we make the record there, then run the linker that clang would have run. What we
 * know of the command by then is put into a file in memory, whose path stands in the environment:
 *
 *     struct request request = {.driver = "inquest-cc", .linker = "/usr/bin/ld", ...};
 *     err = request_send(&request, &arena);            // sets INQUEST_LINK
 *
 *     err = request_receive(&arena, &request);         // in the linker's place
 *
 * The file is words, each with a NUL behind it, in the order of the members below.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_REQUEST_H
#define INQUEST_INSTRUMENT_DRIVER_REQUEST_H

#include <stdbool.h>

#include "instrument/driver/arguments.h"

struct arena;
struct error;

#define REQUEST_VARIABLE  "INQUEST_LINK"
#define REQUEST_SOURCE    "source:"
#define REQUEST_ASSEMBLER "assembler:"

struct request {
    const char *driver;     /* inquest-cc or inquest-c++ */
    const char *linker;     /* path of the one that clang would run */
    const char *compiler;   /* as clang names itself */
    bool has_plugin;        /* code is made with the plugin */
    bool samples;           /* the run time of sampling is linked in */
    bool embeds;            /* -finquest-embed-objects */
    bool warnings_off;      /* -w */
    struct arguments made;  /* for each argument of the linker that the command itself makes from a
                               source REQUEST_SOURCE or REQUEST_ASSEMBLER and the source, else "" */
    struct arguments given; /* the user's arguments, response files expanded */
};

void request_deinit(struct request *request);

struct error *request_send(const struct request *request, struct arena *arena);
/* Strings are in the arena. */
struct error *request_receive(struct arena *arena, struct request *ret);

#endif

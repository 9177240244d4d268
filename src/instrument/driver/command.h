/*
 * What one invocation of inquest-cc asks for, as far as it can be told from its arguments alone.
 *
 *     struct command command = COMMAND_INIT;
 *     struct error *err = command_parse(&command, &arena, &expanded);
 *     if (!err && command.kind == COMMAND_VERSION)
 *             ...
 *     command_deinit(&command);
 *
 * Whether a command of kind COMMAND_DRIVE really links is for clang to say (jobs.h).
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_COMMAND_H
#define INQUEST_INSTRUMENT_DRIVER_COMMAND_H

#include <stdbool.h>

#include "instrument/driver/arguments.h"
#include "instrument/driver/options.h"

struct arena;
struct error;

enum command_kind {
    COMMAND_PLAIN,   /* no code is made: preprocessing, syntax only, questions to the driver */
    COMMAND_VERSION, /* --version */
    COMMAND_HELP,    /* --help and --help-hidden */
    COMMAND_COMPILE, /* code is made and not linked: -c, -S */
    COMMAND_DRIVE,   /* up to the last step, which links unless clang finds otherwise */
};

struct command {
    enum command_kind kind;
    struct options options;
    struct arguments arguments; /* for clang: without our options, weak -g options raised */
    bool debug_given;           /* some -g option decides on debug information, -g0 too */
    bool unknown_locations_given;
    bool binutils_given;
    bool assembles_outside; /* with binutils that are not said to be recent enough to retain
                               sections */
    bool passes_disabled;   /* no pass runs, so no model is made */
    bool warnings_off;      /* -w */
    bool preprocesses;      /* sources are read, whatever is made of them */
};

#define COMMAND_INIT {.kind = COMMAND_DRIVE, .options = OPTIONS_INIT, .arguments = VEC_INIT}

void command_deinit(struct command *command);

/* arguments are those of the whole command without its name, response files expanded. */
struct error *command_parse(struct command *command, struct arena *arena,
                            const struct arguments *arguments);

#endif

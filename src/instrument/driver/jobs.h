/*
 * What clang would do for a command line: the programs it would run, in order (`clang -###`).
 *
 *     struct jobs jobs = VEC_INIT;
 *     struct error *err = jobs_ask(&arena, clang, &arguments, &jobs, &version);
 *     const struct job *link = jobs_find_link(&jobs);
 *     jobs_deinit(&jobs);
 *
 * Nobody but clang knows its inputs for sure: config files, -x, -Xlinker, default libraries.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_JOBS_H
#define INQUEST_INSTRUMENT_DRIVER_JOBS_H

#include <stdbool.h>

#include "instrument/driver/arguments.h"

struct arena;
struct error;

enum job_kind {
    JOB_FRONTEND,  /* clang -cc1 */
    JOB_ASSEMBLER, /* clang -cc1as */
    JOB_OTHER,     /* the linker, an outside assembler, objcopy, ar */
};

struct job {
    enum job_kind kind;
    const char *program;
    const char *const *arguments; /* without the program's name */
    size_t count;
};

VEC_DEFINE(jobs, struct job);
#define _cleanup_jobs_ __attribute__((__cleanup__(jobs_deinit)))

/*
 * Empty, too, where clang finds the command line in error: it will say so itself when it is run.
 * *ret_version is what clang calls itself. All strings are in the arena.
 */
struct error *jobs_ask(struct arena *arena, const char *clang, const struct arguments *arguments,
                       struct jobs *ret, const char **ret_version);

/* The text that clang -### writes. */
void jobs_parse(struct arena *arena, const char *text, struct jobs *ret);

/* The job that links for x86-64 ELF, or NULL. */
const struct job *jobs_find_link(const struct jobs *jobs);

/* The argument that follows option, or NULL. */
const char *job_option(const struct job *job, const char *option);
bool job_has(const struct job *job, const char *argument);
/* The file that a front end or assembler reads. */
const char *job_input(const struct job *job);
/* The job that makes the file from a source, through others where there are any, or NULL. */
const struct job *jobs_find_maker(const struct jobs *jobs, const char *file);
/* Whether its source is assembler text. */
bool job_assembles(const struct job *job);

#endif

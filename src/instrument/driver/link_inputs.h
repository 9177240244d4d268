/*
 * The inputs of a link, as the linker will find them.
 *
 *     struct link_inputs inputs = {.arena = &arena, .jobs = &jobs, .link = link, ...};
 *     link_inputs_read(&inputs, &record);
 *
 * Walks the linker's command line (libraries are searched for as the linker does, linker scripts
 * such as libc.so are looked into) and writes every input without a model into the record.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINK_INPUTS_H
#define INQUEST_INSTRUMENT_DRIVER_LINK_INPUTS_H

#include <stdbool.h>

struct arena;
struct arguments;
struct job;
struct jobs;
struct link_record;

struct link_inputs {
    struct arena *arena;
    const struct jobs *jobs;
    const struct job *link;
    const struct arguments *user; /* the user's arguments: what is not in them is the toolchain's */
    bool models_made;             /* sources compiled by these jobs get a model */
};

void link_inputs_read(const struct link_inputs *inputs, struct link_record *record);

#endif

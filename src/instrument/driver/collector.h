/*
 * What another program writes to a file, while it writes: a pipe, and a thread that empties it.
 *
 *     struct collector collector;
 *     err = collector_begin(&collector, &arena);       // collector.path, for the program to open
 *     process_run(...);
 *     collector_end(&collector);                       // collector.text has it all
 *     collector_deinit(&collector);
 *
 * A file in memory will not do for every program: lld tries whether it could make the file anew, in
 * the same directory, which /proc/PID/fd does not allow. Pipes it leaves alone.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_COLLECTOR_H
#define INQUEST_INSTRUMENT_DRIVER_COLLECTOR_H

#include <pthread.h>

#include "common/strbuf.h"

struct arena;
struct error;

struct collector {
    const char *path; /* in the arena; good for every process until the end */
    struct strbuf text;
    int reader, writer;
    pthread_t thread;
};

struct error *collector_begin(struct collector *collector, struct arena *arena);
/* When the program has ended. */
void collector_end(struct collector *collector);
void collector_deinit(struct collector *collector);

#endif

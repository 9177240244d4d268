// SPDX-License-Identifier: Apache-2.0
/*
 * Progress of long work, on stderr when that is a terminal and never otherwise.
 *
 *     struct progress progress;
 *     progress_init(&progress, "reading the model", count, quiet);
 *     for (uint64_t i = 0; i < count; i++, progress_update(&progress, i))
 *             ...
 *     progress_finish(&progress);
 *
 * One line, rewritten at most ten times a second, shown only once the work has lasted half a second
 * and erased at the end. progress_update is cheap enough for inner loops.
 */
#ifndef INQUEST_COMMON_PROGRESS_H
#define INQUEST_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* borrowed until progress_finish */
    uint64_t total;   /* 0: unknown */
    uint64_t next_ns; /* when to draw again */
    uint32_t skipped; /* updates since the clock was last read */
    bool active;
    bool drawn;
};

/* quiet (as --quiet) keeps it silent on a terminal as well. */
void progress_init(struct progress *progress, const char *what, uint64_t total, bool quiet);
/* For tests: the same, drawing or not regardless of what stderr is. */
void progress_init_forced(struct progress *progress, const char *what, uint64_t total, bool active);
void progress_draw(struct progress *progress, uint64_t done);
/* Erases the line. */
void progress_finish(struct progress *progress);

static inline void progress_update(struct progress *progress, uint64_t done)
{
    if (progress->active && ++progress->skipped >= 256) {
        progress->skipped = 0;
        progress_draw(progress, done);
    }
}

#endif

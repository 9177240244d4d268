// SPDX-License-Identifier: Apache-2.0
#include "common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t progress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void progress_init_forced(struct progress *progress, const char *what, uint64_t total, bool active)
{
    *progress = (struct progress){.what = what, .total = total, .active = active};
    if (active)
        progress->next_ns = progress_now() + UINT64_C(500000000);
}

void progress_init(struct progress *progress, const char *what, uint64_t total, bool quiet)
{
    progress_init_forced(progress, what, total, !quiet && isatty(STDERR_FILENO));
}

void progress_draw(struct progress *progress, uint64_t done)
{
    if (!progress->active)
        return;
    uint64_t now = progress_now();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + UINT64_C(100000000);
    progress->drawn = true;
    if (progress->total)
        fprintf(stderr, "\r\033[K%s: %.0f%%", progress->what,
                100.0 * (double)done / (double)progress->total);
    else
        fprintf(stderr, "\r\033[K%s: %" PRIu64, progress->what, done);
    fflush(stderr);
}

void progress_finish(struct progress *progress)
{
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->active = false;
    progress->drawn = false;
}

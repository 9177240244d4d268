// SPDX-License-Identifier: Apache-2.0
/*
 * What programs of stray.h are linked with. Compiled by plain clang.
 *
 * STRAY="POINT VISIT OFFSET COUNT CRASH ABORT VALUE...": the VISIT-th time that POINT is passed,
 * COUNT words are written OFFSET bytes from the object; the CRASH-th target from the beginning is a
 * bad one, or abort() is called for it. STRAY_FILE is where what happened is kept (struct seen).
 * With TRUTH_LOG or STRAY_OWN=1 words are written to a place of their own.
 */
#include "stray.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POINTS = 16, MOST_TARGETS = 4096 };

struct seen {
    uint64_t hash;
    uint64_t targets; // passed so far
    uint64_t address; // of the first word written
    uint64_t visits[POINTS];
    uint32_t writes;                // rows of `when`
    uint32_t when[MOST_TARGETS][3]; // point, visit, targets passed before it
};

static struct seen nowhere, *seen = &nowhere;
static volatile uint64_t own_place[64];
static int point, crash_with_abort, logging;
static unsigned long visit, crash_at, count;
static long offset;
static volatile int harmless;

volatile uint64_t *stray_hash = &nowhere.hash;
volatile uint32_t stray_count;
volatile uint64_t stray_values[8];

__attribute__((constructor)) static void read_environment(void)
{
    const char *what = getenv("STRAY"), *name = getenv("STRAY_FILE");
    int used = 0, file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;

    const char *own = getenv("STRAY_OWN");

    logging = getenv("TRUTH_LOG") || (own && *own == '1');
    if (file >= 0 && ftruncate(file, sizeof(*seen)) == 0) {
        seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    stray_hash = &seen->hash;
    if (!what || sscanf(what, "%d %lu %ld %lu %lu %d%n", &point, &visit, &offset, &count, &crash_at,
                        &crash_with_abort, &used) < 6)
        return;
    for (unsigned long i = 0; i < count && i < 8; i++) {
        unsigned long value = 0;
        int more = 0;

        sscanf(what + used, "%lx%n", &value, &more);
        stray_values[i] = value;
        used += more;
    }
}

volatile uint64_t *stray_at(int passed, volatile void *object)
{
    uint64_t now = ++seen->visits[passed];
    int due = passed == point && now == visit;

    if (seen->writes < MOST_TARGETS) {
        seen->when[seen->writes][0] = (uint32_t)passed;
        seen->when[seen->writes][1] = (uint32_t)now;
        seen->when[seen->writes++][2] = (uint32_t)seen->targets;
    }
    stray_count = due ? (uint32_t)count : 0;
    if (!due)
        return own_place;
    seen->address = (uint64_t)object + (uint64_t)offset;
    return logging ? own_place : (volatile uint64_t *)seen->address;
}

volatile int *stray_target(void)
{
    if (++seen->targets != crash_at)
        return &harmless;
    if (crash_with_abort)
        abort();
    return (volatile int *)16;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * What is linked into programs that sample predicates (layout/suspects.h). We are guests there:
 *
 *   - no malloc, no locks, no stdio; fixed buffers; only what a signal handler may do;
 *   - nothing is printed, nobody is stopped: what cannot be done is left undone, silently;
 *   - errno stays as it is, descriptors are closed before we return;
 *   - no libc is needed: the kernel is asked directly, the few symbols of libc that help are weak;
 *   - every symbol is hidden and named __inquest_*, so that each image has its own copy.
 *
 *   options.c   INQUEST_OPTIONS
 *   image.c     what is known of the image that we are in
 *   live.c      the file that counters live in; start, fork
 *   gap.c       how many regions to pass
 *   sampler.c   what compiled code calls
 *
 * Compiled code calls with all of its registers in use (LLVM's preserve_most), hence
 * RUNTIME_CALLED.
 */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_CALLED __attribute__((no_caller_saved_registers))

enum { RUNTIME_PATH = 4096 };

// From INQUEST_OPTIONS.
struct runtime_options {
    char directory[RUNTIME_PATH]; // absolute; empty: nothing is sampled
    uint64_t rate;                // at least 1
    uint64_t seed;
    bool has_seed;
    bool only_chance; // `first=0`: a region that is new to the process has no privilege
};

// `text` may be NULL. False: nothing is to be sampled.
bool __inquest_options_read(const char *text, struct runtime_options *options);

enum runtime_state {
    RUNTIME_NEW,  // nobody has looked at the options yet
    RUNTIME_BUSY, // somebody does
    RUNTIME_OFF,
    RUNTIME_ON,
};

struct runtime {
    int state;           // enum runtime_state
    uint32_t epoch;      // one more after each fork: threads draw from new sequences
    uint64_t seed;       // of this process
    uint64_t scale;      // for __inquest_gap()
    uint32_t threads;    // that have drawn so far
    const uint8_t *here; // 0 in a process that was forked and has no file of its own yet
    struct runtime_options options;
    uint32_t process;
    uint32_t forks; // children so far
};

extern struct runtime __inquest_runtime;

// Makes sure that the options were looked at and that the counters are this process's own.
RUNTIME_CALLED void __inquest_live_start(void);

// ---- image.c

struct suspects_live;
// Fills in build-id and path.
void __inquest_image_describe(struct suspects_live *live);

// ---- gap.c

// Of a rate: 2^32 / -log2(1 - 1 / rate); 0 for a rate of 1.
uint64_t __inquest_gap_scale(uint64_t rate);
// Geometric, at least 1: the number of trials up to and with the first success.
RUNTIME_CALLED uint64_t __inquest_gap(uint64_t *random, uint64_t rate, uint64_t scale);
RUNTIME_CALLED uint64_t __inquest_random(uint64_t *state);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * For programs that write where they must not, and crash a little later.
 *
 *     int room[8];
 *     L;                   // a place of the run; the sequence of all of them is compared
 *     STRAY(2, room);      // may write past either end of it
 *     CRASH;               // may be the end
 *
 * What is written, where and when, and which CRASH is the last one, comes from the environment
 * (stray_runtime.c). In the logging build the same statements run, and write to a place of their
 * own.
 */
#ifndef STRAY_H
#define STRAY_H

#include <stdint.h>

extern volatile uint64_t *stray_hash; // of the places so far
extern volatile uint32_t stray_count; // words to write now
extern volatile uint64_t stray_values[8];

volatile uint64_t *stray_at(int point, volatile void *object);
volatile int *stray_target(void);

#define L ((void)(*stray_hash = *stray_hash * 0x100000001b3u + __LINE__))

#define STRAY(point, object)                                                                       \
    do {                                                                                           \
        volatile uint64_t *at_ = stray_at(point, object);                                          \
        for (uint32_t k_ = 0; k_ < stray_count; k_++) {                                            \
            at_[k_] = stray_values[k_];                                                            \
            L;                                                                                     \
        }                                                                                          \
    } while (0)

#define CRASH ((void)(*stray_target() = 1))

#endif

// SPDX-License-Identifier: Apache-2.0
// What compiled code calls. The names are known to instrument/suspects.c.
#include "layout/suspects.h"
#include "runtime/runtime.h"

// Regions that this thread still passes without looking; compiled code takes one off at each head.
// 0 to begin with, so that the first head of a thread comes here.
extern __thread int64_t __inquest_countdown;
__thread int64_t __inquest_countdown __attribute__((tls_model("initial-exec")));

// The thread's own sequence of gaps.
static __thread struct {
    uint64_t random;
    uint32_t epoch;
    bool drawn; // the countdown is one that we gave
} thread __attribute__((tls_model("initial-exec")));

// Of glibc: no second thread was started yet.
extern char __libc_single_threaded __attribute__((weak));

#define FOREVER (INT64_MAX >> 1) // regions that nobody will live to see the end of

RUNTIME_CALLED int64_t __inquest_next(int64_t left, int64_t threshold);
RUNTIME_CALLED void __inquest_count(uint32_t *counters, uint64_t which);
RUNTIME_CALLED void __inquest_compare(uint32_t *counters, int64_t left, int64_t right);
RUNTIME_CALLED void __inquest_compare_unsigned(uint32_t *counters, uint64_t left, uint64_t right);
RUNTIME_CALLED void __inquest_float(uint32_t *counters, uint64_t bits);
RUNTIME_CALLED void __inquest_float_32(uint32_t *counters, uint32_t bits);
RUNTIME_CALLED uint32_t *__inquest_due(uint32_t *counters);

// Is there no other thread to count at the same time? Looked at before a region is counted, so also
// by a new thread before it counts anything.
static uint8_t alone;

static void seed_thread(void)
{
    uint32_t number = __atomic_fetch_add(&__inquest_runtime.threads, 1, __ATOMIC_RELAXED);

    thread.random = __inquest_runtime.seed ^ number * 0xd1342543de82ef95u;
    __inquest_random(&thread.random);
    thread.epoch = __inquest_runtime.epoch;
}

static bool is_ready(void)
{
    return __atomic_load_n(&__inquest_runtime.state, __ATOMIC_ACQUIRE) == RUNTIME_ON &&
           *(const volatile uint8_t *)__inquest_runtime.here;
}

// The countdown has run out. Returns twice the new one, plus 1 if this region is to be counted.
static int64_t draw(void)
{
    bool first = !thread.drawn;

    if (first || thread.epoch != __inquest_runtime.epoch)
        seed_thread();
    thread.drawn = true;
    uint64_t rate = __inquest_runtime.options.rate, scale = __inquest_runtime.scale;
    uint64_t gap = __inquest_gap(&thread.random, rate, scale);
    if (first) { // this is the first of the regions that the gap passes
        if (gap > 1)
            return (int64_t)(gap - 2) * 2;
        gap = __inquest_gap(&thread.random, rate, scale);
    }
    return (int64_t)(gap - 1) * 2 + 1;
}

// The countdown has run out (`left` is below 0), or this head is passed for the first time in the
// process (`threshold` is not 0). Twice the new countdown, plus 1 if this region is to be counted.
RUNTIME_CALLED int64_t __inquest_next(int64_t left, int64_t threshold)
{
    if (!is_ready())
        __inquest_live_start();
    int state = __atomic_load_n(&__inquest_runtime.state, __ATOMIC_ACQUIRE);
    if (state != RUNTIME_ON)
        return left >= 0 ? left * 2 : state == RUNTIME_OFF ? FOREVER - 1 : 0;
    uint8_t is_alone = &__libc_single_threaded && __libc_single_threaded;
    if (alone != is_alone)
        alone = is_alone;
    int64_t next = left >= 0 ? left * 2 : draw();
    return threshold && !__inquest_runtime.options.only_chance ? next | 1 : next;
}

// Counters stop where the highest bit is reached.
static inline void count(uint32_t *counter)
{
    if (__builtin_expect((int32_t)__atomic_load_n(counter, __ATOMIC_RELAXED) < 0, 0))
        return;
    if (alone)
        __asm__ volatile("incl %0" : "+m"(*counter)); // one instruction: signals do not split it
    else
        __asm__ volatile("lock incl %0" : "+m"(*counter));
}

RUNTIME_CALLED void __inquest_count(uint32_t *counters, uint64_t which)
{
    count(counters + which);
}

RUNTIME_CALLED void __inquest_compare(uint32_t *counters, int64_t left, int64_t right)
{
    count(counters + (left > right) + (left >= right));
}

RUNTIME_CALLED void __inquest_compare_unsigned(uint32_t *counters, uint64_t left, uint64_t right)
{
    count(counters + (left > right) + (left >= right));
}

static inline uint32_t float_kind(bool minus, uint64_t exponent, uint64_t most, uint64_t fraction)
{
    uint32_t positive = exponent == most ? SUSPECTS_FLOAT_INFINITY
                        : exponent       ? SUSPECTS_FLOAT_NORMAL
                        : fraction       ? SUSPECTS_FLOAT_SUBNORMAL
                                         : SUSPECTS_FLOAT_ZERO;

    if (exponent == most && fraction)
        return SUSPECTS_FLOAT_NAN;
    return minus ? SUSPECTS_FLOAT_COUNT - 1 - positive : positive; // they are in order
}

RUNTIME_CALLED void __inquest_float(uint32_t *counters, uint64_t bits)
{
    count(counters + float_kind(bits >> 63, bits >> 52 & 0x7ff, 0x7ff, bits << 12));
}

RUNTIME_CALLED void __inquest_float_32(uint32_t *counters, uint32_t bits)
{
    count(counters + float_kind(bits >> 31, bits >> 23 & 0xff, 0xff, bits & 0x7fffff));
}

// For code of which there is no second copy: each site is a region of its own. Where it is not to
// be counted, its counters are these.
RUNTIME_CALLED uint32_t *__inquest_due(uint32_t *counters)
{
    static uint32_t nobody[SUSPECTS_FLOAT_COUNT];

    if (--__inquest_countdown >= 0)
        return nobody;
    int64_t next = __inquest_next(-1, 0);
    __inquest_countdown = next >> 1;
    return next & 1 ? counters : nobody;
}

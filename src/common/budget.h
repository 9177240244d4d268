// SPDX-License-Identifier: Apache-2.0
/*
 * Limits on time and memory (`--time`, `--memory`), checked where loops turn.
 *
 *     struct budget budget;
 *     budget_init(&budget, 10.0, 0);                    // 10 seconds, any memory
 *     while (worklist_pop(&work, &node)) {
 *             if (budget_is_spent(&budget))
 *                     return partial(result);           // sound, `complete` is false
 *             ...
 *     }
 *
 * Time is wall clock from budget_init. Memory is the resident size of the whole process. Once spent
 * a budget stays spent. budget_is_spent looks at the clock on every 256th call and at memory at
 * most fifty times a second, so that it fits into inner loops; a turn of the loop should be short.
 */
#ifndef INQUEST_COMMON_BUDGET_H
#define INQUEST_COMMON_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct error;

enum budget_state {
    BUDGET_LEFT,
    BUDGET_TIME_SPENT,
    BUDGET_MEMORY_SPENT,
};

struct budget {
    uint64_t deadline_ns; /* on CLOCK_MONOTONIC; UINT64_MAX: none */
    uint64_t memory;      /* in bytes; 0: no limit */
    uint64_t next_memory_ns;
    uint32_t skipped;
    enum budget_state state;
};

/* 0 means no limit, for each. */
void budget_init(struct budget *budget, double seconds, uint64_t bytes);

/* Looks now, at time and memory both. */
bool budget_look(struct budget *budget);

static inline bool budget_is_spent(struct budget *budget)
{
    if (budget->state != BUDGET_LEFT)
        return true;
    if (++budget->skipped < 256)
        return false;
    return budget_look(budget);
}

/* Seconds left; infinity without a limit, 0 once spent. */
double budget_seconds_left(const struct budget *budget);

/* ERROR_LIMIT that says which limit was reached. The budget must be spent. */
struct error *budget_error(const struct budget *budget);

/* "10", "10s", "500ms", "2m", "1h"; more than 0. */
struct error *budget_parse_time(const char *text, double *ret_seconds);
/* "1048576", "512K", "512M", "2G" (powers of 1024, an optional B or iB after the letter). */
struct error *budget_parse_memory(const char *text, uint64_t *ret_bytes);

#endif

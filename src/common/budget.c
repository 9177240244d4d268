// SPDX-License-Identifier: Apache-2.0
#include "common/budget.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"

static uint64_t budget_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The second number of /proc/self/statm, in pages (proc(5)); 0 where it cannot be read. */
static uint64_t budget_resident(void)
{
    char text[128];
    int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    ssize_t length = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void budget_init(struct budget *budget, double seconds, uint64_t bytes)
{
    assert(seconds >= 0);
    *budget = (struct budget){.deadline_ns = UINT64_MAX, .memory = bytes};
    /* Longer than a century is no limit, and would not fit. */
    if (seconds > 0 && seconds < 4e9)
        budget->deadline_ns = budget_now() + (uint64_t)(seconds * 1e9);
}

bool budget_look(struct budget *budget)
{
    budget->skipped = 0;
    if (budget->state != BUDGET_LEFT)
        return true;
    if (budget->deadline_ns == UINT64_MAX && budget->memory == 0)
        return false;
    uint64_t now = budget_now();
    if (now >= budget->deadline_ns) {
        budget->state = BUDGET_TIME_SPENT;
    } else if (budget->memory && now >= budget->next_memory_ns) {
        budget->next_memory_ns = now + UINT64_C(20000000);
        if (budget_resident() > budget->memory)
            budget->state = BUDGET_MEMORY_SPENT;
    }
    return budget->state != BUDGET_LEFT;
}

double budget_seconds_left(const struct budget *budget)
{
    if (budget->state != BUDGET_LEFT)
        return 0;
    if (budget->deadline_ns == UINT64_MAX)
        return INFINITY;
    uint64_t now = budget_now();
    return now >= budget->deadline_ns ? 0 : (double)(budget->deadline_ns - now) / 1e9;
}

struct error *budget_error(const struct budget *budget)
{
    assert(budget->state != BUDGET_LEFT);
    if (budget->state == BUDGET_TIME_SPENT)
        return error_create(ERROR_LIMIT, "the time limit was reached");
    return error_create(ERROR_LIMIT, "the memory limit of %" PRIu64 " bytes was reached",
                        budget->memory);
}

struct error *budget_parse_time(const char *text, double *ret_seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
    char *end = NULL;
    double number = isdigit((unsigned char)text[0]) ? strtod(text, &end) : 0;
    if (!end || !isfinite(number) || number <= 0 || strpbrk(text, "xXpP"))
        return error_create(ERROR_USAGE, "not a time: '%s'", text);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0) {
            *ret_seconds = number * units[i].seconds;
            return NULL;
        }
    }
    return error_create(ERROR_USAGE, "not a time: '%s'", text);
}

struct error *budget_parse_memory(const char *text, uint64_t *ret_bytes)
{
    char *end = NULL;
    errno = 0;
    uint64_t number = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    if (!end || errno || number == 0)
        return error_create(ERROR_USAGE, "not a size: '%s'", text);
    static const char letters[] = "KMGT";
    unsigned shift = 0;
    const char *letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    if (letter) {
        shift = 10 * (unsigned)(letter - letters + 1);
        end++;
        if (end[0] == 'i' && end[1] == 'B')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end || number > UINT64_MAX >> shift)
        return error_create(ERROR_USAGE, "not a size: '%s'", text);
    *ret_bytes = number << shift;
    return NULL;
}

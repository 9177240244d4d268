// SPDX-License-Identifier: Apache-2.0
#include "analysis/effects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "analysis/effects_table.h"
#include "common/alloc.h"
#include "program/library.h"

struct area {
    const char *name;
    const struct effects_entry *entries;
    const uint32_t *count;
};

static const struct area areas[] = {
#define AREA(area) {#area, effects_##area, &effects_##area##_count},
    AREAS(AREA)
#undef AREA
};

#define AREA_COUNT (sizeof(areas) / sizeof(*areas))

// One name: the table has many in an entry.
struct known {
    char *name;
    const char *area;
    const struct effects *effects;
};

static struct known *known; // sorted by name
static uint32_t known_count;
static once_flag known_once = ONCE_FLAG_INIT;

static int compare_known(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static void add_names(const struct effects_entry *entry, const char *area)
{
    const char *name = entry->names + strspn(entry->names, " ");

    while (*name) {
        size_t length = strcspn(name, " ");

        known = xrealloc_array(known, known_count + 1, sizeof(*known));
        known[known_count++] = (struct known){xstrndup(name, length), area, &entry->effects};
        name += length + strspn(name + length, " ");
    }
}

static void make_known(void)
{
    for (size_t i = 0; i < AREA_COUNT; i++)
        for (uint32_t k = 0; k < *areas[i].count; k++)
            add_names(&areas[i].entries[k], areas[i].name);
    qsort(known, known_count, sizeof(*known), compare_known);
}

static const struct known *find_exactly(const char *name)
{
    struct known key = {.name = (char *)name};

    call_once(&known_once, make_known);
    return bsearch(&key, known, known_count, sizeof(*known), compare_known);
}

// The longest beginning that the table has with a * behind it.
static const struct known *find_by_beginning(const char *name)
{
    char beginning[64];

    for (size_t length = strnlen(name, sizeof(beginning) - 2); length > 4; length--) {
        memcpy(beginning, name, length);
        memcpy(beginning + length, "*", 2);
        const struct known *found = find_exactly(beginning);
        if (found)
            return found;
    }
    return NULL;
}

const struct effects *effects_find(const char *name)
{
    const struct known *found = find_exactly(name);
    char plain[64];

    if (!found && strncmp(name, "llvm.", 5) == 0)
        found = find_by_beginning(name);
    if (!found && library_plain_name(name, plain, sizeof(plain)))
        found = find_exactly(plain);
    return found ? found->effects : NULL;
}

uint32_t effects_count(void)
{
    call_once(&known_once, make_known);
    return known_count;
}

const char *effects_name(uint32_t index)
{
    assert(index < effects_count());
    return known[index].name;
}

const char *effects_area(uint32_t index)
{
    assert(index < effects_count());
    return known[index].area;
}

// Where the library's variables are.
static const struct {
    const char *name;
    enum effect_state state;
} variables[] = {
    {"stdin", EFFECT_STATE_STREAMS},
    {"stdout", EFFECT_STATE_STREAMS},
    {"stderr", EFFECT_STATE_STREAMS},
    {"_IO_2_1_stdin_", EFFECT_STATE_STREAMS},
    {"_IO_2_1_stdout_", EFFECT_STATE_STREAMS},
    {"_IO_2_1_stderr_", EFFECT_STATE_STREAMS},
    {"environ", EFFECT_STATE_ENVIRONMENT},
    {"__environ", EFFECT_STATE_ENVIRONMENT},
    {"_environ", EFFECT_STATE_ENVIRONMENT},
    {"optarg", EFFECT_STATE_TOKENS},
    {"optind", EFFECT_STATE_TOKENS},
    {"opterr", EFFECT_STATE_TOKENS},
    {"optopt", EFFECT_STATE_TOKENS},
    {"loc1", EFFECT_STATE_TOKENS},
    {"loc2", EFFECT_STATE_TOKENS},
    {"locs", EFFECT_STATE_TOKENS},
    {"tzname", EFFECT_STATE_TIME},
    {"timezone", EFFECT_STATE_TIME},
    {"daylight", EFFECT_STATE_TIME},
    {"__tzname", EFFECT_STATE_TIME},
    {"__timezone", EFFECT_STATE_TIME},
    {"__daylight", EFFECT_STATE_TIME},
    {"getdate_err", EFFECT_STATE_TIME},
    {"h_errno", EFFECT_STATE_DATABASE},
    {"_res", EFFECT_STATE_DATABASE},
    {"in6addr_any", EFFECT_STATE_STRINGS},
    {"in6addr_loopback", EFFECT_STATE_STRINGS},
    {"program_invocation_name", EFFECT_STATE_STRINGS},
    {"program_invocation_short_name", EFFECT_STATE_STRINGS},
    {"__progname", EFFECT_STATE_STRINGS},
    {"__progname_full", EFFECT_STATE_STRINGS},
    {"sys_siglist", EFFECT_STATE_STRINGS},
    {"sys_errlist", EFFECT_STATE_STRINGS},
    {"error_message_count", EFFECT_STATE_STREAMS},
    {"error_one_per_line", EFFECT_STATE_STREAMS},
    {"error_print_progname", EFFECT_STATE_STREAMS},
    {"obstack_alloc_failed_handler", EFFECT_STATE_HEAP},
    {"obstack_exit_failure", EFFECT_STATE_HEAP},
    {"re_syntax_options", EFFECT_STATE_LOCALE},
    {"_nl_msg_cat_cntr", EFFECT_STATE_LOCALE},
    {"signgam", EFFECT_STATE_ERRNO},
    {"argp_program_version", EFFECT_STATE_STRINGS},
    {"argp_program_bug_address", EFFECT_STATE_STRINGS},
    {"__libc_single_threaded", EFFECT_STATE_THREADS},
    {"__stack_chk_guard", EFFECT_STATE_PROCESS},
};

bool effects_variable(const char *name, enum effect_state *ret)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        if (strcmp(variables[i].name, name) == 0) {
            *ret = variables[i].state;
            return true;
        }
    return false;
}

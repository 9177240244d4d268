// SPDX-License-Identifier: Apache-2.0
/*
 * What a program that can fail on demand (log_plugin.cc, truth-inject) is linked with. From the
 * environment: TRUTH_FAULT=N, the N-th prepared access gets the address TRUTH_ADDRESS,
 * TRUTH_GLOBAL=N that of a variable by its name, TRUTH_LIBRARY=N the N-th prepared call of the C
 * library as its first argument; TRUTH_ABORT=N, the program ends at the N-th prepared call.
 */
#include <stdint.h>
#include <stdlib.h>

volatile int64_t __truth_fault_countdown = -1;
volatile int64_t __truth_global_countdown = -1;
volatile int64_t __truth_library_countdown = -1;
volatile int64_t __truth_abort_countdown = -1;
char *volatile __truth_bad_address = (char *)16;

static void read_count(const char *name, volatile int64_t *count)
{
    const char *text = getenv(name);

    if (text)
        *count = strtoll(text, NULL, 10);
}

__attribute__((constructor(101))) static void set_up(void)
{
    const char *address = getenv("TRUTH_ADDRESS");

    read_count("TRUTH_FAULT", &__truth_fault_countdown);
    read_count("TRUTH_GLOBAL", &__truth_global_countdown);
    read_count("TRUTH_LIBRARY", &__truth_library_countdown);
    read_count("TRUTH_ABORT", &__truth_abort_countdown);
    if (address)
        __truth_bad_address = (char *)strtoull(address, NULL, 0);
}

void __truth_fail(void) __attribute__((noreturn));

void __truth_fail(void)
{
    abort();
}

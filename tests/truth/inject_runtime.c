// SPDX-License-Identifier: Apache-2.0
/*
 * What a program that can fail on demand (log_plugin.cc, truth-inject) is linked with. From the
 * environment: TRUTH_FAULT=N, the N-th prepared access gets the address TRUTH_ADDRESS;
 * TRUTH_ABORT=N, the program ends at the N-th prepared call.
 */
#include <stdint.h>
#include <stdlib.h>

volatile int64_t __truth_fault_countdown = -1;
volatile int64_t __truth_abort_countdown = -1;
char *volatile __truth_bad_address = (char *)16;

__attribute__((constructor(101))) static void set_up(void)
{
    const char *fault = getenv("TRUTH_FAULT"), *end = getenv("TRUTH_ABORT");
    const char *address = getenv("TRUTH_ADDRESS");

    if (fault)
        __truth_fault_countdown = strtoll(fault, NULL, 10);
    if (end)
        __truth_abort_countdown = strtoll(end, NULL, 10);
    if (address)
        __truth_bad_address = (char *)strtoull(address, NULL, 0);
}

void __truth_fail(void) __attribute__((noreturn));

void __truth_fail(void)
{
    abort();
}

// SPDX-License-Identifier: Apache-2.0
// longjmp: what comes after depends on what led to it.
#include <setjmp.h>

static jmp_buf place;
static int noise;

static void worker(int n, int m)
{
    noise += m;                // out
    if (n > 2)                 // in
        longjmp(place, n + 4); // in
    worker(n + 1, m * 2);      // in
}

int main(int argc, char **argv)
{
    volatile int start = argc - 1; // in
    volatile int other = 9;        // out
    (void)argv;
    int code = setjmp(place); // in
    if (code == 0) {          // in
        other = other + 1;    // out
        worker(start, other); // in
        return 1;             // out
    }
    *(volatile int *)(long)code // in
        = 0;
    return noise + other; // out
}

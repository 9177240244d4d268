// SPDX-License-Identifier: Apache-2.0
// memset, memmove and memcpy of the source are calls, copies of structures are none.
// signal: SIGSEGV
// expect: stack fill main
#include <stdio.h>
#include <string.h>

struct big {
    char bytes[300];
};

static char buffer[64];
static struct big one, two;
static char *volatile where;

__attribute__((noinline)) static void fill(char *to, size_t n, int late)
{
    memset(to, 7, n);
    if (late)
        memmove(to, to + 1, n - 1);
    two = one;
    memcpy(where, to, n);
    puts("never");
}

int main(int argc, char **argv)
{
    (void)argv;
    fill(buffer, 30 + (size_t)argc, argc > 5);
    return 0;
}

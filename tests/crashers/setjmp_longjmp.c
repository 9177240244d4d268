// SPDX-License-Identifier: Apache-2.0
// Left by longjmp, from several depths; the calls that never returned count as made.
// signal: SIGSEGV
// expect: stack fail_here attempt main
#include <setjmp.h>
#include <stdio.h>

static jmp_buf environment;
static volatile int sink;

__attribute__((noinline)) static void leave(int depth)
{
    if (depth > 2)
        longjmp(environment, depth);
    sink += depth;
    leave(depth + 1);
}

__attribute__((noinline)) static void fail_here(int *where)
{
    for (int i = 0; i < 3; i++)
        sink += i;
    *where = sink;
}

__attribute__((noinline)) static void attempt(int round)
{
    if (round < 4)
        leave(round);
    else
        fail_here((int *)16);
    sink++;
}

int main(void)
{
    volatile int round = 0;
    int value = setjmp(environment);

    if (value)
        printf("back with %d\n", value);
    round++;
    attempt(round);
    return 0;
}

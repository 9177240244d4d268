// SPDX-License-Identifier: Apache-2.0
// Two calls of abort() that an optimiser would like to be one, in a function that never returns.
// signal: SIGABRT
// expect: stack stop check main
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noreturn, noinline)) static void stop(int reason)
{
    if (reason > 2) {
        sink = 1;
        abort();
    }
    sink = 2;
    abort();
}

__attribute__((noinline)) static int check(int value)
{
    if (value < 0)
        stop(1);
    if (value > 10)
        stop(3);
    if (value == 7)
        stop(2);
    return value;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 10; i++)
        sum += check(i);
    printf("%d\n", sum);
    return 0;
}

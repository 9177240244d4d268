// SPDX-License-Identifier: Apache-2.0
// The handler of the first signal is on the stack when the second one ends the program.
// signal: SIGABRT
// expect: stack handler broken main
// expect: signal-frame
#include <signal.h>
#include <stdlib.h>

static volatile int sink;

static void handler(int number)
{
    if (number == SIGSEGV) {
        sink++;
        abort();
    }
    sink--;
}

__attribute__((noinline)) static int broken(const int *p, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

int main(void)
{
    signal(SIGSEGV, handler);
    sink = broken((const int[]){1, 2, 3}, 3);
    return broken((const int *)16, 2) + 1;
}

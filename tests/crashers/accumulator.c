// SPDX-License-Identifier: Apache-2.0
// Recursion with something left to do afterwards is made a loop all the same: one frame, an inlined
// one in one case, stands for many activations.
// opt: -O2
// truth: none
// signal: SIGABRT
// expect: stack total sum main
// expect: gap sum
#include <stdlib.h>

static volatile int noted;

static void note(int n)
{
    noted += n;
}

__attribute__((noinline)) static int sum(int n, int end);

static int total(int n)
{
    if (n % 7 == 3)
        note(n);
    if (n == 0)
        abort();
    return total(n - 1) + 1;
}

__attribute__((noinline)) static int sum(int n, int end)
{
    if (n == end)
        return total(n);
    note(n);
    return sum(n - 1, end) + n;
}

int main(int argc, char **argv)
{
    (void)argv;
    return sum(5000000, 4000000 + argc) != 0;
}

// SPDX-License-Identifier: Apache-2.0
// A stack 100,000 deep.
// signal: SIGABRT
// expect: stack bottom descend descend descend
// expect: depth 100002
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int bottom(int n)
{
    if (n == 0)
        abort();
    return n;
}

__attribute__((noinline)) static int descend(int n)
{
    int result = 0;

    if (n % 3 == 0)
        sink++;
    if (n == 0)
        result = bottom(0);
    else
        result = descend(n - 1);
    return result + sink;
}

int main(void)
{
    return descend(99999) + 1;
}

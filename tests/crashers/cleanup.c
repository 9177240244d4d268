// SPDX-License-Identifier: Apache-2.0
// The cleanup attribute with -fexceptions: calls become invokes, with landing pads.
// cflags: -fexceptions
// signal: SIGSEGV
// expect: stack release work main
#include <stdlib.h>

static volatile int count;

__attribute__((noinline)) static void release(int **where)
{
    if (++count > 2)
        **where = 1;
}

__attribute__((noinline)) static int use(int *p, int n)
{
    return n > 2 ? *p : n;
}

__attribute__((noinline)) static int work(int n)
{
    int value = 3;
    __attribute__((cleanup(release))) int *outer = &value;
    {
        __attribute__((cleanup(release))) int *inner = n < 2 ? &value : (int *)16;
        value += use(&value, n);
        if (n == 1)
            return value;
    }
    return value + use(outer, 3);
}

int main(void)
{
    return work(1) + work(2);
}

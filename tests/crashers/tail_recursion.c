// SPDX-License-Identifier: Apache-2.0
// 50 million deep by tail calls, of one function and of two in turn: no stack may be used for them.
// opt: -O2
// truth: none
// signal: SIGABRT
// expect: stack finish even main
// expect: gap even
#include <stdlib.h>

static volatile unsigned long sink;
static long even(long n);

__attribute__((noinline)) static long finish(long n)
{
    sink += (unsigned long)n;
    if (sink)
        abort();
    return n;
}

__attribute__((noinline)) static long odd(long n)
{
    if (n == 0)
        return finish(1);
    sink++;
    return even(n - 1);
}

__attribute__((noinline)) static long even(long n)
{
    if (n == 0)
        return finish(2);
    sink++;
    return odd(n - 1);
}

__attribute__((noinline)) static long count(long n, long sum)
{
    if (n == 0)
        return sum;
    sink++;
    return count(n - 1, sum + n % 3);
}

int main(void)
{
    return (int)(count(50000000, 0) + even(50000000) + 1);
}

// Between a call that takes over the frame, or becomes a loop, and the return nothing is sampled.
// opt: -O1 -O2 -O3 -Os
// levels: none,suspects paths,suspects
// sampled: 1
// output: a9193677 bcfdab60 c4334577
#include <stdio.h>

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned a);
static __attribute__((noinline)) unsigned array_odd(unsigned n, unsigned a);

static __attribute__((noinline)) unsigned even(unsigned n, unsigned a)
{
    unsigned r = a;

    if (n == 0)
        return a;
    r = odd(n - 1, a * 7u + 1u);
    return r;
}

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned a)
{
    unsigned r = n == 0 ? ~a : n & 4 ? even(n - 1, a ^ n) : odd(n - 1, a + n), done = r;

    return done;
}

static __attribute__((noinline)) unsigned sum(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned rest = sum(n - 1);
    rest += n;
    return rest;
}

// The end of the array's life stands before the return.
static __attribute__((noinline)) unsigned array_even(unsigned n, unsigned a)
{
    unsigned array[8];

    if (n == 0)
        return a;
    for (unsigned i = 0; i < 8; i++)
        array[(i + a) & 7u] = a + i;
    a += array[n & 7u];
    return array_odd(n - 1, a * 7u + 1u);
}

static __attribute__((noinline)) unsigned array_odd(unsigned n, unsigned a)
{
    return n == 0 ? ~a : n & 4 ? array_even(n - 1, a ^ n) : array_odd(n - 1, a + n);
}

int main(void)
{
    printf("%x %x %x\n", even(3000000, 1), sum(3000000), array_even(3000000, 1));
    return 0;
}

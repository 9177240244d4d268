// Recursion that only inlining makes a loop of, while every pass is sampled.
// opt: -O1 -O2 -O3 -Os
// levels: none,suspects paths,suspects
// sampled: 1
// output: bcfdabe1 5b8d81
#include <stdio.h>

static unsigned even(unsigned n, unsigned a);
static unsigned down(unsigned n);

static unsigned with(unsigned *x, unsigned n, unsigned **where)
{
    *where = x;
    *x += n;
    if (n % 5 == 0)
        *x ^= 77;
    return even(n - 1, **where);
}

static __attribute__((noinline)) unsigned even(unsigned n, unsigned a)
{
    unsigned local = a, *where;

    if (n == 0)
        return a;
    return with(&local, n, &where);
}

static unsigned up(unsigned n)
{
    return n == 0 ? 0 : down(n - 1) + 3;
}

static __attribute__((noinline)) unsigned down(unsigned n)
{
    return n == 0 ? 1 : up(n - 1) + 1;
}

int main(void)
{
    printf("%x %x\n", even(3000000, 1), down(3000000));
    return 0;
}

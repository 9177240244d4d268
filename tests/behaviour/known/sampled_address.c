// Addresses of locals, which sampling must not compare: what follows would be no tail call any more.
// opt: -O1 -O2 -O3 -Os
// levels: none,suspects paths,suspects
// sampled: 1
// output: 964028a7 cb304769
#include <stdio.h>

struct walk {
    unsigned *sum;
    unsigned n;
};

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned a);
static __attribute__((noinline)) unsigned deep_odd(unsigned n, unsigned a);

static __attribute__((noinline)) unsigned even(unsigned n, unsigned a)
{
    if (n == 0)
        return a;
    if (a & 1) {
        unsigned *p = (a & 2) ? &a : &a;
        *p ^= n;
    }
    return odd(n - 1, a * 7u + 1u);
}

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned a)
{
    return n == 0 ? ~a : n & 4 ? even(n - 1, a ^ n) : odd(n - 1, a + n);
}

// Addresses show only where variables have been promoted, and this function inlined.
static inline void step(struct walk *walk)
{
    struct walk *here = walk;
    unsigned **where = &here->sum, *sum = *where;

    *sum = *sum * 3u + here->n;
}

static __attribute__((noinline)) unsigned deep_even(unsigned n, unsigned a)
{
    struct walk walk = {&a, n}, *p = &walk, **pp = &p;

    if (n == 0)
        return a;
    step(*pp);
    return deep_odd(n - 1, a * 7u + 1u);
}

static __attribute__((noinline)) unsigned deep_odd(unsigned n, unsigned a)
{
    return n == 0 ? ~a : n & 4 ? deep_even(n - 1, a ^ n) : deep_odd(n - 1, a + n);
}

int main(void)
{
    printf("%x %x\n", even(3000000, 1), deep_even(3000000, 1));
    return 0;
}

// Tail recursion while every pass is sampled.
// opt: -O2
// levels: none,suspects paths,suspects
// sampled: 1
#include <stdio.h>

static __attribute__((noinline)) unsigned loop(unsigned n, unsigned a)
{
    return n == 0 ? a : loop(n - 1, a * 3u + n);
}

int main(void)
{
    printf("%x\n", loop(3000000, 1));
    return 0;
}

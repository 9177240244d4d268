// Recursion with something left to do is made a loop as well.
// opt: -O2
// output: 3000000
#include <stdio.h>

static __attribute__((noinline)) unsigned sum(unsigned n)
{
    if (n == 0)
        return 0;
    return sum(n - 1) + 1;
}

int main(void)
{
    printf("%u\n", sum(3000000));
    return 0;
}

// The tail call is in a function that is inlined into the one it calls.
// opt: -O1 -O2 -O3 -Os
// output: c8734e81
#include <stdio.h>

unsigned ping(unsigned n, unsigned a);
unsigned pong(unsigned n, unsigned a);

unsigned pong(unsigned n, unsigned a)
{
    return n == 0 ? ~a : ping(n - 1, a ^ n);
}

unsigned ping(unsigned n, unsigned a)
{
    if (n == 0)
        return a;
    if (a & 1)
        a += a << 3;
    return pong(n - 1, a * 3u + 1u);
}

int main(void)
{
    printf("%x\n", ping(3000000, 1));
    return 0;
}

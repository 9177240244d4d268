// strcpy of a constant is no call in plain code, so that the array does not escape and the tail call stays one.
// opt: -O1 -O2 -O3 -Os
// levels: calls paths full untunable paths,suspects
// output: 21762eb0
#include <stdio.h>
#include <string.h>

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned sum);

static __attribute__((noinline)) unsigned even(unsigned n, unsigned sum)
{
    char text[16];

    if (n == 0)
        return sum;
    strcpy(text, "abcdefg");
    sum += text[n & 7];
    return odd(n - 1, sum * 7u + 1u);
}

static __attribute__((noinline)) unsigned odd(unsigned n, unsigned sum)
{
    return n == 0 ? ~sum : n & 4 ? even(n - 1, sum ^ n) : odd(n - 1, sum + n);
}

int main(void)
{
    printf("%x\n", even(3000000, 1));
    return 0;
}

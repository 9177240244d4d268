// SPDX-License-Identifier: Apache-2.0
// A signal at any instruction: inside updates of the record, in prologues and epilogues.
// truth: step 150
#include <stddef.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned leaf(unsigned n)
{
    return n & 1 ? n * 3 + 1 : n / 2;
}

__attribute__((noinline)) static unsigned count(unsigned n)
{
    unsigned steps = 0;

    while (n != 1) {
        n = leaf(n);
        if (n & 4)
            steps += 2;
        else if (n & 8)
            continue;
        steps++;
    }
    return steps;
}

static unsigned inlined(unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i; j < n; j++)
            sum += i ^ j;
    return sum + count(n + 1);
}

int main(void)
{
    for (unsigned n = 1; n < 12; n++) {
        sink += inlined(n);
        if (sink & 1)
            sink += count(n);
    }
    return 0;
}

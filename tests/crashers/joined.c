// SPDX-License-Identifier: Apache-2.0
// Loads of two branches, of which the optimiser would make one: each keeps its place.
// opt: -O0 -O1 -O2 -O3 -Os
// build: -finquest=calls
// build: -finquest=full
// signal: SIGSEGV
// expect: first pick
// expect: candidates pick exact
#include <stdio.h>

struct pair {
    int number, value;
};

__attribute__((noinline)) static int pick(struct pair *a, struct pair *b, int count)
{
    int sum;

    if (count > 4)
        sum = a->value;
    else
        sum = b->value;
    for (int i = 0; i < count; i++)
        sum += putchar('0' + i) == '7';
    return sum;
}

int main(int argc, char **argv)
{
    struct pair good = {1, 2};

    good.value = pick(&good, &good, 3) + pick(&good, &good, 8);
    return pick(&good, (struct pair *)(argc > 5 ? argv : (char **)24), good.value % 4);
}

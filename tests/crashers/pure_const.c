// SPDX-License-Identifier: Apache-2.0
// Functions said to have no effect: an optimiser may not move or merge their calls behind evidence.
// signal: SIGSEGV
// expect: stack look main
static volatile int sink;

__attribute__((const, noinline)) static int square(int n)
{
    return n * n;
}

__attribute__((pure, noinline)) static int look(const int *p, int n)
{
    return n > 2 ? p[0] + n : n;
}

int main(int argc, char **argv)
{
    int sum = square(argc), unused = square(7);
    const int *p = argc > 40 ? &sum : (const int *)16;

    (void)argv;
    for (int i = 0; i < 5; i++) {
        int far = square(i);

        if (i == 2)
            sum += far + square(argc);
        sum += look(p, i);
        sink = sum;
    }
    return sum + (sink ? unused : 0);
}

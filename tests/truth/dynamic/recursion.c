// SPDX-License-Identifier: Apache-2.0
// Recursion, and calls through pointers: which function was called depends on the pointer.
static long noise;

static int down(int n, int step)
{
    noise += n;                      // out
    if (n <= 3)                      // in
        return n;                    // in
    return down(n - step, step) + 1; // in
}

static int twice(int n)
{
    return 2 * n; // out: never called
}

static int half(int n)
{
    return n / 2; // in
}

static int (*const table[])(int) = {twice, half};

int main(int argc, char **argv)
{
    int which = argc;         // in
    int (*f)(int) = table[0]; // out
    int unused = 12;          // out
    (void)argv;
    f = table[which];            // in
    int depth = down(9, argc);   // in
    unused = f(unused);          // out
    int value = f(depth);        // in
    *(volatile int *)(long)value // in
        = 0;
    return unused;
}

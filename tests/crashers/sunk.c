// SPDX-License-Identifier: Apache-2.0
// Instructions that the optimiser moved down, past a call, into the only branch that needs them: a
// signal arrives there when their node, and the function that was inlined there, are long left.
// truth: step 250
static volatile unsigned sink;

__attribute__((noinline)) static void note(unsigned n)
{
    sink += n;
}

__attribute__((noinline)) static unsigned own(unsigned a, unsigned b)
{
    unsigned mixed = (a * 2654435761u ^ b >> 3) * (b + 40503u) ^ a << 7;

    note(a);
    if (b & 1)
        return mixed ^ mixed >> 11;
    return b;
}

static inline unsigned mix(unsigned a, unsigned b)
{
    unsigned x = a * 2246822519u + (b ^ 3266489917u);

    return x * (x >> 5 ^ 668265263u) + (x << 9);
}

__attribute__((noinline)) static unsigned inlined(unsigned a, unsigned b)
{
    unsigned mixed = mix(a, b);

    note(b);
    if (!(a & 1))
        return a;
    return mixed ^ mixed >> 13;
}

int main(void)
{
    for (unsigned n = 1; n < 60; n++) {
        sink += own(n, n ^ 21);
        sink += inlined(n, n + 3);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Arguments and results: an argument that the result does not need is out, although the call is in.
static int calls_made;

static int choose(int wanted, int other)
{
    calls_made++;      // out
    other = other * 2; // out
    return wanted + 1; // in
}

static void set(int *where, int what)
{
    *where = what; // in, writes local
}

static int unused(int x)
{
    return x * 3; // out
}

int main(int argc, char **argv)
{
    int good = argc + 10; // in
    int bad = argc + 99;  // out
    int value, other;
    (void)argv;
    bad = unused(bad);      // out
    set(&other, bad);       // out
    value = choose(good,    // in
                   bad);    // out
    set(&value, value);     // in
    *(volatile int *)(long) // in
        value = 0;
    return other + calls_made; // out
}

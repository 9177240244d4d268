// SPDX-License-Identifier: Apache-2.0
// A load of an argument that is true or false becomes part of a comparison in the inlined function, which had not been entered.
// opt: -O0 -O1 -O2 -O3 -Os
// build: -finquest=calls
// build: -finquest=full
// signal: SIGSEGV
// expect: first set_up
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    bool many, simple;
};

static bool is_simple(bool many)
{
    if (many)
        return 0;
    for (int i = 0; i < 3; i++)
        if (putchar('a' + i) == 'b')
            return false;
    return 1;
}

__attribute__((noinline)) static void set_up(struct state *state, struct state *other)
{
    other->many = rand() < 0;
    other->simple = is_simple(state->many);
}

int main(int argc, char **argv)
{
    struct state good = {1, 0}, other;

    set_up(&good, &other);
    set_up((struct state *)(argc > 5 ? argv : 0), &other);
    return other.simple;
}

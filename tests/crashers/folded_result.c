// SPDX-License-Identifier: Apache-2.0
// A load in an inlined function becomes part of a comparison behind its call: control had not come there.
// opt: -O0 -O1 -O2 -O3 -Os
// build: -finquest=calls
// build: -finquest=full
// signal: SIGSEGV
// expect: coverage compare level yes
#include <stdio.h>

struct state {
    int level, other;
};

static int level(const struct state *state)
{
    return state->level;
}

__attribute__((noinline)) static int compare(const struct state *state)
{
    int result = 1;
    int now = level(state);

    if (now > 3)
        result = 2;
    return result;
}

int main(int argc, char **argv)
{
    struct state good = {4, 5};

    printf("%d\n", compare(&good));
    fflush(stdout);
    return compare((const struct state *)(argc > 5 ? argv : 0));
}

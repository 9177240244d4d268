// opt: -O1 -O2 -O3 -Os -Oz
// levels: calls paths full off off=run off=step off=deref
// output: 786 7 40 3
// Arguments that are the same at every call, that are not used, or that are read through a pointer: LLVM takes them away from functions that
// only this file calls. Whoever is on calls the plain copy of what is off, with the arguments of the source.
#include <stdio.h>

static const unsigned char code[8] = {1, 0, 2, 1, 0, 2, 1, 3};
static int sink;

static __attribute__((noinline)) int run(const unsigned char *program, int steps, int unused, int value)
{
    static const void *const table[] = {&&add, &&twice, &&back, &&end};
    int at = 0;
    goto *table[program[at++ & 7]];
add:
    value += steps;
    goto *table[program[at++ & 7]];
twice:
    value *= 2;
    goto *table[program[at++ & 7]];
back:
    if (--steps < 0)
        return value + unused * 0;
    goto *table[program[at++ & 7]];
end:
    return value + printf("%s", "");
}

static __attribute__((noinline)) int step(int by, int from, int ignored)
{
    sink += printf("%s", "");
    return from + by;
}

static __attribute__((noinline)) int deref(int *const *cell)
{
    sink += printf("%s", "");
    return **cell;
}

// Its label keeps it from being copied: it always calls what records.
static __attribute__((noinline)) int labelled(int n)
{
    __asm__ volatile("inquest_known_label:");
    return step(n, 30, 1);
}

int main(int argc, char **argv)
{
    int three = 3, *cell = &three;
    printf("%d ", run(code, 130 * argc, 5, argc));
    printf("%d ", step(2, 4 + argc, 9));
    printf("%d ", labelled(10 * argc));
    printf("%d\n", deref(&cell));
    return argv[0] == 0;
}

// Computed goto with retpolines, sampled.
// opt: -O1 -O2
// flags: -mretpoline
// levels: paths none,suspects
// output: 6142
#include <stdio.h>

static unsigned run(const unsigned char *code, unsigned left, unsigned acc)
{
    static const void *const table[] = {&&add, &&twice};
    unsigned pc = 0;

    goto *table[code[pc++ & 3]];
add:
    acc += 3;
    if (!left--)
        return acc;
    goto *table[code[pc++ & 3]];
twice:
    acc *= 2;
    if (!left--)
        return acc;
    goto *table[code[pc++ & 3]];
}

int main(void)
{
    printf("%u\n", run((const unsigned char *)"\0\1\1\0", 20, 1));
    return 0;
}

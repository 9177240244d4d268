// What `asm goto` gives is stored behind it, and not looked at elsewhere.
// opt: -O0 -O2
// levels: paths none,suspects full,suspects
// output: 7
#include <stdio.h>

static int get(int x)
{
    int result = 3, other = x, limit = 5;

    __asm__ goto("movl %1, %0" : "=r"(result) : "r"(x) : : failed);
    if (result > limit && other < 100)
        return result;
failed:
    return result + other;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", get(argc + 6));
    return 0;
}

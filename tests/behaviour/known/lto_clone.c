// A function that is cloned when the program is linked.
// opt: -O2 -O3
// flags: -flto -fuse-ld=lld
// levels: calls paths full untunable
// output: a b
#include <stdio.h>

__attribute__((noinline)) static int measure(const char *const *text)
{
    int n = 0;

    for (; *text; text++)
        n += printf("%s%s", *text, text[1] ? " " : "\n");
    return n;
}

int main(void)
{
    const char *text[] = {"a", "b", NULL};

    return measure(text) != 4;
}

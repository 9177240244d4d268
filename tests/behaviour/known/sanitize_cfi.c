// CFI's jump tables stand for the addresses of functions.
// opt: -O0 -O2
// flags: -flto -fvisibility=hidden -fsanitize=cfi -fsanitize-trap=cfi -fuse-ld=lld
// levels: paths calls off
// output: big 10 big3 15
#include <stdio.h>

typedef int (*fn)(int);

__attribute__((noinline)) int twice(int x)
{
    if (x > 3)
        printf("big ");
    return 2 * x;
}

__attribute__((noinline)) int thrice(int x)
{
    if (x > 3)
        printf("big3 ");
    return 3 * x;
}

fn volatile table[] = {twice, thrice};

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 2; i++)
        printf("%d%s", table[i](argc + 4), i ? "\n" : " ");
    return 0;
}

// Code that another assembler reads.
// opt: -O0 -O3
// flags: -fno-integrated-as
// output: 1 3
#include <stdio.h>

int first(int x);
int second(int x);

int first(int x)
{
    return printf("%d ", x) > 0 ? x + 2 : 0;
}

int second(int x)
{
    return x > 100 ? first(x) : x;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", second(first(argc)));
    return 0;
}

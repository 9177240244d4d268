// opt: -O1 -O2 -Os -Oz
// levels: paths full off off=gone off=also
// output: 5 11 12
// A function that is shorter than a jump, and another right behind it.
#include <stdio.h>
static volatile int never;
__attribute__((noinline, aligned(1))) int gone(int x)
{
    for (int i = 0; i < 3; i++) {
        if (~i != i)
            continue;
        puts("never");
    }
    return x;
}
__attribute__((noinline, aligned(1))) int behind(int x) { return x * 2 + 1; }
__attribute__((noinline, aligned(1))) int also(int x) { return 0 && puts("never") ? 1 : x; }
__attribute__((noinline, aligned(1))) int last(int x) { return x * 2 + 2; }
int main(int argc, char **argv)
{
    printf("%d %d %d\n", also(gone(4 + argc)), behind(4 + argc), last(4 + argc));
    return never + (argv == 0);
}

// opt: -O0 -O1 -O2 -O3
// levels: calls paths full untunable off
// output: 7 1 8
// Labels in assembly that stand once, in functions that plain clang inlines where their only call is.
#include <stdio.h>
extern const char known_mark[], other_mark[];
__attribute__((noduplicate)) static int marked(int a)
{
    __asm__ volatile(".globl known_mark\nknown_mark:");
    return a + 1;
}
static inline __attribute__((always_inline)) int inlined(int a)
{
    __asm__ volatile(".globl other_mark\nother_mark:");
    return a + 2;
}
static int outer(int a) { return inlined(a); }
static int middle(int a) { return marked(a); }
int main(int argc, char **argv)
{
    printf("%d %d %d\n", middle(5 + argc), known_mark != other_mark && argv, outer(5 + argc));
    return 0;
}

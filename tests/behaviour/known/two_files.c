// Tail calls in a cycle over two source files.
// opt: -O1 -O2 -O3
// more: two_files_other.c
// output: bbb34501
#include <stdio.h>

unsigned there(unsigned n, unsigned a);
unsigned here(unsigned n, unsigned a);

unsigned here(unsigned n, unsigned a)
{
    return n == 0 ? a : there(n - 1, a * 7u + 1u);
}

int main(void)
{
    printf("%x\n", here(3000000, 1));
    return 0;
}

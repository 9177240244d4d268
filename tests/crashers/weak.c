// SPDX-License-Identifier: Apache-2.0
// A weak function whose other definition is the one that was linked.
// with: weak_other.c
// signal: SIGSEGV
// expect: stack chosen main
#include <stddef.h>

__attribute__((weak, noinline)) int chosen(const int *p, int n)
{
    return p ? n : -n;
}

__attribute__((weak)) int absent(int n);

int main(void)
{
    int sum = absent ? absent(1) : 2;

    sum += chosen(&sum, 1);
    return chosen(NULL, sum) + 1;
}

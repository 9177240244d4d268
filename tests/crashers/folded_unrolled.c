// SPDX-License-Identifier: Apache-2.0
// A loop of another file that is inlined and unrolled at the link: its load becomes part of the comparison that comes next.
// with: folded_unrolled_list.c
// opt: -O1 -O2 -O3 -Os
// build: -flto
// build: -flto -finquest=calls
// build: -flto=thin -fuse-ld=lld
// signal: SIGSEGV
#include "folded_unrolled.h"

#include <stdio.h>

struct list *first;

__attribute__((noinline)) static int take(void)
{
    if (!has(1))
        return putchar('-');
    first = first->next;
    return value(first) ? 3 : putchar('0');
}

int main(int argc, char **argv)
{
    struct list second = {0, 1}, one = {&second, 2};

    first = &one;
    for (int i = 0; i < 4; i++)
        if (take() == '-')
            first = (struct list *)(argc > 5 ? argv : (char **)16);
    return 0;
}

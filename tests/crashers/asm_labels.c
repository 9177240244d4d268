// SPDX-License-Identifier: Apache-2.0
// Inline assembly that defines labels, and asm goto (callbr).
// signal: SIGABRT
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int named(int n)
{
    __asm__ volatile("asm_labels_here: nop" ::: "memory");
    for (int i = 0; i < n; i++)
        sink += i;
    return sink;
}

__attribute__((noinline)) static int jumps(int n)
{
    for (;;) {
        __asm__ goto("cmpl $3, %0\n\tjg %l[large]" : : "r"(n) : "cc" : large);
        sink += named(n);
        n++;
        continue;
    large:
        sink--;
        if (n++ > 5)
            abort();
    }
}

int main(void)
{
    return jumps(1);
}

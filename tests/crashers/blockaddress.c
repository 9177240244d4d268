// SPDX-License-Identifier: Apache-2.0
// Addresses of labels kept in variables and chosen at run time, one indirect jump only.
// signal: SIGABRT
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int walk(const char *text)
{
    void *next = &&start;

    for (;; text++) {
        goto *next;
    start:
        sink++;
        next = *text == 'a' ? &&again : &&other;
        continue;
    again:
        sink += 2;
        if (sink > 15)
            abort();
        next = *text == 'b' ? &&other : &&start;
        continue;
    other:
        sink += 3;
        next = *text == 'c' ? &&again : &&start;
        if (!*text)
            return sink;
    }
}

int main(void)
{
    return walk("abacabbcxacx");
}

// SPDX-License-Identifier: Apache-2.0
// Functions that are inlined, each with an array and words of its own.
#include "../stray.h"

static volatile int sink;
static char journal[16];

__attribute__((noinline)) static int real(int x)
{
    L;
    if (x % 4 == 1) {
        L;
        CRASH;
    }
    return x / 2 + sink % 3;
}

__attribute__((always_inline)) static inline int inner(int n)
{
    short room[6];

    for (int i = 0; i < 6; i++)
        room[i] = (short)(n + i);
    for (int i = 0; i < n; i++) {
        L;
        if (room[i % 6] & 1) {
            L;
            sink += real(i);
            STRAY(0, room);
            CRASH;
        } else {
            L;
            sink -= real(i + 7);
        }
    }
    return room[2];
}

__attribute__((always_inline)) static inline int middle(int n)
{
    char text[9] = "middle";

    L;
    if (n > 2) {
        L;
        sink += inner(n);
        STRAY(1, text);
        CRASH;
    } else {
        L;
        sink += real(n) + inner(2);
    }
    return text[1];
}

__attribute__((noinline)) static int outer(int n)
{
    int sum = 0;

    while (n > 0) {
        L;
        sum += middle(n);
        journal[n & 7] = (char)sum;
        STRAY(2, journal);
        CRASH;
        n -= sum % 2 + 1;
    }
    return sum;
}

int main(void)
{
    L;
    for (int i = 2; i < 5; i++) {
        L;
        if (outer(i) > 100)
            sink += real(i);
        else
            L;
    }
    CRASH;
    return 0;
}

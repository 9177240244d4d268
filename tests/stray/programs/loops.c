// SPDX-License-Identifier: Apache-2.0
// Nested loops around calls, a local array between them.
#include "../stray.h"

static volatile int sink;

__attribute__((noinline)) static int weigh(int n)
{
    int small[4] = {n, n + 1, n + 2, n + 3};

    L;
    if (n & 1) {
        L;
        STRAY(0, small);
        CRASH;
        return small[1];
    }
    L;
    sink += n;
    return small[0];
}

__attribute__((noinline)) static int rows(int height, int width)
{
    int room[8] = {0};

    for (int y = 0; y < height; y++) {
        L;
        for (int x = 0; x < width; x++) {
            L;
            if ((x ^ y) & 1) {
                L;
                room[x & 7] += weigh(x + y);
            } else if (x > y) {
                L;
                STRAY(1, room);
                CRASH;
            }
        }
        room[y & 7] += weigh(y);
    }
    return room[1];
}

int main(int argc, char **argv)
{
    int total = 0;

    (void)argv;
    L;
    for (int i = argc; i < 5; i++) {
        L;
        total += rows(i + 1, 4);
        if (total > 40) {
            L;
            sink = weigh(total);
        }
    }
    CRASH;
    return 0;
}

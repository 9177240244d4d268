// SPDX-License-Identifier: Apache-2.0
// So many paths that words have 64 bits; two functions that call each other.
#include "../stray.h"

static volatile int sink;
static int many(int bits, int depth);

__attribute__((noinline)) static int note(int bit)
{
    L;
    if (bit > 2) {
        L;
        CRASH;
    }
    return bit & 3;
}

__attribute__((noinline)) static int half(int bits, int depth)
{
    long room[4] = {bits, depth, 0, 0};

    L;
    if (depth & 1) {
        L;
        STRAY(0, room);
        CRASH;
        room[2] = many(bits >> 1, depth - 1);
    } else if (depth > 0) {
        L;
        room[3] = many(bits ^ 0x155, depth - 1);
    }
    return (int)room[2] + (int)room[3];
}

#define FORK(bit)                                                                                  \
    if (bits & 1 << (bit)) {                                                                       \
        L;                                                                                         \
        room[bit & 7] = note(bit);                                                                 \
    }

static int many(int bits, int depth)
{
    int room[8] = {0};

    L;
    FORK(0) FORK(1) FORK(2) FORK(3) FORK(4) FORK(5) FORK(6) FORK(7) FORK(8) FORK(9) STRAY(1, room);
    CRASH;
    FORK(10)
    FORK(11) FORK(12) FORK(13) FORK(14) FORK(15) FORK(16) FORK(17) FORK(18) FORK(19) sink +=
        room[1];
    if (depth > 0) {
        L;
        room[0] = half(bits * 5, depth);
    }
    FORK(20) FORK(21) FORK(22) FORK(23) STRAY(2, room);
    CRASH;
    return room[0];
}

int main(void)
{
    L;
    sink += many(0x2d5a3, 3);
    L;
    sink += many(0x12, 2);
    CRASH;
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A small machine: a switch in a loop, calls through pointers, arrays in .bss and .data.
#include "../stray.h"

enum { PUSH, ADD, CALL, LOOP, DROP, END };

static long memory[6];
static long limits[3] = {3, 5, 7};
static volatile long sink;

static long twice(long x)
{
    long room[2] = {x, x};

    L;
    STRAY(0, room);
    CRASH;
    return room[0] + room[1];
}

static long clip(long x)
{
    L;
    for (int i = 0; i < 3; i++)
        if (x > 10 * limits[i]) {
            L;
            STRAY(1, limits);
            CRASH;
            return limits[i];
        }
    return x;
}

static long keep(long x)
{
    L;
    memory[x & 3] = x;
    STRAY(2, memory);
    CRASH;
    return memory[x & 3];
}

static long (*const functions[])(long) = {twice, clip, keep};

__attribute__((noinline)) static long execute(const int *code, int depth)
{
    long stack[10] = {0};
    int at = 0, top = 0, left = 3;

    for (;;) {
        L;
        switch (code[at++]) {
        case PUSH:
            L;
            stack[++top & 7] = code[at++];
            break;
        case ADD:
            L;
            stack[(top - 1) & 7] += stack[top & 7];
            top--;
            break;
        case CALL:
            L;
            stack[top & 7] = functions[code[at++]](stack[top & 7]);
            break;
        case LOOP:
            L;
            if (--left > 0) {
                L;
                at = 0;
                STRAY(3, stack);
                CRASH;
            }
            break;
        case DROP:
            L;
            if (depth < 2) {
                L;
                sink += execute(code, depth + 1);
            }
            top--;
            break;
        default:
            L;
            return stack[0] + stack[1];
        }
    }
}

int main(void)
{
    static const int code[] = {PUSH, 9,    PUSH, 4,    CALL, 0,    ADD,  CALL,
                               2,    PUSH, 60,   CALL, 1,    DROP, LOOP, END};

    L;
    sink += execute(code, 0);
    CRASH;
    return 0;
}

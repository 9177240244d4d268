// SPDX-License-Identifier: Apache-2.0
// The bug has overwritten the stack itself, return addresses too: what can be told must be right,
// and where the stack ends must be said.
// cflags: -fno-stack-protector
// truth: none
// signal: SIGSEGV
// expect: first fail_here
// expect: whole no
#include <string.h>

static volatile int sink;

__attribute__((noinline)) static void fail_here(char *start, unsigned length)
{
    memset(start, 0x41, length);
    *(volatile int *)16 = 1;
}

__attribute__((noinline)) static void victim(unsigned length)
{
    char room[32];

    room[0] = (char)sink;
    fail_here(room, length);
    sink = room[1];
}

int main(void)
{
    volatile char space[4096];

    space[0] = 1;
    victim(600);
    return space[0] + sink;
}

// SPDX-License-Identifier: Apache-2.0
// The bug has overwritten the frame words of an activation, not its return address.
// cflags: -fno-stack-protector -fno-omit-frame-pointer
// truth: none
// signal: SIGSEGV
// expect: stack fail_here victim main
// expect: record victim corrupt
#include <string.h>

static volatile int sink;

// All of the caller's frame, from above the two words that a call leaves.
__attribute__((noinline)) static void fail_here(char *end)
{
    char *start = (char *)__builtin_frame_address(0) + 16;

    memset(start, 0x41, (size_t)(end - start));
    *(volatile int *)16 = 1;
}

__attribute__((noinline)) static int victim(int n)
{
    char room[32];

    // Two ways to the call, so that the frame keeps a word.
    if (n > 2)
        sink += 2;
    else
        sink -= 2;
    for (int i = 0; i < n; i++) {
        room[i] = (char)i;
        if (i > 2)
            fail_here(__builtin_frame_address(0));
        sink += room[i];
    }
    return sink;
}

int main(void)
{
    sink = victim(2);
    return victim(8) + 1;
}

// SPDX-License-Identifier: Apache-2.0
// A signal from outside in a loop of one pass, which LLVM folds. Whatever is on the stack, nothing is damaged.
// cflags: -finquest=full
// opt: -O0 -O1 -O2 -O3
// signal: SIGABRT
// expect: stack once main
// expect: record once valid
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int mark, fuel = 100, target;
static char text[64];

__attribute__((noinline)) static int once(int a, int b)
{
    int left = 1;

    do {
        long result = SYS_kill; // without a call, so that this frame is the one interrupted

        __asm__ volatile("syscall"
                         : "+a"(result)
                         : "D"(target), "S"(SIGABRT)
                         : "rcx", "r11", "memory");
        mark = (int)result;
    } while (--left > 0);
    snprintf(text, sizeof(text), "%d", a + b);
    if (--fuel < 0)
        abort();
    mark = 5;
    return a % 100;
}

__attribute__((noinline)) static int litter(int n)
{
    volatile char room[400];

    memset((char *)room, n, sizeof(room));
    return room[n & 63];
}

static int (*volatile call)(int, int) = once;

int main(void)
{
    int result = litter(0x31);

    target = getpid();
    return result + call(2, 3);
}

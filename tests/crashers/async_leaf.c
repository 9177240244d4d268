// SPDX-License-Identifier: Apache-2.0
// A signal from outside in a function of one node: it keeps no words, so none can be damaged.
// cflags: -finquest=full
// opt: -O0 -O1 -O2 -O3
// signal: SIGABRT
// expect: stack set_level main
// expect: record set_level none
// expect: candidates set_level exact
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int level, target;

__attribute__((noinline)) static int set_level(int n)
{
    long result = SYS_kill; // without a call, so that this frame is the one interrupted

    __asm__ volatile("syscall" : "+a"(result) : "D"(target), "S"(SIGABRT) : "rcx", "r11", "memory");
    level = n;
    return level;
}

int main(void)
{
    target = getpid();
    return set_level(3) + 1;
}

// SPDX-License-Identifier: Apache-2.0
// The main thread ends by forced unwinding: landing pads run, and the cleanup of one of them fails.
// cflags: -fexceptions
// ldflags: -lpthread
// signal: SIGSEGV
// expect: stack release level2 main
#include <pthread.h>
#include <stddef.h>

static volatile int count;

__attribute__((noinline)) static void release(int *value)
{
    if (++count == 1)
        *(volatile int *)16 = *value;
}

__attribute__((noinline)) static void end(int n)
{
    if (n)
        pthread_exit(NULL);
    count--;
}

__attribute__((noinline)) static int level3(int n)
{
    __attribute__((cleanup(release))) int kept = n;
    end(n - 1);
    end(n);
    return kept + 1;
}

__attribute__((noinline)) static int level2(int n)
{
    __attribute__((cleanup(release))) int kept = n + 1;
    return level3(n) + kept;
}

int main(void)
{
    return level2(1);
}

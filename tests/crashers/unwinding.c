// SPDX-License-Identifier: Apache-2.0
// A thread ends by forced unwinding: landing pads run, and the cleanup of one of them fails.
// cflags: -fexceptions
// ldflags: -lpthread
// signal: SIGSEGV
// expect: stack release level2
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

static void *work(void *argument)
{
    level2(1);
    return argument;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}

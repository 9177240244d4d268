// SPDX-License-Identifier: Apache-2.0
// Several threads, each at a known place, when one of them fails.
// ldflags: -lpthread
// truth: none
// signal: SIGSEGV
// expect: stack fail_here third
// expect: threads 3
// expect: thread waits first
// expect: call first never no
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static volatile int sink;

__attribute__((noinline)) static void never(void)
{
    sink++;
}

__attribute__((noinline)) static void waits(void)
{
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
}

static void *first(void *argument)
{
    if (argument)
        never();
    waits();
    return NULL;
}

__attribute__((noinline)) static void fail_here(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
    *(volatile int *)16 = n;
}

static void *third(void *argument)
{
    pthread_barrier_wait(&barrier);
    fail_here(4);
    return argument;
}

int main(void)
{
    pthread_t threads[2];

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, third, NULL);
    pthread_join(threads[0], NULL);
    return 0;
}

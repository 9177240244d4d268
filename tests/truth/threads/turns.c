// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "turns.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t comes[TURNS_MOST];
static pthread_t threads[TURNS_MOST];
static long tids[TURNS_MOST];
static int turn;

static void give(int to)
{
    turn = to;
    pthread_cond_signal(&comes[to]);
}

static void await(int me)
{
    while (turn != me)
        pthread_cond_wait(&comes[me], &lock);
}

void turns_begin(void)
{
    for (int i = 0; i < TURNS_MOST; i++)
        pthread_cond_init(&comes[i], NULL);
    pthread_mutex_lock(&lock);
}

void turns_start(int me)
{
    pthread_mutex_lock(&lock);
    tids[me] = syscall(SYS_gettid);
    await(me);
}

static void create(int me, int other, int state, void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, state);
    if (pthread_create(&threads[other], &attributes, work, argument) != 0)
        exit(3);
    pthread_attr_destroy(&attributes);
    turns_hand(me, other);
}

void turns_spawn(int me, int other, void *(*work)(void *), void *argument)
{
    create(me, other, PTHREAD_CREATE_JOINABLE, work, argument);
}

void turns_spawn_detached(int me, int other, void *(*work)(void *), void *argument)
{
    create(me, other, PTHREAD_CREATE_DETACHED, work, argument);
}

void turns_hand(int me, int to)
{
    give(to);
    await(me);
}

void turns_end(int next)
{
    give(next);
    pthread_mutex_unlock(&lock);
}

void *turns_join(int me, int other)
{
    void *result = NULL;

    turns_hand(me, other);
    pthread_join(threads[other], &result);
    return result;
}

void turns_outlive(int me, int other)
{
    turns_hand(me, other);
    do
        sched_yield();
    while (syscall(SYS_tgkill, getpid(), tids[other], 0) == 0);
}

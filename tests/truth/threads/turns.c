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
static int turn;

static struct worker {
    pthread_t thread;
    long tid;
    void *(*work)(void *);
    void *argument;
} workers[TURNS_MOST];

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

static void *begin(void *argument)
{
    struct worker *worker = argument;

    pthread_mutex_lock(&lock);
    worker->tid = syscall(SYS_gettid);
    await((int)(worker - workers));
    void *result = worker->work(worker->argument);
    give(0);
    pthread_mutex_unlock(&lock);
    return result;
}

static void create(int me, int other, int state, void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, state);
    workers[other].work = work;
    workers[other].argument = argument;
    if (pthread_create(&workers[other].thread, &attributes, begin, &workers[other]) != 0)
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

void *turns_join(int me, int other)
{
    void *result = NULL;

    turns_hand(me, other);
    pthread_join(workers[other].thread, &result);
    return result;
}

void turns_outlive(int me, int other)
{
    turns_hand(me, other);
    do
        sched_yield();
    while (syscall(SYS_tgkill, getpid(), workers[other].tid, 0) == 0);
}

// SPDX-License-Identifier: Apache-2.0
/* A pool: jobs are shared out before the workers begin; each does one and lets the next worker go
 * on. */
#include "turns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 4

struct job {
    struct job *next;
    long (*work)(struct job *);
    char text[40];
    long result;
};

struct queue {
    struct job *first, **last;
    int done, idle;
};

static struct queue queues[WORKERS + 1];
static long all;

static long count_words(struct job *job)
{
    long words = 0;
    int inside = 0;

    for (char *c = job->text; *c; c++) {
        int letter = isalpha((unsigned char)*c) != 0;
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

static long hash(struct job *job)
{
    unsigned long h = 5381;

    for (size_t i = 0; i < strlen(job->text); i++)
        h = h * 33 + (unsigned char)job->text[i];
    return (long)(h % 1009);
}

static int ascending(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static long sort(struct job *job)
{
    qsort(job->text, strlen(job->text), 1, ascending);
    return job->text[0];
}

static void push(struct queue *queue, const char *text, int kind)
{
    static long (*const kinds[])(struct job *) = {count_words, hash, sort};
    struct job *job = calloc(1, sizeof *job);

    snprintf(job->text, sizeof job->text, "%s", text);
    job->work = kinds[kind % 3];
    if (!queue->last)
        queue->last = &queue->first;
    *queue->last = job;
    queue->last = &job->next;
}

static void do_one(struct queue *queue)
{
    struct job *job = queue->first;

    queue->first = job->next;
    job->result = job->work(job);
    all += job->result;
    queue->done++;
    free(job);
}

static int next_worker(int me)
{
    for (int k = 1; k <= WORKERS; k++) {
        int other = (me + k - 1) % WORKERS + 1;
        if (queues[other].first && other != me)
            return other;
    }
    return 0;
}

static void *worker(void *argument)
{
    int me = (int)((struct queue *)argument - queues);

    turns_hand(me, 0);
    while (queues[me].first) {
        do_one(&queues[me]);
        if (next_worker(me))
            turns_hand(me, next_worker(me));
    }
    queues[me].idle = 1;
    turns_hand(me, 0);
    return NULL;
}

int main(void)
{
    char line[128];
    int kind = 0;

    turns_begin();
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        push(&queues[kind % WORKERS + 1], line, kind);
        kind++;
    }
    for (int n = 1; n <= WORKERS; n++)
        turns_spawn(0, n, worker, &queues[n]);
    turns_hand(0, 1);
    for (int n = 1; n <= WORKERS; n++) {
        while (!queues[n].idle)
            turns_hand(0, n);
        turns_join(0, n);
    }
    printf("%d jobs, %ld\n", kind, all);
    return 0;
}

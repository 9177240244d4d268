// SPDX-License-Identifier: Apache-2.0
/*
 * events: a small simulation. Events wait in a heap ordered by time; each has an action, which may
 * plan more events. Arguments: a seed and how many events to run.
 *
 * What goes wrong: heap_pop() takes the last event to the top and sifts it down, and stops where
 * there are not two children. With an even number of events one has a left child alone, which may
 * be earlier: it then comes too late. run() asserts that time does not go backwards: `events 7
 * 400`.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP_MOST = 256, DOORS = 8 };

struct simulation;
typedef void action(struct simulation *, int);

struct event {
    long time;
    action *act;
    int argument;
};

struct simulation {
    struct event heap[HEAP_MOST];
    int count;
    long now;
    unsigned random;
    int waiting[DOORS];
    long served, turned_away;
};

static unsigned draw(struct simulation *s, unsigned below)
{
    s->random = s->random * 1103515245u + 12345u;
    return (s->random >> 16) % below;
}

static void swap(struct event *a, struct event *b)
{
    struct event kept = *a;

    *a = *b;
    *b = kept;
}

static void plan(struct simulation *s, long delay, action *act, int argument)
{
    int i = s->count;

    if (s->count == HEAP_MOST)
        return;
    s->heap[s->count++] = (struct event){s->now + delay, act, argument};
    while (i && s->heap[(i - 1) / 2].time > s->heap[i].time) {
        swap(&s->heap[(i - 1) / 2], &s->heap[i]);
        i = (i - 1) / 2;
    }
}

static struct event heap_pop(struct simulation *s)
{
    struct event first = s->heap[0];
    int i = 0;

    s->heap[0] = s->heap[--s->count];
    for (;;) {
        int child = 2 * i + 1;

        if (child + 1 >= s->count)
            break;
        if (s->heap[child + 1].time < s->heap[child].time)
            child++;
        if (s->heap[i].time <= s->heap[child].time)
            break;
        swap(&s->heap[i], &s->heap[child]);
        i = child;
    }
    return first;
}

static void leave(struct simulation *s, int door)
{
    s->waiting[door]--;
    s->served++;
}

static void arrive(struct simulation *s, int door)
{
    if (s->waiting[door] < 5) {
        s->waiting[door]++;
        plan(s, 3 + draw(s, 20), leave, door);
    } else
        s->turned_away++;
    plan(s, 1 + draw(s, 9), arrive, (int)draw(s, DOORS));
    if (draw(s, 8) == 0)
        plan(s, draw(s, 40), arrive, (int)draw(s, DOORS));
}

static void report(struct simulation *s, int round)
{
    long waiting = 0;

    for (int d = 0; d < DOORS; d++)
        waiting += s->waiting[d];
    printf("%d: time %ld served %ld waiting %ld turned away %ld\n", round, s->now, s->served,
           waiting, s->turned_away);
    plan(s, 50, report, round + 1);
}

static void run(struct simulation *s, long events)
{
    while (events-- > 0 && s->count) {
        struct event event = heap_pop(s);

        assert(event.time >= s->now);
        s->now = event.time;
        event.act(s, event.argument);
    }
}

int main(int argc, char **argv)
{
    static struct simulation s;

    s.random = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (int i = 0; i < 3; i++)
        plan(&s, i, arrive, i);
    plan(&s, 50, report, 0);
    run(&s, argc > 2 ? atol(argv[2]) : 200);
    return 0;
}

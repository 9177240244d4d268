// SPDX-License-Identifier: Apache-2.0
/*
 * Simulates a scheduler of jobs: a heap of those that are ready, by class, deadline and number.
 * The input has jobs, one a line:  NAME ARRIVAL LENGTH CLASS [DEADLINE] [after NAME]...
 * Deadlines are relative to the arrival; a job that has none is done when nothing else waits.
 *
 *     sched [-q QUANTUM] [-v]
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MOST    64
#define AFTER_MOST  4
#define NO_DEADLINE INT_MAX

enum class { CLASS_SYSTEM, CLASS_USER, CLASS_BATCH, CLASS_COUNT };

static const char *const class_names[] = {"system", "user", "batch"};

struct job {
    char name[16];
    int number;
    int arrival, length, left;
    enum class class;
    int slack; // until its deadline, seen from now; negative when it is over
    int deadline;
    int after[AFTER_MOST], after_count;
    int finished; // -1: not yet
    bool queued;
};

struct heap {
    struct job *job[JOB_MOST];
    int count;
};

struct schedule {
    struct job jobs[JOB_MOST];
    int count;
    struct heap ready;
    int now, quantum;
    int switches, missed, idle;
    bool verbose;
};

// ---- The heap

// Negative: `a` comes first.
static int job_compare(const struct job *a, const struct job *b)
{
    if (a->class != b->class)
        return (int)a->class - (int)b->class;
    if (a->slack != b->slack)
        return a->slack - b->slack;
    return a->number - b->number;
}

static void heap_swap(struct heap *heap, int a, int b)
{
    struct job *job = heap->job[a];
    heap->job[a] = heap->job[b];
    heap->job[b] = job;
}

static void heap_up(struct heap *heap, int at)
{
    while (at > 0) {
        int parent = (at - 1) / 2;
        if (job_compare(heap->job[parent], heap->job[at]) <= 0)
            return;
        heap_swap(heap, parent, at);
        at = parent;
    }
}

static void heap_down(struct heap *heap, int at)
{
    for (;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < heap->count && job_compare(heap->job[child], heap->job[least]) < 0)
                least = child;
        }
        if (least == at)
            return;
        heap_swap(heap, at, least);
        at = least;
    }
}

static void heap_push(struct heap *heap, struct job *job)
{
    job->queued = true;
    heap->job[heap->count] = job;
    heap_up(heap, heap->count++);
}

static struct job *heap_pop(struct heap *heap)
{
    struct job *first = heap->job[0];
    heap->job[0] = heap->job[--heap->count];
    heap_down(heap, 0);
    first->queued = false;
    return first;
}

static void heap_order(struct heap *heap)
{
    for (int i = heap->count / 2; i-- > 0;)
        heap_down(heap, i);
}

// ---- Reading

static int job_find(const struct schedule *schedule, const char *name)
{
    for (int i = 0; i < schedule->count; i++) {
        if (strcmp(schedule->jobs[i].name, name) == 0)
            return i;
    }
    return -1;
}

static int class_find(const char *name)
{
    for (int i = 0; i < CLASS_COUNT; i++) {
        if (strcmp(class_names[i], name) == 0)
            return i;
    }
    return -1;
}

static bool read_after(struct schedule *schedule, struct job *job)
{
    char *word;
    while ((word = strtok(NULL, " \n")) != NULL) {
        int before;
        if (strcmp(word, "after") != 0 || (word = strtok(NULL, " \n")) == NULL)
            return false;
        before = job_find(schedule, word);
        if (before < 0 || job->after_count == AFTER_MOST)
            return false;
        job->after[job->after_count++] = before;
    }
    return true;
}

static const char *read_job(struct schedule *schedule, char *line)
{
    struct job job = {.finished = -1, .deadline = NO_DEADLINE};
    char *word[4];
    for (int i = 0; i < 4; i++) {
        word[i] = strtok(i == 0 ? line : NULL, " \n");
        if (word[i] == NULL)
            return "too few words";
    }
    if (schedule->count == JOB_MOST)
        return "too many jobs";
    if (job_find(schedule, word[0]) >= 0)
        return "the name is taken";
    snprintf(job.name, sizeof job.name, "%s", word[0]);
    job.arrival = atoi(word[1]);
    job.length = job.left = atoi(word[2]);
    int class = class_find(word[3]);
    if (class < 0)
        return "no such class";
    if (job.arrival < 0 || job.length <= 0)
        return "bad time";
    job.class = (enum class) class;
    char *deadline = strtok(NULL, " \n");
    if (deadline != NULL && strcmp(deadline, "-") != 0)
        job.deadline = job.arrival + atoi(deadline);
    if (!read_after(schedule, &job))
        return "bad 'after'";
    job.number = schedule->count;
    schedule->jobs[schedule->count++] = job;
    return NULL;
}

// ---- The simulation

static bool job_ready(const struct schedule *schedule, const struct job *job)
{
    if (job->finished >= 0 || job->queued || job->arrival > schedule->now)
        return false;
    for (int i = 0; i < job->after_count; i++) {
        if (schedule->jobs[job->after[i]].finished < 0)
            return false;
    }
    return true;
}

static void refresh_slack(struct schedule *schedule)
{
    for (int i = 0; i < schedule->count; i++) {
        struct job *job = &schedule->jobs[i];
        if (job->deadline == NO_DEADLINE)
            job->slack = NO_DEADLINE;
        else
            job->slack = job->deadline - schedule->now - job->left;
    }
}

static void admit(struct schedule *schedule)
{
    refresh_slack(schedule);
    heap_order(&schedule->ready);
    for (int i = 0; i < schedule->count; i++) {
        if (job_ready(schedule, &schedule->jobs[i]))
            heap_push(&schedule->ready, &schedule->jobs[i]);
    }
}

static void finish(struct schedule *schedule, struct job *job)
{
    job->finished = schedule->now;
    bool late = job->deadline != NO_DEADLINE && schedule->now > job->deadline;
    if (late)
        schedule->missed++;
    printf("%d: %s done, %d after its arrival%s\n", schedule->now, job->name,
           schedule->now - job->arrival, late ? ", late" : "");
}

static void run_job(struct schedule *schedule, struct job *job)
{
    int slice = job->left;
    if (schedule->quantum > 0 && slice > schedule->quantum)
        slice = schedule->quantum;
    if (schedule->verbose)
        printf("%d: %s runs %d (%s)\n", schedule->now, job->name, slice, class_names[job->class]);
    schedule->now += slice;
    schedule->switches++;
    job->left -= slice;
    if (job->left == 0)
        finish(schedule, job);
}

// The next arrival after now; -1 if there is none.
static int next_arrival(const struct schedule *schedule)
{
    int next = -1;
    for (int i = 0; i < schedule->count; i++) {
        int arrival = schedule->jobs[i].arrival;
        if (arrival > schedule->now && (next < 0 || arrival < next))
            next = arrival;
    }
    return next;
}

static void simulate(struct schedule *schedule)
{
    for (;;) {
        admit(schedule);
        if (schedule->ready.count > 0) {
            run_job(schedule, heap_pop(&schedule->ready));
            continue;
        }
        int next = next_arrival(schedule);
        if (next < 0)
            return;
        schedule->idle += next - schedule->now;
        schedule->now = next;
    }
}

static void summary(const struct schedule *schedule)
{
    long waited[CLASS_COUNT] = {0};
    int done[CLASS_COUNT] = {0};
    for (int i = 0; i < schedule->count; i++) {
        const struct job *job = &schedule->jobs[i];
        if (job->finished < 0)
            continue;
        waited[job->class] += job->finished - job->arrival - job->length;
        done[job->class]++;
    }
    for (int i = 0; i < CLASS_COUNT; i++) {
        if (done[i] > 0)
            printf("%s: %d jobs, waited %ld\n", class_names[i], done[i], waited[i]);
    }
    printf("%d slices, %d late, %d idle\n", schedule->switches, schedule->missed, schedule->idle);
}

int main(int argc, char **argv)
{
    static struct schedule schedule;
    char line[256];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            schedule.verbose = true;
        else if (strcmp(argv[i], "-q") == 0 && i + 1 < argc)
            schedule.quantum = atoi(argv[++i]);
    }
    for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
        const char *problem = read_job(&schedule, line);
        if (problem != NULL)
            printf("line %d: %s\n", number, problem);
    }
    simulate(&schedule);
    summary(&schedule);
    return 0;
}

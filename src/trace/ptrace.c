// SPDX-License-Identifier: Apache-2.0
/*
 * The tracer's loop: what ptrace(2) reports, turned into events.
 *
 * PTRACE_SEIZE is used throughout, so that a stop with event 0 is always a signal about to be
 * delivered (or a step, or a system call with its 0x80 bit), PTRACE_EVENT_STOP tells group stops
 * from others, and PTRACE_INTERRUPT stops a thread without a signal.
 *
 * Every wait status goes through tracer_note() first, which only keeps the tables right, and later
 * through tracer_dispatch(), which calls the handler and resumes. Between the two a status is
 * `pending`: so tracer_stop_process() can gather the stops of other threads inside a handler.
 */
#include "trace/ptrace.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "trace/ptrace_internal.h"

enum {
    TRACER_POLL_EVERY = 32,  /* events handled before descriptors and the deadline get a turn */
    TRACER_STOP_ROUNDS = 50, /* of a millisecond, without progress, before threads are left out */
};

static uint64_t tracer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Its only purpose is to interrupt ppoll(). */
static void tracer_on_child(int signal)
{
    (void)signal;
}

struct tracer *tracer_create(unsigned flags)
{
    struct tracer *tracer = xcalloc(1, sizeof(*tracer));
    tracer->flags = flags;
    tracer->exec_error = -1;
    struct sigaction action = {.sa_handler = tracer_on_child};
    sigaction(SIGCHLD, &action, &tracer->old_child_action);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &tracer->old_mask);
    return tracer;
}

void tracer_destroy(struct tracer *tracer)
{
    if (!tracer)
        return;
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(tracer, 0, &threads);
    for (size_t i = 0; i < threads.length; i++)
        kill(threads.data[i]->pid, SIGKILL);
    for (size_t i = 0; i < threads.length; i++) {
        pid_t tid = threads.data[i]->tid;
        int status;
        /* A killed thread may still report PTRACE_EVENT_EXIT. */
        while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
            ptrace(PTRACE_CONT, tid, NULL, NULL);
        free(threads.data[i]);
    }
    tracee_vec_deinit(&threads);
    tracee_map_deinit(&tracer->tracees);
    pollfd_vec_deinit(&tracer->watched);
    if (tracer->exec_error >= 0)
        close(tracer->exec_error);
    free(tracer->path);
    sigaction(SIGCHLD, &tracer->old_child_action, NULL);
    sigprocmask(SIG_SETMASK, &tracer->old_mask, NULL);
    free(tracer);
}

struct tracee *tracer_add(struct tracer *tracer, pid_t tid, pid_t pid)
{
    struct tracee **place = tracee_map_put(&tracer->tracees, (uint64_t)tid);
    if (!*place) {
        struct tracee *tracee = xcalloc(1, sizeof(*tracee));
        tracee->tid = tid;
        tracee->pid = pid;
        tracee->order = tracer->order++;
        *place = tracee;
    }
    return *place;
}

static void tracer_remove(struct tracer *tracer, struct tracee *tracee)
{
    tracer->pending -= tracee->has_pending;
    tracee_map_remove(&tracer->tracees, (uint64_t)tracee->tid);
    free(tracee);
}

struct tracee *tracer_find(const struct tracer *tracer, pid_t tid)
{
    struct tracee **place = tracee_map_get(&tracer->tracees, (uint64_t)tid);
    return place ? *place : NULL;
}

static int tracee_compare_order(const void *a, const void *b)
{
    uint64_t left = (*(struct tracee *const *)a)->order;
    uint64_t right = (*(struct tracee *const *)b)->order;
    return (left > right) - (left < right);
}

void tracer_threads(const struct tracer *tracer, pid_t pid, struct tracee_vec *threads)
{
    size_t start = threads->length;
    MAP_FOREACH (tracee_map, &tracer->tracees, entry) {
        if (pid == 0 || entry->value->pid == pid)
            tracee_vec_push(threads, entry->value);
    }
    if (threads->length > start)
        qsort(&threads->data[start], threads->length - start, sizeof(*threads->data),
              tracee_compare_order);
}

void tracer_watch(struct tracer *tracer, int descriptor)
{
    pollfd_vec_push(&tracer->watched, (struct pollfd){.fd = descriptor, .events = POLLIN});
}

void tracer_unwatch(struct tracer *tracer, int descriptor)
{
    for (size_t i = 0; i < tracer->watched.length; i++) {
        if (tracer->watched.data[i].fd == descriptor) {
            tracer->watched.data[i] = *pollfd_vec_last(&tracer->watched);
            tracer->watched.length--;
            return;
        }
    }
}

void tracer_set_deadline(struct tracer *tracer, double seconds)
{
    tracer->deadline_ns = seconds > 0 ? tracer_now() + (uint64_t)(seconds * 1e9) : 0;
}

void tracer_finish(struct tracer *tracer)
{
    tracer->finished = true;
}

/* The event that a stop carries (PTRACE_EVENT_*), 0 for a signal, a step or a system call. */
static int status_event(int status)
{
    return status >> 16;
}

static bool signal_is_stop(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A thread that turns up by itself or in its creator's event, whichever waitpid() gives first. NULL
 * where it has come and gone before the latter.
 */
static struct tracee *tracer_add_unknown(struct tracer *tracer, pid_t tid)
{
    struct tracee *known = tracer_find(tracer, tid);
    if (known)
        return known;
    uint64_t pid;
    const struct tracee probe = {.tid = tid, .pid = tid};
    if (!tracee_status_number(&probe, "Tgid", 10, &pid))
        return NULL;
    struct tracee *tracee = tracer_add(tracer, tid, (pid_t)pid);
    tracee->fresh = true;
    return tracee;
}

static void tracee_set_pending(struct tracer *tracer, struct tracee *tracee, bool pending)
{
    tracer->pending += (size_t)pending - (size_t)tracee->has_pending;
    tracee->has_pending = pending;
}

/* execve() by a thread that was not the first: it takes the process id as its own (ptrace(2)). */
static void tracer_note_exec(struct tracer *tracer, struct tracee *tracee)
{
    unsigned long former = 0;
    ptrace(PTRACE_GETEVENTMSG, tracee->tid, NULL, &former);
    struct tracee *gone = tracer_find(tracer, (pid_t)former);
    if (!gone || gone == tracee)
        return;
    tracee->in_syscall = gone->in_syscall;
    tracee->stepping = gone->stepping;
    tracer_remove(tracer, gone);
}

/* Keeps the tables right for a status that waitpid() gave; NULL where there is nothing to handle.
 */
static struct tracee *tracer_note(struct tracer *tracer, pid_t tid, int status)
{
    struct tracee *tracee = tracer_find(tracer, tid);
    if (!tracee) {
        if (!WIFSTOPPED(status))
            return NULL;
        tracee = tracer_add_unknown(tracer, tid);
        if (!tracee)
            return NULL;
    }
    tracee->status = status;
    tracee->held = false;
    tracee->listening = false;
    tracee->stopped = WIFSTOPPED(status);
    tracee_set_pending(tracer, tracee, true);
    if (!tracee->stopped)
        return tracee;
    unsigned long message = 0;
    switch (status_event(status)) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
        if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0 && message > 0)
            tracer_add_unknown(tracer, (pid_t)message);
        break;
    case PTRACE_EVENT_EXEC:
        tracer_note_exec(tracer, tracee);
        break;
    default:
        break;
    }
    return tracee;
}

/* How a thread goes on where nobody wants anything of it. */
static enum tracee_resume tracee_default_resume(const struct tracer *tracer,
                                                const struct tracee *tracee)
{
    if (tracee->stepping)
        return TRACEE_STEP;
    if (tracee->in_syscall || (tracer->flags & TRACER_SYSCALLS))
        return TRACEE_SYSCALL;
    return TRACEE_CONTINUE;
}

static void tracee_resume(struct tracee *tracee, enum tracee_resume resume, int signal)
{
    static const int requests[] = {
        [TRACEE_CONTINUE] = PTRACE_CONT,
        [TRACEE_STEP] = PTRACE_SINGLESTEP,
        [TRACEE_SYSCALL] = PTRACE_SYSCALL,
        [TRACEE_LISTEN] = PTRACE_LISTEN,
    };
    if (resume == TRACEE_HOLD) {
        tracee->held = true;
        return;
    }
    if (resume != TRACEE_LISTEN)
        tracee->stepping = resume == TRACEE_STEP;
    if (resume == TRACEE_CONTINUE)
        tracee->in_syscall = false;
    tracee->listening = resume == TRACEE_LISTEN;
    tracee->stopped = false;
    /* ESRCH: killed meanwhile; its end will be reported. */
    ptrace((enum __ptrace_request)requests[resume], tracee->tid, NULL, (void *)(long)signal);
}

/* A stop with event 0: a system call, a step or a signal. */
static void tracer_classify_plain(struct tracee *tracee, struct tracer_event *event)
{
    int signal = WSTOPSIG(tracee->status);
    if (signal == (SIGTRAP | 0x80)) {
        tracee->in_syscall = !tracee->in_syscall;
        event->kind = tracee->in_syscall ? TRACER_SYSCALL_ENTER : TRACER_SYSCALL_EXIT;
        return;
    }
    event->kind = TRACER_SIGNAL;
    event->signal = signal;
    if (ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &event->info) < 0)
        memset(&event->info, 0, sizeof(event->info));
    int code = event->info.si_code;
    /* A step over a system call has TRAP_BRKPT, as the kernel's user_single_step_report() has it.
     */
    if (tracee->stepping && signal == SIGTRAP && (code == TRAP_TRACE || code == TRAP_BRKPT)) {
        event->kind = TRACER_STEP;
        event->signal = 0;
    }
}

/* Whether the handler is to see it. */
static bool tracer_classify(struct tracer *tracer, struct tracee *tracee,
                            struct tracer_event *event)
{
    unsigned long message = 0;
    int signal = WSTOPSIG(tracee->status);
    switch (status_event(tracee->status)) {
    case 0:
        tracer_classify_plain(tracee, event);
        break;
    case PTRACE_EVENT_STOP:
        if (signal_is_stop(signal)) {
            event->kind = TRACER_GROUP_STOP;
            event->resume = TRACEE_LISTEN;
            event->status = signal;
            return true;
        }
        if (!tracee->fresh)
            return false;
        tracee->fresh = false;
        event->kind = TRACER_NEW;
        break;
    case PTRACE_EVENT_EXEC:
        event->kind = TRACER_EXEC;
        if (tracee->pid == tracer->root && tracer->exec_error >= 0) {
            close(tracer->exec_error);
            tracer->exec_error = -1;
        }
        break;
    case PTRACE_EVENT_SECCOMP:
        event->kind = TRACER_SYSCALL_ENTER;
        break;
    case PTRACE_EVENT_EXIT:
        ptrace(PTRACE_GETEVENTMSG, tracee->tid, NULL, &message);
        event->kind = TRACER_EXIT;
        event->status = (int)message;
        break;
    default:
        return false;
    }
    event->resume = tracee_default_resume(tracer, tracee);
    return true;
}

/* What the child that could not become the program left in its pipe. */
static struct error *tracer_exec_failure(struct tracer *tracer)
{
    int errnum = 0;
    ssize_t length = read(tracer->exec_error, &errnum, sizeof(errnum));
    close(tracer->exec_error);
    tracer->exec_error = -1;
    if (length != (ssize_t)sizeof(errnum))
        return NULL;
    return error_errno(errnum, tracer->path, "cannot run");
}

static struct error *tracer_dispatch_gone(struct tracer *tracer, struct tracee *tracee,
                                          tracer_handler *handler, void *context)
{
    tracer->event =
        (struct tracer_event){.kind = TRACER_GONE, .tracee = tracee, .status = tracee->status};
    struct error *err = NULL;
    if (tracee->pid == tracer->root && tracee->tid == tracee->pid && tracer->exec_error >= 0)
        err = tracer_exec_failure(tracer);
    if (!err)
        err = handler(tracer, &tracer->event, context);
    tracer_remove(tracer, tracee);
    return err;
}

static struct error *tracer_dispatch(struct tracer *tracer, struct tracee *tracee,
                                     tracer_handler *handler, void *context)
{
    assert(tracee->has_pending);
    tracee_set_pending(tracer, tracee, false);
    if (!tracee->stopped)
        return tracer_dispatch_gone(tracer, tracee, handler, context);
    struct tracer_event *event = &tracer->event;
    *event = (struct tracer_event){
        .tracee = tracee,
        .resume = tracee_default_resume(tracer, tracee),
    };
    struct error *err = NULL;
    if (tracer_classify(tracer, tracee, event))
        err = handler(tracer, event, context);
    /* tracee_step() may have moved it on to another event. */
    if (!err && !tracee->has_pending) {
        bool from_seccomp = status_event(tracee->status) == PTRACE_EVENT_SECCOMP;
        if (from_seccomp && event->resume == TRACEE_SYSCALL)
            tracee->in_syscall = true;
        tracee_resume(tracee, event->resume, event->signal);
    }
    return err;
}

static struct error *tracer_dispatch_pending(struct tracer *tracer, tracer_handler *handler,
                                             void *context)
{
    while (tracer->pending > 0 && !tracer->finished) {
        struct tracee *first = NULL;
        MAP_FOREACH (tracee_map, &tracer->tracees, entry) {
            struct tracee *tracee = entry->value;
            if (tracee->has_pending && (!first || tracee->order < first->order))
                first = tracee;
        }
        assert(first);
        struct error *err = tracer_dispatch(tracer, first, handler, context);
        if (err)
            return err;
    }
    return NULL;
}

static bool tracer_deadline_passed(const struct tracer *tracer)
{
    return tracer->deadline_ns && tracer_now() >= tracer->deadline_ns;
}

/* Waits for a child, a descriptor or the deadline (or not at all) and handles the latter two. */
static struct error *tracer_poll(struct tracer *tracer, bool block, tracer_handler *handler,
                                 void *context)
{
    struct timespec timeout = {0, 0};
    struct timespec *limit = &timeout;
    uint64_t now = tracer->deadline_ns ? tracer_now() : 0;
    if (block && !tracer->deadline_ns)
        limit = NULL;
    else if (block && tracer->deadline_ns > now)
        timeout = (struct timespec){(time_t)((tracer->deadline_ns - now) / 1000000000u),
                                    (long)((tracer->deadline_ns - now) % 1000000000u)};
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, SIGCHLD);
    int ready = ppoll(tracer->watched.data, tracer->watched.length, limit, &mask);
    struct error *err = NULL;
    for (size_t i = 0; ready > 0 && !err && i < tracer->watched.length; i++) {
        if (tracer->watched.data[i].revents == 0)
            continue;
        tracer->event =
            (struct tracer_event){.kind = TRACER_INPUT, .descriptor = tracer->watched.data[i].fd};
        err = handler(tracer, &tracer->event, context);
    }
    if (!err && tracer_deadline_passed(tracer)) {
        tracer->event = (struct tracer_event){.kind = TRACER_TIMEOUT};
        tracer->deadline_ns = 0;
        err = handler(tracer, &tracer->event, context);
    }
    return err;
}

struct error *tracer_run(struct tracer *tracer, tracer_handler *handler, void *context)
{
    unsigned events = 0;
    tracer->finished = false;
    while (!tracer->finished && tracer->tracees.length > 0) {
        struct error *err = tracer_dispatch_pending(tracer, handler, context);
        if (err)
            return err;
        if (tracer->finished || tracer->tracees.length == 0)
            break;
        int status;
        pid_t tid = waitpid(-1, &status, WNOHANG | __WALL);
        if (tid < 0 && errno == ECHILD)
            return error_create(ERROR_OTHER, "the traced processes have been lost");
        if (tid > 0)
            tracer_note(tracer, tid, status);
        if (tid == 0 || ++events % TRACER_POLL_EVERY == 0)
            err = tracer_poll(tracer, tid == 0, handler, context);
        if (err)
            return err;
    }
    return NULL;
}

/* How many threads of the process still run, after taking in those that have stopped. */
static size_t tracer_gather(struct tracer *tracer, pid_t pid, bool *progress)
{
    size_t running = 0;
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(tracer, pid, &threads);
    for (size_t i = 0; i < threads.length; i++) {
        struct tracee *tracee = threads.data[i];
        int status;
        if (tracee->stopped || tracee->has_pending)
            continue;
        if (waitpid(tracee->tid, &status, WNOHANG | __WALL) == tracee->tid) {
            tracer_note(tracer, tracee->tid, status);
            *progress = true;
        } else {
            running++;
        }
    }
    tracee_vec_deinit(&threads);
    return running;
}

void tracer_stop_process(struct tracer *tracer, pid_t pid)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(tracer, pid, &threads);
    for (size_t i = 0; i < threads.length; i++) {
        /* A fresh one stops by itself. */
        if (!threads.data[i]->stopped && !threads.data[i]->fresh)
            ptrace(PTRACE_INTERRUPT, threads.data[i]->tid, NULL, NULL);
    }
    tracee_vec_deinit(&threads);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, SIGCHLD);
    for (int idle = 0; idle < TRACER_STOP_ROUNDS; idle++) {
        bool progress = false;
        if (tracer_gather(tracer, pid, &progress) == 0 && !progress)
            break;
        if (progress) {
            idle = 0;
            continue;
        }
        ppoll(NULL, 0, &(struct timespec){0, 1000000}, &mask);
    }
}

bool tracer_detach_process(struct tracer *tracer, pid_t pid)
{
    tracer_stop_process(tracer, pid);
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(tracer, pid, &threads);
    bool all = true;
    for (size_t i = 0; i < threads.length; i++)
        all &= threads.data[i]->stopped;
    for (size_t i = 0; all && i < threads.length; i++) {
        int status = threads.data[i]->status;
        int signal = WSTOPSIG(status);
        bool deliver = status_event(status) == 0 && signal != (SIGTRAP | 0x80);
        ptrace(PTRACE_DETACH, threads.data[i]->tid, NULL, (void *)(long)(deliver ? signal : 0));
        tracer_remove(tracer, threads.data[i]);
    }
    tracee_vec_deinit(&threads);
    return all;
}

void tracee_release(struct tracer *tracer, struct tracee *tracee)
{
    assert(tracee->held && tracee->stopped);
    tracee->held = false;
    tracee_set_pending(tracer, tracee, true);
}

bool tracee_step(struct tracer *tracer, struct tracee *tracee)
{
    assert(tracee->stopped && !tracee->has_pending);
    tracee->stepping = true;
    int status;
    if (ptrace(PTRACE_SINGLESTEP, tracee->tid, NULL, NULL) == 0) {
        pid_t tid;
        do
            tid = waitpid(tracee->tid, &status, __WALL);
        while (tid < 0 && errno == EINTR);
        if (tid != tracee->tid)
            return false;
        siginfo_t info;
        if (WIFSTOPPED(status) && status >> 8 == SIGTRAP &&
            ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &info) == 0 &&
            (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT)) {
            tracee->status = status;
            return true;
        }
        tracer_note(tracer, tracee->tid, status);
        return false;
    }
    /* Killed meanwhile: its end is reported by the loop. */
    return false;
}

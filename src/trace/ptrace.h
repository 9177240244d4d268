// SPDX-License-Identifier: Apache-2.0
/*
 * A tracer: runs a program under ptrace, follows its threads and children, and hands every event to
 * one handler. It stands in the way as little as it can: PTRACE_SEIZE, stops at signals, clone,
 * exec and exit only, group stops and SIGCONT as without it. System calls and single steps on
 * demand.
 *
 *     static struct error *on_event(struct tracer *tracer, struct tracer_event *event, void
 * *context)
 *     {
 *             if (event->kind == TRACER_EXEC)
 *                     event->resume = TRACEE_STEP;       // then every step is a TRACER_STEP
 *             return NULL;                               // resumed as event->resume says
 *     }
 *
 *     struct tracer *tracer = tracer_create(TRACER_FOLLOW | TRACER_EXIT_KILL);
 *     struct error *err = tracer_start(tracer, &(struct tracer_command){.argv = argv}, NULL);
 *     if (!err)
 *             err = tracer_run(tracer, on_event, context);
 *     tracer_destroy(tracer);
 *
 * One tracer at a time, used by the thread that created it (ptrace is bound to a thread). While it
 * lives it takes over SIGCHLD and waits for every child of the calling process. x86-64 tracees only
 * where registers are concerned.
 */
#ifndef INQUEST_TRACE_PTRACE_H
#define INQUEST_TRACE_PTRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/vec.h"

struct error;
struct tracer;
struct user_regs_struct;

enum tracer_flag {
    TRACER_FOLLOW = 1 << 0,    /* children (fork, vfork, clone) are traced too */
    TRACER_EXIT_KILL = 1 << 1, /* should we die, the kernel kills what we trace */
    TRACER_SYSCALLS = 1 << 2,  /* stop at every system call, on entry and on exit */
};

/* How a stopped thread goes on. */
enum tracee_resume {
    TRACEE_CONTINUE,
    TRACEE_STEP,    /* one instruction; signals and other events on the way keep to it */
    TRACEE_SYSCALL, /* to the next entry to or exit from a system call */
    TRACEE_LISTEN,  /* stays in its group stop until SIGCONT */
    TRACEE_HOLD,    /* stays stopped; tracee_release() brings the same event again */
};

/* One thread. Only the tracer changes it; it lives until its TRACER_GONE has been handled. */
struct tracee {
    pid_t tid;
    pid_t pid;      /* its process (thread group) */
    uint64_t order; /* the how-manieth thread that was seen */
    bool stopped;   /* in a ptrace stop: registers can be read */
    bool in_syscall;
    bool stepping;
    bool fresh;     /* has not had its first stop */
    bool listening; /* in a group stop */
    bool held;
    bool has_pending; /* stopped or dead, and not handled yet */
    int status;       /* the last wait status */
};

enum tracer_event_kind {
    TRACER_NEW,           /* a thread or process that was not started by us, before it runs */
    TRACER_EXEC,          /* a new program image; the first step from here only ends execve */
    TRACER_SIGNAL,        /* signal is about to be delivered; 0 there suppresses it */
    TRACER_STEP,          /* one instruction was executed */
    TRACER_SYSCALL_ENTER, /* a system call is about to be made (seccomp filter, or TRACEE_SYSCALL)
                           */
    TRACER_SYSCALL_EXIT,
    TRACER_GROUP_STOP, /* stopped by signal as a shell's job is */
    TRACER_EXIT,       /* the thread ends with status; memory and registers are still there */
    TRACER_GONE,       /* it has ended; where tid is pid the whole process has */
    TRACER_INPUT,      /* the watched descriptor is ready; no tracee */
    TRACER_TIMEOUT,    /* the deadline has passed; no tracee; the deadline is unset */
};

struct tracer_event {
    enum tracer_event_kind kind;
    struct tracee *tracee;     /* or NULL */
    enum tracee_resume resume; /* preset to what does not disturb */
    int signal;                /* delivered on resuming; 0: none */
    int status;                /* a wait status, with TRACER_EXIT and TRACER_GONE */
    int descriptor;            /* with TRACER_INPUT */
    siginfo_t info;            /* with TRACER_SIGNAL */
};

/* An error ends tracer_run and is returned by it. */
typedef struct error *tracer_handler(struct tracer *tracer, struct tracer_event *event,
                                     void *context);

struct tracer_command {
    char *const *argv;
    const char *path;             /* the file to execute; NULL: argv[0], searched as execvp does */
    int redirect[3];              /* descriptors for 0, 1, 2; 0 or less: as ours */
    const int *stop_at_syscalls;  /* a seccomp filter stops there with TRACER_SYSCALL_ENTER */
    size_t stop_at_syscall_count; /* 0: no filter */
};

struct tracer *tracer_create(unsigned flags);
/* Whatever is still traced is killed and reaped; NULL is fine. */
void tracer_destroy(struct tracer *tracer);

/*
 * Forks and seizes; the program is executed once tracer_run turns. Where the seccomp filter is not
 * permitted every system call is stopped at instead (TRACER_SYSCALLS). ret may be NULL.
 */
struct error *tracer_start(struct tracer *tracer, const struct tracer_command *command,
                           pid_t *ret_pid);
/* The file that tracer_start would execute, to be freed; ERROR_NOT_FOUND where there is none. */
struct error *tracer_find_command(const char *name, char **ret_path);

/* Handles events until no thread is left, tracer_finish() was called or an error came up. */
struct error *tracer_run(struct tracer *tracer, tracer_handler *handler, void *context);
/* tracer_run returns after the present event. */
void tracer_finish(struct tracer *tracer);

/* TRACER_INPUT when the descriptor is readable (or hung up). */
void tracer_watch(struct tracer *tracer, int descriptor);
void tracer_unwatch(struct tracer *tracer, int descriptor);
/* TRACER_TIMEOUT that many seconds from now; 0 or less: never. */
void tracer_set_deadline(struct tracer *tracer, double seconds);

VEC_DEFINE(tracee_vec, struct tracee *);
/* NULL where it is not traced. */
struct tracee *tracer_find(const struct tracer *tracer, pid_t tid);
/* Appends the threads of a process (pid 0: of all), in the order they were seen. */
void tracer_threads(const struct tracer *tracer, pid_t pid, struct tracee_vec *threads);

/*
 * From within a handler: stops every thread of a process until the handler returns. What they
 * report meanwhile is handled then. A thread that does not stop soon (in a vfork, or in an
 * uninterruptible wait) is left out: its `stopped` is false.
 */
void tracer_stop_process(struct tracer *tracer, pid_t pid);

/*
 * From within a handler: the process goes on untraced, with the signal it was about to get. False
 * where a thread could not be stopped for it. Its tracees are gone then.
 */
bool tracer_detach_process(struct tracer *tracer, pid_t pid);

/* A held tracee's event is handled again. */
void tracee_release(struct tracer *tracer, struct tracee *tracee);

/*
 * From within a handler: executes one instruction of a stopped thread and waits for it alone. False
 * where something else came up instead (a signal, the end): that event is handled once the handler
 * has returned; the handler must then leave this tracee as it is.
 */
bool tracee_step(struct tracer *tracer, struct tracee *tracee);

/* All of these need a stopped tracee. */
struct error *tracee_get_registers(const struct tracee *tracee, struct user_regs_struct *ret);
struct error *tracee_set_registers(const struct tracee *tracee,
                                   const struct user_regs_struct *registers);
/* At least one byte, or an error; ret_size may be less than size where the mapping ends. */
struct error *tracee_read(const struct tracee *tracee, uint64_t address, void *buffer, size_t size,
                          size_t *ret_size);
/* Into read-only mappings too (copy on write). */
struct error *tracee_write(const struct tracee *tracee, uint64_t address, const void *data,
                           size_t size);
/* A line `NAME: value` of /proc/PID/task/TID/status as a number in the base given. */
bool tracee_status_number(const struct tracee *tracee, const char *name, int base,
                          uint64_t *ret_value);

enum tracee_fate {
    TRACEE_SURVIVES,   /* handled, ignored, or a signal that does no harm */
    TRACEE_STOPS,      /* a stop signal */
    TRACEE_TERMINATES, /* the default action is in effect: the process ends */
    TRACEE_DUMPS_CORE, /* the same, with a core */
};
/*
 * What delivering the signal will do, at its TRACER_SIGNAL. Faults that were blocked or ignored
 * need no extra rule: the kernel has reset their disposition by then (force_sig_info_to_task).
 */
enum tracee_fate tracee_signal_fate(const struct tracee *tracee, int signal);
/* Whether the default action of a signal leaves a core (signal(7)). */
bool signal_dumps_core(int signal);

#endif

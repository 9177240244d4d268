// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program as if it ran by itself and keeps a core of its failure: a signal that kills with a
 * core, in it or in a child; a byte of output that differs from what is expected; time that has run
 * out. What `inquest run` does, without its command line.
 *
 *     struct catch_settings settings = {.argv = argv, .follow = true, .seccomp = true};
 *     struct catch_result result;
 *     struct error *err = catch_run(&settings, &result);
 *     if (!err && result.failures.length > 0)
 *             use(result.failures.data[0].core);
 *     catch_result_deinit(&result);
 *
 * After a signal the process dies as it would have. After wrong output and at the end of the time
 * everything traced is killed. Signals sent to us are passed on; those of the terminal reach the
 * program by themselves, since it is in our process group.
 */
#ifndef INQUEST_TRACE_PTRACE_CATCH_H
#define INQUEST_TRACE_PTRACE_CATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/vec.h"

struct error;

struct catch_settings {
    char *const *argv;
    const char *path;      /* or NULL: argv[0] is searched for */
    const char *core;      /* name of the core: %p process id, %e program, %% a percent sign */
    const char *expect[3]; /* [1], [2]: files with the output expected, or NULL */
    double timeout;        /* seconds; 0: none */
    bool follow;           /* children too */
    bool all;              /* keep every failure, not the first only */
    bool zstd;
    bool seccomp;    /* stop at output by a filter, where that can be had */
    bool unbuffered; /* standard output is a terminal to the program */
    int output[3];   /* [1], [2]: where the program's output goes; 0 or less: where ours does */
};

struct catch_failure {
    pid_t pid;
    int signal;     /* 0: wrong output, or out of time */
    char *program;  /* the executable */
    char *core;     /* NULL: not kept, being a later one */
    char *reason;   /* one sentence */
    size_t missing; /* threads that could not be stopped and are not in the core */
};
VEC_DEFINE(catch_failure_vec, struct catch_failure);

/* How a process ended, whether that is a failure or not. */
struct catch_end {
    pid_t pid;
    int status;  /* wait status */
    bool killed; /* by us, after wrong output or at the end of the time */
};
VEC_DEFINE(catch_end_vec, struct catch_end);

struct catch_result {
    struct catch_failure_vec failures; /* in order of time */
    struct catch_end_vec ends;         /* of all processes that were traced to their end */
    int status;                        /* wait status of the program */
    bool wrong_output;                 /* it was not what was expected */
    bool timed_out;
    uint64_t unseen;       /* bytes of output that could not be compared */
    struct error *trouble; /* a core that could not be had, or NULL */
};

/* result is to be deinitialised in any case. An error: the program was not run or has been lost. */
struct error *catch_run(const struct catch_settings *settings, struct catch_result *result);
void catch_result_deinit(struct catch_result *result);

#endif

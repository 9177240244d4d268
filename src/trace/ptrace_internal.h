// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the tracer share: its tables, and adding a thread to them.
 */
#ifndef INQUEST_TRACE_PTRACE_INTERNAL_H
#define INQUEST_TRACE_PTRACE_INTERNAL_H

#include <poll.h>

#include "common/map.h"
#include "trace/ptrace.h"

MAP_DEFINE_U64(tracee_map, struct tracee *);
VEC_DEFINE(pollfd_vec, struct pollfd);

struct tracer {
    unsigned flags;
    struct tracee_map tracees; /* by tid; the values are ours */
    uint64_t order;
    size_t pending; /* how many tracees have an event that waits */
    bool finished;
    struct tracer_event event; /* the one being handled */
    struct pollfd_vec watched;
    uint64_t deadline_ns; /* on CLOCK_MONOTONIC; 0: none */
    sigset_t old_mask;
    struct sigaction old_child_action;
    pid_t root;     /* the process that tracer_start made */
    int exec_error; /* pipe on which a failed execve tells its errno; -1 once that is settled */
    char *path;     /* of the program, for messages */
};

struct tracee *tracer_add(struct tracer *tracer, pid_t tid, pid_t pid);

#endif

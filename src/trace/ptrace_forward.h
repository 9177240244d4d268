// SPDX-License-Identifier: Apache-2.0
/*
 * Signals that reach us instead of the program, or as well as it.
 *
 * The program runs in our process group. What the terminal sends (Ctrl-C, Ctrl-Z, hangup) and what
 * is sent to the group reaches both, and is the program's business; what is sent to us alone was
 * meant for the program and is passed on. The two look the same on arrival, so a signal waits a
 * moment: where the program has been seen to get the same one from the same sender, or has it
 * pending, it is dropped.
 *
 *     forward_init(&forward);                      // after tracer_create
 *     forward.program = pid;                       // once started
 *     tracer_watch(tracer, forward.signals); tracer_watch(tracer, forward.timer);
 *     ... at TRACER_SIGNAL:       forward_saw(&forward, &event->info);
 *     ... at TRACER_INPUT:        forward_input(&forward, event->descriptor);
 *     ... at TRACER_GROUP_STOP:   forward_group_stop(&forward);
 *     forward_deinit(&forward);
 */
#ifndef INQUEST_TRACE_PTRACE_FORWARD_H
#define INQUEST_TRACE_PTRACE_FORWARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/vec.h"

struct error;

struct forward_signal {
    int signal;
    pid_t sender;
    uint64_t since_ns;
};
VEC_DEFINE(forward_signal_vec, struct forward_signal);

struct forward {
    pid_t program; /* set by the user of this; 0: gone, or not yet there */
    int signals;   /* signalfd */
    int timer;     /* timerfd */
    struct forward_signal_vec waiting;
    struct forward_signal seen[65]; /* the last that the program got, by number */
    uint64_t stop_ns;               /* when a stop signal of the terminal came to us; 0: never */
    bool group_stopped;             /* the program is; set by the user of this */
};

struct error *forward_init(struct forward *forward);
void forward_deinit(struct forward *forward);

/* The program is about to get a signal. */
void forward_saw(struct forward *forward, const siginfo_t *info);
/* Reads one of the descriptors; others are left alone. A signal that found no program, or 0. */
int forward_input(struct forward *forward, int descriptor);
/*
 * The program is about to stop. Where a stop signal came to us too, as Ctrl-Z does, we stop
 * as well, so that the shell sees its job stopped; SIGCONT to the group then wakes both.
 */
void forward_group_stop(struct forward *forward);

#endif

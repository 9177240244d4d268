// SPDX-License-Identifier: Apache-2.0
#include "trace/ptrace_forward.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "trace/ptrace.h"

#define MILLISECOND   UINT64_C(1000000)
#define FORWARD_DELAY (30 * MILLISECOND)  /* until a waiting signal is decided on */
#define FORWARD_SAME  (500 * MILLISECOND) /* how old a delivery may be to be the same sending */
#define FORWARD_STOP_WINDOW                                                                        \
    (1000 * MILLISECOND) /* between a stop signal and the program's stop                           \
                          */

/* SIGPIPE and SIGXFSZ come from our own writing, which then fails with an errno instead. */
static const int forward_blocked[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
                                      SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGWINCH};

static uint64_t forward_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * MILLISECOND + (uint64_t)now.tv_nsec;
}

struct error *forward_init(struct forward *forward)
{
    *forward = (struct forward){.signals = -1, .timer = -1};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(forward_blocked) / sizeof(*forward_blocked); i++)
        sigaddset(&blocked, forward_blocked[i]);
    /* tracer_destroy() puts the old mask back. */
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    forward->signals = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    forward->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (forward->signals >= 0 && forward->timer >= 0)
        return NULL;
    struct error *err = error_errno(errno, NULL, "cannot watch for signals");
    forward_deinit(forward);
    return err;
}

void forward_deinit(struct forward *forward)
{
    if (forward->signals >= 0)
        close(forward->signals);
    if (forward->timer >= 0)
        close(forward->timer);
    forward_signal_vec_deinit(&forward->waiting);
    forward->signals = forward->timer = -1;
}

void forward_saw(struct forward *forward, const siginfo_t *info)
{
    if (info->si_signo > 0 && info->si_signo <= 64)
        forward->seen[info->si_signo] =
            (struct forward_signal){info->si_signo, info->si_pid, forward_now()};
}

static void forward_stop_ourselves(struct forward *forward)
{
    forward->stop_ns = 0;
    kill(getpid(), SIGSTOP);
    /*
     * Somebody has continued us. If that was meant for the group, the program has a SIGCONT pending
     * and waits for us to let it go, so that this one makes no second.
     */
    if (forward->program)
        kill(forward->program, SIGCONT);
}

void forward_group_stop(struct forward *forward)
{
    if (forward->stop_ns && forward_now() - forward->stop_ns < FORWARD_STOP_WINDOW)
        forward_stop_ourselves(forward);
}

static void forward_arm(struct forward *forward, uint64_t delay_ns)
{
    struct itimerspec when = {.it_value = {.tv_nsec = (long)delay_ns}};
    timerfd_settime(forward->timer, 0, &when, NULL);
}

static void forward_read_signals(struct forward *forward)
{
    struct signalfd_siginfo info;
    while (read(forward->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
            forward->stop_ns = forward_now();
            if (forward->group_stopped)
                forward_stop_ourselves(forward);
        }
        /* From the kernel: the terminal's, or about our own writing. */
        if (info.ssi_code > 0 || signal == SIGPIPE || signal == SIGXFSZ || signal == SIGWINCH)
            continue;
        forward_signal_vec_push(
            &forward->waiting, (struct forward_signal){signal, (pid_t)info.ssi_pid, forward_now()});
        forward_arm(forward, FORWARD_DELAY);
    }
}

/* Whether the program has got this one itself. */
static bool forward_is_double(struct forward *forward, const struct forward_signal *waiting)
{
    struct forward_signal *seen = &forward->seen[waiting->signal];
    if (seen->signal && seen->sender == waiting->sender &&
        seen->since_ns + FORWARD_SAME > waiting->since_ns) {
        *seen = (struct forward_signal){0};
        return true;
    }
    const struct tracee process = {.tid = forward->program, .pid = forward->program};
    uint64_t pending;
    return tracee_status_number(&process, "ShdPnd", 16, &pending) &&
           (pending >> (waiting->signal - 1) & 1);
}

static int forward_decide(struct forward *forward)
{
    uint64_t expired;
    int unclaimed = 0;
    if (read(forward->timer, &expired, sizeof(expired)) < 0)
        return 0;
    for (size_t i = 0; i < forward->waiting.length; i++) {
        const struct forward_signal *waiting = &forward->waiting.data[i];
        if (!forward->program)
            unclaimed = waiting->signal;
        else if (!forward_is_double(forward, waiting))
            kill(forward->program, waiting->signal);
    }
    forward_signal_vec_clear(&forward->waiting);
    return unclaimed;
}

int forward_input(struct forward *forward, int descriptor)
{
    if (descriptor == forward->signals)
        forward_read_signals(forward);
    return descriptor == forward->timer ? forward_decide(forward) : 0;
}

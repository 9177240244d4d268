// SPDX-License-Identifier: Apache-2.0
#include "trace/ptrace_catch.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/map.h"
#include "common/strbuf.h"
#include "trace/core_write.h"
#include "trace/ptrace.h"
#include "trace/ptrace_forward.h"
#include "trace/ptrace_output.h"
#include "trace/ptrace_pty.h"

enum { CATCH_STREAMS = 2 };

MAP_DEFINE_U64(catch_pid_map, bool);

/* One run. */
struct catch
{
    const struct catch_settings *settings;
    struct catch_result *result;
    struct tracer *tracer;
    struct forward forward;
    struct pty pty;
    struct output_watch *watches[CATCH_STREAMS]; /* or NULL */
    struct catch_pid_map failed;                 /* processes whose failure has been dealt with */
    pid_t root;
    int rest_timer; /* timerfd for the time after the program's end; -1: not yet */
    bool killing;   /* we have killed everything: the rest is no failure */
};

void catch_result_deinit(struct catch_result *result)
{
    for (size_t i = 0; i < result->failures.length; i++) {
        free(result->failures.data[i].program);
        free(result->failures.data[i].core);
        free(result->failures.data[i].reason);
    }
    catch_failure_vec_deinit(&result->failures);
    catch_end_vec_deinit(&result->ends);
    error_destroy(result->trouble);
    result->trouble = NULL;
}

/* --- a failure and its core --- */

/* The executable of a process, without the kernel's mark where the file has been replaced. */
static char *process_program(pid_t pid)
{
    static const char mark[] = " (deleted)";
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/exe", pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length < 0)
        return xstrdup("");
    path[length] = '\0';
    size_t cut = (size_t)length - (sizeof(mark) - 1);
    if ((size_t)length > sizeof(mark) - 1 && strcmp(path + cut, mark) == 0)
        path[cut] = '\0';
    return xstrdup(path);
}

static char *core_name(const struct catch *run, const struct catch_failure *failure)
{
    const char *slash = strrchr(failure->program, '/');
    struct strbuf name = STRBUF_INIT;
    bool has_pid = false;
    for (const char *at = run->settings->core; *at; at++) {
        if (*at != '%' || at[1] == '\0') {
            strbuf_append_char(&name, *at);
            continue;
        }
        switch (*++at) {
        case 'p':
            strbuf_printf(&name, "%d", failure->pid);
            has_pid = true;
            break;
        case 'e':
            strbuf_append(&name, slash ? slash + 1 : failure->program);
            break;
        default:
            strbuf_append_char(&name, *at);
        }
    }
    /* A second failure does not take the place of the first. */
    if (!has_pid && run->result->failures.length > 0)
        strbuf_printf(&name, ".%d", failure->pid);
    return strbuf_steal(&name);
}

/* The failed thread first; those that did not stop are left out and counted. */
static pid_t *failed_threads(const struct catch *run, const struct tracee *failed,
                             size_t *ret_count, size_t *ret_missing)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, failed->pid, &threads);
    pid_t *tids = xmalloc_array(threads.length, sizeof(*tids));
    size_t count = 0;
    size_t missing = 0;
    tids[count++] = failed->tid;
    for (size_t i = 0; i < threads.length; i++) {
        const struct tracee *thread = threads.data[i];
        if (thread == failed || (!thread->stopped && thread->has_pending))
            continue; /* it has ended */
        if (thread->stopped)
            tids[count++] = thread->tid;
        else
            missing++;
    }
    tracee_vec_deinit(&threads);
    *ret_count = count;
    *ret_missing = missing;
    return tids;
}

static struct error *keep_core(struct catch *run, const struct tracee *failed,
                               const siginfo_t *info, struct catch_failure *failure)
{
    size_t count;
    _cleanup_free_ pid_t *tids = failed_threads(run, failed, &count, &failure->missing);
    struct core_request request = {
        .pid = failed->pid,
        .threads = tids,
        .thread_count = count,
        .signal = failure->signal,
        .info = info,
        .reason = failure->signal ? NULL : failure->reason,
        .zstd = run->settings->zstd,
    };
    struct core_written written;
    _cleanup_free_ char *path = core_name(run, failure);
    struct error *err = core_write(&request, path, &written);
    if (!err)
        failure->core = no_cleanup_ptr(path);
    return err;
}

/* A failure of the process that a stopped thread belongs to. Takes over reason. */
static void note_failure(struct catch *run, struct tracee *failed, int signal,
                         const siginfo_t *info, char *reason)
{
    if (run->killing || *catch_pid_map_put(&run->failed, (uint64_t)failed->pid)) {
        free(reason);
        return;
    }
    *catch_pid_map_put(&run->failed, (uint64_t)failed->pid) = true;
    struct catch_failure failure = {
        .pid = failed->pid,
        .signal = signal,
        .program = process_program(failed->pid),
        .reason = reason,
    };
    if (run->settings->all || run->result->failures.length == 0) {
        tracer_stop_process(run->tracer, failed->pid);
        struct error *err = keep_core(run, failed, info, &failure);
        if (run->result->trouble)
            error_destroy(err);
        else
            run->result->trouble = err;
    }
    catch_failure_vec_push(&run->result->failures, failure);
}

static void kill_all(struct catch *run)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, 0, &threads);
    for (size_t i = 0; i < threads.length; i++)
        kill(threads.data[i]->pid, SIGKILL);
    tracee_vec_deinit(&threads);
    run->killing = true;
}

static char *signal_reason(int signal)
{
    const char *name = sigabbrev_np(signal);
    const char *meaning = sigdescr_np(signal);
    return name ? xasprintf("SIG%s (%s)", name, meaning) : xasprintf("signal %d", signal);
}

/* --- wrong output --- */

static bool watches_output(const struct catch *run)
{
    return run->watches[0] || run->watches[1];
}

static void fail_output(struct catch *run, struct tracee *tracee, const struct output_watch *watch)
{
    run->result->wrong_output = true;
    note_failure(run, tracee, 0, NULL, output_watch_describe(watch));
    kill_all(run);
}

/* The process is about to end: is it the last that could have written what is missing? */
static void check_missing(struct catch *run, struct tracee *tracee)
{
    for (int i = 0; i < CATCH_STREAMS && !run->killing; i++) {
        const struct output_watch *watch = run->watches[i];
        if (!watch || !output_watch_is_short(watch))
            continue;
        bool others = false;
        struct tracee_vec threads = VEC_INIT;
        tracer_threads(run->tracer, 0, &threads);
        for (size_t t = 0; t < threads.length && !others; t++) {
            pid_t pid = threads.data[t]->pid;
            others = pid != tracee->pid && threads.data[t]->tid == pid &&
                     output_watch_is_open_in(watch, pid);
        }
        tracee_vec_deinit(&threads);
        if (!others)
            fail_output(run, tracee, watch);
    }
}

static bool is_last_thread(const struct catch *run, const struct tracee *tracee)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, tracee->pid, &threads);
    size_t count = threads.length;
    /* The first thread stays in the table as a zombie when others outlive it. */
    if (count == 2 && tracee->tid != tracee->pid) {
        const struct tracee process = {.tid = tracee->pid, .pid = tracee->pid};
        uint64_t caught;
        count -= !tracee_status_number(&process, "SigCgt", 16, &caught);
    }
    tracee_vec_deinit(&threads);
    return count == 1;
}

static void on_syscall_enter(struct catch *run, struct tracer_event *event)
{
    struct user_regs_struct registers;
    _cleanup_error_ struct error *err = tracee_get_registers(event->tracee, &registers);
    /* Code in 32-bit mode has other numbers; cs tells (the selector of 64-bit user code). */
    if (err || registers.cs != 0x33)
        return;
    if (registers.orig_rax == SYS_exit_group ||
        (registers.orig_rax == SYS_exit && is_last_thread(run, event->tracee))) {
        check_missing(run, event->tracee);
        return;
    }
    for (int i = 0; i < CATCH_STREAMS && !run->killing; i++) {
        struct output_watch *watch = run->watches[i];
        enum output_result result =
            watch ? output_watch_enter(watch, event->tracee, &registers) : OUTPUT_OTHER;
        if (result == OUTPUT_WRONG)
            fail_output(run, event->tracee, watch);
        else if (result == OUTPUT_BUSY)
            event->resume = TRACEE_HOLD;
        else if (result == OUTPUT_FINE)
            event->resume = TRACEE_SYSCALL;
        if (result != OUTPUT_OTHER)
            return;
    }
}

static void release_held(struct catch *run)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, 0, &threads);
    for (size_t i = 0; i < threads.length; i++) {
        if (threads.data[i]->held)
            tracee_release(run->tracer, threads.data[i]);
    }
    tracee_vec_deinit(&threads);
}

static void on_syscall_exit(struct catch *run, struct tracer_event *event)
{
    struct user_regs_struct registers;
    _cleanup_error_ struct error *err = tracee_get_registers(event->tracee, &registers);
    int64_t result = err ? 0 : (int64_t)registers.rax;
    bool left = false;
    for (int i = 0; i < CATCH_STREAMS; i++)
        left |= run->watches[i] && output_watch_leave(run->watches[i], event->tracee, result);
    if (left)
        release_held(run);
}

/* --- events --- */

static void on_signal(struct catch *run, struct tracer_event *event)
{
    if (event->tracee->pid == run->root)
        forward_saw(&run->forward, &event->info);
    if (run->killing || (!signal_dumps_core(event->signal) && !watches_output(run)))
        return;
    enum tracee_fate fate = tracee_signal_fate(event->tracee, event->signal);
    if (fate == TRACEE_DUMPS_CORE)
        note_failure(run, event->tracee, event->signal, &event->info, signal_reason(event->signal));
    else if (fate == TRACEE_TERMINATES && watches_output(run))
        check_missing(run, event->tracee);
}

/*
 * A thread ends. Some signals are never shown to a tracer: those of seccomp's kill actions come
 * with SA_IMMUTABLE. Here is the last chance to see them.
 */
static void on_thread_exit(struct catch *run, struct tracer_event *event)
{
    if (WIFSIGNALED(event->status) && signal_dumps_core(WTERMSIG(event->status)))
        note_failure(run, event->tracee, WTERMSIG(event->status), NULL,
                     signal_reason(WTERMSIG(event->status)));
}

/* Processes go on untraced: those of other sessions, or all. */
static void detach(struct catch *run, bool all)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, 0, &threads);
    pid_t *pids = xmalloc_array(threads.length, sizeof(*pids));
    size_t count = 0;
    for (size_t i = 0; i < threads.length; i++) {
        pid_t pid = threads.data[i]->pid;
        pid_t session = threads.data[i]->tid == pid ? getsid(pid) : -1;
        if (session >= 0 && (all || session != getsid(0)))
            pids[count++] = pid;
    }
    tracee_vec_deinit(&threads);
    for (size_t i = 0; i < count; i++)
        tracer_detach_process(run->tracer, pids[i]);
    free(pids);
}

/*
 * The program has ended and others may be left. Those of our session are waited for; those that
 * leave it are daemons, which would be waited for in vain. Leaving is no event, so the timer looks
 * again and again. With a seccomp filter they need their tracer, and stay with it.
 */
static void start_waiting_for_rest(struct catch *run)
{
    struct itimerspec often = {.it_interval = {.tv_nsec = 50000000}, .it_value = {.tv_nsec = 1}};
    run->rest_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (run->rest_timer < 0 || watches_output(run))
        return;
    timerfd_settime(run->rest_timer, 0, &often, NULL);
    tracer_watch(run->tracer, run->rest_timer);
}

/* A signal to us while only the rest is left: nobody wants to wait any longer. */
static void stop_waiting_for_rest(struct catch *run)
{
    if (watches_output(run))
        kill_all(run);
    else
        detach(run, true);
}

static void on_gone(struct catch *run, struct tracer_event *event)
{
    const struct tracee *tracee = event->tracee;
    bool left = false;
    for (int i = 0; i < CATCH_STREAMS; i++)
        left |= run->watches[i] && output_watch_gone(run->watches[i], tracee);
    if (left)
        release_held(run);
    if (tracee->tid != tracee->pid)
        return;
    catch_pid_map_remove(&run->failed, (uint64_t)tracee->pid);
    catch_end_vec_push(&run->result->ends,
                       (struct catch_end){tracee->pid, event->status, run->killing});
    if (tracee->pid == run->root) {
        run->result->status = event->status;
        run->forward.program = 0;
        start_waiting_for_rest(run);
    }
}

/* Out of time: the newest process that waits for no other of ours is the one that hangs. */
static void on_timeout(struct catch *run)
{
    struct tracee_vec threads = VEC_INIT;
    tracer_threads(run->tracer, 0, &threads);
    size_t kept = 0;
    for (size_t i = threads.length; i-- > 0;) {
        struct tracee *tracee = threads.data[i];
        if (tracee->tid != tracee->pid || (kept > 0 && !run->settings->all))
            continue;
        tracer_stop_process(run->tracer, tracee->pid);
        if (!tracee->stopped)
            continue;
        note_failure(run, tracee, 0, NULL,
                     xasprintf("still running after %g seconds", run->settings->timeout));
        kept++;
    }
    tracee_vec_deinit(&threads);
    run->result->timed_out = true;
    kill_all(run);
}

static void on_input(struct catch *run, int descriptor)
{
    if (descriptor == run->pty.ours) {
        if (!pty_copy(&run->pty))
            tracer_unwatch(run->tracer, descriptor);
    } else if (descriptor == run->rest_timer) {
        uint64_t expired;
        if (read(run->rest_timer, &expired, sizeof(expired)) > 0 && !run->killing)
            detach(run, false);
    } else {
        const struct tracee *root = tracer_find(run->tracer, run->root);
        run->forward.group_stopped = root && root->listening;
        if (forward_input(&run->forward, descriptor) > 0)
            stop_waiting_for_rest(run);
    }
}

static struct error *on_event(struct tracer *tracer, struct tracer_event *event, void *context)
{
    struct catch *run = context;
    switch (event->kind) {
    case TRACER_SIGNAL:
        on_signal(run, event);
        break;
    case TRACER_SYSCALL_ENTER:
        on_syscall_enter(run, event);
        break;
    case TRACER_SYSCALL_EXIT:
        on_syscall_exit(run, event);
        break;
    case TRACER_EXIT:
        on_thread_exit(run, event);
        break;
    case TRACER_GONE:
        on_gone(run, event);
        break;
    case TRACER_GROUP_STOP:
        if (event->tracee->tid == run->root)
            forward_group_stop(&run->forward);
        break;
    case TRACER_INPUT:
        on_input(run, event->descriptor);
        break;
    case TRACER_TIMEOUT:
        on_timeout(run);
        break;
    default:
        break;
    }
    (void)tracer;
    return NULL;
}

/* --- the run --- */

static struct error *open_watches(struct catch *run)
{
    for (int stream = 1; stream <= CATCH_STREAMS; stream++) {
        const char *expected = run->settings->expect[stream];
        int descriptor = stream == 1 && run->pty.program >= 0 ? run->pty.program
                         : run->settings->output[stream] > 0  ? run->settings->output[stream]
                                                              : stream;
        struct error *err =
            expected ? output_watch_create(expected, stream, descriptor, &run->watches[stream - 1])
                     : NULL;
        if (err)
            return err;
    }
    return NULL;
}

static struct error *start(struct catch *run)
{
    const struct catch_settings *settings = run->settings;
    struct tracer_command command = {
        .argv = settings->argv,
        .path = settings->path,
        .redirect = {-1, settings->output[1], settings->output[2]},
    };
    if (run->pty.program > 0)
        command.redirect[1] = run->pty.program;
    if (watches_output(run) && settings->seccomp) {
        command.stop_at_syscalls = output_syscalls;
        command.stop_at_syscall_count = output_syscall_count;
    }
    struct error *err = tracer_start(run->tracer, &command, &run->root);
    run->forward.program = err ? 0 : run->root;
    return err;
}

static struct error *run_prepared(struct catch *run)
{
    struct error *err = forward_init(&run->forward);
    if (!err && run->settings->unbuffered)
        err = pty_open(&run->pty,
                       run->settings->output[1] > 0 ? run->settings->output[1] : STDOUT_FILENO);
    if (!err)
        err = open_watches(run);
    if (!err)
        err = start(run);
    if (err)
        return err;
    tracer_watch(run->tracer, run->forward.signals);
    tracer_watch(run->tracer, run->forward.timer);
    if (run->pty.ours >= 0)
        tracer_watch(run->tracer, run->pty.ours);
    tracer_set_deadline(run->tracer, run->settings->timeout);
    return tracer_run(run->tracer, on_event, run);
}

/* Missing output that was noticed only when its writers were gone (killed, say). */
static void check_missing_too_late(struct catch *run)
{
    for (int i = 0; i < CATCH_STREAMS; i++) {
        const struct output_watch *watch = run->watches[i];
        if (!watch || !output_watch_is_short(watch))
            continue;
        run->result->wrong_output = true;
        if (run->result->failures.length > 0 || run->result->trouble)
            continue;
        _cleanup_free_ char *text = output_watch_describe(watch);
        run->result->trouble = error_create(
            ERROR_OTHER, "%s; its processes had ended before a core could be kept", text);
    }
}

struct error *catch_run(const struct catch_settings *settings, struct catch_result *result)
{
    *result = (struct catch_result){0};
    struct catch run = {
        .settings = settings,
        .result = result,
        .forward = {.signals = -1, .timer = -1},
        .pty = PTY_INIT,
        .rest_timer = -1,
    };
    bool output = settings->expect[1] || settings->expect[2];
    unsigned flags = TRACER_EXIT_KILL;
    if (settings->follow)
        flags |= TRACER_FOLLOW;
    if (output && !settings->seccomp)
        flags |= TRACER_SYSCALLS;
    run.tracer = tracer_create(flags);
    struct error *err = run_prepared(&run);
    pty_finish(&run.pty);
    if (!err)
        check_missing_too_late(&run);
    for (int i = 0; i < CATCH_STREAMS; i++) {
        if (run.watches[i])
            result->unseen += output_watch_unseen(run.watches[i]);
        output_watch_destroy(run.watches[i]);
    }
    forward_deinit(&run.forward);
    if (run.rest_timer >= 0)
        close(run.rest_timer);
    tracer_destroy(run.tracer);
    catch_pid_map_deinit(&run.failed);
    return err;
}

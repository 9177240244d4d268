// SPDX-License-Identifier: Apache-2.0
/* `inquest run`: a program under ptrace, a core of its failure, and the summary of that core. */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/run_suspects.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/vec.h"
#include "trace/ptrace.h"
#include "trace/ptrace_catch.h"

VEC_DEFINE(run_argument_vec, char *);

struct run_options {
    struct options common;
    const char *core, *expect, *expect_stderr, *timeout, *output;
    bool zstd, follow, no_follow, all, unbuffered, no_seccomp, no_summary, pass_exit;
    double timeout_seconds;
    struct run_suspects suspects; /* with a directory: reports are wanted */
};

static const char run_about[] =
    "Runs CMD as if it ran by itself, without root and whatever 'ulimit -c' and core_pattern say.\n"
    "When it or a child of it is killed by a signal that leaves a core, a core is kept and its\n"
    "summary printed. Exit status: 0 a failure was kept, 1 the program ended without one, 2 "
    "trouble.";

static struct error *run_parse(struct run_options *run, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {"core", 'c', "FILE", "name of the core (%p process id, %e program); inquest.core.%p",
         OPTION_TEXT, &run->core},
        {"zstd", 0, NULL, "compress the core", OPTION_FLAG, &run->zstd},
        {"expect", 'e', "FILE", "wrong output is a failure: FILE has the right one", OPTION_TEXT,
         &run->expect},
        {"expect-stderr", 0, "FILE", "the same for standard error", OPTION_TEXT,
         &run->expect_stderr},
        {"unbuffered", 'u', NULL, "standard output is a terminal to CMD: flushed every line",
         OPTION_FLAG, &run->unbuffered},
        {"no-seccomp", 0, NULL, "for --expect: stop at all system calls, slower", OPTION_FLAG,
         &run->no_seccomp},
        {"timeout", 't', "T", "still running after T (10, 500ms, 2m) is a failure", OPTION_TEXT,
         &run->timeout},
        {"follow", 'f', NULL, "failures of children count (the default)", OPTION_FLAG,
         &run->follow},
        {"no-follow", 0, NULL, "children run untraced", OPTION_FLAG, &run->no_follow},
        {"all", 'a', NULL, "keep every failure, not the first only", OPTION_FLAG, &run->all},
        {"no-summary", 'n', NULL, "keep the core and print no summary", OPTION_FLAG,
         &run->no_summary},
        {"output", 'o', "FILE", "the summary goes to FILE", OPTION_TEXT, &run->output},
        {"pass-exit", 'p', NULL, "exit as CMD did", OPTION_FLAG, &run->pass_exit},
        {"suspects", 's', "DIR", "a report of what was sampled goes to DIR; no core is kept",
         OPTION_TEXT, &run->suspects.directory},
        {"rate", 0, "N", "for --suspects: sample one in N", OPTION_TEXT, &run->suspects.rate},
        {"seed", 0, "S", "for --suspects: of the random numbers", OPTION_TEXT, &run->suspects.seed},
        {"oracle", 0, "CMD", "for --suspects: a command that says whether CMD failed (exit 1)",
         OPTION_TEXT, &run->suspects.oracle},
        {0},
    };
    const struct command_help help = {
        .name = "run",
        .usage = "[OPTIONS] -- CMD [ARGUMENT...]",
        .about = run_about,
        .example = "inquest run -- ./program input\n"
                   "inquest run --expect right.txt --unbuffered -- ./program input\n"
                   "inquest run --suspects runs --rate 100 -- ./program input",
        .specs = specs,
        .stop_at_first = true,
        .least = 1,
        .most = OPTIONS_ANY,
    };
    struct error *err = options_parse(&run->common, &help, argc, argv);
    if (err || run->common.help)
        return err;
    if (run->timeout)
        err = budget_parse_time(run->timeout, &run->timeout_seconds);
    if (!err && run->follow && run->no_follow)
        err = error_create(ERROR_USAGE, "'--follow' and '--no-follow' exclude each other");
    if (!err && !run->suspects.directory &&
        (run->suspects.rate || run->suspects.seed || run->suspects.oracle))
        err = error_create(ERROR_USAGE, "'--%s' needs '--suspects DIR'",
                           run->suspects.rate   ? "rate"
                           : run->suspects.seed ? "seed"
                                                : "oracle");
    run->suspects.quiet = run->common.quiet;
    /* A child with the filter and without a tracer could not write at all. */
    if (!err && run->no_follow && !run->no_seccomp && (run->expect || run->expect_stderr))
        err = error_create(ERROR_USAGE, "'--expect' with '--no-follow' needs '--no-seccomp'");
    if (err)
        err->code = ERROR_USAGE;
    return err;
}

/* A program that is to get privileges by being executed gets none when it is traced. */
static struct error *run_check_privileges(const char *path)
{
    struct stat status;
    if (geteuid() == 0 || stat(path, &status) < 0)
        return NULL;
    const char *kind = NULL;
    if ((status.st_mode & S_ISUID) && status.st_uid != geteuid())
        kind = "set-user-ID";
    else if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid())
        kind = "set-group-ID";
    else if (getxattr(path, "security.capability", NULL, 0) > 0)
        kind = "file-capability";
    if (!kind)
        return NULL;
    return error_create(ERROR_UNSUPPORTED,
                        "cannot trace '%s': it is a %s program, which only root may trace with its "
                        "privileges",
                        path, kind);
}

/* The summary of one core, as `inquest EXE CORE` gives it. */
static int run_summarise(const struct run_options *run, const struct catch_failure *failure)
{
    struct run_argument_vec arguments = VEC_INIT;
    _cleanup_free_ char *time = xasprintf("--time=%g", run->common.seconds);
    _cleanup_free_ char *memory = xasprintf("--memory=%llu", (unsigned long long)run->common.bytes);
    run_argument_vec_push(&arguments, (char *)"summary");
    if (run->common.json)
        run_argument_vec_push(&arguments, (char *)"--json");
    if (run->common.quiet)
        run_argument_vec_push(&arguments, (char *)"--quiet");
    for (unsigned i = 0; i < run->common.verbose; i++)
        run_argument_vec_push(&arguments, (char *)"-v");
    if (run->common.seconds > 0)
        run_argument_vec_push(&arguments, time);
    if (run->common.bytes > 0)
        run_argument_vec_push(&arguments, memory);
    run_argument_vec_push(&arguments, (char *)"--");
    run_argument_vec_push(&arguments, failure->program);
    run_argument_vec_push(&arguments, failure->core);
    int count = (int)arguments.length;
    run_argument_vec_push(&arguments, NULL);
    int status = cli_summary(count, arguments.data);
    run_argument_vec_deinit(&arguments);
    return status;
}

/* What happened, one line a failure, on stderr: stdout is the program's and the summary's. */
static void run_tell(const struct run_options *run, const struct catch_result *result)
{
    if (run->common.quiet)
        return;
    for (size_t i = 0; i < result->failures.length; i++) {
        const struct catch_failure *failure = &result->failures.data[i];
        fprintf(stderr, "inquest: '%s' (process %d): %s", failure->program, failure->pid,
                failure->reason);
        if (failure->core)
            fprintf(stderr, "; core in '%s'\n", failure->core);
        else
            fprintf(stderr, "; no core kept%s\n",
                    i > 0 && !run->all ? " (--all keeps every failure)" : "");
        if (failure->missing > 0)
            fprintf(stderr,
                    "inquest: warning: %zu of its threads could not be stopped and are "
                    "not in the core\n",
                    failure->missing);
    }
    if (result->unseen > 0)
        fprintf(stderr, "inquest: warning: %llu bytes of output could not be compared\n",
                (unsigned long long)result->unseen);
}

/* Has stdout lead to FILE. */
static struct error *run_redirect(const char *path)
{
    fflush(stdout);
    _cleanup_close_ int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
        return error_errno(errno, path, "cannot write");
    return NULL;
}

/* As the program ended: with its exit status, or by its signal (without a core of ours). */
__attribute__((__noreturn__)) static void run_end_as(int status)
{
    fflush(NULL);
    if (WIFSIGNALED(status)) {
        int signal_number = WTERMSIG(status);
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(signal_number, SIG_DFL);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, signal_number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(signal_number);
        _exit(128 + signal_number);
    }
    exit(WEXITSTATUS(status));
}

/* Tells, summarises and gives the exit status of `inquest run`. */
static int run_report(const struct run_options *run, struct catch_result *result)
{
    run_tell(run, result);
    bool kept = false;
    int worst = CLI_FOUND;
    if (result->trouble) {
        error_print(result->trouble);
        worst = CLI_TROUBLE;
    }
    struct error *err = run->output ? run_redirect(run->output) : NULL;
    if (err) {
        error_print(err);
        error_destroy(err);
        return CLI_TROUBLE;
    }
    for (size_t i = 0; i < result->failures.length; i++) {
        if (!result->failures.data[i].core)
            continue;
        kept = true;
        int status = run->no_summary ? CLI_FOUND : run_summarise(run, &result->failures.data[i]);
        if (status != CLI_FOUND && worst == CLI_FOUND)
            worst = status;
    }
    if (worst != CLI_FOUND)
        return worst;
    return kept ? CLI_FOUND : CLI_NOT_FOUND;
}

/* Of a run for its reports a core is kept only where a name was given. */
static bool run_keeps_core(const struct run_options *run)
{
    return !run->suspects.directory || run->core;
}

/* Why a run has failed, where that is known; begins with ": ". */
static char *run_reason(const struct catch_result *result)
{
    if (result->failures.length > 0)
        return xasprintf(": %s", result->failures.data[0].reason);
    if (WIFSIGNALED(result->status))
        return xasprintf(": signal %d", WTERMSIG(result->status));
    if (WEXITSTATUS(result->status) != 0)
        return xasprintf(": exit status %d", WEXITSTATUS(result->status));
    return xstrdup("");
}

/* What is said of a run for its reports. Exit status as ever: 0 it failed, 1 it did not. */
static int run_tell_suspects(const struct run_options *run, const struct catch_result *result)
{
    const struct run_suspects *suspects = &run->suspects;
    const char *name = suspects_outcome_name(suspects->outcome);
    bool failed = suspects->outcome == SUSPECTS_FAILED;

    if (result->trouble && !run_keeps_core(run) && !run->common.quiet) {
        _cleanup_free_ char *text = error_text(result->trouble);
        fprintf(stderr, "inquest: warning: %s\n", text);
    }
    if (suspects->report_count == 0) {
        fprintf(stderr,
                "inquest: no report: nothing that '%s' ran was built to sample "
                "(inquest-cc -finquest=paths,suspects)\n",
                run->common.arguments[0]);
        return CLI_TROUBLE;
    }
    if (!run->common.quiet && (failed || run->common.verbose)) {
        _cleanup_free_ char *reason = failed ? run_reason(result) : xstrdup("");
        fprintf(stderr, "inquest: %s%s; %u report%s in '%s'\n", name, reason,
                suspects->report_count, suspects->report_count == 1 ? "" : "s",
                suspects->directory);
    }
    return failed                                 ? CLI_FOUND
           : suspects->outcome == SUSPECTS_PASSED ? CLI_NOT_FOUND
                                                  : CLI_UNDECIDED;
}

static struct error *run_catch(const struct run_options *run, const char *path,
                               struct catch_result *result)
{
    const struct catch_settings settings = {
        .argv = (char *const *)run->common.arguments,
        .path = path,
        .core = run->core              ? run->core
                : !run_keeps_core(run) ? run->suspects.core
                : run->zstd            ? "inquest.core.%p.zst"
                                       : "inquest.core.%p",
        .expect = {NULL, run->expect, run->expect_stderr},
        .timeout = run->timeout_seconds,
        .follow = !run->no_follow,
        .all = run->all || !run_keeps_core(run),
        .zstd = run->zstd && run_keeps_core(run),
        .seccomp = !run->no_seccomp,
        .unbuffered = run->unbuffered,
        .output = {0, run->suspects.output[1], run->suspects.output[2]},
    };
    fflush(NULL);
    return catch_run(&settings, result);
}

/* The program from its start to its reports. */
static struct error *run_all(struct run_options *run, struct catch_result *result)
{
    _cleanup_free_ char *path = NULL;
    struct error *err = tracer_find_command(run->common.arguments[0], &path);
    if (!err)
        err = run_check_privileges(path);
    if (!err && run->suspects.directory)
        err = run_suspects_begin(&run->suspects);
    if (!err)
        err = run_catch(run, path, result);
    if (!err && run->suspects.directory)
        err = run_suspects_end(&run->suspects, result);
    return err;
}

int cli_run(int argc, char **argv)
{
    struct run_options run = {0};
    struct catch_result result = {0};
    struct error *err = run_parse(&run, argc, argv);
    if (!err && run.common.help) {
        options_deinit(&run.common);
        return CLI_FOUND;
    }
    if (!err)
        err = run_all(&run, &result);
    if (err) {
        catch_result_deinit(&result);
        run_suspects_deinit(&run.suspects);
        return options_fail(&run.common, err);
    }
    int status = run_keeps_core(&run) ? run_report(&run, &result) : CLI_FOUND;
    if (run.suspects.directory && status != CLI_TROUBLE)
        status = run_tell_suspects(&run, &result);
    int ended = result.status;
    run_suspects_deinit(&run.suspects);
    catch_result_deinit(&result);
    options_deinit(&run.common);
    if (run.pass_exit)
        run_end_as(ended);
    return status;
}

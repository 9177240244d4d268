// SPDX-License-Identifier: Apache-2.0
// Reports of a run: see run_suspects.h.
#include "cli/run_suspects.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "trace/ptrace_catch.h"

#define OPTIONS "INQUEST_OPTIONS"

// ---- Before the run

// At most 19 digits: that is what the runtime reads.
static struct error *check_number(const char *option, const char *text, bool is_rate)
{
    const char *digits = is_rate && strncmp(text, "1/", 2) == 0 ? text + 2 : text;
    size_t length = strspn(digits, "0123456789");

    if (length == 0 || length > 19 || digits[length])
        return error_create(ERROR_USAGE, "'--%s %s' is not a number%s", option, text,
                            is_rate ? ", as 100 or 1/100" : "");
    if (is_rate && strspn(digits, "0") == length)
        return error_create(ERROR_USAGE, "'--%s %s': one in 0 cannot be", option, text);
    return NULL;
}

// One KEY=VALUE; the value may be in quotes and have colons then.
static size_t option_length(const char *option)
{
    size_t length = strcspn(option, "=:");

    if (option[length] != '=')
        return length;
    char quote = option[length + 1];
    if (quote == '"' || quote == '\'') {
        const char *end = strchr(option + length + 2, quote);
        return end ? (size_t)(end + 1 - option) : strlen(option);
    }
    return length + strcspn(option + length, ":");
}

// The user's options but those of a key that we set.
static void append_others(struct strbuf *out, const char *options, const char *const *keys)
{
    while (options && *options) {
        size_t length = option_length(options), key = strcspn(options, "=:");
        bool ours = false;

        for (size_t k = 0; keys[k]; k++)
            ours |= strlen(keys[k]) == key && strncmp(keys[k], options, key) == 0;
        if (!ours && length) {
            strbuf_append_bytes(out, options, length);
            strbuf_append_char(out, ':');
        }
        options += length + (options[length] == ':');
    }
}

static void set_options(const struct run_suspects *suspects)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    const char *keys[4] = {"suspects"};
    size_t count = 1;

    if (suspects->rate)
        keys[count++] = "rate";
    if (suspects->seed)
        keys[count++] = "seed";
    append_others(&text, suspects->options, keys);
    char quote = strchr(suspects->private, '"') ? '\'' : '"';
    strbuf_printf(&text, "suspects=%c%s%c", quote, suspects->private, quote);
    if (suspects->rate)
        strbuf_printf(&text, ":rate=%s", suspects->rate);
    if (suspects->seed)
        strbuf_printf(&text, ":seed=%s", suspects->seed);
    setenv(OPTIONS, text.data, 1);
}

static struct error *make_private(struct run_suspects *suspects)
{
    struct error *err = file_make_directories(suspects->directory);
    if (err)
        return err;
    // the program may change its directory
    _cleanup_free_ char *absolute = realpath(suspects->directory, NULL);
    if (!absolute)
        return error_errno(errno, suspects->directory, "cannot write reports to");
    if (strchr(absolute, '"') && strchr(absolute, '\''))
        return error_create(
            ERROR_USAGE, "reports cannot go to a directory with both kinds of quotes in its name");
    _cleanup_free_ char *path = file_join(absolute, RUN_SUSPECTS_PREFIX "XXXXXX");
    if (!mkdtemp(path))
        return error_errno(errno, suspects->directory, "cannot write reports to");
    suspects->private = no_cleanup_ptr(path);
    suspects->lock = open(suspects->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (suspects->lock < 0 || flock(suspects->lock, LOCK_EX | LOCK_NB) < 0)
        return error_errno(errno, suspects->private, "cannot lock");
    return NULL;
}

static struct error *open_output(struct run_suspects *suspects)
{
    static const char *const names[3] = {NULL, "stdout", "stderr"};

    suspects->has_output = true;
    for (int i = 1; i <= 2; i++) {
        _cleanup_free_ char *path = file_join(suspects->private, names[i]);
        suspects->output[i] = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (suspects->output[i] < 0)
            return error_errno(errno, path, "cannot write");
    }
    return NULL;
}

static char *core_name(const char *directory)
{
    struct strbuf name = STRBUF_INIT;

    for (; *directory; directory++)
        strbuf_append(&name, *directory == '%' ? "%%" : (char[]){*directory, '\0'});
    strbuf_append(&name, "/core.%p");
    return strbuf_steal(&name);
}

struct error *run_suspects_begin(struct run_suspects *suspects)
{
    const char *options = getenv(OPTIONS);
    struct error *err = NULL;

    suspects->lock = -1;
    if (suspects->rate)
        err = check_number("rate", suspects->rate, true);
    if (!err && suspects->seed)
        err = check_number("seed", suspects->seed, false);
    if (!err)
        err = make_private(suspects);
    if (!err && suspects->oracle)
        err = open_output(suspects);
    if (err)
        return err;
    suspects->core = core_name(suspects->private);
    suspects->options = options ? xstrdup(options) : NULL;
    set_options(suspects);
    return NULL;
}

// ---- How it ended

static void copy_output(int from, int to)
{
    char buffer[65536];
    ssize_t got;

    lseek(from, 0, SEEK_SET);
    while ((got = read(from, buffer, sizeof(buffer))) > 0)
        for (ssize_t at = 0, put; at < got; at += put)
            if ((put = write(to, buffer + at, (size_t)(got - at))) < 0)
                return; // nobody reads it
}

static void set_number(const char *name, bool is_set, int value)
{
    char text[16] = "";

    if (is_set)
        snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

__attribute__((__noreturn__)) static void oracle_child(const struct run_suspects *suspects,
                                                       int status)
{
    _cleanup_free_ char *out = file_join(suspects->private, "stdout");
    _cleanup_free_ char *err = file_join(suspects->private, "stderr");
    int nothing = open("/dev/null", O_RDONLY);

    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    set_number("INQUEST_EXIT_STATUS", WIFEXITED(status), WEXITSTATUS(status));
    set_number("INQUEST_SIGNAL", WIFSIGNALED(status), WTERMSIG(status));
    setenv("INQUEST_STDOUT", out, 1);
    setenv("INQUEST_STDERR", err, 1);
    execl("/bin/sh", "sh", "-c", suspects->oracle, (char *)NULL);
    _exit(127);
}

// 0 passed, 1 failed; anything else: it cannot tell.
static enum suspects_outcome ask_oracle(const struct run_suspects *suspects, int ended)
{
    int status = 0;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        oracle_child(suspects, ended);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return SUSPECTS_UNKNOWN;
    if (child < 0 || !WIFEXITED(status))
        return SUSPECTS_UNKNOWN;
    if (WEXITSTATUS(status) > 1 && !suspects->quiet)
        fprintf(stderr, "inquest: warning: the oracle ended with %d: the outcome is unknown\n",
                WEXITSTATUS(status));
    return WEXITSTATUS(status) == 0   ? SUSPECTS_PASSED
           : WEXITSTATUS(status) == 1 ? SUSPECTS_FAILED
                                      : SUSPECTS_UNKNOWN;
}

static enum suspects_outcome find_outcome(const struct run_suspects *suspects,
                                          const struct catch_result *result)
{
    if (result->wrong_output || result->timed_out)
        return SUSPECTS_FAILED;
    if (suspects->oracle)
        return ask_oracle(suspects, result->status);
    return WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0 ? SUSPECTS_PASSED
                                                                         : SUSPECTS_FAILED;
}

// ---- Reports

// The process's own end; that of a child by a signal is a failure of its own.
static void label(const struct run_suspects *suspects, const struct catch_result *result,
                  uint32_t process, struct suspects_report *report)
{
    report->outcome = suspects->outcome;
    for (size_t i = result->ends.length; i-- > 0;) {
        const struct catch_end *end = &result->ends.data[i];

        if ((uint32_t)end->pid != process)
            continue;
        if (WIFEXITED(end->status))
            report->exit_status = (uint32_t)WEXITSTATUS(end->status);
        else if (!end->killed)
            report->signal = (uint32_t)WTERMSIG(end->status);
        if (report->signal && !suspects->oracle)
            report->outcome = SUSPECTS_FAILED;
        return;
    }
}

// A core is decoded once, however many images of its process have sampled.
struct stack {
    bool is_known;
    struct suspects_frame *frames;
    uint32_t count;
};

static void add_stack(const struct catch_result *result, struct stack *stacks, uint32_t process,
                      struct suspects_report *report)
{
    for (size_t i = 0; i < result->failures.length; i++) {
        const struct catch_failure *failure = &result->failures.data[i];
        struct stack *stack = &stacks[i];

        if ((uint32_t)failure->pid != process || !failure->core)
            continue;
        if (!stack->is_known)
            run_suspects_stack(failure->program, failure->core, &stack->frames, &stack->count);
        stack->is_known = true;
        report->frames = xmemdup(stack->frames, stack->count * sizeof(*stack->frames));
        report->frame_count = stack->count;
        return;
    }
}

static struct error *write_report(const struct run_suspects *suspects,
                                  const struct suspects_report *report)
{
    _cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT, path = STRBUF_INIT;

    strbuf_printf(&path, "%s/", suspects->directory);
    for (size_t i = 0; i < sizeof(report->run_id); i++)
        strbuf_printf(&path, "%02x", report->run_id[i]);
    strbuf_append(&path, ".report");
    suspects_report_write(report, &bytes);
    return file_write(path.data, bytes.data, bytes.length, 0666);
}

static struct error *take_live(struct run_suspects *suspects, const struct catch_result *result,
                               struct stack *stacks, const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct suspects_report *report;
    struct suspects_live head;
    struct error *err = file_read(path, &bytes);

    if (!err)
        err = suspects_report_from_live(bytes.data, bytes.size, path, &report);
    if (err)
        return err;
    memcpy(&head, bytes.data, sizeof(head));
    label(suspects, result, head.process, report);
    add_stack(result, stacks, head.process, report);
    err = write_report(suspects, report);
    suspects->report_count += !err;
    suspects_report_destroy(report);
    return err;
}

static bool is_live(const char *name)
{
    size_t length = strlen(name);

    return length > 5 && strcmp(name + length - 5, ".live") == 0;
}

static struct error *take_all(struct run_suspects *suspects, const struct catch_result *result,
                              struct stack *stacks)
{
    DIR *directory = opendir(suspects->private);
    if (!directory)
        return error_errno(errno, suspects->private, "cannot read");
    struct error *err = NULL;
    for (struct dirent *entry; !err && (entry = readdir(directory));) {
        if (!is_live(entry->d_name))
            continue;
        _cleanup_free_ char *path = file_join(suspects->private, entry->d_name);
        err = take_live(suspects, result, stacks, path);
        if (err &&
            err->code == ERROR_FORMAT) { // one process's, which ended early; the others count
            if (!suspects->quiet)
                error_warn(err);
            else
                error_destroy(err);
            err = NULL;
        }
    }
    closedir(directory);
    return err;
}

struct error *run_suspects_end(struct run_suspects *suspects, const struct catch_result *result)
{
    if (suspects->options)
        setenv(OPTIONS, suspects->options, 1);
    else
        unsetenv(OPTIONS);
    for (int i = 1; suspects->has_output && i <= 2; i++)
        copy_output(suspects->output[i], i);
    suspects->outcome = find_outcome(suspects, result);
    struct stack *stacks = xcalloc(result->failures.length, sizeof(*stacks));
    struct error *err = take_all(suspects, result, stacks);
    for (size_t i = 0; i < result->failures.length; i++)
        free(stacks[i].frames);
    free(stacks);
    return err;
}

void run_suspects_deinit(struct run_suspects *suspects)
{
    DIR *directory = suspects->private ? opendir(suspects->private) : NULL;

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        _cleanup_free_ char *path = file_join(suspects->private, entry->d_name);
        unlink(path);
    }
    if (directory)
        closedir(directory);
    if (suspects->private)
        rmdir(suspects->private);
    for (int i = 1; suspects->has_output && i <= 2; i++)
        if (suspects->output[i] > 0)
            close(suspects->output[i]);
    if (suspects->private && suspects->lock >= 0)
        close(suspects->lock);
    free(suspects->private);
    free(suspects->core);
    free(suspects->options);
    suspects->private = suspects->core = suspects->options = NULL;
}

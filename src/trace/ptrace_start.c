// SPDX-License-Identifier: Apache-2.0
/*
 * Starting a program under the tracer.
 *
 * The child waits on a pipe until it has been seized, so that nothing of it runs unseen; then it
 * installs the seccomp filter, if one is wanted, and executes. A failed execve tells its errno on a
 * second pipe, which a successful one closes.
 *
 * A filter needs no_new_privs unless we have CAP_SYS_ADMIN: set-user-ID bits and file capabilities
 * are then without effect for the program and its children. For a traced program of an ordinary
 * user they are anyway.
 */
#include "trace/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "trace/ptrace_internal.h"

VEC_DEFINE(filter_vec, struct sock_filter);

/* Stop at the calls listed, of x86-64 code; everything else runs at full speed. */
static void filter_build(const int *syscalls, size_t count, struct filter_vec *filter)
{
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    filter_vec_append(filter, head, sizeof(head) / sizeof(*head));
    for (size_t i = 0; i < count; i++) {
        filter_vec_push(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                             (unsigned)syscalls[i], 0, 1));
        filter_vec_push(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
    }
    filter_vec_push(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static bool filter_is_available(void)
{
    unsigned action = SECCOMP_RET_TRACE;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* In the child. */
static bool filter_install(const struct filter_vec *filter)
{
    struct sock_fprog program = {(unsigned short)filter->length, filter->data};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return true;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* 0 where it can be executed, else an errno value. */
static int command_check(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    return access(path, X_OK) < 0 ? errno : 0;
}

struct error *tracer_find_command(const char *name, char **ret_path)
{
    if (strchr(name, '/')) {
        int errnum = command_check(name);
        if (errnum)
            return error_errno(errnum, name, "cannot run");
        *ret_path = xstrdup(name);
        return NULL;
    }
    const char *search = getenv("PATH");
    if (!search)
        search = "/bin:/usr/bin";
    int seen = ENOENT;
    for (const char *at = search;; at++) {
        size_t length = strcspn(at, ":");
        _cleanup_free_ char *directory = length ? xstrndup(at, length) : xstrdup(".");
        _cleanup_free_ char *path = file_join(directory, name);
        int errnum = command_check(path);
        if (!errnum) {
            *ret_path = no_cleanup_ptr(path);
            return NULL;
        }
        /* A file that may not be executed; directories that may not be searched do not count. */
        if (errnum == EACCES && access(path, F_OK) == 0)
            seen = EACCES;
        at += length;
        if (*at == '\0')
            break;
    }
    if (seen != ENOENT)
        return error_errno(seen, name, "cannot run");
    return error_create(ERROR_NOT_FOUND, "cannot run '%s': there is no such command in PATH", name);
}

/* In the child. A program of another machine is refused as a shell does; execvp() would take it for
 * a script. */
static bool is_elf(const char *path)
{
    char magic[4] = "";
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return read(descriptor, magic, sizeof(magic)) == sizeof(magic) &&
           memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

struct tracer_pipes {
    int go[2];      /* a byte: you are being traced */
    int failure[2]; /* an errno value: execve failed */
};

__attribute__((__noreturn__)) static void child_run(const struct tracer *tracer,
                                                    const struct tracer_command *command,
                                                    const struct filter_vec *filter,
                                                    const struct tracer_pipes *pipes)
{
    close(pipes->go[1]);
    for (int i = 0; i < 3; i++) {
        if (command->redirect[i] > 0 && dup2(command->redirect[i], i) < 0)
            _exit(127);
    }
    sigaction(SIGCHLD, &tracer->old_child_action, NULL);
    char byte;
    if (read(pipes->go[0], &byte, 1) != 1)
        _exit(127);
    sigprocmask(SIG_SETMASK, &tracer->old_mask, NULL);
    if (filter->length == 0 || filter_install(filter)) {
        if (is_elf(tracer->path))
            execv(tracer->path, command->argv);
        else
            execvp(tracer->path, command->argv);
    }
    int errnum = errno;
    ssize_t written = write(pipes->failure[1], &errnum, sizeof(errnum));
    _exit(written < 0 ? 126 : 127);
}

static uint64_t process_status_number(pid_t pid, const char *name)
{
    const struct tracee process = {.tid = pid, .pid = pid};
    uint64_t value = 0;
    return tracee_status_number(&process, name, 10, &value) ? value : 0;
}

static int ptrace_scope(void)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read("/proc/sys/kernel/yama/ptrace_scope", &bytes);
    if (err) {
        error_destroy(err);
        return 0;
    }
    return (int)strtol((const char *)bytes.data, NULL, 10);
}

/* Why PTRACE_SEIZE of our own child was refused. */
static struct error *tracer_explain_refusal(pid_t child, int errnum)
{
    struct strbuf reason = STRBUF_INIT;
    uint64_t other = process_status_number(child, "TracerPid");
    int scope = ptrace_scope();
    if (other && other != (uint64_t)getpid())
        strbuf_printf(&reason, "it is already traced by process %llu (a debugger or strace -f?)",
                      (unsigned long long)other);
    else if (scope >= 3)
        strbuf_append(&reason, "/proc/sys/kernel/yama/ptrace_scope is 3, which forbids it to all");
    else if (scope == 2 && geteuid() != 0)
        strbuf_append(&reason, "/proc/sys/kernel/yama/ptrace_scope is 2, which leaves it to root");
    else if (process_status_number(getpid(), "Seccomp") == 2)
        strbuf_append(&reason, "a seccomp filter is in effect, as containers have it "
                               "(for docker: --cap-add=SYS_PTRACE)");
    else
        strbuf_append(&reason, "a security module of this system may forbid it");
    _cleanup_strbuf_ struct strbuf owned = reason;
    return error_create(ERROR_SYSTEM, "cannot trace the program: %s: %s", strerror(errnum),
                        owned.data);
}

static struct error *tracer_seize(struct tracer *tracer, pid_t child)
{
    unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                            PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP;
    if (tracer->flags & TRACER_FOLLOW)
        options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    if (tracer->flags & TRACER_EXIT_KILL)
        options |= PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) == 0)
        return NULL;
    struct error *err = tracer_explain_refusal(child, errno);
    kill(child, SIGKILL);
    waitpid(child, NULL, __WALL);
    return err;
}

static struct error *tracer_open_pipes(struct tracer_pipes *pipes)
{
    if (pipe2(pipes->go, O_CLOEXEC) < 0)
        return error_errno(errno, NULL, "cannot make a pipe");
    if (pipe2(pipes->failure, O_CLOEXEC) == 0)
        return NULL;
    struct error *err = error_errno(errno, NULL, "cannot make a pipe");
    close(pipes->go[0]);
    close(pipes->go[1]);
    return err;
}

static struct error *tracer_fork(struct tracer *tracer, const struct tracer_command *command,
                                 const struct filter_vec *filter, pid_t *ret_child)
{
    struct tracer_pipes pipes;
    struct error *err = tracer_open_pipes(&pipes);
    if (err)
        return err;
    pid_t child = fork();
    if (child == 0)
        child_run(tracer, command, filter, &pipes);
    int errnum = errno;
    close(pipes.go[0]);
    close(pipes.failure[1]);
    err = child < 0 ? error_errno(errnum, NULL, "cannot fork") : tracer_seize(tracer, child);
    if (err) {
        close(pipes.go[1]);
        close(pipes.failure[0]);
        return err;
    }
    tracer->exec_error = pipes.failure[0];
    tracer->root = child;
    tracer_add(tracer, child, child);
    if (tracer->flags & TRACER_SYSCALLS)
        ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
    ssize_t written = write(pipes.go[1], "g", 1);
    (void)written; /* The child can only be gone, which tracer_run will see. */
    close(pipes.go[1]);
    *ret_child = child;
    return NULL;
}

struct error *tracer_start(struct tracer *tracer, const struct tracer_command *command,
                           pid_t *ret_pid)
{
    struct filter_vec filter = VEC_INIT;
    struct error *err = NULL;
    if (command->path)
        tracer->path = xstrdup(command->path);
    else
        err = tracer_find_command(command->argv[0], &tracer->path);
    if (err)
        return err;
    if (command->stop_at_syscall_count > 0) {
        if (filter_is_available())
            filter_build(command->stop_at_syscalls, command->stop_at_syscall_count, &filter);
        else
            tracer->flags |= TRACER_SYSCALLS;
    }
    pid_t child;
    err = tracer_fork(tracer, command, &filter, &child);
    filter_vec_deinit(&filter);
    if (!err && ret_pid)
        *ret_pid = child;
    return err;
}

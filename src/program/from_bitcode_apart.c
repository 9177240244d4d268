// SPDX-License-Identifier: Apache-2.0
/*
 * LLVM's reader trusts its input: bitcode that no compiler wrote may crash it, and a hash that is
 * right does not make it trustworthy. So it is read in a child process, which hands the tables over
 * in a file in memory; when the child dies, that is an error like any other. Where there can be no
 * child, the bitcode is read here.
 */
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/ErrorHandling.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "program/from_bitcode.h"
#include "program/insn.h"

enum apart_status {
    APART_DONE,
    APART_UNREADABLE, // from_bitcode() says so
    APART_FATAL,      // LLVM gave up
    APART_UNSENT,
};

static void give_up(const char *reason)
{
    (void)reason;
    _exit(APART_FATAL);
}

static int write_all(int descriptor, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = write(descriptor, (const char *)data + done, size - done);
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

// In the child: no core of it, no messages, no handlers of the parent's.
__attribute__((__noreturn__)) static void read_and_send(const void *bitcode, size_t length,
                                                        int descriptor)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    struct rlimit none = {0, 0};
    struct code *code;

    for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
        signal(deadly[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO); // LLVM prints what it finds wrong with debug information
    LLVMInstallFatalErrorHandler(give_up);
    if (from_bitcode(bitcode, length, &code))
        _exit(APART_UNREADABLE);
    _exit(write_all(descriptor, code->block, code->block_size) == 0 ? APART_DONE : APART_UNSENT);
}

static struct error *receive(int descriptor, int status, struct code **ret)
{
    if (WIFSIGNALED(status))
        return error_create(ERROR_FORMAT,
                            "bitcode of the model cannot be read: its reader crashed (%s)",
                            strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == APART_UNSENT)
        return error_create(ERROR_LIMIT, "no memory for the model's tables");
    if (WEXITSTATUS(status) != APART_DONE)
        return error_create(ERROR_FORMAT, "bitcode of the model cannot be read");
    _cleanup_free_ char *path = xasprintf("/proc/self/fd/%d", descriptor);
    return code_read(path, ret);
}

struct error *from_bitcode_apart(const void *bitcode, size_t length, struct code **ret)
{
    _cleanup_close_ int descriptor = memfd_create("inquest-code", MFD_CLOEXEC);
    pid_t child = -1;

    if (descriptor >= 0 && access("/proc/self/fd", X_OK) == 0)
        child = fork();
    if (child < 0)
        return from_bitcode(bitcode, length, ret);
    if (child == 0)
        read_and_send(bitcode, length, descriptor);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_errno(errno, NULL, "cannot wait for the reader of bitcode");
    return receive(descriptor, status, ret);
}

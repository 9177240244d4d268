// SPDX-License-Identifier: Apache-2.0
/*
 * LLVM's reader trusts its input: bitcode that no compiler wrote may crash it, and a hash that is
 * right does not make it trustworthy. So it is read in a child process, which hands the tables over
 * in a file in memory; when the child dies, that is an error like any other. Where there can be no
 * child, the bitcode is read here.
 *
 * LLVM takes longer to load than most commands take to run, and the cache (model_cache.c) seldom
 * leaves anything to read: so the reader is a module of its own, lib/inquest/inquest-bitcode.so,
 * which is loaded here, when it is first needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

// ---- The module

// Beside what runs: PREFIX/bin/inquest, PREFIX/lib/inquest/inquest-bitcode.so.
static struct error *find_module(char **ret)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (length <= 0)
        return error_errno(errno, "/proc/self/exe", "cannot read");
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    *ret = xasprintf("%s/../lib/inquest/inquest-bitcode.so", program);
    return NULL;
}

// *ret lives as long as the process.
static struct error *load_reader(const struct from_bitcode_reader **ret)
{
    static const struct from_bitcode_reader *loaded;
    _cleanup_free_ char *path = NULL;
    struct error *err = loaded ? NULL : find_module(&path);

    if (err)
        return err;
    if (!loaded) {
        void *module = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        loaded = module ? dlsym(module, "from_bitcode_reader") : NULL;
        if (!loaded)
            return error_create(ERROR_OTHER, "cannot load the reader of bitcode: %s", dlerror());
    }
    *ret = loaded;
    return NULL;
}

// ---- The child

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
__attribute__((__noreturn__)) static void read_and_send(const struct from_bitcode_reader *reader,
                                                        const void *bitcode, size_t length,
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
    reader->on_fatal(give_up);
    if (reader->read(bitcode, length, &code))
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
    const struct from_bitcode_reader *reader;
    struct error *err = load_reader(&reader);

    if (err)
        return err;
    if (descriptor >= 0 && access("/proc/self/fd", X_OK) == 0)
        child = fork();
    if (child < 0)
        return reader->read(bitcode, length, ret);
    if (child == 0)
        read_and_send(reader, bitcode, length, descriptor);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_errno(errno, NULL, "cannot wait for the reader of bitcode");
    return receive(descriptor, status, ret);
}

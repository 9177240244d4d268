#include "instrument/driver/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"

extern char **environ;

bool process_is_self(const char *path)
{
    struct stat found;
    struct stat self;
    return stat(path, &found) == 0 && stat("/proc/self/exe", &self) == 0 &&
           found.st_dev == self.st_dev && found.st_ino == self.st_ino;
}

/* Whether path is a program that we may run as clang. */
static bool is_other_program(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0 &&
           !process_is_self(path);
}

static const char *find_in(struct arena *arena, const char *directories, const char *name)
{
    for (const char *at = directories;; at++) {
        size_t length = strcspn(at, ":");
        const char *path = length ? arena_printf(arena, "%.*s/%s", (int)length, at, name)
                                  : arena_printf(arena, "./%s", name);
        if (is_other_program(path))
            return path;
        at += length;
        if (!*at)
            return NULL;
    }
}

struct error *process_find(struct arena *arena, const char *name, const char **ret_path)
{
    const char *directories = getenv("PATH");
    const char *path = directories ? find_in(arena, directories, name) : NULL;
    if (!path) {
        /* The system's own directories, for those who run us with an odd PATH. */
        char standard[PATH_MAX];
        size_t length = confstr(_CS_PATH, standard, sizeof(standard));
        if (length && length <= sizeof(standard))
            path = find_in(arena, standard, name);
    }
    if (!path)
        return error_create(ERROR_NOT_FOUND, "'%s' is not in PATH", name);
    *ret_path = path;
    return NULL;
}

struct error *memory_file_create(const char *name, int *ret_fd)
{
    _cleanup_close_ int made = memfd_create(name, MFD_CLOEXEC);
    if (made < 0)
        return error_errno(errno, NULL, "cannot create a file in memory");
    /* Never one of the three standard streams, which may have been closed. */
    int fd = fcntl(made, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return error_errno(errno, NULL, "cannot create a file in memory");
    *ret_fd = fd;
    return NULL;
}

void memory_file_keep(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

struct error *memory_file_write(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return error_errno(errno, NULL, "cannot write a file in memory");
        bytes += written;
        size -= (size_t)written;
    }
    return NULL;
}

struct error *memory_file_read(struct arena *arena, int fd, const char **ret_data, size_t *ret_size)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(memory_file_path(arena, fd), &bytes);
    if (err)
        return err;
    char *copy = arena_alloc(arena, bytes.size + 1);
    memcpy(copy, bytes.data, bytes.size);
    *ret_data = copy;
    *ret_size = bytes.size;
    return NULL;
}

const char *memory_file_path(struct arena *arena, int fd)
{
    return arena_printf(arena, "/proc/%d/fd/%d", (int)getpid(), fd);
}

/* path and arguments as exec wants them, in the arena. */
static char **argument_array(struct arena *arena, const char *path,
                             const struct arguments *arguments)
{
    char **array = arena_alloc_array(arena, arguments->length + 2, char *);
    array[0] = arena_strdup(arena, path);
    for (size_t i = 0; i < arguments->length; i++)
        array[i + 1] = (char *)arguments->data[i]; /* exec does not write to it */
    return array;
}

/* The same arguments in a response file, for command lines that the kernel finds too long. */
static struct error *response_array(struct arena *arena, const char *path,
                                    const struct arguments *arguments, char ***ret)
{
    int fd = -1;
    struct error *err = memory_file_create("arguments", &fd);
    if (err)
        return err;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    arguments_quote_response(arguments, &text);
    memory_file_keep(fd);
    err = memory_file_write(fd, text.data, text.length);
    if (err) {
        close(fd);
        return err;
    }
    _cleanup_arguments_ struct arguments response = VEC_INIT;
    arguments_push(&response, arena_printf(arena, "@%s", memory_file_path(arena, fd)));
    *ret = argument_array(arena, path, &response);
    return NULL;
}

struct error *process_become(struct arena *arena, const char *path,
                             const struct arguments *arguments)
{
    execv(path, argument_array(arena, path, arguments));
    if (errno == E2BIG) {
        char **array = NULL;
        struct error *err = response_array(arena, path, arguments, &array);
        if (err)
            return err;
        execv(path, array);
    }
    return error_errno(errno, path, "cannot run");
}

static void direct(posix_spawn_file_actions_t *actions, int source, int target, int flags)
{
    if (source == PROCESS_NULL)
        posix_spawn_file_actions_addopen(actions, target, "/dev/null", flags, 0);
    else if (source != PROCESS_INHERIT)
        posix_spawn_file_actions_adddup2(actions, source, target);
}

static int spawn(const char *path, char **array, struct process_streams streams, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    direct(&actions, streams.input, STDIN_FILENO, O_RDONLY);
    direct(&actions, streams.output, STDOUT_FILENO, O_WRONLY);
    direct(&actions, streams.errors, STDERR_FILENO, O_WRONLY);
    int errnum = posix_spawn(ret, path, &actions, NULL, array, environ);
    posix_spawn_file_actions_destroy(&actions);
    return errnum;
}

/* While a program runs for us, what asks us to end goes to it first, and then ends us. */

static volatile sig_atomic_t running; /* its process id, or 0 */
static volatile sig_atomic_t received;

static void pass_on(int number)
{
    received = number;
    if (running > 0)
        kill(running, number);
}

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define ENDING_COUNT (sizeof(ending_signals) / sizeof(ending_signals[0]))

static void watch_signals(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = pass_on};
    received = 0;
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        sigaction(ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_DFL) /* nohup and its like stay in force */
            sigaction(ending_signals[i], &action, NULL);
    }
}

static void unwatch_signals(const struct sigaction *before)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        sigaction(ending_signals[i], &before[i], NULL);
    if (received)
        raise(received);
}

static struct error *wait_for(pid_t process, const char *path, int *ret_status)
{
    running = process;
    if (received)
        kill(process, received);
    int errnum = 0;
    while (waitpid(process, ret_status, 0) < 0) {
        if (errno != EINTR) {
            errnum = errno;
            break;
        }
    }
    running = 0;
    return errnum ? error_errno(errnum, path, "cannot wait for") : NULL;
}

static int spawn_or_respond(struct arena *arena, const char *path,
                            const struct arguments *arguments, struct process_streams streams,
                            pid_t *ret)
{
    int errnum = spawn(path, argument_array(arena, path, arguments), streams, ret);
    char **array = NULL;
    struct error *err = NULL;
    if (errnum == E2BIG && !(err = response_array(arena, path, arguments, &array)))
        errnum = spawn(path, array, streams, ret);
    error_destroy(err);
    return errnum;
}

struct error *process_run(struct arena *arena, const char *path, const struct arguments *arguments,
                          struct process_streams streams, int *ret_status)
{
    struct sigaction before[ENDING_COUNT];
    watch_signals(before);
    pid_t process = 0;
    int errnum = spawn_or_respond(arena, path, arguments, streams, &process);
    struct error *err =
        errnum ? error_errno(errnum, path, "cannot run") : wait_for(process, path, ret_status);
    unwatch_signals(before);
    return err;
}

void process_end_like(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

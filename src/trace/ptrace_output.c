// SPDX-License-Identifier: Apache-2.0
#include "trace/ptrace_output.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "trace/ptrace.h"

enum {
    OUTPUT_CHUNK = 65536,
    OUTPUT_SHOWN = 40, /* bytes of a wrong line that a message shows */
};

const int output_syscalls[] = {
    SYS_write,  SYS_pwrite64, SYS_writev,          SYS_pwritev,    SYS_pwritev2,
    SYS_sendto, SYS_sendmsg,  SYS_vmsplice,        SYS_tee,        SYS_sendfile,
    SYS_splice, SYS_exit,     SYS_copy_file_range, SYS_exit_group,
};
const size_t output_syscall_count = sizeof(output_syscalls) / sizeof(*output_syscalls);

struct output_watch {
    struct file_bytes expected;
    int stream;
    int descriptor;
    bool shared[3];    /* standard descriptors that are another stream of the same open file */
    int64_t base;      /* where the file stood at the start, for calls with an offset */
    uint64_t position; /* bytes written one after the other */
    uint64_t covered;  /* the same, or further by calls with an offset */
    uint64_t unseen;
    pid_t writer; /* the thread within a call; 0: none */
    bool writer_positioned;
    uint64_t writer_start;
    uint64_t writer_compared;
    uint64_t wrong_at;
    bool wrong;
    char got[OUTPUT_SHOWN];
    size_t got_length;
};

/* What a call would write, and where to. */
enum output_source {
    SOURCE_BUFFER,     /* address, count */
    SOURCE_VECTOR,     /* address of iovecs, count of them */
    SOURCE_DESCRIPTOR, /* another descriptor, from input_offset or its own position */
};

struct output_call {
    enum output_source source;
    int descriptor;
    uint64_t address;
    uint64_t count;
    int input;
    uint64_t input_offset_at; /* the address of it; 0: none */
    bool positioned;
    int64_t position;
};

static bool same_open_file(int ours, pid_t pid, int theirs)
{
    long order =
        syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, (unsigned long)ours, (unsigned long)theirs);
    if (order >= 0)
        return order == 0;
    if (errno == EBADF)
        return false;
    /* No kcmp in this kernel, or not for us: the same file then has to do. */
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, theirs);
    struct stat a;
    struct stat b;
    return stat(path, &b) == 0 && fstat(ours, &a) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

struct error *output_watch_create(const char *expected, int stream, int descriptor,
                                  struct output_watch **ret)
{
    struct output_watch *watch = xcalloc(1, sizeof(*watch));
    struct error *err = file_read(expected, &watch->expected);
    if (err) {
        free(watch);
        return err;
    }
    watch->stream = stream;
    watch->descriptor = descriptor;
    for (int i = 0; i < 3; i++)
        watch->shared[i] = i != stream && same_open_file(descriptor, getpid(), i);
    watch->base = lseek(descriptor, 0, SEEK_CUR);
    *ret = watch;
    return NULL;
}

void output_watch_destroy(struct output_watch *watch)
{
    if (!watch)
        return;
    file_bytes_deinit(&watch->expected);
    free(watch);
}

static bool watch_owns(const struct output_watch *watch, pid_t pid, int descriptor)
{
    if (descriptor < 0 || (descriptor < 3 && watch->shared[descriptor]))
        return false;
    return same_open_file(watch->descriptor, pid, descriptor);
}

static struct iovec *vector_read(const struct tracee *tracee, uint64_t address, uint64_t count)
{
    size_t size;
    size_t wanted = count * sizeof(struct iovec);
    if (count == 0 || count > IOV_MAX)
        return NULL;
    struct iovec *vector = xmalloc(wanted);
    struct error *err = tracee_read(tracee, address, vector, wanted, &size);
    if (err || size != wanted) {
        error_destroy(err);
        free(vector);
        return NULL;
    }
    return vector;
}

static bool call_decode_message(const struct tracee *tracee, uint64_t address,
                                struct output_call *call)
{
    struct msghdr message = {0};
    size_t size;
    struct error *err = tracee_read(tracee, address, &message, sizeof(message), &size);
    bool read = !err && size == sizeof(message);
    error_destroy(err);
    if (!read)
        return false;
    call->source = SOURCE_VECTOR;
    call->address = (uint64_t)message.msg_iov;
    call->count = message.msg_iovlen;
    return true;
}

static void call_decode_offset(const struct tracee *tracee, uint64_t address,
                               struct output_call *call)
{
    size_t size;
    int64_t offset = 0;
    if (address == 0)
        return;
    struct error *err = tracee_read(tracee, address, &offset, sizeof(offset), &size);
    if (!err && size == sizeof(offset)) {
        call->positioned = true;
        call->position = offset;
    }
    error_destroy(err);
}

/* False where the call is none that writes. */
static bool call_decode(const struct tracee *tracee, const struct user_regs_struct *registers,
                        struct output_call *call)
{
    const uint64_t a[5] = {registers->rdi, registers->rsi, registers->rdx, registers->r10,
                           registers->r8};
    *call = (struct output_call){.descriptor = (int)a[0], .address = a[1], .count = a[2]};
    switch (registers->orig_rax) {
    case SYS_pwrite64:
        call->positioned = true;
        call->position = (int64_t)a[3];
        return true;
    case SYS_write:
    case SYS_sendto:
        return true;
    case SYS_pwritev:
    case SYS_pwritev2:
        call->positioned = registers->orig_rax == SYS_pwritev || (int64_t)a[3] != -1;
        call->position = (int64_t)a[3];
        call->source = SOURCE_VECTOR;
        return true;
    case SYS_writev:
    case SYS_vmsplice:
        call->source = SOURCE_VECTOR;
        return true;
    case SYS_sendmsg:
        return call_decode_message(tracee, a[1], call);
    case SYS_sendfile:
        *call = (struct output_call){.source = SOURCE_DESCRIPTOR,
                                     .descriptor = (int)a[0],
                                     .input = (int)a[1],
                                     .input_offset_at = a[2],
                                     .count = a[3]};
        return true;
    case SYS_tee:
        *call = (struct output_call){.source = SOURCE_DESCRIPTOR,
                                     .descriptor = (int)a[1],
                                     .input = (int)a[0],
                                     .count = a[2]};
        return true;
    case SYS_splice:
    case SYS_copy_file_range:
        *call = (struct output_call){.source = SOURCE_DESCRIPTOR,
                                     .descriptor = (int)a[2],
                                     .input = (int)a[0],
                                     .input_offset_at = a[1],
                                     .count = a[4]};
        call_decode_offset(tracee, a[3], call);
        return true;
    default:
        return false;
    }
}

/* The next bytes of the call; false at the first wrong one. */
static bool watch_compare(struct output_watch *watch, const unsigned char *data, size_t size)
{
    uint64_t at = watch->writer_start + watch->writer_compared;
    uint64_t left = at < watch->expected.size ? watch->expected.size - at : 0;
    size_t common = size < left ? size : (size_t)left;
    size_t good = 0;
    while (good < common && data[good] == watch->expected.data[at + good])
        good++;
    watch->writer_compared += good;
    if (good == size)
        return true;
    watch->wrong = true;
    watch->wrong_at = at + good;
    watch->got_length = size - good < OUTPUT_SHOWN ? size - good : OUTPUT_SHOWN;
    memcpy(watch->got, data + good, watch->got_length);
    return false;
}

static bool watch_compare_memory(struct output_watch *watch, const struct tracee *tracee,
                                 uint64_t address, uint64_t count)
{
    _cleanup_free_ unsigned char *chunk = xmalloc(OUTPUT_CHUNK);
    while (count > 0) {
        size_t size;
        struct error *err = tracee_read(tracee, address, chunk,
                                        count < OUTPUT_CHUNK ? (size_t)count : OUTPUT_CHUNK, &size);
        if (err) {
            /* The call will end there too, with EFAULT. */
            error_destroy(err);
            return true;
        }
        if (!watch_compare(watch, chunk, size))
            return false;
        address += size;
        count -= size;
    }
    return true;
}

static bool watch_compare_vector(struct output_watch *watch, const struct tracee *tracee,
                                 const struct output_call *call)
{
    _cleanup_free_ struct iovec *vector = vector_read(tracee, call->address, call->count);
    for (uint64_t i = 0; vector && i < call->count; i++) {
        if (!watch_compare_memory(watch, tracee, (uint64_t)vector[i].iov_base, vector[i].iov_len))
            return false;
    }
    return true;
}

/* The tracee's descriptor as one of ours, for the same open file; -1 where it is not to be had. */
static int descriptor_borrow(pid_t pid, int descriptor)
{
    _cleanup_close_ int process = (int)syscall(SYS_pidfd_open, pid, 0);
    return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
}

/* What waits in a pipe, without taking it out. */
static bool watch_compare_pipe(struct output_watch *watch, int input, uint64_t count)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC | O_NONBLOCK) < 0)
        return true;
    bool good = true;
    ssize_t copied =
        tee(input, copy[1], count < INT_MAX ? (size_t)count : INT_MAX, SPLICE_F_NONBLOCK);
    _cleanup_free_ unsigned char *chunk = xmalloc(OUTPUT_CHUNK);
    while (good && copied > 0) {
        ssize_t size = read(copy[0], chunk, OUTPUT_CHUNK);
        if (size <= 0)
            break;
        copied -= size;
        good = watch_compare(watch, chunk, (size_t)size);
    }
    close(copy[0]);
    close(copy[1]);
    return good;
}

static bool watch_compare_file(struct output_watch *watch, const struct tracee *tracee,
                               const struct output_call *call)
{
    _cleanup_close_ int input = descriptor_borrow(tracee->pid, call->input);
    struct stat status;
    if (input < 0 || fstat(input, &status) < 0)
        return true;
    if (S_ISFIFO(status.st_mode))
        return watch_compare_pipe(watch, input, call->count);
    if (!S_ISREG(status.st_mode))
        return true;
    struct output_call from = {.position = lseek(input, 0, SEEK_CUR)};
    call_decode_offset(tracee, call->input_offset_at, &from);
    _cleanup_free_ unsigned char *chunk = xmalloc(OUTPUT_CHUNK);
    for (uint64_t left = call->count; left > 0;) {
        ssize_t size =
            pread(input, chunk, left < OUTPUT_CHUNK ? (size_t)left : OUTPUT_CHUNK, from.position);
        if (size <= 0)
            return true;
        if (!watch_compare(watch, chunk, (size_t)size))
            return false;
        from.position += size;
        left -= (uint64_t)size;
    }
    return true;
}

enum output_result output_watch_enter(struct output_watch *watch, const struct tracee *tracee,
                                      const struct user_regs_struct *registers)
{
    struct output_call call;
    if (!call_decode(tracee, registers, &call) || !watch_owns(watch, tracee->pid, call.descriptor))
        return OUTPUT_OTHER;
    if (watch->writer && watch->writer != tracee->tid)
        return OUTPUT_BUSY;
    if (call.positioned && (watch->base < 0 || call.position < watch->base))
        return OUTPUT_OTHER;
    watch->writer = tracee->tid;
    watch->writer_positioned = call.positioned;
    watch->writer_start =
        call.positioned ? (uint64_t)(call.position - watch->base) : watch->position;
    watch->writer_compared = 0;
    bool good;
    if (call.source == SOURCE_BUFFER)
        good = watch_compare_memory(watch, tracee, call.address, call.count);
    else if (call.source == SOURCE_VECTOR)
        good = watch_compare_vector(watch, tracee, &call);
    else
        good = watch_compare_file(watch, tracee, &call);
    return good ? OUTPUT_FINE : OUTPUT_WRONG;
}

bool output_watch_leave(struct output_watch *watch, const struct tracee *tracee, int64_t result)
{
    if (watch->writer != tracee->tid)
        return false;
    watch->writer = 0;
    uint64_t written = result > 0 ? (uint64_t)result : 0;
    if (written > watch->writer_compared)
        watch->unseen += written - watch->writer_compared;
    if (!watch->writer_positioned)
        watch->position += written;
    uint64_t end = watch->writer_start + written;
    if (end > watch->covered)
        watch->covered = end;
    return true;
}

bool output_watch_gone(struct output_watch *watch, const struct tracee *tracee)
{
    if (watch->writer != tracee->tid)
        return false;
    watch->writer = 0;
    return true;
}

bool output_watch_is_short(const struct output_watch *watch)
{
    return watch->covered < watch->expected.size;
}

bool output_watch_is_open_in(const struct output_watch *watch, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(directory));) {
        if (entry->d_name[0] != '.')
            found = watch_owns(watch, pid, (int)strtol(entry->d_name, NULL, 10));
    }
    closedir(directory);
    return found;
}

uint64_t output_watch_unseen(const struct output_watch *watch)
{
    return watch->unseen;
}

/* 'text' up to the end of its line, or what else comes there. */
static void describe_text(struct strbuf *text, const void *data, size_t size)
{
    if (size == 0) {
        strbuf_append(text, "the end");
        return;
    }
    const char *line_end = memchr(data, '\n', size);
    size_t length = line_end ? (size_t)(line_end - (const char *)data) + 1 : size;
    if (length > OUTPUT_SHOWN)
        length = OUTPUT_SHOWN;
    _cleanup_free_ char *part = xstrndup(data, length);
    strbuf_append_char(text, '\'');
    if (*part == '\0')
        strbuf_append(text, "\\x00");
    else
        strbuf_append_escaped(text, part);
    strbuf_append_char(text, '\'');
}

char *output_watch_describe(const struct output_watch *watch)
{
    static const char *const names[] = {"standard input", "standard output", "standard error"};
    uint64_t at = watch->wrong ? watch->wrong_at : watch->covered;
    uint64_t known = at < watch->expected.size ? at : watch->expected.size;
    uint64_t line = 1;
    uint64_t column = 1;
    for (uint64_t i = 0; i < known; i++) {
        column++;
        if (watch->expected.data[i] == '\n') {
            line++;
            column = 1;
        }
    }
    struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text,
                  "%s: wrong from byte %llu (line %llu, column %llu): ", names[watch->stream],
                  (unsigned long long)at + 1, (unsigned long long)line, (unsigned long long)column);
    strbuf_append(&text, "expected ");
    describe_text(&text, watch->expected.data + known, watch->expected.size - known);
    strbuf_append(&text, ", got ");
    describe_text(&text, watch->got, watch->wrong ? watch->got_length : 0);
    return strbuf_steal(&text);
}

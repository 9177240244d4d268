// SPDX-License-Identifier: Apache-2.0
/* Registers, memory and signal dispositions of one stopped thread. */
#include "trace/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <elf.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"

struct error *tracee_get_registers(const struct tracee *tracee, struct user_regs_struct *ret)
{
    struct user_regs_struct registers;
    struct iovec vector = {&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, tracee->tid, (void *)NT_PRSTATUS, &vector) < 0)
        return error_errno(errno, NULL, "cannot read the registers of thread %d", tracee->tid);
    /* A 32-bit process gives a shorter set. */
    if (vector.iov_len != sizeof(registers))
        return error_create(ERROR_UNSUPPORTED, "thread %d runs 32-bit code", tracee->tid);
    *ret = registers;
    return NULL;
}

struct error *tracee_set_registers(const struct tracee *tracee,
                                   const struct user_regs_struct *registers)
{
    struct iovec vector = {(void *)registers, sizeof(*registers)};
    if (ptrace(PTRACE_SETREGSET, tracee->tid, (void *)NT_PRSTATUS, &vector) < 0)
        return error_errno(errno, NULL, "cannot write the registers of thread %d", tracee->tid);
    return NULL;
}

static int tracee_open_memory(const struct tracee *tracee, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", tracee->tid);
    return open(path, flags | O_CLOEXEC);
}

struct error *tracee_read(const struct tracee *tracee, uint64_t address, void *buffer, size_t size,
                          size_t *ret_size)
{
    struct iovec local = {buffer, size};
    struct iovec remote = {(void *)address, size};
    ssize_t length = process_vm_readv(tracee->tid, &local, 1, &remote, 1, 0);
    if (length <= 0) {
        /* Pages without read permission are readable there, and where seccomp forbids the call. */
        _cleanup_close_ int memory = tracee_open_memory(tracee, O_RDONLY);
        length = memory < 0 ? -1 : pread(memory, buffer, size, (off_t)address);
    }
    if (length <= 0) {
        struct error *err = error_errno(length < 0 ? errno : EIO, NULL,
                                        "cannot read the memory of process %d", tracee->pid);
        err->place_kind = ERROR_PLACE_ADDRESS;
        err->place = address;
        return err;
    }
    *ret_size = (size_t)length;
    return NULL;
}

struct error *tracee_write(const struct tracee *tracee, uint64_t address, const void *data,
                           size_t size)
{
    _cleanup_close_ int memory = tracee_open_memory(tracee, O_WRONLY);
    ssize_t length = memory < 0 ? -1 : pwrite(memory, data, size, (off_t)address);
    if (length == (ssize_t)size)
        return NULL;
    struct error *err = error_errno(length < 0 ? errno : EIO, NULL,
                                    "cannot write the memory of process %d", tracee->pid);
    err->place_kind = ERROR_PLACE_ADDRESS;
    err->place = address;
    return err;
}

bool tracee_status_number(const struct tracee *tracee, const char *name, int base,
                          uint64_t *ret_value)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", tracee->pid, tracee->tid);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (err) {
        error_destroy(err);
        return false;
    }
    size_t length = strlen(name);
    for (const char *line = (const char *)bytes.data; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            *ret_value = strtoull(line + length + 1, NULL, base);
            return true;
        }
    }
    return false;
}

bool signal_dumps_core(int signal)
{
    switch (signal) {
    case SIGQUIT:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGXCPU:
    case SIGXFSZ:
    case SIGSYS:
        return true;
    default:
        return false;
    }
}

enum tracee_fate tracee_signal_fate(const struct tracee *tracee, int signal)
{
    if (signal <= 0)
        return TRACEE_SURVIVES;
    uint64_t caught = 0;
    uint64_t ignored = 0;
    if (signal != SIGKILL && signal != SIGSTOP &&
        (!tracee_status_number(tracee, "SigCgt", 16, &caught) ||
         !tracee_status_number(tracee, "SigIgn", 16, &ignored)))
        return TRACEE_SURVIVES;
    if ((caught | ignored) >> (signal - 1) & 1)
        return TRACEE_SURVIVES;
    switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
        return TRACEE_SURVIVES;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return TRACEE_STOPS;
    default:
        return signal_dumps_core(signal) ? TRACEE_DUMPS_CORE : TRACEE_TERMINATES;
    }
}

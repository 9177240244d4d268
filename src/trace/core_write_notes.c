// SPDX-License-Identifier: Apache-2.0
/*
 * The notes of a core, in the order in which the kernel's fill_note_info() writes them: the failed
 * thread's NT_PRSTATUS, then what belongs to the process, then the failed thread's other registers,
 * then the same of every other thread. Readers attach registers to the NT_PRSTATUS before them.
 */
#include "trace/core_write_internal.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "trace/core_write.h"

#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif
#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif

static void note_append(struct strbuf *notes, const char *owner, uint32_t type, const void *data,
                        size_t size)
{
    Elf64_Nhdr header = {(Elf64_Word)strlen(owner) + 1, (Elf64_Word)size, type};
    strbuf_append_bytes(notes, &header, sizeof(header));
    strbuf_append_bytes(notes, owner, header.n_namesz);
    strbuf_append_repeated(notes, '\0', -header.n_namesz & 3);
    strbuf_append_bytes(notes, data, size);
    strbuf_append_repeated(notes, '\0', -size & 3);
}

/* A file of /proc/PID or /proc/PID/task/TID. */
static struct error *proc_read(pid_t pid, pid_t tid, const char *name, struct file_bytes *ret)
{
    char path[96];
    if (tid)
        snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
    else
        snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return file_read(path, ret);
}

/* What is needed of /proc/PID/stat (proc(5)); all zero where it cannot be read. */
struct proc_stat {
    char name[64];
    int parent, group, session;
    unsigned long flags, user_ticks, system_ticks;
    long child_user_ticks, child_system_ticks, nice;
};

static struct proc_stat proc_stat_read(pid_t pid, pid_t tid)
{
    struct proc_stat stat = {0};
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    _cleanup_error_ struct error *err = proc_read(pid, tid, "stat", &bytes);
    if (err)
        return stat;
    /* The name stands in parentheses and may hold some itself. */
    const char *text = (const char *)bytes.data;
    const char *open = strchr(text, '(');
    const char *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return stat;
    snprintf(stat.name, sizeof(stat.name), "%.*s", (int)(close - open - 1), open + 1);
    sscanf(close + 1, " %*c %d %d %d %*d %*d %lu %*u %*u %*u %*u %lu %lu %ld %ld %*d %ld",
           &stat.parent, &stat.group, &stat.session, &stat.flags, &stat.user_ticks,
           &stat.system_ticks, &stat.child_user_ticks, &stat.child_system_ticks, &stat.nice);
    return stat;
}

static struct timeval ticks_to_time(unsigned long ticks)
{
    unsigned long rate = (unsigned long)sysconf(_SC_CLK_TCK);
    return (struct timeval){(time_t)(ticks / rate), (suseconds_t)(ticks % rate * 1000000 / rate)};
}

/* `NAME: value` in the text of a status file; 0 where it is not. */
static uint64_t status_number(const struct file_bytes *status, const char *name, int base)
{
    const char *found = status->data ? strstr((const char *)status->data, name) : NULL;
    return found ? strtoull(found + strlen(name), NULL, base) : 0;
}

static struct error *regset_read(pid_t tid, int type, void *buffer, size_t *size)
{
    struct iovec vector = {buffer, *size};
    if (ptrace(PTRACE_GETREGSET, tid, (void *)(long)type, &vector) < 0)
        return error_errno(errno, NULL, "cannot read the registers of thread %d", tid);
    *size = vector.iov_len;
    return NULL;
}

static struct error *note_prstatus(const struct core_request *request, pid_t tid, int signal,
                                   struct strbuf *notes)
{
    struct elf_prstatus status = {0};
    struct user_regs_struct registers = {0};
    size_t size = sizeof(registers);
    struct error *err = regset_read(tid, NT_PRSTATUS, &registers, &size);
    if (err)
        return err;
    if (size != sizeof(registers))
        return error_create(ERROR_UNSUPPORTED, "process %d runs 32-bit code", request->pid);
    static_assert(sizeof(status.pr_reg) == sizeof(registers), "x86-64 registers");
    memcpy(&status.pr_reg, &registers, sizeof(registers));

    _cleanup_file_bytes_ struct file_bytes text = FILE_BYTES_INIT;
    _cleanup_error_ struct error *unread = proc_read(request->pid, tid, "status", &text);
    struct proc_stat stat = proc_stat_read(request->pid, tid);
    status.pr_info.si_signo = signal;
    if (signal && request->info) {
        status.pr_info.si_code = request->info->si_code;
        status.pr_info.si_errno = request->info->si_errno;
    }
    status.pr_cursig = (short)signal;
    status.pr_sigpend = status_number(&text, "SigPnd:", 16);
    status.pr_sighold = status_number(&text, "SigBlk:", 16);
    status.pr_pid = tid;
    status.pr_ppid = stat.parent;
    status.pr_pgrp = stat.group;
    status.pr_sid = stat.session;
    status.pr_utime = ticks_to_time(stat.user_ticks);
    status.pr_stime = ticks_to_time(stat.system_ticks);
    status.pr_cutime = ticks_to_time((unsigned long)stat.child_user_ticks);
    status.pr_cstime = ticks_to_time((unsigned long)stat.child_system_ticks);
    status.pr_fpvalid = 1;
    note_append(notes, "CORE", NT_PRSTATUS, &status, sizeof(status));
    return NULL;
}

static void note_prpsinfo(const struct core_request *request, struct strbuf *notes)
{
    struct elf_prpsinfo info = {0};
    struct proc_stat stat = proc_stat_read(request->pid, 0);
    _cleanup_file_bytes_ struct file_bytes status = FILE_BYTES_INIT;
    _cleanup_file_bytes_ struct file_bytes arguments = FILE_BYTES_INIT;
    error_destroy(proc_read(request->pid, 0, "status", &status));
    error_destroy(proc_read(request->pid, 0, "cmdline", &arguments));
    info.pr_sname = 'R';
    info.pr_nice = (char)stat.nice;
    info.pr_flag = stat.flags;
    info.pr_uid = (unsigned)status_number(&status, "Uid:", 10);
    info.pr_gid = (unsigned)status_number(&status, "Gid:", 10);
    info.pr_pid = request->pid;
    info.pr_ppid = stat.parent;
    info.pr_pgrp = stat.group;
    info.pr_sid = stat.session;
    /* Both fields are NUL-padded; the last byte of the arguments stays NUL. */
    memcpy(info.pr_fname, stat.name, strnlen(stat.name, sizeof(info.pr_fname) - 1));
    size_t length =
        arguments.size < sizeof(info.pr_psargs) ? arguments.size : sizeof(info.pr_psargs) - 1;
    for (size_t i = 0; i < length; i++)
        info.pr_psargs[i] = arguments.data[i] ? (char)arguments.data[i] : ' ';
    note_append(notes, "CORE", NT_PRPSINFO, &info, sizeof(info));
}

static struct error *note_auxv(const struct core_request *request, struct strbuf *notes)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = proc_read(request->pid, 0, "auxv", &bytes);
    if (!err)
        note_append(notes, "CORE", NT_AUXV, bytes.data, bytes.size);
    return err;
}

/* count, page size, then start, end and offset in pages of each, then the names. */
static void note_file(const struct core_mapping_vec *mappings, struct strbuf *notes)
{
    struct strbuf head = STRBUF_INIT;
    struct strbuf names = STRBUF_INIT;
    uint64_t count[2] = {0, CORE_PAGE};
    strbuf_append_bytes(&head, count, sizeof(count));
    for (size_t i = 0; i < mappings->length; i++) {
        const struct core_mapping *mapping = &mappings->data[i];
        if (mapping->inode == 0)
            continue;
        uint64_t entry[3] = {mapping->start, mapping->end, mapping->offset / CORE_PAGE};
        strbuf_append_bytes(&head, entry, sizeof(entry));
        strbuf_append_bytes(&names, mapping->name, strlen(mapping->name) + 1);
        count[0]++;
    }
    memcpy(head.data, count, sizeof(count));
    strbuf_append_bytes(&head, names.data, names.length);
    note_append(notes, "CORE", NT_FILE, head.data, head.length);
    strbuf_deinit(&head);
    strbuf_deinit(&names);
}

static struct error *note_float(pid_t tid, struct strbuf *notes)
{
    struct user_fpregs_struct registers = {0};
    size_t size = sizeof(registers);
    struct error *err = regset_read(tid, NT_FPREGSET, &registers, &size);
    if (err)
        return err;
    note_append(notes, "CORE", NT_FPREGSET, &registers, size);
    /* Its size depends on the processor (AMX alone takes 8 KiB). Without XSAVE there is none. */
    size = 65536;
    _cleanup_free_ void *extended = xmalloc(size);
    _cleanup_error_ struct error *absent = regset_read(tid, NT_X86_XSTATE, extended, &size);
    if (!absent)
        note_append(notes, "LINUX", NT_X86_XSTATE, extended, size);
    return NULL;
}

static struct error *notes_of_process(const struct core_request *request,
                                      const struct core_mapping_vec *mappings, struct strbuf *notes)
{
    note_prpsinfo(request, notes);
    if (request->info)
        note_append(notes, "CORE", NT_SIGINFO, request->info, sizeof(*request->info));
    struct error *err = note_auxv(request, notes);
    if (err)
        return err;
    note_file(mappings, notes);
    if (request->reason)
        note_append(notes, CORE_NOTE_OWNER, CORE_NOTE_REASON, request->reason,
                    strlen(request->reason) + 1);
    return NULL;
}

struct error *core_notes_build(const struct core_request *request,
                               const struct core_mapping_vec *mappings, struct strbuf *notes)
{
    assert(request->thread_count > 0);
    for (size_t i = 0; i < request->thread_count; i++) {
        pid_t tid = request->threads[i];
        /* The kernel gives every thread the number of the signal that killed the process. */
        struct error *err = note_prstatus(request, tid, request->signal, notes);
        if (!err && i == 0)
            err = notes_of_process(request, mappings, notes);
        if (!err)
            err = note_float(tid, notes);
        if (err)
            return err;
    }
    return NULL;
}

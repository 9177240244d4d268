// SPDX-License-Identifier: Apache-2.0
/*
 * Writes an ELF core of a stopped process, as the kernel would: notes of all threads (the first one
 * given comes first: readers take it for the one that failed), one PT_LOAD for every mapping,
 * contents as /proc/PID/coredump_filter selects them. The file is sparse, readable by its owner
 * only, and appears under its name only when complete.
 *
 *     struct core_request request = {.pid = pid, .threads = tids, .thread_count = n,
 *                                    .signal = info.si_signo, .info = &info};
 *     struct core_written written;
 *     struct error *err = core_write(&request, "core.1234", &written);
 *
 * Every thread must be in a ptrace stop of the caller and stay there. x86-64 processes only.
 */
#ifndef INQUEST_TRACE_CORE_WRITE_H
#define INQUEST_TRACE_CORE_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct core_request {
    pid_t pid;
    const pid_t *threads; /* the failed one first; at least one */
    size_t thread_count;
    int signal;            /* 0: the process was not stopped by a signal */
    const siginfo_t *info; /* of the signal, or NULL */
    /*
     * One sentence on why the core was made, or NULL. Kept in a note with owner CORE_NOTE_OWNER and
     * type CORE_NOTE_REASON, NUL-terminated; other readers pass it over.
     */
    const char *reason;
    bool zstd; /* compress */
};

#define CORE_NOTE_OWNER "INQUEST"
enum core_note_type {
    CORE_NOTE_REASON = 1,
};

struct core_written {
    uint64_t size;       /* of the core, holes included, before compression */
    uint64_t stored;     /* bytes of it that are not holes */
    uint64_t unreadable; /* bytes that should be there but could not be read: zeros in the core */
};

/* On failure nothing is left behind. A file that is in the way is replaced. */
struct error *core_write(const struct core_request *request, const char *path,
                         struct core_written *ret);

#endif

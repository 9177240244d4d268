// SPDX-License-Identifier: Apache-2.0
/*
 * Compares what a traced program writes to one of its streams with what it should, call by call,
 * before the bytes leave the program.
 *
 *     err = output_watch_create("expected", STDOUT_FILENO, STDOUT_FILENO, &watch);
 *     ... TRACER_SYSCALL_ENTER at one of output_syscalls:
 *     switch (output_watch_enter(watch, tracee, &registers)) {
 *     case OUTPUT_OTHER: break;                                // another file, or no output
 *     case OUTPUT_FINE:  event->resume = TRACEE_SYSCALL; break;  // then output_watch_leave()
 *     case OUTPUT_BUSY:  event->resume = TRACEE_HOLD; break;     // until the writer has left
 *     case OUTPUT_WRONG: ...                                   // output_watch_describe()
 *     }
 *
 * Every descriptor of the same open file counts, in whichever process (kcmp(2)), so dup() and
 * children are seen. The call is compared on entry, and what it wrote is counted on exit; between
 * the two the tracee is the stream's writer and others wait, so that the order of bytes is certain.
 * Not seen: output through io_uring or a mapping of the file, and the contents that splice() takes
 * from a pipe that fills only during the call; those bytes are counted and not compared.
 */
#ifndef INQUEST_TRACE_PTRACE_OUTPUT_H
#define INQUEST_TRACE_PTRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct output_watch;
struct tracee;
struct user_regs_struct;

/* The calls to stop at, with those that end a thread or a process. */
extern const int output_syscalls[];
extern const size_t output_syscall_count;

enum output_result {
    OUTPUT_OTHER,
    OUTPUT_FINE,
    OUTPUT_BUSY,
    OUTPUT_WRONG,
};

/*
 * expected is the path of what should be written; stream is 0, 1 or 2 as the program sees it;
 * descriptor is ours for the same open file and stays open for the life of the watch.
 */
struct error *output_watch_create(const char *expected, int stream, int descriptor,
                                  struct output_watch **ret);
void output_watch_destroy(struct output_watch *watch);

enum output_result output_watch_enter(struct output_watch *watch, const struct tracee *tracee,
                                      const struct user_regs_struct *registers);
/* On the exit of a call that was OUTPUT_FINE, with what it returned; false where it was not ours.
 */
bool output_watch_leave(struct output_watch *watch, const struct tracee *tracee, int64_t result);
/* The thread is gone: true where it was the writer. */
bool output_watch_gone(struct output_watch *watch, const struct tracee *tracee);

/* Whether bytes are missing at the end. */
bool output_watch_is_short(const struct output_watch *watch);
/* Whether a process has the stream open. */
bool output_watch_is_open_in(const struct output_watch *watch, pid_t pid);
/* Bytes that went by without being compared. */
uint64_t output_watch_unseen(const struct output_watch *watch);

/* One sentence: the wrong byte after OUTPUT_WRONG, else the missing ones; to be freed. */
char *output_watch_describe(const struct output_watch *watch);

#endif

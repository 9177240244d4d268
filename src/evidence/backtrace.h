// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks as text: what gdb, the sanitizers and glibc's backtrace() print, somewhere in a log, a bug
 * report, a terminal session.
 *
 *     struct backtrace *backtrace;
 *     err = backtrace_read(text, length, "bug.txt", &backtrace);     // ERROR_NOT_FOUND: none in it
 *     for (uint32_t s = 0; s < backtrace->stack_count; s++) ...      // the one that failed first
 *     backtrace_destroy(backtrace);
 *
 * This is what the text says and no more; backtrace_evidence.h joins it with a program. Text around
 * stacks is skipped. Only stacks of the end of the run are taken: not where memory was allocated or
 * freed, not the other access of a race, not a report after which the program went on.
 */
#ifndef EVIDENCE_BACKTRACE_H
#define EVIDENCE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "evidence/evidence.h"

enum backtrace_dialect {
    BACKTRACE_GDB,
    BACKTRACE_SANITIZER, // address, memory, undefined behaviour
    BACKTRACE_THREADS,   // the thread sanitizer: keeps a stack of its own, without library code
    BACKTRACE_GLIBC,     // printed by the program itself, which went on from there
};

struct backtrace_frame {
    uint32_t number; // as the text counts, 0 is the innermost
    uint32_t text_line;
    bool is_signal;     // the kernel called a signal handler here
    bool after_skipped; // the text leaves out frames between the one before (inner) and this one
    bool has_pc;
    uint64_t pc;
    bool pc_is_inside; // pc lies in the call, not behind it (sanitizers)
    bool has_offset;
    uint64_t offset;      // the same as an address in the file `image`
    const char *image;    // or NULL
    const char *build_id; // hex, of `image`; or NULL
    const char *function; // without namespaces and parameters; NULL: not known
    bool has_symbol_offset;
    uint64_t symbol_offset; // pc is that far behind the symbol `function`
    const char *file;       // or NULL
    uint32_t line, column;  // 0: not known
};

struct backtrace_stack {
    struct backtrace_frame *frames; // innermost first
    uint32_t frame_count;
    uint32_t thread; // gdb's or a sanitizer's number
    int64_t tid;     // 0: not told
    bool crashed;    // took the signal, or made the report
    bool is_cut;     // the text says that there is more, or that it could not go on
    const char *end; // why, in the text's words; or NULL
};

struct backtrace {
    struct arena arena;
    enum backtrace_dialect dialect;
    const struct backtrace_stack *stacks; // the one that failed first
    uint32_t stack_count;
    struct evidence_signal signal;
    const char *command; // or NULL
    int64_t pid;
    const char *const *warnings;
    uint32_t warning_count;
};

// `file` is for messages. ERROR_NOT_FOUND: no stack of the run's end is in it.
struct error *backtrace_read(const char *text, size_t length, const char *file,
                             struct backtrace **ret);
void backtrace_destroy(struct backtrace *backtrace); // NULL is fine

#endif

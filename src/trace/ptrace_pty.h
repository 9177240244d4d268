// SPDX-License-Identifier: Apache-2.0
/*
 * A terminal for a program's standard output, so that its C library buffers by lines and not by
 * blocks; what it prints is copied, byte for byte, to a descriptor of ours.
 *
 *     err = pty_open(&pty, STDOUT_FILENO);
 *     command.redirect[1] = pty.program;
 *     tracer_watch(tracer, pty.ours);        // then pty_copy(&pty) whenever it is readable
 *     pty_finish(&pty);                      // what is left, once the program has ended
 *
 * Only that descriptor is a terminal: the program's input, its controlling terminal and its job
 * control stay what they are. No byte is changed (OPOST is off).
 */
#ifndef INQUEST_TRACE_PTRACE_PTY_H
#define INQUEST_TRACE_PTRACE_PTY_H

#include <stdbool.h>

struct error;

struct pty {
    int ours;
    int program;
    int output;
};

#define PTY_INIT {-1, -1, -1}

struct error *pty_open(struct pty *pty, int output);
/* False where nothing will come any more, or nobody reads the output: ours is closed then. */
bool pty_copy(struct pty *pty);
void pty_finish(struct pty *pty);

#endif

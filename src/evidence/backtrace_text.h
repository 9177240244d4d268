// SPDX-License-Identifier: Apache-2.0
/*
 * What the readers of backtraces share: small steps through one line of text, and where they put
 * what they find.
 *
 * A step takes a place in a NUL-terminated line and gives the place behind what it took, or NULL
 * when that is not there. NULL goes through: steps can be chained and checked once.
 *
 *     const char *at = text_skip(line, "#");
 *     at = text_number(at, &number);
 *     if (!at) ...
 */
#ifndef EVIDENCE_BACKTRACE_TEXT_H
#define EVIDENCE_BACKTRACE_TEXT_H

#include "common/vec.h"
#include "evidence/backtrace.h"

VEC_DEFINE(backtrace_frame_vec, struct backtrace_frame);
VEC_DEFINE(backtrace_stack_vec, struct backtrace_stack);
VEC_DEFINE(backtrace_warning_vec, const char *);

const char *text_skip(const char *at, const char *word);
const char *text_spaces(const char *at); // any number of them
// Decimal; at most UINT32_MAX.
const char *text_number(const char *at, uint32_t *ret);
// "0x" and digits.
const char *text_hex(const char *at, uint64_t *ret);
// Does the line begin with it? And how it ends.
bool text_begins(const char *line, const char *word);
bool text_ends(const char *line, const char *word);
// A number behind `word`, wherever that stands in the line; false when it does not.
bool text_find_number(const char *line, const char *word, uint32_t *ret);
bool text_find_hex(const char *line, const char *word, uint64_t *ret);

// "#3 " of a frame, behind quotes, bars and time stamps: the place behind it and the spaces.
// `*is_plain`: nothing but white space stood before it.
const char *text_frame_number(const char *line, uint32_t *number, bool *is_plain);

// "FILE:LINE" or "FILE:LINE:COLUMN", to the end of `length` bytes. False: it is not.
bool text_place(struct arena *arena, const char *at, size_t length, struct backtrace_frame *frame);

// ---- Readers are given line after line (without ends of lines and colours), then the end.

struct backtrace_reader {
    struct arena *arena;
    struct backtrace_warning_vec warnings;
    // What it found, once at the end. No stack: nothing, or `reason` says why it is none.
    struct backtrace_stack_vec stacks;
    enum backtrace_dialect dialect;
    struct evidence_signal signal;
    const char *command;
    int64_t pid;
    uint32_t first_line;
    const char *reason;
    struct error *problem; // it contradicts itself; the caller's to destroy
};

void reader_warn(struct backtrace_reader *reader, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));
void reader_keep_stack(struct backtrace_reader *reader, const struct backtrace_frame_vec *frames,
                       struct backtrace_stack stack);

struct gdb_reader;
struct gdb_reader *gdb_reader_create(struct backtrace_reader *out);
void gdb_reader_line(struct gdb_reader *reader, const char *line, uint32_t number);
void gdb_reader_finish(struct gdb_reader *reader); // and destroys it

struct sanitizer_reader;
struct sanitizer_reader *sanitizer_reader_create(struct backtrace_reader *out);
void sanitizer_reader_line(struct sanitizer_reader *reader, const char *line, uint32_t number);
void sanitizer_reader_finish(struct sanitizer_reader *reader);
// A frame of a sanitizer's stack, also where it stands in no report.
bool sanitizer_frame(struct arena *arena, const char *line, struct backtrace_frame *ret);

struct glibc_reader;
struct glibc_reader *glibc_reader_create(struct backtrace_reader *out);
void glibc_reader_line(struct glibc_reader *reader, const char *line, uint32_t number);
void glibc_reader_finish(struct glibc_reader *reader);

// The number of a signal by its name ("SIGSEGV" or "SEGV"); 0 when there is none.
int backtrace_signal_number(const char *name, size_t length);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * `inquest EXE CORE`: what happened, as text for people and as JSON (docs/formats/summary.md).
 *
 *     struct summary summary = {.evidence = evidence, .positions = positions, ...};
 *     err = summary_write_text(&summary, stdout);
 *     err = summary_write_json(&summary, stdout);
 *
 * Both write while they walk the stack and hold no frame in memory, so that 100,000 frames are
 * ordinary. Where the budget is spent they stop, say so, and set `incomplete`.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct budget;
struct error;
struct evidence;
struct evidence_thread;
struct positions;

struct summary {
    const struct evidence *evidence;
    struct positions *positions;
    const char *program;    // EXE as given
    time_t program_changed; // newer sources are pointed out; 0: do not compare
    const char *const *source_directories;
    size_t source_directory_count;
    bool verbose; // everything; text only, JSON always has it
    bool quiet;   // no notes on what was skipped; text only
    bool color;
    bool ascii;            // no characters outside of ASCII
    struct budget *budget; // or NULL

    bool incomplete; // out: the budget was spent before the end
};

struct error *summary_write_text(struct summary *summary, FILE *stream);
struct error *summary_write_json(struct summary *summary, FILE *stream);

// What to show of a deep stack: runs of frames. A run with count 1 is that frame, others are
// folded.
struct stack_run {
    uint32_t first, count;
    uint32_t period; // the folded frames are the functions of the first `period` over and over; 0:
                     // in no such order
};

// Recursion is folded where the same few functions repeat, then the middle where that leaves more
// than `most` runs. *out is to be freed.
uint32_t stack_fold(const struct evidence_thread *thread, uint32_t most, struct stack_run **out);

#endif

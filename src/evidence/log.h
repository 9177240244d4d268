// SPDX-License-Identifier: Apache-2.0
/*
 * Log files as evidence: each line is compared with what the program can write (log_catalogue.h),
 * and what it proves is added as observations. docs/logs.md says what is claimed, and when.
 *
 *     struct log_options options = {.complete = false};
 *     err = log_read(model, "app.log", &options, evidence);
 *
 * Added are, in the evidence's arena: for each stream of the program whose lines can be told an
 * EVIDENCE_TRACE of the call sites in the order of the lines (unreliable); EVIDENCE_RAN for lines
 * that have no place in an order; with `complete` a reliable trace (or a burst) of the sites whose
 * every visit can be seen; and one warning that counts the lines. No text of the log is kept, only
 * line numbers.
 */
#ifndef EVIDENCE_LOG_H
#define EVIDENCE_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct evidence;
struct model;

// What the file is a record of.
enum log_file_kind {
    LOG_FILE_ANY,    // whatever the program writes: nothing is known
    LOG_FILE_STDOUT, // standard output alone
    LOG_FILE_STDERR, // standard error alone
    LOG_FILE_SYSLOG, // syslog alone
    LOG_FILE_ONE,    // one stream or descriptor, whichever: the order of lines is that of the run
};

struct log_options {
    bool complete; // no line was lost
    enum log_file_kind kind;
    bool one_process; // written by the failed process alone, even if the program forks
    bool any_text;    // texts that fill a %s may hold several lines
    // Outputs that may write any text, with fewer literal characters than a line needs, did not
    // write what others can have written: a guess, and a good one where texts do not mislead.
    bool by_literals;
    uint32_t weight;     // literal characters that a line needs; 0: LOG_WEIGHT
    uint32_t first_line; // earlier lines are of other runs; 0 or 1: none
    uint32_t most;       // entries of one trace, and observations without order; 0: LOG_MOST
};

#define LOG_WEIGHT 4
#define LOG_MOST   4096

// The model is completed. The evidence may be from a core (then its process id and stack are used)
// or empty. A model without instructions is ERROR_UNSUPPORTED. On errors nothing is added.
struct error *log_read(struct model *model, const char *path, const struct log_options *options,
                       struct evidence *evidence);

#endif

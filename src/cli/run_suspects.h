// SPDX-License-Identifier: Apache-2.0
/*
 * `inquest run --suspects DIR`: reports of what the run sampled (suspects/report.h), one for every
 * process and image of it, labelled with how the run ended.
 *
 *     struct run_suspects suspects = {.directory = "runs"};
 *     err = run_suspects_begin(&suspects);        // INQUEST_OPTIONS, a directory of its own
 *     ... catch_run, with suspects.output, cores to suspects.core ...
 *     err = run_suspects_end(&suspects, &result);
 *     ... suspects.outcome, suspects.report_count ...
 *     run_suspects_deinit(&suspects);
 *
 * While the run lasts its live files are in DIR/.run.XXXXXX, which is locked (flock). A directory
 * of that kind that is not locked was left by an inquest that was killed: RUN_SUSPECTS_PREFIX.
 * Reports appear as DIR/RUN-ID.report when they are complete.
 */
#ifndef CLI_RUN_SUSPECTS_H
#define CLI_RUN_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "suspects/report.h"

#define RUN_SUSPECTS_PREFIX ".run."

struct catch_result;
struct error;

struct run_suspects {
    // What is wanted; borrowed.
    const char *directory, *rate, *seed, *oracle;
    bool quiet;

    char *private; // the run's own directory
    int lock;      // on it
    char *core;    // name of a core in it, as catch_settings has it
    char *options; // INQUEST_OPTIONS as it was, or NULL
    int output[3]; // with an oracle: files for the program's output
    bool has_output;

    enum suspects_outcome outcome;
    uint32_t report_count;
};

struct error *run_suspects_begin(struct run_suspects *suspects);
struct error *run_suspects_end(struct run_suspects *suspects, const struct catch_result *result);
// The run's own directory goes, with all that is in it.
void run_suspects_deinit(struct run_suspects *suspects);

// The innermost frames of a core's failed thread into the report; none where the core or the
// program has no stack that a model knows.
void run_suspects_stack(const char *program, const char *core, struct suspects_frame **ret,
                        uint32_t *ret_count);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * What `inquest path` has of the runs that failed: EXE and EVIDENCE..., each of its own run; or
 * none, and a place where a run is taken to have ended.
 *
 *     struct path_failures failures = {0};
 *     err = path_failures_read(&failures, &inquiry, exe, paths, count);
 *     if (!err)
 *             err = path_failures_make(&failures, &options);      // the model may have been
 * changed
 *     ... failures.cases, failures.names ...
 *     path_failures_deinit(&failures);
 *
 * `core,notes.json` is two files of one run.
 */
#ifndef CLI_PATH_FAILURES_H
#define CLI_PATH_FAILURES_H

#include "cli/inquiry.h"

struct path_failure {
    struct input own; // its evidence; of the first: the inquiry's
    char *name;
    struct ask_case *ask;
};

struct path_failures {
    struct inquiry *inquiry; // borrowed: has the model
    struct path_failure *all;
    uint32_t count;
    bool has_evidence; // else the place of --end is all that is known
    struct ask_case **cases;
    const char **names;
    uint32_t *end_lines; // where each failed; 0: not known
    const char *executable;
    const char *const *paths;
};

// The inquiry's options are set; its model and the first's evidence are opened here.
struct error *path_failures_read(struct path_failures *failures, struct inquiry *inquiry,
                                 const char *executable, const char *const *paths, uint32_t count);

struct path_failures_options {
    const uint32_t
        *ends; // nodes where the run ends, in order of ids; none: where the evidence says
    uint32_t end_count;
    const char *end_text;
    bool no_stack; // of the stack, only where it ends
};
struct error *path_failures_make(struct path_failures *failures,
                                 const struct path_failures_options *options);
void path_failures_deinit(struct path_failures *failures);

#endif

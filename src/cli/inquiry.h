// SPDX-License-Identifier: Apache-2.0
/*
 * EXE EVIDENCE... with all that `coverage` and `ask` take besides: logs, which kinds of
 * observations to use, the solver.
 *
 *     struct inquiry inquiry = {0};
 *     const struct option_spec specs[] = {INQUIRY_SPECS(inquiry), {0}};
 *     ...
 *     err = inquiry_open(&inquiry, exe, paths, count);
 *     ... inquiry.ask, inquiry.solver ...
 *     inquiry_deinit(&inquiry);
 */
#ifndef CLI_INQUIRY_H
#define CLI_INQUIRY_H

#include "ask/coverage.h"
#include "cli/input.h"

struct ask_case;
struct query;

struct inquiry {
    struct input input;
    const char *solver_name, *use, *log_is;
    struct option_values logs, given;
    bool log_complete;
    bool narrow;    // calls through pointers, by where the pointers may point
    bool takes_csi; // may the solver be csi, which knows of coverage only?

    enum ask_solver solver;
    unsigned kinds; // enum ask_use: what --use says
    struct ask_case *ask;
    struct query **queries; // those given
};

#define INQUIRY_SPECS(inquiry)                                                                     \
    {"solver",    0,                                                                               \
     "NAME",      "utl, fsa, vpa or auto; coverage: csi",                                          \
     OPTION_TEXT, &(inquiry).solver_name},                                                         \
        {"use",       0,                                                                           \
         "KINDS",     "use only these observations: stack,coverage,paths,logs",                    \
         OPTION_TEXT, &(inquiry).use},                                                             \
        {"given",     0,                                                                           \
         "QUERY",     "take for granted that QUERY is so (docs/queries.md)",                       \
         OPTION_MANY, &(inquiry).given},                                                           \
        {"log",          0, "FILE", "a log that the run has written (docs/logs.md)", OPTION_MANY,  \
         &(inquiry).logs},                                                                         \
        {"log-complete",         0, NULL, "no line of the logs was lost", OPTION_FLAG,             \
         &(inquiry).log_complete},                                                                 \
        {"log-is",    0,                                                                           \
         "WORDS",     "stdout, stderr, syslog, one-stream; one-process, any-text, from=LINE",      \
         OPTION_TEXT, &(inquiry).log_is},                                                          \
        {"narrow",    0,                                                                           \
         NULL,        "follow pointers first: fewer functions that a call may enter",              \
         OPTION_FLAG, &(inquiry).narrow},                                                          \
        INPUT_SPECS((inquiry).input)

struct error *inquiry_open(struct inquiry *inquiry, const char *executable,
                           const char *const *paths, size_t count);
// The same in two steps, for who has something to do to the model before the case is made.
struct error *inquiry_read(struct inquiry *inquiry, const char *executable,
                           const char *const *paths, size_t count);
struct error *inquiry_make_case(struct inquiry *inquiry);
void inquiry_deinit(struct inquiry *inquiry);

#endif

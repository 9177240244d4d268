// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of the C library that write text somewhere, and what one call of them writes.
 *
 *     struct log_step step;
 *     if (log_output_step(resolver, place, site, &step))
 *             ... step.patterns: every text that this call can write
 *     log_patterns_deinit(&step.patterns);
 */
#ifndef EVIDENCE_LOG_OUTPUT_H
#define EVIDENCE_LOG_OUTPUT_H

#include "evidence/log_text.h"

enum log_stream_kind {
    LOG_STREAM_UNKNOWN,
    LOG_STREAM_STDOUT,
    LOG_STREAM_STDERR,
    LOG_STREAM_SYSLOG,
    LOG_STREAM_DESCRIPTOR, // value: the number
    LOG_STREAM_VARIABLE,   // value: names a global variable of the program that holds a FILE *
    LOG_STREAM_PARAMETER,  // value: of the function at hand
};

// Where an output goes. Outputs to one stream are in the order they were made.
struct log_stream {
    enum log_stream_kind kind;
    uint64_t value;
};

bool log_stream_equal(struct log_stream a, struct log_stream b);
// A callee's stream, seen from the call.
struct log_stream log_stream_bind(struct log_resolver *resolver, struct log_stream stream,
                                  struct log_place place, uint32_t call);

// One output, or what a call of a function of the program writes as a whole.
struct log_step {
    uint32_t node; // in its function
    uint32_t call; // in insns
    struct log_stream stream;
    struct log_patterns patterns;
    bool may_be_silent; // may write nothing at all
    bool is_ordered;    // writes before any other output that follows the call's node
};

// Does the call (a site of the module's code) write by itself? *ret is the caller's.
bool log_output_step(struct log_resolver *resolver, struct log_place place, uint32_t site,
                     struct log_step *ret);
// Is this the name of a function that writes?
bool log_is_output(const char *name);

#endif

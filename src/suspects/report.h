// SPDX-License-Identifier: Apache-2.0
/*
 * The report of one run: what was sampled in it, how it ended. Made of the file that the runtime
 * left (layout/suspects.h) by whoever watched the process, never by the process itself; a few
 * hundred bytes, since most counters are 0. docs/formats/suspects_report.md has the bytes.
 *
 *     struct suspects_report *report;
 *     err = suspects_report_from_live(bytes, length, "123.live", &report);
 *     report->outcome = SUSPECTS_FAILED;
 *     report->signal = SIGSEGV;
 *     suspects_report_write(report, &out);          // and back: suspects_report_read
 *     suspects_report_destroy(report);
 *
 * Bytes are not trusted: a report that is cut, changed (it ends with a hash of itself) or of
 * another version is refused with one sentence that says which.
 */
#ifndef SUSPECTS_REPORT_H
#define SUSPECTS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "layout/suspects.h"

struct error;
struct strbuf;

enum suspects_outcome {
    SUSPECTS_UNKNOWN = 0, // nobody said
    SUSPECTS_PASSED = 1,
    SUSPECTS_FAILED = 2,
};

struct suspects_count {
    uint32_t counter; // of its module
    uint32_t value;   // not 0
};

struct suspects_report_module {
    uint64_t module_id;
    uint32_t counter_count; // as the module was built
    uint32_t first, count;  // of `counts`, ascending by counter
};

// Innermost first. Names a node as the model does; node SUSPECTS_NONE: not known which.
struct suspects_frame {
    uint64_t module_id;
    uint32_t function, node;
};

struct suspects_report {
    uint8_t run_id[16];
    uint8_t build_id[SUSPECTS_BUILD_ID];
    uint32_t build_id_length;
    enum suspects_outcome outcome;
    uint32_t signal;      // that ended it; 0: none
    uint32_t exit_status; // where no signal did
    uint64_t rate, seed, start;
    struct suspects_report_module *modules;
    uint32_t module_count;
    struct suspects_count *counts;
    uint32_t count_count;
    struct suspects_frame *frames;
    uint32_t frame_count;
};

// name: of the bytes, for messages. On success the report is the caller's.
struct error *suspects_report_from_live(const void *bytes, size_t length, const char *name,
                                        struct suspects_report **ret);
struct error *suspects_report_read(const void *bytes, size_t length, const char *name,
                                   struct suspects_report **ret);
void suspects_report_write(const struct suspects_report *report, struct strbuf *out);
void suspects_report_destroy(struct suspects_report *report); // NULL is fine

const char *suspects_outcome_name(enum suspects_outcome outcome);

#endif

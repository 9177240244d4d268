// SPDX-License-Identifier: Apache-2.0
/*
 * From a core dump and the program that made it to evidence: the join of stacks (unwind.h), debug
 * information (dwarf.h) and model (program/model.h).
 *
 *     struct model *model;
 *     struct evidence *evidence;
 *     err = decode_core("prog", "core", &(struct decode_options){0}, &model, &evidence);
 *
 * What is claimed must be true, so it matters what a stopped thread's memory can be trusted for:
 *
 *   - A frame that waits for a real call has all its stores made: records are exact.
 *   - A frame that was *interrupted* (a fault, an asynchronous signal, another thread's crash) may
 * be anywhere in an update, and with optimisation instructions around the program counter may have
 *     moved across the record's stores. There, only what holds for every order is claimed: see
 *     decode_record.c and decode_calls.c.
 */
#ifndef EVIDENCE_CORE_DECODE_H
#define EVIDENCE_CORE_DECODE_H

#include <stdbool.h>

struct error;
struct evidence;
struct model;

struct decode_options {
    const char *const *debug_directories; // NULL-terminated, or NULL
    const char *sysroot;                  // put before recorded paths of libraries; or NULL
    bool no_cache;
};

// On success both are the caller's. Core and program are named in errors; a core of another build
// is ERROR_MISMATCH, a program without our sections ERROR_NOT_FOUND.
struct error *decode_core(const char *executable, const char *core,
                          const struct decode_options *options, struct model **ret_model,
                          struct evidence **ret);

#endif

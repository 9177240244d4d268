// SPDX-License-Identifier: Apache-2.0
/*
 * EXE EVIDENCE... of the command line: whatever EVIDENCE is, the model and the evidence. Contents
 * tell what a file is: a core, plain or zstd-compressed; evidence JSON; a failure report in the
 * format of the authors of paper 000; a text that has the stack of the failure in it.
 *
 *     struct model *model;
 *     struct evidence *evidence;
 *     err = evidence_open("prog", "core", &(struct decode_options){0}, &model, &evidence);
 *
 * EXE may also be a model as text (docs/formats/model.md) or GraphML (docs/formats/graphml.md), for
 * everything but cores.
 */
#ifndef EVIDENCE_OPEN_H
#define EVIDENCE_OPEN_H

#include <stddef.h>

struct decode_options;
struct error;
struct evidence;
struct model;

// On success both are the caller's. Evidence that does not fit the program is ERROR_MISMATCH.
struct error *evidence_open(const char *executable, const char *path,
                            const struct decode_options *options, struct model **ret_model,
                            struct evidence **ret);

// The same from several files of one run, at least one, in any order (merge.h). Files that
// contradict each other are ERROR_MISMATCH.
struct error *evidence_open_all(const char *executable, const char *const *paths, size_t count,
                                const struct decode_options *options, struct model **ret_model,
                                struct evidence **ret);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * EXE EVIDENCE of the command line: whatever EVIDENCE is (a core, plain or zstd-compressed, or
 * evidence JSON; told by its contents), the model and the evidence.
 *
 *     struct model *model;
 *     struct evidence *evidence;
 *     err = evidence_open("prog", "core", &(struct decode_options){0}, &model, &evidence);
 *
 * EXE may also be a model as text (docs/formats/model.md), for evidence JSON.
 */
#ifndef EVIDENCE_OPEN_H
#define EVIDENCE_OPEN_H

struct decode_options;
struct error;
struct evidence;
struct model;

// On success both are the caller's. Evidence that does not fit the program is ERROR_MISMATCH.
struct error *evidence_open(const char *executable, const char *path,
                            const struct decode_options *options, struct model **ret_model,
                            struct evidence **ret);

#endif

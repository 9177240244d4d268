// SPDX-License-Identifier: Apache-2.0
/*
 * The failure reports of the authors of paper 000 (docs/formats/graphml.md): JSON that names nodes
 * by the ids of the GraphML file that the model was read from.
 *
 *     {"crash": ["n:2:7"], "stack": [{"call": ["n:1:4"], "entry": ["n:2:1"]}],
 *      "obsYes": [{"reliable": false, "entries": [["n:1:3"]]}], "obsNo": [["n:1:9"]]}
 *
 *     struct evidence *evidence;
 *     err = failure_json_read(text, length, "report.json", model, &evidence);
 *
 * Every key may be absent. `crash` and `stack` become one thread, whose stack is whole where it
 * ends at a root of the program; the others become observations.
 */
#ifndef EVIDENCE_FAILURE_JSON_H
#define EVIDENCE_FAILURE_JSON_H

#include <stddef.h>

struct error;
struct evidence;
struct model;

// The model must be complete, with node names. `file` is for messages, and the evidence's source.
struct error *failure_json_read(const char *text, size_t length, const char *file,
                                struct model *model, struct evidence **ret);

#endif

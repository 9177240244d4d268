// SPDX-License-Identifier: Apache-2.0
/*
 * Everything that a program can write, by call site: the catalogue that lines of a log are
 * compared with.
 *
 *     struct log_catalogue *catalogue;
 *     err = log_catalogue_create(model, &catalogue);      // completes the model
 *     for (size_t i = 0; i < catalogue->outputs.length; i++)
 *             use(catalogue->outputs.data[i].pattern, catalogue->outputs.data[i].sources);
 *     log_catalogue_destroy(catalogue);
 *
 * A source is a call site whose node ran whenever one of its texts was written. Most are the calls
 * of the C library themselves. Where a function passes its own format, or text, on (a wrapper such
 * as log_error(format, ...)), its callers are the sources, with all that the wrapper writes around
 * it; wrappers of wrappers likewise. A wrapper that is also entered from code that is not known is
 * a source itself, for any text.
 *
 * Everything that code of the model writes has a source here. What model-less code writes has none,
 * but for calls that pass a literal format to a variadic function of a model-less library.
 */
#ifndef EVIDENCE_LOG_CATALOGUE_H
#define EVIDENCE_LOG_CATALOGUE_H

#include "evidence/log_output.h"
#include "program/model.h"

VEC_DEFINE(log_source_ids, uint32_t);

struct log_source {
    struct node_id node;
    struct log_stream stream;
    bool is_ordered;    // its texts are written in the order of visits to its node
    bool may_be_silent; // a visit may write nothing
};
VEC_DEFINE(log_sources, struct log_source);

struct log_text_output {
    struct log_pattern pattern;
    struct log_source_ids sources; // ascending
};
VEC_DEFINE(log_text_outputs, struct log_text_output);

struct log_catalogue {
    struct model *model;
    struct log_resolver resolver;
    struct log_sources sources;
    struct log_text_outputs outputs; // distinct patterns
    bool has_threads;
    bool has_forks; // other processes may write the same texts
};

// A model without instructions is ERROR_UNSUPPORTED.
struct error *log_catalogue_create(struct model *model, struct log_catalogue **ret);
void log_catalogue_destroy(struct log_catalogue *catalogue); // NULL is fine
// Tests make one by hand: a source that writes this.
uint32_t log_catalogue_add(struct log_catalogue *catalogue, struct log_source source,
                           struct log_pattern pattern);

// One line an output: its pattern and its sources as FUNCTION#NODE.
void log_catalogue_print(const struct log_catalogue *catalogue, struct strbuf *text);

#endif

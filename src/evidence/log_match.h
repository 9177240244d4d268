// SPDX-License-Identifier: Apache-2.0
/*
 * Who may have written a line.
 *
 *     struct log_matcher *matcher = log_matcher_create(catalogue, &options);
 *     struct log_line line = LOG_LINE_INIT;
 *     log_match_line(matcher, bytes, length, starts, start_count, &line);
 *     for (size_t e = 0; e < line.entries.length; e++)
 *             one_wrote_it(line.entries.data[e].sources);
 *     log_line_deinit(&line);
 *     log_matcher_destroy(matcher);
 *
 * A line is a row of outputs, or of parts of outputs: each output is cut at its line breaks, and
 * the parts are laid over the line in every way that covers it whole (a graph whose nodes are
 * positions in the line and whose edges are parts that match between two of them; only edges on a
 * path from a start to the end count). The writers of one byte are the sources of all edges over
 * it: one of them wrote it. Bytes are picked that few can have written; where two have no writer in
 * common they are two outputs, in this order.
 *
 * What a line proves is only claimed when a part with enough literal characters matches. Outputs of
 * any text ("%s\n", fputs(buffer)) may have written any line, or part of one, or several lines:
 * they are writers of every byte.
 *
 * Texts that fill a %s are taken to hold no line break, but at the end of the output, unless
 * `any_text` is set: then every output with such a hole may have written any line.
 */
#ifndef EVIDENCE_LOG_MATCH_H
#define EVIDENCE_LOG_MATCH_H

#include "evidence/log_catalogue.h"

struct log_matcher;

struct log_match_options {
    uint32_t weight; // characters that are no white space in the literals of one part
    bool any_text;
    bool by_literals;                                                    // see struct log_options
    bool (*is_possible)(void *context, const struct log_source *source); // NULL: all are
    void *context;
};

// One output, at most one.
struct log_entry {
    struct log_source_ids sources;   // ascending: one of them wrote it
    struct log_source_ids continued; // those that may have begun to write it on an earlier line
};
VEC_DEFINE(log_entries, struct log_entry);

enum log_line_state {
    LOG_LINE_MATCHED, // entries is not empty
    LOG_LINE_WEAK,    // outputs match, but with too few literal characters
    LOG_LINE_WIDE,    // too many outputs match
    LOG_LINE_FOREIGN, // nothing matches
};

struct log_line {
    enum log_line_state state;
    struct log_entries entries; // in order
    // For logs that are complete: every source that may have written a part of it; and whether the
    // line is the beginning and the end of one output of one of them.
    struct log_source_ids touched;
    bool is_whole;
};

#define LOG_LINE_INIT {.entries = VEC_INIT, .touched = VEC_INIT}

// The catalogue has to outlive it.
struct log_matcher *log_matcher_create(const struct log_catalogue *catalogue,
                                       const struct log_match_options *options);
void log_matcher_destroy(struct log_matcher *matcher); // NULL is fine

// A line without its line break. It may have begun at any of the starts (ascending, the first is
// 0). `line` is written anew and can be used again.
void log_match_line(struct log_matcher *matcher, const char *bytes, size_t length,
                    const size_t *starts, size_t start_count, struct log_line *line);
void log_line_deinit(struct log_line *line);

// The longest line that is looked at.
#define LOG_LONGEST_LINE 4096

#endif

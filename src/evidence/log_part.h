// SPDX-License-Identifier: Apache-2.0
/*
 * Outputs cut into the parts that one line can hold, and matching one part.
 *
 *     struct log_parts parts = VEC_INIT;
 *     log_parts_cut(&arena, pattern, output, &parts);
 *     uint32_t count = log_part_ends(&parts.data[0], line, length, at, scratch, ends);
 *
 * "a %s b\nc %s" has the parts "a <line> b" up to a line break, "c <line>", and, since the last
 * text may end with a line break, "c <line>" up to one.
 */
#ifndef EVIDENCE_LOG_PART_H
#define EVIDENCE_LOG_PART_H

#include "evidence/log_pattern.h"

struct log_part {
    uint32_t output;                    // whose it is
    bool begins_output;                 // else it begins a line
    bool ends_line;                     // is followed by a line break
    uint32_t weight;                    // characters in literals that are no white space
    const struct log_element *elements; // literals and holes, none with line breaks
    uint32_t count;
};
VEC_DEFINE(log_parts, struct log_part);

// False when it has too many: then the output may write anything.
bool log_parts_cut(struct arena *arena, struct log_pattern pattern, uint32_t output,
                   struct log_parts *out);

// Every position where the part may end that begins at `at`, ascending; at most length + 1 of them.
// scratch and ends hold length + 2 each.
uint32_t log_part_ends(const struct log_part *part, const char *line, uint32_t length, uint32_t at,
                       uint8_t *scratch, uint32_t *ends);

// Can the output write any line at all?
bool log_pattern_is_free(struct log_pattern pattern);
bool log_pattern_has_text(struct log_pattern pattern);
// Is every text of it one line with its line break?
bool log_pattern_is_line(struct log_pattern pattern);

#endif

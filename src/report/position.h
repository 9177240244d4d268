// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence joined with the model: where nodes and call sites are in the source.
 *
 *     struct positions *positions = positions_create(model);        // NULL: no model
 *     struct position at = positions_node(positions, &frame->function, node);
 *     // at.file, at.line, at.column; at.file is NULL where it is not known
 *     positions_destroy(positions);
 *
 * Evidence may come from a file that somebody wrote, so whatever does not fit the model (a function
 * or a node that it does not have) is simply not known here; evidence_fit says it as an error.
 * Modules are loaded when something of them is first asked for.
 */
#ifndef REPORT_POSITION_H
#define REPORT_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/evidence.h"

struct model;
struct positions;

// Strings are borrowed from the evidence or the model.
struct position {
    const char *file; // NULL where it is not known
    uint32_t line, column;
};

enum span_kind {
    SPAN_LINES,
    SPAN_LOOP,   // of a loop: the first ran, the others may have
    SPAN_PASSES, // of a loop: what follows is its present pass
};

// Lines of one function that are one piece of a path.
struct span {
    const char *file; // NULL: that of the function
    uint32_t first, last;
    enum span_kind kind;
};

struct span_list { // owned, free(data)
    struct span *data;
    size_t count;
};

struct positions *positions_create(struct model *model);
void positions_destroy(struct positions *positions);

// What was said and skipped when modules were loaded. Borrowed.
size_t positions_warning_count(const struct positions *positions);
const char *positions_warning_at(const struct positions *positions, size_t index);

struct position positions_node(struct positions *positions,
                               const struct evidence_function *function, uint32_t node);
// Where a frame stands: as debug information has it, else its exact node, or the call ending it.
struct position positions_frame(struct positions *positions, const struct evidence_frame *frame);

struct call_position {
    struct position at;
    uint32_t node;      // UINT32_MAX where it is not known
    const char *callee; // NULL: through a pointer, or not known
    bool indirect;
};
struct call_position positions_call(struct positions *positions,
                                    const struct evidence_function *function, uint32_t site);

// A path as lines, joined where no line of the function that has code lies between. Nodes without
// a line are left out. The last node of a path may have run in part only: of its lines
// those up to `stop`, where control stands, are given, and the first when that is not known (0).
struct span_list positions_spans(struct positions *positions,
                                 const struct evidence_function *function,
                                 const struct evidence_path *path, uint32_t stop);

#endif

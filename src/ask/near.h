// SPDX-License-Identifier: Apache-2.0
/*
 * Names and lines that nearly match, for messages.
 *
 *     struct near_names near = {0};
 *     for (...)
 *             near_names_offer(&near, "inti", candidate);
 *     error_create(..., "no function 'inti'%s", near_names_text(&near, "()", &arena));
 */
#ifndef ASK_NEAR_H
#define ASK_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "program/model.h"

struct arena;

#define NEAR_NAMES 3

struct near_names {
    const char *names[NEAR_NAMES];
    uint32_t distances[NEAR_NAMES];
    uint32_t count;
};

// Keeps candidate where it is near enough to name and among the nearest; names are borrowed.
void near_names_offer(struct near_names *near, const char *name, const char *candidate);
// "; did you mean 'a', 'b' or 'c'?", or "". Allocated in the arena.
const char *near_names_text(const struct near_names *near, const char *suffix, struct arena *arena);
// Insertions, deletions, replacements and swaps of neighbours; at most limit + 1.
uint32_t edit_distance(const char *a, const char *b, uint32_t limit);

// ---- Files and lines of a model (near_places.c)

// As model_find_line compares them: at path components, from the end.
bool file_matches(const struct model *model, struct file_id file, const char *name);
// Calls visit for every line of the file with code, once for each instruction that is known.
void visit_lines(const struct model *model, const char *file,
                 void (*visit)(void *argument, uint32_t node, const struct place *place),
                 void *argument);
// "; did you mean 'words.c'?", or "".
const char *near_files_text(const struct model *model, const char *name, struct arena *arena);
// "; the nearest with code are 68 and 71", or "".
const char *near_lines_text(const struct model *model, const char *file, uint32_t line,
                            struct arena *arena);

#endif

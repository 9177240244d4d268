// SPDX-License-Identifier: Apache-2.0
/*
 * Source files, for excerpts: found at the recorded path or in a directory that the user gave, each
 * read once.
 *
 *     struct sources *sources = sources_create(directories, count);
 *     const char *line = sources_line(sources, "/build/a/src/b.c", 41, &length);    // NULL: not
 * there sources_destroy(sources);
 *
 * A directory is tried with ever shorter ends of the recorded path: DIR/build/a/src/b.c,
 * DIR/a/src/b.c, DIR/src/b.c, DIR/b.c. Directories come before the recorded path.
 */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct sources;
struct strbuf;

// `directories` is borrowed.
struct sources *sources_create(const char *const *directories, size_t count);
void sources_destroy(struct sources *sources);

// Line `line` (from 1) without its newline, not terminated; lives as long as `sources`.
const char *sources_line(struct sources *sources, const char *path, uint32_t line, size_t *length);
// When the file was last changed; 0 where it is not found.
time_t sources_changed(struct sources *sources, const char *path);

// A line as a terminal may have it: tabs expanded, control characters replaced, cut at `width`
// columns. `column` (a byte from 1, or 0) becomes the column where it is shown, from 0.
void source_append_line(struct strbuf *text, const char *line, size_t length, uint32_t width,
                        uint32_t *column);

#endif

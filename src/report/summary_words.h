// SPDX-License-Identifier: Apache-2.0
/*
 * Pieces of a summary as text: paths, calls, places and what is not known, each appended to a
 * buffer. Everything that came out of a file is escaped.
 */
#ifndef REPORT_SUMMARY_WORDS_H
#define REPORT_SUMMARY_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence_frame;
struct evidence_path;
struct position;
struct positions;
struct strbuf;

struct words {
    struct positions *positions;
    const char
        *directory; // the current one, with a slash at the end; taken off places. May be NULL
    bool ascii;
    bool short_lists; // fold long paths and lists of calls
};

// For `directory`, to be freed; NULL where it is not known.
char *words_directory(void);
// The file without the current directory. Borrowed.
const char *words_file(const struct words *words, const char *file);
// 99,980
void words_append_count(struct strbuf *text, uint64_t count);
// src/parse.c:47:12; nothing when the file is not known.
void words_append_place(const struct words *words, struct strbuf *text, const struct position *at);
// 41-43 → 47 → [loop 50-53] ↩ 41; "?" when no line is known. One of the frame's paths.
void words_append_path(const struct words *words, struct strbuf *text,
                       const struct evidence_frame *frame, const struct evidence_path *path);
// strlen (44), a function pointer (46): the call sites whose truth is `truth`. How many there are.
uint32_t words_append_calls(const struct words *words, struct strbuf *text,
                            const struct evidence_frame *frame, uint8_t truth);
// The lines (nodes, where there is none) of the candidates: 41, 43.
void words_append_candidates(const struct words *words, struct strbuf *text,
                             const struct evidence_frame *frame);
// Why there is nothing recorded; NULL where that needs no words.
const char *words_record(const struct evidence_frame *frame);

#endif

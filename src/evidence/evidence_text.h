// SPDX-License-Identifier: Apache-2.0
/*
 * The short text forms that evidence JSON is made of (docs/formats/evidence.md): names of the
 * enumerations, rows of truth values, paths and points.
 *
 *     truths  "n12y3?"          runs of no, yes and unknown; a count of 1 is left out
 *     path    "0 3* 5 7+ 7 9"   steps in order (program/path_number.h): nodes, `*` a loop that was
 *                               entered at its header, `+` perhaps earlier passes through a loop
 *     point   "0x1f2e:2:6"      module, function in it, node in that
 *
 * Appending gives the one form that parsing gives back; parsing takes no other.
 */
#ifndef EVIDENCE_EVIDENCE_TEXT_H
#define EVIDENCE_EVIDENCE_TEXT_H

#include "evidence/evidence.h"

struct strbuf;

const char *evidence_record_name(enum evidence_record record);
const char *evidence_frame_kind_name(enum evidence_frame_kind kind);
const char *evidence_observation_kind_name(enum evidence_observation_kind kind);
const char *evidence_reliability_name(enum evidence_reliability reliability);
bool evidence_parse_record(const char *text, enum evidence_record *out);
bool evidence_parse_frame_kind(const char *text, enum evidence_frame_kind *out);
bool evidence_parse_observation_kind(const char *text, enum evidence_observation_kind *out);
bool evidence_parse_reliability(const char *text, enum evidence_reliability *out);

void evidence_append_truths(struct strbuf *text, const uint8_t *truths, uint32_t count);
void evidence_append_path(struct strbuf *text, const struct evidence_path *path);
void evidence_append_point(struct strbuf *text, const struct evidence_point *point);

// More than `limit` values are refused: a short text can stand for very many. `*out` is in the
// arena. False, with nothing written: not such a text.
bool evidence_parse_truths(struct arena *arena, const char *text, uint32_t limit,
                           const uint8_t **out, uint32_t *count);
bool evidence_parse_path(struct arena *arena, const char *text, struct evidence_path *out);
bool evidence_parse_point(const char *text, struct evidence_point *out);

#endif

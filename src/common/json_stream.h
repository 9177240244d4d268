// SPDX-License-Identifier: Apache-2.0
// SPDX-License-Identifier: Apache-2.0
/*
 * A JSON document written piece by piece, for documents too large to be held as a whole.
 *
 *     struct json_stream out;
 *     json_stream_begin(&out, stdout, "summary/1");
 *     json_stream_member(&out, "pid", json_integer(pid));
 *     json_stream_open(&out, "frames", '[');
 *     for (...)
 *             json_stream_element(&out, frame_json);      // one line each
 *     json_stream_close(&out);
 *     err = json_stream_end(&out, true);
 *
 * The outline is indented, each value given stands on one line. `complete` comes last, since only
 * then is it known. Values are taken over. Write errors are kept until json_stream_end.
 */
#ifndef INQUEST_COMMON_JSON_STREAM_H
#define INQUEST_COMMON_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct error;

#define JSON_STREAM_DEPTH 16u

struct json_stream {
    FILE *stream; /* borrowed */
    unsigned depth;
    char brackets[JSON_STREAM_DEPTH]; /* what closes each level */
    bool empty;                       /* nothing written on this level yet */
};

/* Opens the document and writes `inquest` and `schema`. */
void json_stream_begin(struct json_stream *out, FILE *stream, const char *schema);
/* A member of the object that is open. value may not be NULL. */
void json_stream_member(struct json_stream *out, const char *key, json_t *value);
/* An element of the array that is open. */
void json_stream_element(struct json_stream *out, json_t *value);
/* The same for text that is JSON already; in an object it begins with its key. */
void json_stream_raw(struct json_stream *out, const char *text);
/* Opens an array ('[') or an object ('{'); key is NULL for an element of an array. */
void json_stream_open(struct json_stream *out, const char *key, char bracket);
void json_stream_close(struct json_stream *out);
/* Writes `complete` and closes the document; every level opened has been closed. */
struct error *json_stream_end(struct json_stream *out, bool complete);

#endif

// SPDX-License-Identifier: Apache-2.0
// SPDX-License-Identifier: Apache-2.0
#include "common/json_stream.h"

#include <assert.h>
#include <errno.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/json.h"
#include "common/version.h"

static void json_stream_next_line(struct json_stream *out)
{
    fputs(out->empty ? "\n" : ",\n", out->stream);
    out->empty = false;
    for (unsigned i = 0; i < out->depth; i++)
        fputs("  ", out->stream);
}

/* Takes over value. Keys come from us, but a value's text may need escaping: jansson does it. */
static void json_stream_value(struct json_stream *out, json_t *value)
{
    if (!value)
        alloc_fail(0);
    /* A short write sets the stream's error flag, which json_stream_end finds. */
    (void)json_dumpf(value, out->stream, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
}

static void json_stream_key(struct json_stream *out, const char *key)
{
    json_stream_next_line(out);
    if (key)
        fprintf(out->stream, "\"%s\": ", key);
}

void json_stream_member(struct json_stream *out, const char *key, json_t *value)
{
    assert(out->depth > 0 && out->brackets[out->depth - 1] == '}');
    json_stream_key(out, key);
    json_stream_value(out, value);
}

void json_stream_element(struct json_stream *out, json_t *value)
{
    assert(out->depth > 0 && out->brackets[out->depth - 1] == ']');
    json_stream_key(out, NULL);
    json_stream_value(out, value);
}

void json_stream_raw(struct json_stream *out, const char *text)
{
    json_stream_next_line(out);
    fputs(text, out->stream);
}

static void json_stream_push(struct json_stream *out, char bracket)
{
    assert(out->depth < JSON_STREAM_DEPTH && (bracket == '[' || bracket == '{'));
    fputc(bracket, out->stream);
    out->brackets[out->depth++] = bracket == '[' ? ']' : '}';
    out->empty = true;
}

void json_stream_open(struct json_stream *out, const char *key, char bracket)
{
    assert(out->depth > 0 && (out->brackets[out->depth - 1] == '}') == (key != NULL));
    json_stream_key(out, key);
    json_stream_push(out, bracket);
}

void json_stream_close(struct json_stream *out)
{
    assert(out->depth > 0);
    char bracket = out->brackets[--out->depth];
    if (!out->empty) {
        out->empty = true; /* a newline without a comma */
        json_stream_next_line(out);
    }
    fputc(bracket, out->stream);
    out->empty = false;
}

void json_stream_begin(struct json_stream *out, FILE *stream, const char *schema)
{
    *out = (struct json_stream){.stream = stream};
    errno = 0;
    json_stream_push(out, '{');
    json_stream_member(out, "inquest", json_text(INQUEST_VERSION));
    json_stream_member(out, "schema", json_text(schema));
}

struct error *json_stream_end(struct json_stream *out, bool complete)
{
    assert(out->depth == 1);
    json_stream_member(out, "complete", json_boolean(complete));
    json_stream_close(out);
    fputc('\n', out->stream);
    if (fflush(out->stream) != 0 || ferror(out->stream))
        return error_errno(errno ? errno : EIO, NULL, "cannot write JSON");
    return NULL;
}

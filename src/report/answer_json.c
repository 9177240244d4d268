// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "common/arena.h"
#include "common/json_stream.h"
#include "report/answer.h"
#include "report/node_json.h"

static void write_witness(const struct ask_case *ask, const struct run *run,
                          struct json_stream *out)
{
    uint32_t depth = 0;

    json_stream_open(out, "witness", '[');
    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        depth += event->letter == RUN_CALL;
        depth -= event->letter == RUN_LEAVE && depth > 0;
        if (event->letter != RUN_STEP || event->node >= ask->model->node_count)
            continue;
        json_t *item = node_json(ask->model, event->node);
        json_object_set_new(item, "depth", json_integer(depth));
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

struct error *answer_write_json(const struct ask_case *ask, const struct query *query,
                                const struct ask_result *result, FILE *stream)
{
    _cleanup_arena_ struct arena arena;
    struct json_stream out;
    char *words = query ? query_words(query) : NULL;

    arena_init(&arena);
    json_stream_begin(&out, stream, "ask/1");
    if (query) {
        json_stream_member(&out, "query", json_string_nocheck(query_text(query)));
        json_stream_member(&out, "words", json_string_nocheck(words));
    }
    json_stream_member(&out, "answer", json_string(ask_verdict_name(result->verdict)));
    json_stream_member(&out, "solver", json_string(ask_solver_name(result->solver)));
    json_stream_member(&out, "context_insensitive", json_boolean(result->context_insensitive));
    json_stream_open(&out, "notes", '[');
    for (uint32_t i = 0; query && i < query_note_count(query); i++)
        json_stream_element(&out, json_string_nocheck(query_note(query, i)));
    if (result->note)
        json_stream_element(&out, json_string_nocheck(result->note));
    json_stream_close(&out);
    if (result->has_witness && result->verdict == ASK_POSSIBLE)
        write_witness(ask, &result->witness, &out);
    json_stream_open(&out, "because", '[');
    for (uint32_t i = 0; i < result->because_count; i++)
        json_stream_element(&out,
                            json_string_nocheck(ask_fact_words(ask, result->because[i], &arena)));
    json_stream_close(&out);
    free(words);
    return json_stream_end(&out, result->verdict != ASK_UNDECIDED);
}

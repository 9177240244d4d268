// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "common/arena.h"
#include "common/json_stream.h"
#include "evidence/evidence.h"
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
        if (event->insn)
            json_object_set_new(item, "insn", json_integer(event->insn));
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

static void write_facts(const struct ask_case *ask, const char *name, const uint32_t *facts,
                        uint32_t count, struct json_stream *out)
{
    struct arena arena;

    arena_init(&arena);
    json_stream_open(out, name, '[');
    for (uint32_t i = 0; i < count; i++)
        json_stream_element(out, json_string_nocheck(ask_fact_words(ask, facts[i], &arena)));
    json_stream_close(out);
    arena_deinit(&arena);
}

// Whose run it is: the thread's number and id, or that it is gone.
static json_t *thread_json(const struct ask_case *ask, uint32_t thread)
{
    json_t *item = json_object();

    if (thread < ask->evidence->thread_count) {
        json_object_set_new(item, "number", json_integer(thread));
        json_object_set_new(item, "tid", json_integer(ask->evidence->threads[thread].tid));
    }
    json_object_set_new(item, "gone", json_boolean(thread == ASK_THREAD_GONE));
    return item;
}

struct error *answer_write_json(const struct ask_case *ask, const struct query *query,
                                const struct ask_result *result, FILE *stream)
{
    struct json_stream out;
    char *words = query ? query_words(query) : NULL;

    json_stream_begin(&out, stream, "ask/1");
    if (query) {
        json_stream_member(&out, "query", json_string_nocheck(query_text(query)));
        json_stream_member(&out, "words", json_string_nocheck(words));
    }
    json_stream_member(&out, "answer", json_string(ask_verdict_name(result->verdict)));
    json_stream_member(&out, "solver", json_string(ask_solver_name(result->solver)));
    json_stream_member(&out, "context_insensitive", json_boolean(result->context_insensitive));
    json_stream_member(&out, "scope", json_string(ask->is_single ? "thread" : "process"));
    json_stream_member(&out, "gone_threads", json_boolean(ask->gone_count > 0));
    json_stream_open(&out, "notes", '[');
    for (uint32_t i = 0; query && i < query_note_count(query); i++)
        json_stream_element(&out, json_string_nocheck(query_note(query, i)));
    if (result->note)
        json_stream_element(&out, json_string_nocheck(result->note));
    json_stream_close(&out);
    if (result->has_witness && result->verdict == ASK_POSSIBLE) {
        json_stream_member(&out, "witness_thread", thread_json(ask, result->witness_thread));
        json_stream_member(&out, "witness_is_part", json_boolean(result->witness_is_part));
        write_witness(ask, &result->witness, &out);
    }
    write_facts(ask, "because", result->because, result->because_count, &out);
    write_facts(ask, "left_aside", result->aside, result->aside_count, &out);
    free(words);
    return json_stream_end(&out, result->verdict != ASK_UNDECIDED);
}

// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "ask/coverage.h"
#include "common/json_stream.h"
#include "report/coverage.h"
#include "report/node_json.h"

static json_t *file_or_null(const struct model *model, struct file_id file)
{
    const char *path = file.value == MODEL_NONE ? NULL : model_file_path(model, file);

    return path ? json_string_nocheck(path) : json_null();
}

// In the interchange format of paper 000 the run ends at a node of its own, of the function that
// crashed: the first free number from 1000 on.
static void write_end_node(const struct ask_coverage *coverage, struct json_stream *out)
{
    const struct model *model = coverage->ask->model;
    const struct ask_id_vec *ends = &coverage->ask->threads[0].ends;

    if (!model->node_names || !ends->length || ends->data[0] >= model->node_count)
        return;
    const struct model_function *function =
        model_function(model, model->nodes[ends->data[0]].function);
    const char *entry = model->node_names[function->first_node], *colon = strrchr(entry, ':');
    uint32_t number = 1000;
    for (uint32_t n = 0; colon && n < function->node_count; n++) {
        const char *name = strrchr(model->node_names[function->first_node + n], ':');
        if (name && (uint32_t)strtoul(name + 1, NULL, 10) >= number)
            number = (uint32_t)strtoul(name + 1, NULL, 10) + 1;
    }
    json_t *item = node_json(model, ends->data[0]);
    if (colon)
        json_object_set_new(item, "node",
                            json_sprintf("%.*s:%u", (int)(colon - entry), entry, number));
    json_object_set_new(item, "answer", json_string(ask_answer_name(ASK_YES)));
    json_stream_element(out, item);
}

static void write_nodes(const struct ask_coverage *coverage, struct json_stream *out)
{
    const struct model *model = coverage->ask->model;

    json_stream_open(out, "nodes", '[');
    for (uint32_t n = 0; n < model->node_count; n++) {
        json_t *item = node_json(model, n);

        json_object_set_new(item, "answer", json_string(ask_answer_name(coverage->answers[n])));
        json_stream_element(out, item);
    }
    write_end_node(coverage, out);
    json_stream_close(out);
}

static void write_lines(const struct ask_coverage *coverage, struct json_stream *out)
{
    json_stream_open(out, "lines", '[');
    for (uint32_t i = 0; i < coverage->line_count; i++) {
        const struct ask_line *line = &coverage->lines[i];
        json_t *item = json_object();

        json_object_set_new(item, "file", file_or_null(coverage->ask->model, line->file));
        json_object_set_new(item, "line", json_integer(line->line));
        json_object_set_new(item, "answer", json_string(ask_answer_name(line->answer)));
        json_stream_element(out, item);
    }
    json_stream_close(out);
}

struct error *coverage_write_json(const struct ask_coverage *coverage,
                                  const struct coverage_active *active, FILE *stream)
{
    struct json_stream out;

    json_stream_begin(&out, stream, "coverage/1");
    json_stream_member(&out, "solver", json_string(ask_solver_name(coverage->solver)));
    write_nodes(coverage, &out);
    write_lines(coverage, &out);
    if (active)
        coverage_write_active_json(active, &out);
    return json_stream_end(&out, coverage->complete);
}

// SPDX-License-Identifier: Apache-2.0
// Predictors for tools: JSON (docs/formats/suspects.md, predictors.md) and CSV.
#include <math.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/json.h"
#include "common/json_stream.h"
#include "common/strbuf.h"
#include "report/suspects.h"
#include "suspects/report.h"
#include "suspects/store.h"

// ---- JSON

// What is not a number is null.
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *condition_json(const struct predictor *predictor)
{
    const char *operator= suspects_condition(predictor);
    json_t *condition;

    if (!operator)
        return NULL;
    condition = json_object();
    // of a branch `left` is the whole condition, which begins with the variable
    size_t length = strspn(predictor->left, "abcdefghijklmnopqrstuvwxyz"
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
    _cleanup_strbuf_ struct strbuf variable = STRBUF_INIT;
    strbuf_append_bytes(&variable, predictor->left, length);
    json_set(condition, "variable", json_text(variable.data));
    json_set(condition, "operator", json_string(operator));
    json_set(condition, "constant", json_integer(predictor->constant));
    json_set(condition, "unsigned", json_boolean(predictor->flags & SUSPECTS_UNSIGNED));
    json_set(condition, "at", json_string(predictor->kind == SUSPECTS_BRANCH ? "begin" : "end"));
    return condition;
}

json_t *suspects_predictor_json(const struct predictor *predictor)
{
    json_t *object = json_object();
    json_t *condition = condition_json(predictor);
    _cleanup_free_ char *words = suspects_words(predictor);

    json_set(object, "module", json_address(predictor->module_id));
    json_set(object, "function_index", json_integer(predictor->function));
    json_set(object, "node", json_integer(predictor->node));
    json_set(object, "function", json_text(predictor->function_name));
    json_set(object, "file", json_text(predictor->file));
    json_set(object, "line", json_integer(predictor->line));
    json_set(object, "column", json_integer(predictor->column));
    json_set(object, "kind", json_string(suspects_kind_name(predictor->kind)));
    json_set(object, "predicate", json_text(words));
    json_set(object, "importance", number(predictor->importance));
    json_set(object, "increase", number(predictor->increase));
    json_set(object, "failing", json_integer((json_int_t)predictor->failing));
    json_set(object, "passing", json_integer((json_int_t)predictor->passing));
    if (condition)
        json_set(object, "condition", condition);
    return object;
}

static json_t *full_json(const struct predictor *predictor)
{
    json_t *object = suspects_predictor_json(predictor);

    json_set(object, "increase_low", number(predictor->increase_low));
    json_set(object, "failure", number(predictor->failure));
    json_set(object, "context", number(predictor->context));
    json_set(object, "ochiai", number(predictor->ochiai));
    json_set(object, "tarantula", number(predictor->tarantula));
    json_set(object, "failing_observed", json_integer((json_int_t)predictor->failing_observed));
    json_set(object, "passing_observed", json_integer((json_int_t)predictor->passing_observed));
    json_set(object, "site", json_integer(predictor->site));
    json_set(object, "redundant", json_integer(predictor->redundant));
    return object;
}

json_t *suspects_build_json(const struct store_build *build)
{
    json_t *object = json_object();
    _cleanup_free_ char *id = suspects_build_id(build->build_id, build->build_id_length);

    json_set(object, "build_id", json_text(id));
    json_set(object, "image", json_text(build->path));
    json_set(object, "passed", json_integer((json_int_t)build->passed));
    json_set(object, "failed", json_integer((json_int_t)build->failed));
    json_set(object, "unknown", json_integer((json_int_t)build->unknown));
    json_set(object, "sites", json_integer(build->site_count));
    json_set(object, "predicates", json_integer(build->predicate_count));
    return object;
}

static void write_cluster(const struct suspects_view *view, uint32_t c, bool full,
                          struct json_stream *out)
{
    const struct cluster *cluster = &view->ranking->clusters[c];
    uint32_t count = view->first && view->first < cluster->count ? view->first : cluster->count;

    json_stream_open(out, NULL, '{');
    json_stream_member(out, "cluster", json_integer(c + 1));
    json_stream_member(out, "failing", json_integer((json_int_t)cluster->failing));
    json_stream_open(out, "predictors", '[');
    for (uint32_t p = 0; p < count; p++)
        json_stream_element(out, full ? full_json(&cluster->predictors[p])
                                      : suspects_predictor_json(&cluster->predictors[p]));
    json_stream_close(out);
    json_stream_close(out);
}

static struct error *write_document(const struct suspects_view *view, const char *schema, bool full,
                                    FILE *stream)
{
    const struct ranking *ranking = view->ranking;
    _cleanup_free_ char *id =
        suspects_build_id(ranking->build.build_id, ranking->build.build_id_length);
    struct json_stream out;

    json_stream_begin(&out, stream, schema);
    json_stream_member(&out, "build_id", json_text(id));
    json_stream_member(&out, "image", json_text(ranking->build.path));
    json_stream_member(&out, "failing", json_integer((json_int_t)ranking->failing));
    json_stream_member(&out, "passing", json_integer((json_int_t)ranking->passing));
    if (full) {
        json_stream_member(&out, "by", json_string(view->by));
        json_stream_member(&out, "candidates", json_integer(ranking->candidates));
        json_stream_member(&out, "unexplained", json_integer((json_int_t)ranking->unexplained));
    }
    json_stream_open(&out, "clusters", '[');
    for (uint32_t c = 0; c < ranking->cluster_count; c++)
        if (!view->cluster || view->cluster == c + 1)
            write_cluster(view, c, full, &out);
    json_stream_close(&out);
    return json_stream_end(&out, ranking->complete);
}

struct error *suspects_write_json(const struct suspects_view *view, FILE *stream)
{
    return write_document(view, "suspects/1", true, stream);
}

struct error *suspects_write_export(const struct suspects_view *view, FILE *stream)
{
    return write_document(view, "predictors/1", false, stream);
}

// ---- CSV (RFC 4180, but lines end as here)

static void csv_text(FILE *stream, const char *text)
{
    fputc(',', stream);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void csv_number(FILE *stream, double value)
{
    if (isfinite(value))
        fprintf(stream, ",%.9g", value);
    else
        fputc(',', stream);
}

static void csv_predictor(FILE *stream, uint32_t cluster, uint32_t rank,
                          const struct predictor *predictor)
{
    _cleanup_free_ char *words = suspects_words(predictor);

    fprintf(stream, "%u,%u", cluster, rank);
    csv_number(stream, predictor->importance);
    csv_number(stream, predictor->increase);
    csv_number(stream, predictor->increase_low);
    csv_number(stream, predictor->failure);
    csv_number(stream, predictor->context);
    csv_number(stream, predictor->ochiai);
    csv_number(stream, predictor->tarantula);
    fprintf(stream, ",%llu,%llu,%llu,%llu", (unsigned long long)predictor->failing,
            (unsigned long long)predictor->passing, (unsigned long long)predictor->failing_observed,
            (unsigned long long)predictor->passing_observed);
    csv_text(stream, suspects_kind_name(predictor->kind));
    csv_text(stream, words);
    csv_text(stream, predictor->function_name);
    csv_text(stream, predictor->file);
    fprintf(stream, ",%u,%u,0x%llx,%u,%u,%u,%u,%u\n", predictor->line, predictor->column,
            (unsigned long long)predictor->module_id, predictor->function, predictor->node,
            predictor->site, predictor->predicate, predictor->redundant);
}

void suspects_write_csv(const struct suspects_view *view, FILE *stream)
{
    const struct ranking *ranking = view->ranking;

    fputs("cluster,rank,importance,increase,increase_low,failure,context,ochiai,tarantula,failing,"
          "passing,failing_observed,passing_observed,kind,predicate,function,file,line,column,"
          "module,function_index,node,site,predicate_number,redundant\n",
          stream);
    for (uint32_t c = 0; c < ranking->cluster_count; c++)
        for (uint32_t p = 0; p < ranking->clusters[c].count && (!view->first || p < view->first);
             p++)
            if (!view->cluster || view->cluster == c + 1)
                csv_predictor(stream, c + 1, p + 1, &ranking->clusters[c].predictors[p]);
}

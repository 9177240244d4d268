// SPDX-License-Identifier: Apache-2.0
#include "path/predictors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "layout/suspects.h"
#include "program/model.h"

void predictors_init(struct predictors *predictors)
{
    *predictors = (struct predictors){.complete = true};
    arena_init(&predictors->arena);
}

void predictors_deinit(struct predictors *predictors)
{
    path_predictor_vec_deinit(&predictors->all);
    path_cluster_vec_deinit(&predictors->clusters);
    arena_deinit(&predictors->arena);
    *predictors = (struct predictors){0};
}

// ---- The file

static const char *const operators[] = {
    [SUSPECTS_LESS] = "<",           [SUSPECTS_EQUAL] = "==",     [SUSPECTS_GREATER] = ">",
    [SUSPECTS_GREATER_EQUAL] = ">=", [SUSPECTS_NOT_EQUAL] = "!=", [SUSPECTS_LESS_EQUAL] = "<="};

static struct error *read_operator(const char *text, uint32_t *ret)
{
    for (uint32_t o = SUSPECTS_LESS; o <= SUSPECTS_LESS_EQUAL; o++)
        if (strcmp(operators[o], text) == 0) {
            *ret = o;
            return NULL;
        }
    return error_create(ERROR_FORMAT, "'operator' is one of < == > >= != <=, not '%s'", text);
}

static struct error *read_condition(struct predictors *predictors, json_t *object,
                                    struct path_predictor *ret)
{
    const char *variable, *sign, *at;
    json_t *condition;
    struct error *err = json_find_object(object, "condition", &condition);

    if (err || !condition)
        return err;
    if (!(err = json_get_string(condition, "variable", &variable)) &&
        !(err = json_get_string(condition, "operator", &sign)) &&
        !(err = json_get_i64(condition, "constant", &ret->constant)) &&
        !(err = json_find_bool(condition, "unsigned", false, &ret->is_unsigned)) &&
        !(err = json_find_string(condition, "at", "end", &at)) &&
        !(err = read_operator(sign, &ret->comparison)) && strcmp(at, "end") == 0)
        ret->variable = arena_strdup(&predictors->arena, variable);
    else if (!err && strcmp(at, "begin") != 0)
        err = error_create(ERROR_FORMAT, "'at' is begin or end, not '%s'", at);
    return error_prefix(err, "'condition'");
}

static struct error *read_score(json_t *object, double *ret)
{
    const json_t *value = json_object_get(object, "importance");

    if (!value)
        return error_create(ERROR_FORMAT, "'importance' is missing");
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return error_create(ERROR_FORMAT, "'importance' is not a number");
    *ret = json_number_value(value);
    return NULL;
}

static struct error *read_words(struct predictors *predictors, json_t *object,
                                struct path_predictor *ret)
{
    struct error *err;

    if (!(err = json_find_string(object, "predicate", "", &ret->predicate)) &&
        !(err = json_find_string(object, "kind", "", &ret->kind)) &&
        !(err = json_find_string(object, "function", "", &ret->function)) &&
        !(err = json_find_string(object, "file", "", &ret->file)) &&
        !(err = json_find_u32(object, "line", 0, &ret->line)) &&
        !(err = json_find_u32(object, "column", 0, &ret->column)) &&
        !(err = json_find_u64(object, "failing", 0, &ret->failing)) &&
        !(err = json_find_u64(object, "passing", 0, &ret->passing))) {
        ret->predicate = arena_strdup(&predictors->arena, ret->predicate);
        ret->kind = arena_strdup(&predictors->arena, ret->kind);
        ret->function = arena_strdup(&predictors->arena, ret->function);
        ret->file = arena_strdup(&predictors->arena, ret->file);
    }
    return err;
}

static struct error *read_predictor(struct predictors *predictors, json_t *object,
                                    struct path_predictor *ret)
{
    struct error *err;

    if (!json_is_object(object))
        return error_create(ERROR_FORMAT, "it is not an object");
    if (!(err = json_get_address(object, "module", &ret->module_id)) &&
        !(err = json_get_u32(object, "function_index", &ret->function_index)) &&
        !(err = json_get_u32(object, "node", &ret->node_index)) &&
        !(err = read_score(object, &ret->score)) && !(err = read_words(predictors, object, ret)))
        err = read_condition(predictors, object, ret);
    return err;
}

static struct error *read_cluster(struct predictors *predictors, json_t *object, const char *file,
                                  uint32_t otherwise)
{
    struct path_cluster cluster = {.file = arena_strdup(&predictors->arena, file),
                                   .first = (uint32_t)predictors->all.length};
    json_t *list;
    struct error *err;

    if (!json_is_object(object))
        return error_create(ERROR_FORMAT, "it is not an object");
    if ((err = json_find_u32(object, "cluster", otherwise, &cluster.number)) ||
        (err = json_find_u64(object, "failing", 0, &cluster.failing)) ||
        (err = json_get_array(object, "predictors", &list)))
        return err;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct path_predictor one = {.cluster = (uint32_t)predictors->clusters.length,
                                     .rank = cluster.count++};

        err = read_predictor(predictors, json_array_get(list, i), &one);
        if (err)
            return error_prefix(err, "predictors[%zu]", i);
        path_predictor_vec_push(&predictors->all, one);
    }
    path_cluster_vec_push(&predictors->clusters, cluster);
    return NULL;
}

static struct error *read_document(struct predictors *predictors, json_t *document,
                                   const char *file)
{
    json_t *list;
    bool complete;
    unsigned version;
    struct error *err = json_document_check(document, "predictors", 1, &version);

    if (err || (err = json_find_bool(document, "complete", true, &complete)) ||
        (err = json_get_array(document, "clusters", &list)))
        return err;
    predictors->complete &= complete;
    for (size_t i = 0; i < json_array_size(list) && !err; i++)
        err = error_prefix(read_cluster(predictors, json_array_get(list, i), file, (uint32_t)i + 1),
                           "clusters[%zu]", i);
    return err;
}

struct error *predictors_read(struct predictors *predictors, const char *path)
{
    _cleanup_json_ json_t *document = NULL;
    struct error *err = json_read_file(path, &document);

    return err ? err : error_in_file(read_document(predictors, document, path), path);
}

// ---- The program

static struct error *fit_one(struct path_predictor *one, struct model *model)
{
    struct module_id module;
    struct function_id function;
    const char *name = *one->function ? one->function : "??";

    if (!one->module_id || !model_find_module(model, one->module_id, &module))
        return error_create(ERROR_MISMATCH,
                            "the program has no module 0x%" PRIx64 ", which '%s' is of",
                            one->module_id, name);
    struct error *err = model_load_module(model, module);
    if (err)
        return err;
    if (!model_find_function(model, module, one->function_index, &function))
        return error_create(ERROR_MISMATCH, "the module of '%s' has no function number %u", name,
                            one->function_index);
    const struct model_function *f = model_function(model, function);
    if (*one->function && strcmp(name, f->name) != 0 && strcmp(name, f->source_name) != 0 &&
        strcmp(name, f->debug_name) != 0)
        return error_create(ERROR_MISMATCH, "function number %u of its module is '%s', not '%s'",
                            one->function_index, f->name, name);
    if (one->node_index >= f->node_count)
        return error_create(ERROR_MISMATCH, "'%s' has %u nodes and none of number %u", f->name,
                            f->node_count, one->node_index);
    one->node = f->first_node + one->node_index;
    return NULL;
}

struct error *predictors_fit(struct predictors *predictors, struct model *model)
{
    for (size_t i = 0; i < predictors->all.length; i++) {
        struct path_predictor *one = &predictors->all.data[i];
        struct error *err = fit_one(one, model);

        if (err)
            return error_in_file(
                error_prefix(err, "the predictors are not of this program, or of another build"),
                predictors->clusters.data[one->cluster].file);
    }
    return NULL;
}

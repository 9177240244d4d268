// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_catalogue.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "evidence/log_wrapper.h"

MAP_DEFINE_U64(pattern_map, uint32_t);
MAP_DEFINE_U64(source_map, uint32_t);

struct builder {
    struct log_catalogue *catalogue;
    struct log_wrappers wrappers;
    struct bitset in_signal; // functions that a signal handler may run
    struct source_map sources;
    struct pattern_map patterns; // by hash: the first output of that hash, plus one
};

// ---- What the program does besides writing

static bool has_site(const struct model *model, uint32_t flag)
{
    for (uint32_t s = 0; s < model->site_count; s++) {
        if (model->sites[s].flags & flag)
            return true;
    }
    return false;
}

static bool has_fork(const struct model *model)
{
    static const char *const names[] = {"fork", "_Fork", "__fork", "forkpty", "clone", "__clone"};
    for (uint32_t s = 0; s < model->site_count; s++) {
        for (size_t i = 0; model->sites[s].callee && i < sizeof(names) / sizeof(*names); i++) {
            if (strcmp(model->sites[s].callee, names[i]) == 0)
                return true;
        }
    }
    return false;
}

VEC_DEFINE(function_work, struct function_id);

// A signal handler interrupts between a visit to a node and what it writes.
static void find_in_signal(struct builder *builder)
{
    const struct model *model = builder->catalogue->model;
    struct function_work work = VEC_INIT;
    bitset_init(&builder->in_signal, model->function_count);
    for (uint32_t r = 0; r < model->root_count; r++) {
        if (model->roots[r].reason == ROOT_SIGNAL &&
            !bitset_test_and_set(&builder->in_signal, model->roots[r].function.value))
            function_work_push(&work, model->roots[r].function);
    }
    while (work.length) {
        const struct model_function *function = model_function(model, function_work_pop(&work));
        for (uint32_t s = 0; s < function->site_count; s++) {
            struct site_id site = {function->first_site + s};
            struct function_list callees = model_callees(model, site);
            for (uint32_t i = 0; i < callees.count; i++) {
                if (!bitset_test_and_set(&builder->in_signal, callees.data[i].value))
                    function_work_push(&work, callees.data[i]);
            }
        }
    }
    function_work_deinit(&work);
}

// ---- Sources and outputs

static bool is_same_source(const struct log_source *a, const struct log_source *b)
{
    return a->node.value == b->node.value && log_stream_equal(a->stream, b->stream);
}

static uint32_t find_source(struct builder *builder, struct log_source source)
{
    struct log_sources *sources = &builder->catalogue->sources;
    uint64_t key = hash_u64(hash_u64(hash_u64(HASH_SEED, source.node.value), source.stream.kind),
                            source.stream.value);
    bool is_new;
    uint32_t *id = source_map_put_new(&builder->sources, key, &is_new);
    if (!is_new && is_same_source(&sources->data[*id], &source)) {
        sources->data[*id].is_ordered &= source.is_ordered;
        sources->data[*id].may_be_silent |= source.may_be_silent;
        return *id;
    }
    *id = (uint32_t)sources->length;
    log_sources_push(sources, source);
    return *id;
}

static void add_source_id(struct log_text_output *output, uint32_t source)
{
    struct log_source_ids *ids = &output->sources;
    for (size_t i = ids->length; i > 0 && ids->data[i - 1] >= source; i--) {
        if (ids->data[i - 1] == source)
            return;
    }
    log_source_ids_push(ids, source);
    for (size_t i = ids->length - 1; i > 0 && ids->data[i - 1] > source; i--) {
        ids->data[i] = ids->data[i - 1];
        ids->data[i - 1] = source;
    }
}

static void add_output(struct builder *builder, uint32_t source, struct log_pattern pattern)
{
    struct log_text_outputs *outputs = &builder->catalogue->outputs;
    bool is_new;
    uint32_t *known = pattern_map_put_new(&builder->patterns, log_pattern_hash(pattern), &is_new);
    if (is_new || !log_pattern_equal(outputs->data[*known].pattern, pattern)) {
        *known = (uint32_t)outputs->length;
        log_text_outputs_push(outputs, (struct log_text_output){.pattern = pattern});
    }
    add_source_id(&outputs->data[*known], source);
}

// Parameters that nobody can name are any text.
static struct log_pattern without_parameters(struct arena *arena, struct log_pattern pattern)
{
    if (!log_pattern_has_parameter(pattern))
        return pattern;
    struct log_element *elements =
        arena_memdup(arena, pattern.elements, pattern.count * sizeof(*elements));
    for (uint32_t i = 0; i < pattern.count; i++) {
        if (elements[i].kind == LOG_FORMAT_OF || elements[i].kind == LOG_TEXT_OF)
            elements[i] = log_pattern_hole(arena, LOG_TEXT).elements[0];
    }
    return (struct log_pattern){elements, pattern.count};
}

static void add_step(struct builder *builder, struct function_id function,
                     const struct log_step *step)
{
    const struct model *model = builder->catalogue->model;
    struct log_source source = {
        .node = model_node_at(model, function, step->node),
        .stream = step->stream,
        .is_ordered = step->is_ordered && !bitset_test(&builder->in_signal, function.value),
        .may_be_silent = step->may_be_silent};
    if (source.stream.kind == LOG_STREAM_PARAMETER)
        source.stream = (struct log_stream){LOG_STREAM_UNKNOWN, 0};
    uint32_t id = find_source(builder, source);
    for (size_t i = 0; i < step->patterns.length; i++)
        add_output(builder, id,
                   without_parameters(&builder->catalogue->resolver.arena, step->patterns.data[i]));
}

static bool is_given(const struct log_step *step)
{
    for (size_t i = 0; i < step->patterns.length; i++) {
        if (log_pattern_has_parameter(step->patterns.data[i]))
            return true;
    }
    return false;
}

// A wrapper's own nodes are sources only for what its callers are not.
static void add_function(struct builder *builder, struct function_id id)
{
    const struct log_function *function = &builder->wrappers.functions[id.value];
    for (size_t i = 0; i < function->steps.length; i++) {
        const struct log_step *step = &function->steps.data[i];
        bool by_callers = function->is_wrapper && (function->is_whole || is_given(step));
        if (!by_callers || function->has_unknown_callers)
            add_step(builder, id, step);
    }
}

static struct error *check_code(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++) {
        if (!model->modules[m].code)
            return error_create(ERROR_UNSUPPORTED,
                                "this model has no instructions to find outputs in: give the "
                                "executable itself to read logs");
    }
    return NULL;
}

static void build(struct builder *builder)
{
    struct log_catalogue *catalogue = builder->catalogue;
    struct model *model = catalogue->model;
    log_wrappers_init(&builder->wrappers, &catalogue->resolver, !catalogue->has_threads);
    find_in_signal(builder);
    // A handler that writes may do so between two outputs of a wrapper.
    if (bitset_intersects(&builder->in_signal, &builder->wrappers.writes))
        builder->wrappers.compose = false;
    for (uint32_t f = 0; f < model->function_count; f++)
        log_wrappers_find(&builder->wrappers, (struct function_id){f});
    for (uint32_t f = 0; f < model->function_count; f++)
        add_function(builder, (struct function_id){f});
    log_wrappers_deinit(&builder->wrappers);
    bitset_deinit(&builder->in_signal);
    source_map_deinit(&builder->sources);
    pattern_map_deinit(&builder->patterns);
}

struct error *log_catalogue_create(struct model *model, struct log_catalogue **ret)
{
    struct error *err = model_complete(model);
    if (!err)
        err = check_code(model);
    if (err)
        return err;
    struct log_catalogue *catalogue = xcalloc(1, sizeof(*catalogue));
    struct builder builder = {.catalogue = catalogue};
    catalogue->model = model;
    catalogue->has_threads = has_site(model, SITE_THREAD_START);
    catalogue->has_forks = has_fork(model);
    log_resolver_init(&catalogue->resolver, model);
    build(&builder);
    *ret = catalogue;
    return NULL;
}

uint32_t log_catalogue_add(struct log_catalogue *catalogue, struct log_source source,
                           struct log_pattern pattern)
{
    uint32_t id = (uint32_t)catalogue->sources.length;
    struct log_text_output output = {.pattern = pattern};
    log_sources_push(&catalogue->sources, source);
    log_source_ids_push(&output.sources, id);
    log_text_outputs_push(&catalogue->outputs, output);
    return id;
}

void log_catalogue_destroy(struct log_catalogue *catalogue)
{
    if (!catalogue)
        return;
    for (size_t i = 0; i < catalogue->outputs.length; i++)
        log_source_ids_deinit(&catalogue->outputs.data[i].sources);
    log_text_outputs_deinit(&catalogue->outputs);
    log_sources_deinit(&catalogue->sources);
    log_resolver_deinit(&catalogue->resolver);
    free(catalogue);
}

void log_catalogue_print(const struct log_catalogue *catalogue, struct strbuf *text)
{
    static const char *const streams[] = {"",    ":stdout",   ":stderr", ":syslog",
                                          ":fd", ":variable", ""};
    const struct model *model = catalogue->model;
    for (size_t i = 0; i < catalogue->outputs.length; i++) {
        const struct log_text_output *output = &catalogue->outputs.data[i];
        log_pattern_print(output->pattern, text);
        strbuf_append(text, "  <-");
        for (size_t s = 0; s < output->sources.length; s++) {
            const struct log_source *source = &catalogue->sources.data[output->sources.data[s]];
            struct function_id function = model_node(model, source->node)->function;
            strbuf_printf(text, " %s#%u%s%s", model_function(model, function)->name,
                          model_node_index(model, source->node), streams[source->stream.kind],
                          source->is_ordered ? "" : "?");
        }
        strbuf_append_char(text, '\n');
    }
}

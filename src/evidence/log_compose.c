// SPDX-License-Identifier: Apache-2.0
/*
 * What a wrapper writes from its entry to its return, as one text: the outputs on its control flow
 * graph with everything else taken out, each path of that graph an alternative.
 *
 * Requires: the function's steps and those of what it calls. Gives up where outputs are in a loop,
 * where there are too many paths, and where something that is not known may write in between.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "evidence/log_wrapper.h"
#include "program/library.h"

#define MOST_OUTPUTS 24
#define DEEPEST      8

struct output_node {
    uint32_t node;         // in the function
    struct log_steps ways; // borrowed patterns; which of them, is not known
    uint32_t next[MOST_OUTPUTS + 1];
    uint32_t next_count;
    bool may_end; // the function may be left with nothing more written
    // While paths are followed:
    bool is_active, is_done;
    struct log_patterns rest; // from here to the end
};

struct composition {
    struct log_wrappers *wrappers;
    struct function_id function;
    unsigned depth;
    struct output_node *nodes; // the entry first, then the nodes that write
    uint32_t count;
    uint32_t *output_at;     // by node of the function: its output_node, or 0
    struct log_steps callee; // patterns that are ours: of functions put together on the way
    const struct log_stream *only;
};

static bool compose(struct log_wrappers *wrappers, struct function_id function, unsigned depth,
                    struct log_steps *exports);

static bool any_writes(const struct log_wrappers *wrappers, struct function_list list)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (bitset_test(&wrappers->writes, list.data[i].value))
            return true;
    }
    return false;
}

// The steps that the function has at this node.
static void own_ways(const struct composition *composition, uint32_t node, struct log_steps *ways)
{
    const struct log_function *function =
        &composition->wrappers->functions[composition->function.value];
    for (size_t i = 0; i < function->steps.length; i++) {
        if (function->steps.data[i].node == node)
            log_steps_push(ways, function->steps.data[i]);
    }
}

// A call of one function of the program that may write.
static bool callee_ways(struct composition *composition, struct site_id site, uint32_t node,
                        struct function_id callee, struct log_steps *ways)
{
    const struct model *model = composition->wrappers->resolver->model;
    const struct log_function *known = &composition->wrappers->functions[callee.value];
    if (model_site(model, site)->flags & (SITE_EXTERNAL | SITE_INDIRECT) ||
        known->state != LOG_FUNCTION_DONE)
        return false;
    if (known->is_wrapper) {
        own_ways(composition, node, ways);
        return known->is_whole;
    }
    struct log_steps exports = VEC_INIT;
    bool is_composed = compose(composition->wrappers, callee, composition->depth + 1, &exports);
    const struct model_function *caller = model_function(model, composition->function);
    const struct model_module *module = model_module(model, caller->module);
    struct log_place place = {caller->module.value, caller->index};
    uint32_t call = module->code->sites[site.value - module->first_site].insn;
    for (size_t i = 0; i < exports.length; i++) {
        struct log_step step = exports.data[i];
        step.stream = log_stream_bind(composition->wrappers->resolver, step.stream, place, call);
        step.node = node;
        log_steps_push(&composition->callee, step);
        log_steps_push(ways, step);
    }
    log_steps_deinit(&exports);
    return is_composed;
}

// What is written at a node that ends with a call; false when that is not known.
static bool find_ways(struct composition *composition, struct node_id node, struct log_steps *ways)
{
    struct log_wrappers *wrappers = composition->wrappers;
    const struct model *model = wrappers->resolver->model;
    const struct model_node *at = model_node(model, node);
    uint32_t index = model_node_index(model, node);
    const char *name = model_site(model, at->site)->callee;
    struct function_list callees = model_callees(model, at->site);
    own_ways(composition, index, ways);
    if (name && log_is_output(name) && ways->length)
        return true;
    if (any_writes(wrappers, model_callbacks(model, at->site)))
        return false;
    if (!any_writes(wrappers, callees))
        return ways->length == 0;
    log_steps_clear(ways);
    return callees.count == 1 && callee_ways(composition, at->site, index, callees.data[0], ways);
}

static bool find_outputs(struct composition *composition)
{
    const struct model *model = composition->wrappers->resolver->model;
    const struct model_function *function = model_function(model, composition->function);
    for (uint32_t n = 0; n < function->node_count; n++) {
        struct node_id node = model_node_at(model, composition->function, n);
        struct log_steps ways = VEC_INIT;
        if (model_node(model, node)->site.value == MODEL_NONE)
            continue;
        if (!find_ways(composition, node, &ways) || composition->count > MOST_OUTPUTS) {
            log_steps_deinit(&ways);
            return false;
        }
        if (ways.length == 0) {
            log_steps_deinit(&ways);
            continue;
        }
        composition->output_at[n] = composition->count;
        composition->nodes[composition->count++] = (struct output_node){.node = n, .ways = ways};
    }
    return true;
}

// May a call that writes nothing fail to come back while the program goes on?
static bool may_jump_away(const struct model *model, const struct model_node *node)
{
    if (node->site.value == MODEL_NONE || model->landing_count == 0)
        return false;
    const char *name = model_site(model, node->site)->callee;
    const struct library_function *known =
        name && model_callees(model, node->site).count == 0 ? library_find(name) : NULL;
    return !known || known->kind > LIBRARY_CLOSED || known->flags & LIBRARY_LONGJMP;
}

// Which outputs may come next behind this one.
static void find_next(struct composition *composition, struct output_node *from, bool is_entry)
{
    const struct model *model = composition->wrappers->resolver->model;
    const struct model_function *function = model_function(model, composition->function);
    uint32_t *work = xmalloc_array(function->node_count + (size_t)1, sizeof(*work)), length = 0;
    struct bitset seen;
    bitset_init(&seen, function->node_count + (size_t)1);
    if (is_entry) {
        work[length++] = 0;
        bitset_set(&seen, 0);
    }
    for (bool first = !is_entry; first || length > 0; first = false) {
        uint32_t n = first ? from->node : work[--length];
        struct node_id node = model_node_at(model, composition->function, n);
        if (!first && composition->output_at[n]) {
            from->next[from->next_count++] = composition->output_at[n];
            continue;
        }
        struct node_list next = model_successors(model, node);
        from->may_end |= next.count == 0 || may_jump_away(model, model_node(model, node));
        for (uint32_t i = 0; i < next.count; i++) {
            uint32_t to = model_node_index(model, next.data[i]);
            if (!bitset_test_and_set(&seen, to))
                work[length++] = to;
        }
    }
    bitset_deinit(&seen);
    free(work);
}

// ---- Paths

static void add_all(struct arena *arena, struct log_patterns *to, const struct log_patterns *from)
{
    for (size_t i = 0; i < from->length; i++)
        log_patterns_add(arena, to, from->data[i]);
}

// The texts of one node, those to other streams left out.
static void node_texts(const struct composition *composition, const struct output_node *node,
                       struct log_patterns *out)
{
    struct arena *arena = &composition->wrappers->resolver->arena;
    const struct log_pattern empty = {NULL, 0};
    for (size_t i = 0; i < node->ways.length; i++) {
        const struct log_step *way = &node->ways.data[i];
        if (composition->only && !log_stream_equal(way->stream, *composition->only)) {
            log_patterns_add(arena, out, empty);
            continue;
        }
        add_all(arena, out, &way->patterns);
        if (way->may_be_silent)
            log_patterns_add(arena, out, empty);
    }
    if (node->ways.length == 0)
        log_patterns_add(arena, out, empty);
}

// Everything from this node to the end; false: a loop, or too much.
static bool follow(struct composition *composition, uint32_t index)
{
    struct arena *arena = &composition->wrappers->resolver->arena;
    struct output_node *node = &composition->nodes[index];
    struct log_patterns rest = VEC_INIT;
    if (node->is_done || node->is_active)
        return node->is_done;
    node->is_active = true;
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < node->next_count; i++) {
        is_good = follow(composition, node->next[i]);
        if (is_good)
            add_all(arena, &rest, &composition->nodes[node->next[i]].rest);
    }
    if (node->may_end)
        log_patterns_add(arena, &rest, (struct log_pattern){NULL, 0});
    node_texts(composition, node, &node->rest);
    is_good = is_good && node->rest.length * rest.length <= LOG_ALTERNATIVES;
    if (is_good)
        log_patterns_join(arena, &node->rest, &rest);
    log_patterns_deinit(&rest);
    node->is_active = false;
    node->is_done = is_good;
    return is_good;
}

static void forget_paths(struct composition *composition)
{
    for (uint32_t i = 0; i < composition->count; i++) {
        struct output_node *node = &composition->nodes[i];
        log_patterns_deinit(&node->rest);
        node->is_active = node->is_done = false;
    }
}

// All that goes to one stream (NULL: to any), as one export.
static bool export_stream(struct composition *composition, const struct log_stream *only,
                          struct log_steps *exports)
{
    struct log_step step = {.is_ordered = true};
    composition->only = only;
    if (only)
        step.stream = *only;
    bool is_good = follow(composition, 0);
    const struct log_patterns *whole = &composition->nodes[0].rest;
    for (size_t i = 0; is_good && i < whole->length; i++) {
        if (whole->data[i].count)
            log_patterns_push(&step.patterns, whole->data[i]);
        else
            step.may_be_silent = true;
    }
    forget_paths(composition);
    if (step.patterns.length)
        log_steps_push(exports, step);
    return is_good;
}

static bool export_streams(struct composition *composition, struct log_steps *exports)
{
    struct log_stream streams[MOST_OUTPUTS * 2];
    uint32_t count = 0;
    for (uint32_t n = 1; n < composition->count; n++) {
        for (size_t w = 0; w < composition->nodes[n].ways.length; w++) {
            const struct log_step *way = &composition->nodes[n].ways.data[w];
            uint32_t s = 0;
            while (s < count && !log_stream_equal(streams[s], way->stream))
                s++;
            if (!way->is_ordered || s == MOST_OUTPUTS * 2)
                return false;
            if (s == count)
                streams[count++] = way->stream;
        }
    }
    for (uint32_t s = 0; s < count; s++) {
        if (!export_stream(composition, &streams[s], exports))
            return false;
    }
    // Two streams may be one file.
    return count < 2 || export_stream(composition, NULL, exports);
}

static bool compose(struct log_wrappers *wrappers, struct function_id function, unsigned depth,
                    struct log_steps *exports)
{
    const struct model_function *at = model_function(wrappers->resolver->model, function);
    struct composition composition = {.wrappers = wrappers, .function = function, .depth = depth};
    if (depth > DEEPEST || at->node_count == 0)
        return false;
    composition.nodes = xcalloc(MOST_OUTPUTS + 2, sizeof(*composition.nodes));
    composition.output_at = xcalloc(at->node_count, sizeof(*composition.output_at));
    composition.count = 1;
    bool is_good = find_outputs(&composition);
    for (uint32_t i = 0; is_good && i < composition.count; i++)
        find_next(&composition, &composition.nodes[i], i == 0);
    is_good = is_good && export_streams(&composition, exports);
    for (uint32_t i = 0; i < composition.count; i++)
        log_steps_deinit(&composition.nodes[i].ways);
    for (size_t i = 0; i < composition.callee.length; i++)
        log_patterns_deinit(&composition.callee.data[i].patterns);
    log_steps_deinit(&composition.callee);
    free(composition.nodes);
    free(composition.output_at);
    return is_good;
}

bool log_compose(struct log_wrappers *wrappers, struct function_id function,
                 struct log_steps *exports)
{
    bool is_good = compose(wrappers, function, 0, exports);
    if (!is_good) {
        for (size_t i = 0; i < exports->length; i++)
            log_patterns_deinit(&exports->data[i].patterns);
        log_steps_clear(exports);
    }
    return is_good;
}

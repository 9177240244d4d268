// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_wrapper.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "program/library.h"

#define DEEPEST      200
#define MOST_EXPORTS 8  // streams that a wrapper writes to
#define MOST_CALLEES 16 // of a call through a pointer, for them to be its wrappers
// A text parameter makes a wrapper of a function that adds no more than this.
#define WRAPPER_WEIGHT 4

// ---- Which functions write at all

static bool is_dropped(const struct model_function *function)
{
    return function->linked == LINKED_NO ||
           (function->flags & FUNCTION_AVAILABLE_EXTERNALLY && log_is_output(function->name));
}

static bool site_writes(const struct log_wrappers *wrappers, uint32_t site)
{
    const struct model *model = wrappers->resolver->model;
    const char *name = model->sites[site].callee;
    if (name ? log_is_output(name) : wrappers->pointers_write)
        return true;
    if (name && model->sites[site].flags & SITE_EXTERNAL && !library_find(name))
        return true; // may be given a format
    struct function_list lists[2] = {model_callees(model, (struct site_id){site}),
                                     model_callbacks(model, (struct site_id){site})};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; i < lists[l].count; i++) {
            if (bitset_test(&wrappers->writes, lists[l].data[i].value))
                return true;
        }
    }
    return false;
}

static bool function_writes(const struct log_wrappers *wrappers,
                            const struct model_function *function)
{
    for (uint32_t s = 0; s < function->site_count; s++) {
        if (site_writes(wrappers, function->first_site + s))
            return true;
    }
    return false;
}

static void find_writers(struct log_wrappers *wrappers)
{
    const struct model *model = wrappers->resolver->model;
    bool changed = true;
    bitset_init(&wrappers->writes, model->function_count);
    while (changed) {
        changed = false;
        for (uint32_t f = 0; f < model->function_count; f++) {
            if (bitset_test(&wrappers->writes, f) || is_dropped(&model->functions[f]) ||
                !function_writes(wrappers, &model->functions[f]))
                continue;
            bitset_set(&wrappers->writes, f);
            changed = true;
        }
    }
}

// Is the address of printf or its like taken anywhere?
static bool outputs_are_taken(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        for (uint32_t g = 0; code && g < code->globals_count; g++) {
            const struct global *global = &code->globals[g];
            if (global->kind == GLOBAL_FUNCTION && global->flags & GLOBAL_ADDRESS_TAKEN &&
                log_is_output(code_string(code, global->name)))
                return true;
        }
    }
    return false;
}

static void note_unknown_callers(struct log_wrappers *wrappers)
{
    const struct model *model = wrappers->resolver->model;
    struct bitset seen;
    for (uint32_t r = 0; r < model->root_count; r++)
        wrappers->functions[model->roots[r].function.value].has_unknown_callers = true;
    bitset_init(&seen, model->callees.set_count);
    for (uint32_t s = 0; s < model->site_count; s++) {
        uint32_t set = model->callees.callbacks_of_site[s];
        if (bitset_test_and_set(&seen, set))
            continue;
        struct function_list list = callee_table_set(&model->callees, set);
        for (uint32_t i = 0; i < list.count; i++)
            wrappers->functions[list.data[i].value].has_unknown_callers = true;
    }
    bitset_deinit(&seen);
}

void log_wrappers_init(struct log_wrappers *wrappers, struct log_resolver *resolver, bool compose)
{
    *wrappers = (struct log_wrappers){
        .resolver = resolver,
        .compose = compose,
        .pointers_write = outputs_are_taken(resolver->model),
        .functions =
            xcalloc(resolver->model->function_count + (size_t)1, sizeof(struct log_function)),
    };
    note_unknown_callers(wrappers);
    find_writers(wrappers);
}

static void steps_deinit(struct log_steps *steps)
{
    for (size_t i = 0; i < steps->length; i++)
        log_patterns_deinit(&steps->data[i].patterns);
    log_steps_deinit(steps);
}

void log_wrappers_deinit(struct log_wrappers *wrappers)
{
    for (uint32_t f = 0; f < wrappers->resolver->model->function_count; f++) {
        steps_deinit(&wrappers->functions[f].steps);
        steps_deinit(&wrappers->functions[f].exports);
    }
    free(wrappers->functions);
    bitset_deinit(&wrappers->writes);
}

// ---- Steps of one function

// Parameters stay in patterns that are nothing without them; elsewhere they are any text.
static struct log_pattern settle(struct log_resolver *resolver, struct log_pattern pattern)
{
    bool has_format = false;
    for (uint32_t i = 0; i < pattern.count; i++)
        has_format |= pattern.elements[i].kind == LOG_FORMAT_OF;
    if (has_format || !log_pattern_has_parameter(pattern) ||
        log_pattern_weight(pattern) < WRAPPER_WEIGHT)
        return pattern;
    struct log_element *elements =
        arena_memdup(&resolver->arena, pattern.elements, pattern.count * sizeof(*elements));
    for (uint32_t i = 0; i < pattern.count; i++) {
        if (elements[i].kind == LOG_TEXT_OF)
            elements[i] = log_pattern_hole(&resolver->arena, LOG_TEXT).elements[0];
    }
    return (struct log_pattern){elements, pattern.count};
}

static bool step_has_parameter(const struct log_step *step)
{
    for (size_t i = 0; i < step->patterns.length; i++) {
        if (log_pattern_has_parameter(step->patterns.data[i]))
            return true;
    }
    return false;
}

// One more way of writing at a node, to a stream. Takes over the patterns.
static void merge_step(struct arena *arena, struct log_steps *steps, struct log_step step)
{
    for (size_t s = 0; s < steps->length; s++) {
        struct log_step *known = &steps->data[s];
        if (known->node != step.node || !log_stream_equal(known->stream, step.stream))
            continue;
        for (size_t i = 0; i < step.patterns.length; i++)
            log_patterns_add(arena, &known->patterns, step.patterns.data[i]);
        known->may_be_silent |= step.may_be_silent;
        known->is_ordered &= step.is_ordered;
        log_patterns_deinit(&step.patterns);
        return;
    }
    log_steps_push(steps, step);
}

static void add_step(struct log_wrappers *wrappers, struct log_function *function,
                     struct log_step step)
{
    for (size_t i = 0; i < step.patterns.length; i++)
        step.patterns.data[i] = settle(wrappers->resolver, step.patterns.data[i]);
    function->is_wrapper |= step_has_parameter(&step);
    merge_step(&wrappers->resolver->arena, &function->steps, step);
}

// A call of a wrapper: what it writes with these arguments.
static void add_bound_step(struct log_wrappers *wrappers, struct log_function *function,
                           struct log_place place, uint32_t node, uint32_t call,
                           const struct log_step *export, bool is_certain)
{
    struct log_step step = {
        .node = node,
        .call = call,
        .stream = log_stream_bind(wrappers->resolver, export->stream, place, call),
        .may_be_silent = export->may_be_silent || !is_certain,
        .is_ordered = export->is_ordered};
    for (size_t i = 0; i < export->patterns.length; i++)
        log_bind(wrappers->resolver, export->patterns.data[i], place, call, &step.patterns);
    add_step(wrappers, function, step);
}

static void add_any_step(struct log_wrappers *wrappers, struct log_function *function,
                         uint32_t node, uint32_t call)
{
    struct log_step step = {.node = node, .call = call, .may_be_silent = true, .is_ordered = true};
    log_patterns_push(&step.patterns, log_pattern_hole(&wrappers->resolver->arena, LOG_TEXT));
    add_step(wrappers, function, step);
}

// A variadic function of a model-less library that is given a literal where a format would stand,
// right before the variable arguments: it may write that, whatever around it, now or later.
static void add_foreign_step(struct log_wrappers *wrappers, struct log_function *function,
                             struct log_place place, uint32_t node, uint32_t call)
{
    struct log_resolver *resolver = wrappers->resolver;
    struct arena *arena = &resolver->arena;
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[call];
    const struct type *type = code_type(code, code_call(code, insn)->type);
    uint32_t fixed = type->member_count - 1;
    if (type->kind != TYPE_FUNCTION || !(type->flags & TYPE_FLAG_VARARGS) || fixed == 0 ||
        code_call(code, insn)->argument_count < fixed)
        return;
    struct operand format = code_operand(code, insn, fixed - 1);
    if (code_type(code, code_operand_type(code, format))->kind != TYPE_POINTER)
        return;
    struct log_patterns texts = VEC_INIT;
    struct log_step step = {.node = node, .call = call, .may_be_silent = true};
    log_resolve_format(resolver, place, call, format, CODE_NONE, &texts);
    for (size_t i = 0; i < texts.length; i++) {
        struct log_pattern hole = log_pattern_hole(arena, LOG_LINE), text = texts.data[i];
        const struct log_element *last = text.count ? &text.elements[text.count - 1] : NULL;
        bool ends = last && last->kind == LOG_LITERAL && last->bytes[last->length - 1] == '\n';
        text = log_pattern_join(arena, hole, text);
        if (!ends)
            text = log_pattern_join(
                arena, text, log_pattern_join(arena, hole, log_pattern_literal(arena, "\n", 1)));
        log_patterns_add(arena, &step.patterns, text);
    }
    log_patterns_deinit(&texts);
    if (step.patterns.length)
        add_step(wrappers, function, step);
}

static const struct log_function *find_function(struct log_wrappers *wrappers,
                                                struct function_id id, unsigned depth);

// What the wrappers write that a site may call.
static void add_callees(struct log_wrappers *wrappers, struct log_function *function,
                        struct log_place place, struct site_id site, uint32_t node, uint32_t call,
                        unsigned depth)
{
    const struct model *model = wrappers->resolver->model;
    struct function_list callees = model_callees(model, site);
    bool is_certain =
        callees.count == 1 && !(model_site(model, site)->flags & (SITE_EXTERNAL | SITE_INDIRECT));
    for (uint32_t i = 0; i < callees.count; i++) {
        if (callees.count > MOST_CALLEES) {
            wrappers->functions[callees.data[i].value].has_unknown_callers = true;
            continue;
        }
        const struct log_function *callee = find_function(wrappers, callees.data[i], depth + 1);
        for (size_t e = 0; callee && callee->is_wrapper && e < callee->exports.length; e++)
            add_bound_step(wrappers, function, place, node, call, &callee->exports.data[e],
                           is_certain);
    }
}

static void add_site(struct log_wrappers *wrappers, struct log_function *function,
                     struct log_place place, uint32_t site, unsigned depth)
{
    const struct model *model = wrappers->resolver->model;
    const struct code *code = log_code(wrappers->resolver, place);
    struct site_id id = {model->modules[place.module].first_site + site};
    uint32_t node = code->sites[site].node - code->functions[place.function].first_node;
    uint32_t call = code->sites[site].insn;
    const char *name = model_site(model, id)->callee;
    struct function_list callees = model_callees(model, id);
    struct log_step step;
    if (log_output_step(wrappers->resolver, place, site, &step)) {
        add_step(wrappers, function, step);
        return;
    }
    add_callees(wrappers, function, place, id, node, call, depth);
    if (!name && wrappers->pointers_write)
        add_any_step(wrappers, function, node, call);
    else if (name && callees.count == 0 && !library_find(name) && !log_is_output(name))
        add_foreign_step(wrappers, function, place, node, call);
}

// What callers are told of a wrapper that is not put together: the outputs that they give. False:
// too much to tell.
static bool export_apart(struct arena *arena, struct log_function *function)
{
    for (size_t i = 0; i < function->steps.length; i++) {
        struct log_step step = function->steps.data[i];
        const struct log_patterns *from = &function->steps.data[i].patterns;
        if (!step_has_parameter(&step))
            continue;
        step.node = 0; // the caller's, later
        step.is_ordered = false;
        step.may_be_silent = true;
        step.patterns = (struct log_patterns)VEC_INIT;
        log_patterns_append(&step.patterns, from->data, from->length);
        merge_step(arena, &function->exports, step);
    }
    return function->exports.length <= MOST_EXPORTS;
}

static void export(struct log_wrappers *wrappers, struct function_id id)
{
    struct log_function *function = &wrappers->functions[id.value];
    function->is_whole = wrappers->compose && log_compose(wrappers, id, &function->exports);
    if (!function->is_whole && !export_apart(&wrappers->resolver->arena, function)) {
        steps_deinit(&function->exports);
        function->has_unknown_callers = true;
    }
}

// NULL: it is being worked on (recursion), or too deep. Then it counts as entered from anywhere.
static const struct log_function *find_function(struct log_wrappers *wrappers,
                                                struct function_id id, unsigned depth)
{
    const struct model *model = wrappers->resolver->model;
    const struct model_function *at = model_function(model, id);
    struct log_function *function = &wrappers->functions[id.value];
    struct log_place place = {at->module.value, at->index};
    if (function->state == LOG_FUNCTION_DONE)
        return function;
    if (function->state == LOG_FUNCTION_ACTIVE || depth > DEEPEST) {
        function->has_unknown_callers = true;
        return NULL;
    }
    function->state = LOG_FUNCTION_ACTIVE;
    if (bitset_test(&wrappers->writes, id.value)) {
        const struct code_function *code =
            &log_code(wrappers->resolver, place)->functions[at->index];
        for (uint32_t s = 0; s < code->site_count; s++)
            add_site(wrappers, function, place, code->first_site + s, depth);
        if (function->is_wrapper)
            export(wrappers, id);
    }
    function->state = LOG_FUNCTION_DONE;
    return function;
}

const struct log_function *log_wrappers_find(struct log_wrappers *wrappers,
                                             struct function_id function)
{
    const struct log_function *found = find_function(wrappers, function, 0);
    assert(found);
    return found;
}

// SPDX-License-Identifier: Apache-2.0
#include "path/dataflow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "path/dataflow_internal.h"

#define CONDITIONS_MOST 32u

static bool has_code(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++)
        if (!model->modules[m].code)
            return false;
    return model->module_count > 0;
}

struct dataflow *dataflow_create(const struct model *model, const struct flow *flow,
                                 const struct dataflow_options *options)
{
    struct dataflow *dataflow = xcalloc(1, sizeof(*dataflow));

    assert(model->complete);
    dataflow->model = model;
    dataflow->flow = flow;
    dataflow->points_to = options->points_to;
    dataflow->condition_most = options->condition_most ? options->condition_most : CONDITIONS_MOST;
    dataflow->has_code = has_code(model);
    arena_init(&dataflow->arena);
    draft_init(&dataflow->draft, dataflow);
    draft_init(&dataflow->node_draft, dataflow);
    state_init(&dataflow->sides[0], dataflow);
    state_init(&dataflow->sides[1], dataflow);
    set_intern(dataflow, NULL, 0);                        // number 0
    value_vec_push(&dataflow->values, (struct value){0}); // zero, which is looked at by nobody
    struct dataflow_value one = draft_finish(&dataflow->draft);
    assert(one.number == 1);
    (void)one;
    dataflow->steps = xcalloc(flow->edge_start[flow->node_count] + 1u, sizeof(uint32_t));
    dataflow->skips = xcalloc(flow->edge_start[flow->node_count] + 1u, sizeof(uint32_t));
    dataflow->leaves = xcalloc(flow->node_count + 1u, sizeof(uint32_t));
    dataflow->ends = xcalloc(flow->node_count + 1u, sizeof(uint32_t));
    if (dataflow->has_code) {
        objects_find(dataflow);
        functions_find(dataflow);
        variables_find(dataflow, options->all_variables);
        effects_find_all(dataflow);
    }
    return dataflow;
}

static void modules_deinit(struct dataflow *dataflow)
{
    for (uint32_t m = 0; dataflow->modules && m < dataflow->model->module_count; m++) {
        struct module_tables *tables = &dataflow->modules[m];
        free(tables->object_of_insn);
        free(tables->object_of_global);
        free(tables->address_of_global);
        free(tables->slot_of_insn);
        free(tables->register_of_insn);
        free(tables->argument_variable);
        bitset_deinit(&tables->wanted);
    }
    free(dataflow->modules);
}

void dataflow_destroy(struct dataflow *dataflow)
{
    if (!dataflow)
        return;
    modules_deinit(dataflow);
    object_vec_deinit(&dataflow->objects);
    slot_vec_deinit(&dataflow->slots);
    tracked_vec_deinit(&dataflow->variables);
    range_vec_deinit(&dataflow->ranges);
    variable_set_vec_deinit(&dataflow->sets);
    value_vec_deinit(&dataflow->values);
    entry_vec_deinit(&dataflow->before);
    entry_vec_deinit(&dataflow->behind);
    expression_vec_deinit(&dataflow->results);
    struct number_map *maps[] = {&dataflow->hits_of_insn, &dataflow->range_numbers,
                                 &dataflow->set_numbers,  &dataflow->value_numbers,
                                 &dataflow->extends,      &dataflow->combines,
                                 &dataflow->calls,        &dataflow->kept_calls,
                                 &dataflow->points,       &dataflow->merges};
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        number_map_deinit(maps[i]);
    draft_deinit(&dataflow->draft);
    draft_deinit(&dataflow->node_draft);
    state_deinit(&dataflow->sides[0]);
    state_deinit(&dataflow->sides[1]);
    free(dataflow->function_start);
    free(dataflow->result_variable);
    free(dataflow->entry_variable);
    free(dataflow->last_start);
    free(dataflow->last);
    free(dataflow->writes);
    free(dataflow->between);
    free(dataflow->steps);
    free(dataflow->skips);
    free(dataflow->leaves);
    free(dataflow->ends);
    arena_deinit(&dataflow->arena);
    free(dataflow);
}

// ---- Pieces

static bool is_model_node(const struct dataflow *dataflow, uint32_t node)
{
    return node < dataflow->model->node_count;
}

static void forget_set(struct draft *draft, uint32_t set)
{
    struct variable_set s = draft->state.dataflow->sets.data[set];

    for (uint32_t i = 0; i < s.count; i++)
        if (!is_local(draft->state.dataflow, s.data[i]))
            draft_forget(draft, s.data[i]);
}

// What the node has written, or not yet.
static void forget_entries(struct draft *draft)
{
    for (size_t i = 0; i < draft->entries.length; i++)
        draft->entries.data[i].expression = (struct expression){0};
}

// The variables of the function at hand are not those that are meant behind this.
static void drop_locals(struct draft *draft)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->entries.length; i++)
        if (!is_local(draft->state.dataflow, draft->entries.data[i].variable))
            draft->entries.data[kept++] = draft->entries.data[i];
    draft->entries.length = kept;
    draft->drops = true;
}

// Does the edge lead to where a jump lands?
static bool lands(const struct dataflow *dataflow, uint32_t node, uint32_t edge)
{
    uint32_t successors = model_successors(dataflow->model, (struct node_id){node}).count;
    uint32_t target = flow_edges(dataflow->flow, node).data[edge].target;

    return edge >= successors || dataflow->model->nodes[target].flags & NODE_LANDING;
}

// From the end of the node on along the edge.
static void take_edge(struct walk *walk, uint32_t edge)
{
    const struct dataflow *dataflow = walk->dataflow;
    uint32_t target = flow_edges(dataflow->flow, walk->node).data[edge].target;

    if (lands(dataflow, walk->node, edge))
        walk_forget_locals(walk);
    else
        walk_condition(walk, edge);
    walk_enter(walk, target);
}

// ---- Steps

// Library code between callbacks may write; before main and after it others are at work.
static struct dataflow_value step_beside(struct dataflow *dataflow, uint32_t node, uint32_t edge)
{
    const struct flow *flow = dataflow->flow;
    uint32_t function = flow->node_function[node];
    uint32_t target = flow_edges(flow, node).data[edge].target;
    bool calls = flow->node_set[target] && target != flow->main_call;
    bool starts = function == flow->start || function == flow->thread_start;

    draft_clear(&dataflow->node_draft);
    forget_set(&dataflow->node_draft, dataflow->between[function]);
    if (starts && calls)
        forget_set(&dataflow->node_draft, dataflow->reachable);
    return draft_finish(&dataflow->node_draft);
}

static void forget_callees(struct walk *walk)
{
    struct flow_callees callees = flow_callees(walk->dataflow->flow, walk->node);

    for (uint32_t i = 0; i < callees.count; i++)
        walk_forget_set(walk, walk->dataflow->writes[callees.data[i]]);
}

static struct dataflow_value step(struct dataflow *dataflow, uint32_t node, uint32_t edge,
                                  bool skips)
{
    uint32_t flags = flow_edges(dataflow->flow, node).data[edge].flags;
    struct draft *draft = &dataflow->node_draft;
    struct walk walk;

    draft_clear(draft);
    walk_begin(&walk, dataflow, draft, node);
    // assembly may call at any time
    bool is_early = skips && dataflow->model->nodes[node].flags & NODE_ASM;
    if (is_early)
        forget_callees(&walk);
    walk_body(&walk);
    if (!skips && !(flags & FLOW_LANDS) && !lands(dataflow, node, edge))
        walk_target(&walk, NONE);
    if (is_early || (flags & FLOW_LANDS && !(flags & FLOW_PAST) && !skips))
        forget_entries(draft);
    walk_external(&walk);
    if (skips || flags & FLOW_LANDS)
        forget_callees(&walk);
    take_edge(&walk, edge);
    walk_end(&walk);
    return draft_finish(draft);
}

struct dataflow_value dataflow_step(struct dataflow *dataflow, uint32_t node, uint32_t edge)
{
    uint32_t *known = &dataflow->steps[dataflow->flow->edge_start[node] + edge];

    assert(edge < flow_edges(dataflow->flow, node).count);
    if (!dataflow->has_code)
        return DATAFLOW_ONE;
    if (!*known)
        *known = 1 + (is_model_node(dataflow, node) ? step(dataflow, node, edge, false)
                                                    : step_beside(dataflow, node, edge))
                         .number;
    return (struct dataflow_value){*known - 1};
}

struct dataflow_value dataflow_skip(struct dataflow *dataflow, uint32_t node, uint32_t edge)
{
    uint32_t *known = &dataflow->skips[dataflow->flow->edge_start[node] + edge];

    assert(edge < flow_edges(dataflow->flow, node).count);
    if (!dataflow->has_code)
        return DATAFLOW_ONE;
    if (!*known && is_model_node(dataflow, node))
        *known = 1 + step(dataflow, node, edge, true).number;
    if (!*known) {
        struct flow_callees callees = flow_callees(dataflow->flow, node);
        draft_clear(&dataflow->node_draft);
        forget_set(&dataflow->node_draft, dataflow->between[dataflow->flow->node_function[node]]);
        for (uint32_t i = 0; i < callees.count; i++)
            forget_set(&dataflow->node_draft, dataflow->writes[callees.data[i]]);
        *known = 1 + draft_finish(&dataflow->node_draft).number;
    }
    return (struct dataflow_value){*known - 1};
}

struct dataflow_value dataflow_leave(struct dataflow *dataflow, uint32_t node)
{
    struct draft *draft = &dataflow->node_draft;
    struct expression result = {0};
    struct walk walk;

    if (!dataflow->has_code || !is_model_node(dataflow, node))
        return DATAFLOW_ONE;
    if (dataflow->leaves[node])
        return (struct dataflow_value){dataflow->leaves[node] - 1};
    draft_clear(draft);
    walk_begin(&walk, dataflow, draft, node);
    walk_body(&walk);
    walk_external(&walk);
    const struct insn *last = &walk.code->insns[walk.at->first_insn + walk.at->insn_count - 1];
    uint32_t variable = dataflow->result_variable[walk.function];
    if (last->opcode == INSN_RET && last->operand_count && variable != NONE)
        result = walk_operand(&walk, code_operand(walk.code, last, 0));
    drop_locals(draft);
    if (variable != NONE)
        draft_set(draft, variable, result);
    walk_end(&walk);
    dataflow->leaves[node] = 1 + draft_finish(draft).number;
    return (struct dataflow_value){dataflow->leaves[node] - 1};
}

struct dataflow_value dataflow_end(struct dataflow *dataflow, uint32_t node)
{
    struct walk walk;

    if (!dataflow->has_code || !is_model_node(dataflow, node))
        return DATAFLOW_ONE;
    if (!dataflow->ends[node]) {
        draft_clear(&dataflow->node_draft);
        walk_begin(&walk, dataflow, &dataflow->node_draft, node);
        walk_body(&walk);
        walk_end(&walk);
        dataflow->ends[node] = 1 + draft_finish(&dataflow->node_draft).number;
    }
    return (struct dataflow_value){dataflow->ends[node] - 1};
}

// ---- Calls

// What the call gives to the function's parameters.
static void pass_arguments(struct walk *walk, uint32_t function, struct entry_vec *ret)
{
    const struct dataflow *dataflow = walk->dataflow;
    const struct insn *call = walk_call(walk);

    if (function >= dataflow->model->function_count)
        return;
    const struct model_function *f = &dataflow->model->functions[function];
    const struct code *code = dataflow->model->modules[f->module.value].code;
    const struct code_function *cf = &code->functions[f->index];
    for (uint32_t a = 0; a < cf->argument_count; a++) {
        uint32_t variable =
            dataflow->modules[f->module.value].argument_variable[cf->first_argument + a];
        if (variable == NONE)
            continue;
        struct entry entry = {.variable = variable};
        if (call && a < code_call(walk->code, call)->argument_count)
            entry.expression = walk_operand(walk, code_operand(walk->code, call, a));
        if (entry.expression.width != base_width(dataflow, variable))
            entry.expression = (struct expression){0};
        entry_vec_push(ret, entry);
    }
}

// The node up to the call that enters the function. `keeps`: the caller's variables, set aside.
static struct dataflow_value enter(struct dataflow *dataflow, uint32_t node, uint32_t function,
                                   bool keeps)
{
    struct draft *draft = &dataflow->node_draft;
    struct entry_vec arguments = VEC_INIT, saved = VEC_INIT;
    struct walk walk;

    draft_clear(draft);
    if (is_model_node(dataflow, node)) {
        bool is_assembly = dataflow->model->nodes[node].flags & NODE_ASM &&
                           function >= dataflow->model->function_count;
        walk_begin(&walk, dataflow, draft, node);
        walk_body(&walk);
        if (function == dataflow->flow->signals || is_assembly)
            forget_entries(draft);
        else
            walk_target(&walk, function);
        if (function >= dataflow->model->function_count)
            walk_external(&walk);
        if (is_assembly)
            forget_set(draft, dataflow->writes[function]);
        pass_arguments(&walk, function, &arguments);
        for (size_t i = 0; keeps && i < draft->entries.length; i++)
            if (is_local(dataflow, draft->entries.data[i].variable)) {
                struct entry entry = draft->entries.data[i];
                entry.variable |= BASE_SAVED;
                entry_vec_push(&saved, entry);
            }
        walk_end(&walk);
    }
    // a thread begins when much has been written
    for (uint32_t v = 0; function == dataflow->flow->thread_start && v < dataflow->memory_count;
         v++)
        draft_forget(draft, v);
    drop_locals(draft);
    for (size_t i = 0; i < arguments.length; i++)
        draft_set(draft, arguments.data[i].variable, arguments.data[i].expression);
    for (size_t i = 0; i < saved.length; i++)
        draft_set(draft, saved.data[i].variable, saved.data[i].expression);
    entry_vec_deinit(&arguments);
    entry_vec_deinit(&saved);
    return draft_finish(draft);
}

static struct dataflow_value enter_known(struct dataflow *dataflow, uint32_t node,
                                         uint32_t function, bool keeps)
{
    struct number_map *map = keeps ? &dataflow->kept_calls : &dataflow->calls;
    uint64_t key = (uint64_t)node << 32 | function;
    const uint32_t *known = number_map_get(map, key);

    if (known)
        return (struct dataflow_value){*known};
    struct dataflow_value value = enter(dataflow, node, function, keeps);
    *number_map_put(map, key) = value.number;
    return value;
}

struct dataflow_value dataflow_call(struct dataflow *dataflow, uint32_t node, uint32_t function)
{
    return dataflow->has_code ? enter_known(dataflow, node, function, false) : DATAFLOW_ONE;
}

// ---- Returns

// The callee's variables go, the caller's come back.
static void restore_locals(struct draft *draft)
{
    struct dataflow *dataflow = draft->state.dataflow;
    struct entry_vec entries = draft->entries;

    draft->entries = (struct entry_vec)VEC_INIT;
    draft->drops = false;
    for (size_t i = 0; i < entries.length; i++) {
        struct entry entry = entries.data[i];
        if (is_local(dataflow, entry.variable))
            continue;
        entry.variable &= ~BASE_SAVED; // globals have smaller numbers than locals
        entry_vec_push(&draft->entries, entry);
    }
    entry_vec_deinit(&entries);
}

static void take_result(struct walk *walk, uint32_t function, struct expression result)
{
    const struct insn *call = walk_call(walk);

    if (!call)
        return;
    uint32_t index = (uint32_t)(call - walk->code->insns);
    uint32_t variable = walk->dataflow->modules[walk->module].register_of_insn[index];
    if (variable == NONE)
        return;
    if (function >= walk->dataflow->model->function_count ||
        result.width != base_width(walk->dataflow, variable))
        result = (struct expression){0};
    draft_set(walk->draft, variable, result);
}

// Behind the call, of a node of the model. The draft is that of the end of the callee.
static void go_on(struct dataflow *dataflow, struct draft *draft, uint32_t node, uint32_t function,
                  uint32_t edge, struct expression result)
{
    struct walk walk;

    walk_begin(&walk, dataflow, draft, node);
    struct variable_set writes = dataflow->sets.data[dataflow->writes[function]];
    for (uint32_t i = 0; i < writes.count; i++)
        if (is_local(dataflow, writes.data[i]) &&
            dataflow->variables.data[writes.data[i]].function == walk.function)
            draft_forget(draft, writes.data[i]);
    if (function >= dataflow->model->function_count)
        walk_external(&walk);
    if (dataflow->model->nodes[node].flags & NODE_ASM)
        walk_forget_set(&walk, dataflow->writes[function]);
    take_result(&walk, function, result);
    if (lands(dataflow, node, edge))
        walk_forget_locals(&walk);
    walk_enter(&walk, flow_edges(dataflow->flow, node).data[edge].target);
    walk_end(&walk);
}

// From the node to behind the call, as a value of its own.
static struct dataflow_value pass(struct dataflow *dataflow, struct dataflow_value callee,
                                  uint32_t node, uint32_t function, uint32_t edge)
{
    struct draft *draft = &dataflow->node_draft;
    struct dataflow_value whole =
        dataflow_extend(dataflow, enter_known(dataflow, node, function, true), callee);
    struct expression result = {0};

    if (dataflow_is_zero(whole))
        return whole;
    draft_load(draft, whole);
    if (function < dataflow->model->function_count && dataflow->result_variable[function] != NONE)
        result = draft_get(draft, dataflow->result_variable[function]);
    restore_locals(draft);
    if (!is_model_node(dataflow, node))
        forget_set(draft, dataflow->between[dataflow->flow->node_function[node]]);
    else if (edge == UINT32_MAX)
        drop_locals(draft);
    else
        go_on(dataflow, draft, node, function, edge, result);
    return draft_finish(draft);
}

struct dataflow_value dataflow_merge(struct dataflow *dataflow, struct dataflow_value caller,
                                     struct dataflow_value callee, uint32_t node, uint32_t function,
                                     uint32_t edge)
{
    const struct flow *flow = dataflow->flow;
    bool is_new;

    if (dataflow_is_zero(caller) || dataflow_is_zero(callee))
        return DATAFLOW_ZERO;
    if (!dataflow->has_code || function == flow->signals)
        return dataflow->has_code ? caller : DATAFLOW_ONE;
    assert(edge == UINT32_MAX || edge < flow_edges(flow, node).count);
    uint32_t where = edge == UINT32_MAX ? flow->edge_start[flow->node_count] + node
                                        : flow->edge_start[node] + edge;
    uint32_t *point =
        number_map_put_new(&dataflow->points, (uint64_t)where << 32 | function, &is_new);
    if (is_new)
        *point = (uint32_t)dataflow->points.length - 1;
    uint64_t key = (uint64_t)*point << 32 | callee.number;
    const uint32_t *known = number_map_get(&dataflow->merges, key);
    if (known)
        return dataflow_extend(dataflow, caller, (struct dataflow_value){*known});
    struct dataflow_value passed = pass(dataflow, callee, node, function, edge);
    *number_map_put(&dataflow->merges, key) = passed.number;
    return dataflow_extend(dataflow, caller, passed);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Goes along one run with what is known of each variable now, frame by frame. Nothing is composed
 * here and nothing is looked up: values of dataflow_value.c can be checked by it. A node's
 * instructions are executed when the next event says how it is left.
 */
#include <assert.h>

#include "path/dataflow_internal.h"
#include "solve/product.h"

#define RELATIONS_MOST 128u

struct frame {
    uint32_t function;
    uint32_t node;            // where it is, or NONE
    uint32_t called;          // the function that is called there, or has been; NONE
    bool is_behind;           // that call has ended
    bool is_jump;             // by a jump
    bool is_skipped;          // nothing is told of what it did
    struct expression result; // of that call
    struct entry_vec saved;   // the variables of its function, while something is called
};
VEC_DEFINE(frame_vec, struct frame);

struct follower {
    struct dataflow *dataflow;
    struct draft draft; // entries: globals, and variables of the innermost frame
    struct frame_vec frames;
};

static struct frame *innermost(struct follower *follower)
{
    return &follower->frames.data[follower->frames.length - 1];
}

static bool is_modelled(const struct follower *follower, uint32_t node)
{
    return node != NONE && node < follower->dataflow->model->node_count;
}

// Takes the locals out of the entries, into `saved` where it is not NULL.
static void set_aside(struct follower *follower, struct entry_vec *saved)
{
    struct entry_vec *entries = &follower->draft.entries;
    size_t kept = 0;

    for (size_t i = 0; i < entries->length; i++)
        if (!is_local(follower->dataflow, entries->data[i].variable))
            entries->data[kept++] = entries->data[i];
        else if (saved)
            entry_vec_push(saved, entries->data[i]);
    entries->length = kept;
}

static void forget_global_set(struct follower *follower, uint32_t set)
{
    struct variable_set s = follower->dataflow->sets.data[set];

    for (uint32_t i = 0; i < s.count; i++)
        if (!is_local(follower->dataflow, s.data[i]))
            draft_forget(&follower->draft, s.data[i]);
}

// Old comparisons are forgotten when there are too many.
static void tidy(struct follower *follower)
{
    struct relation_vec *relations = &follower->draft.state.relations;

    if (relations->length <= RELATIONS_MOST)
        return;
    size_t first = relations->length - RELATIONS_MOST / 2;
    for (size_t i = first; i < relations->length; i++)
        relations->data[i - first] = relations->data[i];
    relations->length = RELATIONS_MOST / 2;
}

// ---- Leaving a node

struct ways { // successors of a node that lead to the same place
    uint32_t edges[64];
    uint32_t count;
    bool lands;   // some jump leads there too
    bool is_many; // more than are listed
};

static struct ways ways_to(const struct follower *follower, uint32_t node, uint32_t target)
{
    const struct dataflow *dataflow = follower->dataflow;
    struct flow_edges edges = flow_edges(dataflow->flow, node);
    uint32_t successors = model_successors(dataflow->model, (struct node_id){node}).count;
    struct ways ways = {0};

    for (uint32_t e = 0; e < edges.count; e++) {
        if (edges.data[e].target != target)
            continue;
        if (e >= successors || dataflow->model->nodes[target].flags & NODE_LANDING)
            ways.lands = true;
        else if (ways.count < 64)
            ways.edges[ways.count++] = e;
        else
            ways.is_many = true;
    }
    return ways;
}

// The instructions of the node may have been executed, or some of them.
static void execute_doubtfully(struct walk *walk)
{
    struct draft copy;
    struct u32_vec written = VEC_INIT;

    draft_init(&copy, walk->dataflow);
    struct walk other;
    walk_begin(&other, walk->dataflow, &copy, walk->node);
    walk_body(&other);
    walk_external(&other);
    walk_end(&other);
    for (size_t i = 0; i < copy.entries.length; i++)
        u32_vec_push(&written, copy.entries.data[i].variable);
    draft_deinit(&copy);
    for (size_t i = 0; i < written.length; i++)
        draft_forget(walk->draft, written.data[i]);
    u32_vec_deinit(&written);
}

// Variables of this frame that the call may have written through pointers.
static void forget_written(struct walk *walk, uint32_t function)
{
    struct variable_set s = walk->dataflow->sets.data[walk->dataflow->writes[function]];

    for (uint32_t i = 0; i < s.count; i++)
        if (is_local(walk->dataflow, s.data[i]) &&
            walk->dataflow->variables.data[s.data[i]].function == walk->function)
            draft_forget(walk->draft, s.data[i]);
}

static void return_to(struct follower *follower, struct walk *walk, const struct frame *frame)
{
    const struct insn *call = walk_call(walk);
    struct dataflow *dataflow = follower->dataflow;
    struct expression result = frame->result;

    forget_written(walk, frame->called);
    if (frame->is_skipped)
        forget_global_set(follower, dataflow->writes[frame->called]);
    if (frame->called >= dataflow->model->function_count) {
        walk_external(walk);
        result = (struct expression){0};
    }
    if (walk->at->flags & NODE_ASM)
        forget_global_set(follower, dataflow->writes[frame->called]);
    uint32_t variable =
        call ? dataflow->modules[walk->module].register_of_insn[call - walk->code->insns] : NONE;
    if (variable == NONE)
        return;
    if (result.kind == EXPRESSION_NONE || result.width != base_width(dataflow, variable))
        draft_forget(walk->draft, variable);
    else
        draft_set(walk->draft, variable, result);
}

static void leave_for(struct follower *follower, uint32_t target)
{
    struct frame frame = *innermost(follower);
    struct walk walk;

    walk_begin(&walk, follower->dataflow, &follower->draft, frame.node);
    struct ways ways = ways_to(follower, frame.node, target);
    bool lands = ways.lands && (!frame.is_behind || frame.is_jump || ways.count == 0);
    if (frame.is_behind)
        return_to(follower, &walk, &frame);
    else if (lands)
        execute_doubtfully(&walk);
    else {
        walk_body(&walk);
        if (!ways.lands)
            walk_target(&walk, NONE);
        walk_external(&walk);
    }
    if (lands)
        walk_forget_locals(&walk);
    else if (!frame.is_behind && !ways.is_many)
        walk_condition_any(&walk, ways.edges, ways.count);
    walk_enter(&walk, target);
    walk_end(&walk);
    state_settle(&follower->draft.state);
    tidy(follower);
}

// Of code without a model.
static void leave_beside(struct follower *follower, uint32_t node, uint32_t target)
{
    const struct flow *flow = follower->dataflow->flow;
    uint32_t function = flow->node_function[node];

    forget_global_set(follower, follower->dataflow->between[function]);
    if ((function == flow->start || function == flow->thread_start) && flow->node_set[target] &&
        target != flow->main_call)
        forget_global_set(follower, follower->dataflow->reachable);
}

static void follow_step(struct follower *follower, uint32_t node)
{
    if (!follower->frames.length)
        frame_vec_push(&follower->frames,
                       (struct frame){.function = follower->dataflow->flow->node_function[node],
                                      .node = NONE,
                                      .called = NONE});
    struct frame *frame = innermost(follower);
    if (is_modelled(follower, frame->node))
        leave_for(follower, node);
    else if (frame->node != NONE)
        leave_beside(follower, frame->node, node);
    frame = innermost(follower);
    frame->node = node;
    frame->called = NONE;
    frame->is_behind = frame->is_jump = frame->is_skipped = false;
}

// ---- Calls

static void pass(struct follower *follower, struct walk *walk, uint32_t function,
                 struct entry_vec *arguments)
{
    const struct dataflow *dataflow = follower->dataflow;
    const struct insn *call = walk_call(walk);
    const struct model_function *f = &dataflow->model->functions[function];
    const struct code_function *cf =
        &dataflow->model->modules[f->module.value].code->functions[f->index];
    uint32_t given = call ? code_call(walk->code, call)->argument_count : 0;

    for (uint32_t a = 0; a < cf->argument_count && a < given; a++) {
        uint32_t variable =
            dataflow->modules[f->module.value].argument_variable[cf->first_argument + a];
        if (variable == NONE)
            continue;
        struct expression value = walk_operand(walk, code_operand(walk->code, call, a));
        if (value.kind != EXPRESSION_NONE && value.width == base_width(dataflow, variable))
            entry_vec_push(arguments, (struct entry){variable, 0, value});
    }
}

// is_skipped: nothing is told of what it does, and any other callee might be meant.
static void follow_call(struct follower *follower, uint32_t function, bool is_skipped)
{
    const struct dataflow *dataflow = follower->dataflow;
    struct entry_vec arguments = VEC_INIT;
    struct walk walk;

    struct frame *frame = innermost(follower);
    bool is_signal = function == dataflow->flow->signals;
    if (is_modelled(follower, frame->node)) {
        walk_begin(&walk, follower->dataflow, &follower->draft, frame->node);
        bool is_foreign = function >= dataflow->model->function_count;
        if (is_signal || (is_foreign && walk.at->flags & NODE_ASM))
            execute_doubtfully(&walk);
        else {
            walk_body(&walk);
            if (!is_skipped)
                walk_target(&walk, function);
        }
        if (is_foreign && !is_signal)
            walk_external(&walk);
        if (is_foreign && walk.at->flags & NODE_ASM)
            forget_global_set(follower, dataflow->writes[function]);
        if (!is_foreign)
            pass(follower, &walk, function, &arguments);
        walk_end(&walk);
    }
    if (function == dataflow->flow->thread_start)
        for (uint32_t v = 0; v < dataflow->memory_count; v++)
            draft_forget(&follower->draft, v);
    frame->called = function;
    set_aside(follower, &frame->saved);
    for (size_t i = 0; i < arguments.length; i++)
        draft_set(&follower->draft, arguments.data[i].variable, arguments.data[i].expression);
    entry_vec_deinit(&arguments);
    frame_vec_push(&follower->frames,
                   (struct frame){.function = function, .node = NONE, .called = NONE});
}

// The last node of a function that is left; whether it returns.
static bool execute_last(struct follower *follower, const struct frame *frame,
                         struct expression *result)
{
    struct walk walk;
    bool returns = true;

    if (!is_modelled(follower, frame->node))
        return true;
    walk_begin(&walk, follower->dataflow, &follower->draft, frame->node);
    const struct insn *last = &walk.code->insns[walk.at->first_insn + walk.at->insn_count - 1];
    returns = last->opcode == INSN_RET ||
              follower->dataflow->model->functions[walk.function].flags & FUNCTION_NAKED;
    if (frame->is_behind) {
        return_to(follower, &walk, frame);
        returns = false;
    } else {
        walk_body(&walk);
        walk_external(&walk);
    }
    if (last->opcode == INSN_RET && last->operand_count && !frame->is_behind)
        *result = walk_operand(&walk, code_operand(walk.code, last, 0));
    walk_end(&walk);
    return returns;
}

static void follow_leave(struct follower *follower)
{
    struct expression result = {0};

    if (follower->frames.length < 2)
        return;
    struct frame left = *innermost(follower);
    bool returns = execute_last(follower, &left, &result);
    set_aside(follower, NULL);
    entry_vec_deinit(&left.saved);
    follower->frames.length--;
    struct frame *frame = innermost(follower);
    for (size_t i = 0; i < frame->saved.length; i++)
        draft_set(&follower->draft, frame->saved.data[i].variable, frame->saved.data[i].expression);
    frame->saved.length = 0;
    frame->is_behind = frame->called != follower->dataflow->flow->signals;
    frame->is_jump = !returns;
    frame->is_skipped = left.node == NONE;
    frame->result = result;
}

uint32_t dataflow_replay(struct dataflow *dataflow, const struct run *run)
{
    struct follower follower = {.dataflow = dataflow};
    const struct flow *flow = dataflow->flow;
    uint32_t ret = UINT32_MAX;

    if (!dataflow->has_code || run->count == 0)
        return ret;
    draft_init(&follower.draft, dataflow);
    uint32_t first = flow->node_function[run->events[0].node];
    if (first == flow->start || first == flow->any_start)
        draft_load(&follower.draft, dataflow_begin(dataflow));
    follower.draft.drops = true;
    for (uint32_t i = 0; i < run->count && ret == UINT32_MAX; i++) {
        const struct run_event *event = &run->events[i];
        if (event->letter == RUN_STEP)
            follow_step(&follower, event->node);
        else if (event->letter == RUN_CALL && follower.frames.length)
            follow_call(&follower, event->function,
                        i + 1 < run->count && run->events[i + 1].letter == RUN_LEAVE);
        else if (event->letter == RUN_LEAVE)
            follow_leave(&follower);
        if (follower.draft.state.is_impossible)
            ret = i;
    }
    for (size_t i = 0; i < follower.frames.length; i++)
        entry_vec_deinit(&follower.frames.data[i].saved);
    frame_vec_deinit(&follower.frames);
    draft_deinit(&follower.draft);
    return ret;
}

// SPDX-License-Identifier: Apache-2.0
#include "ask/witness.h"

#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "solve/automaton.h"
#include "solve/product.h"

// How control can go on from where it is.
enum arrival {
    AT_NODE,     // the node has been reached, no call made from it
    BEHIND_CALL, // a callee has returned
    BEHIND_JUMP, // a callee has been left by a jump
};

struct frame {
    uint32_t function;
    uint32_t begin; // event that it began with
    uint32_t node;  // where it is; FLOW_NONE: not begun
    enum arrival arrival;
    uint32_t insn; // how far it has come in the node, as far as the run tells
};
VEC_DEFINE(frame_vec, struct frame);

struct replay {
    const struct ask_case *ask;
    const struct ask_thread *thread;
    const struct flow *flow;
    bool flat;
    struct frame_vec stack;
    uint32_t *visits; // by node
    const char *problem;
    const struct run *run;
    uint32_t at; // event
};

static bool calls(const struct flow *flow, uint32_t node, uint32_t function)
{
    struct flow_callees callees = flow_callees(flow, node);

    for (uint32_t i = 0; i < callees.count; i++)
        if (callees.data[i] == function)
            return true;
    return false;
}

// Can the function that stands there be left by a jump?
static bool may_jump(const struct replay *replay, const struct frame *frame)
{
    if (frame->arrival == BEHIND_JUMP || replay->flow->node_flags[frame->node] & FLOW_JUMPS)
        return true;
    return bitset_test(&replay->ask->closed, frame->node) && replay->flow->signals != FLOW_NONE;
}

// Control goes on in the node that it is in.
static void replay_on(struct replay *replay, const struct run_event *event)
{
    struct frame *frame =
        replay->stack.length ? &replay->stack.data[replay->stack.length - 1] : NULL;

    if (!frame || frame->node != event->node || frame->arrival != AT_NODE ||
        frame->insn >= event->insn)
        replay->problem = "it goes on in a node where it is not";
    else
        frame->insn = event->insn;
}

static void replay_step(struct replay *replay, uint32_t node)
{
    struct frame *frame =
        replay->stack.length ? &replay->stack.data[replay->stack.length - 1] : NULL;
    bool found = false;

    replay->visits[node]++;
    if (!frame) {
        frame_vec_push(&replay->stack, (struct frame){replay->flow->node_function[node], replay->at,
                                                      node, AT_NODE, 0});
        if (replay->flow->functions[replay->thread->start].entry != node)
            replay->problem = "it does not begin where the thread began";
        return;
    }
    if (bitset_test(&replay->ask->absent, node))
        replay->problem = "it reaches a node that never ran";
    if (frame->node == FLOW_NONE) {
        if (replay->flow->functions[frame->function].entry != node)
            replay->problem = "a function is not entered at its entry";
        frame->node = node;
        return;
    }
    if (bitset_test(&replay->ask->closed, frame->node))
        replay->problem = "it passes a call that was never made";
    uint32_t wanted = frame->arrival == AT_NODE       ? FLOW_PAST
                      : frame->arrival == BEHIND_CALL ? FLOW_BEHIND
                                                      : FLOW_LANDS;
    struct flow_edges next = flow_edges(replay->flow, frame->node);
    for (uint32_t k = 0; k < next.count; k++)
        found |= next.data[k].target == node && next.data[k].flags & wanted;
    if (!found)
        replay->problem = "a step is no edge of the program";
    frame->node = node;
    frame->arrival = AT_NODE;
    frame->insn = 0;
}

static void replay_call(struct replay *replay, const struct run_event *event)
{
    const struct frame *frame = &replay->stack.data[replay->stack.length - 1];

    if (!replay->stack.length || frame->node != event->node || frame->arrival != AT_NODE)
        replay->problem = "a call is made where control is not";
    frame_vec_push(&replay->stack,
                   (struct frame){event->function, replay->at + 1, FLOW_NONE, AT_NODE, 0});
}

static void replay_leave(struct replay *replay, const struct run_event *event)
{
    if (replay->stack.length < 2) {
        replay->problem = "more is left than was called";
        return;
    }
    struct frame inner = replay->stack.data[--replay->stack.length];
    struct frame *outer = &replay->stack.data[replay->stack.length - 1];
    bool returns = inner.node != FLOW_NONE && inner.arrival == AT_NODE &&
                   replay->flow->node_flags[inner.node] & FLOW_RETURNS;

    bool handler = event->function == replay->flow->signals;
    if (inner.function != event->function || outer->node != event->node ||
        (!handler && !calls(replay->flow, event->node, event->function)))
        replay->problem = "a return does not go back to its call";
    // which of the two it was shows in the step behind it; both are tried there
    if (returns && !bitset_test(&replay->ask->closed, inner.node))
        outer->arrival = handler ? AT_NODE : BEHIND_CALL;
    else if (inner.node != FLOW_NONE && may_jump(replay, &inner))
        outer->arrival = BEHIND_JUMP;
    else
        replay->problem = "a function is left where it does not end";
}

// Has the activation itself visited all that it is known to have?
static bool frame_visited(const struct replay *replay, const struct frame *frame,
                          const struct view *view)
{
    for (uint32_t r = 0; r < view->ran_count; r++) {
        uint32_t depth = 0;
        bool found = false;

        for (uint32_t i = frame->begin; !found && i < replay->run->count; i++) {
            const struct run_event *event = &replay->run->events[i];

            depth += event->letter == RUN_CALL;
            depth -= event->letter == RUN_LEAVE && depth > 0;
            found = event->letter == RUN_STEP && depth == 0 && event->node == view->ran[r];
        }
        if (!found)
            return false;
    }
    return true;
}

// Views from..to-1, none of them a gap, against the stack at `at`.
static bool segment_fits(const struct replay *replay, size_t from, size_t to, size_t at)
{
    const struct ask_thread *thread = replay->thread;

    if (at + (to - from) > replay->stack.length)
        return false;
    for (size_t v = from; v < to; v++) {
        const struct view *view = thread->views.data[v];
        const struct frame *frame = &replay->stack.data[at + (v - from)];
        bool fits = false;

        for (uint32_t i = 0; i < view->end_count; i++)
            fits |= view->node[view->end[i]] == frame->node;
        if (!fits || frame->function != view->function || !frame_visited(replay, frame, view))
            return false;
    }
    return true;
}

// The stack that was found: stretches of frames with gaps between them. The first stands at the
// beginning, the last at the end, each of the others as far out as it fits.
static void check_stack(struct replay *replay)
{
    const struct ask_view_vec *views = &replay->thread->views;
    size_t at = 0, from = 0;

    replay->problem = "it does not end with the stack that was found";
    if (!replay->stack.length || replay->stack.data[replay->stack.length - 1].arrival != AT_NODE)
        return;
    for (size_t to = 0; to <= views->length; to++) {
        bool last = to == views->length;

        if (!last && views->data[to]->function != FLOW_NONE)
            continue;
        size_t count = to - from;
        if (last && from > 0) { // behind a gap
            if (replay->stack.length < at + count)
                return;
            at = replay->stack.length - count;
        }
        while (from > 0 && !last && at + count <= replay->stack.length &&
               !segment_fits(replay, from, to, at))
            at++;
        if (!segment_fits(replay, from, to, at))
            return;
        at += count;
        from = to + 1;
    }
    if (at == replay->stack.length)
        replay->problem = NULL;
}

static void check_facts(struct replay *replay)
{
    const struct ask_case *ask = replay->ask;

    for (size_t i = 0; ask->is_single && i < ask->ran.length; i++)
        if (!replay->visits[ask->ran.data[i]])
            replay->problem = "it misses something that ran";
}

// ---- The word of the run, letter by letter

struct reading {
    const struct flow *flow;
    struct automaton *automaton;
    uint32_t state;
    struct reading_frame {
        uint32_t node, insn, symbol;
        bool jumped; // control has left the node, perhaps before its end
    } *frames;
    uint32_t depth; // of the frame that control is in
};

// A run tells of the spots that mattered to whoever made it. Others come as late as they can: when
// control is further on, or leaves the node.
static void read_up_to(struct reading *reading, uint32_t insn)
{
    struct reading_frame *frame = &reading->frames[reading->depth];

    if (frame->node != FLOW_NONE && !frame->jumped)
        reading->state =
            automaton_go(reading->automaton, reading->state, frame->node, frame->insn, insn);
    frame->insn = insn;
}

static void read_leave(struct reading *reading, const struct run_event *event)
{
    struct reading_frame *inner = &reading->frames[reading->depth], *outer = inner - 1;

    read_up_to(reading, UINT32_MAX);
    if (!reading->depth || reading->state == AUTOMATON_DEAD)
        return;
    outer->jumped = inner->jumped || inner->node == FLOW_NONE ||
                    !(reading->flow->node_flags[inner->node] & FLOW_RETURNS);
    reading->depth--;
    reading->state = reading->automaton->leave(reading->automaton, reading->state, outer->symbol,
                                               event->node, event->function);
}

// `amid`: of a call, it is made where control need not have come to the end of the node.
static void read_event(struct reading *reading, const struct run_event *event, bool amid)
{
    struct automaton *automaton = reading->automaton;
    struct reading_frame *frame = &reading->frames[reading->depth];

    if (event->letter == RUN_CALL) {
        if (!amid && event->function != reading->flow->signals)
            read_up_to(reading, UINT32_MAX);
        if (reading->state == AUTOMATON_DEAD)
            return;
        reading->state = automaton->call(automaton, reading->state, event->node, event->function,
                                         &frame->symbol);
        reading->frames[++reading->depth] = (struct reading_frame){.node = FLOW_NONE};
    } else if (event->letter == RUN_LEAVE) {
        read_leave(reading, event);
    } else if (event->insn) {
        // without contexts a handler has returned to wherever this is
        if (frame->node == event->node)
            read_up_to(reading, event->insn);
        *frame = (struct reading_frame){.node = event->node, .insn = event->insn};
        reading->state = automaton_step(automaton, reading->state, event->node, event->insn);
    } else {
        read_up_to(reading, UINT32_MAX);
        *frame = (struct reading_frame){.node = event->node};
        reading->state = automaton_step(automaton, reading->state, event->node, 0);
    }
}

// By event: is it a call that stays pending, or may be one (runs without contexts do not tell)?
static bool *find_pending(const struct run *run, bool flat)
{
    bool *pends = xcalloc(run->count + 1u, sizeof(*pends));
    uint32_t *open = xmalloc_array(run->count + 1u, sizeof(*open)), depth = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        if (run->events[i].letter == RUN_CALL)
            open[depth++] = i;
        else if (run->events[i].letter == RUN_LEAVE && depth && !flat)
            depth--;
    }
    while (depth)
        pends[open[--depth]] = true;
    free(open);
    return pends;
}

static bool automaton_takes(const struct replay *replay, struct automaton *automaton)
{
    const struct ask_thread *thread = replay->thread;
    const struct run *run = replay->run;
    struct reading reading = {
        .flow = replay->flow, .automaton = automaton, .state = automaton->initial};

    reading.frames = xmalloc_array(run->count + 2u, sizeof(*reading.frames));
    reading.frames[0] = (struct reading_frame){.node = FLOW_NONE};
    bool *pends = find_pending(run, replay->flat);
    for (uint32_t i = 0; reading.state != AUTOMATON_DEAD && i < run->count; i++)
        read_event(&reading, &run->events[i],
                   pends[i] && ask_thread_is_cut(thread, run->events[i].node));
    free(pends);
    const struct ask_view_vec *views = &thread->views;
    bool ends_in_gap = !views->length || views->data[views->length - 1]->function == FLOW_NONE;
    if (!ends_in_gap && !ask_thread_is_cut(thread, reading.frames[reading.depth].node))
        read_up_to(&reading, UINT32_MAX);
    free(reading.frames);
    return reading.state != AUTOMATON_DEAD && automaton->accepts(automaton, reading.state);
}

// ---- Without contexts

// May control come from node to next, when it returns to any call?
static bool flat_leads(const struct flow *flow, uint32_t node, uint32_t next)
{
    if (flow->signals != FLOW_NONE)
        return true; // a handler may come anywhere, and return anywhere
    struct flow_edges edges = flow_edges(flow, node);
    uint32_t function = flow->node_function[node];
    bool returns = flow->node_flags[node] & FLOW_RETURNS;

    for (uint32_t k = 0; k < edges.count; k++)
        if (edges.data[k].target == next && edges.data[k].flags & FLOW_PAST)
            return true;
    // a jump may leave any number of functions: where it lands is looked at, not on whose way
    for (uint32_t n = 0; n < flow->node_count; n++) {
        edges = flow_edges(flow, n);
        for (uint32_t k = 0; k < edges.count; k++)
            if (edges.data[k].target == next &&
                ((returns && edges.data[k].flags & FLOW_BEHIND && calls(flow, n, function)) ||
                 edges.data[k].flags & FLOW_LANDS))
                return true;
    }
    return false;
}

static bool link_fits(const struct utl_link *link, uint32_t node, uint32_t function)
{
    if (link->function != FLOW_NONE && link->function != function)
        return false;
    for (uint32_t i = 0; i < link->count; i++)
        if (link->nodes[i] == node)
            return true;
    return link->count == 0;
}

static const char *flat_problem(const struct ask_case *ask, const struct ask_thread *thread,
                                const struct run *run)
{
    uint32_t node = FLOW_NONE, called = FLOW_NONE;
    size_t link = 0;
    // a handler may go back to where it ends without a step
    bool ends = !thread->ends.length || ask->flow->signals != FLOW_NONE;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        if (event->letter == RUN_CALL) {
            // back in a node that a handler came in, it goes on to its call without a step
            if ((event->node != node && ask->flow->signals == FLOW_NONE) ||
                (event->function != ask->flow->signals &&
                 !calls(ask->flow, event->node, event->function)))
                return "a call is made where it cannot be";
            node = event->node;
            called = event->function;
            while (link < thread->links.length &&
                   link_fits(&thread->links.data[link], node, called)) {
                link++;
                // behind a gap the next link may be the same call
                if (thread->links.data[link - 1].function != FLOW_NONE)
                    break;
            }
            continue;
        }
        if (event->letter == RUN_STEP && event->insn) {
            // back in the node that a handler came in, it may be anywhere
            if (event->node != node && ask->flow->signals == FLOW_NONE)
                return "it goes on in a node where it is not";
            node = event->node;
            continue;
        }
        if (node != FLOW_NONE && bitset_test(&ask->closed, node) && !ask->flow->has_jumps &&
            ask->flow->signals == FLOW_NONE)
            return "it passes a call that was never made";
        if (called != FLOW_NONE ? ask->flow->functions[called].entry != event->node
                                : node != FLOW_NONE && !flat_leads(ask->flow, node, event->node))
            return "a step is no edge of the program";
        node = event->node;
        called = FLOW_NONE;
    }
    for (size_t i = 0; i < thread->ends.length; i++)
        ends |= thread->ends.data[i] == node;
    // a gap at the end may be empty
    if (link + 1 == thread->links.length && thread->links.data[link].function == FLOW_NONE)
        link++;
    if ((link < thread->links.length && !thread->is_doubtful) || !ends)
        return "it does not end with the stack that was found";
    return NULL;
}

const char *witness_problem(const struct ask_case *ask, const struct ask_thread *thread,
                            const struct run *run, struct automaton *query, bool flat)
{
    struct replay replay = {
        .ask = ask, .thread = thread, .flow = ask->flow, .flat = flat, .run = run};

    replay.visits = xcalloc(ask->flow->node_count + 1u, sizeof(uint32_t));
    for (uint32_t i = 0; !flat && !replay.problem && i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        replay.at = i;
        if (event->letter == RUN_STEP && event->insn)
            replay_on(&replay, event);
        else if (event->letter == RUN_STEP)
            replay_step(&replay, event->node);
        else if (event->letter == RUN_CALL)
            replay_call(&replay, event);
        else
            replay_leave(&replay, event);
    }
    if (flat)
        replay.problem = flat_problem(ask, thread, run);
    else if (!replay.problem)
        check_stack(&replay);
    if (!flat && !replay.problem)
        check_facts(&replay);
    for (size_t i = 0; !replay.problem && ask->is_single && i < ask->automata.length; i++)
        if (!automaton_takes(&replay, ask->automata.data[i]))
            replay.problem = "it does not fit an observation";
    const struct ask_automaton_vec *given = flat ? &ask->given_flat : &ask->given;
    // what was given is about the first thread
    for (size_t i = 0; !replay.problem && thread->index == 0 && i < given->length; i++)
        if (!automaton_takes(&replay, given->data[i]))
            replay.problem = "it does not fit what was given";
    if (!replay.problem && query && !automaton_takes(&replay, query))
        replay.problem = "it does not fit the query";
    frame_vec_deinit(&replay.stack);
    free(replay.visits);
    return replay.problem;
}

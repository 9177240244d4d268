// SPDX-License-Identifier: Apache-2.0
/*
 * The best paths of a small program by looking at all of them: breadth first over whole
 * configurations (every frame of the stack, what was touched, what orders and the automaton know),
 * up to a depth of the stack. Shares the flow graph and the automaton with the solver, and nothing
 * else.
 *
 *     struct oracle oracle;
 *     oracle_run(&oracle, &question);
 *     if (!oracle.too_many) ... oracle.shortest[stack][touched] ...
 *     const char *wrong = oracle_replay(&question, &run, &answer);
 *     oracle_deinit(&oracle);
 */
#ifndef TESTS_UNIT_PATH_ORACLE_H
#define TESTS_UNIT_PATH_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "solve/automaton.h"
#include "solve/flow.h"
#include "solve/product.h"

#define ORACLE_FUNCTION static __attribute__((__unused__))

enum {
    ORACLE_DEPTH = 7,
    ORACLE_STATES = 120000,
    ORACLE_CRITICAL = 6,
    ORACLE_ORDERS = 3,
    ORACLE_STACKS = 3,
    ORACLE_VIEWS = 6,
    ORACLE_STEPS = 5,
    ORACLE_NO_VIEW = 255,
    ORACLE_FAR = -1,
};

// What is known of one pending activation; or, as a gap, that there may be any.
struct oracle_view {
    bool is_gap;
    uint32_t function;
    uint64_t at, closed, ran; // nodes
    uint32_t steps[ORACLE_STEPS], step_count;
    bool from_entry, to_end;
};

struct oracle_stack {
    uint32_t nodes[ORACLE_DEPTH], count;
};

struct oracle_question {
    const struct flow *flow;
    uint64_t closed, absent; // nodes
    uint32_t critical[ORACLE_CRITICAL], critical_count;
    uint32_t before[ORACLE_ORDERS], after[ORACLE_ORDERS], order_count;
    struct automaton *automaton;
    struct oracle_view views[ORACLE_VIEWS];
    uint32_t view_count;
    struct oracle_stack stacks[ORACLE_STACKS];
    uint32_t stack_count;
    uint32_t start;
    uint64_t ends;
};

struct oracle_frame {
    uint8_t node, function, view;
    uint8_t is_handler, is_jumped; // a call made from the node has been left by a jump
    uint8_t steps;                 // how many of the steps fit, by bit; bit 7: all, and more
    uint8_t visited;               // of `ran`, the lowest ones
    uint8_t symbol;
};

struct oracle_state {
    struct oracle_frame frames[ORACLE_DEPTH];
    uint8_t depth, has, touched, automaton;
    uint32_t pad;
};

struct oracle {
    const struct oracle_question *question;
    struct oracle_state *states;
    uint32_t count, room;
    uint32_t *table, table_size;
    uint32_t *level, *next_level; // numbers of states
    uint32_t level_count, next_count;
    bool too_many;
    bool is_cut; // some call was not looked at: the stack is too deep
    int64_t shortest[ORACLE_STACKS][1 << ORACLE_CRITICAL];
    bool ends_only; // of a walk: successors are given to `take`
    void (*take)(void *context, const struct oracle_state *state, bool is_step);
    void *context;
};

// ---- States

static inline bool oracle_in(uint64_t set, uint32_t node)
{
    return set >> node & 1;
}

static inline void oracle_grow(struct oracle *oracle)
{
    oracle->table_size = oracle->table_size ? oracle->table_size * 2 : 1024;
    oracle->table = xrealloc(oracle->table, oracle->table_size * sizeof(uint32_t));
    memset(oracle->table, 0xff, oracle->table_size * sizeof(uint32_t));
    for (uint32_t i = 0; i < oracle->count; i++) {
        uint64_t h = hash_mix(hash_bytes(HASH_SEED, &oracle->states[i], sizeof(*oracle->states)));

        while (oracle->table[h & (oracle->table_size - 1)] != UINT32_MAX)
            h++;
        oracle->table[h & (oracle->table_size - 1)] = i;
    }
}

// A state that can be reached now, or with one more step.
static inline void oracle_add(struct oracle *oracle, const struct oracle_state *state, bool is_step)
{
    if (oracle->take) {
        oracle->take(oracle->context, state, is_step);
        return;
    }
    if (oracle->count >= ORACLE_STATES) {
        oracle->too_many = true;
        return;
    }
    if (oracle->count * 2 >= oracle->table_size)
        oracle_grow(oracle);
    uint64_t h = hash_mix(hash_bytes(HASH_SEED, state, sizeof(*state)));
    for (;; h++) {
        uint32_t *slot = &oracle->table[h & (oracle->table_size - 1)];

        if (*slot == UINT32_MAX) {
            *slot = oracle->count;
            break;
        }
        if (!memcmp(&oracle->states[*slot], state, sizeof(*state)))
            return;
    }
    if (oracle->count == oracle->room) {
        oracle->room = oracle->room ? oracle->room * 2 : 256;
        oracle->states = xrealloc(oracle->states, oracle->room * sizeof(*oracle->states));
        oracle->level = xrealloc(oracle->level, oracle->room * sizeof(uint32_t));
        oracle->next_level = xrealloc(oracle->next_level, oracle->room * sizeof(uint32_t));
    }
    if (is_step)
        oracle->next_level[oracle->next_count++] = oracle->count;
    else
        oracle->level[oracle->level_count++] = oracle->count;
    oracle->states[oracle->count++] = *state;
}

// ---- One step

static inline void oracle_steps(const struct oracle_view *view, struct oracle_frame *frame,
                                uint32_t node, bool is_first)
{
    uint8_t now = 0;

    if (!view->from_entry && frame->steps & 1)
        now |= 1;
    for (uint32_t i = 0; i < view->step_count; i++)
        if (frame->steps >> i & 1 && view->steps[i] == node &&
            (i > 0 || !view->from_entry || is_first))
            now |= (uint8_t)(2u << i);
    if (!view->to_end && (frame->steps & 0x80 || frame->steps >> view->step_count & 1) &&
        view->step_count)
        now |= 0x80;
    frame->steps = now;
}

static inline void oracle_visit(const struct oracle_view *view, struct oracle_frame *frame,
                                uint32_t node)
{
    uint32_t number = 0;

    for (uint32_t n = 0; n < 64; n++)
        if (oracle_in(view->ran, n)) {
            if (n == node)
                frame->visited |= (uint8_t)(1u << number);
            number++;
        }
}

// The top frame reaches a node.
static inline void oracle_reach(struct oracle *oracle, struct oracle_state state, uint32_t node,
                                bool is_first)
{
    const struct oracle_question *question = oracle->question;
    struct oracle_frame *frame = &state.frames[state.depth - 1];
    struct automaton *automaton = question->automaton;

    if (oracle_in(question->absent, node))
        return;
    frame->node = (uint8_t)node;
    frame->is_jumped = 0;
    for (uint32_t i = 0; i < question->order_count; i++) {
        if (question->before[i] == node)
            state.has |= (uint8_t)(1u << i);
        if (question->after[i] == node && !(state.has >> i & 1))
            return;
    }
    for (uint32_t i = 0; i < question->critical_count; i++)
        if (question->critical[i] == node)
            state.touched |= (uint8_t)(1u << i);
    if (frame->view != ORACLE_NO_VIEW && !question->views[frame->view].is_gap) {
        oracle_steps(&question->views[frame->view], frame, node, is_first);
        oracle_visit(&question->views[frame->view], frame, node);
    }
    if (automaton) {
        uint32_t next = automaton_pass(automaton, state.automaton, node);

        if (next == AUTOMATON_DEAD)
            return;
        oracle->too_many |= next > 255;
        state.automaton = (uint8_t)next;
    }
    oracle_add(oracle, &state, true);
}

static inline void oracle_call(struct oracle *oracle, const struct oracle_state *from,
                               uint32_t function, uint32_t view, bool is_handler)
{
    const struct oracle_question *question = oracle->question;
    struct oracle_state state = *from;
    struct automaton *automaton = question->automaton;
    uint32_t symbol = 0, node = from->frames[from->depth - 1].node;

    if (!question->flow->functions[function].node_count)
        return;
    if (state.depth == ORACLE_DEPTH) {
        oracle->is_cut = true;
        return;
    }
    if (automaton) {
        uint32_t next = automaton->call(automaton, state.automaton, node, function, &symbol);

        if (next == AUTOMATON_DEAD)
            return;
        oracle->too_many |= next > 255 || symbol > 255;
        state.automaton = (uint8_t)next;
    }
    state.frames[state.depth++] = (struct oracle_frame){.function = (uint8_t)function,
                                                        .view = (uint8_t)view,
                                                        .is_handler = is_handler,
                                                        .steps = 1,
                                                        .symbol = (uint8_t)symbol};
    oracle_reach(oracle, state, question->flow->functions[function].entry, true);
}

static inline void oracle_go(struct oracle *oracle, const struct oracle_state *from, uint32_t how)
{
    uint32_t node = from->frames[from->depth - 1].node;
    struct flow_edges next = flow_edges(oracle->question->flow, node);

    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].flags & how)
            oracle_reach(oracle, *from, next.data[k].target, false);
}

// The top frame, a completed call, is gone. False: the automaton does not let it.
static inline bool oracle_pop(struct oracle *oracle, struct oracle_state *state)
{
    struct automaton *automaton = oracle->question->automaton;
    struct oracle_frame gone = state->frames[--state->depth];

    memset(&state->frames[state->depth], 0, sizeof(gone));
    if (!automaton)
        return true;
    uint32_t next = automaton->leave(automaton, state->automaton, gone.symbol,
                                     state->frames[state->depth - 1].node, gone.function);
    if (next == AUTOMATON_DEAD)
        return false;
    oracle->too_many |= next > 255;
    state->automaton = (uint8_t)next;
    return true;
}

static inline void oracle_return(struct oracle *oracle, const struct oracle_state *from)
{
    struct oracle_state state = *from;
    bool is_handler = from->frames[from->depth - 1].is_handler;

    if (!oracle_pop(oracle, &state))
        return;
    if (is_handler)
        oracle_add(oracle, &state, false);
    else
        oracle_go(oracle, &state, FLOW_BEHIND);
}

static inline void oracle_jump(struct oracle *oracle, const struct oracle_state *from)
{
    struct oracle_state state = *from;

    if (!oracle_pop(oracle, &state))
        return;
    state.frames[state.depth - 1].is_jumped = 1;
    oracle_add(oracle, &state, false);
}

static inline bool oracle_calls(const struct flow *flow, uint32_t node, uint32_t function)
{
    struct flow_callees callees = flow_callees(flow, node);

    for (uint32_t i = 0; i < callees.count; i++)
        if (callees.data[i] == function)
            return true;
    return false;
}

// ---- Pending activations

static inline bool oracle_stands(const struct oracle_question *question,
                                 const struct oracle_frame *frame)
{
    const struct oracle_view *view = &question->views[frame->view];

    return oracle_in(view->at, frame->node) &&
           frame->visited == (1u << __builtin_popcountll(view->ran)) - 1 &&
           (!view->step_count || frame->steps & 0x80 || frame->steps >> view->step_count & 1);
}

// Any pending call from the top frame into a gap.
static inline void oracle_enter_gap(struct oracle *oracle, const struct oracle_state *state,
                                    uint32_t view, bool calls_too)
{
    const struct flow *flow = oracle->question->flow;
    const struct oracle_frame *top = &state->frames[state->depth - 1];
    struct flow_callees callees = flow_callees(flow, top->node);

    for (uint32_t i = 0; calls_too && i < callees.count; i++)
        oracle_call(oracle, state, callees.data[i], view, false);
    if (flow->signals != FLOW_NONE && top->function != flow->any_start)
        oracle_call(oracle, state, flow->signals, view, true);
}

static inline void oracle_pend(struct oracle *oracle, const struct oracle_state *state)
{
    const struct oracle_question *question = oracle->question;
    const struct flow *flow = question->flow;
    const struct oracle_frame *top = &state->frames[state->depth - 1];
    const struct oracle_view *view = &question->views[top->view];
    uint32_t next = top->view + 1u;
    bool is_open = !oracle_in(question->closed, top->node);

    if (view->is_gap)
        oracle_enter_gap(oracle, state, top->view, is_open);
    else if (!oracle_stands(question, top))
        return;
    if (next == question->view_count)
        return;
    if (!view->is_gap && question->views[next].is_gap) {
        oracle_enter_gap(oracle, state, next, true);
        if (++next == question->view_count)
            return;
        if (!oracle_calls(flow, top->node, question->views[next].function) &&
            question->views[next].function != flow->signals)
            return;
    } else if (view->is_gap &&
               !(is_open && oracle_calls(flow, top->node, question->views[next].function)) &&
               question->views[next].function != flow->signals)
        return;
    oracle_call(oracle, state, question->views[next].function, next, false);
}

static inline void oracle_end(struct oracle *oracle, const struct oracle_state *state,
                              uint32_t stack, uint32_t length)
{
    struct automaton *automaton = oracle->question->automaton;
    int64_t *shortest = &oracle->shortest[stack][state->touched];

    if (automaton && !automaton->accepts(automaton, state->automaton))
        return;
    if (*shortest == ORACLE_FAR)
        *shortest = length;
}

static inline bool oracle_is_stack(const struct oracle_stack *stack,
                                   const struct oracle_state *state)
{
    if (stack->count != state->depth)
        return false;
    for (uint32_t i = 0; i < stack->count; i++)
        if (stack->nodes[i] != state->frames[i].node)
            return false;
    return true;
}

static inline void oracle_look_for_end(struct oracle *oracle, const struct oracle_state *state,
                                       uint32_t length)
{
    const struct oracle_question *question = oracle->question;
    const struct oracle_frame *top = &state->frames[state->depth - 1];

    if (top->is_jumped)
        return;
    if (!question->view_count && !question->stack_count && oracle_in(question->ends, top->node))
        oracle_end(oracle, state, 0, length);
    for (uint32_t i = 0; !question->view_count && i < question->stack_count; i++)
        if (oracle_is_stack(&question->stacks[i], state))
            oracle_end(oracle, state, i, length);
    if (!question->view_count || top->view == ORACLE_NO_VIEW)
        return;
    const struct oracle_view *view = &question->views[top->view];
    bool is_last = top->view + 1u == question->view_count;
    bool gap_last = top->view + 2u == question->view_count && question->views[top->view + 1].is_gap;
    if ((is_last && (view->is_gap || oracle_stands(question, top))) ||
        (gap_last && !view->is_gap && oracle_stands(question, top)))
        oracle_end(oracle, state, 0, length);
}

// ---- All that can follow

static inline void oracle_follow(struct oracle *oracle, const struct oracle_state *state)
{
    const struct oracle_question *question = oracle->question;
    const struct flow *flow = question->flow;
    const struct oracle_frame *top = &state->frames[state->depth - 1];
    bool is_completed = top->view == ORACLE_NO_VIEW && state->depth > 1;
    bool is_open = !oracle_in(question->closed, top->node);
    struct flow_callees callees = flow_callees(flow, top->node);

    if (top->is_jumped) {
        if (is_open)
            oracle_go(oracle, state, FLOW_LANDS);
        if (is_completed)
            oracle_jump(oracle, state);
        return;
    }
    if (question->view_count && top->view != ORACLE_NO_VIEW)
        oracle_pend(oracle, state);
    if (flow->signals != FLOW_NONE)
        oracle_call(oracle, state, flow->signals, ORACLE_NO_VIEW, true);
    if (!is_open ||
        (top->view != ORACLE_NO_VIEW && oracle_in(question->views[top->view].closed, top->node)))
        return;
    oracle_go(oracle, state, FLOW_PAST);
    for (uint32_t i = 0; i < callees.count; i++)
        oracle_call(oracle, state, callees.data[i], ORACLE_NO_VIEW, false);
    if (is_completed && flow->node_flags[top->node] & FLOW_RETURNS)
        oracle_return(oracle, state);
    if (is_completed && flow->node_flags[top->node] & FLOW_JUMPS)
        oracle_jump(oracle, state);
}

ORACLE_FUNCTION void oracle_begin(struct oracle *oracle, const struct oracle_question *question)
{
    *oracle = (struct oracle){.question = question};
    for (uint32_t s = 0; s < ORACLE_STACKS; s++)
        for (uint32_t t = 0; t < 1 << ORACLE_CRITICAL; t++)
            oracle->shortest[s][t] = ORACLE_FAR;
}

// The state before anything is reached.
static inline void oracle_start(struct oracle *oracle)
{
    const struct oracle_question *question = oracle->question;
    uint32_t function = question->view_count ? question->views[0].function : question->start;
    struct oracle_state state;

    memset(&state, 0, sizeof(state));
    state.depth = 1;
    state.frames[0] = (struct oracle_frame){
        .function = (uint8_t)function,
        .view = question->view_count ? 0 : ORACLE_NO_VIEW,
        .steps = 1,
    };
    if (question->automaton) {
        if (question->automaton->initial == AUTOMATON_DEAD)
            return;
        oracle->too_many |= question->automaton->initial > 255;
        state.automaton = (uint8_t)question->automaton->initial;
    }
    oracle_reach(oracle, state, question->flow->functions[function].entry, true);
}

ORACLE_FUNCTION void oracle_run(struct oracle *oracle, const struct oracle_question *question)
{
    oracle_begin(oracle, question);
    oracle_start(oracle);
    for (uint32_t length = 1; oracle->next_count && !oracle->too_many; length++) {
        uint32_t *now = oracle->next_level;

        oracle->next_level = oracle->level;
        oracle->level = now;
        oracle->level_count = oracle->next_count;
        oracle->next_count = 0;
        for (uint32_t i = 0; i < oracle->level_count; i++) {
            struct oracle_state state = oracle->states[oracle->level[i]];

            oracle_look_for_end(oracle, &state, length);
            oracle_follow(oracle, &state);
        }
    }
}

ORACLE_FUNCTION void oracle_deinit(struct oracle *oracle)
{
    free(oracle->states);
    free(oracle->table);
    free(oracle->level);
    free(oracle->next_level);
}

// ---- Is it a run, and what is it worth?

struct oracle_answer {
    uint32_t touched, length, depth; // depth: of the stack, at most
};

struct oracle_activation {
    uint32_t function, own[256], count; // own: nodes that it has reached itself
    bool called, jumped, is_handler;    // control is behind a call
    uint32_t symbol;
};

static inline bool oracle_fits(const struct oracle_view *view,
                               const struct oracle_activation *frame)
{
    uint64_t seen = 0;
    bool found = !view->step_count;

    if (frame->function != view->function || !oracle_in(view->at, frame->own[frame->count - 1]))
        return false;
    for (uint32_t i = 0; i < frame->count; i++) {
        seen |= UINT64_C(1) << frame->own[i];
        if (i + 1 < frame->count && oracle_in(view->closed, frame->own[i]))
            return false;
    }
    for (uint32_t from = 0; view->step_count && from + view->step_count <= frame->count; from++) {
        bool here = (!view->from_entry || from == 0) &&
                    (!view->to_end || from + view->step_count == frame->count);

        for (uint32_t i = 0; here && i < view->step_count; i++)
            here = frame->own[from + i] == view->steps[i];
        found |= here;
    }
    return found && !(view->ran & ~seen);
}

// Frames from `f` on against views from `v` on.
static inline bool oracle_matches(const struct oracle_question *question,
                                  const struct oracle_activation *frames, uint32_t count,
                                  uint32_t f, uint32_t v)
{
    if (v == question->view_count)
        return f == count;
    if (question->views[v].is_gap)
        return oracle_matches(question, frames, count, f, v + 1) ||
               (f < count && oracle_matches(question, frames, count, f + 1, v));
    return f < count && oracle_fits(&question->views[v], &frames[f]) &&
           oracle_matches(question, frames, count, f + 1, v + 1);
}

static inline const char *oracle_replay_step(const struct oracle_question *question,
                                             struct oracle_activation *top, uint32_t node)
{
    uint32_t from = top->count ? top->own[top->count - 1] : 0;
    uint32_t how = top->jumped ? FLOW_LANDS : top->called ? FLOW_BEHIND : FLOW_PAST;
    struct flow_edges next = flow_edges(question->flow, from);
    bool found = false;

    if (oracle_in(question->absent, node))
        return "a node is reached that may not be";
    if (!top->count)
        found = question->flow->functions[top->function].entry == node;
    for (uint32_t k = 0; top->count && k < next.count; k++)
        found |= next.data[k].target == node && next.data[k].flags & how;
    if (!found)
        return "a step is no edge";
    if (top->count && oracle_in(question->closed, from))
        return "a closed node is passed";
    if (top->count == 256)
        return "too long";
    top->own[top->count++] = node;
    top->called = top->jumped = false;
    return NULL;
}

static inline const char *oracle_replay_leave(const struct oracle_question *question,
                                              struct oracle_activation *frames, uint32_t *depth,
                                              const struct run_event *event)
{
    if (*depth < 2)
        return "more is left than was called";
    struct oracle_activation *inner = &frames[--*depth], *outer = inner - 1;
    uint32_t last = inner->own[inner->count - 1];
    uint32_t flags = question->flow->node_flags[last];
    bool is_open = !oracle_in(question->closed, last);
    if (inner->function != event->function || outer->own[outer->count - 1] != event->node)
        return "what is left was not called there";
    if (!inner->called && !inner->jumped && is_open && flags & FLOW_RETURNS)
        outer->called = !inner->is_handler;
    else if (inner->jumped || (is_open && !inner->called && flags & FLOW_JUMPS))
        outer->jumped = true;
    else
        return "a function is left where it does not end";
    return NULL;
}

static inline bool oracle_replay_ends(const struct oracle_question *question,
                                      const struct oracle_activation *frames, uint32_t depth,
                                      uint32_t stack)
{
    if (!depth || frames[depth - 1].called || frames[depth - 1].jumped)
        return false;
    if (question->view_count)
        return oracle_matches(question, frames, depth, 0, 0);
    if (!question->stack_count)
        return oracle_in(question->ends, frames[depth - 1].own[frames[depth - 1].count - 1]);
    if (question->stacks[stack].count != depth)
        return false;
    for (uint32_t i = 0; i < depth; i++)
        if (frames[i].own[frames[i].count - 1] != question->stacks[stack].nodes[i])
            return false;
    return true;
}

// NULL: it is a run, and ends as it should.
ORACLE_FUNCTION const char *oracle_replay(const struct oracle_question *question,
                                          const struct run *run, uint32_t stack,
                                          struct oracle_answer *answer)
{
    static struct oracle_activation frames[64];
    struct automaton *automaton = question->automaton;
    uint32_t depth = 0, has = 0, state = automaton ? automaton->initial : 0;
    const struct flow *flow = question->flow;
    const char *wrong = NULL;

    *answer = (struct oracle_answer){0};
    for (uint32_t i = 0; i < run->count && !wrong; i++) {
        const struct run_event *event = &run->events[i];

        if (event->letter == RUN_STEP) {
            if (!depth)
                frames[depth++] = (struct oracle_activation){
                    .function =
                        question->view_count ? question->views[0].function : question->start};
            wrong = oracle_replay_step(question, &frames[depth - 1], event->node);
            answer->length++;
            for (uint32_t o = 0; o < question->order_count; o++) {
                has |= (uint32_t)(question->before[o] == event->node) << o;
                if (question->after[o] == event->node && !(has >> o & 1))
                    wrong = "an order is not kept";
            }
            for (uint32_t c = 0; c < question->critical_count; c++)
                answer->touched |= (uint32_t)(question->critical[c] == event->node) << c;
            if (automaton)
                state = automaton_pass(automaton, state, event->node);
        } else if (event->letter == RUN_CALL) {
            struct oracle_activation *top = &frames[depth - 1];
            bool is_handler = event->function == flow->signals;

            if (!depth || depth == 64 || top->own[top->count - 1] != event->node || top->called ||
                top->jumped || (!is_handler && !oracle_calls(flow, event->node, event->function)))
                return "a call is made where it cannot be";
            if (automaton)
                state = automaton->call(automaton, state, event->node, event->function,
                                        &frames[depth].symbol);
            uint32_t symbol = frames[depth].symbol;
            frames[depth++] = (struct oracle_activation){
                .function = event->function, .is_handler = is_handler, .symbol = symbol};
        } else {
            uint32_t symbol = frames[depth - 1].symbol;

            wrong = oracle_replay_leave(question, frames, &depth, event);
            if (automaton)
                state = automaton->leave(automaton, state, symbol, event->node, event->function);
        }
        answer->depth = depth > answer->depth ? depth : answer->depth;
        if (automaton && state == AUTOMATON_DEAD)
            wrong = "the automaton does not take it";
    }
    if (!wrong && automaton && !automaton->accepts(automaton, state))
        wrong = "the automaton does not accept it";
    if (!wrong && !oracle_replay_ends(question, frames, depth, stack))
        wrong = "it does not end as it should";
    return wrong;
}

#endif

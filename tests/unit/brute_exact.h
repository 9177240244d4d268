// SPDX-License-Identifier: Apache-2.0
/*
 * All runs of one thread that end with given pending activations, as the sets of nodes that they
 * have visited (definition 5 of paper 000).
 *
 *     chain_init(&machine, &report.threads[0], &chain);
 *     thread_runs(&calls, &chain, &runs); // (visited, traces)
 *
 * The state of a run is where it stands, the set of nodes it has visited, and how far each trace
 * has been seen. Completed calls are walked once for every state that they are entered in, until
 * nothing new is found (so recursion has no bound); a pending activation also has the set of nodes
 * that it has visited itself and how much of its recorded steps fits. Sets of visited nodes are
 * kept apart, never joined: this is enumeration, and exponential.
 */
#ifndef TESTS_UNIT_BRUTE_EXACT_H
#define TESTS_UNIT_BRUTE_EXACT_H

#include "brute_machine.h"

// ---- Completed calls

enum ending {
    ENDING_RETURN,
    ENDING_JUMP,
};

// Contexts are (function, visited, traces) at entry. Lists are by context.
struct calls {
    const struct machine *machine;
    struct brute_set contexts;
    struct brute_set states;  // context, node, visited, traces
    struct brute_set callers; // context, calling context, node, interrupted there
    struct brute_set endings; // context, ending, visited, traces
    uint32_t *first_caller, *next_caller, *first_ending, *next_ending;
    uint32_t room, caller_room, ending_room;
    uint32_t done; // states that have been looked at
    bool too_many;
};

static inline void calls_deinit(struct calls *calls)
{
    brute_set_deinit(&calls->contexts);
    brute_set_deinit(&calls->states);
    brute_set_deinit(&calls->callers);
    brute_set_deinit(&calls->endings);
    free(calls->first_caller);
    free(calls->next_caller);
    free(calls->first_ending);
    free(calls->next_ending);
}

static inline void calls_come(struct calls *calls, uint32_t context, uint32_t node,
                              uint32_t visited, uint32_t traces, bool again)
{
    bool is_new;

    if (!again && !machine_visit(calls->machine, node, &visited, &traces))
        return;
    brute_set_add(&calls->states, (struct brute_key){{context, node, visited, traces, 0, 0}},
                  &is_new);
}

static inline uint32_t calls_context(struct calls *calls, uint32_t function, uint32_t visited,
                                     uint32_t traces)
{
    bool is_new;
    uint32_t context = brute_set_add(
        &calls->contexts, (struct brute_key){{function, visited, traces, 0, 0, 0}}, &is_new);

    if (!is_new)
        return context;
    if (context >= calls->room) {
        calls->room = context * 2 + 16;
        calls->first_caller = xrealloc(calls->first_caller, calls->room * sizeof(uint32_t));
        calls->first_ending = xrealloc(calls->first_ending, calls->room * sizeof(uint32_t));
    }
    calls->first_caller[context] = calls->first_ending[context] = UINT32_MAX;
    calls_come(calls, context, calls->machine->entry[function], visited, traces, false);
    return context;
}

static inline void calls_end(struct calls *calls, uint32_t context, enum ending ending,
                             uint32_t visited, uint32_t traces);

// Goes on in a caller, whose call has ended.
static inline void calls_go_on(struct calls *calls, const struct brute_key *caller,
                               const struct brute_key *ending)
{
    uint32_t context = caller->w[1], n = caller->w[2], visited = ending->w[2],
             traces = ending->w[3];
    const struct machine_node *node = &calls->machine->nodes[n];

    if (ending->w[1] == ENDING_JUMP) {
        for (uint32_t k = 0; k < node->land_count; k++)
            calls_come(calls, context, node->lands[k], visited, traces, false);
        calls_end(calls, context, ENDING_JUMP, visited, traces);
    } else if (caller->w[3])
        calls_come(calls, context, n, visited, traces, true);
    else
        for (uint32_t k = 0; k < node->next_count; k++)
            calls_come(calls, context, node->next[k], visited, traces, false);
}

static inline void calls_end(struct calls *calls, uint32_t context, enum ending ending,
                             uint32_t visited, uint32_t traces)
{
    struct brute_key key = {{context, ending, visited, traces, 0, 0}};
    bool is_new;
    uint32_t e = brute_set_add(&calls->endings, key, &is_new);

    if (!is_new)
        return;
    if (e >= calls->ending_room) {
        calls->ending_room = e * 2 + 16;
        calls->next_ending = xrealloc(calls->next_ending, calls->ending_room * sizeof(uint32_t));
    }
    calls->next_ending[e] = calls->first_ending[context];
    calls->first_ending[context] = e;
    for (uint32_t c = calls->first_caller[context]; c != UINT32_MAX; c = calls->next_caller[c]) {
        struct brute_key caller = calls->callers.data[c];

        calls_go_on(calls, &caller, &key);
    }
}

static inline void calls_call(struct calls *calls, const struct brute_key *state, uint32_t function,
                              bool interrupted)
{
    uint32_t context = calls_context(calls, function, state->w[2], state->w[3]);
    struct brute_key caller = {{context, state->w[0], state->w[1], interrupted, 0, 0}};
    bool is_new;
    uint32_t c = brute_set_add(&calls->callers, caller, &is_new);

    if (!is_new)
        return;
    if (c >= calls->caller_room) {
        calls->caller_room = c * 2 + 16;
        calls->next_caller = xrealloc(calls->next_caller, calls->caller_room * sizeof(uint32_t));
    }
    calls->next_caller[c] = calls->first_caller[context];
    calls->first_caller[context] = c;
    for (uint32_t e = calls->first_ending[context]; e != UINT32_MAX; e = calls->next_ending[e]) {
        struct brute_key ending = calls->endings.data[e];

        calls_go_on(calls, &caller, &ending);
    }
}

static inline void calls_look_at(struct calls *calls, const struct brute_key *state)
{
    const struct machine_node *node = &calls->machine->nodes[state->w[1]];
    uint32_t visited = state->w[2], traces = state->w[3];

    if (node->interrupted)
        calls_call(calls, state, calls->machine->signals, true);
    if (node->closed)
        return;
    for (uint32_t k = 0; node->past && k < node->next_count; k++)
        calls_come(calls, state->w[0], node->next[k], visited, traces, false);
    for (uint32_t k = 0; node->jumps && k < node->land_count; k++)
        calls_come(calls, state->w[0], node->lands[k], visited, traces, false);
    if (node->jumps)
        calls_end(calls, state->w[0], ENDING_JUMP, visited, traces);
    if (node->returns)
        calls_end(calls, state->w[0], ENDING_RETURN, visited, traces);
    for (uint32_t f = 0; f < calls->machine->function_count; f++)
        if (node->callees >> f & 1)
            calls_call(calls, state, f, false);
}

// All ways that a call can end. The context's list of endings is complete then.
static inline uint32_t calls_complete(struct calls *calls, uint32_t function, uint32_t visited,
                                      uint32_t traces)
{
    uint32_t context = calls_context(calls, function, visited, traces);

    while (calls->done < calls->states.count && !calls->too_many) {
        struct brute_key state = calls->states.data[calls->done++];

        calls_look_at(calls, &state);
        calls->too_many = calls->states.count > BRUTE_STATES;
    }
    return context;
}

// ---- Pending activations

struct pending {
    uint32_t function;
    bool gap;    // none: any chain of pending calls
    uint64_t at; // nodes of the machine
    uint32_t closed, must;
    const uint8_t *steps;
    uint32_t step_count;
    bool from_entry, to_end;
    bool called; // stands in a call that has been made
};

// How many steps have been taken, by bit; bit 0: none yet, and they may begin later.
static inline uint32_t steps_pass(const struct pending *pending, uint32_t state, uint32_t node)
{
    uint32_t next = 0;

    if (!pending->step_count)
        return 0;
    for (uint32_t s = 0; s < pending->step_count; s++)
        if (state >> s & 1 && pending->steps[s] == node)
            next |= 2u << s;
    if (!pending->from_entry)
        next |= 1;
    if (!pending->to_end)
        next |= state & 1u << pending->step_count;
    return next;
}

struct stack_walk {
    struct calls *calls;
    struct brute_set states; // node, visited, traces, visited here, steps
    const struct pending *pending;
};

static inline void pending_come(struct stack_walk *walk, uint32_t node,
                                const struct brute_key *from, uint32_t visited, uint32_t traces,
                                bool again)
{
    const struct machine *machine = walk->calls->machine;
    uint32_t local = from->w[3], steps = from->w[4];
    bool is_new;

    if (!again) {
        if (!machine_visit(machine, node, &visited, &traces))
            return;
        if (node < machine->program->node_count)
            local |= walk->pending->must & 1u << node;
        steps = steps_pass(walk->pending, steps, node);
        if (walk->pending->step_count && !steps)
            return;
    }
    brute_set_add(&walk->states, (struct brute_key){{node, visited, traces, local, steps, 0}},
                  &is_new);
}

// Calls that are completed.
static inline void pending_call(struct stack_walk *walk, const struct brute_key *state,
                                uint32_t function, bool interrupted)
{
    struct calls *calls = walk->calls;
    const struct machine_node *node = &calls->machine->nodes[state->w[0]];
    uint32_t context = calls_complete(calls, function, state->w[1], state->w[2]);

    for (uint32_t e = calls->first_ending[context]; e != UINT32_MAX; e = calls->next_ending[e]) {
        struct brute_key ending = calls->endings.data[e];
        uint32_t visited = ending.w[2], traces = ending.w[3];

        if (ending.w[1] == ENDING_JUMP) {
            for (uint32_t k = 0; k < node->land_count; k++)
                pending_come(walk, node->lands[k], state, visited, traces, false);
        } else if (interrupted)
            pending_come(walk, state->w[0], state, visited, traces, true);
        else
            for (uint32_t k = 0; k < node->next_count; k++)
                pending_come(walk, node->next[k], state, visited, traces, false);
    }
}

static inline bool pending_is_closed(const struct stack_walk *walk, uint32_t node)
{
    return walk->calls->machine->nodes[node].closed ||
           (node < walk->calls->machine->program->node_count && walk->pending->closed >> node & 1);
}

static inline void pending_look_at(struct stack_walk *walk, const struct brute_key *state)
{
    const struct machine *machine = walk->calls->machine;
    const struct machine_node *node = &machine->nodes[state->w[0]];

    if (node->interrupted)
        pending_call(walk, state, machine->signals, true);
    if (pending_is_closed(walk, state->w[0]))
        return;
    for (uint32_t k = 0; node->past && k < node->next_count; k++)
        pending_come(walk, node->next[k], state, state->w[1], state->w[2], false);
    for (uint32_t k = 0; node->jumps && k < node->land_count; k++)
        pending_come(walk, node->lands[k], state, state->w[1], state->w[2], false);
    for (uint32_t f = 0; f < machine->function_count; f++)
        if (node->callees >> f & 1)
            pending_call(walk, state, f, false);
}

// A state that has ended up where the evidence says.
static inline bool pending_stands(const struct stack_walk *walk, const struct brute_key *state)
{
    const struct pending *pending = walk->pending;

    return pending->at >> state->w[0] & 1 && !(pending->must & ~state->w[3]) &&
           (!pending->step_count || state->w[4] >> pending->step_count & 1) &&
           !(pending->called && pending_is_closed(walk, state->w[0]) &&
             !(brute_lenience & BRUTE_LENIENT_PENDING));
}

// From `into` (visited, traces) at the entry to where it stands: `ret` (node, visited, traces).
static inline void pending_walk(struct calls *calls, const struct pending *pending,
                                const struct brute_set *into, struct brute_set *ret)
{
    struct stack_walk walk = {.calls = calls, .pending = pending};
    struct brute_key nothing = {{0, 0, 0, 0, 1, 0}};
    bool is_new;

    for (uint32_t i = 0; i < into->count; i++)
        pending_come(&walk, calls->machine->entry[pending->function], &nothing, into->data[i].w[0],
                     into->data[i].w[1], false);
    for (uint32_t i = 0; i < walk.states.count && !calls->too_many; i++) {
        struct brute_key state = walk.states.data[i];

        pending_look_at(&walk, &state);
        if (pending_stands(&walk, &state))
            brute_set_add(ret, (struct brute_key){{state.w[0], state.w[1], state.w[2], 0, 0, 0}},
                          &is_new);
        calls->too_many |= walk.states.count > BRUTE_STATES;
    }
    brute_set_deinit(&walk.states);
}

static inline bool may_enter(const struct machine *machine, const struct pending *pending,
                             uint32_t node, uint32_t function)
{
    bool own = pending && node < machine->program->node_count && pending->closed >> node & 1;

    if (machine->has_signals && function == machine->signals && machine->nodes[node].interrupted)
        return true;
    // a frame that waits for library code may wait for a call that the compiler made
    if (pending && function >= machine->program->function_count)
        return machine->nodes[node].callees >> function & 1;
    if (pending && brute_lenience & BRUTE_LENIENT_PENDING)
        return machine->nodes[node].callees >> function & 1;
    return machine->nodes[node].callees >> function & 1 && !machine->nodes[node].closed && !own;
}

// Any chain of pending calls from where `from` stands: adds all states in them.
static inline void pending_fill_gap(struct calls *calls, const struct pending *pending,
                                    const struct brute_set *from, struct brute_set *ret)
{
    const struct machine *machine = calls->machine;
    struct pending anywhere = {.at = 0};
    struct stack_walk walk = {.calls = calls, .pending = &anywhere};
    struct brute_key nothing = {{0, 0, 0, 0, 0, 0}};
    bool is_new;

    for (uint32_t i = 0; i < from->count; i++)
        for (uint32_t f = 0; f < machine->function_count; f++)
            // what a compiler calls of itself does not call back
            if (may_enter(machine, pending, from->data[i].w[0], f) &&
                !(pending && f >= machine->program->function_count && f != machine->signals &&
                  (machine->nodes[from->data[i].w[0]].closed ||
                   (from->data[i].w[0] < machine->program->node_count &&
                    pending->closed >> from->data[i].w[0] & 1))))
                pending_come(&walk, machine->entry[f], &nothing, from->data[i].w[1],
                             from->data[i].w[2], false);
    for (uint32_t i = 0; i < walk.states.count && !calls->too_many; i++) {
        struct brute_key state = walk.states.data[i];

        pending_look_at(&walk, &state);
        for (uint32_t f = 0; f < machine->function_count; f++)
            if (may_enter(machine, NULL, state.w[0], f))
                pending_come(&walk, machine->entry[f], &nothing, state.w[1], state.w[2], false);
        brute_set_add(ret, (struct brute_key){{state.w[0], state.w[1], state.w[2], 0, 0, 0}},
                      &is_new);
        calls->too_many |= walk.states.count > BRUTE_STATES;
    }
    brute_set_deinit(&walk.states);
}

// ---- A thread's stack

struct chain_of {
    struct pending items[2 * BRUTE_FRAMES + 4];
    uint32_t count;
};

static inline struct pending *chain_add(struct chain_of *chain, uint32_t function, uint32_t node)
{
    struct pending *item = &chain->items[chain->count++];

    *item = (struct pending){.function = function, .at = (uint64_t)1 << node};
    return item;
}

static inline void chain_add_gap(struct chain_of *chain)
{
    if (!chain->items[chain->count - 1].gap)
        chain->items[chain->count++] = (struct pending){.gap = true};
}

static inline void chain_start(const struct machine *machine, const struct brute_thread *thread,
                               struct chain_of *chain)
{
    uint32_t outermost = thread->frame_count ? thread->frames[0].function : 0;

    if (thread->frame_count && thread->whole && outermost == 0)
        chain_add(chain, machine->start, machine->main_call);
    else if (thread->frame_count && thread->whole && machine->program->threads >> outermost & 1 &&
             !(machine->program->early >> outermost & 1))
        chain_add(chain, machine->thread_start, machine->entry[machine->thread_start] + 1u);
    else {
        chain_add(chain, machine->any_start, machine->entry[machine->any_start]);
        chain_add_gap(chain);
    }
}

// Some node where the last activation stands calls the function.
static inline bool chain_calls(const struct machine *machine, const struct chain_of *chain,
                               uint32_t function)
{
    const struct pending *last = &chain->items[chain->count - 1];

    for (uint32_t n = 0; n < machine->node_count; n++)
        if (last->at >> n & 1 && machine->nodes[n].callees >> function & 1)
            return true;
    return false;
}

static inline void chain_foreign(const struct machine *machine, const struct brute_thread *thread,
                                 uint32_t f, struct chain_of *chain)
{
    const struct brute_frame *site = &thread->frames[f - 1];
    uint32_t node = (uint32_t)__builtin_ctz(site->at);
    uint32_t library = machine->library_of[machine->program->nodes[node].callbacks];
    uint32_t hub = machine->entry[library];

    if (library)
        chain_add(chain, library, f + 1 == thread->frame_count ? hub : hub + 1);
    else
        chain->items[chain->count - 1].called = true;
}

static inline void chain_frame(const struct machine *machine, const struct brute_frame *frame,
                               struct chain_of *chain)
{
    struct pending *item = chain_add(chain, frame->function, 0);

    item->at = frame->at;
    item->closed = frame->calls_never;
    item->must = frame->calls;
    item->steps = frame->steps;
    item->step_count = frame->step_count;
    item->from_entry =
        frame->step_count && frame->steps[0] == machine->program->first[frame->function];
    item->to_end = frame->to_end;
}

static inline void chain_init(const struct machine *machine, const struct brute_thread *thread,
                              struct chain_of *chain)
{
    chain->count = 0;
    chain_start(machine, thread, chain);
    for (uint32_t f = 0; f < thread->frame_count; f++) {
        const struct brute_frame *frame = &thread->frames[f];

        if (frame->kind == BRUTE_FRAME_SIGNAL) {
            chain_add(chain, machine->signals, machine->entry[machine->signals] + 1u);
            continue;
        }
        if (frame->kind == BRUTE_FRAME_FOREIGN) {
            chain_foreign(machine, thread, f, chain);
            continue;
        }
        if (frame->gap || (f > 0 && !chain_calls(machine, chain, frame->function)))
            chain_add_gap(chain);
        chain_frame(machine, frame, chain);
    }
    if (!thread->frame_count)
        chain_add_gap(chain);
}

// ---- All runs of a thread: the sets of nodes that they have visited

// `ret`: (visited, traces).
static inline void thread_runs(struct calls *calls, const struct chain_of *chain,
                               struct brute_set *ret)
{
    const struct machine *machine = calls->machine;
    struct brute_set into = {0}, stands = {0};
    bool is_new;

    brute_set_add(&into, (struct brute_key){{0, trace_begin(machine), 0, 0, 0, 0}}, &is_new);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct pending *item = &chain->items[i];
        bool last = i + 1 == chain->count;

        if (item->gap)
            pending_fill_gap(calls, &chain->items[i - 1], &stands, &stands);
        else {
            brute_set_deinit(&stands);
            pending_walk(calls, item, &into, &stands);
        }
        brute_set_deinit(&into);
        for (uint32_t s = 0; s < stands.count; s++) {
            const struct brute_key *state = &stands.data[s];
            struct brute_key key = {{state->w[1], state->w[2], 0, 0, 0, 0}};

            if (last)
                brute_set_add(ret, key, &is_new);
            else if (!chain->items[i + 1].gap &&
                     may_enter(machine, item->gap ? NULL : item, state->w[0],
                               chain->items[i + 1].function))
                brute_set_add(&into, key, &is_new);
        }
    }
    brute_set_deinit(&into);
    brute_set_deinit(&stands);
}

#endif

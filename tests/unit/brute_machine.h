// SPDX-License-Identifier: Apache-2.0
/*
 * A small program as a machine that walks it: what docs/formats/model.md says, in this test's own
 * words. Nothing here is taken from src/solve.
 *
 *     struct machine machine;
 *     machine_init(&machine, &program, &report);
 *
 * Besides the program's functions there are some that stand for other code: what calls main, what
 * starts threads, the kernel that calls signal handlers, libraries that call back.
 */
#ifndef TESTS_UNIT_BRUTE_MACHINE_H
#define TESTS_UNIT_BRUTE_MACHINE_H

#include <assert.h>
#include <stdlib.h>

#include "brute_report.h"
#include "common/alloc.h"

// Where the solvers were found to differ from what the documents say; 0 takes the documents' word.
enum brute_lenience {
    // Signal handlers are called at nodes without a call only, and come back behind the node.
    BRUTE_LENIENT_SIGNALS = 1u << 0,
    // A call may be pending that was never made.
    BRUTE_LENIENT_PENDING = 1u << 1,
    // Threads that are gone have returned from their first function.
    BRUTE_LENIENT_GONE = 1u << 2,
};
static unsigned brute_lenience;

// More states than this, and the program is left out.
#define BRUTE_STATES 300000

// ---- Sets of small tuples, which keep the order they were filled in

struct brute_key {
    uint32_t w[6];
};

struct brute_set {
    struct brute_key *data;
    uint32_t count, capacity;
    uint32_t *slots; // index + 1
    uint32_t slot_count;
};

static inline uint32_t brute_set_slot(const struct brute_set *set, const struct brute_key *key)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < 6; i++)
        hash = (hash ^ key->w[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    uint32_t slot = (uint32_t)hash & (set->slot_count - 1);
    while (set->slots[slot] && memcmp(&set->data[set->slots[slot] - 1], key, sizeof(*key)) != 0)
        slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

static inline void brute_set_grow(struct brute_set *set)
{
    set->slot_count = set->slot_count ? set->slot_count * 2 : 64;
    set->capacity = set->slot_count / 2;
    set->data = xrealloc(set->data, set->capacity * sizeof(*set->data));
    free(set->slots);
    set->slots = xcalloc(set->slot_count, sizeof(*set->slots));
    for (uint32_t i = 0; i < set->count; i++)
        set->slots[brute_set_slot(set, &set->data[i])] = i + 1;
}

// The key's index; *is_new tells.
static inline uint32_t brute_set_add(struct brute_set *set, struct brute_key key, bool *is_new)
{
    if (set->count == set->capacity)
        brute_set_grow(set);
    uint32_t slot = brute_set_slot(set, &key);
    *is_new = !set->slots[slot];
    if (*is_new) {
        set->data[set->count++] = key;
        set->slots[slot] = set->count;
    }
    return set->slots[slot] - 1;
}

static inline void brute_set_deinit(struct brute_set *set)
{
    free(set->data);
    free(set->slots);
    *set = (struct brute_set){0};
}

// ---- The machine: the program's functions, and some that stand for other code

#define MACHINE_NODES     64
#define MACHINE_FUNCTIONS 32

struct machine_node {
    uint8_t function;
    uint8_t next[3], next_count;
    uint8_t lands[3 * BRUTE_NODES], land_count; // where a jump out of its call comes out
    uint32_t callees;                           // functions, by bit
    bool past;                                  // goes on without a call
    bool returns, jumps, exits;
    bool interrupted; // a signal handler may be called here, and comes back here
    bool closed;      // never passed
};

struct machine {
    const struct brute_program *program;
    struct machine_node nodes[MACHINE_NODES];
    uint32_t node_count;
    uint8_t entry[MACHINE_FUNCTIONS];
    uint32_t function_count;
    uint32_t start, main_call, thread_start, any_start, signals; // functions, but main_call
    bool has_signals;
    uint8_t library_of[256]; // by set of callbacks; 0: none
    uint32_t absent;         // nodes that are never visited
    struct brute_observation traces[2];
    uint32_t trace_count;
};

static inline uint32_t machine_add_node(struct machine *machine, uint32_t function)
{
    assert(machine->node_count < MACHINE_NODES);
    machine->nodes[machine->node_count] = (struct machine_node){.function = (uint8_t)function};
    return machine->node_count++;
}

static inline void machine_add_edge(struct machine *machine, uint32_t from, uint32_t to)
{
    struct machine_node *node = &machine->nodes[from];

    node->next[node->next_count++] = (uint8_t)to;
}

// A place that calls any of the functions, any number of times. Other code may catch a jump.
static inline uint32_t machine_add_hub(struct machine *machine, uint32_t function, uint32_t callees)
{
    uint32_t hub = machine_add_node(machine, function), call;

    machine->nodes[hub].past = true;
    if (!callees)
        return hub;
    call = machine_add_node(machine, function);
    machine->nodes[call].callees = callees;
    machine_add_edge(machine, hub, call);
    machine_add_edge(machine, call, hub);
    machine->nodes[call].lands[machine->nodes[call].land_count++] = (uint8_t)hub;
    return hub;
}

static inline uint32_t machine_add_function(struct machine *machine)
{
    assert(machine->function_count < MACHINE_FUNCTIONS);
    machine->entry[machine->function_count] = (uint8_t)machine->node_count;
    return machine->function_count++;
}

static inline void machine_add_others(struct machine *machine)
{
    const struct brute_program *program = machine->program;
    uint32_t hub, last;

    machine->start = machine_add_function(machine);
    hub = machine_add_hub(machine, machine->start, program->early);
    machine->main_call = machine_add_node(machine, machine->start);
    machine->nodes[machine->main_call].callees = 1;
    machine_add_edge(machine, hub, machine->main_call);
    last = machine_add_hub(machine, machine->start, program->early);
    machine_add_edge(machine, machine->main_call, last);
    machine->nodes[machine->main_call].lands[0] = (uint8_t)last;
    machine->nodes[machine->main_call].land_count = 1;
    machine->nodes[last].returns = true;

    machine->thread_start = machine_add_function(machine);
    hub = machine_add_hub(machine, machine->thread_start, program->threads | program->early);
    machine->nodes[hub].returns = true;

    machine->any_start = machine_add_function(machine);
    machine->nodes[machine_add_node(machine, machine->any_start)].callees =
        1u << machine->start | 1u << machine->thread_start;

    machine->has_signals = program->handlers != 0;
    if (machine->has_signals) {
        machine->signals = machine_add_function(machine);
        machine->nodes[machine_add_hub(machine, machine->signals, program->handlers)].returns =
            true;
    }
    for (uint32_t n = 0; n < program->node_count; n++) {
        uint32_t set = program->nodes[n].callbacks;

        if (!set || machine->library_of[set])
            continue;
        machine->library_of[set] = (uint8_t)machine_add_function(machine);
        machine->nodes[machine_add_hub(machine, machine->library_of[set], set)].returns = true;
    }
}

static inline void machine_take_nodes(struct machine *machine)
{
    const struct brute_program *program = machine->program;
    bool has_landings = false;

    for (uint32_t f = 0; f < program->function_count; f++)
        has_landings |= brute_returns_twice(program, f);
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct brute_node *from = &program->nodes[n];
        struct machine_node *node = &machine->nodes[n];

        node->function = from->function;
        node->next_count = from->next_count;
        memcpy(node->next, from->next, sizeof(node->next));
        node->callees = from->callees;
        node->past = !from->callees && !from->calls_back;
        node->past |= from->external && !from->calls_back;
        node->returns = from->returns;
        node->exits = from->exits;
        node->interrupted = program->handlers != 0 && !(brute_lenience & BRUTE_LENIENT_SIGNALS);
        node->jumps = has_landings && (from->longjmp || from->may_longjmp);
        for (uint32_t l = program->first[from->function]; l < program->first[from->function + 1];
             l++)
            for (uint32_t k = 0;
                 program->nodes[l].returns_twice && k < program->nodes[l].next_count; k++)
                node->lands[node->land_count++] = program->nodes[l].next[k];
    }
}

static inline void machine_init(struct machine *machine, const struct brute_program *program,
                                const struct brute_report *report)
{
    *machine = (struct machine){.program = program};
    machine->node_count = program->node_count;
    machine->function_count = program->function_count;
    memcpy(machine->entry, program->first, program->function_count);
    machine_take_nodes(machine);
    machine_add_others(machine);
    for (uint32_t n = 0; n < program->node_count; n++) {
        if (program->nodes[n].calls_back)
            machine->nodes[n].callees |= 1u << machine->library_of[program->nodes[n].callbacks];
        if (machine->has_signals && !machine->nodes[n].interrupted && !program->nodes[n].is_call)
            machine->nodes[n].callees |= 1u << machine->signals;
        machine->nodes[n].closed = report->sites_never >> n & 1;
    }
    for (uint32_t i = 0; i < report->observation_count; i++) {
        const struct brute_observation *seen = &report->observations[i];

        if (seen->kind == BRUTE_NOT_ALL && __builtin_popcount(seen->entries[0]) == 1)
            machine->absent |= seen->entries[0];
        if (seen->kind >= BRUTE_UNRELIABLE && machine->trace_count < 2)
            machine->traces[machine->trace_count++] = *seen;
    }
}

// ---- Traces: sets of how many entries have been seen, by bit

#define TRACE_BEFORE (1u << 8) // of a burst: it has not begun, it is over
#define TRACE_AFTER  (1u << 9)

static inline uint32_t trace_pass(const struct brute_observation *trace, uint32_t state,
                                  uint32_t bit)
{
    uint32_t seen = 0, stay = state & 0xff;

    if (trace->kind == BRUTE_BURST && state & TRACE_BEFORE)
        stay |= 1;
    for (uint32_t e = 0; e < trace->entry_count; e++)
        if (stay >> e & 1 && trace->entries[e] & bit)
            seen |= 2u << e;
    if (trace->kind != BRUTE_UNRELIABLE && trace->alphabet & bit)
        stay = 0;
    if (trace->kind == BRUTE_BURST) {
        uint32_t over = state & TRACE_AFTER || state >> trace->entry_count & 1 ||
                        (trace->entry_count == 0 && state & TRACE_BEFORE);

        return seen | stay | (state & TRACE_BEFORE) | (over ? TRACE_AFTER : 0);
    }
    return seen | stay;
}

static inline uint32_t trace_begin(const struct machine *machine)
{
    uint32_t state = 0;

    for (uint32_t t = 0; t < machine->trace_count; t++)
        state |= (machine->traces[t].kind == BRUTE_BURST ? TRACE_BEFORE | 1u : 1u) << 16 * t;
    return state;
}

static inline bool trace_accepts(const struct machine *machine, uint32_t state)
{
    for (uint32_t t = 0; t < machine->trace_count; t++) {
        uint32_t own = state >> 16 * t & 0xffff;

        if (!(own >> machine->traces[t].entry_count & 1) && !(own & TRACE_AFTER))
            return false;
    }
    return true;
}

// What is common to all states: control comes to `node`. False: it does not.
static inline bool machine_visit(const struct machine *machine, uint32_t node, uint32_t *visited,
                                 uint32_t *traces)
{
    uint32_t bit = node < machine->program->node_count ? 1u << node : 0, state = 0;

    if (machine->absent & bit)
        return false;
    *visited |= bit;
    if (!bit)
        return true;
    for (uint32_t t = 0; t < machine->trace_count; t++) {
        uint32_t own = trace_pass(&machine->traces[t], *traces >> 16 * t & 0xffff, bit);

        if (!own)
            return false;
        state |= own << 16 * t;
    }
    *traces = state;
    return true;
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * What every run that fits a report has visited, found by walking all of them.
 *
 *     struct brute_answer answer;
 *     brute_answer_exact(&program, &report, &answer);      // definition 5 of paper 000
 *     brute_answer_flat(&program, &report, weak, &answer); // definition 6
 *     if (answer.known && answer.possible) ... answer.may, answer.must ...
 *
 * In a program with threads a run is one run of each of them, and of any number that are gone, the
 * first too unless a whole stack is its; what was visited is what any of them has.
 */
#ifndef TESTS_UNIT_BRUTE_ORACLE_H
#define TESTS_UNIT_BRUTE_ORACLE_H

#include "brute_exact.h"

struct brute_answer {
    bool known;    // false: there were too many states
    bool possible; // some run fits
    uint32_t may, must;
};

// Does it fit what was seen of the run as a whole?
static inline bool report_allows(const struct brute_report *report, uint32_t visited)
{
    if (report->sites & ~visited)
        return false;
    for (uint32_t i = 0; i < report->observation_count; i++) {
        const struct brute_observation *seen = &report->observations[i];

        if ((seen->kind == BRUTE_RAN && !(seen->entries[0] & visited)) ||
            (seen->kind == BRUTE_NOT_ALL && !(seen->entries[0] & ~visited)))
            return false;
    }
    return true;
}

// Every way to take one of each: sets of nodes visited by all threads together.
static inline void join_runs(struct brute_set *all, const struct brute_set *runs)
{
    struct brute_set joined = {0};
    bool is_new;

    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < runs->count; k++)
            brute_set_add(
                &joined,
                (struct brute_key){{all->data[i].w[0] | runs->data[k].w[0], 0, 0, 0, 0, 0}},
                &is_new);
    brute_set_deinit(all);
    *all = joined;
}

// ---- Definition 6: a return goes behind any call of its function

struct link_of {
    uint64_t nodes;    // any of these
    uint32_t function; // or one of those below
};
#define LINK_ANY     UINT32_MAX        // whatever it calls; the next link may be the same call
#define LINK_REACHED (UINT32_MAX - 1u) // control reaches the node: it need not have called anything

struct flat {
    const struct machine *machine;
    struct brute_set states; // node (or MACHINE_NODES + function: left by a jump), visited, traces,
                             // links seen
    struct link_of links[2 * BRUTE_FRAMES + 4];
    uint32_t link_count;
    bool too_many;
};

static inline void flat_come(struct flat *flat, uint32_t node, const struct brute_key *from,
                             uint32_t links, bool again)
{
    uint32_t visited = from->w[1], traces = from->w[2];
    bool is_new;

    if (!again && node < MACHINE_NODES && !machine_visit(flat->machine, node, &visited, &traces))
        return;
    if (node < MACHINE_NODES && links < flat->link_count &&
        flat->links[links].function == LINK_REACHED && flat->links[links].nodes >> node & 1)
        links++;
    brute_set_add(&flat->states, (struct brute_key){{node, visited, traces, links, 0, 0}}, &is_new);
}

static inline void flat_call(struct flat *flat, const struct brute_key *state, uint32_t function)
{
    uint32_t links = state->w[3];

    while (links < flat->link_count && flat->links[links].nodes >> state->w[0] & 1 &&
           (flat->links[links].function == function || flat->links[links].function == LINK_ANY))
        if (flat->links[links++].function != LINK_ANY)
            break;
    flat_come(flat, flat->machine->entry[function], state, links, false);
}

// `function` is left: goes on behind all its calls, or where jumps out of them come out.
static inline void flat_leave(struct flat *flat, const struct brute_key *state, uint32_t function,
                              bool jumped)
{
    const struct machine *machine = flat->machine;

    for (uint32_t c = 0; c < machine->node_count; c++) {
        const struct machine_node *node = &machine->nodes[c];
        bool interrupted =
            machine->has_signals && function == machine->signals && node->interrupted;

        if (c < machine->program->node_count && machine->absent >> c & 1)
            continue;
        if (interrupted && !jumped)
            flat_come(flat, c, state, state->w[3], true);
        if (!interrupted && (node->closed || !(node->callees >> function & 1)))
            continue;
        for (uint32_t k = 0; !jumped && !interrupted && k < node->next_count; k++)
            flat_come(flat, node->next[k], state, state->w[3], false);
        for (uint32_t k = 0; jumped && k < node->land_count; k++)
            flat_come(flat, node->lands[k], state, state->w[3], false);
        if (jumped)
            flat_come(flat, MACHINE_NODES + node->function, state, state->w[3], true);
    }
}

static inline void flat_look_at(struct flat *flat, const struct brute_key *state)
{
    const struct machine *machine = flat->machine;

    if (state->w[0] >= MACHINE_NODES) {
        flat_leave(flat, state, state->w[0] - MACHINE_NODES, true);
        return;
    }
    const struct machine_node *node = &machine->nodes[state->w[0]];
    if (node->interrupted)
        flat_call(flat, state, machine->signals);
    // a frame that waits for library code may wait for a call that the compiler made
    if (node->closed && state->w[3] < flat->link_count && flat->links[state->w[3]].function < 32 &&
        (brute_lenience & BRUTE_LENIENT_PENDING ||
         flat->links[state->w[3]].function >= machine->program->function_count) &&
        flat->links[state->w[3]].nodes == (uint64_t)1 << state->w[0] &&
        node->callees >> flat->links[state->w[3]].function & 1)
        flat_call(flat, state, flat->links[state->w[3]].function);
    if (node->closed)
        return;
    for (uint32_t k = 0; node->past && k < node->next_count; k++)
        flat_come(flat, node->next[k], state, state->w[3], false);
    for (uint32_t k = 0; node->jumps && k < node->land_count; k++)
        flat_come(flat, node->lands[k], state, state->w[3], false);
    if (node->jumps)
        flat_come(flat, MACHINE_NODES + node->function, state, state->w[3], true);
    if (node->returns)
        flat_leave(flat, state, node->function, false);
    for (uint32_t f = 0; f < machine->function_count; f++)
        if (node->callees >> f & 1)
            flat_call(flat, state, f);
}

// All runs from `start` that end at one of `ends`: `ret` (visited, traces). False: too many states.
static inline bool flat_runs(struct flat *flat, uint32_t start, uint64_t ends,
                             struct brute_set *ret)
{
    struct brute_key nothing = {{0, 0, trace_begin(flat->machine), 0, 0, 0}};
    bool is_new;

    flat_come(flat, flat->machine->entry[start], &nothing, 0, false);
    for (uint32_t i = 0; i < flat->states.count && flat->states.count < BRUTE_STATES; i++) {
        struct brute_key state = flat->states.data[i];

        flat_look_at(flat, &state);
        if (state.w[0] < MACHINE_NODES && ends >> state.w[0] & 1 && state.w[3] == flat->link_count)
            brute_set_add(ret, (struct brute_key){{state.w[1], state.w[2], 0, 0, 0, 0}}, &is_new);
    }
    bool known = flat->states.count < BRUTE_STATES;
    brute_set_deinit(&flat->states);
    return known;
}

// The pending calls, as section 5.1 has them.
static inline uint64_t flat_links(const struct chain_of *chain, struct flat *flat)
{
    flat->link_count = 0;
    for (uint32_t i = 1; i < chain->count; i++) {
        const struct pending *from = &chain->items[i - 1], *to = &chain->items[i];
        uint32_t function = !to->gap               ? to->function
                            : i + 1 < chain->count ? LINK_ANY
                                                   : LINK_REACHED;

        flat->links[flat->link_count++] =
            (struct link_of){from->gap ? UINT64_MAX : from->at, function};
    }
    return chain->items[chain->count - 1].gap ? UINT64_MAX : chain->items[chain->count - 1].at;
}

// ---- Answers

struct brute_solver {
    bool flat; // definition 6
    bool weak; // and unreliable traces only: what they cannot say is dropped or weakened
    struct machine machine;
    struct calls calls;
    bool too_many;
    struct brute_set *runs; // unless NULL: what each of the runs has visited
};

static inline void solver_thread(struct brute_solver *solver, const struct brute_thread *thread,
                                 struct brute_set *ret)
{
    const struct machine *machine = &solver->machine;
    struct brute_set runs = {0};
    struct chain_of chain;
    bool is_new;

    chain_init(machine, thread, &chain);
    if (solver->flat) {
        struct flat flat = {.machine = machine};
        uint64_t ends = flat_links(&chain, &flat);

        solver->too_many |= !flat_runs(&flat, chain.items[0].function, ends, &runs);
    } else
        thread_runs(&solver->calls, &chain, &runs);
    for (uint32_t i = 0; i < runs.count; i++)
        if (trace_accepts(machine, runs.data[i].w[1]))
            brute_set_add(ret, (struct brute_key){{runs.data[i].w[0], 0, 0, 0, 0, 0}}, &is_new);
    brute_set_deinit(&runs);
}

// A thread that is gone may have ended anywhere: by pthread_exit, by cancellation.
static inline void exact_gone(struct calls *calls, struct brute_set *runs)
{
    const struct machine *machine = calls->machine;
    uint32_t hub = machine->entry[machine->thread_start];
    struct chain_of chain = {.count = 0};
    struct brute_set stands = {0}, begun = {0};
    bool is_new;

    chain_add(&chain, machine->thread_start, hub);
    thread_runs(calls, &chain, runs);
    for (uint32_t i = 0; i < runs->count; i++)
        brute_set_add(
            &begun, (struct brute_key){{hub + 1, runs->data[i].w[0], runs->data[i].w[1], 0, 0, 0}},
            &is_new);
    pending_fill_gap(calls, NULL, &begun, &stands);
    for (uint32_t i = 0; i < stands.count; i++)
        brute_set_add(runs, (struct brute_key){{stands.data[i].w[1], 0, 0, 0, 0, 0}}, &is_new);
    brute_set_deinit(&stands);
    brute_set_deinit(&begun);
}

// So may the program's first thread.
static inline void exact_first_gone(struct calls *calls, struct brute_set *runs)
{
    const struct machine *machine = calls->machine;
    struct chain_of chain = {.count = 0};
    struct pending *begun = chain_add(&chain, machine->start, machine->entry[machine->start]);

    for (uint32_t n = machine->entry[machine->start]; n < machine->entry[machine->thread_start];
         n++)
        begun->at |= UINT64_C(1) << n;
    chain_add_gap(&chain);
    thread_runs(calls, &chain, runs);
}

// Is none of the threads certainly the first?
static inline bool is_first_gone(const struct brute_report *report)
{
    for (uint32_t t = 0; t < report->thread_count; t++)
        if (report->threads[t].frame_count && report->threads[t].whole &&
            report->threads[t].frames[0].function == 0)
            return false;
    return true;
}

static inline void join_first_gone(struct brute_solver *solver, struct brute_set *all)
{
    struct brute_set runs = {0};
    bool is_new;

    if (solver->flat) {
        struct flat flat = {.machine = &solver->machine};

        solver->too_many |= !flat_runs(&flat, solver->machine.start, UINT64_MAX, &runs);
    } else
        exact_first_gone(&solver->calls, &runs);
    brute_set_add(&runs, (struct brute_key){{0}}, &is_new);
    join_runs(all, &runs);
    brute_set_deinit(&runs);
}

static inline void join_gone(struct brute_solver *solver, struct brute_set *all)
{
    const struct machine *machine = &solver->machine;
    struct brute_set runs = {0};
    uint32_t before;

    if (solver->flat) {
        struct flat flat = {.machine = machine};

        solver->too_many |= !flat_runs(&flat, machine->thread_start, UINT64_MAX, &runs);
    } else
        exact_gone(&solver->calls, &runs);
    do { // any number of them
        before = all->count;
        join_runs(all, &runs);
    } while (all->count != before);
    brute_set_deinit(&runs);
}

static inline void answer_report(struct brute_solver *solver, const struct brute_program *program,
                                 const struct brute_report *report, struct brute_answer *answer)
{
    struct brute_set all = {0};
    bool is_new;

    *answer = (struct brute_answer){.must = UINT32_MAX};
    machine_init(&solver->machine, program, report);
    solver->calls.machine = &solver->machine;
    brute_set_add(&all, (struct brute_key){{0}}, &is_new);
    for (uint32_t t = 0; t < report->thread_count; t++) {
        struct brute_set runs = {0};

        solver_thread(solver, &report->threads[t], &runs);
        join_runs(&all, &runs);
        brute_set_deinit(&runs);
    }
    if (program->threads && all.count)
        join_gone(solver, &all);
    if ((program->threads || report->thread_count > 1) && all.count && is_first_gone(report))
        join_first_gone(solver, &all);
    answer->known = !solver->calls.too_many && !solver->too_many;
    for (uint32_t i = 0; i < all.count; i++)
        if (report_allows(report, all.data[i].w[0])) {
            answer->possible = true;
            answer->may |= all.data[i].w[0];
            answer->must &= all.data[i].w[0];
            if (solver->runs)
                brute_set_add(solver->runs, all.data[i], &is_new);
        }
    brute_set_deinit(&all);
    calls_deinit(&solver->calls);
}

BRUTE_FUNCTION void brute_answer_exact(const struct brute_program *program,
                                       const struct brute_report *report,
                                       struct brute_answer *answer)
{
    answer_report(&(struct brute_solver){.flat = false}, program, report, answer);
}

// The same, and every set of nodes that some run has visited (of all threads together).
BRUTE_FUNCTION void brute_runs_exact(const struct brute_program *program,
                                     const struct brute_report *report, struct brute_answer *answer,
                                     struct brute_set *runs)
{
    answer_report(&(struct brute_solver){.runs = runs}, program, report, answer);
}

// What an unreliable trace can say of it: entries that are certain, in their order.
static inline void weaken(struct brute_observation *seen)
{
    uint32_t kept = 0;

    if (seen->kind <= BRUTE_NOT_ALL && __builtin_popcount(seen->entries[0]) == 1)
        return;
    for (uint32_t e = 0; e < seen->entry_count; e++)
        if (seen->kind != BRUTE_NOT_ALL && __builtin_popcount(seen->entries[e]) == 1)
            seen->entries[kept++] = seen->entries[e];
    seen->kind = BRUTE_UNRELIABLE;
    seen->entry_count = kept;
}

BRUTE_FUNCTION void brute_answer_flat(const struct brute_program *program,
                                      const struct brute_report *report, bool weak,
                                      struct brute_answer *answer)
{
    struct brute_report said = *report;

    for (uint32_t i = 0; weak && i < said.observation_count; i++)
        weaken(&said.observations[i]);
    answer_report(&(struct brute_solver){.flat = true, .weak = weak}, program, &said, answer);
}

#endif

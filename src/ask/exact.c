// SPDX-License-Identifier: Apache-2.0
#include "ask/exact.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automata.h"
#include "solve/conjunction.h"

// A stack that is deeper becomes no finite automaton.
#define STACK_MOST 64u

static void add_part(struct exact *exact, struct language *language, const char *name)
{
    ask_automaton_vec_push(&exact->parts, automaton_create(language, NULL, 0, name));
}

static void add_ran(struct exact *exact, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_part(exact, language_ran((struct id_set){&nodes[i], 1}), "a node that ran");
}

// The nodes that have to be visited and of which that is not certain anyway, each once.
static void needed_ran(const struct ask_case *ask, const struct exact_settings *settings,
                       struct ask_id_vec *ret)
{
    struct bitset seen;

    bitset_init(&seen, ask->flow->node_count);
    for (size_t i = 0; i < ask->ran.length; i++) {
        uint32_t node = ask->ran.data[i];

        if (!(settings->certain && bitset_test(settings->certain, node)) &&
            !bitset_test_and_set(&seen, node))
            ask_id_vec_push(ret, node);
    }
    bitset_deinit(&seen);
}

static struct event link_event(const struct utl_link *link)
{
    return (struct event){.kind = EVENT_CALL,
                          .nodes = {link->nodes, link->count},
                          .nodes_any = !link->count,
                          .functions = {&link->function, 1},
                          .functions_any = link->function == FLOW_NONE};
}

// A call behind which frames may be missing, and the next one that is known: one and the same, or
// two.
static struct language *gap_language(const struct utl_link *before, const struct utl_link *behind)
{
    struct event both = link_event(before), first = link_event(before), second;
    struct language *parts[2];

    if (!behind) { // it need not have called anything of the model
        first.kind = EVENT_STEP;
        return language_happens(&first, 1);
    }
    second = link_event(behind);
    both.functions = (struct id_set){&behind->function, 1};
    both.functions_any = false;
    parts[0] = language_happens(&both, 1);
    parts[1] = language_then(language_happens(&first, 1), language_happens(&second, 1));
    return language_or(parts, 2);
}

// Section 5.1: the pending calls in order, anything between them.
static void add_stack(struct exact *exact, const struct ask_thread *thread)
{
    struct language *language = language_all();
    const struct utl_link *links = thread->links.data;

    if (thread->links.length > STACK_MOST || thread->is_doubtful) {
        language_destroy(language);
        exact->dropped_stack = true;
        return;
    }
    for (size_t i = thread->links.length; i-- > 0;) {
        struct event event = link_event(&links[i]);

        if (links[i].function == FLOW_NONE)
            language = language_then(
                gap_language(&links[i], i + 1 < thread->links.length ? &links[i + 1] : NULL),
                language);
        else if (i == 0 || links[i - 1].function != FLOW_NONE) // else it is told with the gap
            language = language_then(language_happens(&event, 1), language);
    }
    add_part(exact, language, "the stack");
}

// given: about this thread.
static void join_parts(struct exact *exact, const struct ask_case *ask,
                       const struct ask_automaton_vec *given, const struct exact_settings *settings)
{
    struct ask_automaton_vec all = VEC_INIT;

    if (given)
        ask_automaton_vec_append(&all, given->data, given->length);
    if (settings->query)
        ask_automaton_vec_push(&all, settings->query);
    for (size_t i = 0; ask->is_single && i < ask->automata.length; i++)
        ask_automaton_vec_push(&all, ask->automata.data[i]);
    for (size_t i = 0; i < exact->parts.length; i++)
        ask_automaton_vec_push(&all, exact->parts.data[i]);
    exact->is_one = all.length == 1;
    if (exact->is_one)
        exact->all = all.data[0];
    else if (all.length)
        exact->all = conjunction_create(all.data, (uint32_t)all.length, "what is known");
    ask_automaton_vec_deinit(&all);
}

void exact_init(struct exact *exact, const struct ask_case *ask, const struct ask_thread *thread,
                enum ask_solver solver, const struct exact_settings *settings)
{
    struct ask_id_vec ran = VEC_INIT;
    struct product_problem problem = {.flow = ask->flow,
                                      .closed = &ask->closed,
                                      .absent = &ask->absent,
                                      .views = thread->views.data,
                                      .view_count = (uint32_t)thread->views.length,
                                      .flat = solver != ASK_SOLVER_VPA,
                                      .start = thread->start,
                                      .ends = thread->ends.data,
                                      .end_count = (uint32_t)thread->ends.length,
                                      .amid = thread->cut.data,
                                      .amid_count = (uint32_t)thread->cut.length,
                                      .verdict_only = settings->verdict_only,
                                      .opens = settings->opens,
                                      .state_limit = settings->state_limit};

    *exact = (struct exact){0};
    if (ask->is_single)
        needed_ran(ask, settings, &ran);
    if (settings->without_ran || ran.length > settings->ran_most) {
        exact->dropped = (uint32_t)ran.length;
        add_ran(exact, settings->also_ran, settings->also_ran_count);
    } else
        add_ran(exact, ran.data, (uint32_t)ran.length);
    ask_id_vec_deinit(&ran);
    if (problem.flat)
        add_stack(exact, thread);
    const struct ask_automaton_vec *given = problem.flat ? &ask->given_flat : &ask->given;
    join_parts(exact, ask, thread->index == 0 ? given : NULL, settings);
    problem.automaton = exact->all;
    if (exact->all && exact->all->initial == UINT32_MAX)
        problem.view_count = 0; // no run at all
    exact->product = product_create(&problem, settings->budget);
}

void exact_deinit(struct exact *exact)
{
    product_destroy(exact->product);
    if (!exact->is_one)
        automaton_destroy(exact->all);
    for (size_t i = 0; i < exact->parts.length; i++)
        automaton_destroy(exact->parts.data[i]);
    ask_automaton_vec_deinit(&exact->parts);
}

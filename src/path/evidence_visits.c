// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that were made have to be visited somewhere in the run, and there may be many of them: too
 * many for weights or automata. As in `ask`, a run is taken and lengthened by detours until it
 * visits them all (solve/product.h); what cannot be had so becomes part of the automaton, and it is
 * tried again. Critical nodes that are to be touched are visited in the same way.
 */
#include <stdlib.h>

#include "ask/case.h"
#include "ask/exact.h"
#include "common/budget.h"
#include "path/evidence.h"
#include "solve/automata.h"
#include "solve/automaton.h"

// Nodes that are told to the automaton, at most, and states of the product.
#define TOLD_MOST   12u
#define STATES_MOST 6000000u

VEC_DEFINE(rule_vec, struct language *);

// ---- What is not to be done

// Not: `after` with no `before` before it.
static struct language *order_language(const struct path_order *order)
{
    struct event after = {.kind = EVENT_STEP, .nodes = {&order->after, 1}, .functions_any = true};

    return language_not(
        language_without(&after, 1, language_ran((struct id_set){&order->before, 1})));
}

static bool is_unwanted(const struct path_request *request, uint32_t c, uint64_t touched)
{
    return !(touched >> c & 1) && request->critical[c].score < 0;
}

static struct automaton *rules_automaton(const struct path_request *request, uint64_t touched)
{
    struct rule_vec rules = VEC_INIT;
    struct ask_id_vec never = VEC_INIT;

    for (size_t n = request->avoid ? bitset_next(request->avoid, 0) : 0;
         request->avoid && n < request->avoid->size; n = bitset_next(request->avoid, n + 1))
        ask_id_vec_push(&never, (uint32_t)n);
    for (uint32_t c = 0; c < request->critical_count; c++)
        if (is_unwanted(request, c, touched))
            ask_id_vec_push(&never, request->critical[c].node);
    if (never.length)
        rule_vec_push(&rules, language_never(id_set_make(never.data, (uint32_t)never.length)));
    for (uint32_t o = 0; o < request->order_count; o++)
        rule_vec_push(&rules, order_language(&request->orders[o]));
    struct automaton *automaton =
        rules.length ? automaton_create(language_and(rules.data, (uint32_t)rules.length), NULL, 0,
                                        "places to avoid, and orders")
                     : NULL;
    rule_vec_deinit(&rules);
    ask_id_vec_deinit(&never);
    return automaton;
}

// ---- What is to be visited

static void add_node(struct ask_id_vec *nodes, uint32_t node)
{
    for (size_t i = 0; i < nodes->length; i++)
        if (nodes->data[i] == node)
            return;
    ask_id_vec_push(nodes, node);
}

// What was missed, of what has to be.
static uint32_t count_needed(const struct ask_id_vec *nodes, const uint32_t *missed, uint32_t count,
                             struct ask_id_vec *ret)
{
    uint32_t needed = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool has = false;

        for (size_t k = 0; !has && k < nodes->length; k++)
            has = nodes->data[k] == missed[i];
        if (has && ret)
            add_node(ret, missed[i]);
        needed += has;
    }
    return needed;
}

struct visiting {
    const struct path_request *request;
    struct ask_case *ask;
    struct automaton *rules;
    struct ask_id_vec needed; // have to be visited
    struct ask_id_vec wanted; // those, and what else would be good
    struct budget *budget;
};

// Once, with `told` in the automaton.
static enum path_visit visit_once(struct visiting *visiting, const struct ask_id_vec *told,
                                  struct run *ret, uint32_t **missed, uint32_t *missed_count)
{
    struct exact_settings settings = {.query = visiting->rules,
                                      .without_ran = true,
                                      .also_ran = told->data,
                                      .also_ran_count = (uint32_t)told->length,
                                      .state_limit = STATES_MOST,
                                      .budget = visiting->budget};
    struct exact exact;
    enum path_visit result = PATH_VISIT_UNKNOWN;

    exact_init(&exact, visiting->ask, &visiting->ask->threads[0], ASK_SOLVER_VPA, &settings);
    if (product_is_possible(exact.product)) {
        if (product_collect(exact.product, visiting->wanted.data, (uint32_t)visiting->wanted.length,
                            visiting->budget, ret, missed, missed_count))
            result = PATH_VISITED;
    } else if (product_is_complete(exact.product))
        result = PATH_NOT_VISITABLE;
    exact_deinit(&exact);
    return result;
}

static enum path_visit visit_all(struct visiting *visiting, struct run *ret, uint32_t *ret_missed)
{
    struct ask_id_vec told = VEC_INIT;
    enum path_visit result;

    *ret = (struct run){0};
    *ret_missed = (uint32_t)visiting->needed.length;
    for (;;) {
        uint32_t *missed = NULL, count = 0;
        size_t before = told.length;

        run_deinit(ret);
        result = visit_once(visiting, &told, ret, &missed, &count);
        if (result == PATH_VISITED)
            *ret_missed = count_needed(&visiting->needed, missed, count, &told);
        free(missed);
        if (result != PATH_VISITED || !*ret_missed)
            break;
        // too many, or it was told and missed all the same: the budget is spent
        if (told.length > TOLD_MOST || told.length == before || budget_is_spent(visiting->budget)) {
            result = PATH_VISIT_UNKNOWN;
            break;
        }
    }
    ask_id_vec_deinit(&told);
    if (result != PATH_VISITED)
        run_deinit(ret);
    return result;
}

static enum path_visit visit(const struct path_request *request, struct ask_case *ask,
                             uint64_t touched, uint64_t needed, struct budget *budget,
                             struct run *ret, uint32_t *missed)
{
    struct visiting visiting = {.request = request, .ask = ask, .budget = budget};

    visiting.rules = rules_automaton(request, touched);
    for (size_t i = 0; ask->is_single && i < ask->ran.length; i++)
        add_node(&visiting.needed, ask->ran.data[i]);
    for (uint32_t c = 0; c < request->critical_count; c++)
        if (needed >> c & 1 && request->critical[c].score > 0)
            add_node(&visiting.needed, request->critical[c].node);
    ask_id_vec_append(&visiting.wanted, visiting.needed.data, visiting.needed.length);
    for (uint32_t c = 0; c < request->critical_count; c++)
        if (request->critical[c].score > 0 && !request->separate)
            add_node(&visiting.wanted, request->critical[c].node);
    enum path_visit result = visit_all(&visiting, ret, missed);
    ask_id_vec_deinit(&visiting.needed);
    ask_id_vec_deinit(&visiting.wanted);
    automaton_destroy(visiting.rules);
    return result;
}

enum path_visit path_visit_all(const struct path_request *request, struct ask_case *ask,
                               uint64_t touched, struct budget *budget, struct run *ret,
                               uint32_t *missed)
{
    return visit(request, ask, touched, touched, budget, ret, missed);
}

enum path_visit path_visit_most(const struct path_request *request, struct ask_case *ask,
                                struct budget *budget, struct run *ret, uint32_t *missed)
{
    return visit(request, ask, UINT64_MAX, 0, budget, ret, missed);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Which facts make a query impossible, none of them needlessly. Three groups, one after the other,
 * each made as small as it can be beside what is left of the others: calls that were made (they are
 * many, costly, and seldom needed), what is known of frames and from logs, calls that were never
 * made. What is minimal beside more is minimal beside less, so the whole is.
 *
 * The first two by halves (QuickXplain, Junker 2004). The calls never made, thousands often, in one
 * product that is opened call by call as long as no run comes of it.
 */
#include <stdlib.h>

#include "ask/ask_internal.h"
#include "ask/case.h"
#include "ask/exact.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "solve/automaton.h"

struct explanation {
    struct ask_session *session;
    const struct query *query;
    enum ask_solver solver;
    struct budget *budget;
    struct bitset kept; // what is in the reason so far, and what is tried with it
};

// Is it impossible with the facts that are kept alone?
static bool rules_out(struct explanation *e)
{
    struct ask_session *session = e->session;
    struct ask_result scratch = {0};
    bool had_certain = session->has_certain;

    ask_case_enable(session->ask, &e->kept);
    session->has_certain = false; // it was certain with all facts
    enum ask_verdict verdict = ask_solve(session, e->query, e->solver, false, e->budget, &scratch);
    session->has_certain = had_certain;
    ask_result_deinit(&scratch);
    return verdict == ASK_IMPOSSIBLE;
}

static void keep(struct explanation *e, const uint32_t *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bitset_set(&e->kept, facts[i]);
}

static void leave_out(struct explanation *e, const uint32_t *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bitset_clear(&e->kept, facts[i]);
}

/*
 * Of facts[from..to), the smallest part that rules the query out together with `kept`, which is
 * left as it was. `grown`: kept has become larger since it was last tried by itself.
 */
static void explain_part(struct explanation *e, const uint32_t *facts, uint32_t from, uint32_t to,
                         bool grown, struct ask_id_vec *ret)
{
    if (budget_look(e->budget) || (grown && rules_out(e)))
        return;
    if (to - from == 1) {
        ask_id_vec_push(ret, facts[from]);
        return;
    }
    uint32_t middle = from + (to - from) / 2;
    struct ask_id_vec second = VEC_INIT, first = VEC_INIT;

    keep(e, facts + from, middle - from);
    explain_part(e, facts, middle, to, true, &second);
    leave_out(e, facts + from, middle - from);
    keep(e, second.data, second.length);
    explain_part(e, facts, from, middle, second.length > 0, &first);
    leave_out(e, second.data, second.length);
    ask_id_vec_append(ret, second.data, second.length);
    ask_id_vec_append(ret, first.data, first.length);
    ask_id_vec_deinit(&first);
    ask_id_vec_deinit(&second);
}

// Leaves of the group only what is needed.
static void reduce(struct explanation *e, const struct ask_id_vec *group)
{
    struct ask_id_vec needed = VEC_INIT;

    if (!group->length)
        return;
    leave_out(e, group->data, group->length);
    explain_part(e, group->data, 0, (uint32_t)group->length, true, &needed);
    keep(e, needed.data, needed.length);
    ask_id_vec_deinit(&needed);
}

// Opens calls that were never made in one product: false when that cannot be done. It is one
// thread's.
static bool open_calls(struct explanation *e, const struct ask_id_vec *group,
                       struct ask_id_vec *needed)
{
    struct ask_case *ask = e->session->ask;
    struct automaton *query = e->query ? query_automaton(e->query, QUERY_EXACT) : NULL;
    struct exact_settings settings = {.query = query,
                                      .without_ran = true,
                                      .verdict_only = true,
                                      .opens = true,
                                      .state_limit = ASK_STATES_MOST,
                                      .budget = e->budget};
    struct bitset otherwise; // closed by other facts as well
    struct exact exact;

    leave_out(e, group->data, group->length);
    ask_case_enable(ask, &e->kept);
    bitset_init_copy(&otherwise, &ask->closed);
    keep(e, group->data, group->length);
    ask_case_enable(ask, &e->kept);
    exact_init(&exact, ask, &ask->threads[0], ASK_SOLVER_VPA, &settings);
    bool done = !ask->threads[0].is_impossible && !exact.dropped &&
                product_is_complete(exact.product) && !product_is_possible(exact.product);
    for (size_t i = 0; done && i < group->length; i++) {
        uint32_t node = ask->facts.data[group->data[i]].node;

        if (bitset_test(&otherwise, node))
            continue;
        if (product_open(exact.product, node, e->budget))
            ask_id_vec_push(needed, group->data[i]);
        done = product_is_complete(exact.product);
    }
    exact_deinit(&exact);
    automaton_destroy(query);
    bitset_deinit(&otherwise);
    return done;
}

// The same, of calls that were never made.
static void reduce_never_called(struct explanation *e, const struct ask_id_vec *group)
{
    struct ask_id_vec needed = VEC_INIT;

    if (e->solver == ASK_SOLVER_VPA && e->session->ask->is_single && group->length &&
        open_calls(e, group, &needed)) {
        leave_out(e, group->data, group->length);
        keep(e, needed.data, needed.length);
        // where a frame stands may depend on what was never called, too
        if (!rules_out(e)) {
            keep(e, group->data, group->length);
            reduce(e, group);
        }
    } else
        reduce(e, group);
    ask_id_vec_deinit(&needed);
}

void ask_explain(struct ask_session *session, const struct query *query, enum ask_solver solver,
                 struct budget *budget, struct ask_result *ret)
{
    struct explanation e = {session, query, solver, budget, BITSET_INIT};
    struct ask_id_vec called = VEC_INIT, never_called = VEC_INIT, rest = VEC_INIT,
                      reason = VEC_INIT;

    bitset_init_copy(&e.kept, &session->all);
    for (size_t f = bitset_next(&e.kept, 0); f < e.kept.size; f = bitset_next(&e.kept, f + 1)) {
        enum ask_fact_kind kind = session->ask->facts.data[f].kind;

        ask_id_vec_push(kind == ASK_FACT_CALLED       ? &called
                        : kind == ASK_FACT_NOT_CALLED ? &never_called
                                                      : &rest,
                        (uint32_t)f);
    }
    reduce(&e, &called);
    reduce(&e, &rest);
    reduce_never_called(&e, &never_called);
    ask_case_enable(session->ask, &session->all);
    ret->because_is_minimal = budget->state == BUDGET_LEFT;
    for (size_t f = bitset_next(&e.kept, 0); ret->because_is_minimal && f < e.kept.size;
         f = bitset_next(&e.kept, f + 1))
        ask_id_vec_push(&reason, (uint32_t)f);
    ret->because_count = (uint32_t)reason.length;
    ret->because = ask_id_vec_steal(&reason);
    ask_id_vec_deinit(&called);
    ask_id_vec_deinit(&never_called);
    ask_id_vec_deinit(&rest);
    bitset_deinit(&e.kept);
}

// SPDX-License-Identifier: Apache-2.0
#include "ask/ask.h"

#include <stdlib.h>
#include <string.h>

#include "ask/ask_internal.h"
#include "ask/case.h"
#include "ask/exact.h"
#include "ask/query.h"
#include "ask/witness.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "solve/vpa.h"

// Nodes that have to be visited, at most, as parts of one automaton.
#define RAN_MOST 12u
// How long a run for utl's answer is looked for.
#define WITNESS_SECONDS 2.0
// Runs that are kept: another query may be true of one of them.
#define RUNS_KEPT 8u

struct ask_session *ask_session_create(struct ask_case *ask)
{
    struct ask_session *session = xcalloc(1, sizeof(*session));

    session->ask = ask;
    session->ran_most = RAN_MOST;
    bitset_init_copy(&session->all, &ask->enabled);
    bitset_init(&session->certain, ask->flow->node_count);
    return session;
}

void ask_session_destroy(struct ask_session *session)
{
    if (!session)
        return;
    bitset_deinit(&session->all);
    bitset_deinit(&session->certain);
    for (size_t i = 0; i < session->runs.length; i++)
        run_deinit(&session->runs.data[i]);
    run_vec_deinit(&session->runs);
    free(session);
}

void ask_session_set_ran_most(struct ask_session *session, uint32_t most)
{
    session->ran_most = most;
}

const char *ask_verdict_name(enum ask_verdict verdict)
{
    static const char *const names[] = {"possible", "impossible", "undecided"};

    return names[verdict];
}

// ---- One question, of the facts that are enabled

static void find_certain(struct ask_session *session, struct budget *budget)
{
    const struct ask_thread *thread = &session->ask->threads[0];
    struct vpa_problem problem = {.flow = session->ask->flow,
                                  .views = thread->views.data,
                                  .view_count = (uint32_t)thread->views.length,
                                  .closed = &session->ask->closed};
    struct vpa_coverage coverage;

    if (session->has_certain || !session->ask->is_single)
        return;
    vpa_cover(&problem, budget, &coverage);
    if (coverage.possible && coverage.complete) {
        bitset_copy(&session->certain, &coverage.must);
        session->has_certain = true;
    }
    vpa_coverage_deinit(&coverage);
}

// Solves with what `settings` takes in. ASK_UNDECIDED: too large.
static enum ask_verdict solve_once(const struct ask_case *ask, const struct ask_thread *thread,
                                   enum ask_solver solver, const struct exact_settings *settings,
                                   struct ask_result *ret, uint32_t **missed,
                                   uint32_t *missed_count)
{
    struct exact exact;
    enum ask_verdict verdict = ASK_UNDECIDED;
    uint32_t *ignored = NULL, ignored_count;

    exact_init(&exact, ask, thread, solver, settings);
    ret->states = product_state_count(exact.product);
    ret->dropped = exact.dropped;
    if (product_is_possible(exact.product)) {
        verdict = ASK_POSSIBLE;
        run_deinit(&ret->witness);
        if (settings->verdict_only)
            ret->has_witness = false;
        else if (settings->without_ran || product_misses_visits(exact.product))
            ret->has_witness = product_collect(
                exact.product, ask->ran.data, (uint32_t)ask->ran.length, settings->budget,
                &ret->witness, missed ? missed : &ignored, missed ? missed_count : &ignored_count);
        else
            ret->has_witness = product_shortest(exact.product, settings->budget, &ret->witness);
    } else if (product_is_complete(exact.product))
        verdict = ASK_IMPOSSIBLE;
    if (exact.dropped_stack)
        ret->note = "the stack is too deep for a finite automaton and was left aside";
    free(ignored);
    exact_deinit(&exact);
    return verdict;
}

// Which calls were left aside.
static void name_aside(const struct ask_case *ask, const uint32_t *nodes, uint32_t count,
                       struct ask_result *ret)
{
    struct bitset missed;
    struct ask_id_vec facts = VEC_INIT;

    bitset_init(&missed, ask->flow->node_count);
    for (uint32_t i = 0; i < count; i++)
        bitset_set(&missed, nodes[i]);
    for (uint32_t f = 0; f < ask->facts.length; f++)
        if (ask->facts.data[f].kind == ASK_FACT_CALLED && bitset_test(&ask->enabled, f) &&
            bitset_test(&missed, ask->facts.data[f].node))
            ask_id_vec_push(&facts, f);
    bitset_deinit(&missed);
    free(ret->aside);
    ret->aside_count = (uint32_t)facts.length;
    ret->aside = ask_id_vec_steal(&facts);
}

// Where too many nodes have to be visited: by detours, and those that are missing then as parts of
// the automaton.
static enum ask_verdict solve_step_by_step(const struct ask_case *ask,
                                           const struct ask_thread *thread, enum ask_solver solver,
                                           struct exact_settings *settings, struct ask_result *ret)
{
    uint32_t also[RAN_MOST];

    settings->without_ran = true;
    settings->also_ran = also;
    for (;;) {
        uint32_t *missed = NULL, count = 0;
        enum ask_verdict verdict = solve_once(ask, thread, solver, settings, ret, &missed, &count);

        ret->dropped = count;
        if (verdict == ASK_POSSIBLE && (!ret->has_witness || budget_is_spent(settings->budget)))
            verdict = ASK_UNDECIDED;
        if (verdict == ASK_POSSIBLE && count > RAN_MOST - settings->also_ran_count)
            verdict = ASK_UNDECIDED;
        for (uint32_t i = 0; verdict == ASK_POSSIBLE && i < count; i++)
            also[settings->also_ran_count++] = missed[i];
        if (verdict == ASK_UNDECIDED && missed)
            name_aside(ask, missed, count, ret);
        free(missed);
        if (verdict != ASK_POSSIBLE || count == 0)
            return verdict;
    }
}

/*
 * First without what has to be visited, and for the verdict alone: that is quick, and what is
 * impossible then is. `with_witness`: a run is wanted too.
 */
static enum ask_verdict solve_product(struct ask_session *session, const struct ask_thread *thread,
                                      struct automaton *query, enum ask_solver solver,
                                      bool with_witness, struct budget *budget,
                                      struct ask_result *ret)
{
    const struct ask_case *ask = session->ask;
    struct exact_settings settings = {.query = query,
                                      .ran_most = session->ran_most,
                                      .without_ran = true,
                                      .verdict_only = true,
                                      .state_limit = ASK_STATES_MOST,
                                      .budget = budget};

    ret->solver = solver;
    ret->context_insensitive = solver != ASK_SOLVER_VPA;
    if (solver == ASK_SOLVER_VPA && session->has_certain)
        settings.certain = &session->certain;
    enum ask_verdict verdict = solve_once(ask, thread, solver, &settings, ret, NULL, NULL);
    if (verdict == ASK_IMPOSSIBLE || (verdict == ASK_POSSIBLE && !ret->dropped && !with_witness))
        return verdict;
    settings.without_ran = false;
    settings.verdict_only = !with_witness && ret->dropped <= session->ran_most;
    if (ret->dropped <= session->ran_most)
        return solve_once(ask, thread, solver, &settings, ret, NULL, NULL);
    return solve_step_by_step(ask, thread, solver, &settings, ret);
}

static enum ask_verdict solve_utl(const struct ask_case *ask, const struct ask_thread *thread,
                                  const struct query *query, struct ask_result *ret)
{
    const struct query_utl *utl = query ? query_as_utl(query) : NULL;
    struct bitset closed;
    struct ask_trace_vec traces = VEC_INIT;

    ret->solver = ASK_SOLVER_UTL;
    ret->context_insensitive = true;
    bitset_init_copy(&closed, &ask->closed);
    struct utl_problem problem = {.flow = ask->flow,
                                  .closed = &closed,
                                  .start = thread->start,
                                  .links = thread->links.data,
                                  .link_count = (uint32_t)thread->links.length};
    struct ask_id_vec ends = VEC_INIT;
    for (uint32_t i = 0; utl && i < utl->removed.count; i++)
        bitset_set(&closed, utl->removed.data[i]);
    for (size_t i = 0; i < thread->ends.length; i++)
        if (!utl || !id_set_has(utl->removed, thread->ends.data[i]) ||
            (id_set_has(utl->entered, thread->ends.data[i]) &&
             ask_thread_is_cut(thread, thread->ends.data[i])))
            ask_id_vec_push(&ends, thread->ends.data[i]);
    for (size_t i = 0; ask->is_single && i < ask->ran.length; i++)
        ask_trace_vec_push(&traces, (struct utl_trace){&ask->ran.data[i], 1});
    for (size_t i = 0; ask->is_single && i < ask->traces.length; i++)
        ask_trace_vec_push(&traces, ask->traces.data[i]);
    for (uint32_t i = 0; utl && i < utl->sequence_count; i++) {
        const uint32_t *nodes = utl->sequences[i].data;
        // handlers may come between any two nodes: each by itself then
        uint32_t length = ask->flow->signals == FLOW_NONE ? utl->sequences[i].count : 1;

        for (uint32_t k = 0; k < utl->sequences[i].count; k += length)
            ask_trace_vec_push(&traces, (struct utl_trace){nodes + k, length});
    }
    problem.ends = ends.data;
    problem.end_count = (uint32_t)ends.length;
    problem.traces = traces.data;
    problem.trace_count = (uint32_t)traces.length;
    bool possible = (ends.length || !thread->ends.length) && utl_possible(&problem);
    if (possible && utl && !utl->is_exact)
        ret->note = utl->lost;
    ask_id_vec_deinit(&ends);
    ask_trace_vec_deinit(&traces);
    bitset_deinit(&closed);
    return possible ? ASK_POSSIBLE : ASK_IMPOSSIBLE;
}

// Is utl as exact as fsa? (Theorem of section 4.2: where all there is are nodes that ran, in order,
// and nodes that did not.)
static bool utl_decides(const struct ask_case *ask, const struct ask_thread *thread,
                        const struct query *query)
{
    const struct query_utl *utl = query ? query_as_utl(query) : NULL;

    return (!query || utl->is_exact) && !ask->automata.length && !ask->given_flat.length &&
           !thread->is_doubtful && ask->flow->signals == FLOW_NONE;
}

enum ask_verdict ask_solve_thread(struct ask_session *session, const struct ask_thread *thread,
                                  const struct query *query, enum ask_solver solver,
                                  bool with_witness, struct budget *budget, struct ask_result *ret)
{
    const struct ask_case *ask = session->ask;
    struct automaton *automaton;
    enum ask_verdict verdict;

    if (thread->is_impossible) {
        ret->solver = solver == ASK_SOLVER_AUTO ? ASK_SOLVER_VPA : solver;
        return ASK_IMPOSSIBLE;
    }
    if (solver == ASK_SOLVER_UTL)
        return solve_utl(ask, thread, query, ret);
    bool vpa = solver != ASK_SOLVER_FSA;
    automaton = query ? query_automaton(query, vpa ? QUERY_EXACT : QUERY_REGULAR) : NULL;
    verdict = solve_product(session, thread, automaton, vpa ? ASK_SOLVER_VPA : ASK_SOLVER_FSA,
                            with_witness, budget, ret);
    automaton_destroy(automaton);
    if (!vpa && query && verdict == ASK_POSSIBLE)
        ret->note = query_lost_by_fsa(query);
    if (!vpa && verdict == ASK_UNDECIDED && utl_decides(ask, thread, query)) {
        verdict = solve_utl(ask, thread, query, ret);
        ret->solver = ASK_SOLVER_FSA;
        ret->has_witness = false;
        ret->note = "too large for fsa; answered by utl, which says the same here";
    }
    // what no run does that may return anywhere, none does; coverage goes by that, too
    if (solver == ASK_SOLVER_FSA && verdict == ASK_POSSIBLE && !ask->is_single) {
        struct ask_result flat = {0};

        if (solve_utl(ask, thread, query, &flat) == ASK_IMPOSSIBLE)
            return ASK_IMPOSSIBLE;
    }
    if (solver == ASK_SOLVER_AUTO && verdict == ASK_UNDECIDED &&
        solve_utl(ask, thread, query, ret) == ASK_IMPOSSIBLE)
        return ASK_IMPOSSIBLE;
    if (solver == ASK_SOLVER_AUTO && verdict == ASK_UNDECIDED) {
        ret->solver = ASK_SOLVER_VPA;
        ret->context_insensitive = false;
    }
    return verdict;
}

enum ask_verdict ask_solve(struct ask_session *session, const struct query *query,
                           enum ask_solver solver, bool with_witness, struct budget *budget,
                           struct ask_result *ret)
{
    if (session->ask->is_single)
        return ask_solve_thread(session, &session->ask->threads[0], query, solver, with_witness,
                                budget, ret);
    return ask_solve_threads(session, query, solver, with_witness, budget, ret);
}

// ---- Witnesses

// Is a run that was found before one for this query as well? Only where much has to be visited:
// elsewhere a short one is wanted.
static bool answer_from_kept(struct ask_session *session, struct automaton *query,
                             enum ask_solver solver, struct ask_result *ret)
{
    if ((solver != ASK_SOLVER_VPA && solver != ASK_SOLVER_AUTO) || !session->ask->is_single ||
        session->ask->ran.length <= session->ran_most)
        return false;
    for (size_t i = 0; i < session->runs.length; i++) {
        const struct run *run = &session->runs.data[i];

        if (witness_problem(session->ask, &session->ask->threads[0], run, query, false))
            continue;
        *ret = (struct ask_result){.solver = ASK_SOLVER_VPA, .has_witness = true};
        ret->witness.events = xmalloc_array(run->count + 1u, sizeof(*run->events));
        memcpy(ret->witness.events, run->events, run->count * sizeof(*run->events));
        ret->witness.count = run->count;
        return true;
    }
    return false;
}

static void keep_run(struct ask_session *session, const struct run *run)
{
    struct run copy = {xmalloc_array(run->count + 1u, sizeof(*run->events)), run->count};

    memcpy(copy.events, run->events, run->count * sizeof(*run->events));
    if (session->runs.length == RUNS_KEPT) {
        run_deinit(&session->runs.data[1]); // the first is what was seen, and nothing else
        memmove(&session->runs.data[1], &session->runs.data[2], (RUNS_KEPT - 2) * sizeof(copy));
        session->runs.length--;
    }
    run_vec_push(&session->runs, copy);
}

// utl's own is none: a run of the same graph.
static void find_flat_witness(struct ask_session *session, const struct ask_thread *thread,
                              struct automaton *query, struct budget *budget,
                              struct ask_result *ret)
{
    struct ask_result flat = {0};
    struct budget some;
    double left = budget_seconds_left(budget);

    // the answer stands without one
    budget_init(&some, left < WITNESS_SECONDS ? left : WITNESS_SECONDS, budget->memory);
    if (left > 0 &&
        solve_product(session, thread, query, ASK_SOLVER_FSA, true, &some, &flat) == ASK_POSSIBLE &&
        flat.has_witness && !witness_problem(session->ask, thread, &flat.witness, query, true)) {
        ret->witness = flat.witness;
        ret->has_witness = true;
        flat.witness = (struct run){0};
    }
    ask_result_deinit(&flat);
}

static void check_witness(struct ask_session *session, const struct ask_thread *thread,
                          struct automaton *query, struct ask_result *ret)
{
    if (!ret->has_witness)
        return;
    ret->witness_problem =
        witness_problem(session->ask, thread, &ret->witness, query, ret->context_insensitive);
    if (ret->witness_problem)
        ret->verdict = ASK_UNDECIDED;
    else if (!ret->context_insensitive && session->ask->is_single)
        keep_run(session, &ret->witness);
}

void ask_prove(struct ask_session *session, const struct ask_thread *thread,
               const struct query *query, struct budget *budget, struct ask_result *ret)
{
    struct automaton *automaton =
        query ? query_automaton(query, ret->context_insensitive ? QUERY_REGULAR : QUERY_EXACT)
              : NULL;

    if (ret->solver == ASK_SOLVER_UTL)
        find_flat_witness(session, thread, automaton, budget, ret);
    else
        check_witness(session, thread, automaton, ret);
    automaton_destroy(automaton);
}

static void answer(struct ask_session *session, const struct query *query, enum ask_solver solver,
                   struct budget *budget, struct ask_result *ret)
{
    struct ask_case *ask = session->ask;
    bool flat = solver == ASK_SOLVER_UTL || solver == ASK_SOLVER_FSA;
    struct automaton *automaton =
        query ? query_automaton(query, flat ? QUERY_REGULAR : QUERY_EXACT) : NULL;

    *ret = (struct ask_result){0};
    if (!answer_from_kept(session, automaton, solver, ret)) {
        if (solver != ASK_SOLVER_UTL)
            find_certain(session, budget);
        ret->verdict = ask_solve(session, query, solver, true, budget, ret);
        // of several threads each may have been answered for by another solver
        if (ret->verdict == ASK_IMPOSSIBLE)
            ask_explain(session, query, ask->is_single ? ret->solver : solver, budget, ret);
        else if (ret->verdict == ASK_POSSIBLE && ask->is_single)
            ask_prove(session, &ask->threads[0], query, budget, ret);
    }
    automaton_destroy(automaton);
}

void ask_query(struct ask_session *session, const struct query *query, enum ask_solver solver,
               struct budget *budget, struct ask_result *ret)
{
    answer(session, query, solver, budget, ret);
}

void ask_consistent(struct ask_session *session, enum ask_solver solver, struct budget *budget,
                    struct ask_result *ret)
{
    answer(session, NULL, solver, budget, ret);
}

void ask_result_deinit(struct ask_result *result)
{
    run_deinit(&result->witness);
    free(result->because);
    free(result->aside);
    *result = (struct ask_result){0};
}

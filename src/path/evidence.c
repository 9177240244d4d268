// SPDX-License-Identifier: Apache-2.0
#include "path/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "ask/witness.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "common/vec.h"
#include "path/evidence_internal.h"
#include "program/model.h"
#include "solve/automaton.h"
#include "solve/conjunction.h"

// Where the best path misses calls that were made: so many of the next best are tried.
#define TRIED_MOST 8u

VEC_DEFINE(path_shown_vec, struct path_shown);

struct answering {
    const struct path_request *request;
    struct budget *budget;
    struct path_shown_vec shown;
    struct path_answer *answer;
};

// ---- Counting again

static double score_of(const struct path_request *request, uint64_t touched)
{
    double score = 0;
    uint32_t cluster = UINT32_MAX;

    for (uint32_t c = 0; c < request->critical_count; c++) {
        const struct path_critical *critical = &request->critical[c];

        if (!(touched >> c & 1))
            continue;
        if (request->separate && cluster != UINT32_MAX && cluster != critical->cluster)
            return 0;
        cluster = critical->cluster;
        score += critical->score;
    }
    return score;
}

void path_measure(const struct path_request *request, const struct run *run, uint64_t assumed,
                  uint32_t model_node_count, struct path_found *ret, uint64_t *flow_length)
{
    ret->length = *flow_length = ret->touched = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->events[i].letter != RUN_STEP)
            continue;
        (*flow_length)++;
        ret->length += run->events[i].node < model_node_count;
        for (uint32_t c = 0; c < request->critical_count; c++)
            if (request->critical[c].node == run->events[i].node &&
                (request->critical[c].assume.number == DATAFLOW_ONE.number || assumed >> c & 1))
                ret->touched |= UINT64_C(1) << c;
    }
    ret->score = score_of(request, ret->touched);
}

const char *path_rule_problem(const struct path_request *request, const struct run *run)
{
    uint64_t seen = 0; // orders whose first place was reached

    for (uint32_t i = 0; i < run->count; i++) {
        uint32_t node = run->events[i].node;

        if (run->events[i].letter != RUN_STEP)
            continue;
        if (request->avoid && bitset_test(request->avoid, node))
            return "it reaches what is to be avoided";
        for (uint32_t o = 0; o < request->order_count; o++) {
            if (request->orders[o].after == node && !(seen >> o & 1))
                return "it does not keep to an order";
            if (request->orders[o].before == node)
                seen |= UINT64_C(1) << o;
        }
    }
    return NULL;
}

static bool same_score(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

// Is it what the solver says it is? Its length becomes what is shown.
static const char *recount(const struct path_request *request, const struct ask_case *ask,
                           struct path_found *found)
{
    struct path_found counted;
    uint64_t flow_length;
    const char *problem = path_rule_problem(request, &found->run);

    path_measure(request, &found->run, found->touched, ask->model->node_count, &counted,
                 &flow_length);
    if (!problem && found->length != flow_length)
        problem = "its length is not what was said";
    if (!problem && counted.touched != found->touched)
        problem = "it does not touch what was said";
    if (!problem && !same_score(counted.score, found->score))
        problem = "its score is not what was said";
    found->length = counted.length;
    found->score = counted.score;
    return problem;
}

// ---- One failure

static struct automaton *join_automata(const struct ask_case *ask, bool *is_one)
{
    struct ask_automaton_vec all = VEC_INIT;
    struct automaton *joined = NULL;

    ask_automaton_vec_append(&all, ask->given.data, ask->given.length);
    if (ask->is_single)
        ask_automaton_vec_append(&all, ask->automata.data, ask->automata.length);
    *is_one = all.length == 1;
    if (all.length)
        joined = *is_one ? all.data[0]
                         : conjunction_create(all.data, (uint32_t)all.length, "what is known");
    ask_automaton_vec_deinit(&all);
    return joined;
}

static struct path_problem problem_of(const struct path_request *request,
                                      const struct ask_case *ask, uint32_t top)
{
    const struct ask_thread *thread = &ask->threads[0];

    return (struct path_problem){.flow = request->flow,
                                 .closed = &ask->closed,
                                 .absent = &ask->absent,
                                 .avoid = request->avoid,
                                 .critical = request->critical,
                                 .critical_count = request->critical_count,
                                 .orders = request->orders,
                                 .order_count = request->order_count,
                                 .dataflow = request->dataflow,
                                 .views = thread->views.data,
                                 .view_count = (uint32_t)thread->views.length,
                                 .start = thread->start,
                                 .per_step = request->per_step,
                                 .separate = request->separate,
                                 .top = top,
                                 .method = request->method,
                                 .weights = request->weights};
}

void path_evidence_solve(const struct path_problem *problem, const struct ask_case *ask,
                         struct budget *budget, struct path_result *ret)
{
    struct path_problem with = *problem;
    bool is_one;
    struct automaton *automaton = join_automata(ask, &is_one);

    with.automaton = automaton;
    if (automaton && automaton->initial == AUTOMATON_DEAD)
        *ret = (struct path_result){.complete = true, .is_optimal = true};
    else
        path_solve(&with, budget, ret);
    if (!is_one)
        automaton_destroy(automaton);
}

// Does anything have to be visited that the search does not look at?
static bool has_visits(const struct ask_case *ask)
{
    if (ask->is_single && ask->ran.length)
        return true;
    for (size_t v = 0; v < ask->threads[0].views.length; v++)
        if (ask->threads[0].views.data[v]->ran_count)
            return true;
    return false;
}

static void show(struct answering *answering, struct path_shown *shown)
{
    path_shown_vec_push(&answering->shown, *shown);
    shown->found.run = (struct run){0};
}

// Takes over a run that visits everything; true: it is one.
static bool show_visiting(struct answering *answering, const struct ask_case *ask, uint32_t failure,
                          uint64_t touched, struct run *run)
{
    const struct path_request *request = answering->request;
    struct path_shown shown = {.failure = failure, .found = {.run = *run, .doubtful = UINT32_MAX}};
    uint64_t flow_length;
    const char *problem = witness_problem(ask, &ask->threads[0], run, NULL, false);

    path_measure(request, run, touched, ask->model->node_count, &shown.found, &flow_length);
    if (!problem)
        problem = path_rule_problem(request, run);
    *run = (struct run){0};
    if (problem) {
        answering->answer->problem = problem;
        run_deinit(&shown.found.run);
        return false;
    }
    if (request->dataflow)
        shown.found.doubtful = dataflow_replay(request->dataflow, &shown.found.run);
    shown.found.is_feasible = shown.found.doubtful == UINT32_MAX;
    show(answering, &shown);
    return true;
}

// The path misses something that ran: another one that does not and touches as much.
static bool visit(struct answering *answering, struct ask_case *ask, uint32_t failure,
                  uint64_t touched)
{
    struct run run = {0};
    uint32_t missed = 0;
    enum path_visit result =
        path_visit_all(answering->request, ask, touched, answering->budget, &run, &missed);

    if (result == PATH_VISIT_UNKNOWN) {
        answering->answer->complete = false;
        answering->answer->missed = missed;
    }
    bool shown = result == PATH_VISITED && show_visiting(answering, ask, failure, touched, &run);
    run_deinit(&run);
    return shown;
}

// What fits but for calls that were made: better than nothing where no more was found in time.
static bool show_missing(struct answering *answering, struct ask_case *ask, uint32_t failure,
                         struct path_result *result)
{
    struct path_shown shown = {.failure = failure, .is_shortest = true};
    size_t ran = ask->ran.length;
    uint64_t visited = 0;

    if (!result->count || !result->paths[0].run.count)
        return false;
    shown.found = result->paths[0];
    ask->ran.length = 0;
    const char *problem = recount(answering->request, ask, &shown.found);
    if (!problem)
        problem = witness_problem(ask, &ask->threads[0], &shown.found.run, NULL, false);
    ask->ran.length = ran;
    for (size_t i = 0; i < ran; i++) {
        bool found = false;

        for (uint32_t k = 0; !found && k < shown.found.run.count; k++)
            found = shown.found.run.events[k].letter == RUN_STEP &&
                    shown.found.run.events[k].node == ask->ran.data[i];
        visited += found;
    }
    shown.missed = (uint32_t)(ran - visited);
    if (problem)
        return false;
    show(answering, &shown);
    result->paths[0].run = (struct run){0};
    return true;
}

// No path of those that were found can be had: any that fits.
static void visit_most(struct answering *answering, struct ask_case *ask, uint32_t failure)
{
    struct run run = {0};
    uint32_t missed = 0;
    enum path_visit result =
        path_visit_most(answering->request, ask, answering->budget, &run, &missed);

    answering->answer->is_optimal = false;
    if (result == PATH_VISITED)
        show_visiting(answering, ask, failure, UINT64_MAX, &run);
    else if (result == PATH_VISIT_UNKNOWN) {
        answering->answer->complete = false;
        answering->answer->missed = missed;
    }
    run_deinit(&run);
}

static bool was_tried(const struct path_result *result, uint32_t count, uint64_t touched)
{
    for (uint32_t i = 0; i < count; i++)
        if (result->paths[i].touched == touched)
            return true;
    return false;
}

// Up to request->top of the paths, as they are or by way of what they miss.
static void take_paths(struct answering *answering, struct ask_case *ask, uint32_t failure,
                       struct path_result *result)
{
    uint32_t wanted = answering->request->top ? answering->request->top : 1, taken = 0;
    bool visits = has_visits(ask);

    for (uint32_t i = 0; i < result->count && taken < wanted; i++) {
        struct path_shown shown = {
            .found = result->paths[i], .failure = failure, .is_shortest = true};
        const char *problem = recount(answering->request, ask, &shown.found);
        bool fits =
            !problem && !witness_problem(ask, &ask->threads[0], &shown.found.run, NULL, false);

        if (fits) {
            show(answering, &shown);
            result->paths[i].run = (struct run){0};
            taken++;
        } else if (!problem && visits)
            taken += !was_tried(result, i, shown.found.touched) &&
                     visit(answering, ask, failure, shown.found.touched);
        else
            answering->answer->problem =
                problem ? problem
                        : witness_problem(ask, &ask->threads[0], &shown.found.run, NULL, false);
        // a path that scores more, and cannot be had
        if (!taken && i + 1 < result->count &&
            !same_score(result->paths[i + 1].score, result->paths[0].score))
            answering->answer->is_optimal = false;
    }
    size_t before = answering->shown.length;
    if (!taken && result->count && visits && !answering->answer->problem)
        visit_most(answering, ask, failure);
    if (!taken && visits && answering->shown.length == before && !answering->answer->complete)
        show_missing(answering, ask, failure, result);
}

static void take_result(struct answering *answering, const struct path_result *result)
{
    answering->answer->complete &= result->complete;
    answering->answer->is_optimal &= result->is_optimal;
    if (result->note)
        answering->answer->note = result->note;
}

static void solve_one(struct answering *answering, struct ask_case *ask, uint32_t failure)
{
    uint32_t top = answering->request->top;
    struct path_result result;

    if (ask->threads[0].is_impossible)
        return;
    if (has_visits(ask) && top < TRIED_MOST)
        top = TRIED_MOST;
    struct path_problem problem = problem_of(answering->request, ask, top);
    path_evidence_solve(&problem, ask, answering->budget, &result);
    if (result.count && has_visits(ask))
        path_solve_must(&problem, ask, answering->budget, &result);
    take_result(answering, &result);
    take_paths(answering, ask, failure, &result);
    path_result_deinit(&result);
}

// ---- Several failures at once

// Is a stack of certain calls all that is known?
static bool is_plain_stack(const struct ask_case *ask)
{
    const struct ask_view_vec *views = &ask->threads[0].views;

    for (size_t f = 0; f < ask->facts.length; f++)
        if (ask->facts.data[f].kind != ASK_FACT_STACK && ask->facts.data[f].kind != ASK_FACT_GIVEN)
            return false;
    for (size_t v = 0; v < views->length; v++)
        if (views->data[v]->function == FLOW_NONE || views->data[v]->end_count != 1)
            return false;
    return !ask->threads[0].is_impossible && views->length;
}

static bool are_plain_stacks(struct ask_case *const *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_plain_stack(cases[i]) || cases[i]->threads[0].start != cases[0]->threads[0].start)
            return false;
    return count > 1;
}

static void solve_stacks(struct answering *answering, struct ask_case *const *cases, uint32_t count)
{
    struct path_stack *stacks = xcalloc(count, sizeof(*stacks));
    struct path_problem problem = problem_of(answering->request, cases[0], answering->request->top);
    struct path_result result;

    for (uint32_t i = 0; i < count; i++) {
        const struct ask_view_vec *views = &cases[i]->threads[0].views;
        uint32_t *nodes = xmalloc_array(views->length, sizeof(*nodes));

        for (size_t v = 0; v < views->length; v++)
            nodes[v] = views->data[v]->node[views->data[v]->end[0]];
        stacks[i] = (struct path_stack){nodes, (uint32_t)views->length};
    }
    problem.views = NULL;
    problem.view_count = 0;
    problem.stacks = stacks;
    problem.stack_count = count;
    path_evidence_solve(&problem, cases[0], answering->budget, &result);
    take_result(answering, &result);
    for (uint32_t i = 0; i < result.count; i++) {
        struct path_result one = {.paths = &result.paths[i], .count = 1};
        uint32_t failure = result.paths[i].stack;

        take_paths(answering, cases[failure], failure, &one);
    }
    for (uint32_t i = 0; i < count; i++)
        free((uint32_t *)stacks[i].nodes);
    free(stacks);
    path_result_deinit(&result);
}

// ---- All of it

static double worth(const struct path_request *request, const struct path_shown *shown)
{
    return shown->found.score - request->per_step * (double)shown->found.length;
}

// Best first; paths of one failure stay in their order where nothing tells them apart.
static void sort_paths(const struct path_request *request, struct path_shown_vec *shown)
{
    for (size_t i = 1; i < shown->length; i++)
        for (size_t k = i; k > 0; k--) {
            struct path_shown *a = &shown->data[k - 1], *b = &shown->data[k], swap = *a;
            double first = worth(request, a), second = worth(request, b);

            if (same_score(first, second) ? a->found.length <= b->found.length : first > second)
                break;
            *a = *b;
            *b = swap;
        }
}

void path_answer_init(struct path_answer *answer, const struct path_request *request,
                      struct ask_case *const *cases, uint32_t count, struct budget *budget)
{
    struct answering answering = {.request = request, .budget = budget, .answer = answer};
    uint32_t wanted = request->top ? request->top : 1;

    *answer = (struct path_answer){.complete = true, .is_optimal = true};
    if (are_plain_stacks(cases, count))
        solve_stacks(&answering, cases, count);
    else
        for (uint32_t i = 0; i < count; i++)
            solve_one(&answering, cases[i], i);
    sort_paths(request, &answering.shown);
    while (answering.shown.length > wanted)
        run_deinit(&answering.shown.data[--answering.shown.length].found.run);
    answer->is_optimal &= answer->complete && !answer->problem;
    answer->count = (uint32_t)answering.shown.length;
    answer->paths = path_shown_vec_steal(&answering.shown);
}

void path_answer_deinit(struct path_answer *answer)
{
    for (uint32_t i = 0; i < answer->count; i++)
        run_deinit(&answer->paths[i].found.run);
    free(answer->paths);
    *answer = (struct path_answer){0};
}

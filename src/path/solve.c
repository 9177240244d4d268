// SPDX-License-Identifier: Apache-2.0
#include "path/solve.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "solve/automaton.h"

#define DATAFLOW_SECONDS 20.0 // of following values, before they are left aside

// ---- What there is to look at

static void add_all(struct bitset *set, const struct bitset *others)
{
    if (others)
        bitset_union(set, others);
}

static void find_noticed(struct solving *solving)
{
    const struct path_problem *problem = solving->problem;
    const struct automaton *automaton = problem->automaton;

    for (uint32_t n = 0; n < problem->flow->node_count; n++)
        if (marks_of_node(&solving->marks, n) || (automaton && automaton->minds(automaton, n)))
            bitset_set(&solving->noticed, n);
}

static void solving_init(struct solving *solving)
{
    const struct path_problem *problem = solving->problem;
    uint32_t nodes = problem->flow->node_count;

    marks_init(&solving->marks, problem);
    bitset_init(&solving->closed, nodes);
    bitset_init(&solving->blocked, nodes);
    bitset_init(&solving->noticed, nodes);
    add_all(&solving->closed, problem->closed);
    add_all(&solving->blocked, problem->absent);
    add_all(&solving->blocked, problem->avoid);
    find_noticed(solving);
    calls_init(&solving->calls, &(struct calls_facts){.flow = problem->flow,
                                                      .closed = &solving->closed,
                                                      .blocked = &solving->blocked,
                                                      .noticed = &solving->noticed});
    bitset_init(&solving->refined, problem->flow->function_count);
    solving_look_at_calls(solving);
}

// What a jump out of a call leaves behind is not told by dataflow_skip: such calls are looked at.
void solving_look_at_calls(struct solving *solving)
{
    const struct path_problem *problem = solving->problem;
    struct calls *calls = &solving->calls;

    bitset_union(&calls->matters, &solving->refined);
    for (uint32_t f = 0; problem->dataflow && f < problem->flow->function_count; f++)
        if (calls->ends[CALL_JUMPS][f] != CALLS_FAR)
            bitset_set(&calls->matters, f);
    if (!problem->no_compression)
        return;
    bitset_set_all(&calls->matters);
    calls->handlers_matter = problem->flow->signals != FLOW_NONE;
}

static void solving_deinit(struct solving *solving)
{
    marks_deinit(&solving->marks);
    calls_deinit(&solving->calls);
    bitset_deinit(&solving->closed);
    bitset_deinit(&solving->blocked);
    bitset_deinit(&solving->noticed);
    bitset_deinit(&solving->refined);
}

// ---- What was found

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void candidates_sort(struct candidate_vec *candidates)
{
    if (candidates->length)
        qsort(candidates->data, candidates->length, sizeof(*candidates->data), compare_candidates);
}

void candidates_thin(const struct marks *marks, struct candidate_vec *candidates)
{
    struct path_id_vec keep = VEC_INIT;
    size_t kept = 0;

    for (size_t i = 0; i < candidates->length; i++) {
        const struct candidate *next = &candidates->data[i];
        bool is_covered = false;

        // orders are kept by all of them: what they have and need does not count any more
        for (size_t k = 0; k < candidates->length && !is_covered; k++) {
            const struct candidate *other = &candidates->data[k];
            uint64_t rest = next->bits & ~marks->touched;

            is_covered = k != i && other->length <= next->length &&
                         marks_covers(marks, (other->bits & marks->touched) | rest, next->bits) &&
                         (k < i || other->length < next->length ||
                          !marks_covers(marks, next->bits, (other->bits & marks->touched) | rest));
        }
        if (!is_covered)
            path_id_vec_push(&keep, (uint32_t)i);
    }
    for (size_t i = 0; i < keep.length; i++)
        candidates->data[kept++] = candidates->data[keep.data[i]];
    candidates->length = kept;
    path_id_vec_deinit(&keep);
}

uint64_t solving_count(const struct solving *solving, const struct path_event_vec *events,
                       uint64_t *length)
{
    uint64_t bits = 0;

    *length = 0;
    for (size_t i = 0; i < events->length; i++)
        if (events->data[i].letter == RUN_STEP) {
            (*length)++;
            bits = marks_extend(&solving->marks, bits,
                                marks_of_node(&solving->marks, events->data[i].node));
        }
    return bits;
}

// By number of critical node; those that count only where something holds, if the path has them.
static uint64_t touched_by(const struct solving *solving, const struct path_event_vec *events,
                           uint64_t bits)
{
    const struct path_problem *problem = solving->problem;
    const struct marks *marks = &solving->marks;
    uint64_t touched = marks_touched(marks, bits & marks->touched);

    for (uint32_t c = 0; c < problem->critical_count; c++) {
        if (marks->bit_of[c] != MARKS_NO_BIT)
            continue;
        for (size_t i = 0; !(touched >> c & 1) && i < events->length; i++)
            if (events->data[i].letter == RUN_STEP &&
                events->data[i].node == problem->critical[c].node)
                touched |= UINT64_C(1) << c;
    }
    return touched;
}

static bool is_same_run(const struct run *run, const struct path_event_vec *events)
{
    if (run->count != events->length)
        return false;
    for (uint32_t i = 0; i < run->count; i++)
        if (run->events[i].letter != events->data[i].letter ||
            run->events[i].node != events->data[i].node ||
            run->events[i].function != events->data[i].function)
            return false;
    return true;
}

// By event: a call that has been completed.
static bool *completed_calls(const struct run *run)
{
    bool *is_completed = xcalloc(run->count + 1u, sizeof(bool));
    struct path_id_vec open = VEC_INIT;

    for (uint32_t i = 0; i < run->count; i++)
        if (run->events[i].letter == RUN_CALL)
            path_id_vec_push(&open, i);
        else if (run->events[i].letter == RUN_LEAVE)
            is_completed[path_id_vec_pop(&open)] = true;
    path_id_vec_deinit(&open);
    return is_completed;
}

bool solving_refine(struct solving *solving, const struct path_found *found)
{
    struct path_event_vec events = VEC_INIT; // without what is inside of calls that were passed
    bool *is_completed = completed_calls(&found->run), is_news = false;
    uint32_t depth = 0; // calls within one that was passed, and itself

    for (uint32_t i = 0; i < found->run.count; i++) {
        const struct run_event *event = &found->run.events[i];

        if (depth) {
            depth += event->letter == RUN_CALL;
            depth -= event->letter == RUN_LEAVE;
        }
        if (depth)
            continue;
        path_event_vec_push(&events, *event);
        if (!is_completed[i] || bitset_test(&solving->calls.matters, event->function))
            continue;
        depth = 1;
        is_news |= !bitset_test(&solving->refined, event->function);
    }
    free(is_completed);
    struct run run = {events.data, (uint32_t)events.length};
    bool would_do = is_news && dataflow_replay(solving->problem->dataflow, &run) == UINT32_MAX;
    for (uint32_t i = 0; would_do && i + 1 < run.count; i++)
        if (run.events[i].letter == RUN_CALL && run.events[i + 1].letter == RUN_LEAVE)
            bitset_set(&solving->refined, run.events[i].function);
    path_event_vec_deinit(&events);
    return would_do;
}

bool solving_keep(struct solving *solving, const struct candidate *candidate,
                  struct path_event_vec *events)
{
    const struct path_problem *problem = solving->problem;
    struct path_found found = {.length = candidate->length,
                               .stack = candidate->stack,
                               .is_feasible = true,
                               .doubtful = UINT32_MAX};
    uint64_t assumed = solving->marks.assumed, length;
    uint64_t bits = solving_count(solving, events, &length);

    assert(length == candidate->length);
    assert((bits & ~assumed) == (candidate->bits & ~assumed) && !(candidate->bits & ~bits));
    assert(marks_is_allowed(&solving->marks, bits));
    found.touched = touched_by(solving, events, candidate->bits);
    found.score = problem->measure
                      ? problem->measure(problem->measure_context, found.touched, found.length)
                      : marks_worth(&solving->marks, candidate->bits, 0);
    for (size_t i = 0; i < solving->found.length; i++)
        if (is_same_run(&solving->found.data[i].run, events)) {
            path_event_vec_deinit(events);
            return false;
        }
    found.run.count = (uint32_t)events->length;
    found.run.events = path_event_vec_steal(events);
    if (problem->dataflow) {
        found.doubtful = dataflow_replay(problem->dataflow, &found.run);
        found.is_feasible = found.doubtful == UINT32_MAX;
    }
    path_found_vec_push(&solving->found, found);
    return true;
}

void solving_sort_out(struct solving *solving)
{
    uint32_t good = 0, top = solving_top(solving);
    size_t kept = 0;

    for (size_t i = 0; i < solving->found.length; i++)
        good += solving->found.data[i].is_feasible;
    for (size_t i = 0; i < solving->found.length; i++) {
        bool keep = kept < top && (solving->found.data[i].is_feasible || (!good && kept == 0));

        if (keep) {
            solving->found.data[kept++] = solving->found.data[i];
            continue;
        }
        // one of several paths that were alike: of the others nothing is known
        if (!solving->found.data[i].is_feasible && kept < top) {
            solving->result->complete = false;
            solving->result->note = "values of variables speak against a better path; others that "
                                    "touch the same were not all looked at";
        }
        run_deinit(&solving->found.data[i].run);
    }
    solving->found.length = kept;
}

// ----

static void solve_once(const struct path_problem *problem, struct budget *budget,
                       struct path_result *ret)
{
    struct solving solving = {.problem = problem, .result = ret, .budget = budget};

    *ret = (struct path_result){.complete = true};
    solving_init(&solving);
    if (problem->method == PATH_AUTO && problem->weights == PATH_WEIGHTS_AUTO)
        search_solve(&solving);
    else
        system_solve(&solving);
    ret->is_optimal = ret->complete && !problem->dataflow;
    ret->count = (uint32_t)solving.found.length;
    ret->paths = path_found_vec_steal(&solving.found);
    solving_deinit(&solving);
}

// Values were too much: a path without them, and whether they speak against it.
static void solve_without_values(const struct path_problem *problem, struct budget *budget,
                                 struct path_result *ret)
{
    struct path_problem plain = *problem;

    plain.dataflow = NULL;
    path_result_deinit(ret);
    solve_once(&plain, budget, ret);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->paths[i].doubtful = dataflow_replay(problem->dataflow, &ret->paths[i].run);
        ret->paths[i].is_feasible = ret->paths[i].doubtful == UINT32_MAX;
    }
    ret->complete = ret->is_optimal = false;
    ret->note = "values of variables took too long to follow and were left aside; there may be a "
                "better path that they allow";
}

void path_solve(const struct path_problem *problem, struct budget *budget, struct path_result *ret)
{
    struct budget unlimited, part;

    budget_init(&unlimited, 0, 0);
    if (!budget)
        budget = &unlimited;
    if (!problem->dataflow) {
        solve_once(problem, budget, ret);
        return;
    }
    // half of the time for values; without a limit, as long as somebody will wait
    double seconds = budget_seconds_left(budget) / 2;
    part = *budget;
    if (seconds > 0)
        budget_init(&part, seconds < DATAFLOW_SECONDS ? seconds : DATAFLOW_SECONDS, budget->memory);
    solve_once(problem, &part, ret);
    if (part.state != BUDGET_LEFT && !ret->count && !budget_look(budget))
        solve_without_values(problem, budget, ret);
}

void path_result_deinit(struct path_result *result)
{
    for (uint32_t i = 0; i < result->count; i++)
        run_deinit(&result->paths[i].run);
    free(result->paths);
    *result = (struct path_result){0};
}

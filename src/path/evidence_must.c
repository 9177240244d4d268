// SPDX-License-Identifier: Apache-2.0
/*
 * A few calls that were made and that the best path misses, told to the search itself: as critical
 * nodes that are worth more than all others together. Then the best path visits them if any path
 * does, is a shortest one of those, and values have been looked at. Where there are many, or it
 * takes long, detours are what is left (evidence_visits.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "path/evidence_internal.h"

#define MUST_MOST    20u
#define MUST_ROUNDS  6u
#define MUST_SECONDS 3.0

static bool visits(const struct run *run, uint32_t node)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (run->events[i].letter == RUN_STEP && run->events[i].node == node)
            return true;
    return false;
}

static bool has(const struct ask_id_vec *nodes, uint32_t node)
{
    for (size_t i = 0; i < nodes->length; i++)
        if (nodes->data[i] == node)
            return true;
    return false;
}

// Adds what the run misses; how much that is.
static uint32_t add_missed(const struct ask_case *ask, const struct run *run,
                           struct ask_id_vec *must)
{
    size_t before = must->length;

    for (size_t i = 0; i < ask->ran.length && must->length <= MUST_MOST; i++)
        if (!has(must, ask->ran.data[i]) && !visits(run, ask->ran.data[i]))
            ask_id_vec_push(must, ask->ran.data[i]);
    return (uint32_t)(must->length - before);
}

// More than all scores can make up for.
static double must_score(const struct path_problem *problem)
{
    double score = 1;

    for (uint32_t c = 0; c < problem->critical_count; c++)
        score += 2 * fabs(problem->critical[c].score);
    return score + problem->per_step * 1e6;
}

// Takes what was added out of a result again. False: the best path does not visit all of it.
static bool strip(const struct path_problem *problem, uint32_t must, double score,
                  struct path_result *result)
{
    uint64_t own = (UINT64_C(1) << problem->critical_count) - 1;
    uint64_t all = ((UINT64_C(1) << must) - 1) << problem->critical_count;

    // those that miss some are not wanted, and are behind those that do not
    while (result->count && (result->paths[result->count - 1].touched & all) != all)
        run_deinit(&result->paths[--result->count].run);
    for (uint32_t i = 0; i < result->count; i++) {
        struct path_found *found = &result->paths[i];

        found->touched &= own;
        found->score -= score * must;
    }
    return result->count > 0;
}

static bool solve_with(const struct path_problem *problem, const struct ask_case *ask,
                       const struct ask_id_vec *must, struct budget *budget,
                       struct path_result *ret)
{
    struct path_critical critical[PATH_CRITICAL_MOST];
    struct path_problem with = *problem;
    struct budget some;
    double left = budget_seconds_left(budget) / 4, score = must_score(problem);

    if (problem->critical_count)
        memcpy(critical, problem->critical, problem->critical_count * sizeof(*critical));
    for (size_t i = 0; i < must->length; i++)
        critical[with.critical_count++] = (struct path_critical){
            .node = must->data[i], .score = score, .cluster = 0, .assume = DATAFLOW_ONE};
    with.critical = critical;
    budget_init(&some, left < MUST_SECONDS ? left : MUST_SECONDS, budget->memory);
    path_evidence_solve(&with, ask, &some, ret);
    return ret->complete && strip(problem, (uint32_t)must->length, score, ret);
}

bool path_solve_must(const struct path_problem *problem, const struct ask_case *ask,
                     struct budget *budget, struct path_result *result)
{
    uint32_t room = PATH_CRITICAL_MOST - 2 * problem->order_count;
    struct ask_id_vec must = VEC_INIT;
    const struct run *run = &result->paths[0].run;
    struct path_result found = {0};
    bool done = false;

    for (uint32_t round = 0; !problem->separate && ask->is_single && round < MUST_ROUNDS; round++) {
        if (!add_missed(ask, run, &must)) {
            done = round > 0;
            break;
        }
        path_result_deinit(&found);
        if (must.length > MUST_MOST || must.length + problem->critical_count > room ||
            !solve_with(problem, ask, &must, budget, &found))
            break;
        run = &found.paths[0].run;
    }
    ask_id_vec_deinit(&must);
    if (done) {
        struct path_result swap = *result;

        *result = found;
        found = swap;
    }
    path_result_deinit(&found);
    return done;
}

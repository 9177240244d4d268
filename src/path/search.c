// SPDX-License-Identifier: Apache-2.0
/*
 * The best path by elements (table.h). First the best marks that any path has, without regard to
 * lengths: sets of marks that cannot be told apart by what they are worth are not kept apart then,
 * and in the circles that programs are made of the largest soon covers all others. That says what
 * the best path is worth, and which marks it is sure to have. Then the shortest path that is worth
 * as much, led by how far it is to each of them.
 *
 * Where length counts against scores, or paths are to be compared (measure, top), all that could
 * matter is looked at, by length.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "path/bounds.h"
#include "path/solve.h"
#include "path/table.h"

#define ELEMENTS_MOST 12000000u
// At the limit: so many elements are kept at a vertex, for each number of marks.
#define CROWD_MOST 4u
// Paths that are tried when dataflow speaks against the best.
#define TRIES_MOST 24u
#define SOME_MARKS 64u

struct search {
    struct solving *solving;
    struct graph *graph;
    struct bounds bounds;
    bool has_bounds;
};

static void gather(const struct search *search, const struct table *table,
                   struct candidate_vec *ret)
{
    const struct graph *graph = search->graph;

    for (size_t g = 0; g < graph->goals.length; g++)
        for (uint32_t i = table->first[graph->goals.data[g].vertex]; i != TABLE_NONE;
             i = table->elements.data[i].next) {
            const struct element *element = &table->elements.data[i];

            if (element->is_settled)
                candidate_vec_push(
                    ret, (struct candidate){element->bits, element->length,
                                            marks_worth(&search->solving->marks, element->bits,
                                                        element->length),
                                            graph->goals.data[g].stack, i});
        }
    candidates_sort(ret);
    if (!search->solving->problem->dataflow)
        candidates_thin(&search->solving->marks, ret);
}

#include <stdio.h> // DBG
#include <time.h> // DBG
static void count_work(struct search *search, const struct table *table)
{
    if (getenv("PATH_DBG")) fprintf(stderr, "order %d elements %zu combos %llu scans %llu found %d clock %.3f\n", table->order, table->elements.length, (unsigned long long)table->dbg_adds, (unsigned long long)table->dbg_scans, table->found != TABLE_NONE, (double)clock()/CLOCKS_PER_SEC); // DBG
    search->solving->result->weights += table->elements.length;
}

// The paths of the best candidates, until there are enough that nothing speaks against.
static void tell_best(struct search *search, const struct table *table,
                      const struct candidate_vec *candidates)
{
    struct solving *solving = search->solving;
    uint32_t top = solving_top(solving), good = 0;

    for (size_t i = 0; i < candidates->length && good < top && i < top + TRIES_MOST; i++) {
        struct path_event_vec events = VEC_INIT;

        if (!table_tell(table, candidates->data[i].number, PATH_EVENTS_MOST, &events)) {
            solving->result->complete = false;
            solving->result->note = "a path is too long to be shown";
            path_event_vec_deinit(&events);
            continue;
        }
        if (solving_keep(solving, &candidates->data[i], &events))
            good += solving->found.data[solving->found.length - 1].is_feasible;
    }
}

// Those that nothing speaks against first; of the others one, where there is nothing else.
static void sort_out(struct solving *solving)
{
    uint32_t good = 0, top = solving_top(solving);
    size_t kept = 0;

    for (size_t i = 0; i < solving->found.length; i++)
        good += solving->found.data[i].is_feasible;
    for (size_t i = 0; i < solving->found.length; i++) {
        bool keep = kept < top && (solving->found.data[i].is_feasible || (!good && kept == 0));

        if (keep)
            solving->found.data[kept++] = solving->found.data[i];
        else
            run_deinit(&solving->found.data[i].run);
    }
    solving->found.length = kept;
}

// ---- The best marks

struct best {
    bool is_there;
    double score;
    uint64_t wanted; // marks that all paths of that score have
};

static void find_best(struct search *search, const struct table *table, struct best *best)
{
    const struct marks *marks = &search->solving->marks;
    struct candidate_vec candidates = VEC_INIT;
    uint64_t positive = marks->touched & marks->good;

    *best = (struct best){.wanted = positive};
    gather(search, table, &candidates);
    for (size_t i = 0; i < candidates.length; i++) {
        double score = marks_worth(marks, candidates.data[i].bits, 0);

        if (!best->is_there || score > best->score)
            *best = (struct best){true, score, positive};
        if (score == best->score)
            best->wanted &= candidates.data[i].bits;
    }
    candidate_vec_deinit(&candidates);
}

static bool is_sum(const struct path_problem *problem)
{
    return !problem->measure && !problem->separate;
}

// The elements at hand are what there is to choose from.
static void finish(struct search *search, const struct table *table)
{
    struct candidate_vec candidates = VEC_INIT;

    gather(search, table, &candidates);
    tell_best(search, table, &candidates);
    candidate_vec_deinit(&candidates);
}

// A shortest path that is worth as much as the best. False: not within the limits.
static bool find_shortest(struct search *search, const struct best *best)
{
    struct solving *solving = search->solving;
    struct table table;
    bool found;

    for (uint64_t left = best->wanted; left && search->bounds.complete; left &= left - 1)
        bounds_add(&search->bounds, (uint32_t)__builtin_ctzll(left));
    table_init(&table, search->graph, solving->budget);
    table.bounds = &search->bounds;
    table.wanted = best->wanted & search->bounds.bits;
    table.has_target = true;
    table.target = best->score;
    table.element_most = ELEMENTS_MOST;
    table_run(&table);
    found = table.found != TABLE_NONE;
    if (found) {
        const struct element *element = &table.elements.data[table.found];
        struct candidate_vec candidates = VEC_INIT;
        uint32_t stack = 0;

        for (size_t g = 0; g < search->graph->goals.length; g++)
            if (search->graph->goals.data[g].vertex == element->vertex)
                stack = search->graph->goals.data[g].stack;
        candidate_vec_push(&candidates, (struct candidate){element->bits, element->length,
                                                           best->score, stack, table.found});
        tell_best(search, &table, &candidates);
        candidate_vec_deinit(&candidates);
    }
    count_work(search, &table);
    table_deinit(&table);
    return found;
}

// All that could matter, by length. False: not within the limits; what was found counts.
static bool find_all(struct search *search, uint64_t length_most, uint32_t crowd)
{
    struct table table;
    bool complete;

    table_init(&table, search->graph, search->solving->budget);
    table.bounds = &search->bounds;
    table.length_most = length_most;
    table.element_most = ELEMENTS_MOST;
    table.a_vertex_most = crowd;
    table_run(&table);
    complete = table.complete && !table.has_dropped;
    if (complete || crowd)
        finish(search, &table);
    count_work(search, &table);
    table_deinit(&table);
    return complete;
}

// Of paths that are longer than this, none is better than the best of these.
static uint64_t length_that_pays(const struct search *search, const struct table *table,
                                 const struct best *best)
{
    const struct path_problem *problem = search->solving->problem;
    struct candidate_vec candidates = VEC_INIT;
    double most = 1e9;

    gather(search, table, &candidates);
    if (problem->per_step > 0 && candidates.length && problem->top < 2 && !problem->dataflow)
        most = (best->score - candidates.data[0].worth) / problem->per_step;
    candidate_vec_deinit(&candidates);
    return most >= 1e9 ? 1000000000u : (uint64_t)(most + 1.5);
}

static void solve_sum(struct search *search)
{
    struct solving *solving = search->solving;
    const struct path_problem *problem = solving->problem;
    struct table table;
    struct best best;

    table_init(&table, search->graph, solving->budget);
    table.order = TABLE_BY_MARKS;
    table.element_most = ELEMENTS_MOST;
    table_run(&table);
    count_work(search, &table);
    find_best(search, &table, &best);
    solving->result->complete &= table.complete;
    bool done = !best.is_there && table.complete;
    if (!done && best.is_there && table.complete && solving_top(solving) < 2 &&
        problem->per_step == 0)
        done = find_shortest(search, &best);
    if (!done || (problem->dataflow && solving->found.length &&
                  !solving->found.data[0].is_feasible)) {
        uint64_t most = length_that_pays(search, &table, &best);

        done |= find_all(search, most, 0);
    }
    if (!done && best.is_there) {
        // what is known to be worth the most, and what a search without ambition finds
        solving->result->complete = false;
        solving->result->note = "too many sets of predictors: there may be a better path";
        finish(search, &table);
        find_all(search, 1000000000u, CROWD_MOST);
    }
    table_deinit(&table);
}

static void solve_any(struct search *search)
{
    struct solving *solving = search->solving;

    if (find_all(search, 1000000000u, 0))
        return;
    solving->result->complete = false;
    solving->result->note = "too many sets of predictors: there may be a better path";
    find_all(search, 1000000000u, CROWD_MOST);
}

static int compare_found(const void *a, const void *b)
{
    const struct path_found *x = a, *y = b;

    return x->length < y->length ? -1 : x->length > y->length;
}

// By what they are worth, all told.
static void sort_found(struct solving *solving)
{
    struct path_found *found = solving->found.data;

    if (solving->found.length)
        qsort(found, solving->found.length, sizeof(*found), compare_found);
    // insertion keeps what is equal in order
    for (size_t i = 1; i < solving->found.length; i++)
        for (size_t k = i; k > 0; k--) {
            double cost = solving->problem->measure ? 0 : solving->problem->per_step;
            double before = found[k - 1].score - cost * (double)found[k - 1].length;
            double here = found[k].score - cost * (double)found[k].length;

            if (here <= before)
                break;
            struct path_found other = found[k];
            found[k] = found[k - 1];
            found[k - 1] = other;
        }
}

void search_solve(struct solving *solving)
{
    struct search search = {.solving = solving};

    search.graph = graph_create(solving->problem, &solving->marks, &solving->calls, GRAPH_SPINE,
                                solving->budget);
    solving->result->complete &= search.graph->complete;
    graph_cut(search.graph);
    if (!solving->problem->no_compression)
        graph_compress(search.graph);
    solving->result->transitions = search.graph->live_edges;
    bounds_init(&search.bounds, search.graph, solving->budget);
    if (search.graph->goals.length) {
        if (is_sum(solving->problem))
            solve_sum(&search);
        else
            solve_any(&search);
    }
    sort_found(solving);
    sort_out(solving);
    solving->result->complete &= search.bounds.complete;
    bounds_deinit(&search.bounds);
    graph_destroy(search.graph);
}

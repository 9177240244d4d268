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

#define ELEMENTS_MOST 3000000u
// Where marks are many, and elements take longer to compare.
#define ELEMENTS_MANY 60000u
// At the limit: so many elements are settled at a vertex, for each number of marks.
#define CROWD_MOST 8u
// Paths that are tried when dataflow speaks against the best.
#define TRIES_MOST 24u
// With dataflow: how often calls that were passed are looked at, and all is done again.
#define ROUNDS_MOST 4u
#define LENGTH_ANY  1000000000u
// The same where only what is near is looked at.
#define CROWD_NEAR 12u

struct search {
    struct solving *solving;
    struct graph *graph;
    struct bounds bounds;
    uint32_t element_most;
};

static void doubt(struct solving *solving, const char *note)
{
    solving->result->complete = false;
    solving->result->note = note;
}

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
                    ret, (struct candidate){
                             element->bits, element->length,
                             marks_worth(&search->solving->marks, element->bits, element->length),
                             graph->goals.data[g].stack, i});
        }
    candidates_sort(ret);
    if (!search->solving->problem->dataflow)
        candidates_thin(&search->solving->marks, ret);
}

static void count_work(struct search *search, const struct table *table)
{
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
            doubt(solving, "a path is too long to be shown");
            path_event_vec_deinit(&events);
            continue;
        }
        if (solving_keep(solving, &candidates->data[i], &events))
            good += solving->found.data[solving->found.length - 1].is_feasible;
    }
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

// The shortest path, and a detour to each of the marks: no best path is longer, where the marks
// that all of them have are worth as much.
static uint64_t shortest_with_detours(const struct search *search, const struct detours *detours,
                                      const struct best *best)
{
    uint32_t shortest = search->bounds.plain.behind[search->graph->origin];
    uint32_t detour = detours_of(detours, best->wanted);

    if (shortest == BOUNDS_FAR || detour == BOUNDS_FAR ||
        marks_worth(&search->solving->marks, best->wanted, 0) < best->score)
        return BOUNDS_FAR;
    return (uint64_t)shortest + detour;
}

// The path to an element at a goal, to be kept in mind.
struct incumbent {
    bool is_there;
    struct candidate candidate;
    struct path_event_vec events;
};

static void remember(struct search *search, const struct table *table, const struct best *best,
                     struct incumbent *incumbent)
{
    const struct element *element = &table->elements.data[table->found];
    struct path_event_vec events = VEC_INIT;
    uint32_t stack = 0;

    for (size_t g = 0; g < search->graph->goals.length; g++)
        if (search->graph->goals.data[g].vertex == element->vertex)
            stack = search->graph->goals.data[g].stack;
    if (!table_tell(table, table->found, PATH_EVENTS_MOST, &events)) {
        doubt(search->solving, "a path is too long to be shown");
        path_event_vec_deinit(&events);
        return;
    }
    path_event_vec_deinit(&incumbent->events);
    *incumbent = (struct incumbent){
        true,
        {element->bits, element->length, best->score, stack, 0},
        events,
    };
}

// One search for a shortest path that is worth as much as the best. True: it was complete.
static bool look_for(struct search *search, const struct best *best, const struct bitset *allowed,
                     const struct detours *detours, uint32_t crowd, struct incumbent *incumbent)
{
    struct table table;

    table_init(&table, search->graph, search->solving->budget);
    table.bounds = &search->bounds;
    table.detours = crowd ? NULL : detours; // what is kept of a crowd may have to pay more
    table.allowed = allowed;
    table.wanted = best->wanted & search->bounds.bits;
    table.has_target = true;
    table.target = best->score;
    table.element_most = search->element_most;
    table.a_vertex_most = crowd;
    table.is_greedy = crowd > 0;
    if (incumbent->is_there)
        table.length_most = incumbent->candidate.length - 1;
    else if (table.detours)
        table.length_most = shortest_with_detours(search, detours, best);
    table_run(&table);
    if (table.found != TABLE_NONE)
        remember(search, &table, best, incumbent);
    bool is_complete = table.complete && !table.has_dropped;
    count_work(search, &table);
    table_deinit(&table);
    return is_complete;
}

// What detours to several marks at once cost: near the shortest ones.
static void look_for_detours(struct search *search, struct detours *detours)
{
    struct table table;

    if (detours->place == FLOW_NONE)
        return;
    table_init(&table, search->graph, search->solving->budget);
    table.start = detours->place;
    table.allowed = &detours->near;
    table.element_most = ELEMENTS_MOST;
    table_run(&table);
    if (table.shortest[detours->place])
        detours_lower(detours, table.shortest[detours->place]);
    count_work(search, &table);
    table_deinit(&table);
}

// A good path soon: on the shortest paths that have one mark and the cheapest detours to one.
static void look_near(struct search *search, const struct best *best, const struct detours *detours,
                      bool has_costs, struct incumbent *incumbent)
{
    bool is_few = detours->cost && !search->solving->problem->dataflow;
    uint32_t crowd = is_few ? 0 : CROWD_NEAR;

    look_for(search, best, &detours->near, has_costs ? detours : NULL, crowd, incumbent);
    if (crowd && !incumbent->is_there)
        look_for(search, best, &detours->near, NULL, 4 * crowd, incumbent);
}

// A shortest path that is worth as much as the best. False: not within the limits, though there may
// be one that is not known to be the shortest.
static bool find_shortest(struct search *search, const struct best *best)
{
    struct solving *solving = search->solving;
    const struct marks *marks = &solving->marks;
    struct incumbent incumbent = {0};
    struct detours detours;
    // detours can be made where nothing speaks against meeting more
    bool has_costs = !marks->bad && !marks->has && !solving->problem->dataflow, is_complete;

    detours_init(&detours, &search->bounds, best->wanted, marks->bit_count);
    for (uint64_t left = best->wanted; left && search->bounds.complete; left &= left - 1)
        bounds_add(&search->bounds, (uint32_t)__builtin_ctzll(left));
    if (has_costs && detours.cost)
        look_for_detours(search, &detours);
    if (best->wanted)
        look_near(search, best, &detours, has_costs, &incumbent);
    search->element_most = detours.cost ? ELEMENTS_MOST : ELEMENTS_MANY;
    is_complete = look_for(search, best, NULL, has_costs ? &detours : NULL, 0, &incumbent);
    search->element_most = ELEMENTS_MOST;
    if (incumbent.is_there)
        solving_keep(solving, &incumbent.candidate, &incumbent.events);
    detours_deinit(&detours);
    return is_complete && incumbent.is_there;
}

static bool look_at_all(struct search *search, uint64_t length_most, uint32_t crowd)
{
    struct table table;
    bool complete;

    table_init(&table, search->graph, search->solving->budget);
    table.bounds = &search->bounds;
    table.length_most = length_most;
    table.element_most = search->element_most;
    table.a_vertex_most = crowd;
    table_run(&table);
    complete = table.complete && !table.has_dropped;
    if (complete || crowd)
        finish(search, &table);
    count_work(search, &table);
    table_deinit(&table);
    return complete;
}

// All that could matter, by length; at the limit the best of it.
static void find_all(struct search *search, uint64_t length_most)
{
    bool is_few = search->solving->marks.bit_count <= DETOURS_MOST;
    bool complete;

    search->element_most = is_few ? ELEMENTS_MOST : ELEMENTS_MANY;
    complete = look_at_all(search, length_most, 0);
    search->element_most = ELEMENTS_MOST;
    if (!complete && !look_at_all(search, length_most, CROWD_MOST))
        doubt(search->solving, "too many sets of predictors: there may be a better path");
}

// Of paths that are longer than this, none is better than the best of these.
static uint64_t length_that_pays(const struct search *search, const struct table *table,
                                 const struct best *best)
{
    const struct path_problem *problem = search->solving->problem;
    struct candidate_vec candidates = VEC_INIT;
    double most = (double)LENGTH_ANY;

    gather(search, table, &candidates);
    if (problem->per_step > 0 && candidates.length && problem->top < 2 && !problem->dataflow)
        most = (best->score - candidates.data[0].worth) / problem->per_step;
    candidate_vec_deinit(&candidates);
    return most >= (double)LENGTH_ANY ? LENGTH_ANY : (uint64_t)(most + 1.5);
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
    bool is_known = best.is_there && table.complete, is_plain = problem->per_step == 0;
    if (is_known && is_plain && solving_top(solving) < 2 && !find_shortest(search, &best))
        doubt(solving, "a path that touches as much may be shorter");
    bool is_bad = solving->found.length && !solving->found.data[0].is_feasible;
    bool is_few = solving->marks.bit_count <= DETOURS_MOST;
    // many marks, and no better way found: the path that was
    if (is_known && is_plain && solving_top(solving) < 2 && !solving->found.length && !is_few)
        finish(search, &table);
    if ((best.is_there && !solving->found.length) || is_bad)
        find_all(search, length_that_pays(search, &table, &best));
    if (best.is_there && !solving->found.length)
        finish(search, &table);
    table_deinit(&table);
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

static void search_once(struct solving *solving)
{
    struct search search = {.solving = solving, .element_most = ELEMENTS_MOST};

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
            find_all(&search, LENGTH_ANY);
    }
    sort_found(solving);
    solving->result->complete &= search.bounds.complete;
    bounds_deinit(&search.bounds);
    graph_destroy(search.graph);
}

static void forget_found(struct solving *solving)
{
    for (size_t i = 0; i < solving->found.length; i++)
        run_deinit(&solving->found.data[i].run);
    solving->found.length = 0;
}

void search_solve(struct solving *solving)
{
    bool again = true;

    for (uint32_t round = 0; again && round < ROUNDS_MOST; round++) {
        again = false;
        forget_found(solving);
        search_once(solving);
        if (!solving->problem->dataflow || round + 1 == ROUNDS_MOST || budget_look(solving->budget))
            break;
        for (size_t i = 0; i < solving->found.length; i++)
            if (!solving->found.data[i].is_feasible)
                again |= solving_refine(solving, &solving->found.data[i]);
        solving_look_at_calls(solving);
    }
    solving_sort_out(solving);
}

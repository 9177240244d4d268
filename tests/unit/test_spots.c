// SPDX-License-Identifier: Apache-2.0
/*
 * Spots: where in a node control is. A small random program (brute_program.h), some of whose nodes
 * have a spot in the middle, against the same program in which such a node is two, one behind the
 * other: what is asked about spots of the first and about nodes of the second has the same answer;
 * without contexts what is possible stays so; and what the first shows as a run is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ask/case.h"
#include "ask/exact.h"
#include "ask/witness.h"
#include "brute_report.h"
#include "common/budget.h"
#include "common/error.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "solve/automata.h"

static uint32_t programs = 600; // or as many as the first argument says

static uint32_t asked, possible, amid;

#define SPOT 7u // of nodes that have one, an instruction in the middle

// The second program, and where in it the first one's nodes are.
struct split {
    struct brute_program program;
    uint8_t begin[BRUTE_NODES], end[BRUTE_NODES];
};

static bool split_make(const struct brute_program *whole, uint64_t *seed, struct split *ret)
{
    struct brute_program *program = &ret->program;
    uint32_t count = 0;

    *program = *whole;
    for (uint32_t f = 0; f < whole->function_count; f++) {
        program->first[f] = (uint8_t)count;
        for (uint32_t n = whole->first[f]; n < whole->first[f + 1]; n++) {
            ret->begin[n] = (uint8_t)count;
            count += brute_chance(seed, 50);
            ret->end[n] = (uint8_t)count++;
        }
    }
    program->first[whole->function_count] = (uint8_t)count;
    program->node_count = count;
    for (uint32_t n = 0; count <= BRUTE_NODES && n < whole->node_count; n++) {
        struct brute_node *end = &program->nodes[ret->end[n]];

        *end = whole->nodes[n];
        for (uint32_t k = 0; k < end->next_count; k++)
            end->next[k] = ret->begin[end->next[k]];
        if (ret->begin[n] != ret->end[n])
            program->nodes[ret->begin[n]] = (struct brute_node){
                .function = end->function, .next = {ret->end[n]}, .next_count = 1};
    }
    return count <= BRUTE_NODES;
}

static uint32_t map_nodes(const uint8_t *to, uint32_t nodes)
{
    uint32_t mapped = 0;

    for (uint32_t n = 0; n < BRUTE_NODES; n++)
        if (nodes >> n & 1)
            mapped |= 1u << to[n];
    return mapped;
}

// cut: nodes in the middle of which a frame may stand.
static void split_report(const struct split *split, uint32_t cut, struct brute_report *report)
{
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++) {
            struct brute_frame *frame = &report->threads[t].frames[f];

            frame->at = map_nodes(split->end, frame->at) | map_nodes(split->begin, frame->at & cut);
            frame->calls = map_nodes(split->end, frame->calls);
            frame->calls_never = map_nodes(split->end, frame->calls_never);
        }
    report->sites = map_nodes(split->end, report->sites);
    report->sites_never = map_nodes(split->end, report->sites_never);
    for (uint32_t o = 0; o < report->observation_count; o++) {
        struct brute_observation *seen = &report->observations[o];

        for (uint32_t e = 0; e < seen->entry_count; e++)
            seen->entries[e] = map_nodes(split->begin, seen->entries[e]);
        seen->alphabet = map_nodes(split->begin, seen->alphabet);
    }
}

struct subject {
    struct model *model;
    struct evidence *evidence;
    struct ask_case *ask;
};

static void subject_init(struct subject *subject, const struct brute_program *program,
                         const struct brute_report *report)
{
    struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;

    brute_program_text(program, &text);
    brute_report_json(program, report, &json);
    assert_null(model_read_text("model", text.data, text.length, &subject->model));
    assert_null(evidence_read_json(json.data, json.length, "evidence", &subject->evidence));
    assert_null(ask_case_create(subject->model, subject->evidence, ASK_USE_ALL, &subject->ask));
    strbuf_deinit(&text);
    strbuf_deinit(&json);
}

static void subject_deinit(struct subject *subject)
{
    ask_case_destroy(subject->ask);
    evidence_destroy(subject->evidence);
    model_destroy(subject->model);
}

// ---- Queries

enum { PLACES = 3 };

struct place_of_query {
    uint32_t node; // of the first program
    bool late;     // at its spot
};

static struct language *happens(const struct split *split, const struct place_of_query *place,
                                bool in_split, struct node_spot *spot)
{
    uint32_t node = !in_split     ? place->node
                    : place->late ? split->end[place->node]
                                  : split->begin[place->node];
    struct event event = {.kind = EVENT_STEP, .nodes = {&node, 1}};

    *spot = (struct node_spot){node, !in_split && place->late ? SPOT : 0};
    event.spots = (struct spot_set){spot, 1};
    return language_happens(&event, 1);
}

static struct automaton *automaton_of(const struct split *split, uint32_t form,
                                      const struct place_of_query *places, bool in_split)
{
    struct node_spot spots[PLACES];
    struct language *parts[PLACES], *language = NULL;

    for (uint32_t i = 0; i < PLACES; i++)
        parts[i] = happens(split, &places[i], in_split, &spots[i]);
    struct language *rest = parts[2];
    switch (form) {
    case 0:
        language = language_then(parts[0], parts[1]);
        break;
    case 1:
        language = language_and((struct language *[]){parts[0], language_not(parts[1])}, 2);
        break;
    case 2:
        language = language_not(language_then(parts[0], parts[1]));
        break;
    case 3:
        language = language_then(language_then(parts[0], parts[1]), parts[2]);
        rest = NULL;
        break;
    case 4:
        language = language_and(
            (struct language *[]){language_not(language_then(parts[0], parts[1])), parts[2]}, 2);
        rest = NULL;
        break;
    default:
        language = language_then(parts[0], language_not(parts[1]));
        break;
    }
    language_destroy(rest);
    struct automaton *automaton = automaton_create(language, NULL, 0, "random");
    automaton_set_spots(automaton, spots, PLACES);
    return automaton;
}

static bool is_possible(const struct subject *subject, struct automaton *query,
                        enum ask_solver solver, bool verdict_only)
{
    struct budget budget;
    struct exact_settings settings = {.query = query, .ran_most = 4, .budget = &budget};
    struct exact exact;

    budget_init(&budget, 0, 0);
    settings.verdict_only = verdict_only;
    exact_init(&exact, subject->ask, &subject->ask->threads[0], solver, &settings);
    assert_true(product_is_possible(exact.product) || product_is_complete(exact.product));
    bool found = product_is_possible(exact.product);
    if (found && !verdict_only) {
        struct run run = {0};

        assert_true(product_shortest(exact.product, &budget, &run));
        bool told = !exact.dropped && !product_misses_visits(exact.product);
        const char *problem = told ? witness_problem(subject->ask, &subject->ask->threads[0], &run,
                                                     query, solver == ASK_SOLVER_FSA)
                                   : NULL;
        if (problem)
            fail_msg("%s", problem);
        run_deinit(&run);
    }
    exact_deinit(&exact);
    return found;
}

static void check_query(const struct split *split, const struct subject *whole,
                        const struct subject *parts, uint64_t *seed)
{
    struct place_of_query places[PLACES];
    uint32_t form = brute_random(seed, 6);

    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t node = brute_random(seed, whole->model->node_count);

        // often the same node twice
        if (i > 0 && brute_chance(seed, 40))
            node = places[i - 1].node;
        places[i] = (struct place_of_query){
            node, split->begin[node] != split->end[node] && brute_chance(seed, 60)};
    }
    // without contexts handlers return anywhere, which takes long and says little
    enum ask_solver last = whole->ask->flow->signals == FLOW_NONE ? ASK_SOLVER_FSA : ASK_SOLVER_VPA;
    for (unsigned solver = ASK_SOLVER_VPA; solver >= last; solver--) {
        struct automaton *spots = automaton_of(split, form, places, false);
        struct automaton *nodes = automaton_of(split, form, places, true);
        bool expected = is_possible(parts, nodes, ASK_SOLVER_VPA, true);

        asked++;
        possible += expected;
        for (uint32_t verdict_only = 0; verdict_only < 2; verdict_only++)
            if (is_possible(whole, spots, solver, verdict_only) != expected &&
                (expected || solver == ASK_SOLVER_VPA))
                fail_msg("%s, form %u of %u%s, %u%s, %u%s: spots and nodes differ, %s with nodes",
                         ask_solver_name(solver), form, places[0].node, places[0].late ? "+" : "",
                         places[1].node, places[1].late ? "+" : "", places[2].node,
                         places[2].late ? "+" : "", expected ? "possible" : "impossible");
        automaton_destroy(spots);
        automaton_destroy(nodes);
    }
}

// Does one frame stand in the middle of a node, perhaps, at the end of which another waits?
static bool is_mixed(const struct ask_thread *thread, uint32_t cut)
{
    for (size_t v = 0; v < thread->views.length; v++) {
        const struct view *view = thread->views.data[v];

        for (uint32_t i = 0; i < view->end_count; i++)
            if (view->node[view->end[i]] < BRUTE_NODES && cut >> view->node[view->end[i]] & 1 &&
                !view->may_be_amid[i])
                return true;
    }
    return false;
}

static bool check_program(uint32_t number)
{
    uint64_t seed = 7000003u * (number + 1u);
    struct brute_program program;
    struct brute_report report;
    struct split split;
    struct subject whole, parts;
    uint32_t cut = 0;

    brute_program_make(&program, (enum brute_class)(number % BRUTE_CLASS_COUNT), &seed);
    // what is told of paths is left out: a step is not two; and library code at the end, which may
    // have been called in the middle of a node: with two nodes it is not known which calls it
    if (program.threads || !split_make(&program, &seed, &split) ||
        !brute_report_make(&program, UINT32_MAX & ~1u, &seed, &report) ||
        report.thread_count != 1 ||
        report.threads[0].frames[report.threads[0].frame_count - 1].kind != BRUTE_FRAME_MODEL)
        return false;
    subject_init(&whole, &program, &report);
    const struct ask_thread *thread = &whole.ask->threads[0];
    for (size_t i = 0; i < thread->cut.length; i++)
        cut |= 1u << thread->cut.data[i];
    if (is_mixed(thread, cut)) {
        subject_deinit(&whole);
        return false;
    }
    amid += cut != 0;
    split_report(&split, cut, &report);
    subject_init(&parts, &split.program, &report);
    for (uint32_t q = 0; q < 12; q++)
        check_query(&split, &whole, &parts, &seed);
    subject_deinit(&whole);
    subject_deinit(&parts);
    return true;
}

static void test_queries(void **state)
{
    (void)state;
    for (uint32_t number = 0, done = 0; done < programs; number++)
        done += check_program(number);
    print_message("%u queries, %u possible; %u reports with a frame in the middle of a node\n",
                  asked, possible, amid);
    assert_true(possible > asked / 10 && possible < asked - asked / 10 && amid > programs / 4);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queries)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

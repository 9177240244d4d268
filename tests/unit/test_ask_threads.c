// SPDX-License-Identifier: Apache-2.0
/*
 * Queries about two nodes of small random programs with threads (brute_program.h, brute_report.h),
 * compared with all runs of all threads, those that are gone too (brute_oracle.h). What is said to
 * be impossible is so; where no calls are known to have been made, which the runs need not have,
 * what is said to be possible is so as well. Every witness replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "brute_oracle.h"
#include "brute_report.h"
#include "common/budget.h"
#include "common/error.h"
#include "evidence/evidence.h"
#include "program/model.h"

// Bits of brute_report_make(): no calls are known to have been made; logs.
#define NO_CALLS 32u
#define LOGS     64u

static uint32_t programs = 400; // or as many as the first argument says
static uint32_t current;        // program, by number
static uint32_t asked, possible, impossible, undecided;

struct subject {
    struct model *model;
    struct ask_case *ask;
    struct brute_set runs; // nodes visited
    bool both_ways;        // what is possible is, too
};

// Is there a run that visits all of the one set and none of the other?
static bool has_run(const struct subject *subject, uint32_t all, uint32_t none)
{
    for (uint32_t i = 0; i < subject->runs.count; i++)
        if ((subject->runs.data[i].w[0] & all) == all && !(subject->runs.data[i].w[0] & none))
            return true;
    return false;
}

enum expected {
    EXPECT_NO,
    EXPECT_YES,
    EXPECT_NOT_NO,  // it may not be found out
    EXPECT_NOT_YES, // the order may rule it out
};

static void check(const struct subject *subject, const char *text, enum expected expected)
{
    static const enum ask_solver solvers[] = {ASK_SOLVER_VPA, ASK_SOLVER_FSA, ASK_SOLVER_UTL};

    for (uint32_t s = 0; s < 3; s++) {
        struct ask_session *session = ask_session_create(subject->ask);
        struct query *query;
        struct budget budget;
        struct ask_result result;

        assert_null(query_parse(text, subject->model, &query, NULL));
        budget_init(&budget, 0, 0);
        ask_query(session, query, solvers[s], &budget, &result);
        if (result.verdict == ASK_IMPOSSIBLE &&
            (expected == EXPECT_YES || expected == EXPECT_NOT_NO))
            fail_msg("%u: %s: impossible by %s, enumeration says otherwise", current, text,
                     ask_solver_name(solvers[s]));
        if (s == 0) {
            asked++;
            possible += result.verdict == ASK_POSSIBLE;
            impossible += result.verdict == ASK_IMPOSSIBLE;
            undecided += result.verdict == ASK_UNDECIDED;
            assert_null(result.witness_problem);
            assert_true(result.verdict != ASK_POSSIBLE || result.has_witness);
            if (subject->both_ways && result.verdict == ASK_POSSIBLE &&
                (expected == EXPECT_NO || expected == EXPECT_NOT_YES))
                fail_msg("%u: %s: possible, enumeration says otherwise", current, text);
            if (subject->both_ways && result.verdict == ASK_UNDECIDED && expected == EXPECT_YES)
                fail_msg("%u: %s: undecided", current, text);
        }
        ask_result_deinit(&result);
        query_destroy(query);
        ask_session_destroy(session);
    }
}

// a, b: numbers of the nodes; their names.
static void check_pair(const struct subject *subject, uint32_t a, uint32_t b, const char *x,
                       const char *y)
{
    uint32_t with = 1u << a | 1u << b;
    bool both = has_run(subject, with, 0), one = has_run(subject, 1u << a, 1u << b),
         other = has_run(subject, 1u << b, 1u << a), none = has_run(subject, 0, with);
    const struct {
        const char *format;
        enum expected expected;
    } forms[] = {
        {"node %s", both || one ? EXPECT_YES : EXPECT_NO},
        {"never node %s", other || none ? EXPECT_YES : EXPECT_NO},
        {"node %s and node %s", both ? EXPECT_YES : EXPECT_NO},
        {"node %s and never node %s", one ? EXPECT_YES : EXPECT_NO},
        {"not (node %s or node %s)", none ? EXPECT_YES : EXPECT_NO},
        {"not (node %s and node %s)", one || other || none ? EXPECT_YES : EXPECT_NO},
        {"node %s or never node %s", both || one || none ? EXPECT_YES : EXPECT_NO},
        {"node %s without node %s before it", one    ? EXPECT_NOT_NO
                                              : both ? EXPECT_NOT_NO
                                                     : EXPECT_NO},
        {"never (node %s then node %s)", one || other || none ? EXPECT_NOT_NO : EXPECT_NOT_YES},
    };

    for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
        char text[160];
        enum expected expected = forms[f].expected;

        // the order within a thread is not in the sets
        if (f == 7 && expected == EXPECT_NOT_NO && !one)
            continue;
        if (f == 8 && expected == EXPECT_NOT_YES)
            continue;
        snprintf(text, sizeof(text), forms[f].format, x, y);
        check(subject, text, expected);
    }
}

static void check_subject(const struct subject *subject, const struct brute_program *program,
                          uint64_t *seed)
{
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t a = brute_random(seed, program->node_count),
                 b = brute_random(seed, program->node_count);
        char names[2][40];

        if (a == b)
            continue;
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t node = i ? b : a, function = program->nodes[node].function;

            snprintf(names[i], sizeof(names[i]), "%s#%u", subject->model->functions[function].name,
                     node - program->first[function]);
        }
        check_pair(subject, a, b, names[0], names[1]);
    }
}

// Where frames may be missing behind one that is known not to have made its call, enumeration takes
// the call all the same.
static bool is_plain(const struct brute_report *report)
{
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f + 1 < report->threads[t].frame_count; f++)
            if (report->threads[t].frames[f + 1].gap && report->threads[t].frames[f].calls_never)
                return false;
    return true;
}

// False: it is not one to look at.
static bool check_program(uint32_t number)
{
    struct brute_program program;
    struct brute_report report;
    struct brute_answer answer;
    struct subject subject = {.both_ways = number % 2};
    uint64_t seed = 1000003u * (number + 1u);
    uint32_t facts = UINT32_MAX & ~LOGS;
    struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
    struct evidence *evidence;

    current = number;
    brute_program_make(&program, BRUTE_MANY, &seed);
    if (!program.threads ||
        !brute_report_make(&program, subject.both_ways ? facts : facts & ~NO_CALLS, &seed,
                           &report) ||
        !is_plain(&report))
        return false;
    brute_runs_exact(&program, &report, &answer, &subject.runs);
    if (answer.known && answer.possible) {
        brute_program_text(&program, &text);
        brute_report_json(&program, &report, &json);
        assert_null(model_read_text("model", text.data, text.length, &subject.model));
        assert_null(evidence_read_json(json.data, json.length, "evidence", &evidence));
        assert_null(ask_case_create(subject.model, evidence, ASK_USE_ALL, &subject.ask));
        assert_false(subject.ask->is_single);
        check_subject(&subject, &program, &seed);
        ask_case_destroy(subject.ask);
        evidence_destroy(evidence);
        model_destroy(subject.model);
    }
    brute_set_deinit(&subject.runs);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
    return answer.known && answer.possible;
}

static void test_threads(void **state)
{
    (void)state;
    for (uint32_t number = 0, done = 0; done < programs; number++)
        done += check_program(number);
    print_message("%u queries: %u possible, %u impossible, %u undecided\n", asked, possible,
                  impossible, undecided);
    assert_true(possible > asked / 10 && impossible > asked / 20 && undecided < asked / 10);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Queries on small random programs and reports (brute_program.h, brute_report.h): "node N" and
 * "never node N" are possible exactly where enumeration (brute_oracle.h) has a run with and without
 * it; every witness replays; every reason rules the query out by itself, and none of its facts can
 * be left out.
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

static uint32_t programs = 1500; // or as many as the first argument says

static uint32_t asked, possible, impossible, undecided, reasons, not_collected;

static void ask(struct ask_session *session, struct model *model, const char *text,
                struct ask_result *ret)
{
    struct query *query;
    struct budget budget;
    struct error *err = query_parse(text, model, &query, NULL);

    if (err)
        fail_msg("%s: %s", text, err->message);
    budget_init(&budget, 0, 0);
    ask_query(session, query, ASK_SOLVER_VPA, &budget, ret);
    query_destroy(query);
}

// Without any one of its facts the query is possible; with them alone it is not.
static void check_reason(struct ask_case *all, struct model *model, const char *text,
                         const struct ask_result *result)
{
    struct bitset facts, before;

    bitset_init(&facts, all->facts.length);
    bitset_init_copy(&before, &all->enabled);
    for (uint32_t left = 0; left <= result->because_count; left++) {
        struct ask_result again;

        bitset_clear_all(&facts);
        for (uint32_t i = 0; i < result->because_count; i++)
            if (i != left)
                bitset_set(&facts, result->because[i]);
        ask_case_enable(all, &facts);
        struct ask_session *session = ask_session_create(all);
        ask(session, model, text, &again);
        if (left < result->because_count)
            assert_int_not_equal(again.verdict, ASK_IMPOSSIBLE);
        else
            assert_int_equal(again.verdict, ASK_IMPOSSIBLE);
        ask_result_deinit(&again);
        ask_session_destroy(session);
    }
    reasons++;
    ask_case_enable(all, &before);
    bitset_deinit(&facts);
    bitset_deinit(&before);
}

// `wider`: handlers may come before main here, not there: more may be possible.
static void check_query(struct ask_case *all, struct model *model, const char *text, bool expected,
                        bool wider)
{
    struct ask_session *session = ask_session_create(all);
    struct ask_result result;

    // the other way to visit what ran: by detours. It may not find one, but says nothing else.
    struct ask_result other;
    ask_session_set_ran_most(session, 0);
    ask(session, model, text, &other);
    ask_session_destroy(session);
    session = ask_session_create(all);
    ask(session, model, text, &result);
    ask_session_destroy(session);
    assert_null(other.witness_problem);
    if (other.verdict == ASK_UNDECIDED)
        not_collected++;
    else
        assert_int_equal(other.verdict, result.verdict);
    ask_result_deinit(&other);
    asked++;
    possible += result.verdict == ASK_POSSIBLE;
    impossible += result.verdict == ASK_IMPOSSIBLE;
    undecided += result.verdict == ASK_UNDECIDED;
    assert_null(result.witness_problem);
    if (expected ? result.verdict == ASK_IMPOSSIBLE : result.verdict == ASK_POSSIBLE && !wider)
        fail_msg("%s: %s, enumeration says otherwise", text, ask_verdict_name(result.verdict));
    assert_true(result.verdict != ASK_POSSIBLE || result.has_witness);
    if (result.verdict == ASK_IMPOSSIBLE)
        check_reason(all, model, text, &result);
    ask_result_deinit(&result);
}

static void check_program(const struct brute_program *program, const struct brute_report *report,
                          const struct brute_answer *answer)
{
    struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
    struct model *model;
    struct evidence *evidence;
    struct ask_case *all;
    uint32_t number = 0;

    brute_program_text(program, &text);
    brute_report_json(program, report, &json);
    assert_null(model_read_text("model", text.data, text.length, &model));
    assert_null(evidence_read_json(json.data, json.length, "evidence", &evidence));
    assert_null(ask_case_create(model, evidence, ASK_USE_ALL, &all));
    for (uint32_t f = 0; f < model->function_count; f++)
        for (uint32_t n = 0; n < model->functions[f].node_count; n++, number++) {
            char query[80];

            snprintf(query, sizeof(query), "node %s#%u", model->functions[f].name, n);
            check_query(all, model, query, answer->may >> number & 1, program->handlers);
            snprintf(query, sizeof(query), "never node %s#%u", model->functions[f].name, n);
            check_query(all, model, query, !(answer->must >> number & 1), program->handlers);
        }
    ask_case_destroy(all);
    evidence_destroy(evidence);
    model_destroy(model);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
}

static void test_queries(void **state)
{
    uint32_t done = 0;

    (void)state;
    for (uint32_t number = 0; done < programs; number++) {
        struct brute_program program;
        struct brute_report report;
        struct brute_answer answer;
        uint64_t seed = 1000003u * (number + 1u);

        // a query is about one thread
        brute_program_make(&program, (enum brute_class)(number % BRUTE_CLASS_COUNT), &seed);
        if (program.threads || !brute_report_make(&program, UINT32_MAX, &seed, &report) ||
            report.thread_count != 1)
            continue;
        brute_answer_exact(&program, &report, &answer);
        if (!answer.known || !answer.possible)
            continue;
        check_program(&program, &report, &answer);
        done++;
    }
    print_message(
        "%u queries: %u possible, %u impossible (%u reasons), %u undecided; by detours alone %u\n",
        asked, possible, impossible, reasons, undecided, not_collected);
    assert_true(possible > asked / 10 && impossible > asked / 10 && undecided < asked / 20);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queries)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The path solver with dataflow, on small random programs of C: all runs up to a length are
 * enumerated, and those that dataflow_replay finds nothing against are feasible. None of them may
 * be better than the path that is given, which is feasible too, or marked.
 *
 *     test_path_dataflow [PROGRAMS [FIRST]]
 */
// timeout: 600
#include "dataflow_fixture.h"

#include <stdio.h>

#include "brute_program.h"
#include "common/vec.h"
#include "path/path.h"
#include "path_oracle.h"

enum { RUN_MOST = 60, RUNS_MOST = 20000, CRITICAL = 4 };

// ---- Programs

static const char *const variables[] = {"x", "y", "g", "h"};

static const char *variable(uint64_t *seed)
{
    return variables[brute_random(seed, 4)];
}

static void put_statements(struct strbuf *text, uint32_t depth, uint32_t calls, uint64_t *seed);

static void put_statement(struct strbuf *text, uint32_t depth, uint32_t calls, uint64_t *seed)
{
    static const char *const operators[] = {"==", "!=", "<", ">"};
    uint32_t kind = brute_random(seed, depth ? 10 : 6);

    if (kind < 3)
        strbuf_printf(text, "%s = %u;\n", variable(seed), brute_random(seed, 3));
    else if (kind < 4 || (kind < 6 && !calls))
        strbuf_printf(text, "%s = %s;\n", variable(seed), variable(seed));
    else if (kind < 6)
        strbuf_printf(text, "%s = f%u(%s);\n", variable(seed), brute_random(seed, calls),
                      variable(seed));
    else {
        strbuf_printf(text, "if (%s %s %u) {\n", variable(seed), operators[brute_random(seed, 4)],
                      brute_random(seed, 3));
        put_statements(text, depth - 1, calls, seed);
        strbuf_append(text, "}\n");
        if (brute_chance(seed, 50)) {
            strbuf_append(text, "else {\n");
            put_statements(text, depth - 1, calls, seed);
            strbuf_append(text, "}\n");
        }
    }
}

static void put_statements(struct strbuf *text, uint32_t depth, uint32_t calls, uint64_t *seed)
{
    for (uint32_t i = 1 + brute_random(seed, 3); i-- > 0;)
        put_statement(text, depth, calls, seed);
}

static void put_program(struct strbuf *text, uint64_t *seed)
{
    uint32_t functions = 1 + brute_random(seed, 2);

    strbuf_printf(text, "static int g = %u, h;\n", brute_random(seed, 3));
    for (uint32_t f = 0; f < functions; f++) {
        strbuf_printf(text, "static int f%u(int x) {\nint y = %u;\n", f, brute_random(seed, 3));
        put_statements(text, 1, f, seed);
        strbuf_printf(text, "return %s;\n}\n", variable(seed));
    }
    strbuf_append(text, "int main(int argc, char **argv) {\nint x = argc, y = 0;\n");
    for (uint32_t i = 0; i < 4; i++)
        put_statement(text, 1, functions, seed);
    strbuf_append(text, "if (g == 1)\n__builtin_trap();\nreturn 0;\n}\n");
}

// ---- Enumeration

VEC_DEFINE(event_vec, struct run_event);

struct next {
    struct oracle_state state;
};
VEC_DEFINE(next_vec, struct next);

struct enumeration {
    const struct oracle_question *question;
    struct dataflow *dataflow;
    const double *score;
    struct event_vec events;
    uint32_t length, runs, feasible;
    bool is_cut, is_there;
    double best;
    uint32_t best_length;
};

static void take(void *context, const struct oracle_state *state, bool is_step)
{
    assert_true(is_step); // no handlers, no jumps
    next_vec_push(context, (struct next){*state});
}

static double score_of(const struct enumeration *all, uint32_t touched)
{
    double sum = 0;

    for (uint32_t i = 0; i < all->question->critical_count; i++)
        sum += touched >> i & 1 ? all->score[i] : 0;
    return sum;
}

static void look_at_run(struct enumeration *all, const struct oracle_state *state)
{
    struct run run = {all->events.data, (uint32_t)all->events.length};
    double score = score_of(all, state->touched);

    all->runs++;
    if (dataflow_replay(all->dataflow, &run) != UINT32_MAX)
        return;
    all->feasible++;
    if (!all->is_there || score > all->best ||
        (score == all->best && all->length < all->best_length)) {
        all->is_there = true;
        all->best = score;
        all->best_length = all->length;
    }
}

static void go_on(struct enumeration *all, const struct oracle_state *state);

static void go_to(struct enumeration *all, const struct oracle_state *from,
                  const struct oracle_state *to)
{
    size_t before = all->events.length;
    const struct oracle_frame *top = &to->frames[to->depth - 1];

    if (from && to->depth > from->depth)
        event_vec_push(
            &all->events,
            (struct run_event){RUN_CALL, from->frames[from->depth - 1].node, top->function, 0});
    if (from && to->depth < from->depth)
        event_vec_push(&all->events, (struct run_event){RUN_LEAVE, from->frames[to->depth - 1].node,
                                                        from->frames[to->depth].function, 0});
    event_vec_push(&all->events, (struct run_event){RUN_STEP, top->node, FLOW_NONE, 0});
    all->length++;
    go_on(all, to);
    all->length--;
    all->events.length = before;
}

static void go_on(struct enumeration *all, const struct oracle_state *state)
{
    struct oracle oracle;
    struct next_vec next = VEC_INIT;

    if (all->length > RUN_MOST || all->runs > RUNS_MOST) {
        all->is_cut = true;
        return;
    }
    if (oracle_in(all->question->ends, state->frames[state->depth - 1].node))
        look_at_run(all, state);
    oracle_begin(&oracle, all->question);
    oracle.take = take;
    oracle.context = &next;
    oracle_follow(&oracle, state);
    all->is_cut |= oracle.is_cut;
    for (size_t i = 0; i < next.length; i++)
        go_to(all, state, &next.data[i].state);
    next_vec_deinit(&next);
    oracle_deinit(&oracle);
}

static void enumerate(struct enumeration *all)
{
    struct oracle oracle;
    struct next_vec first = VEC_INIT;

    oracle_begin(&oracle, all->question);
    oracle.take = take;
    oracle.context = &first;
    oracle_start(&oracle);
    for (size_t i = 0; i < first.length; i++)
        go_to(all, NULL, &first.data[i].state);
    next_vec_deinit(&first);
    oracle_deinit(&oracle);
    event_vec_deinit(&all->events);
}

// ---- Comparing

struct statistics {
    uint32_t programs, cut, none, marked, changed, runs, feasible, wrong, incomplete[3];
};

static void ask(const struct subject *subject, const struct oracle_question *question,
                const double *score, enum path_method method, bool with_dataflow,
                struct path_result *result)
{
    struct path_critical critical[CRITICAL];
    uint32_t ends[64], end_count = 0;

    for (uint32_t i = 0; i < question->critical_count; i++)
        critical[i] = (struct path_critical){question->critical[i], score[i], 0, DATAFLOW_ONE};
    for (uint32_t n = 0; n < 64; n++)
        if (oracle_in(question->ends, n))
            ends[end_count++] = n;
    path_solve(&(struct path_problem){.flow = subject->flow,
                                      .critical = critical,
                                      .critical_count = question->critical_count,
                                      .dataflow = with_dataflow ? subject->dataflow : NULL,
                                      .start = subject->flow->start,
                                      .ends = ends,
                                      .end_count = end_count,
                                      .method = method},
               NULL, result);
}

static const char *compare(const struct enumeration *all, const struct path_result *result,
                           uint32_t *incomplete)
{
    const struct path_found *found = result->count ? &result->paths[0] : NULL;
    struct oracle_answer answer;

    if (!result->complete)
        (*incomplete)++;
    if (!found)
        return all->is_there && result->complete ? "a feasible path is missed" : NULL;
    const char *wrong = oracle_replay(all->question, &found->run, 0, &answer);
    if (wrong)
        return wrong;
    if (answer.length != found->length || score_of(all, answer.touched) != found->score)
        return "it is not worth what is said";
    if (found->is_feasible != (dataflow_replay(all->dataflow, &found->run) == UINT32_MAX))
        return "it is not marked rightly";
    // a path in doubt may be better than all that are feasible; a feasible one is the best of them
    if (result->complete && all->is_there &&
        (found->score < all->best ||
         (found->score == all->best && found->length > all->best_length)))
        return "a feasible path that is better is missed";
    if (found->is_feasible && !all->is_cut &&
        (!all->is_there || found->score > all->best ||
         (found->score == all->best && found->length < all->best_length)))
        return "enumeration has missed it";
    return NULL;
}

static void check_program(uint64_t number, struct statistics *statistics)
{
    static const enum path_method methods[] = {PATH_AUTO, PATH_FORWARD, PATH_BACKWARD};
    uint64_t seed = number * 7919 + 5;
    struct strbuf text = STRBUF_INIT;
    struct oracle_question question = {.critical_count = CRITICAL};
    struct subject subject;
    double score[CRITICAL];
    struct path_result free_result;

    put_program(&text, &seed);
    subject_init(&subject, text.data, SUBJECT_POINTS_TO);
    question.flow = subject.flow;
    question.start = subject.flow->start;
    if (subject.flow->node_count > 64)
        goto out;
    uint32_t main_number = subject_function(&subject, "main");
    for (uint32_t n = 0; n < subject.model->node_count; n++)
        if (subject.flow->node_function[n] == main_number && !flow_edges(subject.flow, n).count)
            question.ends |= UINT64_C(1) << n;
    for (uint32_t i = 0; i < CRITICAL; i++) {
        question.critical[i] = brute_random(&seed, subject.model->node_count);
        score[i] = 1 + brute_random(&seed, 4);
    }
    struct enumeration all = {.question = &question, .dataflow = subject.dataflow, .score = score};
    enumerate(&all);
    statistics->programs++;
    statistics->cut += all.is_cut;
    statistics->runs += all.runs;
    statistics->feasible += all.feasible;
    statistics->none += !all.is_there;
    ask(&subject, &question, score, PATH_AUTO, false, &free_result);
    for (uint32_t m = 0; m < 3; m++) {
        struct path_result result;

        ask(&subject, &question, score, methods[m], true, &result);
        const char *wrong = compare(&all, &result, &statistics->incomplete[m]);
        if (m == 0 && result.count) {
            statistics->marked += !result.paths[0].is_feasible;
            statistics->changed += result.paths[0].score != free_result.paths[0].score ||
                                   result.paths[0].length != free_result.paths[0].length;
        }
        if (wrong) {
            printf("---- program %llu, method %u: %s\n%s", (unsigned long long)number, m, wrong,
                   text.data);
            for (uint32_t i = 0; i < CRITICAL; i++)
                printf("critical %u score %g\n", question.critical[i], score[i]);
            printf("best feasible %d: %g, %u; found %u: %g, %llu, feasible %d\n", all.is_there,
                   all.best, all.best_length, result.count,
                   result.count ? result.paths[0].score : 0,
                   result.count ? (unsigned long long)result.paths[0].length : 0,
                   result.count ? result.paths[0].is_feasible : 0);
            fflush(stdout);
            statistics->wrong++;
        }
        path_result_deinit(&result);
    }
    path_result_deinit(&free_result);
out:
    subject_deinit(&subject);
    strbuf_deinit(&text);
}

static uint64_t wanted = 60, first_number;

static void test_random(void **state)
{
    struct statistics s = {0};

    (void)state;
    for (uint64_t number = first_number; number < first_number + wanted; number++)
        check_program(number, &s);
    printf(
        "%u programs (%u cut short, %u without a feasible path), %u runs, %u of them feasible; "
        "%u paths marked, %u other than without dataflow; not complete: %u, by the pushdown core "
        "%u forwards, %u backwards\n",
        s.programs, s.cut, s.none, s.runs, s.feasible, s.marked, s.changed, s.incomplete[0],
        s.incomplete[1], s.incomplete[2]);
    assert_true(s.incomplete[0] <= s.programs / 20);
    assert_int_equal(s.wrong, 0);
    assert_true(wanted < 30 || s.changed > s.programs / 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_number = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

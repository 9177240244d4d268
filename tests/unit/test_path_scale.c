// SPDX-License-Identifier: Apache-2.0
/*
 * The path solver on large programs.
 *
 *     test_path_scale                                  a test: a made-up program, many predictors
 *     test_path_scale MODEL EVIDENCE PREDICTORS [KEY=VALUE...]
 *
 * With arguments one line of JSON is printed (bench/path/run reads it): the model's text, evidence
 * with a stack and the calls that were made, and so many predictors.
 * Keys: seed, where (run: predictors are at calls that were made, as those of a failing run are;
 * near: of these, in functions that the stack's functions call, or their callees; any: at nodes
 * anywhere), stack (0: only where it ends), method (auto, forward, backward), weights (auto, sets,
 * diagrams), compress, top, per_step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask/case.h"
#include "ask/witness.h"
#include "common/budget.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "path/path.h"
#include "program/model.h"
#include "program/model_text.h"
#include "solve/complete.h"

static uint64_t chance_state;

static uint32_t chance(uint32_t below)
{
    chance_state += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((hash_mix(chance_state) >> 16) % below);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

enum where {
    WHERE_RUN,
    WHERE_NEAR,
    WHERE_ANY,
};

struct measured {
    enum where where;
    struct ask_case *ask;
    struct path_problem problem;
    struct path_critical critical[PATH_CRITICAL_MOST];
    struct path_stack stack;
    uint32_t end;
    struct path_result result;
    double seconds;
};

static void check(struct error *err)
{
    if (err)
        fail_msg("%s", err->message);
}

// Functions that are called from those of the set, and the set itself.
static void add_callees(const struct flow *flow, struct bitset *functions)
{
    struct bitset before;

    bitset_init_copy(&before, functions);
    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct flow_callees callees = flow_callees(flow, n);

        // what is called through pointers may be anything
        for (uint32_t i = 0; callees.count < 4 && i < callees.count; i++)
            if (bitset_test(&before, flow->node_function[n]))
                bitset_set(functions, callees.data[i]);
    }
    bitset_deinit(&before);
}

// Where predictors may be.
static void find_places(const struct measured *measured, struct bitset *nodes)
{
    const struct ask_case *ask = measured->ask;
    struct bitset functions, none;
    struct complete complete;

    bitset_init(&functions, ask->flow->function_count);
    for (size_t v = 0; v < ask->threads[0].views.length; v++)
        bitset_set(&functions, ask->threads[0].views.data[v]->function);
    add_callees(ask->flow, &functions);
    add_callees(ask->flow, &functions);
    bitset_init(&none, ask->flow->node_count);
    complete_init(&complete, ask->flow, &none);
    for (uint32_t n = 0; measured->where == WHERE_ANY && n < ask->model->node_count; n++)
        if (bitset_test(&complete.reached, n))
            bitset_set(nodes, n);
    for (size_t i = 0; measured->where != WHERE_ANY && i < ask->ran.length; i++)
        if (measured->where == WHERE_RUN ||
            bitset_test(&functions, ask->flow->node_function[ask->ran.data[i]]))
            bitset_set(nodes, ask->ran.data[i]);
    complete_deinit(&complete);
    bitset_deinit(&none);
    bitset_deinit(&functions);
}

static void choose_predictors(struct measured *measured, uint32_t count)
{
    struct bitset nodes;

    bitset_init(&nodes, measured->ask->flow->node_count);
    find_places(measured, &nodes);
    uint32_t places = (uint32_t)bitset_count(&nodes);
    for (uint32_t i = 0; i < count && places; i++) {
        size_t node = bitset_next(&nodes, 0);

        for (uint32_t skip = chance(places); skip--;)
            node = bitset_next(&nodes, node + 1);
        measured->critical[i] = (struct path_critical){
            .node = (uint32_t)node, .score = 1 + chance(1000) / 1000.0, .assume = DATAFLOW_ONE};
    }
    bitset_deinit(&nodes);
    measured->problem.critical = measured->critical;
    measured->problem.critical_count = places ? count : 0;
}

static void solve(struct measured *measured)
{
    struct budget budget;
    double start;

    budget_init(&budget, 0, 0);
    start = now();
    path_solve(&measured->problem, &budget, &measured->result);
    measured->seconds = now() - start;
    for (uint32_t i = 0; measured->problem.view_count && i < measured->result.count; i++) {
        // what the solver is not asked about
        measured->ask->ran.length = 0;
        bitset_clear_all(&measured->ask->closed);
        bitset_clear_all(&measured->ask->absent);
        const char *problem = witness_problem(measured->ask, &measured->ask->threads[0],
                                              &measured->result.paths[i].run, NULL, false);

        if (problem)
            fail_msg("%s", problem);
    }
}

static void set_up(struct measured *measured, const char *model_text, size_t size,
                   const char *evidence_text)
{
    struct model *model;
    struct evidence *evidence;

    check(model_read_text("model", model_text, size, &model));
    check(evidence_read_json(evidence_text, strlen(evidence_text), "evidence", &evidence));
    check(evidence_fit(evidence, model));
    check(ask_case_create(model, evidence, ASK_USE_STACK | ASK_USE_COVERAGE, &measured->ask));
    measured->problem =
        (struct path_problem){.flow = measured->ask->flow,
                              .views = measured->ask->threads[0].views.data,
                              .view_count = (uint32_t)measured->ask->threads[0].views.length,
                              .start = measured->ask->flow->start,
                              .top = 1};
}

static void tear_down(struct measured *measured)
{
    struct model *model = measured->ask->model;
    const struct evidence *evidence = measured->ask->evidence;

    path_result_deinit(&measured->result);
    ask_case_destroy(measured->ask);
    evidence_destroy((struct evidence *)(uintptr_t)evidence);
    model_destroy(model);
}

// ---- Measuring

static uint32_t number_of(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    fail_msg("'%s' is not known", name);
    return 0;
}

static void take_option(struct measured *measured, const char *option)
{
    static const char *const methods[] = {"auto", "forward", "backward"};
    static const char *const places[] = {"run", "near", "any"};
    static const char *const weights[] = {"auto", "sets", "diagrams"};
    const char *value = strchr(option, '=');
    size_t length = value ? (size_t)(value - option) : 0;

    if (!value)
        fail_msg("'%s' has no value", option);
    value++;
    if (!strncmp(option, "seed", length))
        chance_state = strtoull(value, NULL, 10) * 1000003u;
    else if (!strncmp(option, "stack", length) && *value == '0') {
        const struct view *last = measured->problem.views[measured->problem.view_count - 1];

        measured->end = last->node[last->end[0]];
        measured->problem.view_count = 0;
        measured->problem.ends = &measured->end;
        measured->problem.end_count = 1;
    } else if (!strncmp(option, "where", length))
        measured->where = (enum where)number_of(places, 3, value);
    else if (!strncmp(option, "method", length))
        measured->problem.method = (enum path_method)number_of(methods, 3, value);
    else if (!strncmp(option, "weights", length))
        measured->problem.weights = (enum path_weights)number_of(weights, 3, value);
    else if (!strncmp(option, "compress", length))
        measured->problem.no_compression = *value == '0';
    else if (!strncmp(option, "top", length))
        measured->problem.top = (uint32_t)strtoul(value, NULL, 10);
    else if (!strncmp(option, "per_step", length))
        measured->problem.per_step = strtod(value, NULL);
}

static char *contents(const char *path, size_t *size)
{
    struct file_bytes bytes;

    check(file_read(path, &bytes));
    char *text = malloc(bytes.size + 1);
    memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    *size = bytes.size;
    file_bytes_deinit(&bytes);
    return text;
}

static char **arguments;
static int argument_count;

static void measure(void **state)
{
    static struct measured measured;
    size_t model_size, evidence_size;
    char *model = contents(arguments[1], &model_size);
    char *evidence = contents(arguments[2], &evidence_size);

    (void)state;
    chance_state = 1000003;
    set_up(&measured, model, model_size, evidence);
    for (int i = 4; i < argument_count; i++)
        take_option(&measured, arguments[i]);
    choose_predictors(&measured, (uint32_t)strtoul(arguments[3], NULL, 10));
    solve(&measured);
    printf(
        "{\"nodes\":%u,\"predictors\":%u,\"seconds\":%.4f,\"paths\":%u,\"score\":%.3f,"
        "\"length\":%llu,\"touched\":%d,\"complete\":%s,\"weights\":%llu,\"transitions\":%llu}\n",
        measured.ask->model->node_count, measured.problem.critical_count, measured.seconds,
        measured.result.count, measured.result.count ? measured.result.paths[0].score : 0,
        measured.result.count ? (unsigned long long)measured.result.paths[0].length : 0,
        measured.result.count ? __builtin_popcountll(measured.result.paths[0].touched) : 0,
        measured.result.complete ? "true" : "false", (unsigned long long)measured.result.weights,
        (unsigned long long)measured.result.transitions);
    fflush(stdout);
    tear_down(&measured);
    free(model);
    free(evidence);
}

// ---- Programs of some size: functions of branches, loops and calls; main is a loop around calls.

static void put_node(struct strbuf *text, uint32_t number, uint32_t next, uint32_t other,
                     uint32_t callee, uint32_t line)
{
    strbuf_printf(text, "  node %u at 0:%u:1 flags block%s -> %u", number, line,
                  callee ? ",call" : "", next);
    if (other != next)
        strbuf_printf(text, " %u", other);
    strbuf_append_char(text, '\n');
    if (callee)
        strbuf_printf(text, "    site \"f%u\" callees %u callbacks 0\n", callee, callee);
}

static void put_program(struct strbuf *text, uint32_t functions, uint32_t size)
{
    uint32_t line = 0;

    strbuf_append(text, "inquest-model 1\nfile 0 \"/\" \"a.c\"\nimage 0 executable \"a\"\n"
                        "module 0 image 0 id 0000000000000001 level none flags 0 source \"a.c\"\n");
    for (uint32_t f = 0; f < functions; f++) {
        // an entry; then tests, each with something that may be done, and perhaps again
        uint32_t parts = f ? 1 + chance(size) : functions / 3 + 1, count = 2 + 2 * parts;

        strbuf_printf(text,
                      "function %u module 0 \"f%u\" debug \"f%u\" source \"f%u\" at 0:1 linked "
                      "unknown level none record 0\n",
                      f, f, f, f);
        put_node(text, 0, 1, 1, 0, ++line);
        for (uint32_t n = 1; n + 1 < count; n += 2) {
            uint32_t back = f == 0 && chance(2) ? 1 : chance(4) ? n + 2 : n;

            put_node(text, n, n + 1, n + 2, 0, ++line);
            put_node(text, n + 1, back, back, chance(4) ? 1 + chance(functions - 1) : 0, ++line);
        }
        strbuf_printf(text, "  node %u at 0:%u:1 flags block,return\n", count - 1, ++line);
    }
    for (uint32_t f = 1; f < functions; f++)
        strbuf_printf(text, "set %u %u\n", f, f);
    strbuf_append(text, "root 0 main\n");
}

static struct model *make_model(uint32_t functions, uint32_t size)
{
    struct strbuf text = STRBUF_INIT;
    struct model *model;

    put_program(&text, functions, size);
    check(model_read_text("model", text.data, text.length, &model));
    check(model_complete(model));
    strbuf_deinit(&text);
    return model;
}

static void solve_with(const struct flow *flow, const struct path_critical *critical,
                       uint32_t count, uint32_t end, enum path_method method, bool plain,
                       struct path_result *ret)
{
    path_solve(&(struct path_problem){.flow = flow,
                                      .critical = critical,
                                      .critical_count = count,
                                      .start = flow->start,
                                      .ends = &end,
                                      .end_count = 1,
                                      .method = method,
                                      .no_compression = plain},
               NULL, ret);
}

// The search, with all that it prunes by, finds what the pushdown core does.
static void test_same(void **state)
{
    uint32_t paths = 0, touched = 0;

    (void)state;
    chance_state = 7;
    for (uint32_t round = 0; round < 30; round++) {
        struct model *model = make_model(8 + chance(12), 2 + chance(4));
        struct flow *flow = flow_from_model(model);
        struct path_critical critical[7];
        struct path_result by_search, plain, by_core;
        uint32_t count = 1 + chance(7), end = chance(model->node_count / 2);

        for (uint32_t i = 0; i < count; i++)
            critical[i] = (struct path_critical){
                .node = chance(model->node_count), .score = 1 + chance(4), .assume = DATAFLOW_ONE};
        solve_with(flow, critical, count, end, PATH_AUTO, false, &by_search);
        solve_with(flow, critical, count, end, PATH_AUTO, true, &plain);
        solve_with(flow, critical, count, end, PATH_FORWARD, false, &by_core);
        assert_true(by_search.complete && plain.complete && by_core.complete);
        assert_int_equal(by_search.count, by_core.count);
        assert_int_equal(by_search.count, plain.count);
        if (by_search.count) {
            assert_true(by_search.paths[0].score == by_core.paths[0].score);
            assert_true(by_search.paths[0].score == plain.paths[0].score);
            assert_int_equal(by_search.paths[0].length, by_core.paths[0].length);
            assert_int_equal(by_search.paths[0].length, plain.paths[0].length);
            paths++;
            touched += (uint32_t)__builtin_popcountll(by_search.paths[0].touched);
        }
        path_result_deinit(&by_search);
        path_result_deinit(&plain);
        path_result_deinit(&by_core);
        flow_destroy(flow);
        model_destroy(model);
    }
    print_message("%u paths, which touch %u nodes\n", paths, touched);
    assert_true(paths > 15 && touched > 2 * paths);
}

// Many predictors: the search ends, and the path touches all that can be touched.
static void test_many(void **state)
{
    struct path_critical critical[24];
    struct path_result result;

    (void)state;
    chance_state = 11;
    struct model *model = make_model(300, 20);
    struct flow *flow = flow_from_model(model);
    struct bitset none;
    struct complete complete;
    bitset_init(&none, flow->node_count);
    complete_init(&complete, flow, &none);
    for (uint32_t i = 0; i < 24;) {
        uint32_t node = chance(model->node_count), function = flow->node_function[node];

        if (bitset_test(&complete.reached, node) && function &&
            complete.function_ends[function] & FLOW_BEHIND)
            critical[i++] = (struct path_critical){
                .node = node, .score = 1 + chance(8), .assume = DATAFLOW_ONE};
    }
    complete_deinit(&complete);
    bitset_deinit(&none);
    solve_with(flow, critical, 24,
               flow->functions[0].first_node + flow->functions[0].node_count - 1, PATH_AUTO, false,
               &result);
    assert_int_equal(result.count, 1);
    print_message("%u nodes: touches %d of 24, length %llu, %llu elements\n", flow->node_count,
                  __builtin_popcountll(result.paths[0].touched),
                  (unsigned long long)result.paths[0].length, (unsigned long long)result.weights);
    assert_int_equal(__builtin_popcountll(result.paths[0].touched), 24);
    assert_true(result.weights < 5000000);
    path_result_deinit(&result);
    flow_destroy(flow);
    model_destroy(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_many)};
    const struct CMUnitTest measures[] = {cmocka_unit_test(measure)};

    arguments = argv;
    argument_count = argc;
    return argc > 3 ? cmocka_run_group_tests(measures, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}

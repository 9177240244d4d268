// SPDX-License-Identifier: Apache-2.0
/*
 * The path solver on large programs.
 *
 *     test_path_scale                                  a test: a made-up program, many predictors
 *     test_path_scale MODEL EVIDENCE PREDICTORS [KEY=VALUE...]
 *
 * With arguments one line of JSON is printed (bench/path/run reads it): the model's text, evidence
 * with a stack, and so many predictors at random nodes (of those that a path to the end can reach).
 * Keys: seed, stack (0: only where it ends), method (auto, forward, backward), weights (auto, sets,
 * diagrams), compress, top, per_step, near (predictors within so many functions of the stack's).
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

struct measured {
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

// Nodes that a call of their function reaches.
static void choose_predictors(struct measured *measured, uint32_t count)
{
    const struct flow *flow = measured->ask->flow;
    struct bitset none;
    struct complete complete;

    bitset_init(&none, flow->node_count);
    complete_init(&complete, flow, &none);
    for (uint32_t i = 0; i < count;) {
        uint32_t node = chance(measured->ask->model->node_count);

        if (!bitset_test(&complete.reached, node))
            continue;
        measured->critical[i++] = (struct path_critical){
            .node = node, .score = 1 + chance(1000) / 1000.0, .assume = DATAFLOW_ONE};
    }
    complete_deinit(&complete);
    bitset_deinit(&none);
    measured->problem.critical = measured->critical;
    measured->problem.critical_count = count;
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
        const char *problem =
            witness_problem(measured->ask, &measured->result.paths[i].run, NULL, false);

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
    check(ask_case_create(model, evidence, ASK_USE_STACK, &measured->ask));
    measured->problem = (struct path_problem){
        .flow = measured->ask->flow,
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
    static const char *const weights[] = {"auto", "sets", "diagrams"};
    const char *value = strchr(option, '=');
    size_t length = value ? (size_t)(value - option) : 0;

    if (!value)
        fail_msg("'%s' has no value", option);
    value++;
    if (!strncmp(option, "seed", length))
        chance_state = strtoull(value, NULL, 10) * 1000003u;
    else if (!strncmp(option, "stack", length) && *value == '0') {
        const struct view *last =
            measured->problem.views[measured->problem.view_count - 1];

        measured->end = last->node[last->end[0]];
        measured->problem.view_count = 0;
        measured->problem.ends = &measured->end;
        measured->problem.end_count = 1;
    } else if (!strncmp(option, "method", length))
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
    printf("{\"nodes\":%u,\"predictors\":%u,\"seconds\":%.4f,\"paths\":%u,\"score\":%.3f,"
           "\"length\":%llu,\"touched\":%d,\"complete\":%s,\"weights\":%llu,\"transitions\":%llu}\n",
           measured.ask->model->node_count, measured.problem.critical_count, measured.seconds,
           measured.result.count, measured.result.count ? measured.result.paths[0].score : 0,
           measured.result.count ? (unsigned long long)measured.result.paths[0].length : 0,
           measured.result.count ? __builtin_popcountll(measured.result.paths[0].touched) : 0,
           measured.result.complete ? "true" : "false",
           (unsigned long long)measured.result.weights,
           (unsigned long long)measured.result.transitions);
    fflush(stdout);
    tear_down(&measured);
    free(model);
    free(evidence);
}

static void test_nothing(void **state)
{
    (void)state;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing)};
    const struct CMUnitTest measures[] = {cmocka_unit_test(measure)};

    arguments = argv;
    argument_count = argc;
    return argc > 3 ? cmocka_run_group_tests(measures, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Random runs through a store, and the store's numbers against those counted from the runs. With
 * arguments it is what the scripts of tests/cli and bench/suspects work with:
 *
 *     test_store_random fill STORE SHAPE SEED           adds the runs of a shape, prints them as
 * JSON test_store_random reports DIRECTORY SHAPE SEED    writes them as files test_store_random
 * print STORE [ELIMINATION [CLUSTERS [CONFIDENCE]]]   all statistics as JSON test_store_random
 * merge TO FROM test_store_random write STORE SEED FROM TO BATCH  prints the number of a run once
 * committed test_store_random verify STORE SEED               every run there is whole; prints the
 * numbers test_store_random bench STORE RUNS
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suspects/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "common/budget.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "store_fixture.h"

static void ok(struct error *err)
{
    if (!err)
        return;
    error_print(err);
    exit(1);
}

static uint64_t number_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Runs from .. to of the fixture, by one transaction; which of them were new.
static void add_range(struct store *store, const struct fixture *fixture, uint64_t from,
                      uint64_t to, struct store_added *added)
{
    struct suspects_report **reports = xmalloc_array(to - from, sizeof(*reports));

    for (uint64_t i = from; i < to; i++)
        reports[i - from] = fixture_report(fixture, i);
    ok(store_add_many(store, (const struct suspects_report *const *)reports, to - from, added));
    for (uint64_t i = from; i < to; i++) {
        ok(added[i - from].refused);
        suspects_report_destroy(reports[i - from]);
    }
    free(reports);
}

// ---- Counted from the runs

struct brute {
    const struct fixture *fixture;
    uint64_t *counts[4]; // failing, passing, failing observed, passing observed; by predicate
    uint32_t *first;     // predicate, by module
    uint32_t predicates;
    uint64_t runs, listed;
};

static void brute_init(struct brute *brute, const struct fixture *fixture)
{
    *brute = (struct brute){.fixture = fixture};
    brute->first = xcalloc(fixture->sites.module_count, sizeof(uint32_t));
    for (uint32_t m = 0; m < fixture->sites.module_count; m++) {
        brute->first[m] = brute->predicates;
        brute->predicates += fixture->sites.modules[m].predicate_count;
    }
    for (int i = 0; i < 4; i++)
        brute->counts[i] = xcalloc(brute->predicates, sizeof(uint64_t));
}

static void brute_deinit(struct brute *brute)
{
    for (int i = 0; i < 4; i++)
        free(brute->counts[i]);
    free(brute->first);
}

static void brute_add(struct brute *brute, const struct suspects_report *report)
{
    int passed = report->outcome == SUSPECTS_PASSED;

    for (uint32_t m = 0; m < report->module_count && report->outcome; m++) {
        const struct suspects_sites_module *module = &brute->fixture->sites.modules[m];
        bool *set = xcalloc(module->counter_count, sizeof(bool));
        for (uint32_t i = 0; i < report->modules[m].count; i++)
            set[report->counts[report->modules[m].first + i].counter] = true;
        for (uint32_t s = 0; s < module->site_count; s++) {
            const struct suspects_site *site = &module->sites[s];
            bool any = false;
            for (uint32_t c = 0; c < suspects_counters(site->kind); c++)
                any |= set[site->first_counter + c];
            for (uint32_t p = 0; p < suspects_predicates(site->kind); p++) {
                uint32_t index = brute->first[m] + site->first_predicate + p;
                uint32_t mask = suspects_predicate_mask(site->kind, p);
                bool is_true = false;
                for (uint32_t c = 0; c < suspects_counters(site->kind); c++)
                    is_true |= (mask >> c & 1) && set[site->first_counter + c];
                brute->counts[passed][index] += is_true;
                brute->counts[2 + passed][index] += any;
            }
        }
        free(set);
    }
}

static void brute_run(void *context, const struct store_run *run)
{
    struct brute *brute = context;
    struct suspects_report *report = fixture_report(brute->fixture, fixture_number(run->run_id));

    assert_memory_equal(report->run_id, run->run_id, sizeof(run->run_id));
    assert_int_equal(report->outcome, run->outcome);
    assert_int_equal(report->signal, run->signal);
    assert_true(report->rate == run->rate && report->start == run->start);
    assert_int_equal(report->frame_count, run->frame_count);
    if (run->frame_count)
        assert_memory_equal(report->frames, run->frames, run->frame_count * sizeof(*run->frames));
    brute_add(brute, report);
    brute->runs++;
    suspects_report_destroy(report);
}

static void brute_compare(void *context, const struct predictor *predictor)
{
    struct brute *brute = context;
    const uint64_t counts[] = {predictor->failing, predictor->passing, predictor->failing_observed,
                               predictor->passing_observed};
    uint32_t m = 0;

    while (brute->fixture->sites.modules[m].module_id != predictor->module_id)
        m++;
    const struct suspects_site *site = &brute->fixture->sites.modules[m].sites[predictor->site];
    uint32_t index = brute->first[m] + site->first_predicate + predictor->predicate;
    assert_int_equal(site->kind, predictor->kind);
    for (int i = 0; i < 4; i++)
        assert_int_equal(counts[i], brute->counts[i][index]);
    brute->listed++;
}

// What the store says of its predicates is what its runs say, and they are those that were made.
static uint64_t verify(struct store *store, const struct fixture *fixture)
{
    const struct store_rank_request request = {.build_id = fixture->sites.build_id,
                                               .build_id_length = fixture->sites.build_id_length};
    struct brute brute;
    uint64_t expected = 0;

    brute_init(&brute, fixture);
    ok(store_each_run(store, &request, brute_run, &brute));
    ok(store_each(store, &request, brute_compare, &brute));
    for (uint32_t i = 0; i < brute.predicates; i++)
        expected += brute.counts[0][i] + brute.counts[1][i] > 0;
    assert_int_equal(expected, brute.listed);
    brute_deinit(&brute);
    return brute.runs;
}

// ---- As a tool

static void print_hex(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
}

static void print_runs(const struct fixture *fixture)
{
    printf("{\"modules\": [");
    for (uint32_t m = 0; m < fixture->sites.module_count; m++) {
        const struct suspects_sites_module *module = &fixture->sites.modules[m];
        printf("%s{\"id\": \"%016" PRIx64 "\", \"kinds\": [", m ? ", " : "", module->module_id);
        for (uint32_t s = 0; s < module->site_count; s++)
            printf("%s%u", s ? ", " : "", module->sites[s].kind);
        printf("]}");
    }
    printf("], \"runs\": [\n");
    for (uint64_t i = 0; i < fixture->shape->runs; i++) {
        struct suspects_report *report = fixture_report(fixture, i);
        printf("%s{\"id\": \"", i ? ",\n" : "");
        print_hex(report->run_id, sizeof(report->run_id));
        printf("\", \"outcome\": %u, \"counts\": [", report->outcome);
        for (uint32_t m = 0; m < report->module_count; m++) {
            printf("%s[", m ? ", " : "");
            for (uint32_t c = 0; c < report->modules[m].count; c++)
                printf("%s%u", c ? ", " : "", report->counts[report->modules[m].first + c].counter);
            printf("]");
        }
        printf("]}");
        suspects_report_destroy(report);
    }
    printf("]}\n");
}

static int fill(char **arguments)
{
    struct fixture fixture;
    struct store *store;

    fixture_init(&fixture, arguments[1], number_of(arguments[2]));
    ok(store_open(arguments[0], STORE_CREATE, &store));
    ok(store_add_build(store, &fixture.sites));
    struct store_added *added = xmalloc_array(fixture.shape->runs, sizeof(*added));
    for (uint64_t i = 0, count; i < fixture.shape->runs; i += count) {
        count = 1 + hash_mix(i) % 50;
        if (count > fixture.shape->runs - i)
            count = fixture.shape->runs - i;
        add_range(store, &fixture, i, i + count, added);
    }
    free(added);
    store_close(store);
    print_runs(&fixture);
    fixture_deinit(&fixture);
    return 0;
}

static int reports(char **arguments)
{
    struct fixture fixture;

    fixture_init(&fixture, arguments[1], number_of(arguments[2]));
    for (uint64_t i = 0; i < fixture.shape->runs; i++) {
        struct suspects_report *report = fixture_report(&fixture, i);
        struct strbuf bytes = STRBUF_INIT;
        char path[4096];
        suspects_report_write(report, &bytes);
        snprintf(path, sizeof(path), "%s/%" PRIu64 ".report", arguments[0], i);
        FILE *file = fopen(path, "w");
        if (!file || fwrite(bytes.data, 1, bytes.length, file) != bytes.length || fclose(file))
            return 1;
        strbuf_deinit(&bytes);
        suspects_report_destroy(report);
    }
    fixture_deinit(&fixture);
    return 0;
}

static void print_predictor(const struct predictor *predictor)
{
    printf("{\"module\": \"%016" PRIx64 "\", \"site\": %u, \"predicate\": %u", predictor->module_id,
           predictor->site, predictor->predicate);
    printf(", \"counts\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", predictor->failing,
           predictor->passing, predictor->failing_observed, predictor->passing_observed);
    printf(", \"numbers\": [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", predictor->failure,
           predictor->context, predictor->increase, predictor->increase_low, predictor->importance,
           predictor->ochiai, predictor->tarantula);
    printf(", \"redundant\": %u, \"head\": [%.17g, %" PRIu64 "]}", predictor->redundant,
           predictor->head_importance, predictor->head_failing);
}

static void print_one(void *context, const struct predictor *predictor)
{
    bool *is_first = context;

    printf("%s", *is_first ? "\n" : ",\n");
    *is_first = false;
    print_predictor(predictor);
}

static int print(int count, char **arguments)
{
    struct store *store;
    struct ranking ranking;
    bool is_first = true;
    struct store_rank_request request = {0};

    if (count > 1)
        request.elimination = (enum store_elimination)number_of(arguments[1]);
    if (count > 2)
        request.cluster_most = (uint32_t)number_of(arguments[2]);
    if (count > 3)
        request.confidence = strtod(arguments[3], NULL);
    ok(store_open(arguments[0], STORE_READ, &store));
    ok(store_rank(store, &request, NULL, &ranking));
    printf("{\"failing\": %" PRIu64 ", \"passing\": %" PRIu64 ", \"unexplained\": %" PRIu64,
           ranking.failing, ranking.passing, ranking.unexplained);
    printf(", \"candidates\": %u, \"complete\": %s, \"clusters\": [", ranking.candidates,
           ranking.complete ? "true" : "false");
    for (uint32_t c = 0; c < ranking.cluster_count; c++) {
        printf("%s\n{\"failing\": %" PRIu64 ", \"predictors\": [", c ? "," : "",
               ranking.clusters[c].failing);
        bool is_first_here = true;
        for (uint32_t p = 0; p < ranking.clusters[c].count; p++)
            print_one(&is_first_here, &ranking.clusters[c].predictors[p]);
        printf("]}");
    }
    printf("],\n\"predicates\": [");
    ok(store_each(store, &request, print_one, &is_first));
    printf("]}\n");
    ranking_deinit(&ranking);
    store_close(store);
    return 0;
}

static int merge(char **arguments)
{
    struct store *to, *from;
    uint64_t added, known;

    ok(store_open(arguments[0], STORE_CREATE, &to));
    ok(store_open(arguments[1], STORE_READ, &from));
    ok(store_merge(to, from, &added, &known));
    printf("%" PRIu64 " %" PRIu64 "\n", added, known);
    store_close(from);
    store_close(to);
    return 0;
}

// One line a run, written at once when it is committed: what is on the output is in the store.
static int write_runs(char **arguments)
{
    struct fixture fixture;
    struct store *store;
    uint64_t from = number_of(arguments[2]), to = number_of(arguments[3]);
    uint64_t batch = number_of(arguments[4]);
    struct store_added *added = xmalloc_array(batch, sizeof(*added));

    fixture_init(&fixture, "three", number_of(arguments[1]));
    ok(store_open(arguments[0], STORE_CREATE, &store));
    ok(store_add_build(store, &fixture.sites));
    for (uint64_t i = from; i < to; i += batch) {
        struct strbuf lines = STRBUF_INIT;
        uint64_t end = to - i < batch ? to : i + batch;
        add_range(store, &fixture, i, end, added);
        for (uint64_t r = i; r < end; r++)
            strbuf_printf(&lines, "%" PRIu64 "\n", r);
        if (write(STDOUT_FILENO, lines.data, lines.length) != (ssize_t)lines.length)
            return 1;
        strbuf_deinit(&lines);
    }
    free(added);
    store_close(store);
    fixture_deinit(&fixture);
    return 0;
}

static void print_number(void *context, const struct store_run *run)
{
    (void)context;
    printf("%" PRIu64 "\n", fixture_number(run->run_id));
}

static int verify_runs(char **arguments)
{
    struct fixture fixture;
    struct store *store;

    fixture_init(&fixture, "three", number_of(arguments[1]));
    ok(store_open(arguments[0], STORE_READ, &store));
    verify(store, &fixture);
    ok(store_each_run(store, &(struct store_rank_request){0}, print_number, NULL));
    store_close(store);
    fixture_deinit(&fixture);
    return 0;
}

static int bench(char **arguments)
{
    enum { BATCH = 500 };
    struct fixture fixture;
    struct store *store;
    struct ranking ranking;
    struct store_added added[BATCH];
    uint64_t runs = number_of(arguments[1]), counts = 0;
    double spent = 0;

    fixture_init(&fixture, "bench", 1);
    ok(store_open(arguments[0], STORE_CREATE, &store));
    ok(store_add_build(store, &fixture.sites));
    for (uint64_t i = 0, batch; i < runs; i += batch) {
        struct suspects_report *reports_here[BATCH];
        batch = runs - i < BATCH ? runs - i : BATCH;
        for (uint64_t r = 0; r < batch; r++) {
            reports_here[r] = fixture_report(&fixture, i + r);
            counts += reports_here[r]->count_count;
        }
        double start = now();
        ok(store_add_many(store, (const struct suspects_report *const *)reports_here, batch,
                          added));
        spent += now() - start;
        for (uint64_t r = 0; r < batch; r++)
            suspects_report_destroy(reports_here[r]);
    }
    double start = now();
    ok(store_rank(store, &(struct store_rank_request){0}, NULL, &ranking));
    printf("{\"runs\": %" PRIu64 ", \"counts\": %" PRIu64
           ", \"add_seconds\": %.3f, \"rank_seconds\": %.3f, \"clusters\": %u, "
           "\"failing\": %" PRIu64 ", \"unexplained\": %" PRIu64 "}\n",
           runs, counts, spent, now() - start, ranking.cluster_count, ranking.failing,
           ranking.unexplained);
    ranking_deinit(&ranking);
    store_close(store);
    fixture_deinit(&fixture);
    return 0;
}

static int tool(int count, char **arguments)
{
    static const struct {
        const char *name;
        int least;
        int (*run)(char **arguments);
    } commands[] = {{"fill", 3, fill},        {"reports", 3, reports},    {"merge", 2, merge},
                    {"write", 5, write_runs}, {"verify", 2, verify_runs}, {"bench", 2, bench}};

    if (strcmp(arguments[0], "print") == 0 && count > 1)
        return print(count - 1, arguments + 1);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(arguments[0], commands[i].name) == 0 && count > commands[i].least)
            return commands[i].run(arguments + 1);
    fprintf(stderr, "test_store_random: not a command: %s\n", arguments[0]);
    return 2;
}

// ---- As a test

static void counts_are_those_of_the_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fixture_shapes) / sizeof(fixture_shapes[0]); i++) {
        struct fixture fixture;
        struct store *store;
        if (fixture_shapes[i].runs == 0)
            continue;
        fixture_init(&fixture, fixture_shapes[i].name, i);
        ok(store_open(":memory:", STORE_CREATE, &store));
        ok(store_add_build(store, &fixture.sites));
        struct store_added *added = xmalloc_array(fixture.shape->runs, sizeof(*added));
        add_range(store, &fixture, 0, fixture.shape->runs, added);
        assert_int_equal(verify(store, &fixture), fixture.shape->runs);
        free(added);
        store_close(store);
        fixture_deinit(&fixture);
    }
}

int main(int count, char **arguments)
{
    if (count > 1)
        return tool(count - 1, arguments + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// What a store promises: once, whole, or refused with the reason. Each test runs on SQLite, and on
// PostgreSQL where INQUEST_TEST_POSTGRES says where one is (tests/cli/test_suspects_store.sh does).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suspects/store.h"

#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/budget.h"
#include "common/error.h"
#include "store_fixture.h"
#include "suspects/store_libpq.h"

// A place for one test: a directory for files, and a schema of the server's.
struct place {
    char directory[64];
    char *file, *server; // where a store can be; server: NULL where there is none
    char schema[32];
};

static void server_say(const char *text)
{
    assert_null(libpq_load());
    PGconn *server = PQconnectdb(getenv("INQUEST_TEST_POSTGRES"));
    PGresult *result = PQexec(server, text);

    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(server);
}

static int set_up(void **state)
{
    static unsigned number;
    const char *server = getenv("INQUEST_TEST_POSTGRES");
    struct place *place = xcalloc(1, sizeof(*place));

    snprintf(place->directory, sizeof(place->directory), "/tmp/test_store.XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    place->file = xasprintf("%s/runs.db", place->directory);
    snprintf(place->schema, sizeof(place->schema), "s%u_%d", number++, (int)getpid());
    if (server) {
        char *text = xasprintf("CREATE SCHEMA %s", place->schema);
        server_say(text);
        free(text);
        place->server = xasprintf("%s?options=-csearch_path%%3D%s", server, place->schema);
    }
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    char *text = xasprintf("rm -rf '%s'", place->directory);

    assert_int_equal(system(text), 0);
    free(text);
    if (place->server) {
        text = xasprintf("SET client_min_messages = error; DROP SCHEMA %s CASCADE", place->schema);
        server_say(text);
        free(text);
    }
    free(place->file);
    free(place->server);
    free(place);
    return 0;
}

static void ok(struct error *err)
{
    if (err)
        error_print(err);
    assert_null(err);
}

// The error has this code and says this.
static void is_error(struct error *err, enum error_code code, const char *text)
{
    assert_non_null(err);
    char *whole = error_text(err);
    if (err->code != code || !strstr(whole, text))
        print_error("code %d: %s\n", err->code, whole);
    assert_int_equal(err->code, code);
    assert_non_null(strstr(whole, text));
    free(whole);
    error_destroy(err);
}

static struct store *create(const char *where, const struct fixture *fixture)
{
    struct store *store;

    ok(store_open(where, STORE_CREATE, &store));
    if (fixture)
        ok(store_add_build(store, &fixture->sites));
    return store;
}

static enum store_result add(struct store *store, const struct fixture *fixture, uint64_t number)
{
    struct suspects_report *report = fixture_report(fixture, number);
    enum store_result result;

    ok(store_add(store, report, &result));
    suspects_report_destroy(report);
    return result;
}

static void add_range(struct store *store, const struct fixture *fixture, uint64_t from,
                      uint64_t to)
{
    struct suspects_report **reports = xmalloc_array(to - from, sizeof(*reports));
    struct store_added *added = xmalloc_array(to - from, sizeof(*added));

    for (uint64_t i = from; i < to; i++)
        reports[i - from] = fixture_report(fixture, i);
    ok(store_add_many(store, (const struct suspects_report *const *)reports, to - from, added));
    for (uint64_t i = 0; i < to - from; i++) {
        assert_null(added[i].refused);
        assert_int_equal(added[i].result, STORE_ADDED);
        suspects_report_destroy(reports[i]);
    }
    free(reports);
    free(added);
}

static void is_runs(struct store *store, uint64_t passed, uint64_t failed, uint64_t unknown)
{
    struct arena arena = ARENA_INIT;
    struct store_build *builds;
    uint32_t count;

    ok(store_builds(store, &arena, &builds, &count));
    assert_int_equal(count, 1);
    assert_int_equal(builds[0].passed, passed);
    assert_int_equal(builds[0].failed, failed);
    assert_int_equal(builds[0].unknown, unknown);
    arena_deinit(&arena);
}

// Runs the test on both databases.
static void each_store(void **state, void (*test)(const char *where, const struct place *place))
{
    const struct place *place = *state;

    test(place->file, place);
    if (place->server)
        test(place->server, place);
}

// ---- Adding

static void test_once(const char *where, const struct place *place)
{
    (void)place;
    struct fixture fixture;
    fixture_init(&fixture, "plain", 1);
    struct store *store = create(where, &fixture), *second = create(where, &fixture);

    assert_int_equal(add(store, &fixture, 1), STORE_ADDED);
    assert_int_equal(add(store, &fixture, 1), STORE_KNOWN);
    assert_int_equal(add(second, &fixture, 1), STORE_KNOWN);
    assert_int_equal(add(second, &fixture, 22), STORE_ADDED); // of no outcome
    struct suspects_report *first = fixture_report(&fixture, 1),
                           *other = fixture_report(&fixture, 2);
    const struct suspects_report *both[] = {other, first, other};
    struct store_added added[3];
    ok(store_add_many(store, both, 3, added));
    for (int i = 0; i < 3; i++)
        assert_null(added[i].refused);
    assert_int_equal(added[1].result, STORE_KNOWN);
    // Twice in one batch is once.
    assert_int_equal((added[0].result == STORE_ADDED) + (added[2].result == STORE_ADDED), 1);
    uint64_t failed =
        (first->outcome == SUSPECTS_FAILED) + (uint64_t)(other->outcome == SUSPECTS_FAILED);
    is_runs(second, 2 - failed, failed, 1);
    suspects_report_destroy(first);
    suspects_report_destroy(other);
    store_close(store);
    store_close(second);
    fixture_deinit(&fixture);
}

static void a_run_is_there_once(void **state)
{
    each_store(state, test_once);
}

static void refuse(struct store *store, const struct suspects_report *report, enum error_code code,
                   const char *text)
{
    enum store_result result;
    is_error(store_add(store, report, &result), code, text);
}

static void test_refused(const char *where, const struct place *place)
{
    (void)place;
    struct fixture fixture;
    fixture_init(&fixture, "plain", 2);
    struct store *store = create(where, &fixture);
    struct suspects_report *report = fixture_report(&fixture, 3);
    struct suspects_report changed = *report;

    changed.build_id[0] ^= 1;
    refuse(store, &changed, ERROR_NOT_FOUND, "does not know the build");
    report->modules[1].module_id++;
    refuse(store, report, ERROR_FORMAT, "the build has no module 0x");
    report->modules[1].module_id = report->modules[0].module_id;
    report->modules[1].counter_count = report->modules[0].counter_count;
    refuse(store, report, ERROR_FORMAT, "is there twice");
    report->module_count = 1;
    report->modules[0].counter_count--;
    refuse(store, report, ERROR_FORMAT, "counters in the build");
    report->modules[0].counter_count++;
    uint32_t *last = &report->counts[report->modules[0].count - 1].counter, before = *last;
    *last = report->modules[0].counter_count;
    refuse(store, report, ERROR_FORMAT, "is not one of its module's");
    *last = report->counts[0].counter;
    refuse(store, report, ERROR_FORMAT, "is out of order");
    *last = before;
    report->counts[0].value = 0;
    refuse(store, report, ERROR_FORMAT, "is 0");
    report->counts[0].value = 1;
    report->modules[0].count = report->count_count + 1;
    refuse(store, report, ERROR_FORMAT, "beyond the report's");
    report->outcome = 7;
    refuse(store, report, ERROR_FORMAT, "outcome");
    is_runs(store, 0, 0, 0);
    suspects_report_destroy(report);
    store_close(store);
    fixture_deinit(&fixture);
}

static void reports_that_do_not_fit_are_refused(void **state)
{
    each_store(state, test_refused);
}

// The good ones of a batch are added whatever the bad ones are.
static void test_batch(const char *where, const struct place *place)
{
    (void)place;
    struct fixture fixture;
    fixture_init(&fixture, "plain", 3);
    struct store *store = create(where, &fixture);
    struct suspects_report *reports[40];
    struct store_added added[40];

    for (uint64_t i = 0; i < 40; i++) {
        reports[i] = fixture_report(&fixture, i);
        if (i % 3 == 1)
            reports[i]->modules[0].module_id = 5;
        if (i % 3 == 2)
            reports[i]->build_id_length = 0;
    }
    ok(store_add_many(store, (const struct suspects_report *const *)reports, 40, added));
    for (unsigned i = 0; i < 40; i++) {
        if (i % 3 == 0) {
            assert_null(added[i].refused);
            assert_int_equal(added[i].result, STORE_ADDED);
        } else {
            is_error(added[i].refused, i % 3 == 1 ? ERROR_FORMAT : ERROR_NOT_FOUND, "build");
        }
        suspects_report_destroy(reports[i]);
    }
    store_close(store);
    fixture_deinit(&fixture);
}

static void a_batch_adds_what_fits(void **state)
{
    each_store(state, test_batch);
}

// A module that was not loaded in the run, and one of no counter at all.
static void test_parts(const char *where, const struct place *place)
{
    (void)place;
    struct fixture fixture;
    fixture_init(&fixture, "plain", 4);
    struct store *store = create(where, &fixture);
    struct suspects_report *report = fixture_report(&fixture, 1);
    enum store_result result;

    struct suspects_report_module first = report->modules[0];
    report->modules[0] = report->modules[1]; // the other way round
    report->modules[1] = first;
    ok(store_add(store, report, &result));
    assert_int_equal(result, STORE_ADDED);
    report->module_count = 0;
    report->run_id[0]++;
    ok(store_add(store, report, &result));
    assert_int_equal(result, STORE_ADDED);
    suspects_report_destroy(report);
    store_close(store);
    fixture_deinit(&fixture);
}

static void modules_come_in_any_order_or_not(void **state)
{
    each_store(state, test_parts);
}

// ---- Builds

static void count_predictor(void *context, const struct predictor *predictor)
{
    assert_string_equal(predictor->function_name, "function");
    assert_string_equal(predictor->file, "file.c");
    assert_string_equal(predictor->left, "left");
    assert_string_equal(predictor->right, "right");
    assert_int_equal(predictor->line, 10 + predictor->site);
    assert_true(predictor->constant == -(int64_t)predictor->site);
    assert_int_equal(
        predictor->node,
        predictor->site + (predictor->kind == SUSPECTS_BRANCH ? 1 + predictor->predicate : 0));
    ++*(unsigned *)context;
}

static void test_builds(const char *where, const struct place *place)
{
    (void)place;
    struct fixture first, second, changed;
    struct arena arena = ARENA_INIT;
    struct store_build *builds;
    struct ranking ranking;
    uint32_t count;
    unsigned predictors = 0;
    fixture_init(&first, "plain", 5);
    fixture_init(&second, "three", 6);
    fixture_init(&changed, "three", 7);
    struct store *store = create(where, &first);

    is_error(store_rank(store, &(struct store_rank_request){0}, NULL, &ranking), ERROR_NOT_FOUND,
             "no runs");
    ok(store_add_build(store, &second.sites));
    ok(store_add_build(store, &first.sites)); // again is fine
    memcpy(changed.sites.build_id, first.sites.build_id, 20);
    is_error(store_add_build(store, &changed.sites), ERROR_MISMATCH, "with other sites");
    add(store, &second, 1);
    ok(store_each(store, &(struct store_rank_request){0}, count_predictor, &predictors));
    assert_true(predictors > 10);
    add(store, &first, 2);
    is_error(store_rank(store, &(struct store_rank_request){0}, NULL, &ranking), ERROR_USAGE,
             "several builds");
    struct store_rank_request request = {.build_id = second.sites.build_id, .build_id_length = 20};
    ok(store_rank(store, &request, NULL, &ranking));
    assert_memory_equal(ranking.build.build_id, second.sites.build_id, 20);
    ranking_deinit(&ranking);
    request.build_id_length = 19;
    is_error(store_rank(store, &request, NULL, &ranking), ERROR_NOT_FOUND, "does not know");
    ok(store_builds(store, &arena, &builds, &count));
    assert_int_equal(count, 2);
    assert_memory_equal(builds[0].build_id, first.sites.build_id, 20);
    assert_int_equal(builds[0].site_count, 40);
    assert_int_equal(builds[1].site_count, 120);
    assert_int_equal(builds[1].passed + builds[1].failed, 1);
    assert_string_equal(builds[1].path, "prog");
    arena_deinit(&arena);
    store_close(store);
    fixture_deinit(&first);
    fixture_deinit(&second);
    fixture_deinit(&changed);
}

static void builds_are_told_apart(void **state)
{
    each_store(state, test_builds);
}

// ---- Opening

static void test_open(const char *where, const struct place *place)
{
    (void)place;
    struct store *store;

    struct error *err = store_open(where, STORE_READ, &store);
    is_error(err, ERROR_NOT_FOUND, "store");
    is_error(store_open(where, STORE_WRITE, &store), ERROR_NOT_FOUND, "store");
    store_close(create(where, NULL));
    ok(store_open(where, STORE_WRITE, &store));
    store_close(store);
    ok(store_open(where, STORE_READ, &store));
    store_close(store);
}

static void only_create_creates(void **state)
{
    each_store(state, test_open);
}

static void sqlite_say(const char *path, const char *text)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void test_version(const char *where, const struct place *place)
{
    struct store *store = create(where, NULL);
    char *text = xasprintf("UPDATE %s.inquest_store SET version = 2",
                           where == place->file ? "main" : place->schema);

    store_close(store);
    if (where == place->file)
        sqlite_say(where, text);
    else
        server_say(text);
    is_error(store_open(where, STORE_READ, &store), ERROR_MISMATCH, "version 2, not 1");
    is_error(store_open(where, STORE_CREATE, &store), ERROR_MISMATCH, "version 2, not 1");
    free(text);
}

static void another_version_is_refused(void **state)
{
    each_store(state, test_version);
}

static void files_that_are_no_store_are_refused(void **state)
{
    const struct place *place = *state;
    struct store *store;
    char *other = xasprintf("%s/other.db", place->directory);
    char *text = xasprintf("%s/text", place->directory);

    sqlite_say(other, "CREATE TABLE t (x)");
    is_error(store_open(other, STORE_READ, &store), ERROR_FORMAT, "another database");
    is_error(store_open(other, STORE_CREATE, &store), ERROR_FORMAT, "another database");
    FILE *file = fopen(text, "w");
    for (int i = 0; i < 1000; i++)
        fputs("This is not a database.\n", file);
    fclose(file);
    is_error(store_open(text, STORE_READ, &store), ERROR_FORMAT, "not a store");
    is_error(store_open(text, STORE_CREATE, &store), ERROR_FORMAT, "not a store");
    is_error(store_open(place->directory, STORE_CREATE, &store), ERROR_SYSTEM, "Is a directory");
    is_error(store_open("/nowhere/runs.db", STORE_CREATE, &store), ERROR_SYSTEM, "cannot open");
    free(other);
    free(text);
}

static void a_server_that_is_not_there_is_named_without_secrets(void **state)
{
    (void)state;
    struct store *store;
    struct error *err =
        store_open("postgresql://me:secret@127.0.0.1:1/db?connect_timeout=1", STORE_READ, &store);

    assert_non_null(err);
    char *text = error_text(err);
    assert_non_null(strstr(text, "cannot connect"));
    assert_non_null(strstr(text, "'postgresql://127.0.0.1:1/db'"));
    assert_null(strstr(text, "secret"));
    free(text);
    error_destroy(err);
}

// ---- Merging

static void test_merge(const char *where, const struct place *place)
{
    struct fixture first, second;
    char *path = xasprintf("%s/second%d.db", place->directory, where == place->file);
    uint64_t added, known;
    fixture_init(&first, "plain", 8);
    fixture_init(&second, "three", 9);
    struct store *to = create(where, &first), *from = create(path, &second);

    ok(store_add_build(from, &first.sites));
    add_range(from, &second, 0, 700);
    add_range(to, &first, 1000, 1030);
    add_range(from, &first, 1020, 1030);
    ok(store_merge(to, from, &added, &known));
    assert_int_equal(added, 700);
    assert_int_equal(known, 10);
    ok(store_merge(to, from, &added, &known));
    assert_int_equal(added, 0);
    assert_int_equal(known, 710);
    ok(store_merge(from, to, &added, &known)); // and back
    assert_int_equal(added, 20);
    assert_int_equal(known, 710);
    store_close(to);
    store_close(from);
    fixture_deinit(&first);
    fixture_deinit(&second);
    free(path);
}

static void merging_brings_what_is_not_there(void **state)
{
    each_store(state, test_merge);
}

// ---- Limits

static void test_budget(const char *where, const struct place *place)
{
    (void)place;
    struct fixture fixture;
    struct budget budget;
    struct ranking ranking;
    fixture_init(&fixture, "three", 10);
    struct store *store = create(where, &fixture);

    add_range(store, &fixture, 0, 400);
    budget_init(&budget, 1e-9, 0);
    ok(store_rank(store, &(struct store_rank_request){0}, &budget, &ranking));
    assert_false(ranking.complete);
    assert_int_equal(ranking.cluster_count, 0);
    assert_true(ranking.failing > 0);
    assert_int_equal(ranking.unexplained, ranking.failing);
    ranking_deinit(&ranking);
    budget_init(&budget, 60, 0);
    struct store_rank_request request = {.cluster_most = 2, .predictor_most = 1};
    ok(store_rank(store, &request, &budget, &ranking)); // as if nothing had been
    assert_true(ranking.complete);
    assert_int_equal(ranking.cluster_count, 2);
    assert_int_equal(ranking.clusters[0].count, 1);
    assert_int_equal(ranking.clusters[1].count, 1);
    ranking_deinit(&ranking);
    store_close(store);
    fixture_deinit(&fixture);
}

static void a_spent_budget_ends_a_ranking(void **state)
{
    each_store(state, test_budget);
}

// ---- A ranking by hand

// Two branches, both sampled in every run. a, b: whether the first and the second was true.
static void add_by_hand(struct store *store, const struct suspects_sites *sites, uint8_t number,
                        bool a, bool b, enum suspects_outcome outcome)
{
    struct suspects_report_module module = {
        .module_id = sites->modules[0].module_id, .counter_count = 4, .count = 2};
    struct suspects_count counts[] = {{a, 1}, {2u + b, 1}};
    struct suspects_report report = {.run_id = {number},
                                     .outcome = outcome,
                                     .modules = &module,
                                     .module_count = 1,
                                     .counts = counts,
                                     .count_count = 2};
    enum store_result result;

    ok(store_add(store, &report, &result));
    assert_int_equal(result, STORE_ADDED);
}

static void rank_by_hand(const char *where, unsigned first, unsigned second, unsigned passing,
                         struct ranking *ret)
{
    static const char strings[] = "";
    struct suspects_site sites[] = {
        {.kind = SUSPECTS_BRANCH},
        {.kind = SUSPECTS_BRANCH, .first_counter = 2, .first_predicate = 2}};
    struct suspects_sites_module module = {.module_id = first,
                                           .sites = sites,
                                           .site_count = 2,
                                           .counter_count = 4,
                                           .predicate_count = 4,
                                           .strings = strings,
                                           .string_length = sizeof(strings)};
    struct suspects_sites all = {.modules = &module, .module_count = 1}; // of no build-id
    struct store *store;

    ok(store_open(where, STORE_CREATE, &store));
    ok(store_add_build(store, &all));
    for (unsigned i = 0; i < first; i++)
        add_by_hand(store, &all, (uint8_t)i, true, false, SUSPECTS_FAILED);
    for (unsigned i = 0; i < second; i++)
        add_by_hand(store, &all, (uint8_t)(100 + i), false, true, SUSPECTS_FAILED);
    for (unsigned i = 0; i < passing; i++)
        add_by_hand(store, &all, (uint8_t)(200 + i), false, false, SUSPECTS_PASSED);
    ok(store_rank(store, &(struct store_rank_request){0}, NULL, ret));
    store_close(store);
}

static void is_near(double got, double expected)
{
    if (!(fabs(got - expected) < 1e-12))
        print_error("%.17g, expected %.17g\n", got, expected);
    assert_true(fabs(got - expected) < 1e-12);
}

static void numbers_are_those_of_the_formulas(void **state)
{
    (void)state;
    struct ranking ranking;

    rank_by_hand(":memory:", 6, 3, 20, &ranking);
    assert_int_equal(ranking.cluster_count, 2);
    const struct predictor *head = &ranking.clusters[0].predictors[0];
    assert_int_equal(head->site, 0);
    assert_int_equal(head->predicate, 1);
    is_near(head->failure, 1);
    is_near(head->context, 9.0 / 29);
    is_near(head->increase, 20.0 / 29);
    is_near(head->increase_low, 20.0 / 29 - 1.9599639845400545 * sqrt(9.0 / 29 * (20.0 / 29) / 29));
    is_near(head->importance, 2 / (29.0 / 20 + log(9) / log(6)));
    is_near(head->ochiai, 6 / sqrt(9.0 * 6));
    is_near(head->tarantula, 1);
    head = &ranking.clusters[1].predictors[0]; // three of three failing runs that are left
    assert_int_equal(head->site, 1);
    assert_int_equal(head->head_failing, 3);
    is_near(head->head_importance, 2 / (1 / (1 - 3.0 / 23) + 1));
    is_near(head->importance, 2 / (29.0 / 20 + log(9) / log(3)));
    assert_int_equal(ranking.unexplained, 0);
    ranking_deinit(&ranking);
}

static void one_failing_run(void **state)
{
    (void)state;
    struct ranking ranking;

    rank_by_hand(":memory:", 6, 1, 20, &ranking); // left over: explains nothing
    assert_int_equal(ranking.cluster_count, 1);
    assert_int_equal(ranking.unexplained, 1);
    ranking_deinit(&ranking);
    rank_by_hand(":memory:", 1, 0, 20, &ranking); // all there is
    assert_int_equal(ranking.cluster_count, 1);
    is_near(ranking.clusters[0].predictors[0].importance, 2 / (1 / (20.0 / 21) + 1));
    ranking_deinit(&ranking);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_is_there_once),
        TEST(reports_that_do_not_fit_are_refused),
        TEST(a_batch_adds_what_fits),
        TEST(modules_come_in_any_order_or_not),
        TEST(builds_are_told_apart),
        TEST(only_create_creates),
        TEST(another_version_is_refused),
        TEST(files_that_are_no_store_are_refused),
        TEST(a_server_that_is_not_there_is_named_without_secrets),
        TEST(merging_brings_what_is_not_there),
        TEST(a_spent_budget_ends_a_ranking),
        cmocka_unit_test(numbers_are_those_of_the_formulas),
        cmocka_unit_test(one_failing_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

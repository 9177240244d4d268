// SPDX-License-Identifier: Apache-2.0
/* Predictors for people and tools: thermometers, conditions, CSV. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hash.h"
#include "common/strbuf.h"
#include "report/suspects.h"
#include "suspects/store.h"

static uint64_t state = 5;

static uint64_t draw(uint64_t most)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(state) % most;
}

static struct predictor counted(uint64_t failing, uint64_t passing, uint64_t failing_observed,
                                uint64_t passing_observed, double margin)
{
    struct predictor predictor = {
        .failing = failing,
        .passing = passing,
        .failing_observed = failing_observed,
        .passing_observed = passing_observed,
        .failure = (double)failing / (double)(failing + passing),
        .context = (double)failing_observed / (double)(failing_observed + passing_observed),
        .function_name = "f",
        .file = "a.c",
        .left = "x",
        .right = "",
        .kind = SUSPECTS_BRANCH,
    };
    predictor.increase = predictor.failure - predictor.context;
    predictor.increase_low = predictor.increase - margin;
    return predictor;
}

// How often a character is in a bar.
static uint32_t occurs(const char *bar, char wanted)
{
    uint32_t count = 0;
    for (; *bar; bar++)
        count += *bar == wanted;
    return count;
}

static void test_bars(void **unused)
{
    (void)unused;
    const struct suspects_style style = {.ascii = true};
    for (int i = 0; i < 5000; i++) {
        uint64_t failing = draw(50), passing = draw(50) + !failing;
        struct predictor predictor = counted(failing, passing, failing + draw(90),
                                             passing + draw(90), (double)draw(1000) / 1000);
        uint64_t runs = failing + passing, most = runs + draw(100000);
        struct strbuf bar = STRBUF_INIT;
        suspects_append_bar(&bar, &predictor, most, &style);
        assert_int_equal(bar.length, SUSPECTS_BAR);
        // the longest stands for `most` runs; every one is seen
        uint32_t length = SUSPECTS_BAR - occurs(bar.data, ' ');
        double wanted = SUSPECTS_BAR * log(1 + (double)runs) / log(1 + (double)most);
        assert_true(length >= 1 && length >= wanted - 1e-9 && length < wanted + 1 + 1e-9);
        // parts in proportion; a decrease is nothing but context and passed
        uint32_t context = occurs(bar.data, '#'), passed = occurs(bar.data, '.');
        double share =
            predictor.failure > predictor.context ? predictor.failure : predictor.context;
        assert_true(fabs(context - predictor.context * length) <= 0.5 + 1e-9);
        assert_true(fabs(passed - (1 - share) * length) <= 0.5 + 1e-9);
        if (predictor.increase_low <= 0)
            assert_int_equal(occurs(bar.data, '*'), 0);
        assert_int_equal(context + passed + occurs(bar.data, '*') + occurs(bar.data, '+'), length);
        strbuf_deinit(&bar);
    }
}

static void test_bar_of_nothing(void **unused)
{
    (void)unused;
    const struct suspects_style style = {.ascii = true};
    struct predictor predictor = {.failure = NAN, .context = NAN, .increase_low = NAN};
    struct strbuf bar = STRBUF_INIT;
    suspects_append_bar(&bar, &predictor, 0, &style);
    assert_string_equal(bar.data, "                    ");
    strbuf_deinit(&bar);
}

// What a condition says is what the words of its predicate say, for every pair of numbers.
static bool holds(const char *operator, int64_t left, int64_t right)
{
    bool less = strchr(operator, '<') != NULL, greater = strchr(operator, '>') != NULL;

    if (operator[0] == '!')
        return left != right;
    return (less && left < right) || (greater && left > right) ||
           (operator[strlen(operator) - 1] == '=' && left == right);
}

static void test_conditions(void **unused)
{
    (void)unused;
    static const char *const operators[] = {"", "<", "==", ">", ">=", "!=", "<="};
    struct predictor predictor = {.flags = SUSPECTS_LEFT_IS_VARIABLE | SUSPECTS_RIGHT_IS_CONSTANT,
                                  .constant = 4};
    for (uint32_t p = 0; p < 6; p++) {
        predictor.kind = SUSPECTS_PAIR;
        predictor.predicate = p;
        assert_string_equal(suspects_condition(&predictor), operators[p + 1]);
    }
    for (uint32_t op = SUSPECTS_LESS; op <= SUSPECTS_LESS_EQUAL; op++)
        for (int64_t value = 3; value <= 5; value++) {
            predictor.kind = op % 2 ? SUSPECTS_BRANCH : SUSPECTS_WATCH;
            predictor.operator= op;
            predictor.predicate = 1;
            bool is_true = holds(operators[op], value, 4);
            assert_int_equal(holds(suspects_condition(&predictor), value, 4), is_true);
            predictor.predicate = 0;
            assert_int_equal(holds(suspects_condition(&predictor), value, 4), !is_true);
        }
    predictor.operator= SUSPECTS_NO_OPERATOR;
    assert_null(suspects_condition(&predictor));
    predictor.kind = SUSPECTS_RETURN;
    assert_null(suspects_condition(&predictor));
    predictor.kind = SUSPECTS_PAIR;
    predictor.flags = SUSPECTS_LEFT_IS_VARIABLE | SUSPECTS_RIGHT_IS_VARIABLE;
    assert_null(suspects_condition(&predictor));
}

static void test_csv(void **unused)
{
    (void)unused;
    struct predictor predictors[2] = {counted(3, 1, 4, 4, 0.1), counted(2, 0, 4, 4, 0.1)};
    predictors[0].left = "a[\"x, y\"]";
    predictors[0].predicate = 1;
    predictors[1].importance = NAN;
    struct cluster clusters[] = {{predictors, 2, 3}, {predictors + 1, 1, 1}};
    struct ranking ranking = {.clusters = clusters, .cluster_count = 2};
    struct suspects_view view = {.ranking = &ranking, .by = "importance", .first = 1};
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    suspects_write_csv(&view, stream);
    fclose(stream);
    const char *second = strchr(text, '\n') + 1;
    assert_non_null(strstr(second, "1,1,0,0.25,0.15,0.75,0.5,0,0,3,1,4,4,branch,"
                                   "\"a[\"\"x, y\"\"] is true\",f,a.c,0,0,0x0,0,0,0,1,0\n"));
    assert_non_null(strstr(second, "\n2,1,,0.5,0.4,1,0.5,0,0,2,0,4,4,branch,x is false,f,a.c,"));
    assert_null(strstr(second, "\n1,2,"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_bar_of_nothing),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/budget.h"

#include <math.h>

#include "common/error.h"

static void no_limit_is_never_spent(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 0, 0);
    for (int i = 0; i < 10000; i++)
        assert_false(budget_is_spent(&budget));
    assert_true(isinf(budget_seconds_left(&budget)));
}

static void time_runs_out_and_stays_so(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 1e-9, 0);
    int calls = 0;
    while (!budget_is_spent(&budget))
        assert_true(++calls < 1000000000);
    assert_int_equal(budget.state, BUDGET_TIME_SPENT);
    assert_true(budget_is_spent(&budget));
    assert_true(budget_look(&budget));
    assert_true(budget_seconds_left(&budget) == 0);
    struct error *err = budget_error(&budget);
    assert_int_equal(err->code, ERROR_LIMIT);
    error_destroy(err);
    budget_init(&budget, 3600, 0);
    assert_false(budget_look(&budget));
    assert_true(budget_seconds_left(&budget) > 3000 && budget_seconds_left(&budget) <= 3600);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 0, 1);
    assert_true(budget_look(&budget));
    assert_int_equal(budget.state, BUDGET_MEMORY_SPENT);
    budget_init(&budget, 0, UINT64_C(1) << 50);
    assert_false(budget_look(&budget));
}

static void times_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* 0: an error */
    } cases[] = {{"10", 10}, {"1.5s", 1.5}, {"500ms", 0.5}, {"2m", 120}, {"1h", 3600},
                 {"", 0},    {"-1", 0},     {"0", 0},       {"s", 0},    {"10x", 0},
                 {"inf", 0}, {"0x10", 0},   {"1 s", 0},     {" 1", 0},   {"1e999", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double seconds = 0;
        struct error *err = budget_parse_time(cases[i].text, &seconds);
        assert_int_equal(err == NULL, cases[i].seconds > 0);
        assert_true(fabs(seconds - cases[i].seconds) < 1e-9);
        error_destroy(err);
    }
}

static void sizes_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: an error */
    } cases[] = {{"1048576", 1048576},
                 {"512K", 512 * 1024},
                 {"512k", 512 * 1024},
                 {"3M", 3 << 20},
                 {"2GiB", UINT64_C(2) << 30},
                 {"2GB", UINT64_C(2) << 30},
                 {"7B", 7},
                 {"", 0},
                 {"G", 0},
                 {"0", 0},
                 {"-5", 0},
                 {"1.5G", 0},
                 {"5Gx", 0},
                 {"5iB", 0},
                 {"99999999999999999999", 0},
                 {"99999999999T", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 0;
        struct error *err = budget_parse_memory(cases[i].text, &bytes);
        assert_int_equal(err == NULL, cases[i].bytes > 0);
        assert_true(bytes == cases[i].bytes);
        error_destroy(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_is_never_spent), cmocka_unit_test(time_runs_out_and_stays_so),
        cmocka_unit_test(memory_runs_out),         cmocka_unit_test(times_are_parsed),
        cmocka_unit_test(sizes_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/vec.h"

struct pair {
    int a, b;
};
VEC_DEFINE(pair_vec, struct pair);
VEC_DEFINE(int_vec, int);
/* A type of several words, which the macros may not put `const` before. */
VEC_DEFINE(name_vec, const char *);

static void push_and_pop(void **state)
{
    (void)state;
    struct pair_vec pairs = VEC_INIT;
    for (int i = 0; i < 1000; i++)
        pair_vec_push(&pairs, (struct pair){i, -i});
    assert_int_equal(pairs.length, 1000);
    assert_true(pairs.capacity >= 1000);
    assert_int_equal(pair_vec_at(&pairs, 500)->b, -500);
    assert_int_equal(pair_vec_last(&pairs)->a, 999);
    for (int i = 999; i >= 0; i--)
        assert_int_equal(pair_vec_pop(&pairs).a, i);
    assert_int_equal(pairs.length, 0);
    pair_vec_deinit(&pairs);
    assert_null(pairs.data);
}

static void resize_fills_with_zero(void **state)
{
    (void)state;
    struct int_vec ints;
    int_vec_init(&ints);
    for (int i = 0; i < 20; i++)
        int_vec_push(&ints, 7);
    int_vec_resize(&ints, 5);
    int_vec_resize(&ints, 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ints.data[i], i < 5 ? 7 : 0);
    int_vec_deinit(&ints);
}

static void append_and_steal(void **state)
{
    (void)state;
    static const int values[] = {1, 2, 3};
    struct int_vec ints = VEC_INIT;
    int_vec_append(&ints, NULL, 0);
    assert_null(ints.data);
    for (int i = 0; i < 10; i++)
        int_vec_append(&ints, values, 3);
    assert_int_equal(ints.length, 30);
    assert_int_equal(ints.data[29], 3);
    int *stolen = int_vec_steal(&ints);
    assert_null(ints.data);
    assert_int_equal(ints.length, 0);
    assert_int_equal(stolen[27], 1);
    free(stolen);
}

static void pointers_to_const_are_elements(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    struct name_vec vec = VEC_INIT;
    name_vec_append(&vec, names, 2);
    name_vec_push(&vec, "c");
    assert_string_equal(*name_vec_last(&vec), "c");
    assert_string_equal(name_vec_pop(&vec), "c");
    assert_string_equal(*name_vec_at(&vec, 1), "b");
    name_vec_deinit(&vec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(push_and_pop),
        cmocka_unit_test(resize_fills_with_zero),
        cmocka_unit_test(append_and_steal),
        cmocka_unit_test(pointers_to_const_are_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/bitset.h"

#include <string.h>

#include "common/hash.h"

enum { LARGEST = 200 };

static void fill(struct bitset *set, bool *plain, size_t size, uint64_t seed)
{
    bitset_init(set, size);
    for (size_t i = 0; i < size; i++) {
        plain[i] = hash_mix(seed * 1000 + i) % 3 == 0;
        if (plain[i])
            bitset_set(set, i);
    }
}

static void check(const struct bitset *set, const bool *plain)
{
    size_t count = 0;
    size_t next = bitset_next(set, 0);
    for (size_t i = 0; i < set->size; i++) {
        assert_int_equal(bitset_test(set, i), plain[i]);
        if (plain[i]) {
            assert_int_equal(next, i);
            next = bitset_next(set, i + 1);
            count++;
        }
    }
    assert_int_equal(next, set->size);
    assert_int_equal(bitset_count(set), count);
    assert_int_equal(bitset_is_empty(set), count == 0);
}

/* Every operation against arrays of bool, at every size around the word borders. */
static void operations_agree_with_arrays(void **state)
{
    (void)state;
    for (size_t size = 0; size < LARGEST; size++) {
        struct bitset a, b, c;
        bool x[LARGEST] = {false}, y[LARGEST] = {false}, z[LARGEST] = {false};
        fill(&a, x, size, size);
        fill(&b, y, size, size + LARGEST);
        bool subset = true, meets = false;
        for (size_t i = 0; i < size; i++) {
            subset = subset && (!x[i] || y[i]);
            meets = meets || (x[i] && y[i]);
        }
        assert_int_equal(bitset_is_subset(&a, &b), subset);
        assert_int_equal(bitset_intersects(&a, &b), meets);
        assert_int_equal(bitset_equal(&a, &b), memcmp(x, y, sizeof(x)) == 0);

        bitset_init_copy(&c, &a);
        for (size_t i = 0; i < size; i++)
            z[i] = x[i] || y[i];
        assert_int_equal(bitset_union(&c, &b), memcmp(x, z, sizeof(x)) != 0);
        assert_false(bitset_union(&c, &b));
        check(&c, z);

        bitset_copy(&c, &a);
        assert_true(bitset_equal(&c, &a));
        for (size_t i = 0; i < size; i++)
            z[i] = x[i] && y[i];
        assert_int_equal(bitset_intersect(&c, &b), memcmp(x, z, sizeof(x)) != 0);
        check(&c, z);

        bitset_copy(&c, &a);
        for (size_t i = 0; i < size; i++)
            z[i] = x[i] && !y[i];
        assert_int_equal(bitset_subtract(&c, &b), memcmp(x, z, sizeof(x)) != 0);
        check(&c, z);

        for (size_t i = 0; i < size; i++)
            z[i] = !z[i];
        bitset_complement(&c);
        check(&c, z);
        bitset_set_all(&c);
        assert_int_equal(bitset_count(&c), size);
        bitset_clear_all(&c);
        assert_true(bitset_is_empty(&c));
        bitset_deinit(&a);
        bitset_deinit(&b);
        bitset_deinit(&c);
    }
}

static void resize_keeps_and_clears(void **state)
{
    (void)state;
    struct bitset set;
    bitset_init(&set, 100);
    bitset_set_all(&set);
    bitset_resize(&set, 70);
    bitset_resize(&set, 300);
    assert_int_equal(bitset_count(&set), 70);
    assert_int_equal(bitset_next(&set, 70), 300);
    assert_false(bitset_test_and_set(&set, 299));
    assert_true(bitset_test_and_set(&set, 299));
    bitset_clear(&set, 299);
    assert_false(bitset_test(&set, 299));
    bitset_deinit(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_agree_with_arrays),
        cmocka_unit_test(resize_keeps_and_clears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/map.h"

#include <stdio.h>

#include "common/arena.h"

MAP_DEFINE_U64(number_map, uint32_t);
MAP_DEFINE_STRING(name_map, int);

enum { KEYS = 512, STEPS = 200000 };

/* Random puts, removals and lookups against a plain array; few keys, so that chains are shifted. */
static void agrees_with_an_array(void **state)
{
    (void)state;
    uint32_t values[KEYS] = {0};
    bool present[KEYS] = {false};
    size_t count = 0;
    struct number_map map = MAP_INIT;
    uint64_t seed = 1;
    for (uint32_t step = 1; step < STEPS; step++) {
        seed = hash_mix(seed + step);
        uint64_t key = seed % KEYS;
        if (seed >> 32 & 1) {
            bool is_new;
            uint32_t *value = number_map_put_new(&map, key * 64, &is_new);
            assert_int_equal(is_new, !present[key]);
            assert_int_equal(*value, present[key] ? values[key] : 0);
            count += is_new;
            present[key] = true;
            *value = values[key] = step;
        } else {
            assert_int_equal(number_map_remove(&map, key * 64), present[key]);
            count -= present[key];
            present[key] = false;
        }
        assert_int_equal(map.length, count);
        uint64_t other = (seed >> 40) % KEYS;
        uint32_t *found = number_map_get(&map, other * 64);
        assert_int_equal(found != NULL, present[other]);
        if (found)
            assert_int_equal(*found, values[other]);
    }
    number_map_deinit(&map);
}

static void iteration_meets_each_once(void **state)
{
    (void)state;
    struct number_map map = MAP_INIT;
    MAP_FOREACH (number_map, &map, entry)
        fail_msg("an empty map has the entry %lu", (unsigned long)entry->key);
    for (uint64_t i = 0; i < 1000; i++)
        *number_map_put(&map, i * i) = (uint32_t)i;
    bool seen[1000] = {false};
    size_t count = 0;
    MAP_FOREACH (number_map, &map, entry) {
        assert_int_equal(entry->key, (uint64_t)entry->value * entry->value);
        assert_false(seen[entry->value]);
        seen[entry->value] = true;
        count++;
    }
    assert_int_equal(count, 1000);
    count = 0;
    MAP_FOREACH (number_map, &map, entry) {
        if (++count == 3)
            break;
    }
    assert_int_equal(count, 3);
    number_map_clear(&map);
    assert_int_equal(map.length, 0);
    assert_null(number_map_get(&map, 4));
    number_map_deinit(&map);
}

static void strings_compare_by_content(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct name_map map = MAP_INIT;
    assert_null(name_map_get(&map, "absent"));
    for (int i = 0; i < 5000; i++)
        *name_map_put(&map, arena_printf(&arena, "name%d", i)) = i;
    for (int i = 0; i < 5000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "name%d", i);
        assert_non_null(name_map_get(&map, key));
        assert_int_equal(*name_map_get(&map, key), i);
    }
    assert_null(name_map_get(&map, "name5000"));
    assert_null(name_map_get(&map, ""));
    assert_true(name_map_remove(&map, "name17"));
    assert_false(name_map_remove(&map, "name17"));
    assert_null(name_map_get(&map, "name17"));
    name_map_deinit(&map);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(iteration_meets_each_once),
        cmocka_unit_test(strings_compare_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

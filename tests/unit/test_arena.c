// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/arena.h"

#include <string.h>

static void pieces_are_zero_aligned_and_apart(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    unsigned char *pieces[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t size = i % 97 == 0 ? 5000 + i : i % 40;
        pieces[i] = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < 2000; i++) {
        size_t size = i % 97 == 0 ? 5000 + i : i % 40;
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], i % 251);
    }
    arena_deinit(&arena);
}

static void strings_are_copied(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    char source[] = "hello";
    char *copy = arena_strdup(&arena, source);
    char *part = arena_strndup(&arena, source, 2);
    source[0] = 'j';
    assert_string_equal(copy, "hello");
    assert_string_equal(part, "he");
    assert_string_equal(arena_printf(&arena, "%s#%u", copy, 3u), "hello#3");
    assert_memory_equal(arena_memdup(&arena, "a\0b", 3), "a\0b", 3);
    arena_deinit(&arena);
}

static void clear_starts_again(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    assert_int_equal(arena_used(&arena), 0);
    memset(arena_alloc(&arena, 100000), 1, 100000);
    assert_true(arena_used(&arena) >= 100000);
    arena_clear(&arena);
    assert_int_equal(arena_used(&arena), 0);
    uint32_t *numbers = arena_alloc_array(&arena, 1000, uint32_t);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_aligned_and_apart),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(clear_starts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

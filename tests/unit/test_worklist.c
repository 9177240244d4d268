// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/worklist.h"

#include "common/hash.h"

enum { SIZE = 50 };

static void first_in_first_out_once(void **state)
{
    (void)state;
    struct worklist list;
    worklist_init(&list, 4, NULL);
    uint32_t id = 99;
    assert_false(worklist_pop(&list, &id));
    assert_int_equal(id, 99);
    for (int round = 0; round < 5; round++) {
        assert_true(worklist_push(&list, 2));
        assert_true(worklist_push(&list, 0));
        assert_false(worklist_push(&list, 2));
        assert_true(worklist_push(&list, 3));
        assert_true(worklist_pop(&list, &id));
        assert_int_equal(id, 2);
        assert_true(worklist_push(&list, 2));
        static const uint32_t expected[] = {0, 3, 2};
        for (int i = 0; i < 3; i++) {
            assert_true(worklist_pop(&list, &id));
            assert_int_equal(id, expected[i]);
        }
        assert_true(worklist_is_empty(&list));
    }
    worklist_deinit(&list);
}

/* Random pushes and pops; each pop is compared with a search through all that is on the list. */
static void smallest_priority_first(void **state)
{
    (void)state;
    uint32_t priority[SIZE];
    for (uint32_t i = 0; i < SIZE; i++)
        priority[i] = hash_mix(i + 1) % 20;
    bool on_list[SIZE] = {false};
    struct worklist list;
    worklist_init(&list, SIZE, priority);
    for (uint64_t step = 1; step < 20000; step++) {
        uint64_t random = hash_mix(step);
        if (random >> 32 & 1) {
            uint32_t id = random % SIZE;
            assert_int_equal(worklist_push(&list, id), !on_list[id]);
            on_list[id] = true;
            continue;
        }
        uint32_t best = SIZE;
        for (uint32_t i = 0; i < SIZE; i++) {
            if (on_list[i] && (best == SIZE || priority[i] < priority[best]))
                best = i;
        }
        uint32_t id = SIZE;
        assert_int_equal(worklist_pop(&list, &id), best != SIZE);
        assert_int_equal(id, best);
        if (best != SIZE)
            on_list[best] = false;
    }
    worklist_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out_once),
        cmocka_unit_test(smallest_priority_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

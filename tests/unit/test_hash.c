// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/hash.h"

/* Published FNV-1a values: a change here would make stored checksums unreadable. */
static void values_never_change(void **state)
{
    (void)state;
    assert_true(hash_string(HASH_SEED, "") == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_string(HASH_SEED, "a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_string(HASH_SEED, "foobar") == UINT64_C(0x85944171f73967e8));
    assert_true(hash_bytes(HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_mix(0) == 0);
    /* The first output of splitmix64 from state 0. */
    assert_true(hash_mix(UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0xe220a8397b1dcdaf));
}

static void integers_are_little_endian_bytes(void **state)
{
    (void)state;
    assert_true(hash_u64(HASH_SEED, UINT64_C(0x6867666564636261)) ==
                hash_string(HASH_SEED, "abcdefgh"));
}

static void one_changed_byte_changes_the_hash(void **state)
{
    (void)state;
    unsigned char bytes[64] = {0};
    uint64_t before = hash_bytes(HASH_SEED, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        for (int flip = 1; flip < 256; flip++) {
            bytes[i] = (unsigned char)flip;
            assert_true(hash_bytes(HASH_SEED, bytes, sizeof(bytes)) != before);
        }
        bytes[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_never_change),
        cmocka_unit_test(integers_are_little_endian_bytes),
        cmocka_unit_test(one_changed_byte_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// The text forms of truths and paths: what is written is read back, and nothing else is taken.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/strbuf.h"
#include "evidence/evidence_text.h"

static void test_truths(void **unused)
{
    (void)unused;
    static const char *const good[] = {"", "n", "y", "?", "n12y3?", "y2n2y2", "?4000n"};
    static const char *const bad[] = {"n0",  "n1",  "nn",  "n2n",         "x",     "3",
                                      "y 2", "n02", "n-1", "y4294967296", "y4001", " y"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        const uint8_t *truths;
        uint32_t count;
        assert_true(evidence_parse_truths(&arena, good[i], 4001, &truths, &count));
        evidence_append_truths(&text, truths, count);
        assert_string_equal(text.data, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        const uint8_t *truths;
        uint32_t count;
        assert_false(evidence_parse_truths(&arena, bad[i], 4000, &truths, &count));
    }
}

static void test_path(void **unused)
{
    (void)unused;
    static const char *const good[] = {"0", "0 1 4* 5 3", "3*", "0 7+ 7", "4294967295"};
    static const char *const bad[] = {"",    " 0",    "0 ", "0  1", "exit",       "@2 3", "0 >3",
                                      "0,1", "0 1**", "01", "0 -1", "4294967296", "0\t1", "0 1+*"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        struct evidence_path path;
        assert_true(evidence_parse_path(&arena, good[i], &path));
        evidence_append_path(&text, &path);
        assert_string_equal(text.data, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct evidence_path path;
        if (evidence_parse_path(&arena, bad[i], &path))
            fail_msg("'%s' was taken for a path", bad[i]);
    }
}

static void test_path_fields(void **unused)
{
    (void)unused;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct evidence_path path;
    assert_true(evidence_parse_path(&arena, "4* 5 7+", &path));
    assert_int_equal(path.step_count, 3);
    assert_int_equal(path.steps[0].node, 4);
    assert_int_equal(path.steps[0].kind, PATH_STEP_LOOP);
    assert_int_equal(path.steps[1].kind, PATH_STEP_NODE);
    assert_int_equal(path.steps[2].node, 7);
    assert_int_equal(path.steps[2].kind, PATH_STEP_PASSES);
}

static void test_point(void **unused)
{
    (void)unused;
    static const char *const good[] = {"0x0:0:0", "0x1f2e:2:6",
                                       "0xffffffffffffffff:4294967295:4294967295"};
    static const char *const bad[] = {"",
                                      "0x:1:2",
                                      "1:2:3",
                                      "0x1:2",
                                      "0x1:2:",
                                      "0x1:2:3:4",
                                      "0x01:2:3",
                                      "0x1:02:3",
                                      "0x1:2:3 ",
                                      "0xA:2:3",
                                      "0x1:4294967296:1",
                                      "0x1:-1:1",
                                      "0x10000000000000000:1:1"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        struct evidence_point point;
        assert_true(evidence_parse_point(good[i], &point));
        evidence_append_point(&text, &point);
        assert_string_equal(text.data, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct evidence_point point;
        if (evidence_parse_point(bad[i], &point))
            fail_msg("'%s' was taken for a point", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truths),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_path_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

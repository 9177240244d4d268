// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/strbuf.h"

#include <stdlib.h>
#include <string.h>

static void starts_empty(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    assert_string_equal(text.data, "");
    strbuf_append(&text, "");
    strbuf_clear(&text);
    assert_string_equal(text.data, "");
    char *stolen = strbuf_steal(&text);
    assert_string_equal(stolen, "");
    free(stolen);
    strbuf_deinit(&text);
}

static void grows_as_needed(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 1000; i++) {
        strbuf_printf(&text, "%d,", i);
        assert_int_equal(text.data[text.length], '\0');
        assert_int_equal(strlen(text.data), text.length);
    }
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_string_equal(text.data + text.length - 4, "999,");
    strbuf_deinit(&text);
}

static void long_formats_fit(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    for (int width = 1; width < 300; width++) {
        strbuf_clear(&text);
        strbuf_printf(&text, "%*d", width, 7);
        assert_int_equal(text.length, width);
        assert_int_equal(text.data[width - 1], '7');
    }
    strbuf_deinit(&text);
}

static void pieces_are_joined(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text);
    strbuf_append_bytes(&text, "a\0b", 3);
    strbuf_append_char(&text, 'c');
    strbuf_append_repeated(&text, '-', 3);
    assert_int_equal(text.length, 7);
    assert_memory_equal(text.data, "a\0bc---", 8);
    strbuf_truncate(&text, 1);
    assert_string_equal(text.data, "a");
    char *stolen = strbuf_steal(&text);
    assert_string_equal(stolen, "a");
    assert_int_equal(text.length, 0);
    free(stolen);
}

static void check_escaped(const char *source, const char *expected)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_append_escaped(&text, source);
    assert_string_equal(text.data, expected);
    strbuf_deinit(&text);
}

static void escapes_what_is_not_text(void **state)
{
    (void)state;
    check_escaped("plain 'text'", "plain 'text'");
    check_escaped("a\n\t\\\r\x7f", "a\\n\\t\\\\\\x0d\\x7f");
    check_escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82");
    /* Cut, overlong, surrogate, too large, stray; a C1 control. */
    check_escaped("\xc3", "\\xc3");
    check_escaped("\xe2\x82", "\\xe2\\x82");
    check_escaped("\xc0\xaf", "\\xc0\\xaf");
    check_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");
    check_escaped("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
    check_escaped("\x80z", "\\x80z");
    check_escaped("\xc2\x9b", "\\xc2\\x9b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty),
        cmocka_unit_test(grows_as_needed),
        cmocka_unit_test(long_formats_fit),
        cmocka_unit_test(pieces_are_joined),
        cmocka_unit_test(escapes_what_is_not_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

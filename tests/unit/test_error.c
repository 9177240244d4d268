// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Consumes err. */
static void check_text(struct error *err, const char *expected)
{
    char *text = error_text(err);
    assert_string_equal(text, expected);
    free(text);
    error_destroy(err);
}

static void texts_have_their_place(void **state)
{
    (void)state;
    check_text(error_create(ERROR_OTHER, "no %s", "luck"), "no luck");
    check_text(error_create_file(ERROR_FORMAT, "a.out", "not an ELF file"),
               "not an ELF file: 'a.out'");
    check_text(error_create_at_offset(ERROR_FORMAT, "core", 0x1c8, "truncated note"),
               "truncated note: 'core', offset 0x1c8");
    check_text(error_create_at_address(ERROR_FORMAT, NULL, 0xffffffffff600000, "no memory"),
               "no memory: address 0xffffffffff600000");
    check_text(error_create_at_line(ERROR_FORMAT, "e.json", 12, "bad JSON"),
               "bad JSON: 'e.json', line 12");
    check_text(error_errno(ENOENT, "core", "cannot open"),
               "cannot open 'core': No such file or directory");
    check_text(error_errno(EIO, NULL, "cannot write"), "cannot write: Input/output error");
}

static void fields_are_kept(void **state)
{
    (void)state;
    char file[] = "x";
    struct error *err = error_create_at_offset(ERROR_MISMATCH, file, 4, "other build");
    file[0] = 'y';
    assert_int_equal(err->code, ERROR_MISMATCH);
    assert_string_equal(err->file, "x");
    assert_string_equal(err->message, "other build");
    assert_int_equal(err->place_kind, ERROR_PLACE_OFFSET);
    assert_int_equal(err->place, 4);
    error_destroy(err);
    err = error_errno(EACCES, "f", "cannot open");
    assert_int_equal(err->code, ERROR_SYSTEM);
    assert_int_equal(err->errnum, EACCES);
    error_destroy(err);
}

static void prefix_and_file_are_added(void **state)
{
    (void)state;
    assert_null(error_prefix(NULL, "x"));
    assert_null(error_in_file(NULL, "x"));
    struct error *err = error_create(ERROR_FORMAT, "'line' is missing");
    err = error_in_file(err, "e.json");
    err = error_in_file(err, "other");
    err = error_prefix(err, "frame %d", 3);
    check_text(err, "frame 3: 'line' is missing: 'e.json'");
}

static void a_text_is_one_line(void **state)
{
    (void)state;
    check_text(error_create_file(ERROR_OTHER, "a\nb", "bad\tname \033[2J\xff caf\xc3\xa9"),
               "bad\\tname \\x1b[2J\\xff caf\xc3\xa9: 'a\\nb'");
}

static void printing_is_one_line(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct error *err = error_create(ERROR_OTHER, "no\nluck");
    error_print_to(stream, err);
    fclose(stream);
    assert_string_equal(text, "inquest: no\\nluck\n");
    free(text);
    error_destroy(err);
    error_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_place),    cmocka_unit_test(fields_are_kept),
        cmocka_unit_test(prefix_and_file_are_added), cmocka_unit_test(a_text_is_one_line),
        cmocka_unit_test(printing_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/json.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/version.h"

/* Consumes err. */
static void check_error(struct error *err, enum error_code code, const char *expected)
{
    assert_non_null(err);
    char *text = error_text(err);
    assert_string_equal(text, expected);
    assert_int_equal(err->code, code);
    free(text);
    error_destroy(err);
}

static json_t *parse(const char *text)
{
    json_t *value = NULL;
    assert_null(json_read_bytes("text", text, strlen(text), &value));
    return value;
}

static void a_document_has_its_header(void **state)
{
    (void)state;
    json_t *document = json_document_create("summary/1", true);
    json_set(document, "signal", json_text("SIGSEGV"));
    json_document_set_complete(document, false);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_null(json_document_write(document, stream));
    fclose(stream);
    assert_string_equal(text, "{\n  \"inquest\": \"" INQUEST_VERSION "\",\n"
                              "  \"schema\": \"summary/1\",\n  \"complete\": false,\n"
                              "  \"signal\": \"SIGSEGV\"\n}\n");
    free(text);
    json_decref(document);
}

static void write_errors_are_found(void **state)
{
    (void)state;
    json_t *document = json_document_create("summary/1", true);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    check_error(json_document_write(document, full), ERROR_SYSTEM,
                "cannot write JSON: No space left on device");
    fclose(full);
    json_decref(document);
}

static void check_schema(const char *schema, enum error_code code)
{
    json_t *document = json_document_create(schema, true);
    unsigned version = 77;
    struct error *err = json_document_check(document, "evidence", 2, &version);
    assert_non_null(err);
    assert_int_equal(err->code, code);
    assert_int_equal(version, 77);
    error_destroy(err);
    json_decref(document);
}

static void schemas_are_checked(void **state)
{
    (void)state;
    json_t *document = json_document_create("evidence/2", true);
    unsigned version;
    assert_null(json_document_check(document, "evidence", 2, &version));
    assert_int_equal(version, 2);
    assert_null(json_document_check(document, "evidence", 12, &version));
    json_decref(document);
    check_schema("evidence/3", ERROR_MISMATCH);
    check_schema("evidence/0", ERROR_FORMAT);
    check_schema("evidence/", ERROR_FORMAT);
    check_schema("evidence/2x", ERROR_FORMAT);
    check_schema("evidence", ERROR_FORMAT);
    check_schema("evid", ERROR_FORMAT);
    check_schema("coverage/1", ERROR_FORMAT);
    check_schema("evidence/99999999999999999999", ERROR_FORMAT);
    json_t *array = parse("[]");
    check_error(json_document_check(array, "evidence", 1, &version), ERROR_FORMAT,
                "not a JSON object");
    json_decref(array);
}

static void required_members(void **state)
{
    (void)state;
    json_t *object = parse("{\"s\": \"x\", \"b\": true, \"n\": 5, \"m\": -5, \"big\": 4294967296,"
                           " \"a\": [1], \"o\": {}, \"z\": null, \"p\": \"0xffffffffffffffff\","
                           " \"q\": \"0x10000000000000000\", \"r\": \"0x\", \"t\": \"0x1g\"}");
    const char *string = NULL;
    assert_null(json_get_string(object, "s", &string));
    assert_string_equal(string, "x");
    bool flag = false;
    assert_null(json_get_bool(object, "b", &flag));
    assert_true(flag);
    uint64_t u64 = 1;
    int64_t i64 = 1;
    uint32_t u32 = 1;
    assert_null(json_get_u64(object, "big", &u64));
    assert_true(u64 == UINT64_C(4294967296));
    assert_null(json_get_i64(object, "m", &i64));
    assert_int_equal(i64, -5);
    assert_null(json_get_u32(object, "n", &u32));
    assert_int_equal(u32, 5);
    json_t *value = NULL;
    assert_null(json_get_array(object, "a", &value));
    assert_int_equal(json_array_size(value), 1);
    assert_null(json_get_object(object, "o", &value));
    assert_null(json_get_address(object, "p", &u64));
    assert_true(u64 == UINT64_MAX);

    check_error(json_get_string(object, "absent", &string), ERROR_FORMAT, "'absent' is missing");
    check_error(json_get_string(object, "z", &string), ERROR_FORMAT, "'z' is missing");
    check_error(json_get_string(object, "n", &string), ERROR_FORMAT, "'n' is not a string");
    check_error(json_get_bool(object, "n", &flag), ERROR_FORMAT, "'n' is not true or false");
    check_error(json_get_u64(object, "m", &u64), ERROR_FORMAT,
                "'m' is not an integer of 0 or more");
    check_error(json_get_u32(object, "big", &u32), ERROR_FORMAT,
                "'big' is not an integer of 0 or more in 32 bits");
    check_error(json_get_array(object, "o", &value), ERROR_FORMAT, "'o' is not an array");
    check_error(json_get_object(object, "a", &value), ERROR_FORMAT, "'a' is not an object");
    static const char *const wrong[] = {"q", "r", "t", "s", "n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct error *err = json_get_address(object, wrong[i], &u64);
        assert_non_null(err);
        error_destroy(err);
    }
    assert_true(u64 == UINT64_MAX);
    assert_int_equal(u32, 5);
    json_decref(object);
}

static void optional_members(void **state)
{
    (void)state;
    json_t *object = parse("{\"n\": 5, \"s\": \"x\", \"z\": null}");
    uint32_t u32;
    assert_null(json_find_u32(object, "n", 7, &u32));
    assert_int_equal(u32, 5);
    assert_null(json_find_u32(object, "z", 7, &u32));
    assert_int_equal(u32, 7);
    check_error(json_find_u32(object, "s", 7, &u32), ERROR_FORMAT,
                "'s' is not an integer of 0 or more in 32 bits");
    const char *string;
    assert_null(json_find_string(object, "absent", "else", &string));
    assert_string_equal(string, "else");
    json_t *array = object;
    assert_null(json_find_array(object, "absent", &array));
    assert_null(array);
    uint64_t address;
    assert_null(json_find_address(object, "absent", 3, &address));
    assert_int_equal(address, 3);
    json_decref(object);
}

static void bad_text_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {"",          "{",     "{\"a\": 1, \"a\": 2}", "nul",
                                        "{\"a\":\"", "[1 2]", "\"\\u0000\"",          "\xff"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *value = NULL;
        struct error *err = json_read_bytes("e.json", texts[i], strlen(texts[i]), &value);
        assert_non_null(err);
        assert_null(value);
        assert_int_equal(err->code, ERROR_FORMAT);
        assert_string_equal(err->file, "e.json");
        error_destroy(err);
    }
    json_t *value = NULL;
    struct error *err = json_read_file("/does/not/exist", &value);
    assert_int_equal(err->code, ERROR_SYSTEM);
    error_destroy(err);
}

static void text_is_made_valid(void **state)
{
    (void)state;
    json_t *value = json_text("caf\xc3\xa9 \xff\xc3z");
    assert_string_equal(json_string_value(value), "caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbdz");
    json_decref(value);
    value = json_text(NULL);
    assert_true(json_is_null(value));
    value = json_address(UINT64_C(0xffffffffff600000));
    assert_string_equal(json_string_value(value), "0xffffffffff600000");
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_has_its_header), cmocka_unit_test(write_errors_are_found),
        cmocka_unit_test(schemas_are_checked),       cmocka_unit_test(required_members),
        cmocka_unit_test(optional_members),          cmocka_unit_test(bad_text_is_an_error),
        cmocka_unit_test(text_is_made_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

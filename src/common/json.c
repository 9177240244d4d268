// SPDX-License-Identifier: Apache-2.0
#include "common/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "common/version.h"

/* jansson gives NULL for lack of memory where the arguments are good. */
static json_t *json_checked(json_t *value)
{
    if (!value)
        alloc_fail(0);
    return value;
}

void json_set(json_t *object, const char *key, json_t *value)
{
    assert(json_is_object(object));
    if (json_object_set_new(object, key, json_checked(value)) != 0)
        alloc_fail(0);
}

void json_push(json_t *array, json_t *value)
{
    assert(json_is_array(array));
    if (json_array_append_new(array, json_checked(value)) != 0)
        alloc_fail(0);
}

json_t *json_document_create(const char *schema, bool complete)
{
    json_t *document = json_checked(json_object());
    json_set(document, "inquest", json_text(INQUEST_VERSION));
    json_set(document, "schema", json_text(schema));
    json_document_set_complete(document, complete);
    return document;
}

void json_document_set_complete(json_t *document, bool complete)
{
    json_set(document, "complete", json_boolean(complete));
}

struct error *json_document_write(const json_t *document, FILE *stream)
{
    errno = 0;
    bool failed = json_dumpf(document, stream, JSON_INDENT(2)) != 0;
    failed |= fputc('\n', stream) == EOF;
    failed |= fflush(stream) != 0 || ferror(stream);
    return failed ? error_errno(errno ? errno : EIO, NULL, "cannot write JSON") : NULL;
}

struct error *json_document_check(const json_t *document, const char *name, unsigned newest,
                                  unsigned *ret_version)
{
    const char *schema;
    if (!json_is_object(document))
        return error_create(ERROR_FORMAT, "not a JSON object");
    struct error *err = json_get_string(document, "schema", &schema);
    if (err)
        return err;
    size_t length = strlen(name);
    const char *digits = schema + length + 1;
    if (strncmp(schema, name, length) != 0 || schema[length] != '/' || *digits < '1' ||
        *digits > '9' || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 9)
        return error_create(ERROR_FORMAT, "the schema is '%s' and not '%s/%u'", schema, name,
                            newest);
    unsigned version = (unsigned)strtoul(digits, NULL, 10);
    if (version > newest)
        return error_create(ERROR_MISMATCH, "the schema '%s' is newer than '%s/%u'", schema, name,
                            newest);
    *ret_version = version;
    return NULL;
}

struct error *json_read_bytes(const char *name, const void *data, size_t size, json_t **ret)
{
    json_error_t why;
    json_t *value = json_loadb(data, size, JSON_REJECT_DUPLICATES, &why);
    if (!value && json_error_code(&why) == json_error_out_of_memory)
        alloc_fail(0);
    if (!value)
        return error_create_at_line(ERROR_FORMAT, name, why.line > 0 ? (uint64_t)why.line : 1,
                                    "bad JSON (%s)", why.text);
    *ret = value;
    return NULL;
}

struct error *json_read_file(const char *path, json_t **ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (err)
        return err;
    return json_read_bytes(path, bytes.data, bytes.size, ret);
}

/* The member, or NULL where it is absent or null. */
static json_t *json_member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static struct error *json_wrong(const json_t *value, const char *key, const char *expected)
{
    if (!value)
        return error_create(ERROR_FORMAT, "'%s' is missing", key);
    return error_create(ERROR_FORMAT, "'%s' is not %s", key, expected);
}

static bool json_parse_address(const json_t *value, uint64_t *ret)
{
    const char *text = json_string_value(value);
    if (!text || text[0] != '0' || text[1] != 'x')
        return false;
    size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || text[2 + digits])
        return false;
    *ret = strtoull(text + 2, NULL, 16);
    return true;
}

/*
 * Each kind of member has a required and an optional getter: their names, the C type, a test on
 * `value`, the result from `value`, what it should have been.
 */
#define JSON_GETTER(get, type, test, result, expected)                                             \
    struct error *get(const json_t *object, const char *key, type *ret)                            \
    {                                                                                              \
        json_t *value = json_member(object, key);                                                  \
        if (!value || !(test))                                                                     \
            return json_wrong(value, key, expected);                                               \
        *ret = (result);                                                                           \
        return NULL;                                                                               \
    }

#define JSON_FINDER(find, get, type)                                                               \
    struct error *find(const json_t *object, const char *key, type otherwise, type *ret)           \
    {                                                                                              \
        if (json_member(object, key))                                                              \
            return get(object, key, ret);                                                          \
        *ret = otherwise;                                                                          \
        return NULL;                                                                               \
    }

#define JSON_FINDER_OR_NULL(find, get)                                                             \
    struct error *find(const json_t *object, const char *key, json_t **ret)                        \
    {                                                                                              \
        if (json_member(object, key))                                                              \
            return get(object, key, ret);                                                          \
        *ret = NULL;                                                                               \
        return NULL;                                                                               \
    }

typedef const char *json_chars;

JSON_GETTER(json_get_string, json_chars, json_is_string(value), json_string_value(value),
            "a string")
JSON_FINDER(json_find_string, json_get_string, json_chars)

JSON_GETTER(json_get_bool, bool, json_is_boolean(value), json_is_true(value), "true or false")
JSON_FINDER(json_find_bool, json_get_bool, bool)

JSON_GETTER(json_get_i64, int64_t, json_is_integer(value), json_integer_value(value), "an integer")
JSON_FINDER(json_find_i64, json_get_i64, int64_t)

JSON_GETTER(json_get_u64, uint64_t, json_is_integer(value) && json_integer_value(value) >= 0,
            (uint64_t)json_integer_value(value), "an integer of 0 or more")
JSON_FINDER(json_find_u64, json_get_u64, uint64_t)

JSON_GETTER(json_get_u32, uint32_t,
            json_is_integer(value) && json_integer_value(value) >= 0 &&
                json_integer_value(value) <= UINT32_MAX,
            (uint32_t)json_integer_value(value), "an integer of 0 or more in 32 bits")
JSON_FINDER(json_find_u32, json_get_u32, uint32_t)

JSON_GETTER(json_get_array, json_t *, json_is_array(value), value, "an array")
JSON_FINDER_OR_NULL(json_find_array, json_get_array)

JSON_GETTER(json_get_object, json_t *, json_is_object(value), value, "an object")
JSON_FINDER_OR_NULL(json_find_object, json_get_object)

struct error *json_get_address(const json_t *object, const char *key, uint64_t *ret)
{
    json_t *value = json_member(object, key);
    if (!value || !json_parse_address(value, ret))
        return json_wrong(value, key, "an address (a string \"0x...\")");
    return NULL;
}

JSON_FINDER(json_find_address, json_get_address, uint64_t)

struct error *json_check_keys(json_t *value, const char *const *known)
{
    const char *key;
    json_t *member;
    if (!json_is_object(value))
        return error_create(ERROR_FORMAT, "not an object");
    json_object_foreach (value, key, member) {
        const char *const *at = known;
        while (*at && strcmp(*at, key) != 0)
            at++;
        if (!*at)
            return error_create(ERROR_FORMAT, "unknown key '%s'", key);
    }
    return NULL;
}

/* The string with every byte that does not belong to UTF-8 replaced by U+FFFD. */
static json_t *json_text_repaired(const char *string)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    while (*string) {
        size_t length = 1;
        json_t *piece = NULL;
        for (; length <= 4 && string[length - 1]; length++) {
            piece = json_stringn(string, length);
            if (piece)
                break;
        }
        if (piece) {
            strbuf_append_bytes(&text, string, length);
            string += length;
        } else {
            strbuf_append(&text, "\xef\xbf\xbd");
            string++;
        }
        json_decref(piece);
    }
    return json_checked(json_string(text.data));
}

json_t *json_text(const char *string)
{
    if (!string)
        return json_null();
    json_t *value = json_string(string);
    return value ? value : json_text_repaired(string);
}

json_t *json_address(uint64_t address)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    return json_checked(json_string(text));
}

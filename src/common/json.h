// SPDX-License-Identifier: Apache-2.0
/*
 * JSON documents, thinly over jansson: checked getters that give errors, and the header fields that
 * every document of ours has: `inquest` (version), `schema` (as "coverage/1") and `complete`.
 *
 *     json_t *document = json_document_create("summary/1", true);
 *     json_object_set_new(document, "signal", json_text(name));
 *     err = json_document_write(document, stdout);
 *     json_decref(document);
 *
 *     const char *file;
 *     err = json_get_string(object, "file", &file);      // required
 *     err = json_find_u64(object, "line", 0, &line);     // 0 where it is absent
 *
 * Strings, objects and arrays that getters give are borrowed from the value asked. A getter's error
 * (ERROR_FORMAT) names the key; add the file with error_in_file. Keys are written in the order in
 * which they were set.
 */
#ifndef INQUEST_COMMON_JSON_H
#define INQUEST_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;

/* A new document with its three header fields. Runs out of memory as xmalloc does. */
json_t *json_document_create(const char *schema, bool complete);
/* Changes `complete`, where a budget ended the work later on. */
void json_document_set_complete(json_t *document, bool complete);
/* Pretty, two spaces, a newline at the end. Write errors are found (the stream is flushed). */
struct error *json_document_write(const json_t *document, FILE *stream);
/*
 * That document is an object whose schema is NAME/VERSION with a version of 1 .. newest. Another
 * name is ERROR_FORMAT, a newer version ERROR_MISMATCH.
 */
struct error *json_document_check(const json_t *document, const char *name, unsigned newest,
                                  unsigned *ret_version);

/* Parses; duplicate keys are errors. The result is the caller's to json_decref. */
struct error *json_read_file(const char *path, json_t **ret);
/* name stands for the file in errors. */
struct error *json_read_bytes(const char *name, const void *data, size_t size, json_t **ret);

/* That value is an object with no other keys than those of known, a NULL-terminated list: a
 * misspelt key would be lost in silence. */
struct error *json_check_keys(json_t *value, const char *const *known);

/* Required members. */
struct error *json_get_string(const json_t *object, const char *key, const char **ret);
struct error *json_get_bool(const json_t *object, const char *key, bool *ret);
struct error *json_get_i64(const json_t *object, const char *key, int64_t *ret);
/* Not negative. */
struct error *json_get_u64(const json_t *object, const char *key, uint64_t *ret);
struct error *json_get_u32(const json_t *object, const char *key, uint32_t *ret);
/* A string "0x..." of at most 16 digits, as json_address makes. */
struct error *json_get_address(const json_t *object, const char *key, uint64_t *ret);
struct error *json_get_array(const json_t *object, const char *key, json_t **ret);
struct error *json_get_object(const json_t *object, const char *key, json_t **ret);

/* Optional members: absent or null gives the default (NULL for arrays and objects). */
struct error *json_find_string(const json_t *object, const char *key, const char *otherwise,
                               const char **ret);
struct error *json_find_bool(const json_t *object, const char *key, bool otherwise, bool *ret);
struct error *json_find_i64(const json_t *object, const char *key, int64_t otherwise, int64_t *ret);
struct error *json_find_u64(const json_t *object, const char *key, uint64_t otherwise,
                            uint64_t *ret);
struct error *json_find_u32(const json_t *object, const char *key, uint32_t otherwise,
                            uint32_t *ret);
struct error *json_find_address(const json_t *object, const char *key, uint64_t otherwise,
                                uint64_t *ret);
struct error *json_find_array(const json_t *object, const char *key, json_t **ret);
struct error *json_find_object(const json_t *object, const char *key, json_t **ret);

/* A string value; bytes that are not UTF-8 become U+FFFD. NULL gives null. */
json_t *json_text(const char *string);
/* A string value "0x..": JSON integers do not hold every address. */
json_t *json_address(uint64_t address);

/* set and append that take over value and do not fail. value may not be NULL. */
void json_set(json_t *object, const char *key, json_t *value);
void json_push(json_t *array, json_t *value);

/* json_decref at the end of scope. */
static inline void json_cleanup(json_t **value)
{
    json_decref(*value);
}
#define _cleanup_json_ __attribute__((__cleanup__(json_cleanup)))

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence as JSON: the reader (docs/formats/evidence.md). The text comes from anywhere, so every
 * type and range is checked, keys that the schema does not have are refused (a misspelt key would
 * lose evidence in silence), and a short text cannot ask for unbounded memory. One error tells
 * where: "threads[0]: frames[3]: 'pc' is missing". The writer is evidence_json.c.
 */
#include "evidence/evidence.h"

#include <limits.h>
#include <string.h>

#include "common/json.h"
#include "evidence/evidence_text.h"

// Truth values in one document: 100,000 frames of functions with 2,000 call sites fit.
#define TRUTHS_MAX (UINT32_C(1) << 28)

#define VERSION 2u // of the schema

struct reader {
    struct arena *arena;
    uint32_t truths_left;
};

// Return from the calling function when `expression` is an error.
#define TRY(expression)                                                                            \
    do {                                                                                           \
        struct error *err_ = (expression);                                                         \
        if (err_)                                                                                  \
            return err_;                                                                           \
    } while (0)

static struct error *wrong(const char *key, const char *expected)
{
    return error_create(ERROR_FORMAT, "'%s' is not %s", key, expected);
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

static const char *read_hex(struct reader *reader, const char *hex)
{
    size_t length = strlen(hex);
    char *text = arena_alloc(reader->arena, length / 2 + 1);
    if (length % 2)
        return NULL;
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(hex[i]);
        int low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0 || high + low == 0)
            return NULL;
        text[i / 2] = (char)(high * 16 + low);
    }
    return text;
}

// A string, or {"hex": "..."} for one that is not UTF-8. In the arena.
static struct error *text_of(struct reader *reader, json_t *value, const char *key,
                             const char **out)
{
    static const char *const known[] = {"hex", NULL};
    const char *text = NULL;
    if (json_is_string(value)) {
        text = arena_strdup(reader->arena, json_string_value(value));
    } else if (json_is_object(value)) {
        const char *hex;
        TRY(error_prefix(json_check_keys(value, known), "%s", key));
        TRY(error_prefix(json_get_string(value, "hex", &hex), "%s", key));
        text = read_hex(reader, hex);
    }
    if (!text)
        return wrong(key, "a string");
    *out = text;
    return NULL;
}

static struct error *find_text(struct reader *reader, json_t *object, const char *key,
                               const char *otherwise, const char **out)
{
    json_t *value = json_object_get(object, key);
    if (value && !json_is_null(value))
        return text_of(reader, value, key, out);
    *out = otherwise;
    return NULL;
}

static struct error *find_truths(struct reader *reader, json_t *object, const char *key,
                                 const uint8_t **out, uint32_t *count)
{
    const char *text;
    TRY(json_find_string(object, key, "", &text));
    if (!evidence_parse_truths(reader->arena, text, reader->truths_left, out, count))
        return wrong(key, "a row of 'y', 'n' and '?' with counts, of bearable length");
    reader->truths_left -= *count;
    return NULL;
}

// Reads each element of the array `key` with `read`; "key[i]: " is put before an error.
typedef struct error *read_element(struct reader *reader, json_t *value, void *out);

static struct error *find_elements(struct reader *reader, json_t *object, const char *key,
                                   size_t element_size, read_element *read, const void **out,
                                   uint32_t *count)
{
    json_t *array;
    TRY(json_find_array(object, key, &array));
    size_t length = json_array_size(array);
    if (length > UINT32_MAX)
        return wrong(key, "an array of bearable length");
    char *elements = arena_alloc_many(reader->arena, length, element_size);
    for (size_t i = 0; i < length; i++)
        TRY(error_prefix(read(reader, json_array_get(array, i), elements + i * element_size),
                         "%s[%zu]", key, i));
    *out = elements;
    *count = (uint32_t)length;
    return NULL;
}

static struct error *read_text_element(struct reader *reader, json_t *value, void *out)
{
    return text_of(reader, value, "warning", out);
}

static struct error *read_node_element(struct reader *reader, json_t *value, void *out)
{
    (void)reader;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > UINT32_MAX)
        return error_create(ERROR_FORMAT, "not an integer of 0 or more in 32 bits");
    *(uint32_t *)out = (uint32_t)json_integer_value(value);
    return NULL;
}

static struct error *read_module_element(struct reader *reader, json_t *value, void *out)
{
    (void)reader;
    _cleanup_json_ json_t *object = json_object();
    json_set(object, "module", json_incref(value));
    return json_get_address(object, "module", out);
}

static struct error *read_function(struct reader *reader, json_t *object,
                                   struct evidence_function *function)
{
    TRY(json_find_address(object, "module", 0, &function->module_id));
    TRY(json_find_u32(object, "index", 0, &function->index));
    return find_text(reader, object, "function", "??", &function->name);
}

static struct error *read_place(struct reader *reader, json_t *object, struct evidence_place *place)
{
    TRY(find_text(reader, object, "file", NULL, &place->file));
    TRY(json_find_u32(object, "line", 0, &place->line));
    return json_find_u32(object, "column", 0, &place->column);
}

static struct error *read_candidates(struct reader *reader, json_t *object,
                                     struct evidence_frame *frame)
{
    const void *nodes;
    struct evidence_nodes *set = &frame->candidates;
    TRY(find_elements(reader, object, "candidates", sizeof(uint32_t), read_node_element, &nodes,
                      &set->count));
    set->nodes = nodes;
    for (uint32_t i = 1; i < set->count; i++) {
        if (set->nodes[i - 1] >= set->nodes[i])
            return wrong("candidates", "in ascending order");
    }
    if (frame->kind == EVIDENCE_FRAME_MODEL && set->count == 0)
        return error_create(ERROR_FORMAT, "'candidates' is missing in a frame of kind 'model'");
    return find_text(reader, object, "candidates_from", NULL, &frame->candidates_from);
}

static struct error *read_path(struct reader *reader, json_t *object, struct evidence_frame *frame)
{
    const char *text;
    TRY(json_find_string(object, "path", NULL, &text));
    if (text && !evidence_parse_path(reader->arena, text, &frame->path))
        return wrong("path", "steps such as \"0 3* 5 7+ 7 9\"");
    TRY(json_find_bool(object, "path_exact", false, &frame->path_exact));
    return json_find_bool(object, "path_from_entry", false, &frame->path_from_entry);
}

static struct error *read_record(struct reader *reader, json_t *object,
                                 struct evidence_frame *frame)
{
    const char *record;
    TRY(json_find_string(object, "record", "none", &record));
    if (!evidence_parse_record(record, &frame->record))
        return wrong("record", "one of none, valid, calls, untold, unready, corrupt");
    TRY(find_text(reader, object, "record_note", NULL, &frame->record_note));
    TRY(read_path(reader, object, frame));
    return find_truths(reader, object, "calls", &frame->calls, &frame->call_count);
}

static struct error *read_kind(json_t *object, struct evidence_frame *frame)
{
    const char *kind;
    TRY(json_get_string(object, "kind", &kind));
    if (!evidence_parse_frame_kind(kind, &frame->kind))
        return wrong("kind", "one of model, foreign, signal");
    return NULL;
}

static struct error *read_frame(struct reader *reader, json_t *object, void *out)
{
    static const char *const known[] = {"kind",
                                        "module",
                                        "index",
                                        "function",
                                        "file",
                                        "line",
                                        "column",
                                        "image",
                                        "pc",
                                        "inlined",
                                        "gap",
                                        "guessed",
                                        "interrupted",
                                        "node",
                                        "candidates",
                                        "record",
                                        "record_note",
                                        "path",
                                        "path_exact",
                                        "path_from_entry",
                                        "candidates_from",
                                        "calls",
                                        NULL};
    struct evidence_frame *frame = out;
    TRY(json_check_keys(object, known));
    TRY(read_kind(object, frame));
    TRY(read_function(reader, object, &frame->function));
    TRY(read_place(reader, object, &frame->place));
    TRY(find_text(reader, object, "image", NULL, &frame->image));
    TRY(json_find_address(object, "pc", 0, &frame->pc));
    TRY(json_find_bool(object, "inlined", false, &frame->inlined));
    TRY(json_find_bool(object, "interrupted", false, &frame->interrupted));
    TRY(json_find_bool(object, "guessed", false, &frame->guessed));
    TRY(json_find_bool(object, "gap", false, &frame->gap));
    TRY(read_candidates(reader, object, frame));
    return read_record(reader, object, frame);
}

static struct error *read_thread(struct reader *reader, json_t *object, void *out)
{
    static const char *const known[] = {"tid", "crashed", "frames", "whole", "end", NULL};
    struct evidence_thread *thread = out;
    const void *frames;
    TRY(json_check_keys(object, known));
    TRY(json_find_i64(object, "tid", 0, &thread->tid));
    TRY(json_find_bool(object, "crashed", false, &thread->crashed));
    TRY(json_find_bool(object, "whole", false, &thread->whole));
    TRY(find_text(reader, object, "end", NULL, &thread->end));
    TRY(find_elements(reader, object, "frames", sizeof(struct evidence_frame), read_frame, &frames,
                      &thread->frame_count));
    thread->frames = frames;
    return NULL;
}

static struct error *read_image(struct reader *reader, json_t *object, void *out)
{
    static const char *const known[] = {"path", "build_id", "executable", "modules", NULL};
    struct evidence_image *image = out;
    const void *modules;
    TRY(json_check_keys(object, known));
    TRY(find_text(reader, object, "path", NULL, &image->path));
    TRY(find_text(reader, object, "build_id", NULL, &image->build_id));
    TRY(json_find_bool(object, "executable", false, &image->executable));
    TRY(find_elements(reader, object, "modules", sizeof(uint64_t), read_module_element, &modules,
                      &image->module_count));
    image->modules = modules;
    return NULL;
}

static struct error *read_coverage(struct reader *reader, json_t *object, void *out)
{
    static const char *const known[] = {"module", "sites", NULL};
    struct evidence_coverage *coverage = out;
    TRY(json_check_keys(object, known));
    TRY(json_get_address(object, "module", &coverage->module_id));
    return find_truths(reader, object, "sites", &coverage->sites, &coverage->site_count);
}

static struct error *read_point(struct reader *reader, json_t *value, void *out)
{
    (void)reader;
    const char *text = json_string_value(value);
    if (!text || !evidence_parse_point(text, out))
        return error_create(ERROR_FORMAT, "not a point such as \"0x1f2e:2:6\"");
    return NULL;
}

static struct error *find_points(struct reader *reader, json_t *object, const char *key,
                                 struct evidence_points *out)
{
    const void *points;
    TRY(find_elements(reader, object, key, sizeof(struct evidence_point), read_point, &points,
                      &out->count));
    out->points = points;
    return NULL;
}

static struct error *read_entry(struct reader *reader, json_t *value, void *out)
{
    _cleanup_json_ json_t *object = json_object();
    struct evidence_points *points = out;
    json_set(object, "points", json_incref(value));
    TRY(find_points(reader, object, "points", points));
    return points->count ? NULL : error_create(ERROR_FORMAT, "no point");
}

// What the kind of the observation allows.
static struct error *check_observation(const struct evidence_observation *observation)
{
    if (observation->kind != EVIDENCE_TRACE && observation->entry_count != 1)
        return wrong("entries", "one set of points, as observations other than traces have it");
    if (observation->kind != EVIDENCE_TRACE && observation->reliability != EVIDENCE_UNRELIABLE)
        return error_create(ERROR_FORMAT, "'reliability' of an observation that is no trace");
    if (observation->reliability == EVIDENCE_UNRELIABLE && observation->alphabet.count)
        return error_create(ERROR_FORMAT, "'alphabet' of an observation that is not reliable");
    return NULL;
}

static struct error *read_observation(struct reader *reader, json_t *object, void *out)
{
    static const char *const known[] = {"kind",     "reliability", "entries",
                                        "alphabet", "origin",      NULL};
    struct evidence_observation *observation = out;
    const char *kind, *reliability;
    const void *entries;
    TRY(json_check_keys(object, known));
    TRY(json_get_string(object, "kind", &kind));
    if (!evidence_parse_observation_kind(kind, &observation->kind))
        return wrong("kind", "one of ran, not-all, trace");
    TRY(json_find_string(object, "reliability", "unreliable", &reliability));
    if (!evidence_parse_reliability(reliability, &observation->reliability))
        return wrong("reliability", "one of unreliable, reliable, burst");
    TRY(find_elements(reader, object, "entries", sizeof(struct evidence_points), read_entry,
                      &entries, &observation->entry_count));
    observation->entries = entries;
    TRY(find_points(reader, object, "alphabet", &observation->alphabet));
    TRY(find_text(reader, object, "origin", "hand", &observation->origin));
    return check_observation(observation);
}

static struct error *read_int(json_t *object, const char *key, int *out)
{
    int64_t number;
    TRY(json_find_i64(object, key, 0, &number));
    if (number < INT_MIN || number > INT_MAX)
        return wrong(key, "an integer in 32 bits");
    *out = (int)number;
    return NULL;
}

static struct error *read_signal(json_t *document, struct evidence_signal *signal)
{
    static const char *const known[] = {"number", "code", "address", NULL};
    json_t *object;
    TRY(json_find_object(document, "signal", &object));
    if (!object)
        return NULL;
    TRY(json_check_keys(object, known));
    TRY(read_int(object, "number", &signal->number));
    TRY(read_int(object, "code", &signal->code));
    signal->has_address = json_is_string(json_object_get(object, "address"));
    return json_find_address(object, "address", 0, &signal->address);
}

static struct error *read_header(struct reader *reader, json_t *document, struct evidence *evidence)
{
    static const char *const known[] = {"inquest",  "schema",       "complete", "kind",   "source",
                                        "command",  "pid",          "signal",   "images", "threads",
                                        "coverage", "observations", "warnings", NULL};
    unsigned version;
    const char *writer;
    bool complete;
    TRY(json_document_check(document, "evidence", VERSION, &version));
    if (version < VERSION)
        return error_create(ERROR_MISMATCH,
                            "the schema 'evidence/%u' is of an older inquest: make the report "
                            "again, with a program that was built again",
                            version);
    TRY(json_check_keys(document, known));
    TRY(json_find_string(document, "inquest", NULL, &writer));
    TRY(json_find_bool(document, "complete", true, &complete));
    TRY(find_text(reader, document, "kind", "hand", &evidence->kind));
    TRY(find_text(reader, document, "source", NULL, &evidence->source));
    TRY(find_text(reader, document, "command", NULL, &evidence->command));
    TRY(json_find_i64(document, "pid", 0, &evidence->pid));
    return error_prefix(read_signal(document, &evidence->signal), "signal");
}

static struct error *read_document(struct reader *reader, json_t *document,
                                   struct evidence *evidence)
{
    const void *images, *threads, *coverage, *observations, *warnings;
    TRY(read_header(reader, document, evidence));
    TRY(find_elements(reader, document, "images", sizeof(struct evidence_image), read_image,
                      &images, &evidence->image_count));
    TRY(find_elements(reader, document, "threads", sizeof(struct evidence_thread), read_thread,
                      &threads, &evidence->thread_count));
    TRY(find_elements(reader, document, "coverage", sizeof(struct evidence_coverage), read_coverage,
                      &coverage, &evidence->coverage_count));
    TRY(find_elements(reader, document, "observations", sizeof(struct evidence_observation),
                      read_observation, &observations, &evidence->observation_count));
    TRY(find_elements(reader, document, "warnings", sizeof(char *), read_text_element, &warnings,
                      &evidence->warning_count));
    evidence->images = images;
    evidence->threads = threads;
    evidence->coverage = coverage;
    evidence->observations = observations;
    evidence->warnings = warnings;
    return NULL;
}

struct error *evidence_read_json(const char *text, size_t length, const char *file,
                                 struct evidence **out)
{
    _cleanup_json_ json_t *document = NULL;
    TRY(json_read_bytes(file, text, length, &document));
    struct evidence *evidence = evidence_create();
    struct reader reader = {.arena = &evidence->arena, .truths_left = TRUTHS_MAX};
    struct error *err = read_document(&reader, document, evidence);
    if (err) {
        evidence_destroy(evidence);
        return error_in_file(err, file);
    }
    *out = evidence;
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence JSON: random evidence goes out and comes back the same in every field; text that is not
 * evidence is one clear error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/hash.h"
#include "evidence/evidence.h"

// --- random evidence ---

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(state) % below;
}

static bool flip(void)
{
    return draw(2);
}

static uint64_t draw_u64(void)
{
    static const uint64_t edges[] = {0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    return flip() ? edges[draw(5)] : draw(UINT64_MAX);
}

static uint32_t draw_u32(void)
{
    static const uint32_t edges[] = {0, 1, INT32_MAX, UINT32_MAX - 1, UINT32_MAX};
    return flip() ? edges[draw(5)] : (uint32_t)draw(100);
}

static const char *draw_text(struct arena *arena)
{
    static const char *const texts[] = {"",         "main",       "a \"quoted\"\n\t\\ text",
                                        "\xff\xfe", "naïve/näme", "\x01\x7f",
                                        "half\xc3", "#1@0>?",     "??",
                                        "null"};
    return arena_strdup(arena, texts[draw(10)]);
}

static const char *draw_text_or_null(struct arena *arena)
{
    return draw(3) ? draw_text(arena) : NULL;
}

static struct evidence_path draw_path(struct arena *arena)
{
    struct evidence_path path = {.step_count = (uint32_t)draw(6)};
    struct path_step *steps = arena_alloc_array(arena, path.step_count, struct path_step);
    for (uint32_t i = 0; i < path.step_count; i++)
        steps[i] = (struct path_step){draw_u32(), (enum path_step_kind)draw(3)};
    path.steps = steps;
    return path;
}

static const uint8_t *draw_truths(struct arena *arena, uint32_t *count)
{
    *count = (uint32_t)draw(40);
    uint8_t *truths = arena_alloc_array(arena, *count, uint8_t);
    for (uint32_t i = 0; i < *count; i++)
        truths[i] = i && draw(4) ? truths[i - 1] : (uint8_t)draw(3);
    return truths;
}

static void draw_candidates(struct arena *arena, struct evidence_frame *frame)
{
    uint32_t count = (uint32_t)draw(4) + (frame->kind == EVIDENCE_FRAME_MODEL);
    uint32_t *nodes = arena_alloc_array(arena, count, uint32_t);
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = (i ? nodes[i - 1] + 1 : 0) + (uint32_t)draw(5);
    frame->candidates = (struct evidence_nodes){nodes, count};
    frame->candidates_from = draw_text_or_null(arena);
}

static void draw_record(struct arena *arena, struct evidence_frame *frame)
{
    frame->record = (enum evidence_record)draw(6);
    frame->record_note = draw_text_or_null(arena);
    frame->path = draw_path(arena);
    frame->path_exact = flip();
    frame->path_from_entry = flip();
    frame->calls = draw_truths(arena, &frame->call_count);
}

static void draw_frame(struct arena *arena, struct evidence_frame *frame)
{
    frame->kind = (enum evidence_frame_kind)draw(3);
    frame->function = (struct evidence_function){draw_u64(), draw_u32(), draw_text(arena)};
    frame->image = draw_text_or_null(arena);
    frame->pc = draw_u64();
    frame->inlined = flip();
    frame->interrupted = flip();
    frame->guessed = flip();
    frame->gap = flip();
    frame->place = (struct evidence_place){draw_text_or_null(arena), draw_u32(), draw_u32()};
    draw_candidates(arena, frame);
    draw_record(arena, frame);
}

static void draw_thread(struct arena *arena, struct evidence_thread *thread)
{
    thread->tid = (int64_t)draw_u64();
    thread->crashed = flip();
    thread->whole = flip();
    thread->end = draw_text_or_null(arena);
    thread->frame_count = (uint32_t)draw(4);
    struct evidence_frame *frames =
        arena_alloc_array(arena, thread->frame_count, struct evidence_frame);
    for (uint32_t i = 0; i < thread->frame_count; i++)
        draw_frame(arena, &frames[i]);
    thread->frames = frames;
}

static void draw_image(struct arena *arena, struct evidence_image *image)
{
    image->path = draw_text_or_null(arena);
    image->build_id = draw_text_or_null(arena);
    image->executable = flip();
    image->module_count = (uint32_t)draw(3);
    uint64_t *modules = arena_alloc_array(arena, image->module_count, uint64_t);
    for (uint32_t i = 0; i < image->module_count; i++)
        modules[i] = draw_u64();
    image->modules = modules;
}

static struct evidence_points draw_points(struct arena *arena, uint32_t least)
{
    uint32_t count = least + (uint32_t)draw(3);
    struct evidence_point *points = arena_alloc_array(arena, count, struct evidence_point);
    for (uint32_t i = 0; i < count; i++)
        points[i] = (struct evidence_point){draw_u64(), draw_u32(), draw_u32()};
    return (struct evidence_points){points, count};
}

static void draw_observation(struct arena *arena, struct evidence_observation *observation)
{
    observation->kind = (enum evidence_observation_kind)draw(3);
    observation->entry_count = 1;
    if (observation->kind == EVIDENCE_TRACE) {
        observation->entry_count = (uint32_t)draw(4);
        observation->reliability = (enum evidence_reliability)draw(3);
    }
    struct evidence_points *entries =
        arena_alloc_array(arena, observation->entry_count, struct evidence_points);
    for (uint32_t i = 0; i < observation->entry_count; i++)
        entries[i] = draw_points(arena, 1);
    observation->entries = entries;
    if (observation->reliability != EVIDENCE_UNRELIABLE)
        observation->alphabet = draw_points(arena, 0);
    observation->origin = draw_text(arena);
}

static void draw_header(struct evidence *evidence)
{
    struct arena *arena = &evidence->arena;
    evidence->kind = draw_text(arena);
    evidence->source = draw_text_or_null(arena);
    evidence->command = draw_text_or_null(arena);
    evidence->pid = (int64_t)draw_u64();
    evidence->signal.number = (int)draw(65);
    evidence->signal.code = (int)draw_u32();
    evidence->signal.has_address = flip();
    evidence->signal.address = evidence->signal.has_address ? draw_u64() : 0;
}

static struct evidence *draw_evidence(void)
{
    struct evidence *evidence = evidence_create();
    struct arena *arena = &evidence->arena;
    draw_header(evidence);
    evidence->image_count = (uint32_t)draw(3);
    struct evidence_image *images =
        arena_alloc_array(arena, evidence->image_count, struct evidence_image);
    for (uint32_t i = 0; i < evidence->image_count; i++)
        draw_image(arena, &images[i]);
    evidence->images = images;
    evidence->thread_count = (uint32_t)draw(3);
    struct evidence_thread *threads =
        arena_alloc_array(arena, evidence->thread_count, struct evidence_thread);
    for (uint32_t i = 0; i < evidence->thread_count; i++)
        draw_thread(arena, &threads[i]);
    evidence->threads = threads;
    evidence->coverage_count = (uint32_t)draw(3);
    struct evidence_coverage *coverage =
        arena_alloc_array(arena, evidence->coverage_count, struct evidence_coverage);
    for (uint32_t i = 0; i < evidence->coverage_count; i++) {
        coverage[i].module_id = draw_u64();
        coverage[i].sites = draw_truths(arena, &coverage[i].site_count);
    }
    evidence->coverage = coverage;
    evidence->observation_count = (uint32_t)draw(3);
    struct evidence_observation *observations =
        arena_alloc_array(arena, evidence->observation_count, struct evidence_observation);
    for (uint32_t i = 0; i < evidence->observation_count; i++)
        draw_observation(arena, &observations[i]);
    evidence->observations = observations;
    evidence->warning_count = (uint32_t)draw(3);
    const char **warnings = arena_alloc_array(arena, evidence->warning_count, const char *);
    for (uint32_t i = 0; i < evidence->warning_count; i++)
        warnings[i] = draw_text(arena);
    evidence->warnings = warnings;
    return evidence;
}

// --- comparison, field by field ---

static void same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a)
        assert_string_equal(a, b);
}

static void same_bytes(const void *a, const void *b, size_t size)
{
    if (size)
        assert_memory_equal(a, b, size);
}

static void same_path(const struct evidence_path *a, const struct evidence_path *b)
{
    assert_int_equal(a->step_count, b->step_count);
    for (uint32_t i = 0; i < a->step_count; i++) {
        assert_int_equal(a->steps[i].node, b->steps[i].node);
        assert_int_equal(a->steps[i].kind, b->steps[i].kind);
    }
}

static void same_record(const struct evidence_frame *a, const struct evidence_frame *b)
{
    assert_int_equal(a->record, b->record);
    same_text(a->record_note, b->record_note);
    same_path(&a->path, &b->path);
    assert_int_equal(a->path_exact, b->path_exact);
    assert_int_equal(a->path_from_entry, b->path_from_entry);
    assert_int_equal(a->call_count, b->call_count);
    same_bytes(a->calls, b->calls, a->call_count);
}

static void same_frame(const struct evidence_frame *a, const struct evidence_frame *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->function.module_id, b->function.module_id);
    assert_int_equal(a->function.index, b->function.index);
    same_text(a->function.name, b->function.name);
    same_text(a->image, b->image);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->inlined, b->inlined);
    assert_int_equal(a->interrupted, b->interrupted);
    assert_int_equal(a->guessed, b->guessed);
    assert_int_equal(a->gap, b->gap);
    same_text(a->place.file, b->place.file);
    assert_int_equal(a->place.line, b->place.line);
    assert_int_equal(a->place.column, b->place.column);
    assert_int_equal(a->candidates.count, b->candidates.count);
    same_bytes(a->candidates.nodes, b->candidates.nodes, a->candidates.count * sizeof(uint32_t));
    same_text(a->candidates_from, b->candidates_from);
    same_record(a, b);
}

static void same_thread(const struct evidence_thread *a, const struct evidence_thread *b)
{
    assert_int_equal(a->tid, b->tid);
    assert_int_equal(a->crashed, b->crashed);
    assert_int_equal(a->whole, b->whole);
    same_text(a->end, b->end);
    assert_int_equal(a->frame_count, b->frame_count);
    for (uint32_t i = 0; i < a->frame_count; i++)
        same_frame(&a->frames[i], &b->frames[i]);
}

static void same_image(const struct evidence_image *a, const struct evidence_image *b)
{
    same_text(a->path, b->path);
    same_text(a->build_id, b->build_id);
    assert_int_equal(a->executable, b->executable);
    assert_int_equal(a->module_count, b->module_count);
    same_bytes(a->modules, b->modules, a->module_count * sizeof(uint64_t));
}

static void same_points(const struct evidence_points *a, const struct evidence_points *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->points[i].module_id, b->points[i].module_id);
        assert_int_equal(a->points[i].function, b->points[i].function);
        assert_int_equal(a->points[i].node, b->points[i].node);
    }
}

static void same_observation(const struct evidence_observation *a,
                             const struct evidence_observation *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->reliability, b->reliability);
    assert_int_equal(a->entry_count, b->entry_count);
    for (uint32_t i = 0; i < a->entry_count; i++)
        same_points(&a->entries[i], &b->entries[i]);
    same_points(&a->alphabet, &b->alphabet);
    same_text(a->origin, b->origin);
}

static void same_evidence(const struct evidence *a, const struct evidence *b)
{
    same_text(a->source, b->source);
    same_text(a->kind, b->kind);
    same_text(a->command, b->command);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->signal.number, b->signal.number);
    assert_int_equal(a->signal.code, b->signal.code);
    assert_int_equal(a->signal.has_address, b->signal.has_address);
    assert_int_equal(a->signal.address, b->signal.address);
    assert_int_equal(a->image_count, b->image_count);
    for (uint32_t i = 0; i < a->image_count; i++)
        same_image(&a->images[i], &b->images[i]);
    assert_int_equal(a->thread_count, b->thread_count);
    for (uint32_t i = 0; i < a->thread_count; i++)
        same_thread(&a->threads[i], &b->threads[i]);
    assert_int_equal(a->coverage_count, b->coverage_count);
    for (uint32_t i = 0; i < a->coverage_count; i++) {
        assert_int_equal(a->coverage[i].module_id, b->coverage[i].module_id);
        assert_int_equal(a->coverage[i].site_count, b->coverage[i].site_count);
        same_bytes(a->coverage[i].sites, b->coverage[i].sites, a->coverage[i].site_count);
    }
    assert_int_equal(a->observation_count, b->observation_count);
    for (uint32_t i = 0; i < a->observation_count; i++)
        same_observation(&a->observations[i], &b->observations[i]);
    assert_int_equal(a->warning_count, b->warning_count);
    for (uint32_t i = 0; i < a->warning_count; i++)
        same_text(a->warnings[i], b->warnings[i]);
}

// --- tests ---

static char *write_text(const struct evidence *evidence, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    assert_non_null(stream);
    struct error *err = evidence_write_json(evidence, stream);
    assert_null(err);
    fclose(stream);
    return text;
}

static void test_there_and_back(void **unused)
{
    (void)unused;
    for (state = 1; state < 2000; state++) {
        struct evidence *evidence = draw_evidence();
        struct evidence *again = NULL;
        size_t length, length_again;
        _cleanup_free_ char *text = write_text(evidence, &length);
        struct error *err = evidence_read_json(text, length, "test", &again);
        if (err)
            fail_msg("%s\n%s", err->message, text);
        same_evidence(evidence, again);
        _cleanup_free_ char *text_again = write_text(again, &length_again);
        assert_string_equal(text, text_again);
        evidence_destroy(again);
        evidence_destroy(evidence);
    }
}

// Reads `text`, which has to fail with `message`.
static void refuse(const char *text, const char *message)
{
    struct evidence *evidence = NULL;
    _cleanup_error_ struct error *err =
        evidence_read_json(text, strlen(text), "report.json", &evidence);
    assert_non_null(err);
    assert_null(evidence);
    _cleanup_free_ char *whole = error_text(err);
    assert_string_equal(whole, message);
}

#define HEADER "{\"schema\":\"evidence/2\","
#define FRAME  HEADER "\"threads\":[{\"frames\":[{"
#define TAIL   "}]}]}"

static void test_refused(void **unused)
{
    (void)unused;
    refuse("", "bad JSON ('[' or '{' expected near end of file): 'report.json', line 1");
    refuse("{\n\"schema\":\n",
           "bad JSON (unexpected token near end of file): 'report.json', line 3");
    refuse("[]", "not a JSON object: 'report.json'");
    refuse("{}", "'schema' is missing: 'report.json'");
    refuse("{\"schema\":\"summary/1\"}",
           "the schema is 'summary/1' and not 'evidence/2': 'report.json'");
    refuse("{\"schema\":\"evidence/3\"}",
           "the schema 'evidence/3' is newer than 'evidence/2': 'report.json'");
    refuse(HEADER "\"pids\":1}", "unknown key 'pids': 'report.json'");
    refuse(HEADER "\"pid\":1.5}", "'pid' is not an integer: 'report.json'");
    refuse(HEADER "\"signal\":{\"number\":3000000000}}",
           "signal: 'number' is not an integer in 32 bits: 'report.json'");
    refuse(HEADER "\"signal\":{\"address\":\"12\"}}",
           "signal: 'address' is not an address (a string \"0x...\"): 'report.json'");
    refuse(HEADER "\"signal\":{\"address\":12}}",
           "signal: 'address' is not an address (a string \"0x...\"): 'report.json'");
    refuse(HEADER "\"threads\":{}}", "'threads' is not an array: 'report.json'");
    refuse(HEADER "\"threads\":[7]}", "threads[0]: not an object: 'report.json'");
    refuse(HEADER "\"source\":{\"hex\":\"6\"}}", "'source' is not a string: 'report.json'");
    refuse(HEADER "\"source\":{\"hex\":\"6100\"}}", "'source' is not a string: 'report.json'");
    refuse(HEADER "\"source\":7}", "'source' is not a string: 'report.json'");
    refuse(FRAME TAIL, "threads[0]: frames[0]: 'kind' is missing: 'report.json'");
    refuse(FRAME "\"kind\":\"odd\"" TAIL,
           "threads[0]: frames[0]: 'kind' is not one of model, foreign, signal: 'report.json'");
    refuse(FRAME "\"kind\":\"model\"" TAIL,
           "threads[0]: frames[0]: 'candidates' is missing in a frame of kind 'model': "
           "'report.json'");
    refuse(FRAME "\"kind\":\"foreign\",\"line\":-1" TAIL,
           "threads[0]: frames[0]: 'line' is not an integer of 0 or more in 32 bits: "
           "'report.json'");
    refuse(FRAME "\"kind\":\"foreign\",\"candidates\":[2,2]" TAIL,
           "threads[0]: frames[0]: 'candidates' is not in ascending order: 'report.json'");
    refuse(FRAME "\"kind\":\"foreign\",\"candidates\":[1,4294967296]" TAIL,
           "threads[0]: frames[0]: candidates[1]: not an integer of 0 or more in 32 bits: "
           "'report.json'");
    static const char *const paths[] = {"0  1", " 0", "0 ", "0 1*+", "*", "0 -1", "0 4294967296"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), FRAME "\"kind\":\"foreign\",\"path\":\"%s\"" TAIL,
                       paths[i]);
        refuse(text, "threads[0]: frames[0]: 'path' is not steps such as \"0 3* 5 7+ 7 9\": "
                     "'report.json'");
    }
    refuse(FRAME "\"kind\":\"foreign\",\"record\":\"good\"" TAIL,
           "threads[0]: frames[0]: 'record' is not one of none, valid, calls, untold, unready, "
           "corrupt: 'report.json'");
    refuse(HEADER "\"coverage\":[{\"module\":\"0x1\",\"sites\":\"y4000000000\"}]}",
           "coverage[0]: 'sites' is not a row of 'y', 'n' and '?' with counts, of bearable length: "
           "'report.json'");
    refuse(HEADER "\"images\":[{\"modules\":[5]}]}",
           "images[0]: modules[0]: 'module' is not an address (a string \"0x...\"): "
           "'report.json'");
}

#define OBSERVATION HEADER "\"observations\":[{"

static void test_refused_observations(void **unused)
{
    (void)unused;
    refuse(HEADER "\"observations\":[7]}", "observations[0]: not an object: 'report.json'");
    refuse(OBSERVATION "\"entries\":[]}]}", "observations[0]: 'kind' is missing: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"all\"}]}",
           "observations[0]: 'kind' is not one of ran, not-all, trace: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"trace\",\"reliability\":\"yes\"}]}",
           "observations[0]: 'reliability' is not one of unreliable, reliable, burst: "
           "'report.json'");
    refuse(OBSERVATION "\"kind\":\"ran\",\"entries\":[[\"0x1:2:3\"],[\"0x1:2:4\"]]}]}",
           "observations[0]: 'entries' is not one set of points, as observations other than traces "
           "have it: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"ran\",\"entries\":[[]]}]}",
           "observations[0]: entries[0]: no point: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"trace\",\"entries\":[[\"0x1:2:3\",\"0x1:2\"]]}]}",
           "observations[0]: entries[0]: points[1]: not a point such as \"0x1f2e:2:6\": "
           "'report.json'");
    refuse(OBSERVATION "\"kind\":\"ran\",\"reliability\":\"burst\",\"entries\":[[\"0x1:2:3\"]]}]}",
           "observations[0]: 'reliability' of an observation that is no trace: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"trace\",\"alphabet\":[\"0x1:2:3\"]}]}",
           "observations[0]: 'alphabet' of an observation that is not reliable: 'report.json'");
    refuse(OBSERVATION "\"kind\":\"trace\",\"origins\":\"a\"}]}",
           "observations[0]: unknown key 'origins': 'report.json'");
}

static void test_truncated(void **unused)
{
    (void)unused;
    state = 77;
    struct evidence *evidence = draw_evidence();
    size_t length;
    _cleanup_free_ char *text = write_text(evidence, &length);
    evidence_destroy(evidence);
    for (size_t cut = 0; cut + 2 < length; cut++) {
        struct evidence *again = NULL;
        struct error *err = evidence_read_json(text, cut, "cut", &again);
        assert_non_null(err);
        assert_null(again);
        assert_int_equal(err->place_kind, ERROR_PLACE_LINE);
        error_destroy(err);
    }
}

static void test_defaults(void **unused)
{
    (void)unused;
    const char *text = FRAME "\"kind\":\"foreign\"" TAIL;
    struct evidence *evidence;
    assert_null(evidence_read_json(text, strlen(text), "hand", &evidence));
    assert_string_equal(evidence->kind, "hand");
    assert_null(evidence->source);
    assert_int_equal(evidence->signal.number, 0);
    const struct evidence_frame *frame = &evidence->threads[0].frames[0];
    assert_string_equal(frame->function.name, "??");
    assert_int_equal(frame->record, EVIDENCE_RECORD_NONE);
    assert_int_equal(frame->call_count, 0);
    assert_int_equal(frame->path.step_count, 0);
    evidence_destroy(evidence);
    text = OBSERVATION "\"kind\":\"ran\",\"entries\":[[\"0x1:2:3\"]]}]}";
    assert_null(evidence_read_json(text, strlen(text), "hand", &evidence));
    assert_int_equal(evidence->observations[0].reliability, EVIDENCE_UNRELIABLE);
    assert_string_equal(evidence->observations[0].origin, "hand");
    evidence_destroy(evidence);
}

static void test_write_error(void **unused)
{
    (void)unused;
    struct evidence *evidence = evidence_create();
    FILE *stream = fopen("/dev/full", "w");
    if (!stream)
        skip();
    _cleanup_error_ struct error *err = evidence_write_json(evidence, stream);
    fclose(stream);
    evidence_destroy(evidence);
    assert_non_null(err);
    assert_int_equal(err->code, ERROR_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_observations),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_write_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Failure reports that name nodes by their GraphML ids.
#include "model_fixture.h"

#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "evidence/failure_json.h"
#include "graphml_fixture.h"
#include "program/from_graphml.h"
#include "program/model.h"

static struct model *model;

static int open_program(void **state)
{
    (void)state;
    fixture_check(
        model_from_graphml_bytes("a.graphml", graphml_program, strlen(graphml_program), &model));
    return 0;
}

static int close_program(void **state)
{
    (void)state;
    model_destroy(model);
    return 0;
}

static struct evidence *read_report(const char *text)
{
    struct evidence *evidence;

    fixture_check(failure_json_read(text, strlen(text), "report.json", model, &evidence));
    fixture_check(evidence_fit(evidence, model));
    return evidence;
}

static void refuse(const char *text, enum error_code code, const char *message)
{
    struct evidence *evidence = NULL;
    struct error *err = failure_json_read(text, strlen(text), "report.json", model, &evidence);

    assert_null(evidence);
    fixture_expect(err, code, message);
}

static void check_frame(const struct evidence_frame *frame, uint32_t function, const char *name,
                        uint32_t count, const uint32_t *nodes, uint32_t line)
{
    assert_int_equal(frame->kind, EVIDENCE_FRAME_MODEL);
    assert_int_equal(frame->function.module_id, model->modules[0].id);
    assert_int_equal(frame->function.index, function);
    assert_string_equal(frame->function.name, name);
    assert_int_equal(frame->candidates.count, count);
    assert_memory_equal(frame->candidates.nodes, nodes, count * sizeof(*nodes));
    assert_int_equal(frame->place.line, line);
    assert_false(frame->gap);
    assert_false(frame->inlined);
}

static void stack(void **state)
{
    struct evidence *evidence = read_report(
        "{\"crash\": [\"n:f:3\", \"n:f:4\", \"n:f:3\"],"
        " \"stack\": [{\"entry\": [\"n:g:1\", \"n:f:1\"], \"call\": [\"n:m:6\", \"n:m:4\"]},"
        "             {\"call\": [\"n:f:4\"], \"entry\": [\"n:f:1\"]}]}");
    const struct evidence_thread *thread = &evidence->threads[0];

    (void)state;
    assert_int_equal(evidence->thread_count, 1);
    assert_true(thread->crashed);
    assert_true(thread->whole);
    assert_int_equal(thread->frame_count, 3);
    check_frame(&thread->frames[0], 1, "f", 2, (uint32_t[]){1, 3}, 0);
    check_frame(&thread->frames[1], 1, "f", 1, (uint32_t[]){3}, 21);
    check_frame(&thread->frames[2], 0, "main", 2, (uint32_t[]){3, 5}, 11);
    assert_true(thread->frames[0].interrupted);
    assert_false(thread->frames[1].interrupted);
    assert_false(thread->frames[2].interrupted);
    assert_string_equal(thread->frames[1].place.file, "/src/b.h");
    assert_int_equal(evidence->observation_count, 0);
    assert_string_equal(evidence->kind, "report");
    assert_string_equal(evidence->source, "report.json");
    assert_true(evidence->images[0].executable);
    assert_int_equal(evidence->images[0].modules[0], model->modules[0].id);
    evidence_destroy(evidence);
}

static void crash_in_main(void **state)
{
    struct evidence *evidence = read_report("{\"crash\": [\"n:m:4\"]}");

    (void)state;
    assert_int_equal(evidence->threads[0].frame_count, 1);
    assert_true(evidence->threads[0].whole);
    assert_int_equal(evidence->threads[0].frames[0].place.line, 11);
    evidence_destroy(evidence);
}

// Two nodes of one line are in one place.
static void one_place(void **state)
{
    struct evidence *evidence = read_report("{\"crash\": [\"n:m:4\", \"n:m:6\"]}");

    (void)state;
    assert_int_equal(evidence->threads[0].frames[0].candidates.count, 2);
    assert_int_equal(evidence->threads[0].frames[0].place.line, 11);
    assert_string_equal(evidence->threads[0].frames[0].place.file, "/src/a.c");
    evidence_destroy(evidence);
    evidence = read_report("{\"crash\": [\"n:m:4\", \"n:m:5\"]}");
    assert_null(evidence->threads[0].frames[0].place.file);
    evidence_destroy(evidence);
}

// Without a stack, a crash elsewhere says nothing of how main got there.
static void crash_alone(void **state)
{
    struct evidence *evidence = read_report("{\"crash\": [\"n:f:3\"], \"stack\": null}");

    (void)state;
    assert_int_equal(evidence->threads[0].frame_count, 1);
    assert_false(evidence->threads[0].whole);
    evidence_destroy(evidence);
    evidence = read_report("{}");
    assert_int_equal(evidence->thread_count, 0);
    assert_int_equal(evidence->observation_count, 0);
    evidence_destroy(evidence);
}

static void check_points(const struct evidence_points *points, uint32_t count,
                         const struct evidence_point *expected)
{
    assert_int_equal(points->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(points->points[i].module_id, model->modules[0].id);
        assert_int_equal(points->points[i].function, expected[i].function);
        assert_int_equal(points->points[i].node, expected[i].node);
    }
}

static void observations(void **state)
{
    struct evidence *evidence = read_report(
        "{\"obsYes\": [{\"reliable\": false, \"entries\": [[\"n:f:2\"]]},"
        "              {\"reliable\": true, \"entries\": []},"
        "              {\"entries\": [[\"n:m:3\"], [\"n:f:4\", \"n:m:5\"]]},"
        "              {\"reliable\": true, \"entries\": [[\"n:f:4\", \"n:m:5\"], [\"n:m:3\"]]}],"
        " \"obsNo\": [[\"n:g:1\"], [\"n:m:6\", \"n:m:5\"]]}");
    const struct evidence_observation *all = evidence->observations;

    (void)state;
    assert_int_equal(evidence->observation_count, 5); // an empty trace says nothing
    assert_int_equal(all[0].kind, EVIDENCE_RAN);
    assert_int_equal(all[0].entry_count, 1);
    check_points(&all[0].entries[0], 1, (struct evidence_point[]){{0, 1, 2}});
    assert_string_equal(all[0].origin, "obsYes[0]");
    assert_int_equal(all[1].kind, EVIDENCE_TRACE);
    assert_int_equal(all[1].reliability, EVIDENCE_UNRELIABLE);
    assert_int_equal(all[1].entry_count, 2);
    check_points(&all[1].entries[0], 1, (struct evidence_point[]){{0, 0, 2}});
    check_points(&all[1].entries[1], 2, (struct evidence_point[]){{0, 0, 4}, {0, 1, 3}});
    assert_int_equal(all[1].alphabet.count, 0);
    assert_string_equal(all[1].origin, "obsYes[2]");
    assert_int_equal(all[2].kind, EVIDENCE_TRACE);
    assert_int_equal(all[2].reliability, EVIDENCE_RELIABLE);
    check_points(&all[2].alphabet, 3, (struct evidence_point[]){{0, 0, 2}, {0, 0, 4}, {0, 1, 3}});
    assert_int_equal(all[3].kind, EVIDENCE_NOT_ALL);
    check_points(&all[3].entries[0], 1, (struct evidence_point[]){{0, 2, 0}});
    assert_string_equal(all[3].origin, "obsNo[0]");
    assert_int_equal(all[4].kind, EVIDENCE_NOT_ALL);
    check_points(&all[4].entries[0], 2, (struct evidence_point[]){{0, 0, 4}, {0, 0, 5}});
    evidence_destroy(evidence);
}

// A reliable trace of one entry stays one: it says that there was no other.
static void one_reliable_entry(void **state)
{
    struct evidence *evidence =
        read_report("{\"obsYes\": [{\"reliable\": true, \"entries\": [[\"n:f:2\"]]}]}");

    (void)state;
    assert_int_equal(evidence->observations[0].kind, EVIDENCE_TRACE);
    assert_int_equal(evidence->observations[0].reliability, EVIDENCE_RELIABLE);
    assert_int_equal(evidence->observations[0].alphabet.count, 1);
    evidence_destroy(evidence);
}

static void bad_reports(void **state)
{
    (void)state;
    refuse("{", ERROR_FORMAT, "bad JSON");
    refuse("[]", ERROR_FORMAT, "not an object: 'report.json'");
    refuse("{\"crashes\": []}", ERROR_FORMAT, "unknown key 'crashes': 'report.json'");
    refuse("{\"crash\": \"n:f:3\"}", ERROR_FORMAT, "'crash' is not an array");
    refuse("{\"crash\": []}", ERROR_FORMAT, "'crash' is empty: it stands for one of its nodes");
    refuse("{\"crash\": [7]}", ERROR_FORMAT, "crash[0]: not a string: 'report.json'");
    refuse("{\"crash\": [\"n:f:3\", \"n:f:77\"]}", ERROR_MISMATCH,
           "crash[1]: the program has no node 'n:f:77': 'report.json'");
    refuse("{\"crash\": [\"n:m:8\"]}", ERROR_MISMATCH, // it has no flow edge
           "crash[0]: the program has no node 'n:m:8'");
    refuse("{\"crash\": [\"n:f:3\", \"n:m:3\"]}", ERROR_FORMAT,
           "'crash' has nodes of two functions, 'main' and 'f'");
    refuse("{\"stack\": [{\"call\": [\"n:m:4\"]}]}", ERROR_FORMAT, "'stack' without 'crash'");
    refuse("{\"crash\": [\"n:f:3\"], \"stack\": [{\"entry\": [\"n:f:1\"]}]}", ERROR_FORMAT,
           "stack[0]: 'call' is missing: 'report.json'");
    refuse("{\"crash\": [\"n:f:3\"], \"stack\": [{\"call\": [\"n:m:4\"], \"entry\": [\"n:g:1\"]}]}",
           ERROR_FORMAT, "stack[0]: 'entry' is not that of the next frame's function, 'f'");
    refuse("{\"crash\": [\"n:f:3\"], \"stack\": [{\"call\": [\"n:m:4\"], \"entry\": [\"n:f:2\"]}]}",
           ERROR_FORMAT, "stack[0]: 'entry' is not that of the next frame's function, 'f'");
    refuse("{\"crash\": [\"n:f:3\"], \"stack\": [{\"call\": [\"n:m:3\"]}]}", ERROR_FORMAT,
           "stack[0]: 'call' has 'n:m:3', which is no call-site");
    refuse("{\"crash\": [\"n:f:3\"], \"stack\": [{\"call\": [\"n:m:4\", \"n:f:4\"]}]}",
           ERROR_FORMAT, "stack[0]: 'call' has nodes of two functions, 'main' and 'f'");
}

static void bad_observations(void **state)
{
    (void)state;
    refuse("{\"obsYes\": [[\"n:f:3\"]]}", ERROR_FORMAT, "obsYes[0]: not an object");
    refuse("{\"obsYes\": [{}]}", ERROR_FORMAT, "obsYes[0]: 'entries' is missing");
    refuse("{\"obsYes\": [{\"entries\": [], \"trusted\": true}]}", ERROR_FORMAT,
           "obsYes[0]: unknown key 'trusted'");
    refuse("{\"obsYes\": [{\"entries\": [], \"reliable\": 1}]}", ERROR_FORMAT,
           "obsYes[0]: 'reliable' is not");
    refuse("{\"obsYes\": [{\"entries\": [[\"n:f:3\"], []]}]}", ERROR_FORMAT,
           "obsYes[0]: 'entries[1]' is empty: it stands for one of its nodes");
    refuse("{\"obsYes\": [{\"entries\": [[\"n:f:3\"], \"n:f:3\"]}]}", ERROR_FORMAT,
           "obsYes[0]: 'entries[1]' is not an array of nodes");
    refuse("{\"obsYes\": [{\"entries\": [[\"n:f:3\", \"x\"]]}]}", ERROR_MISMATCH,
           "obsYes[0]: entries[0][1]: the program has no node 'x'");
    refuse("{\"obsNo\": [[\"n:f:3\"], [\"y\"]]}", ERROR_MISMATCH,
           "obsNo[1][0]: the program has no node 'y': 'report.json'");
    refuse("{\"obsNo\": [\"n:f:3\"]}", ERROR_FORMAT, "'obsNo[0]' is not an array of nodes");
}

static void other_models(void **state)
{
    static const char text[] =
        "inquest-model 1\nimage 0 executable \"p\"\n"
        "module 0 image 0 id 00000000000000ff level none flags 0 source \"a\"\n"
        "function 0 module 0 \"main\" debug \"\" source \"main\" at - linked yes level none record "
        "0\n"
        "  node 0 at -%s -> 1\n  node 1 at - flags return%s\nroot 0 main\n";
    struct evidence *evidence;
    struct model *other;
    char *named = xasprintf(text, " name \"a\"", " name \"a\"");
    char *nameless = xasprintf(text, "", "");

    (void)state;
    fixture_check(model_read_text("text", nameless, strlen(nameless), &other));
    fixture_expect(failure_json_read("{}", 2, "report.json", other, &evidence), ERROR_MISMATCH,
                   "the report names nodes as a GraphML file does");
    model_destroy(other);
    fixture_check(model_read_text("text", named, strlen(named), &other));
    fixture_expect(failure_json_read("{}", 2, "report.json", other, &evidence), ERROR_MISMATCH,
                   "the program has two nodes 'a'");
    model_destroy(other);
    free(named);
    free(nameless);
}

// ---- evidence_fit of observations

static void refuse_fit(struct evidence_point point, const char *message)
{
    struct evidence *evidence = evidence_create();
    struct evidence_points points = {&point, 1};
    struct evidence_observation observation = {
        .kind = EVIDENCE_RAN, .entries = &points, .entry_count = 1, .origin = "hand"};

    evidence->observations = &observation;
    evidence->observation_count = 1;
    struct error *err = evidence_fit(evidence, model);
    evidence_destroy(evidence);
    if (message)
        fixture_expect(err, ERROR_MISMATCH, message);
    else
        fixture_check(err);
}

static void fit(void **state)
{
    uint64_t module = model->modules[0].id;

    (void)state;
    refuse_fit((struct evidence_point){module, 1, 4}, NULL);
    refuse_fit((struct evidence_point){module + 1, 99, 99}, NULL); // of a library
    refuse_fit((struct evidence_point){module, 1, 5},
               "observations[0]: evidence of another build: node 5 of 'f', which has 5");
    refuse_fit((struct evidence_point){module, 3, 0},
               "observations[0]: evidence of another build: function 3 of module 0x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack),        cmocka_unit_test(crash_in_main),
        cmocka_unit_test(one_place),    cmocka_unit_test(crash_alone),
        cmocka_unit_test(observations), cmocka_unit_test(one_reliable_entry),
        cmocka_unit_test(bad_reports),  cmocka_unit_test(bad_observations),
        cmocka_unit_test(other_models), cmocka_unit_test(fit),
    };
    return cmocka_run_group_tests(tests, open_program, close_program);
}

// SPDX-License-Identifier: Apache-2.0
// Evidence joined with a model: paths as lines, what is not known, evidence that does not fit,
// limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "evidence/evidence_text.h"
#include "program/model.h"
#include "report/position.h"
#include "report/summary.h"

// 0 -> 1 (loop header, lines 14 and 16) -> 2 -> 1; 1 -> 3 (call) -> 4; node 5 is in another file.
static const char model_text[] =
    "inquest-model 1\n"
    "file 0 \"/src\" \"a.c\"\n"
    "file 1 \"/src\" \"b.inc\"\n"
    "image 0 executable \"prog\"\n"
    "module 0 image 0 id 0000000000001f2e level paths flags 1 source \"a.c\"\n"
    "function 0 module 0 \"f\" debug \"f\" source \"f\" at 0:10 linked unknown level paths record "
    "1 "
    "flags nounwind\n"
    "  node 0 at 0:12:3 flags block -> 1\n"
    "  node 1 at 0:14:3 flags block -> 2 3\n"
    "  node 2 at 0:16:3 flags block -> 1\n"
    "  node 3 at 0:20:5 flags call,block -> 4\n"
    "    site \"g\" flags external callees 0 callbacks 0\n"
    "  node 4 at 0:22:5 -> 5 6\n"
    "  node 5 at 1:7:1 flags block -> 6\n"
    "  node 6 at 0:30:1 flags return,block\n";

static struct model *read_model(void)
{
    struct model *model = NULL;
    struct error *err = model_read_text("test", model_text, sizeof(model_text) - 1, &model);
    if (err)
        fail_msg("%s (line %lu)", err->message, (unsigned long)err->place);
    return model;
}

static struct evidence *read_evidence(const char *text)
{
    struct evidence *evidence = NULL;
    struct error *err = evidence_read_json(text, strlen(text), "test", &evidence);
    if (err)
        fail_msg("%s", err->message);
    return evidence;
}

static const struct evidence_function f = {0x1f2e, 0, "f"};

// The spans of a path as text: "12-14 [14-16] (14-20: b.inc:7".
static void spans(struct positions *positions, const char *path_text, uint32_t stop,
                  const char *expected)
{
    struct arena arena = ARENA_INIT;
    struct evidence_path path;
    assert_true(evidence_parse_path(&arena, path_text, &path));
    struct span_list list = positions_spans(positions, &f, &path, stop);
    char text[256] = "";
    for (size_t i = 0; i < list.count; i++) {
        const struct span *span = &list.data[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s%s%s%u-%u%s", i ? " " : "",
                 (const char *[]){"", "[", "("}[span->kind], span->file ? span->file : "",
                 span->file ? ":" : "", span->first, span->last,
                 (const char *[]){"", "]", ":"}[span->kind]);
    }
    assert_string_equal(text, expected);
    free(list.data);
    arena_deinit(&arena);
}

static void test_spans(void **unused)
{
    (void)unused;
    struct model *model = read_model();
    struct positions *positions = positions_create(model);
    spans(positions, "0 1", 0, "12-14");
    spans(positions, "0 1* 3", 0, "12-12 [14-16] 20-20");
    // 16 has code and did not run, so 14 and 20 are not one piece
    spans(positions, "1 3 4", 0, "14-14 20-22");
    spans(positions, "2 1 3", 0, "16-16 14-14 20-20");
    spans(positions, "4 5 6", 0, "22-22 /src/b.inc:7-7 30-30");
    // nodes that the model does not have are left out
    spans(positions, "0 99 1", 0, "12-14");
    positions_destroy(positions);
    model_destroy(model);
    struct positions *none = positions_create(NULL);
    spans(none, "0 1", 0, "");
    positions_destroy(none);
}

static void test_positions(void **unused)
{
    (void)unused;
    struct model *model = read_model();
    struct positions *positions = positions_create(model);
    struct position at = positions_node(positions, &f, 3);
    assert_string_equal(at.file, "/src/a.c");
    assert_int_equal(at.line, 20);
    assert_int_equal(at.column, 5);
    assert_null(positions_node(positions, &f, 7).file);
    assert_null(positions_node(positions, &(struct evidence_function){0x1f2f, 0, "f"}, 0).file);
    assert_null(positions_node(positions, &(struct evidence_function){0x1f2e, 1, "f"}, 0).file);
    struct call_position call = positions_call(positions, &f, 0);
    assert_string_equal(call.callee, "g");
    assert_int_equal(call.node, 3);
    assert_int_equal(positions_call(positions, &f, 1).node, UINT32_MAX);
    // debug information goes first, then the exact node
    uint32_t node = 3;
    struct evidence_frame frame = {.function = f, .candidates = {&node, 1}};
    assert_int_equal(positions_frame(positions, &frame).line, 20);
    frame.place = (struct evidence_place){"c.c", 5, 0};
    assert_string_equal(positions_frame(positions, &frame).file, "c.c");
    positions_destroy(positions);
    model_destroy(model);
}

#define FRAME                                                                                      \
    "{\"kind\":\"model\",\"module\":\"0x1f2e\",\"function\":\"f\",\"candidates\":[3],"             \
    "\"record\":\"valid\",\"path\":\"0 1* 3\",\"calls\":\"y\"}"
#define DOCUMENT(frames)                                                                           \
    "{\"schema\":\"evidence/2\",\"threads\":[{\"crashed\":true,\"frames\":[" frames "]}]}"

static void misfit(const char *text, const char *message)
{
    struct model *model = read_model();
    struct evidence *evidence = read_evidence(text);
    _cleanup_error_ struct error *err = evidence_fit(evidence, model);
    if (message) {
        assert_non_null(err);
        assert_int_equal(err->code, ERROR_MISMATCH);
        assert_string_equal(err->message, message);
    } else {
        assert_null(err);
    }
    evidence_destroy(evidence);
    model_destroy(model);
}

#define BAD_FRAME(rest)                                                                            \
    DOCUMENT("{\"kind\":\"model\",\"module\":\"0x1f2e\",\"function\":\"f\"," rest "}")

static void test_fit(void **unused)
{
    (void)unused;
    misfit(DOCUMENT(FRAME), NULL);
    misfit(BAD_FRAME("\"candidates\":[1,7]"),
           "evidence of another build: node 7 of 'f', which has 7");
    misfit(BAD_FRAME("\"candidates\":[1],\"path\":\"0 9\""),
           "evidence of another build: node 9 of 'f', which has 7");
    misfit(BAD_FRAME("\"candidates\":[1],\"path\":\"0 8*\""),
           "evidence of another build: node 8 of 'f', which has 7");
    misfit(BAD_FRAME("\"candidates\":[1],\"path\":\"7+ 1\""),
           "evidence of another build: node 7 of 'f', which has 7");
    misfit(BAD_FRAME("\"candidates\":[1],\"calls\":\"y2\""),
           "evidence of another build: call sites: 2 of 'f', which has 1");
    misfit(BAD_FRAME("\"candidates\":[1],\"index\":1"),
           "evidence of another build: function 1 of 'f', which has 1");
    misfit("{\"schema\":\"evidence/2\",\"coverage\":[{\"module\":\"0x1f2e\",\"sites\":\"n2\"}]}",
           "evidence of another build: 2 call sites in module 0x1f2e, which has 1");
    misfit("{\"schema\":\"evidence/2\",\"images\":[{\"executable\":true,\"modules\":[\"0x5\"]}]}",
           "evidence of another build: the program has none of its modules");
    // a library that is not there is left aside
    misfit("{\"schema\":\"evidence/2\",\"images\":[{\"modules\":[\"0x5\"]}],\"coverage\":["
           "{\"module\":\"0x5\",\"sites\":\"n\"}]}",
           NULL);
}

static char *write_summary(const struct evidence *evidence, struct model *model, bool json,
                           struct budget *budget, bool *incomplete)
{
    char *text = NULL;
    size_t length;
    struct positions *positions = positions_create(model);
    struct summary summary = {.evidence = evidence,
                              .positions = positions,
                              .program = "prog",
                              .verbose = true,
                              .budget = budget};
    FILE *stream = open_memstream(&text, &length);
    struct error *err =
        json ? summary_write_json(&summary, stream) : summary_write_text(&summary, stream);
    assert_null(err);
    fclose(stream);
    positions_destroy(positions);
    *incomplete = summary.incomplete;
    return text;
}

static void test_without_model(void **unused)
{
    (void)unused;
    bool incomplete;
    struct evidence *evidence = read_evidence(DOCUMENT(FRAME));
    _cleanup_free_ char *text = write_summary(evidence, NULL, false, NULL, &incomplete);
    assert_non_null(strstr(text, "#0   f at 0x0"));
    assert_non_null(strstr(text, "calls made: call site 0"));
    _cleanup_free_ char *json = write_summary(evidence, NULL, true, NULL, &incomplete);
    assert_non_null(strstr(json, "\"node\":\"f#3\""));
    assert_false(incomplete);
    evidence_destroy(evidence);
}

static void test_budget(void **unused)
{
    (void)unused;
    struct model *model = read_model();
    struct evidence *evidence = read_evidence(DOCUMENT(FRAME "," FRAME));
    struct budget budget;
    budget_init(&budget, 1e-9, 0);
    assert_true(budget_look(&budget));
    for (int json = 0; json < 2; json++) {
        bool incomplete = false;
        _cleanup_free_ char *text = write_summary(evidence, model, json, &budget, &incomplete);
        assert_true(incomplete);
        assert_non_null(strstr(text, json ? "\"complete\": false" : "stopped"));
        if (json) {
            _cleanup_json_ json_t *document = json_loads(text, 0, NULL);
            assert_non_null(document);
        }
    }
    evidence_destroy(evidence);
    model_destroy(model);
}

// Names out of a file may hold anything: no control character reaches the terminal.
static void test_escapes(void **unused)
{
    (void)unused;
    bool incomplete;
    struct evidence *evidence = read_evidence(
        "{\"schema\":\"evidence/2\",\"command\":\"a\\u001b[2J\",\"warnings\":[\"w\\u001b\"],"
        "\"threads\":[{\"end\":\"e\\u001b\",\"frames\":[{\"kind\":\"foreign\",\"function\":"
        "\"f\\u001b\",\"image\":\"i\\u001b\",\"record\":\"corrupt\",\"record_note\":\"r\\u001b\"},"
        "{\"kind\":\"foreign\",\"file\":\"\\u001b\",\"line\":1}]}]}");
    _cleanup_free_ char *text = write_summary(evidence, NULL, false, NULL, &incomplete);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "f\\x1b"));
    evidence_destroy(evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),  cmocka_unit_test(test_positions),
        cmocka_unit_test(test_fit),    cmocka_unit_test(test_without_model),
        cmocka_unit_test(test_budget), cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Evidence of one run from several sources: what is joined, what wins, what contradicts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/merge.h"

static struct evidence *read_evidence(const char *text)
{
    struct evidence *evidence;
    struct error *err = evidence_read_json(text, strlen(text), "test", &evidence);
    if (err)
        fail_msg("%s", err->message);
    return evidence;
}

// One crashed thread of functions 'f', each "INDEX:NODES", innermost first.
#define FRAME(index, nodes)                                                                        \
    "{\"kind\":\"model\",\"module\":\"0x1\",\"index\":" #index ",\"function\":\"f" #index "\","    \
    "\"candidates\":[" nodes "]}"
#define GAP(index, nodes)                                                                          \
    "{\"kind\":\"model\",\"module\":\"0x1\",\"index\":" #index ",\"function\":\"f" #index "\","    \
    "\"gap\":true,\"candidates\":[" nodes "]}"
#define FOREIGN "{\"kind\":\"foreign\",\"function\":\"abort\"}"
#define STACK(kind, whole, frames, rest)                                                           \
    "{\"schema\":\"evidence/2\",\"kind\":\"" kind "\",\"source\":\"" kind ".file\",\"threads\":[{" \
    "\"crashed\":true,\"whole\":" whole ",\"frames\":[" frames "]}]" rest "}"

static void expect(const char *first, const char *second, const char *kind, const char *problem)
{
    for (int turn = 0; turn < 2; turn++) {
        struct evidence *merged = read_evidence(turn ? second : first);
        struct error *err = evidence_merge(&merged, read_evidence(turn ? first : second));
        if (problem) {
            if (!err)
                fail_msg("merged: %s and %s", first, second);
            assert_int_equal(err->code, ERROR_MISMATCH);
            if (!strstr(err->message, problem) || !strstr(err->message, ".file' and '"))
                fail_msg("'%s' does not say '%s'", err->message, problem);
            error_destroy(err);
        } else {
            if (err)
                fail_msg("%s: %s and %s", err->message, first, second);
            assert_string_equal(merged->kind, kind);
        }
        evidence_destroy(merged);
    }
}

static void test_stacks(void **unused)
{
    (void)unused;
    static const char core[] =
        STACK("core", "true", FOREIGN "," FRAME(2, "4") "," FRAME(1, "0"), "");
    // the same; less certain; cut; with a gap
    expect(core, STACK("backtrace", "true", FRAME(2, "4") "," FRAME(1, "0"), ""), "core", NULL);
    expect(core, STACK("backtrace", "true", FRAME(2, "3,4,7") "," FRAME(1, "0,2"), ""), "core",
           NULL);
    expect(core, STACK("backtrace", "false", FRAME(2, "4"), ""), "core", NULL);
    expect(core, STACK("backtrace", "true", GAP(2, "4"), ""), "core", NULL);
    expect(core, "{\"schema\":\"evidence/2\",\"kind\":\"log\",\"source\":\"log.file\"}", "core",
           NULL);
    // another place, another function, another depth
    expect(core, STACK("backtrace", "true", FRAME(2, "3") "," FRAME(1, "0"), ""), NULL, "stacks");
    expect(core, STACK("backtrace", "true", FRAME(3, "4") "," FRAME(1, "0"), ""), NULL, "stacks");
    expect(core, STACK("backtrace", "true", FRAME(2, "4"), ""), NULL, "stacks");
    expect(core, STACK("backtrace", "false", FRAME(1, "0") "," FRAME(2, "4"), ""), NULL, "stacks");
    expect(core, STACK("core", "true", FOREIGN "," FRAME(2, "4") "," FRAME(1, "0"), ""), NULL,
           "both are cores");
}

static void test_coverage(void **unused)
{
    (void)unused;
    struct evidence *merged = read_evidence(STACK(
        "core", "true", FRAME(1, "0"), ",\"coverage\":[{\"module\":\"0x1\",\"sites\":\"yn?2\"}]"));
    struct evidence *other = read_evidence(
        "{\"schema\":\"evidence/2\",\"source\":\"x.file\",\"coverage\":["
        "{\"module\":\"0x1\",\"sites\":\"y?n?\"},{\"module\":\"0x2\",\"sites\":\"n\"}]}");
    assert_null(evidence_merge(&merged, other));
    assert_int_equal(merged->coverage_count, 2);
    static const uint8_t joined[] = {EVIDENCE_TRUE, EVIDENCE_FALSE, EVIDENCE_FALSE,
                                     EVIDENCE_UNKNOWN};
    assert_memory_equal(merged->coverage[0].sites, joined, sizeof(joined));
    assert_int_equal(merged->coverage[1].module_id, 2);
    evidence_destroy(merged);
    static const char yes[] = "{\"schema\":\"evidence/2\",\"source\":\"a.file\",\"coverage\":["
                              "{\"module\":\"0x1\",\"sites\":\"y\"}]}";
    expect(yes,
           "{\"schema\":\"evidence/2\",\"source\":\"b.file\",\"coverage\":["
           "{\"module\":\"0x1\",\"sites\":\"n\"}]}",
           NULL, "never by the other");
    expect(yes,
           "{\"schema\":\"evidence/2\",\"source\":\"b.file\",\"coverage\":["
           "{\"module\":\"0x1\",\"sites\":\"y2\"}]}",
           NULL, "other call sites");
}

static void test_rest(void **unused)
{
    (void)unused;
    struct evidence *merged = read_evidence(
        "{\"schema\":\"evidence/2\",\"source\":\"a\",\"warnings\":[\"one\"],\"observations\":["
        "{\"kind\":\"ran\",\"entries\":[[\"0x1:0:3\"]],\"origin\":\"a:1\"}]}");
    struct evidence *other = read_evidence(
        STACK("backtrace", "true", FRAME(1, "0"),
              ",\"signal\":{\"number\":11},\"pid\":7,\"command\":\"prog\",\"warnings\":[\"two\"],"
              "\"images\":[{\"path\":\"/x/prog\",\"executable\":true,\"modules\":[\"0x1\"]}],"
              "\"observations\":[{\"kind\":\"trace\",\"entries\":[[\"0x1:0:3\"],[\"0x1:2:1\",\"0x1:"
              "2:2\"]],"
              "\"origin\":\"b:1\"}]"));
    assert_null(evidence_merge(&merged, other));
    assert_string_equal(merged->kind, "backtrace");
    assert_int_equal(merged->thread_count, 1);
    assert_int_equal(merged->signal.number, 11);
    assert_int_equal(merged->pid, 7);
    assert_string_equal(merged->command, "prog");
    assert_int_equal(merged->image_count, 1);
    assert_int_equal(merged->warning_count, 2);
    assert_int_equal(merged->observation_count, 2);
    const struct evidence_observation *trace = &merged->observations[0];
    assert_int_equal(trace->entry_count, 2);
    assert_int_equal(trace->entries[1].count, 2);
    assert_int_equal(trace->entries[1].points[1].node, 2);
    assert_string_equal(merged->observations[1].origin, "a:1");
    evidence_destroy(merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Reports: what is written comes back, what is cut or changed is refused, live files become them.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "suspects/report.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t most)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(state) % most;
}

// Mostly small, now and then any.
static uint32_t draw_u32(void)
{
    return (uint32_t)(hash_mix(state += 77) >> (32 + draw(32)));
}

static void assert_refused(struct error *err, const char *words)
{
    assert_non_null(err);
    char *text = error_text(err);
    if (!strstr(text, words))
        fail_msg("'%s' does not say '%s'", text, words);
    free(text);
    error_destroy(err);
}

// ---- There and back

// A report with modules in order, sparse counters, frames in its modules and in others.
static struct suspects_report *random_report(void)
{
    struct suspects_report *report = xcalloc(1, sizeof(*report));
    uint64_t id = 0;

    for (size_t i = 0; i < sizeof(report->run_id); i++)
        report->run_id[i] = (uint8_t)draw(256);
    report->build_id_length = (uint32_t)draw(SUSPECTS_BUILD_ID + 1);
    for (uint32_t i = 0; i < report->build_id_length; i++)
        report->build_id[i] = (uint8_t)draw(256);
    report->outcome = (enum suspects_outcome)draw(3);
    report->signal = (uint32_t)draw(65);
    report->exit_status = (uint32_t)draw(256);
    report->rate = draw(UINT64_MAX) + 1;
    report->seed = draw(3) ? draw(UINT64_MAX) : UINT64_MAX;
    report->start = draw(UINT64_MAX);
    report->module_count = (uint32_t)draw(5);
    report->modules = xcalloc(report->module_count, sizeof(*report->modules));
    report->counts = xcalloc(5 * 40, sizeof(*report->counts));
    for (uint32_t m = 0; m < report->module_count; m++) {
        struct suspects_report_module *module = &report->modules[m];
        uint64_t counter = draw(200);
        module->module_id = id += draw(UINT64_MAX / 8) + 1;
        module->first = report->count_count;
        for (uint64_t n = draw(40); n > 0; n--, counter += 1 + draw(300))
            report->counts[report->count_count++] = (struct suspects_count){
                (uint32_t)counter, draw(9) ? 1 + draw_u32() % UINT32_MAX : UINT32_MAX};
        module->count = report->count_count - module->first;
        module->counter_count = draw(20) ? (uint32_t)counter + 1 : UINT32_MAX;
    }
    report->frame_count = (uint32_t)draw(12);
    report->frames = xcalloc(report->frame_count, sizeof(*report->frames));
    for (uint32_t f = 0; f < report->frame_count; f++)
        report->frames[f] = (struct suspects_frame){
            report->module_count && draw(3) ? report->modules[draw(report->module_count)].module_id
                                            : draw(2) * draw(UINT64_MAX),
            draw(5) ? draw_u32() : SUSPECTS_NONE, draw(5) ? draw_u32() : SUSPECTS_NONE};
    return report;
}

static void assert_same(const struct suspects_report *a, const struct suspects_report *b)
{
    assert_memory_equal(a->run_id, b->run_id, sizeof(a->run_id));
    assert_int_equal(a->build_id_length, b->build_id_length);
    assert_memory_equal(a->build_id, b->build_id, sizeof(a->build_id));
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->signal, b->signal);
    assert_int_equal(a->exit_status, b->exit_status);
    assert_true(a->rate == b->rate && a->seed == b->seed && a->start == b->start);
    assert_int_equal(a->module_count, b->module_count);
    for (uint32_t m = 0; m < a->module_count; m++) {
        assert_true(a->modules[m].module_id == b->modules[m].module_id);
        assert_int_equal(a->modules[m].counter_count, b->modules[m].counter_count);
        assert_int_equal(a->modules[m].first, b->modules[m].first);
        assert_int_equal(a->modules[m].count, b->modules[m].count);
    }
    assert_int_equal(a->count_count, b->count_count);
    for (uint32_t c = 0; c < a->count_count; c++) {
        assert_int_equal(a->counts[c].counter, b->counts[c].counter);
        assert_int_equal(a->counts[c].value, b->counts[c].value);
    }
    assert_int_equal(a->frame_count, b->frame_count);
    for (uint32_t f = 0; f < a->frame_count; f++) {
        assert_true(a->frames[f].module_id == b->frames[f].module_id);
        assert_int_equal(a->frames[f].function, b->frames[f].function);
        assert_int_equal(a->frames[f].node, b->frames[f].node);
    }
}

static void test_there_and_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        struct suspects_report *report = random_report(), *again;
        struct strbuf bytes = STRBUF_INIT;
        suspects_report_write(report, &bytes);
        assert_null(suspects_report_read(bytes.data, bytes.length, "r", &again));
        assert_same(report, again);
        suspects_report_destroy(again);
        suspects_report_destroy(report);
        strbuf_deinit(&bytes);
    }
}

// ---- The bytes, as docs/formats/suspects_report.md has them

static void test_bytes(void **unused)
{
    (void)unused;
    struct suspects_count counts[] = {{3, 1}, {4, 300}};
    struct suspects_report_module module = {0x1122334455667788, 10, 0, 2};
    struct suspects_frame frames[] = {{0x1122334455667788, 2, 9},
                                      {0, SUSPECTS_NONE, SUSPECTS_NONE}};
    struct suspects_report report = {.run_id = "0123456789abcde",
                                     .build_id = {0xaa, 0xbb},
                                     .build_id_length = 2,
                                     .outcome = SUSPECTS_FAILED,
                                     .signal = SIGSEGV,
                                     .rate = 100,
                                     .seed = 1,
                                     .start = 128,
                                     .modules = &module,
                                     .module_count = 1,
                                     .counts = counts,
                                     .count_count = 2,
                                     .frames = frames,
                                     .frame_count = 2};
    static const char expected[] = "INQREPT\n\1\0\0\0\x51\0\0\0"
                                   "0123456789abcde\0\2\xaa\xbb\2\x0b\0\x64\1\x80\1"
                                   "\1\x88\x77\x66\x55\x44\x33\x22\x11\x0a\2\3\1\0\xac\2"
                                   "\2\1\3\x0a\0\0\0\0\0\0\0\0\0\0\0";
    struct strbuf bytes = STRBUF_INIT;
    suspects_report_write(&report, &bytes);
    size_t length = sizeof(expected) - 1;
    assert_int_equal(bytes.length, length + 8);
    assert_memory_equal(bytes.data, expected, length);
    uint64_t hash = hash_bytes(HASH_SEED, expected, length);
    assert_memory_equal(bytes.data + length, &hash, 8);
    strbuf_deinit(&bytes);
}

// ---- Cut and changed

static void test_every_cut(void **unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        struct suspects_report *report = random_report(), *again;
        struct strbuf bytes = STRBUF_INIT;
        suspects_report_write(report, &bytes);
        for (size_t cut = 0; cut < bytes.length; cut++) {
            // exactly so many bytes, so that a sanitizer sees one more
            void *part = xmemdup(bytes.data, cut);
            assert_refused(suspects_report_read(part, cut, "r", &again), "truncated report");
            free(part);
        }
        strbuf_append_char(&bytes, 'x');
        assert_refused(suspects_report_read(bytes.data, bytes.length, "r", &again),
                       "its length is given as");
        strbuf_deinit(&bytes);
        suspects_report_destroy(report);
    }
}

static void test_every_bit(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct suspects_report *report = random_report(), *again;
        struct strbuf bytes = STRBUF_INIT;
        suspects_report_write(report, &bytes);
        for (size_t bit = 0; bit < bytes.length * 8; bit++) {
            bytes.data[bit / 8] ^= (char)(1 << bit % 8);
            assert_refused(suspects_report_read(bytes.data, bytes.length, "r", &again),
                           bit < 64    ? "not a report"
                           : bit < 96  ? "report of version"
                           : bit < 128 ? "report: "
                                       : "its hash is wrong");
            bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        }
        strbuf_deinit(&bytes);
        suspects_report_destroy(report);
    }
}

// Behind a right hash: whatever is read must be the same bytes again.
static void test_changed_behind_its_hash(void **unused)
{
    (void)unused;
    uint32_t accepted = 0, refused = 0;
    for (int i = 0; i < 3000; i++) {
        struct suspects_report *report = random_report(), *again;
        struct strbuf bytes = STRBUF_INIT, second = STRBUF_INIT;
        suspects_report_write(report, &bytes);
        for (uint64_t n = draw(3) + 1; n > 0; n--)
            bytes.data[16 + draw(bytes.length - 24)] = (char)draw(256);
        uint64_t hash = hash_bytes(HASH_SEED, bytes.data, bytes.length - 8);
        memcpy(bytes.data + bytes.length - 8, &hash, 8);
        struct error *err = suspects_report_read(bytes.data, bytes.length, "r", &again);
        if (err) {
            assert_refused(err, "damaged report: ");
            refused++;
        } else {
            suspects_report_write(again, &second);
            assert_int_equal(second.length, bytes.length);
            assert_memory_equal(second.data, bytes.data, bytes.length);
            suspects_report_destroy(again);
            accepted++;
        }
        strbuf_deinit(&bytes);
        strbuf_deinit(&second);
        suspects_report_destroy(report);
    }
    assert_true(accepted > 100 && refused > 100);
}

// ---- Live files

struct live {
    unsigned char *bytes;
    size_t length;
};

static struct suspects_live *live_head(const struct live *live)
{
    return (struct suspects_live *)live->bytes;
}

static struct suspects_live_module *live_module(const struct live *live, uint32_t m)
{
    return (struct suspects_live_module *)(live_head(live) + 1) + m;
}

static uint32_t *live_counters(const struct live *live, uint32_t m)
{
    return (uint32_t *)(live->bytes + live_module(live, m)->offset);
}

// Modules with so many counters each; all of them 0.
static struct live make_live(const uint64_t *ids, const uint32_t *counters, uint32_t count)
{
    struct live live = {.length = SUSPECTS_PAGE};
    for (uint32_t m = 0; m < count; m++)
        live.length += (counters[m] * 4 + SUSPECTS_PAGE - 1) / SUSPECTS_PAGE * SUSPECTS_PAGE;
    live.bytes = xcalloc(1, live.length);
    struct suspects_live *head = live_head(&live);
    memcpy(head->magic, SUSPECTS_LIVE_MAGIC, 8);
    head->version = SUSPECTS_LIVE_VERSION;
    head->header_length = SUSPECTS_PAGE;
    memcpy(head->run_id, "run number seven", 16);
    memcpy(head->build_id, "build", 5);
    head->build_id_length = 5;
    head->module_count = count;
    head->rate = 100;
    head->seed = 3;
    head->start = 77;
    uint64_t offset = SUSPECTS_PAGE;
    for (uint32_t m = 0; m < count; m++) {
        *live_module(&live, m) = (struct suspects_live_module){
            .module_id = ids[m], .counter_count = counters[m], .offset = offset};
        offset += (counters[m] * 4 + SUSPECTS_PAGE - 1) / SUSPECTS_PAGE * SUSPECTS_PAGE;
    }
    return live;
}

static void test_live(void **unused)
{
    (void)unused;
    struct live live = make_live((uint64_t[]){9, 4, 9}, (uint32_t[]){2000, 3, 2000}, 3);
    struct suspects_report *report;
    live_counters(&live, 0)[5] = 2;
    live_counters(&live, 0)[1999] = 0xfffffff0;
    live_counters(&live, 1)[0] = 7;
    live_counters(&live, 1)[2] = 8;
    live_counters(&live, 2)[5] = 40; // the same source, linked a second time
    live_counters(&live, 2)[1999] = 0xfffffff0;
    assert_null(suspects_report_from_live(live.bytes, live.length, "l", &report));
    assert_memory_equal(report->run_id, "run number seven", 16);
    assert_int_equal(report->build_id_length, 5);
    assert_memory_equal(report->build_id, "build", 6);
    assert_int_equal(report->outcome, SUSPECTS_UNKNOWN);
    assert_true(report->rate == 100 && report->seed == 3 && report->start == 77);
    assert_int_equal(report->module_count, 2);
    assert_true(report->modules[0].module_id == 4 && report->modules[1].module_id == 9);
    assert_int_equal(report->modules[1].counter_count, 2000);
    const struct suspects_count expected[] = {{0, 7}, {2, 8}, {5, 42}, {1999, UINT32_MAX}};
    assert_int_equal(report->count_count, 4);
    assert_memory_equal(report->counts, expected, sizeof(expected));
    assert_int_equal(report->modules[1].first, 2);
    assert_int_equal(report->modules[1].count, 2);
    suspects_report_destroy(report);
    free(live.bytes);
}

static void test_live_cut(void **unused)
{
    (void)unused;
    struct live live = make_live((uint64_t[]){9, 4}, (uint32_t[]){1024, 3}, 2);
    struct suspects_report *report;
    for (size_t cut = 0; cut < live.length; cut += cut < 512 ? 1 : 61) {
        if (cut >= 2 * SUSPECTS_PAGE + 12)
            break; // all counters are there
        void *part = xmemdup(live.bytes, cut);
        assert_refused(suspects_report_from_live(part, cut, "l", &report), "truncated live file");
        free(part);
    }
    free(live.bytes);
}

static void test_live_damaged(void **unused)
{
    (void)unused;
    struct live live = make_live((uint64_t[]){9, 9}, (uint32_t[]){10, 10}, 2);
    struct suspects_live head = *live_head(&live);
    struct suspects_live_module module = *live_module(&live, 1);
    struct suspects_report *report;
#define REFUSED(words)                                                                             \
    do {                                                                                           \
        assert_refused(suspects_report_from_live(live.bytes, live.length, "l", &report), words);   \
        *live_head(&live) = head;                                                                  \
        *live_module(&live, 1) = module;                                                           \
    } while (0)
    memset(live.bytes, 0, 8);
    REFUSED("unfinished live file");
    live.bytes[3] = 'x';
    REFUSED("not a live file");
    live_head(&live)->version = 2;
    REFUSED("live file of version 2");
    live_head(&live)->module_count = UINT32_MAX;
    REFUSED("do not fit");
    live_head(&live)->header_length = 8;
    REFUSED("do not fit");
    live_head(&live)->header_length = UINT32_MAX;
    REFUSED("truncated");
    live_head(&live)->build_id_length = 33;
    REFUSED("build-id");
    live_head(&live)->rate = 0;
    REFUSED("rate");
    live_module(&live, 1)->offset = 0;
    REFUSED("cannot be there");
    live_module(&live, 1)->offset += 4;
    REFUSED("cannot be there");
    live_module(&live, 1)->offset = UINT64_MAX - SUSPECTS_PAGE + 1;
    REFUSED("truncated");
    live_module(&live, 1)->counter_count = UINT32_MAX;
    REFUSED("truncated");
    live_module(&live, 1)->counter_count = 9;
    REFUSED("two numbers of counters");
    free(live.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_changed_behind_its_hash),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_cut),
        cmocka_unit_test(test_live_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

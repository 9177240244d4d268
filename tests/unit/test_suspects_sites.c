// SPDX-License-Identifier: Apache-2.0
/* Tables of sites: read, checked, and in words. */
#include <setjmp.h>
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
#include "layout/section.h"
#include "suspects/sites.h"

static const char strings[] = "\0a.c\0main\0x\0y\0read\0x > 0";
enum { EMPTY = 0, FILE_A = 1, MAIN = 5, X = 10, Y = 12, READ = 14, CONDITION = 19 };

static const struct suspects_site sites[] = {{.kind = SUSPECTS_ENTRY,
                                              .node_false = SUSPECTS_NONE,
                                              .node_true = SUSPECTS_NONE,
                                              .left = MAIN,
                                              .file = FILE_A,
                                              .function_name = MAIN},
                                             {
                                                 .kind = SUSPECTS_BRANCH,
                                                 .node = 4,
                                                 .node_false = 6,
                                                 .node_true = 5,
                                                 .left = CONDITION,
                                                 .file = FILE_A,
                                                 .function_name = MAIN,
                                                 .first_counter = 1,
                                                 .first_predicate = 1,
                                                 .operator= SUSPECTS_GREATER },
                                                 {.kind = SUSPECTS_PAIR,
                                                  .node = 7,
                                                  .node_false = SUSPECTS_NONE,
                                                  .node_true = SUSPECTS_NONE,
                                                  .left = X,
                                                  .right = Y,
                                                  .file = FILE_A,
                                                  .function_name = MAIN,
                                                  .first_counter = 3,
                                                  .first_predicate = 3},
};
enum { SITES = 3, COUNTERS = 6, PREDICATES = 9 };

static void append_frame(struct strbuf *out, uint32_t kind, const void *payload, size_t length)
{
    struct section_header header = {.version = SECTION_VERSION,
                                    .kind = kind,
                                    .payload_length = length,
                                    .payload_hash = hash_bytes(HASH_SEED, payload, length)};
    memcpy(header.magic, SECTION_MAGIC, 8);
    strbuf_append_bytes(out, &header, sizeof(header));
    strbuf_append_bytes(out, payload, length);
    strbuf_append_repeated(out, '\0', -out->length % 8);
}

static struct strbuf payload_of(const struct suspects_module *head, const struct suspects_site *of)
{
    struct strbuf payload = STRBUF_INIT;
    strbuf_append_bytes(&payload, head, sizeof(*head));
    strbuf_append_bytes(&payload, of, SITES * sizeof(*of));
    strbuf_append_bytes(&payload, strings, sizeof(strings));
    return payload;
}

static const struct suspects_module good = {
    .module_id = 9,
    .site_count = SITES,
    .counter_count = COUNTERS,
    .predicate_count = PREDICATES,
    .string_length = sizeof(strings),
};

static void append_module(struct strbuf *out, const struct suspects_module *head,
                          const struct suspects_site *of)
{
    struct strbuf payload = payload_of(head, of);
    append_frame(out, SECTION_KIND_SUSPECTS, payload.data, payload.length);
    strbuf_deinit(&payload);
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

static void test_read(void **unused)
{
    (void)unused;
    struct strbuf section = STRBUF_INIT;
    struct suspects_module other = good;
    struct suspects_sites *read;
    other.module_id = 2;
    append_module(&section, &good, sites);
    append_module(&section, &other, sites);
    append_module(&section, &good, sites); // linked twice
    assert_null(suspects_sites_read(section.data, section.length, "t", &read));
    assert_int_equal(read->module_count, 2);
    assert_true(read->modules[0].module_id == 2 && read->modules[1].module_id == 9);
    const struct suspects_sites_module *module = suspects_sites_find(read, 9);
    assert_ptr_equal(module, &read->modules[1]);
    assert_null(suspects_sites_find(read, 3));
    assert_int_equal(module->site_count, SITES);
    assert_int_equal(module->counter_count, COUNTERS);
    assert_int_equal(module->predicate_count, PREDICATES);
    assert_memory_equal(module->sites, sites, sizeof(sites));
    assert_string_equal(suspects_site_string(module, module->sites[2].right), "y");
    suspects_sites_destroy(read);
    strbuf_deinit(&section);
}

static void test_no_table(void **unused)
{
    (void)unused;
    struct suspects_sites *read;
    assert_refused(suspects_sites_read("", 0, "t", &read), "no table of sites");
    assert_refused(suspects_sites_open("/proc/self/exe", &read), "no table of sites");
    assert_refused(suspects_sites_open("/nowhere/at/all", &read), "cannot open");
}

static void test_cut(void **unused)
{
    (void)unused;
    struct strbuf section = STRBUF_INIT;
    struct suspects_sites *read;
    append_module(&section, &good, sites);
    size_t whole = sizeof(struct section_header) + sizeof(struct suspects_module) + sizeof(sites) +
                   sizeof(strings);
    for (size_t cut = 1; cut < whole; cut++) {
        void *part = xmemdup(section.data, cut);
        assert_refused(suspects_sites_read(part, cut, "t", &read), "truncated");
        free(part);
    }
    // the payload itself, behind a right hash
    struct strbuf payload = payload_of(&good, sites);
    for (size_t cut = 0; cut < payload.length; cut++) {
        strbuf_clear(&section);
        append_frame(&section, SECTION_KIND_SUSPECTS, payload.data, cut);
        assert_refused(suspects_sites_read(section.data, section.length, "t", &read),
                       "damaged table of sites");
    }
    strbuf_deinit(&payload);
    strbuf_deinit(&section);
}

static void assert_bad(const struct suspects_module *head, const struct suspects_site *of,
                       const char *words)
{
    struct strbuf section = STRBUF_INIT;
    struct suspects_sites *read;
    append_module(&section, head, of);
    assert_refused(suspects_sites_read(section.data, section.length, "t", &read), words);
    strbuf_deinit(&section);
}

static void test_damaged(void **unused)
{
    (void)unused;
    struct suspects_site changed[SITES];
#define WITH(change, words)                                                                        \
    do {                                                                                           \
        memcpy(changed, sites, sizeof(sites));                                                     \
        change;                                                                                    \
        assert_bad(&good, changed, words);                                                         \
    } while (0)
    WITH(changed[1].kind = 0, "of a kind");
    WITH(changed[1].kind = SUSPECTS_KIND_COUNT, "of a kind");
    WITH(changed[1].kind = SUSPECTS_FLOAT, "numbered");
    WITH(changed[2].kind = SUSPECTS_BRANCH, "another number of counters");
    WITH(changed[1].first_counter = 2, "numbered");
    WITH(changed[2].first_predicate = 4, "numbered");
    WITH(changed[2].left = sizeof(strings), "behind the end");
    WITH(changed[2].right = UINT32_MAX, "behind the end");
    WITH(changed[0].file = sizeof(strings), "behind the end");
    WITH(changed[0].function_name = sizeof(strings), "behind the end");
    WITH(changed[1].operator= SUSPECTS_LESS_EQUAL + 1, "operator");
    struct suspects_module head = good;
    head.counter_count++;
    assert_bad(&head, sites, "another number of counters");
    head = good;
    head.site_count = UINT32_MAX;
    assert_bad(&head, sites, "length is wrong");
    head = good;
    head.string_length--; // the last string does not end, and a byte is too many
    assert_bad(&head, sites, "length is wrong");
}

static void test_last_string(void **unused)
{
    (void)unused;
    struct strbuf section = STRBUF_INIT, payload = payload_of(&good, sites);
    struct suspects_sites *read;
    payload.data[payload.length - 1] = 'x';
    append_frame(&section, SECTION_KIND_SUSPECTS, payload.data, payload.length);
    assert_refused(suspects_sites_read(section.data, section.length, "t", &read), "does not end");
    strbuf_deinit(&payload);
    strbuf_deinit(&section);
}

static void test_two_tables(void **unused)
{
    (void)unused;
    struct strbuf section = STRBUF_INIT;
    struct suspects_site changed[SITES];
    struct suspects_sites *read;
    memcpy(changed, sites, sizeof(sites));
    changed[0].line = 7;
    append_module(&section, &good, sites);
    append_module(&section, &good, changed);
    assert_refused(suspects_sites_read(section.data, section.length, "t", &read), "has two");
    strbuf_deinit(&section);
}

static void assert_words(uint32_t kind, uint32_t predicate, const char *left, const char *right,
                         const char *expected)
{
    struct strbuf words = STRBUF_INIT;
    suspects_predicate_words(kind, predicate, left, right, &words);
    assert_string_equal(words.data, expected);
    strbuf_deinit(&words);
}

static void test_words(void **unused)
{
    (void)unused;
    assert_words(SUSPECTS_BRANCH, 0, "x > 0", "", "x > 0 is false");
    assert_words(SUSPECTS_BRANCH, 1, "x > 0", "", "x > 0 is true");
    assert_words(SUSPECTS_BRANCH, 1, "", "", "the condition is true");
    assert_words(SUSPECTS_RETURN, 0, "read", "", "read() returned < 0");
    assert_words(SUSPECTS_RETURN, 1, "read", "", "read() returned 0");
    assert_words(SUSPECTS_RETURN, 4, "*hook", "", "(*hook)() returned != 0");
    assert_words(SUSPECTS_PAIR, 0, "x", "y", "x < y");
    assert_words(SUSPECTS_PAIR, 1, "x", "7", "x == 7");
    assert_words(SUSPECTS_PAIR, 2, "x", "y", "x > y");
    assert_words(SUSPECTS_PAIR, 3, "x", "y", "x >= y");
    assert_words(SUSPECTS_PAIR, 4, "x", "y", "x != y");
    assert_words(SUSPECTS_PAIR, 5, "x", "y", "x <= y");
    assert_words(SUSPECTS_FLOAT, SUSPECTS_FLOAT_NAN, "d", "", "d is not a number");
    assert_words(SUSPECTS_FLOAT, SUSPECTS_FLOAT_INFINITY, "d", "", "d is +infinity");
    assert_words(SUSPECTS_ENTRY, 0, "main", "", "main() was entered");
    assert_words(SUSPECTS_WATCH, 0, "n < max", "", "n < max is false");
}

// What the words of a three-way predicate say is what its counters are.
static void test_masks(void **unused)
{
    (void)unused;
    for (uint32_t p = 0; p < 6; p++)
        for (int left = -1; left <= 1; left++) {
            struct strbuf words = STRBUF_INIT;
            uint32_t counter = (uint32_t)(left + 1); // left <, =, > 0
            bool expected;
            suspects_predicate_words(SUSPECTS_PAIR, p, "x", "0", &words);
            if (strstr(words.data, "!="))
                expected = left != 0;
            else
                expected = (strchr(words.data, '<') && left < 0) ||
                           (strchr(words.data, '>') && left > 0) ||
                           (strchr(words.data, '=') && left == 0);
            assert_int_equal(suspects_predicate_mask(SUSPECTS_PAIR, p) >> counter & 1, expected);
            strbuf_deinit(&words);
        }
}

static void test_node(void **unused)
{
    (void)unused;
    assert_int_equal(suspects_predicate_node(&sites[1], 0), 6);
    assert_int_equal(suspects_predicate_node(&sites[1], 1), 5);
    assert_int_equal(suspects_predicate_node(&sites[2], 1), 7);
    struct suspects_site one_side = sites[1];
    one_side.node_false = SUSPECTS_NONE;
    assert_int_equal(suspects_predicate_node(&one_side, 0), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),        cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_cut),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_last_string), cmocka_unit_test(test_two_tables),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_masks),
        cmocka_unit_test(test_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

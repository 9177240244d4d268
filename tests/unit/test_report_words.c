// SPDX-License-Identifier: Apache-2.0
// Signals in words, source lines for terminals, deep stacks made short.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "report/signal.h"
#include "report/source.h"
#include "report/summary.h"
#include "report/summary_words.h"

static void describe(struct evidence_signal signal, const char *expected)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    signal_describe(&text, &signal);
    assert_string_equal(text.data, expected);
}

static void test_signals(void **unused)
{
    (void)unused;
    describe((struct evidence_signal){SIGSEGV, SEGV_MAPERR, true, 0},
             "SIGSEGV: invalid memory access at address 0x0 (nothing is mapped there): a null "
             "pointer");
    describe((struct evidence_signal){SIGSEGV, SEGV_MAPERR, true, 0x18},
             "SIGSEGV: invalid memory access at address 0x18 (nothing is mapped there): close to "
             "a null pointer");
    describe((struct evidence_signal){SIGSEGV, SEGV_ACCERR, true, 0x5555000},
             "SIGSEGV: invalid memory access at address 0x5555000 (the mapping there does not "
             "allow this access)");
    // The kernel gives 0 as the address of a general protection fault, which is not a null pointer.
    describe((struct evidence_signal){SIGSEGV, SI_KERNEL, true, 0},
             "SIGSEGV: invalid memory access (general protection fault; mostly a pointer that is "
             "not a canonical address, which the processor does not tell)");
    describe((struct evidence_signal){SIGSEGV, SI_USER, false, 0},
             "SIGSEGV: invalid memory access (sent by kill())");
    describe((struct evidence_signal){SIGABRT, SI_TKILL, false, 0},
             "SIGABRT: the program gave up (sent by tgkill(), as abort() and failed assertions "
             "do)");
    describe((struct evidence_signal){SIGFPE, FPE_INTDIV, true, 0x401136},
             "SIGFPE: arithmetic error at instruction 0x401136 (integer division by zero, or its "
             "result does not fit)");
    describe((struct evidence_signal){SIGTERM, SI_USER, false, 0},
             "SIGTERM: termination was asked for (sent by kill())");
    describe((struct evidence_signal){36, SI_QUEUE, false, 0}, "SIGRTMIN+2 (sent by sigqueue())");
    describe((struct evidence_signal){99, 77, false, 0}, "signal 99 (code 77)");
    describe((struct evidence_signal){0, 0, false, 0}, "no signal: the process was alive");
}

static void show(const char *line, uint32_t column, const char *expected, uint32_t expected_column)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    source_append_line(&text, line, strlen(line), 20, &column);
    assert_string_equal(text.data, expected);
    assert_int_equal(column, expected_column);
}

static void test_source_line(void **unused)
{
    (void)unused;
    show("\tx = 1;", 2, "    x = 1;", 4);
    show("ab\tc", 4, "ab  c", 4);
    show("\033[2Jx", 5, "?[2Jx", 4);
    show("\xc2\x9bm", 0, "??m", 0);
    show("a\xff"
         "b",
         3, "a?b", 2);
    show("ä = b;", 6, "ä = b;", 4);
    show("0123456789012345678901234", 25, "01234567890123456789 ...", 20);
    show("", 7, "", 0);
}

static void write_file(const char *directory, const char *name, const char *text)
{
    _cleanup_free_ char *path = xasprintf("%s/%s", directory, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void expect_line(struct sources *sources, const char *path, uint32_t line,
                        const char *expected)
{
    size_t length;
    const char *found = sources_line(sources, path, line, &length);
    if (!expected) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(found, expected, length);
}

static void test_sources(void **unused)
{
    (void)unused;
    char directory[] = "/tmp/test_report.XXXXXX";
    assert_non_null(mkdtemp(directory));
    write_file(directory, "a.c", "one\r\ntwo\n\nlast");
    _cleanup_free_ char *path = xasprintf("%s/a.c", directory);
    const char *const directories[] = {directory};
    struct sources *plain = sources_create(NULL, 0);
    struct sources *moved = sources_create(directories, 1);
    expect_line(plain, path, 1, "one");
    expect_line(plain, path, 2, "two");
    expect_line(plain, path, 3, "");
    expect_line(plain, path, 4, "last");
    expect_line(plain, path, 5, NULL);
    expect_line(plain, path, 0, NULL);
    expect_line(plain, "/no/such/src/a.c", 1, NULL);
    expect_line(moved, "/no/such/src/a.c", 1, "one");
    expect_line(moved, "a.c", 1, "one");
    expect_line(moved, "/no/such/src/b.c", 1, NULL);
    sources_destroy(plain);
    sources_destroy(moved);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void count(uint64_t number, const char *expected)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    words_append_count(&text, number);
    assert_string_equal(text.data, expected);
}

static void test_count(void **unused)
{
    (void)unused;
    count(0, "0");
    count(999, "999");
    count(1000, "1,000");
    count(99980, "99,980");
    count(UINT64_MAX, "18,446,744,073,709,551,615");
}

// A stack with one letter a frame, innermost first; the fold as text: the letters that are shown,
// "(12xab)" for a fold of period 2 and "(12)" for one without.
static void fold(const char *stack, uint32_t most, const char *expected)
{
    uint32_t length = (uint32_t)strlen(stack);
    _cleanup_free_ struct evidence_frame *frames = xcalloc(length + 1, sizeof(*frames));
    _cleanup_free_ char *names = xcalloc(length + 1, 2);
    for (uint32_t i = 0; i < length; i++) {
        names[2 * i] = stack[i];
        frames[i].function.name = &names[2 * i];
    }
    struct evidence_thread thread = {.frames = frames, .frame_count = length};
    _cleanup_free_ struct stack_run *runs = NULL;
    uint32_t run_count = stack_fold(&thread, most, &runs);
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    uint32_t next = 0;
    for (uint32_t i = 0; i < run_count; i++) {
        assert_int_equal(runs[i].first, next); // every frame is in one run, in order
        next += runs[i].count;
        if (runs[i].count == 1)
            strbuf_append_char(&text, stack[runs[i].first]);
        else if (runs[i].period)
            strbuf_printf(&text, "(%ux%.*s)", runs[i].count, (int)runs[i].period,
                          stack + runs[i].first);
        else
            strbuf_printf(&text, "(%u)", runs[i].count);
    }
    assert_int_equal(next, length);
    assert_string_equal(text.data, expected);
}

static void test_fold(void **unused)
{
    (void)unused;
    fold("", 40, "");
    fold("abc", 40, "abc");
    fold("ffffffffffm", 40, "ffffffffffm");
    fold("ffffffffffffm", 40, "ff(9xf)fm");
    fold("xababababababababm", 40, "xabab(10xab)abm");
    fold("xababababababababam", 40, "xabab(11xab)bam");
    fold("abcdefghijklmnopqrstuvwxyz", 10, "abcdef(17)xyz");
    fold("abcdefghijklmnop", 16, "abcdefghijklmnop");
}

static void test_fold_deep(void **unused)
{
    (void)unused;
    uint32_t length = 1000000;
    _cleanup_free_ struct evidence_frame *frames = xcalloc(length, sizeof(*frames));
    for (uint32_t i = 0; i < length; i++)
        frames[i].function.name = i == length - 1 ? "main" : "fib";
    struct evidence_thread thread = {.frames = frames, .frame_count = length};
    _cleanup_free_ struct stack_run *runs = NULL;
    assert_int_equal(stack_fold(&thread, 40, &runs), 5);
    assert_int_equal(runs[2].count, length - 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals), cmocka_unit_test(test_source_line),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_count),
        cmocka_unit_test(test_fold),    cmocka_unit_test(test_fold_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

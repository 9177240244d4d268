// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void copies_are_exact(void **state)
{
    (void)state;
    char *copy = xstrndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    free(copy);
    copy = xstrndup("ab", 10);
    assert_string_equal(copy, "ab");
    free(copy);
    copy = xasprintf("%s-%d", "x", 7);
    assert_string_equal(copy, "x-7");
    free(copy);
    copy = xmemdup("a\0b", 3);
    assert_memory_equal(copy, "a\0b", 3);
    free(copy);
}

static void nothing_is_a_pointer_too(void **state)
{
    (void)state;
    void *a = xmalloc(0);
    void *b = xcalloc(0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    a = xrealloc(a, 0);
    assert_non_null(a);
    free(a);
    free(b);
}

static void calloc_is_zero(void **state)
{
    (void)state;
    unsigned char *bytes = xcalloc(100, 3);
    for (int i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
}

/* Runs ask(count) in a child; its exit status and what it wrote to stderr. */
static int exit_status(void (*ask)(size_t), size_t count, char *message, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ask(count);
        _exit(99);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], message, size - 1);
    message[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void ask_for_product(size_t count)
{
    free(xmalloc_array(count, 16));
}

static void ask_for_calloc(size_t count)
{
    free(xcalloc(count, 16));
}

static void ask_for_realloc(size_t count)
{
    free(xrealloc_array(NULL, count, 16));
}

static void lack_of_memory_exits_with_2(void **state)
{
    (void)state;
    char message[200];
    void (*asks[])(size_t) = {ask_for_product, ask_for_calloc, ask_for_realloc};
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        assert_int_equal(exit_status(asks[i], SIZE_MAX / 8, message, sizeof(message)), 2);
        assert_non_null(strstr(message, "inquest: out of memory"));
        assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_exact),
        cmocka_unit_test(nothing_is_a_pointer_too),
        cmocka_unit_test(calloc_is_zero),
        cmocka_unit_test(lack_of_memory_exits_with_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

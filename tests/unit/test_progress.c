// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/progress.h"

#include <unistd.h>

/* What body writes to stderr, which is no terminal meanwhile. */
static size_t written_by(void (*body)(void), char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t got = read(ends[0], text, size - 1);
    close(ends[0]);
    assert_true(got >= 0);
    text[got] = '\0';
    return (size_t)got;
}

static void ordinary(void)
{
    struct progress progress;
    progress_init(&progress, "work", 10, false);
    progress.next_ns = 0;
    for (uint64_t i = 0; i < 2000; i++)
        progress_update(&progress, i);
    progress_draw(&progress, 10);
    progress_finish(&progress);
}

static void forced(void)
{
    struct progress progress;
    progress_init_forced(&progress, "work", 10, true);
    progress.next_ns = 0;
    progress_draw(&progress, 5);
    progress_draw(&progress, 6);
    progress_finish(&progress);
    progress_draw(&progress, 7);
}

static void forced_but_short(void)
{
    struct progress progress;
    progress_init_forced(&progress, "work", 0, true);
    progress_draw(&progress, 5);
    progress_finish(&progress);
}

static void silent_where_there_is_no_terminal(void **state)
{
    (void)state;
    char text[200];
    assert_int_equal(written_by(ordinary, text, sizeof(text)), 0);
}

static void drawn_once_and_erased(void **state)
{
    (void)state;
    char text[200];
    written_by(forced, text, sizeof(text));
    assert_string_equal(text, "\r\033[Kwork: 50%\r\033[K");
}

static void short_work_shows_nothing(void **state)
{
    (void)state;
    char text[200];
    assert_int_equal(written_by(forced_but_short, text, sizeof(text)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_where_there_is_no_terminal),
        cmocka_unit_test(drawn_once_and_erased),
        cmocka_unit_test(short_work_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>

static int freed;

static void note_free(int *value)
{
    freed += *value;
}

static void runs_on_every_way_out(void **state)
{
    (void)state;
    freed = 0;
    for (int i = 0; i < 3; i++) {
        _cleanup_(note_free) int value = 10;
        if (i == 1)
            continue;
        value = 1;
    }
    assert_int_equal(freed, 12);
}

static char *handed_over(void)
{
    _cleanup_free_ char *text = malloc(2);
    assert_non_null(text);
    text[0] = 'x';
    text[1] = '\0';
    return_ptr(text);
}

static void handing_over_keeps_it(void **state)
{
    (void)state;
    char *text = handed_over();
    assert_string_equal(text, "x");
    char *other = no_cleanup_ptr(text);
    assert_null(text);
    free(other);
}

static void descriptors_are_closed(void **state)
{
    (void)state;
    int closed, kept;
    {
        _cleanup_close_ int a = open("/dev/null", O_RDONLY);
        _cleanup_close_ int b = open("/dev/null", O_RDONLY);
        _cleanup_close_ int none = -1;
        assert_true(a >= 0 && b >= 0 && none < 0);
        closed = a;
        kept = no_cleanup_fd(b);
        assert_int_equal(b, -1);
    }
    errno = 0;
    assert_int_equal(fcntl(closed, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    assert_true(fcntl(kept, F_GETFD) >= 0);
    close(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_on_every_way_out),
        cmocka_unit_test(handing_over_keeps_it),
        cmocka_unit_test(descriptors_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/color.h"

#include <stdlib.h>

static void set(const char *never, const char *always)
{
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    if (never)
        setenv("NO_COLOR", never, 1);
    if (always)
        setenv("CLICOLOR_FORCE", always, 1);
}

static void environment_decides(void **state)
{
    (void)state;
    FILE *plain = tmpfile();
    assert_non_null(plain);
    set(NULL, NULL);
    assert_false(color_enabled(plain));
    set(NULL, "1");
    assert_true(color_enabled(plain));
    set(NULL, "0");
    assert_false(color_enabled(plain));
    set(NULL, "");
    assert_false(color_enabled(plain));
    set("1", "1");
    assert_false(color_enabled(plain));
    set("", "1");
    assert_true(color_enabled(plain));
    fclose(plain);
}

static void escapes_only_when_enabled(void **state)
{
    (void)state;
    assert_string_equal(color_start(false, COLOR_RED), "");
    assert_string_equal(color_end(false), "");
    assert_string_equal(color_start(true, COLOR_RED), "\033[31m");
    assert_string_equal(color_start(true, COLOR_CYAN), "\033[36m");
    assert_string_equal(color_end(true), "\033[0m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_decides),
        cmocka_unit_test(escapes_only_when_enabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

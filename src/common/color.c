// SPDX-License-Identifier: Apache-2.0
#include "common/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool color_enabled(FILE *stream)
{
    const char *never = getenv("NO_COLOR");
    if (never && *never)
        return false;
    const char *always = getenv("CLICOLOR_FORCE");
    if (always && *always && strcmp(always, "0") != 0)
        return true;
    const char *wanted = getenv("CLICOLOR");
    if (wanted && strcmp(wanted, "0") == 0)
        return false;
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *color_start(bool enabled, enum color color)
{
    static const char *const escapes[] = {
        [COLOR_BOLD] = "\033[1m",     [COLOR_DIM] = "\033[2m",     [COLOR_RED] = "\033[31m",
        [COLOR_GREEN] = "\033[32m",   [COLOR_YELLOW] = "\033[33m", [COLOR_BLUE] = "\033[34m",
        [COLOR_MAGENTA] = "\033[35m", [COLOR_CYAN] = "\033[36m",
    };
    return enabled ? escapes[color] : "";
}

const char *color_end(bool enabled)
{
    return enabled ? "\033[0m" : "";
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Colour in text output, by the usual rules: never with NO_COLOR (set and not empty), always
 * with CLICOLOR_FORCE (set, not empty and not 0), else when the stream is a terminal that is not
 * "dumb" and CLICOLOR is not 0.
 *
 *     bool color = color_enabled(stdout);
 *     printf("%s%s%s", color_start(color, COLOR_BOLD), function, color_end(color));
 */
#ifndef INQUEST_COMMON_COLOR_H
#define INQUEST_COMMON_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum color {
    COLOR_BOLD,
    COLOR_DIM,
    COLOR_RED,
    COLOR_GREEN,
    COLOR_YELLOW,
    COLOR_BLUE,
    COLOR_MAGENTA,
    COLOR_CYAN,
};

bool color_enabled(FILE *stream);

/* The escape sequence, or "" when not enabled. A static string. */
const char *color_start(bool enabled, enum color color);
const char *color_end(bool enabled);

#endif

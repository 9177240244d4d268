// SPDX-License-Identifier: Apache-2.0
// Names that nearly match.
#include <stdlib.h>
#include <string.h>

#include "ask/near.h"
#include "common/alloc.h"
#include "common/arena.h"
#include "common/cleanup.h"
#include "common/strbuf.h"

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Optimal string alignment: each place is changed at most once.
uint32_t edit_distance(const char *a, const char *b, uint32_t limit)
{
    size_t rows = strlen(a), columns = strlen(b);

    if ((rows > columns ? rows - columns : columns - rows) > limit)
        return limit + 1;
    _cleanup_free_ uint32_t *memory = xmalloc_array((columns + 1) * 3, sizeof(*memory));
    uint32_t *before = memory, *above = memory + columns + 1, *row = above + columns + 1;
    for (size_t j = 0; j <= columns; j++)
        before[j] = above[j] = (uint32_t)j;
    for (size_t i = 1; i <= rows; i++) {
        uint32_t best = row[0] = (uint32_t)i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
            best = least(best, row[j]);
        }
        if (best > limit)
            return limit + 1;
        uint32_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return least(above[columns], limit + 1);
}

void near_names_offer(struct near_names *near, const char *name, const char *candidate)
{
    uint32_t limit = 1 + (uint32_t)(strlen(name) / 4);
    uint32_t distance = edit_distance(name, candidate, limit), at = near->count;

    if (distance > limit)
        return;
    for (uint32_t i = 0; i < near->count; i++)
        if (strcmp(near->names[i], candidate) == 0)
            return;
    if (near->count < NEAR_NAMES)
        near->count++;
    else if (near->distances[--at] <= distance)
        return;
    for (; at > 0 && near->distances[at - 1] > distance; at--) {
        near->names[at] = near->names[at - 1];
        near->distances[at] = near->distances[at - 1];
    }
    near->names[at] = candidate;
    near->distances[at] = distance;
}

const char *near_names_text(const struct near_names *near, const char *suffix, struct arena *arena)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    for (uint32_t i = 0; i < near->count; i++) {
        const char *separator = i == 0 ? "; did you mean " : i + 1 == near->count ? " or " : ", ";
        strbuf_printf(&text, "%s'%s%s'", separator, near->names[i], suffix);
    }
    strbuf_append(&text, near->count ? "?" : "");
    return arena_strdup(arena, text.data);
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/evidence.h"

#include <stdlib.h>

#include "common/alloc.h"

struct evidence *evidence_create(void)
{
    struct evidence *evidence = xcalloc(1, sizeof(*evidence));
    arena_init(&evidence->arena);
    evidence->kind = "hand";
    return evidence;
}

void evidence_destroy(struct evidence *evidence)
{
    if (!evidence)
        return;
    arena_deinit(&evidence->arena);
    free(evidence);
}

// SPDX-License-Identifier: Apache-2.0
// Archives: members lie within the bytes, and have names.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/arena.h"
#include "program/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct archive archive;
    struct archive_member member;

    if (!archive_is(data, size))
        return 0;
    arena_init(&arena);
    archive_init(&archive, "some/lib.a", data, size);
    for (uint32_t count = 0; archive_next(&archive, &arena, &member); count++) {
        assert(member.number == count && member.name);
        assert(archive.thin ? member.path != NULL : member.data >= data);
        assert(archive.thin || member.size <= size - (size_t)(member.data - data));
    }
    arena_deinit(&arena);
    return 0;
}

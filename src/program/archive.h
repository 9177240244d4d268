// SPDX-License-Identifier: Apache-2.0
/*
 * Archives of object files (ar), thin ones too: the members one after another.
 *
 *     struct archive archive;
 *     struct archive_member member;
 *     archive_init(&archive, path, bytes.data, bytes.size);
 *     while (archive_next(&archive, &arena, &member))
 *             use(member.name, member.data, member.size);
 *     if (archive.damaged)
 *             ...
 *
 * The archive's own tables are not members. Names are in the arena, data is borrowed from the
 * bytes.
 */
#ifndef PROGRAM_ARCHIVE_H
#define PROGRAM_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct archive {
    const char *path;
    const unsigned char *data;
    size_t size;
    bool thin;         // members lie outside, as files
    bool damaged;      // the end was not found
    size_t at;         // of the next header
    uint32_t number;   // of the next member
    const char *names; // the member "//", or NULL
    size_t names_size;
};

struct archive_member {
    const char *name;
    uint32_t number;           // from 0
    const char *path;          // of a thin archive's member: its file; else NULL
    const unsigned char *data; // else its bytes
    size_t size;
};

bool archive_is(const void *data, size_t size);
// path is borrowed; archive_is() of these bytes.
void archive_init(struct archive *archive, const char *path, const unsigned char *data,
                  size_t size);
// False at the end, also where the archive is damaged.
bool archive_next(struct archive *archive, struct arena *arena, struct archive_member *ret);

#endif

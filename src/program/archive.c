// SPDX-License-Identifier: Apache-2.0
// ar(5) as GNU and LLVM write it, with BSD's long names. See archive.h.
#include "program/archive.h"

#include <ar.h>
#include <assert.h>
#include <string.h>

#include "common/arena.h"

#define THIN_MAGIC "!<thin>\n"
#define MAGIC_SIZE 8
#define BSD_NAME   "#1/" // the name stands before the contents

static bool has_magic(const void *data, size_t size, const char *magic)
{
    return size >= MAGIC_SIZE && memcmp(data, magic, MAGIC_SIZE) == 0;
}

bool archive_is(const void *data, size_t size)
{
    return has_magic(data, size, ARMAG) || has_magic(data, size, THIN_MAGIC);
}

void archive_init(struct archive *archive, const char *path, const unsigned char *data, size_t size)
{
    assert(archive_is(data, size));
    *archive = (struct archive){.path = path,
                                .data = data,
                                .size = size,
                                .thin = has_magic(data, size, THIN_MAGIC),
                                .at = MAGIC_SIZE};
}

// A decimal number in a field of blanks.
static bool field_number(const char *field, size_t width, size_t *ret)
{
    size_t value = 0, i = 0;

    for (; i < width && field[i] >= '0' && field[i] <= '9'; i++)
        value = value * 10 + (size_t)(field[i] - '0'); // at most 15 digits: no overflow
    *ret = value;
    return i > 0;
}

static bool is_name(const struct ar_hdr *header, const char *name)
{
    return memcmp(header->ar_name, name, strlen(name)) == 0;
}

static bool is_table(const struct ar_hdr *header)
{
    return is_name(header, "/ ") || is_name(header, "//") || is_name(header, "/SYM64/") ||
           is_name(header, "__.SYMDEF");
}

// The name in its field, or where that points to; NULL when malformed.
static const char *member_name(const struct archive *archive, struct arena *arena,
                               const struct ar_hdr *header)
{
    const char *name = header->ar_name;
    size_t room = sizeof(header->ar_name), at = 0;

    if (name[0] == '/') {
        if (!archive->names || !field_number(name + 1, room - 1, &at) || at >= archive->names_size)
            return NULL;
        name = archive->names + at;
        const char *end = memmem(name, archive->names_size - at, "/\n", 2);
        return end ? arena_strndup(arena, name, (size_t)(end - name)) : NULL;
    }
    const char *end = memchr(name, '/', room);
    for (at = end ? (size_t)(end - name) : room; !end && at > 0 && name[at - 1] == ' ';)
        at--;
    return arena_strndup(arena, name, at);
}

static const char *thin_path(const struct archive *archive, struct arena *arena, const char *name)
{
    const char *slash = strrchr(archive->path, '/');
    int directory = slash ? (int)(slash + 1 - archive->path) : 0;

    return *name == '/' ? name : arena_printf(arena, "%.*s%s", directory, archive->path, name);
}

// Where the contents begin with the name. False: malformed.
static bool take_bsd_name(struct arena *arena, const struct ar_hdr *header,
                          struct archive_member *member)
{
    size_t length = 0, digits = sizeof(header->ar_name) - strlen(BSD_NAME);

    if (!field_number(header->ar_name + strlen(BSD_NAME), digits, &length) || length > member->size)
        return false;
    member->name = arena_strndup(arena, (const char *)member->data, length);
    member->data += length;
    member->size -= length;
    return true;
}

// One header and what belongs to it. *ret_member: it is no table. False: malformed.
static bool read_member(struct archive *archive, struct arena *arena, struct archive_member *ret,
                        bool *ret_member)
{
    struct ar_hdr header;

    memcpy(&header, archive->data + archive->at, sizeof(header));
    archive->at += sizeof(header);
    *ret = (struct archive_member){.data = archive->data + archive->at, .number = archive->number};
    if (memcmp(header.ar_fmag, ARFMAG, 2) != 0 ||
        !field_number(header.ar_size, sizeof(header.ar_size), &ret->size))
        return false;
    *ret_member = !is_table(&header);
    bool inside = !*ret_member || !archive->thin;
    if (inside && ret->size > archive->size - archive->at)
        return false;
    if (inside)
        archive->at += ret->size + ret->size % 2;
    if (is_name(&header, "//")) {
        archive->names = (const char *)ret->data;
        archive->names_size = ret->size;
    }
    if (!*ret_member)
        return true;
    archive->number++;
    if (is_name(&header, BSD_NAME) && inside)
        return take_bsd_name(arena, &header, ret);
    ret->name = member_name(archive, arena, &header);
    if (archive->thin && ret->name) {
        ret->path = thin_path(archive, arena, ret->name);
        ret->data = NULL;
    }
    return ret->name != NULL;
}

bool archive_next(struct archive *archive, struct arena *arena, struct archive_member *ret)
{
    bool is_member = false;

    while (!archive->damaged && !is_member && archive->at <= archive->size &&
           archive->size - archive->at >= sizeof(struct ar_hdr))
        archive->damaged = !read_member(archive, arena, ret, &is_member);
    return is_member && !archive->damaged;
}

// SPDX-License-Identifier: Apache-2.0
// The image that this copy of the runtime was linked into: its build-id, from its own headers in
// memory, and its path, from the kernel's list of mappings.
#include "layout/suspects.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <elf.h>
#include <fcntl.h>

// Made by the linker, unless the headers are not loaded.
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));

static void copy(void *to, const void *from, size_t size)
{
    unsigned char *target = to;
    const unsigned char *source = from;

    while (size--)
        *target++ = *source++;
}

static uint32_t align_4(uint32_t size)
{
    return (size + 3) & ~3u;
}

static bool read_note(const char *note, const char *end, struct suspects_live *live)
{
    while ((size_t)(end - note) >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *header = (const void *)note;
        const char *name = note + sizeof(*header);
        const char *value = name + align_4(header->n_namesz);

        if (header->n_namesz > 256 || header->n_descsz > 65536)
            return false;
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && name[0] == 'G' &&
            name[1] == 'N' && name[2] == 'U') {
            live->build_id_length =
                header->n_descsz < SUSPECTS_BUILD_ID ? header->n_descsz : SUSPECTS_BUILD_ID;
            copy(live->build_id, value, live->build_id_length);
            return true;
        }
        note = value + align_4(header->n_descsz);
    }
    return false;
}

static void find_build_id(struct suspects_live *live)
{
    const Elf64_Ehdr *header = &__ehdr_start;
    const char *base = (const char *)header;
    const Elf64_Phdr *segments = (const void *)(base + header->e_phoff);
    uintptr_t bias = 0;

    // addresses in the headers count from where the first segment was meant to be
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
            bias = (uintptr_t)base - segments[i].p_vaddr;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const char *note = (const char *)(bias + segments[i].p_vaddr);

        if (segments[i].p_type == PT_NOTE && read_note(note, note + segments[i].p_memsz, live))
            return;
    }
}

// Reads /proc/self/maps by characters.
struct lines {
    int fd;
    size_t at, length;
    char buffer[1024];
};

static int next_character(struct lines *lines)
{
    if (lines->at == lines->length) {
        long got = system_call_3(SYS_read, lines->fd, (long)lines->buffer, sizeof(lines->buffer));

        if (got <= 0)
            return -1;
        lines->at = 0;
        lines->length = (size_t)got;
    }
    return (unsigned char)lines->buffer[lines->at++];
}

static uint64_t read_hex(struct lines *lines, int *ret_end)
{
    uint64_t value = 0;

    for (;;) {
        int c = next_character(lines), digit = c >= '0' && c <= '9'   ? c - '0'
                                               : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                                      : -1;
        if (digit < 0) {
            *ret_end = c;
            return value;
        }
        value = value << 4 | (uint64_t)digit;
    }
}

// START-END PERMISSIONS OFFSET DEVICE INODE PATH; false at the end of the list.
static bool read_mapping(struct lines *lines, uint64_t wanted, char *path, size_t room)
{
    int c;
    uint64_t start = read_hex(lines, &c);
    size_t length = 0;

    if (c < 0)
        return false;
    while (c != '/' && c != '\n' && c >= 0)
        c = next_character(lines);
    for (; c != '\n' && c >= 0; c = next_character(lines))
        if (start == wanted && length + 1 < room)
            path[length++] = (char)c;
    return start != wanted;
}

static void find_path(struct suspects_live *live)
{
    static const char maps[] = "/proc/self/maps";
    struct lines lines;

    lines.at = lines.length = 0;
    lines.fd = (int)system_call(SYS_openat, AT_FDCWD, (long)maps, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (lines.fd < 0)
        return;
    while (
        read_mapping(&lines, (uint64_t)(uintptr_t)&__ehdr_start, live->image, sizeof(live->image)))
        ;
    system_call_3(SYS_close, lines.fd, 0, 0);
}

void __inquest_image_describe(struct suspects_live *live)
{
    if (!&__ehdr_start)
        return;
    find_build_id(live);
    find_path(live);
}

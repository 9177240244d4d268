// SPDX-License-Identifier: Apache-2.0
#include "subject.h"

#include <assert.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/file.h"

void subject_add_region(struct subject *subject, size_t start, size_t size)
{
    size_t room = sizeof(subject->regions) / sizeof(subject->regions[0]);
    if (size == 0 || start >= subject->size || subject->region_count == room)
        return;
    if (size > subject->size - start)
        size = subject->size - start;
    subject->regions[subject->region_count++] = (struct subject_region){start, size};
}

// Headers and what they tell of, in the order of the file's tables.
static void find_regions(struct subject *subject)
{
    Elf64_Ehdr file;
    assert(subject->size >= sizeof(file));
    memcpy(&file, subject->data, sizeof(file));
    subject_add_region(subject, 0, subject->size);
    subject_add_region(subject, 0, sizeof(file));
    subject_add_region(subject, file.e_phoff, file.e_phnum * sizeof(Elf64_Phdr));
    subject_add_region(subject, file.e_shoff, file.e_shnum * sizeof(Elf64_Shdr));
    for (size_t i = 0; i < file.e_phnum; i++) {
        Elf64_Phdr header;
        memcpy(&header, subject->data + file.e_phoff + i * sizeof(header), sizeof(header));
        subject_add_region(subject, header.p_offset, header.p_filesz);
    }
    for (size_t i = 1; i < file.e_shnum; i++) {
        Elf64_Shdr header;
        memcpy(&header, subject->data + file.e_shoff + i * sizeof(header), sizeof(header));
        if (header.sh_type != SHT_NOBITS)
            subject_add_region(subject, header.sh_offset, header.sh_size);
    }
}

struct subject *subject_open(const char *argv0, const char *name)
{
    struct subject *subject = xcalloc(1, sizeof(*subject));
    const char *slash = strrchr(argv0, '/');
    char *folder = slash ? xstrndup(argv0, (size_t)(slash - argv0)) : xstrdup(".");
    subject->path = xasprintf("%s/seeds/%s", folder, name);
    free(folder);
    struct file_bytes bytes;
    struct error *err = file_read(subject->path, &bytes);
    if (err) {
        error_print(err);
        abort();
    }
    subject->data = (unsigned char *)bytes.data;
    subject->size = bytes.size;
    find_regions(subject);
    return subject;
}

static uint64_t interesting(const unsigned char *data, size_t size, uint8_t value)
{
    static const uint64_t numbers[] = {
        0,
        1,
        8,
        0x7f,
        0xff,
        0x1000,
        0x7fff,
        0xffff,
        0x10000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x10000000,
        0x100000000,
        INT64_MAX,
        UINT64_MAX,
        INT64_MIN,
        UINT64_MAX - 7,
        UINT64_MAX - 0xfff,
        0x400000,
    };
    size_t count = sizeof(numbers) / sizeof(numbers[0]);
    if (value < count)
        return numbers[value];
    uint64_t word; // one of the file's own, which may well be an address or an offset
    memcpy(&word, data + (size_t)value * 8 % (size - 8), sizeof(word));
    return word;
}

static void edit_word(unsigned char *data, size_t size, size_t at, uint8_t how, uint8_t value)
{
    size_t width = (size_t)1 << (1 + how % 3);
    at -= at % width;
    if (at + 8 > size)
        return;
    uint64_t word = interesting(data, size, value), old;
    memcpy(&old, data + at, sizeof(old));
    if (how & 8)
        word = old + (uint64_t)(int8_t)value;
    memcpy(data + at, &word, width);
}

unsigned char *subject_edit(const struct subject *subject, const uint8_t *data, size_t size,
                            size_t *ret_size)
{
    unsigned char *copy = xmemdup(subject->data, subject->size);
    size_t left = subject->size;
    for (; size >= SUBJECT_EDIT; data += SUBJECT_EDIT, size -= SUBJECT_EDIT) {
        const struct subject_region *region = &subject->regions[data[0] % subject->region_count];
        size_t at = (size_t)(data[1] | data[2] << 8);
        if (region->size > 0x10000)
            at = at * (region->size / 0x10000) + data[4];
        at = region->start + at % region->size;
        if (data[3] == 0xff)
            left = at;
        else if (data[3] & 1)
            edit_word(copy, subject->size, at, data[3] >> 1, data[4]);
        else if (data[3] & 2)
            copy[at] ^= (unsigned char)(1u << data[4] % 8);
        else
            copy[at] = data[4];
    }
    *ret_size = left;
    return copy;
}

const char *subject_file(const char *name, const void *data, size_t size)
{
    static struct {
        const char *name;
        int descriptor;
        char path[32];
    } files[4];
    size_t i = 0;
    while (files[i].name && files[i].name != name)
        i++;
    assert(i + 1 < sizeof(files) / sizeof(files[0]));
    if (!files[i].name) {
        files[i].name = name;
        files[i].descriptor = memfd_create(name, MFD_CLOEXEC);
        assert(files[i].descriptor >= 0);
        snprintf(files[i].path, sizeof(files[i].path), "/proc/self/fd/%d", files[i].descriptor);
    }
    if (ftruncate(files[i].descriptor, (off_t)size) != 0 ||
        pwrite(files[i].descriptor, data, size, 0) != (ssize_t)size)
        abort();
    return files[i].path;
}

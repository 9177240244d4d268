// SPDX-License-Identifier: Apache-2.0
/*
 * The core as a file: ELF header, program headers, notes, then the contents of the mappings on page
 * boundaries, in order of address. With 65,535 program headers or more their number stands in a
 * section header, as the System V ABI has it (PN_XNUM).
 */
#include "trace/core_write.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "trace/core_write_internal.h"

enum {
    CORE_CHUNK_PAGES = 256,
    CORE_CHUNK = CORE_CHUNK_PAGES * 4096,
};

/* One core in the making. */
struct core_writer {
    const struct core_request *request;
    int memory;
    int pagemap; /* -1: not to be had */
    struct core_mapping_vec mappings;
    struct strbuf notes;
    struct core_sink *sink;
    unsigned char *chunk;
    uint64_t unreadable;
};

static uint64_t page_align(uint64_t value)
{
    return (value + CORE_PAGE - 1) & -CORE_PAGE;
}

static Elf64_Ehdr header_build(size_t segments, uint64_t section_offset)
{
    bool many = segments >= PN_XNUM;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                    ELFOSABI_NONE},
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = many ? PN_XNUM : (Elf64_Half)segments,
    };
    if (many) {
        header.e_shoff = section_offset;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 1;
    }
    return header;
}

static struct error *write_segment_headers(struct core_writer *writer, uint64_t notes_offset,
                                           uint64_t data_offset)
{
    Elf64_Phdr note = {.p_type = PT_NOTE,
                       .p_offset = notes_offset,
                       .p_filesz = writer->notes.length,
                       .p_align = 4};
    struct error *err = core_sink_write(writer->sink, &note, sizeof(note));
    for (size_t i = 0; !err && i < writer->mappings.length; i++) {
        const struct core_mapping *mapping = &writer->mappings.data[i];
        Elf64_Phdr load = {.p_type = PT_LOAD,
                           .p_flags = mapping->flags,
                           .p_offset = data_offset,
                           .p_vaddr = mapping->start,
                           .p_filesz = mapping->dumped,
                           .p_memsz = mapping->end - mapping->start,
                           .p_align = CORE_PAGE};
        data_offset += mapping->dumped;
        err = core_sink_write(writer->sink, &load, sizeof(load));
    }
    return err;
}

static struct error *write_headers(struct core_writer *writer)
{
    size_t segments = writer->mappings.length + 1;
    uint64_t after = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
    Elf64_Ehdr header = header_build(segments, after);
    uint64_t notes = header.e_shnum ? after + sizeof(Elf64_Shdr) : after;
    struct error *err = core_sink_write(writer->sink, &header, sizeof(header));
    if (!err)
        err = write_segment_headers(writer, notes, page_align(notes + writer->notes.length));
    if (!err && header.e_shnum) {
        Elf64_Shdr section = {.sh_type = SHT_NULL, .sh_size = 1, .sh_info = (Elf64_Word)segments};
        err = core_sink_write(writer->sink, &section, sizeof(section));
    }
    if (!err)
        err = core_sink_write(writer->sink, writer->notes.data, writer->notes.length);
    uint64_t position = core_sink_position(writer->sink);
    return err ? err : core_sink_skip(writer->sink, page_align(position) - position);
}

static bool page_is_zero(const unsigned char *page)
{
    return page[0] == 0 && memcmp(page, page + 1, CORE_PAGE - 1) == 0;
}

/* A chunk that was read, with holes for its pages of zeros. */
static struct error *write_pages(struct core_writer *writer, size_t pages)
{
    for (size_t at = 0; at < pages;) {
        bool zero = page_is_zero(writer->chunk + at * CORE_PAGE);
        size_t end = at + 1;
        while (end < pages && page_is_zero(writer->chunk + end * CORE_PAGE) == zero)
            end++;
        uint64_t size = (end - at) * CORE_PAGE;
        struct error *err =
            zero ? core_sink_skip(writer->sink, size)
                 : core_sink_write(writer->sink, writer->chunk + at * CORE_PAGE, (size_t)size);
        if (err)
            return err;
        at = end;
    }
    return NULL;
}

/* Fills the chunk; a page that cannot be read becomes zeros and is counted. */
static void read_pages(struct core_writer *writer, uint64_t address, size_t pages)
{
    size_t size = pages * CORE_PAGE;
    size_t done = 0;
    while (done < size) {
        ssize_t length =
            pread(writer->memory, writer->chunk + done, size - done, (off_t)(address + done));
        if (length < 0 && errno == EINTR)
            continue;
        if (length > 0) {
            done += (size_t)length;
            continue;
        }
        size_t next = (done / CORE_PAGE + 1) * CORE_PAGE;
        memset(writer->chunk + done, 0, next - done);
        writer->unreadable += next - done;
        done = next;
    }
}

/* Whether some page of the chunk is in memory or swapped out, as pagemap (proc(5)) tells. */
static bool pages_exist(const struct core_writer *writer, uint64_t address, size_t pages)
{
    uint64_t entries[CORE_CHUNK_PAGES];
    size_t size = pages * sizeof(*entries);
    off_t at = (off_t)(address / CORE_PAGE * sizeof(*entries));
    if (writer->pagemap < 0 || pread(writer->pagemap, entries, size, at) != (ssize_t)size)
        return true;
    for (size_t i = 0; i < pages; i++) {
        if (entries[i] >> 62 != 0)
            return true;
    }
    return false;
}

static struct error *write_mapping(struct core_writer *writer, const struct core_mapping *mapping)
{
    for (uint64_t at = 0; at < mapping->dumped; at += CORE_CHUNK) {
        uint64_t left = mapping->dumped - at;
        size_t pages = (size_t)(left < CORE_CHUNK ? left / CORE_PAGE : CORE_CHUNK_PAGES);
        struct error *err;
        /* Only for anonymous memory does "not there" mean zeros; huge pages have other entries. */
        if (mapping->inode == 0 && !mapping->huge &&
            !pages_exist(writer, mapping->start + at, pages)) {
            err = core_sink_skip(writer->sink, pages * CORE_PAGE);
        } else {
            read_pages(writer, mapping->start + at, pages);
            err = write_pages(writer, pages);
        }
        if (err)
            return err;
    }
    return NULL;
}

static struct error *write_all(struct core_writer *writer, FILE *stream)
{
    writer->sink = core_sink_create(stream, writer->request->zstd);
    writer->chunk = xmalloc(CORE_CHUNK);
    struct error *err = write_headers(writer);
    for (size_t i = 0; !err && i < writer->mappings.length; i++)
        err = write_mapping(writer, &writer->mappings.data[i]);
    return err ? err : core_sink_finish(writer->sink);
}

static struct error *core_writer_init(struct core_writer *writer,
                                      const struct core_request *request)
{
    char path[64];
    *writer = (struct core_writer){.request = request, .pagemap = -1, .memory = -1};
    strbuf_init(&writer->notes);
    snprintf(path, sizeof(path), "/proc/%d/mem", request->pid);
    writer->memory = open(path, O_RDONLY | O_CLOEXEC);
    if (writer->memory < 0)
        return error_errno(errno, NULL, "cannot read the memory of process %d", request->pid);
    snprintf(path, sizeof(path), "/proc/%d/pagemap", request->pid);
    writer->pagemap = open(path, O_RDONLY | O_CLOEXEC);
    struct error *err = core_mappings_read(request->pid, writer->memory, &writer->mappings);
    return err ? err : core_notes_build(request, &writer->mappings, &writer->notes);
}

static void core_writer_deinit(struct core_writer *writer)
{
    core_sink_destroy(writer->sink);
    free(writer->chunk);
    strbuf_deinit(&writer->notes);
    core_mappings_deinit(&writer->mappings);
    if (writer->pagemap >= 0)
        close(writer->pagemap);
    if (writer->memory >= 0)
        close(writer->memory);
}

struct error *core_write(const struct core_request *request, const char *path,
                         struct core_written *ret)
{
    _cleanup_(core_writer_deinit) struct core_writer writer;
    struct error *err = core_writer_init(&writer, request);
    if (err)
        return err;
    struct file_writer file;
    err = file_writer_init(&file, path, 0600);
    if (err)
        return err;
    err = write_all(&writer, file.stream);
    struct core_written written = {
        .size = core_sink_position(writer.sink),
        .stored = core_sink_stored(writer.sink),
        .unreadable = writer.unreadable,
    };
    if (!err)
        err = file_writer_commit(&file);
    file_writer_deinit(&file);
    if (err)
        return error_in_file(err, path);
    *ret = written;
    return NULL;
}

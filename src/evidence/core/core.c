// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/core.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "evidence/core/core_internal.h"

/* What a decompressed core may take: of a file's, disk; of one given in memory, see fuzzing. */
#define CORE_LIMIT_FILE   (UINT64_C(1) << 40)
#define CORE_LIMIT_MEMORY (UINT64_C(1) << 28)

struct core_headers {
    Elf64_Ehdr file;
    uint64_t count;
};

static const char *core_machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386:
        return "i386";
    case EM_AARCH64:
        return "aarch64";
    case EM_ARM:
        return "arm";
    case EM_RISCV:
        return "riscv";
    case EM_PPC64:
        return "ppc64";
    case EM_S390:
        return "s390";
    default:
        return NULL;
    }
}

static struct error *core_check_machine(const struct core *core, const Elf64_Ehdr *header)
{
    bool wide = header->e_ident[EI_CLASS] == ELFCLASS64;
    bool little = header->e_ident[EI_DATA] == ELFDATA2LSB;
    if (wide && little && header->e_machine == EM_X86_64)
        return NULL;
    unsigned machine = header->e_machine; // at the same place in both classes
    if (!little)
        machine = machine >> 8 | (machine & 0xff) << 8;
    const char *name = core_machine_name(machine);
    if (name)
        return error_create_file(ERROR_UNSUPPORTED, core->path,
                                 "core of another architecture (%s), only x86-64 is read", name);
    return error_create_file(ERROR_UNSUPPORTED, core->path,
                             "core of another architecture (machine %u, %s), only x86-64 is read",
                             machine, wide ? "64 bits" : "32 bits");
}

static struct error *core_other_format(const struct core *core)
{
    if (core->size < 4 && memcmp(core->data, CORE_ZSTD_MAGIC, core->size) == 0)
        return error_create_file(ERROR_FORMAT, core->path,
                                 "truncated core: its compressed data ends at once");
    static const struct {
        const char *magic, *name;
    } compressed[] = {{"\x1f\x8b", "gzip"},
                      {"\xfd"
                       "7zXZ",
                       "xz"},
                      {"\x04\x22\x4d\x18", "lz4"},
                      {"BZh", "bzip2"}};
    for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
        size_t length = strlen(compressed[i].magic);
        if (core->size >= length && memcmp(core->data, compressed[i].magic, length) == 0)
            return error_create_file(ERROR_UNSUPPORTED, core->path,
                                     "core is compressed with %s, decompress it first",
                                     compressed[i].name);
    }
    return error_create_file(ERROR_FORMAT, core->path, "not a core dump, not even an ELF file");
}

static struct error *core_truncated_at_least(const struct core *core, uint64_t needed,
                                             const char *where)
{
    return error_create_file(ERROR_FORMAT, core->path,
                             "truncated core: it ends in %s, at least %" PRIu64 " of %" PRIu64
                             " bytes are missing",
                             where, needed - core->size, needed);
}

static struct error *core_read_header(const struct core *core, struct core_headers *ret)
{
    size_t magic = core->size < SELFMAG ? (size_t)core->size : SELFMAG;
    if (core->size == 0)
        return error_create_file(ERROR_FORMAT, core->path, "truncated core: it is empty");
    if (memcmp(core->data, ELFMAG, magic) != 0)
        return core_other_format(core);
    if (core->size < sizeof(ret->file))
        return core_truncated_at_least(core, sizeof(ret->file), "its ELF header");
    Elf64_Ehdr header;
    memcpy(&header, core->data, sizeof(header));
    unsigned type = header.e_type;
    if (header.e_ident[EI_DATA] == ELFDATA2MSB)
        type = type >> 8 | (type & 0xff) << 8;
    if (type != ET_CORE)
        return error_create_file(ERROR_FORMAT, core->path, "not a core dump but %s",
                                 type == ET_EXEC || type == ET_DYN ? "an executable or library"
                                                                   : "an ELF file of another kind");
    struct error *err = core_check_machine(core, &header);
    if (err)
        return err;
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        return error_create_file(ERROR_FORMAT, core->path, "malformed ELF header in the core");
    ret->file = header;
    ret->count = header.e_phnum;
    return NULL;
}

/* Linux, fs/binfmt_elf.c: with 0xffff or more program headers the count is in section header 0. */
static struct error *core_read_extended_count(const struct core *core, struct core_headers *headers)
{
    if (headers->count != PN_XNUM)
        return NULL;
    uint64_t at = headers->file.e_shoff;
    if (at > UINT64_MAX - sizeof(Elf64_Shdr))
        return error_create_file(ERROR_FORMAT, core->path, "malformed ELF header in the core");
    if (at + sizeof(Elf64_Shdr) > core->size)
        return core_truncated_at_least(core, at + sizeof(Elf64_Shdr), "front of its last header");
    Elf64_Shdr section;
    memcpy(&section, core->data + at, sizeof(section));
    headers->count = section.sh_info;
    return NULL;
}

static Elf64_Phdr core_program_header(const struct core *core, const struct core_headers *headers,
                                      uint64_t index)
{
    Elf64_Phdr header;
    memcpy(&header, core->data + headers->file.e_phoff + index * sizeof(header), sizeof(header));
    return header;
}

static struct error *core_check_size(const struct core *core, const struct core_headers *headers)
{
    uint64_t offset = headers->file.e_phoff;
    uint64_t table = headers->count * sizeof(Elf64_Phdr); // the count has 32 bits
    if (offset > UINT64_MAX - table)
        return error_create_file(ERROR_FORMAT, core->path, "malformed ELF header in the core");
    if (offset + table > core->size)
        return core_truncated_at_least(core, offset + table, "its program headers");
    uint64_t needed = 0;
    for (uint64_t i = 0; i < headers->count; i++) {
        Elf64_Phdr header = core_program_header(core, headers, i);
        uint64_t end;
        if (header.p_type == PT_NULL || header.p_filesz == 0)
            continue;
        if (__builtin_add_overflow(header.p_offset, header.p_filesz, &end))
            return error_create_at_offset(ERROR_FORMAT, core->path, offset + i * sizeof(Elf64_Phdr),
                                          "malformed program header in the core");
        if (end > needed)
            needed = end;
    }
    if (needed > core->size)
        return error_create_file(ERROR_FORMAT, core->path,
                                 "truncated core: %" PRIu64 " of %" PRIu64 " bytes are missing",
                                 needed - core->size, needed);
    return NULL;
}

static int core_compare_segments(const void *a, const void *b)
{
    const struct core_segment *x = a;
    const struct core_segment *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void core_add_segment(struct core *core, const Elf64_Phdr *header)
{
    uint64_t end;
    if (header->p_memsz == 0 || __builtin_add_overflow(header->p_vaddr, header->p_memsz, &end))
        return; // nothing can be there
    uint64_t dumped = header->p_filesz < header->p_memsz ? header->p_filesz : header->p_memsz;
    core_segment_vec_push(&core->segments, (struct core_segment){
                                               .start = header->p_vaddr,
                                               .end = end,
                                               .dumped = dumped,
                                               .offset = header->p_offset,
                                               .readable = header->p_flags & PF_R,
                                               .writable = header->p_flags & PF_W,
                                               .executable = header->p_flags & PF_X,
                                           });
}

static struct error *core_read_segments(struct core *core, const struct core_headers *headers)
{
    for (uint64_t i = 0; i < headers->count; i++) {
        Elf64_Phdr header = core_program_header(core, headers, i);
        if (header.p_type == PT_LOAD)
            core_add_segment(core, &header);
        if (header.p_type != PT_NOTE || header.p_filesz == 0)
            continue;
        struct error *err = core_read_notes(core, header.p_offset, header.p_filesz);
        if (err)
            return err;
    }
    if (core->segments.length)
        qsort(core->segments.data, core->segments.length, sizeof(core->segments.data[0]),
              core_compare_segments);
    return NULL;
}

static bool core_is_mapped_file(const struct core *core, const struct core_segment *segment)
{
    for (size_t i = 0; i < core->mappings.length; i++) {
        const struct core_mapping *mapping = &core->mappings.data[i];
        if (mapping->start < segment->end && segment->start < mapping->end)
            return true;
    }
    return false;
}

static bool core_find_private_memory(const struct core *core)
{
    for (size_t i = 0; i < core->segments.length; i++) {
        const struct core_segment *segment = &core->segments.data[i];
        if (segment->writable && segment->dumped && !core_is_mapped_file(core, segment))
            return true;
    }
    return false;
}

static struct error *core_parse(struct core *core)
{
    struct core_headers headers;
    struct error *err = core_read_header(core, &headers);
    if (!err)
        err = core_read_extended_count(core, &headers);
    if (!err)
        err = core_check_size(core, &headers);
    if (!err)
        err = core_read_segments(core, &headers);
    if (err)
        return err;
    if (core->threads.length == 0)
        return error_create_file(ERROR_FORMAT, core->path, "core without any thread");
    if (core->signal.number == 0 && !core->signal.has_details)
        core->signal.number = core->threads.data[0].signal;
    if (core->pid == 0)
        core->pid = core->threads.data[0].tid;
    core->has_private_memory = core_find_private_memory(core);
    return NULL;
}

static struct error *core_open_bytes(struct core *core, uint64_t limit)
{
    if (core_is_zstd(core->data, core->size)) {
        struct file_bytes plain = FILE_BYTES_INIT;
        struct error *err = core_decompress(core->path, core->data, core->size, limit, &plain);
        if (err)
            return err;
        file_bytes_deinit(&core->owned);
        core->owned = plain;
        core->data = plain.data;
        core->size = plain.size;
    }
    return core_parse(core);
}

struct error *core_open(const char *path, struct core **ret)
{
    struct core *core = xcalloc(1, sizeof(*core));
    core->path = xstrdup(path);
    struct error *err = file_map(path, &core->owned);
    if (!err) {
        core->data = core->owned.data;
        core->size = core->owned.size;
        err = core_open_bytes(core, CORE_LIMIT_FILE);
    }
    if (err) {
        core_destroy(core);
        return err;
    }
    *ret = core;
    return NULL;
}

struct error *core_open_memory(const void *data, size_t size, const char *name, struct core **ret)
{
    struct core *core = xcalloc(1, sizeof(*core));
    core->path = xstrdup(name);
    core->data = data;
    core->size = size;
    struct error *err = core_open_bytes(core, CORE_LIMIT_MEMORY);
    if (err) {
        core_destroy(core);
        return err;
    }
    *ret = core;
    return NULL;
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    core_segment_vec_deinit(&core->segments);
    core_thread_vec_deinit(&core->threads);
    core_mapping_vec_deinit(&core->mappings);
    core_auxv_vec_deinit(&core->auxv);
    arena_deinit(&core->arena);
    file_bytes_deinit(&core->owned);
    free(core->path);
    free(core);
}

const char *core_path(const struct core *core)
{
    return core->path;
}

size_t core_thread_count(const struct core *core)
{
    return core->threads.length;
}

const struct core_thread *core_thread_at(const struct core *core, size_t index)
{
    return core_thread_vec_at(&core->threads, index);
}

const struct core_signal *core_signal(const struct core *core)
{
    return &core->signal;
}

uint32_t core_pid(const struct core *core)
{
    return core->pid;
}

const char *core_program_name(const struct core *core)
{
    return core->program_name;
}

const char *core_command_line(const struct core *core)
{
    return core->command_line;
}

size_t core_mapping_count(const struct core *core)
{
    return core->mappings.length;
}

const struct core_mapping *core_mapping_at(const struct core *core, size_t index)
{
    return core_mapping_vec_at(&core->mappings, index);
}

size_t core_segment_count(const struct core *core)
{
    return core->segments.length;
}

const struct core_segment *core_segment_at(const struct core *core, size_t index)
{
    return core_segment_vec_at(&core->segments, index);
}

const struct core_segment *core_segment_of(const struct core *core, uint64_t address)
{
    size_t low = 0;
    size_t high = core->segments.length; // the first one that starts behind address
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (core->segments.data[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= core->segments.data[low - 1].end)
        return NULL;
    return &core->segments.data[low - 1];
}

bool core_auxv(const struct core *core, uint64_t type, uint64_t *ret)
{
    for (size_t i = 0; i < core->auxv.length; i++) {
        if (core->auxv.data[i].type == type) {
            *ret = core->auxv.data[i].value;
            return true;
        }
    }
    return false;
}

size_t core_read(const struct core *core, uint64_t address, void *buffer, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const struct core_segment *segment = core_segment_of(core, address + done);
        if (!segment)
            break;
        uint64_t skip = address + done - segment->start;
        if (skip >= segment->dumped)
            break;
        uint64_t left = segment->dumped - skip;
        size_t part = left < size - done ? (size_t)left : size - done;
        memcpy((unsigned char *)buffer + done, core->data + segment->offset + skip, part);
        done += part;
        if (address + done < address)
            break; // the end of the address space
    }
    return done;
}

bool core_has_private_memory(const struct core *core)
{
    return core->has_private_memory;
}

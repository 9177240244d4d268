#include "instrument/driver/references.h"

#include <ar.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "instrument/driver/arguments.h"
#include "layout/section.h"

#define ARCHIVE_MAGIC      "!<arch>\n"
#define ARCHIVE_THIN_MAGIC "!<thin>\n"
#define ARCHIVE_MAGIC_SIZE 8

void references_deinit(struct references *references)
{
    arguments_deinit(&references->symbols);
    name_set_deinit(&references->known);
}

static void add_opaque(struct references *references)
{
    references->modelless = true;
    references->opaque = true;
}

static void add_symbol(struct references *references, struct arena *arena, const char *name)
{
    if (name_set_get(&references->known, name))
        return;
    const char *kept = arena_strdup(arena, name);
    *name_set_put(&references->known, kept) = true;
    arguments_push(&references->symbols, kept);
}

/* ELF. */

static bool elf_has_section(Elf *elf, const char *wanted)
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

/* Whether the table could be read. */
static bool read_symbols(struct references *references, struct arena *arena, Elf *elf,
                         Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !header->sh_entsize)
        return false;
    int count = (int)(header->sh_size / header->sh_entsize);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, i, &symbol))
            return false;
        if (symbol.st_shndx != SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name)
            return false;
        if (*name && strcmp(name, "_GLOBAL_OFFSET_TABLE_") != 0) /* the linker's own */
            add_symbol(references, arena, name);
    }
    return true;
}

static void read_elf(struct references *references, struct arena *arena, Elf *elf)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header)) {
        add_opaque(references);
        return;
    }
    /* What a shared library refers to is found in the symbols that the output exports. */
    if (header.e_type != ET_REL || elf_has_section(elf, SECTION_MODEL))
        return;
    references->modelless = true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr table;
        if (!gelf_getshdr(section, &table) ||
            (table.sh_type == SHT_SYMTAB && !read_symbols(references, arena, elf, section, &table)))
            add_opaque(references);
    }
}

/* LLVM bitcode, the objects of -flto. */

static bool is_bitcode(const unsigned char *data, size_t size)
{
    return size >= 4 &&
           (memcmp(data, "BC\xc0\xde", 4) == 0 || memcmp(data, "\xde\xc0\x17\x0b", 4) == 0);
}

#define BITS_PER_CHARACTER 12

/*
 * Whether the section's name occurs in bitcode. The module's inline assembly, and the section of a
 * global, are stored as records without abbreviation: every character in two chunks of six bits,
 * (low five bits, continued) and (the rest), the first bit lowest, at any bit of the file. For each
 * of the eight shifts the whole bytes of that pattern are looked for.
 */
static bool bitcode_has_section(const unsigned char *data, size_t size, const char *name)
{
    size_t bits = strlen(name) * BITS_PER_CHARACTER;
    unsigned char pattern[64];
    assert(bits / 8 + 2 <= sizeof(pattern));
    for (unsigned shift = 0; shift < 8; shift++) {
        memset(pattern, 0, sizeof(pattern));
        for (size_t i = 0; i < bits; i++) {
            unsigned character = (unsigned char)name[i / BITS_PER_CHARACTER];
            unsigned coded = (character & 31) | 32 | character >> 5 << 6;
            if (coded >> i % BITS_PER_CHARACTER & 1)
                pattern[(i + shift) / 8] |= (unsigned char)(1u << (i + shift) % 8);
        }
        size_t first = shift ? 1 : 0;
        if (memmem(data, size, pattern + first, (bits + shift) / 8 - first))
            return true;
    }
    return false;
}

void references_read_bytes(struct references *references, struct arena *arena,
                           const unsigned char *data, size_t size)
{
    if (is_bitcode(data, size)) {
        if (!bitcode_has_section(data, size, SECTION_MODEL))
            add_opaque(references);
        return;
    }
    if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0) {
        references->text = true;
        return;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)data, size); /* only read */
    if (elf)
        read_elf(references, arena, elf);
    else
        add_opaque(references);
    elf_end(elf);
}

/* Archives. */

struct archive {
    const char *path;
    const unsigned char *data;
    size_t size;
    bool thin;
    const char *names; /* the member "//", or NULL */
    size_t names_size;
};

static bool is_archive(const struct file_bytes *bytes, const char *magic)
{
    return bytes->size >= ARCHIVE_MAGIC_SIZE && memcmp(bytes->data, magic, ARCHIVE_MAGIC_SIZE) == 0;
}

/* A decimal number in a field of blanks. */
static bool field_number(const char *field, size_t width, size_t *ret)
{
    size_t value = 0;
    size_t i = 0;
    for (; i < width && field[i] >= '0' && field[i] <= '9'; i++)
        value = value * 10 + (size_t)(field[i] - '0'); /* at most 15 digits: no overflow */
    *ret = value;
    return i > 0;
}

/* The path of a member that lies outside of a thin archive, in the arena; NULL when malformed. */
static const char *thin_member_path(const struct archive *archive, struct arena *arena,
                                    const struct ar_hdr *header)
{
    const char *name = header->ar_name;
    const char *end = memchr(name, '/', sizeof(header->ar_name));
    if (name[0] == '/') {
        size_t at = 0;
        if (!archive->names || !field_number(name + 1, sizeof(header->ar_name) - 1, &at) ||
            at >= archive->names_size)
            return NULL;
        name = archive->names + at;
        end = memmem(name, archive->names_size - at, "/\n", 2);
    }
    if (!end)
        return NULL;
    const char *file = arena_strndup(arena, name, (size_t)(end - name));
    int directory = (int)(path_name(archive->path) - archive->path);
    return *file == '/' ? file : arena_printf(arena, "%.*s%s", directory, archive->path, file);
}

static void read_thin_member(struct references *references, struct arena *arena,
                             const struct archive *archive, const struct ar_hdr *header)
{
    const char *path = thin_member_path(archive, arena, header);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = path ? file_map(path, &bytes) : NULL;
    if (!path || err || is_archive(&bytes, ARCHIVE_MAGIC) || is_archive(&bytes, ARCHIVE_THIN_MAGIC))
        add_opaque(references);
    else
        references_read_bytes(references, arena, bytes.data, bytes.size);
    error_destroy(err);
}

/* Whether the member is not a file but the archive's own table. */
static bool is_table(const struct ar_hdr *header)
{
    return memcmp(header->ar_name, "/ ", 2) == 0 || memcmp(header->ar_name, "//", 2) == 0 ||
           memcmp(header->ar_name, "/SYM64/", 7) == 0;
}

static void read_archive(struct references *references, struct arena *arena,
                         struct archive *archive)
{
    size_t at = ARCHIVE_MAGIC_SIZE;
    while (archive->size - at >= sizeof(struct ar_hdr)) {
        struct ar_hdr header;
        memcpy(&header, archive->data + at, sizeof(header));
        at += sizeof(header);
        size_t size = 0;
        if (memcmp(header.ar_fmag, ARFMAG, 2) != 0 ||
            !field_number(header.ar_size, sizeof(header.ar_size), &size)) {
            add_opaque(references);
            return;
        }
        bool table = is_table(&header);
        bool inside = table || !archive->thin;
        if (inside && size > archive->size - at) {
            add_opaque(references);
            return;
        }
        if (memcmp(header.ar_name, "//", 2) == 0) {
            archive->names = (const char *)archive->data + at;
            archive->names_size = size;
        } else if (!inside) {
            read_thin_member(references, arena, archive, &header);
        } else if (!table) {
            references_read_bytes(references, arena, archive->data + at, size);
        }
        if (inside)
            at += size + size % 2;
        if (at > archive->size)
            return;
    }
}

void references_read(struct references *references, struct arena *arena, const char *path)
{
    if (access(path, F_OK) != 0)
        return;
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);
    if (err) {
        error_destroy(err);
        add_opaque(references);
        return;
    }
    bool thin = is_archive(&bytes, ARCHIVE_THIN_MAGIC);
    if (thin || is_archive(&bytes, ARCHIVE_MAGIC)) {
        struct archive archive = {path, bytes.data, bytes.size, thin, NULL, 0};
        read_archive(references, arena, &archive);
        references->text = false; /* members that are no objects are not linked */
    } else {
        references_read_bytes(references, arena, bytes.data, bytes.size);
    }
}

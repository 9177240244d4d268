#include "instrument/driver/object.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "instrument/driver/object_bitcode.h"
#include "layout/section.h"
#include "program/image_build_id.h"

void object_deinit(struct object *object)
{
    link_ids_deinit(&object->content.models);
    link_ids_deinit(&object->content.records);
    arguments_deinit(&object->undefined);
    arguments_deinit(&object->defined);
    arguments_deinit(&object->wanted);
    arguments_deinit(&object->needed);
    arguments_deinit(&object->search);
}

static void set_opaque(struct object *object)
{
    object->modelless = true;
    object->opaque = true;
}

/* One ELF file while it is read. */
struct reader {
    struct object *object;
    struct arena *arena;
    Elf *elf;
    size_t names; /* the section with the names of sections */
    bool failed;  /* something could not be read */
};

static const char *section_name(const struct reader *reader, const GElf_Shdr *header)
{
    const char *name = elf_strptr(reader->elf, reader->names, header->sh_name);
    return name ? name : "";
}

/* Sections of ours. */

/* One frame; what it takes up, or 0 where it is none. */
static size_t read_frame(struct reader *reader, const unsigned char *bytes, size_t size)
{
    struct section_header header;
    struct section_module module;
    if (size < sizeof(header))
        return 0;
    memcpy(&header, bytes, sizeof(header));
    if (memcmp(header.magic, SECTION_MAGIC, sizeof(header.magic)) != 0 ||
        header.payload_length > size - sizeof(header))
        return 0;
    struct link_content *content = &reader->object->content;
    if (header.version != SECTION_VERSION) {
        reader->object->outdated = true;
    } else if (header.kind == SECTION_KIND_LINK) {
        link_ids_push(&content->records, header.payload_hash);
    } else if (header.kind == SECTION_KIND_MODULE && header.payload_length >= sizeof(module)) {
        memcpy(&module, bytes + sizeof(header), sizeof(module));
        link_ids_push(&content->models, module.module_id);
    }
    return sizeof(header) + header.payload_length;
}

/* Hashes are left to the reader of the output. */
static void read_frames(struct reader *reader, Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    const unsigned char *bytes = data ? data->d_buf : NULL;
    for (size_t at = 0; bytes && at < data->d_size;) {
        static const unsigned char zeros[SECTION_ALIGN];
        size_t left = data->d_size - at;
        size_t step = left < SECTION_ALIGN ? left : SECTION_ALIGN;
        if (memcmp(bytes + at, zeros, step) != 0) {
            step = read_frame(reader, bytes + at, left);
            step += -step % SECTION_ALIGN;
        }
        if (step == 0) {
            reader->failed = true;
            return;
        }
        at += step;
    }
}

/* Symbols. */

/* A version (NAME@VERSION, NAME@@VERSION) is left off: the linker looks for the name. */
static const char *plain_name(struct arena *arena, const char *name)
{
    return arena_strndup(arena, name, strcspn(name, "@"));
}

static void read_symbol(struct reader *reader, const GElf_Sym *symbol, const char *name,
                        struct arguments *strong)
{
    struct object *object = reader->object;
    unsigned binding = GELF_ST_BIND(symbol->st_info);
    bool undefined = symbol->st_shndx == SHN_UNDEF;
    if (!*name || (binding == STB_LOCAL && !undefined))
        return;
    const char *kept = plain_name(reader->arena, name);
    if ((undefined || symbol->st_shndx == SHN_COMMON) && binding != STB_WEAK)
        arguments_push(&object->wanted, kept);
    if (!undefined)
        arguments_push(&object->defined, kept);
    if (object->kind == OBJECT_SHARED)
        return;
    bool common = symbol->st_shndx == SHN_COMMON;
    if (!undefined && !common && binding == STB_GLOBAL && !has_prefix(name, "__inquest"))
        arguments_push(strong, kept);
    /* `_GLOBAL_OFFSET_TABLE_` is the linker's own. */
    if (undefined ? strcmp(name, "_GLOBAL_OFFSET_TABLE_") != 0 : object->altered)
        arguments_push(&object->undefined, kept);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void hash_symbols(struct link_content *content, struct arguments *strong)
{
    if (strong->length)
        qsort(strong->data, strong->length, sizeof(*strong->data), compare_strings);
    content->symbols = HASH_SEED;
    for (size_t i = 0; i < strong->length; i++)
        content->symbols = hash_string(hash_string(content->symbols, strong->data[i]), "\n");
    content->has_symbols = true;
}

static void read_symbols(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
    _cleanup_arguments_ struct arguments strong = VEC_INIT;
    Elf_Data *data = elf_getdata(section, NULL);
    reader->failed |= !data || !header->sh_entsize;
    int count = reader->failed ? 0 : (int)(header->sh_size / header->sh_entsize);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, i, &symbol)
                               ? elf_strptr(reader->elf, header->sh_link, symbol.st_name)
                               : NULL;
        if (!name) {
            reader->failed = true;
            return;
        }
        read_symbol(reader, &symbol, name, &strong);
    }
    if (reader->object->content.models.length)
        hash_symbols(&reader->object->content, &strong);
}

/* Shared libraries. */

static void split_search(struct reader *reader, const char *paths)
{
    for (size_t length; *paths; paths += length + (paths[length] == ':')) {
        length = strcspn(paths, ":");
        if (length)
            arguments_push(&reader->object->search, arena_strndup(reader->arena, paths, length));
    }
}

static void read_dynamic(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
    struct object *object = reader->object;
    Elf_Data *data = elf_getdata(section, NULL);
    int count = data && header->sh_entsize ? (int)(header->sh_size / header->sh_entsize) : 0;
    for (int i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL)
            return;
        const char *text = elf_strptr(reader->elf, header->sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_SONAME && text)
            object->soname = arena_strdup(reader->arena, text);
        else if (entry.d_tag == DT_NEEDED && text)
            arguments_push(&object->needed, arena_strdup(reader->arena, text));
        else if ((entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) && text)
            split_search(reader, text);
    }
}

static const char *read_build_id(struct arena *arena, Elf *elf)
{
    _cleanup_free_ char *text = elf_build_id_text(elf);
    return text ? arena_strdup(arena, text) : NULL;
}

/* All of it. */

static void read_section(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
    struct object *object = reader->object;
    bool shared = object->kind == OBJECT_SHARED;
    if (header->sh_type == (shared ? SHT_DYNSYM : SHT_SYMTAB))
        read_symbols(reader, section, header);
    else if (shared && header->sh_type == SHT_DYNAMIC)
        read_dynamic(reader, section, header);
}

static void read_own_section(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
    const char *name = section_name(reader, header);
    if (header->sh_type == SHT_PROGBITS &&
        (strcmp(name, SECTION_MODEL) == 0 ||
         (reader->object->kind == OBJECT_CODE && strcmp(name, SECTION_LINK) == 0)))
        read_frames(reader, section);
}

static void each_section(struct reader *reader,
                         void (*read)(struct reader *, Elf_Scn *, const GElf_Shdr *))
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(reader->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header))
            read(reader, section, &header);
        else
            reader->failed = true;
    }
}

/* As clang's own assembler lays files out. */
static bool is_from_compiler(const struct reader *reader)
{
    GElf_Shdr header;
    Elf_Scn *first = elf_getscn(reader->elf, 1);
    return reader->names == 1 && first && gelf_getshdr(first, &header) &&
           strcmp(section_name(reader, &header), ".strtab") == 0;
}

static void read_elf(struct reader *reader)
{
    struct object *object = reader->object;
    GElf_Ehdr header;
    if (!gelf_getehdr(reader->elf, &header) ||
        elf_getshdrstrndx(reader->elf, &reader->names) != 0) {
        object->kind = OBJECT_CODE;
        set_opaque(object);
        return;
    }
    object->kind = header.e_type == ET_REL ? OBJECT_CODE : OBJECT_SHARED;
    each_section(reader, read_own_section);
    bool modelled = object->content.models.length > 0 || object->outdated;
    object->altered = object->kind == OBJECT_CODE && modelled && !object->content.records.length &&
                      !is_from_compiler(reader);
    /* What a shared library refers to is found in the symbols that the output exports. */
    object->modelless = object->kind == OBJECT_CODE && (!modelled || object->altered);
    each_section(reader, read_section);
    if (object->kind == OBJECT_SHARED)
        object->build_id = read_build_id(reader->arena, reader->elf);
    if (!object->modelless)
        arguments_clear(&object->undefined);
    if (reader->failed && object->kind == OBJECT_CODE)
        set_opaque(object);
}

void object_read(struct object *object, struct arena *arena, const unsigned char *data, size_t size)
{
    if (bitcode_is(data, size)) {
        object->kind = OBJECT_BITCODE;
        bitcode_read_modules(data, size, &object->content.models, &object->outdated);
        if (!object->content.models.length && !object->outdated)
            set_opaque(object);
        return;
    }
    if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
        return;
    elf_version(EV_CURRENT);
    struct reader reader = {.object = object, .arena = arena};
    reader.elf = elf_memory((char *)data, size); /* only read */
    if (reader.elf) {
        read_elf(&reader);
    } else {
        object->kind = OBJECT_CODE;
        set_opaque(object);
    }
    elf_end(reader.elf);
}

const char *object_build_id(struct arena *arena, const unsigned char *data, size_t size)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)data, size); /* only read */
    const char *build_id = elf ? read_build_id(arena, elf) : NULL;
    elf_end(elf);
    return build_id;
}

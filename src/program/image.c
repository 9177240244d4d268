// SPDX-License-Identifier: Apache-2.0
// ELF files through libelf: sections of ours, symbols, dynamic section. See image.h.
#include "program/image.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/vec.h"
#include "program/image_private.h"

VEC_DEFINE(symbol_vec, struct image_symbol);
VEC_DEFINE(entry_vec, struct image_entry);
VEC_DEFINE(name_vec, const char *);

// ---- Opening

struct error *elf_file_open(const char *path, struct elf_file *ret)
{
    // never wait for a pipe
    struct elf_file file = {.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status;
    GElf_Ehdr header;

    if (file.descriptor < 0)
        return error_errno(errno, path, "cannot open");
    if (fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        elf_file_close(&file);
        return error_create_file(ERROR_FORMAT, path, "not an ELF file, not even a regular file");
    }
    elf_version(EV_CURRENT);
    file.elf = elf_begin(file.descriptor, ELF_C_READ_MMAP, NULL);
    struct error *err = NULL;
    if (!file.elf || elf_kind(file.elf) != ELF_K_ELF || !gelf_getehdr(file.elf, &header))
        err = error_create_file(ERROR_FORMAT, path, "not an ELF file");
    else if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
             header.e_machine != EM_X86_64)
        err = error_create_file(ERROR_UNSUPPORTED, path,
                                "made for another architecture (ELF machine %u), not x86-64",
                                header.e_machine);
    else if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        err = error_create_file(ERROR_FORMAT, path,
                                "neither an executable nor a shared library (ELF type %u)",
                                header.e_type);
    if (err) {
        elf_file_close(&file);
        return err;
    }
    *ret = file;
    return NULL;
}

void elf_file_close(struct elf_file *file)
{
    if (file->elf)
        elf_end(file->elf);
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = ELF_FILE_INIT;
}

// The section headers, checked against the file's size: a truncated file is found here.
static struct error *check_sections(const char *path, Elf *elf)
{
    size_t size, count, names;
    GElf_Ehdr file;

    // libelf takes a table that lies behind the end for none
    elf_rawfile(elf, &size);
    if (!gelf_getehdr(elf, &file) || file.e_shoff > size ||
        (uint64_t)file.e_shnum * file.e_shentsize > size - file.e_shoff ||
        elf_getshdrnum(elf, &count) != 0 || elf_getshdrstrndx(elf, &names) != 0)
        return error_create_file(ERROR_FORMAT, path, "truncated: section headers are missing");
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(elf, i);
        if (!section || !gelf_getshdr(section, &header))
            return error_create_file(ERROR_FORMAT, path, "truncated: section headers are missing");
        if (header.sh_type != SHT_NOBITS &&
            (header.sh_offset > size || header.sh_size > size - header.sh_offset))
            return error_create_at_offset(ERROR_FORMAT, path, header.sh_offset,
                                          "truncated: section %zu lies behind the end", i);
    }
    return NULL;
}

Elf_Scn *elf_file_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *text = NULL;
        if (gelf_getshdr(section, ret))
            text = elf_strptr(elf, names, ret->sh_name);
        if (text && strcmp(text, name) == 0 && ret->sh_type != SHT_NOBITS)
            return section;
    }
    return NULL;
}

static Elf_Scn *section_of_type(Elf *elf, unsigned type, GElf_Shdr *ret)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, ret) && ret->sh_type == type)
            return section;
    return NULL;
}

// ---- Symbols

static uint32_t symbol_flags(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    uint32_t flags = 0;

    if (symbol->st_shndx != SHN_UNDEF)
        flags |= IMAGE_SYMBOL_DEFINED;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        flags |= IMAGE_SYMBOL_FUNCTION;
    if (type == STT_GNU_IFUNC)
        flags |= IMAGE_SYMBOL_IFUNC;
    if (binding == STB_WEAK)
        flags |= IMAGE_SYMBOL_WEAK;
    if (binding == STB_LOCAL)
        flags |= IMAGE_SYMBOL_LOCAL;
    return flags;
}

static void read_symbols(struct arena *arena, Elf *elf, unsigned type, struct symbol_vec *symbols)
{
    GElf_Shdr header;
    Elf_Scn *section = section_of_type(elf, type, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

    if (!data || header.sh_entsize == 0)
        return;
    size_t count = header.sh_size / header.sh_entsize;
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        unsigned kind = GELF_ST_TYPE(symbol.st_info);
        if (!name || !*name || kind == STT_SECTION || kind == STT_FILE)
            continue;
        symbol_vec_push(symbols, (struct image_symbol){.name = arena_strdup(arena, name),
                                                       .address = symbol.st_value,
                                                       .size = symbol.st_size,
                                                       .flags = symbol_flags(&symbol)});
    }
}

static int by_name(const void *a, const void *b)
{
    const struct image_symbol *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order)
        return order;
    return (int)(y->flags & IMAGE_SYMBOL_DEFINED) - (int)(x->flags & IMAGE_SYMBOL_DEFINED);
}

static int by_address(const void *a, const void *b)
{
    const struct image_symbol *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

static struct image_symbol *sorted(struct symbol_vec *symbols, uint32_t *ret_count,
                                   int (*compare)(const void *, const void *))
{
    if (symbols->length)
        qsort(symbols->data, symbols->length, sizeof(*symbols->data), compare);
    *ret_count = (uint32_t)symbols->length;
    return symbol_vec_steal(symbols);
}

const struct image_symbol *image_dynamic(const struct image *image, const char *name)
{
    size_t low = 0, high = image->dynamic_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(image->dynamic[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < image->dynamic_count && strcmp(image->dynamic[low].name, name) == 0)
        return &image->dynamic[low];
    return NULL;
}

uint32_t image_symbols_at(const struct image *image, uint64_t address,
                          const struct image_symbol **ret)
{
    size_t low = 0, high = image->symbol_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    *ret = image->symbols ? image->symbols + low : NULL;
    uint32_t count = 0;
    while (low + count < image->symbol_count && image->symbols[low + count].address == address)
        count++;
    return count;
}

// ---- Dynamic section and entry points

// The bytes of the file that are loaded at this address; NULL when they are not in the file.
static const unsigned char *bytes_at(Elf *elf, uint64_t address, uint64_t size)
{
    size_t file_size, count = 0;
    const char *file = elf_rawfile(elf, &file_size);

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz ||
            size > segment.p_filesz - (address - segment.p_vaddr))
            continue;
        uint64_t offset = segment.p_offset + (address - segment.p_vaddr);
        if (offset <= file_size && size <= file_size - offset)
            return (const unsigned char *)file + offset;
    }
    return NULL;
}

static void add_entry(struct entry_vec *entries, uint64_t address, enum image_entry_kind kind)
{
    if (address && address != UINT64_MAX)
        entry_vec_push(entries, (struct image_entry){address, kind});
}

// An array of function pointers. In position-independent images the words may be 0 and the values
// in relative relocations; those are read by add_relocations.
static void add_array(Elf *elf, struct entry_vec *entries, uint64_t address, uint64_t size,
                      enum image_entry_kind kind)
{
    const unsigned char *bytes = address ? bytes_at(elf, address, size) : NULL;

    for (uint64_t i = 0; bytes && i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        add_entry(entries, word, kind);
    }
}

struct dynamic {
    uint64_t init, fini, arrays[3], sizes[3]; // preinit, init, fini
};

static const enum image_entry_kind array_kinds[3] = {
    IMAGE_ENTRY_CONSTRUCTOR, IMAGE_ENTRY_CONSTRUCTOR, IMAGE_ENTRY_DESTRUCTOR};

static void add_relocation(struct entry_vec *entries, const struct dynamic *dynamic,
                           const GElf_Rela *relocation)
{
    unsigned type = GELF_R_TYPE(relocation->r_info);
    uint64_t value = (uint64_t)relocation->r_addend;

    if (type == R_X86_64_IRELATIVE)
        add_entry(entries, value, IMAGE_ENTRY_RESOLVER);
    for (int i = 0; type == R_X86_64_RELATIVE && i < 3; i++)
        if (relocation->r_offset >= dynamic->arrays[i] &&
            relocation->r_offset - dynamic->arrays[i] < dynamic->sizes[i])
            add_entry(entries, value, array_kinds[i]);
}

static void add_relocations(Elf *elf, const struct dynamic *dynamic, struct entry_vec *entries)
{
    GElf_Shdr header;

    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
            !(header.sh_flags & SHF_ALLOC) || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && i < header.sh_size / header.sh_entsize && i < INT32_MAX; i++) {
            GElf_Rela relocation;
            if (!gelf_getrela(data, (int)i, &relocation))
                break;
            add_relocation(entries, dynamic, &relocation);
        }
    }
}

static void split_paths(struct arena *arena, const char *paths, struct name_vec *search)
{
    while (*paths) {
        size_t length = strcspn(paths, ":");
        if (length)
            name_vec_push(search, arena_strndup(arena, paths, length));
        paths += length + (paths[length] == ':');
    }
}

static void read_dynamic_entry(struct image *image, const GElf_Dyn *entry, const char *string,
                               struct dynamic *dynamic, struct name_vec *needed,
                               struct name_vec *search)
{
    struct arena *arena = &image->private->arena;

    switch (entry->d_tag) {
    case DT_NEEDED:
        if (string)
            name_vec_push(needed, arena_strdup(arena, string));
        break;
    case DT_SONAME:
        if (string)
            image->soname = arena_strdup(arena, string);
        break;
    case DT_RPATH:
    case DT_RUNPATH:
        if (string)
            split_paths(arena, string, search);
        break;
    case DT_INIT:
        dynamic->init = entry->d_un.d_ptr;
        break;
    case DT_FINI:
        dynamic->fini = entry->d_un.d_ptr;
        break;
    case DT_PREINIT_ARRAY:
        dynamic->arrays[0] = entry->d_un.d_ptr;
        break;
    case DT_PREINIT_ARRAYSZ:
        dynamic->sizes[0] = entry->d_un.d_val;
        break;
    case DT_INIT_ARRAY:
        dynamic->arrays[1] = entry->d_un.d_ptr;
        break;
    case DT_INIT_ARRAYSZ:
        dynamic->sizes[1] = entry->d_un.d_val;
        break;
    case DT_FINI_ARRAY:
        dynamic->arrays[2] = entry->d_un.d_ptr;
        break;
    case DT_FINI_ARRAYSZ:
        dynamic->sizes[2] = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

// Arrays of a static executable have no dynamic section: by name.
static void static_arrays(Elf *elf, struct dynamic *dynamic)
{
    static const char *const names[3] = {".preinit_array", ".init_array", ".fini_array"};
    GElf_Shdr header;

    for (int i = 0; i < 3; i++)
        if (!dynamic->arrays[i] && elf_file_section(elf, names[i], &header)) {
            dynamic->arrays[i] = header.sh_addr;
            dynamic->sizes[i] = header.sh_size;
        }
}

static void read_dynamic(struct image *image, Elf *elf)
{
    struct dynamic dynamic = {0};
    struct name_vec needed = VEC_INIT, search = VEC_INIT;
    struct entry_vec entries = VEC_INIT;
    GElf_Shdr header;
    GElf_Ehdr file;
    Elf_Scn *section = section_of_type(elf, SHT_DYNAMIC, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

    for (size_t i = 0; data && header.sh_entsize && i < header.sh_size / header.sh_entsize; i++) {
        GElf_Dyn entry;
        if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag == DT_NULL)
            break;
        bool is_string = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                         entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        const char *string = is_string ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
        read_dynamic_entry(image, &entry, string, &dynamic, &needed, &search);
    }
    static_arrays(elf, &dynamic);
    if (gelf_getehdr(elf, &file))
        add_entry(&entries, file.e_entry, IMAGE_ENTRY_START);
    add_entry(&entries, dynamic.init, IMAGE_ENTRY_CONSTRUCTOR);
    add_entry(&entries, dynamic.fini, IMAGE_ENTRY_DESTRUCTOR);
    for (int i = 0; i < 3; i++)
        add_array(elf, &entries, dynamic.arrays[i], dynamic.sizes[i], array_kinds[i]);
    add_relocations(elf, &dynamic, &entries);
    image->is_static = needed.length == 0;
    image->needed_count = (uint32_t)needed.length;
    image->needed = name_vec_steal(&needed);
    image->search_count = (uint32_t)search.length;
    image->search = name_vec_steal(&search);
    image->entry_count = (uint32_t)entries.length;
    image->entries = entry_vec_steal(&entries);
}

static void read_kind(struct image *image, Elf *elf)
{
    GElf_Ehdr header;
    size_t count = 0;

    image->is_executable = gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
            image->is_executable = true;
    }
}

static void read_build_id(struct image *image, Elf *elf)
{
    const unsigned char *bytes = NULL;

    image->build_id_size = elf_build_id(elf, &bytes);
    if (image->build_id_size)
        image->build_id = arena_memdup(&image->private->arena, bytes, image->build_id_size);
}

// ---- The whole

static struct error *read_image(struct image *image, const char *const *debug_directories,
                                size_t debug_directory_count)
{
    struct image_private *own = image->private;
    struct symbol_vec dynamic = VEC_INIT, symbols = VEC_INIT;
    struct error *err = elf_file_open(image->path, &own->main);

    if (!err)
        err = check_sections(image->path, own->main.elf);
    if (err)
        return err;
    read_kind(image, own->main.elf);
    read_build_id(image, own->main.elf);
    read_dynamic(image, own->main.elf);
    read_symbols(&own->arena, own->main.elf, SHT_DYNSYM, &dynamic);
    read_symbols(&own->arena, own->main.elf, SHT_SYMTAB, &symbols);
    err = image_read_frames(image, debug_directories, debug_directory_count);
    if (!err)
        err = image_read_links(image);
    if (own->debug.elf)
        read_symbols(&own->arena, own->debug.elf, SHT_SYMTAB, &symbols);
    image->dynamic = sorted(&dynamic, &image->dynamic_count, by_name);
    image->symbols = sorted(&symbols, &image->symbol_count, by_address);
    return err;
}

struct error *image_open(const char *path, const char *const *debug_directories,
                         size_t debug_directory_count, struct image **ret)
{
    struct image *image = xcalloc(1, sizeof(*image));

    image->private = xcalloc(1, sizeof(*image->private));
    image->private->main = image->private->debug = ELF_FILE_INIT;
    arena_init(&image->private->arena);
    image->path = xstrdup(path);
    image->model_path = xstrdup(path);
    struct error *err = read_image(image, debug_directories, debug_directory_count);
    if (err) {
        image_destroy(image);
        return err;
    }
    *ret = image;
    return NULL;
}

void image_destroy(struct image *image)
{
    if (!image)
        return;
    free(image->path);
    free(image->model_path);
    free(image->frames);
    image_close_links(image);
    free(image->dynamic);
    free(image->symbols);
    free(image->entries);
    free(image->needed);
    free(image->search);
    elf_file_close(&image->private->main);
    elf_file_close(&image->private->debug);
    arena_deinit(&image->private->arena);
    free(image->private);
    free(image);
}

static char *existing(const char *directory, const char *name)
{
    char *path = file_join(directory, name);

    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

// $ORIGIN is the folder of the image itself.
static char *expand_origin(const struct image *image, const char *directory)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t length = strlen(words[i]);
        if (strncmp(directory, words[i], length) != 0)
            continue;
        const char *slash = strrchr(image->path, '/');
        size_t folder = slash ? (size_t)(slash - image->path) : 1;
        return xasprintf("%.*s%s", (int)folder, slash ? image->path : ".", directory + length);
    }
    return xstrdup(directory);
}

char *image_find_needed(const struct image *image, const char *name)
{
    static const char *const system[] = {"/lib/x86_64-linux-gnu",
                                         "/usr/lib/x86_64-linux-gnu",
                                         "/lib64",
                                         "/usr/lib64",
                                         "/lib",
                                         "/usr/lib"};
    char *found = NULL;

    if (strchr(name, '/'))
        return access(name, R_OK) == 0 ? xstrdup(name) : NULL;
    for (uint32_t i = 0; i < image->search_count && !found; i++) {
        _cleanup_free_ char *directory = expand_origin(image, image->search[i]);
        found = existing(directory, name);
    }
    for (size_t i = 0; i < sizeof(system) / sizeof(*system) && !found; i++)
        found = existing(system[i], name);
    return found;
}

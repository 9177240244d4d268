// SPDX-License-Identifier: Apache-2.0
/*
 * Which files were mapped where, and whether the files at hand are those.
 *
 * The memory of a core holds the first page of every ELF file (bit 4 of coredump_filter, on by
 * default), hence the ELF header, the program headers and nearly always the build-id. They are
 * compared with the file's. The executable is the image that AT_PHDR lies in; where the program was
 * started through the dynamic linker (`ld.so EXE`) AT_PHDR is the linker's, so every other image is
 * tried too before EXE is said to be of another build.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"
#include "evidence/core/modules_internal.h"

#define MODULE_HEADERS_MAX 256u
#define MODULE_NOTES_MAX   65536u
#define MODULE_VDSO_MAX    (UINT64_C(1) << 20)

/* --- what memory has --- */

struct module_image {
    Elf64_Ehdr header;
    Elf64_Phdr *programs; // header.e_phnum of them, to be freed
    uint64_t bias;
};

static bool module_is_elf(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
}

static bool module_read_image(const struct core *core, uint64_t base, struct module_image *ret)
{
    struct module_image image = {.programs = NULL};
    if (core_read(core, base, &image.header, sizeof(image.header)) != sizeof(image.header) ||
        !module_is_elf(&image.header) || image.header.e_phnum > MODULE_HEADERS_MAX ||
        image.header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    size_t size = image.header.e_phnum * sizeof(Elf64_Phdr);
    image.programs = xmalloc(size);
    if (core_read(core, base + image.header.e_phoff, image.programs, size) != size) {
        free(image.programs);
        return false;
    }
    image.bias = base;
    for (size_t i = 0; i < image.header.e_phnum; i++) {
        if (image.programs[i].p_type == PT_LOAD && image.programs[i].p_offset < MODULES_PAGE) {
            image.bias = base - (image.programs[i].p_vaddr & ~(MODULES_PAGE - 1));
            break;
        }
    }
    *ret = image;
    return true;
}

static size_t module_find_build_id(const unsigned char *notes, size_t size, struct arena *arena,
                                   const unsigned char **ret)
{
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof(note));
        uint64_t name = at + sizeof(note);
        uint64_t data = name + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3));
        uint64_t next = data + (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));
        if (data > size || note.n_descsz > size - data)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz > 0) {
            *ret = arena_memdup(arena, notes + data, note.n_descsz);
            return note.n_descsz;
        }
        at = next < size ? (size_t)next : size;
    }
    return 0;
}

size_t module_memory_build_id(const struct core *core, uint64_t base, struct arena *arena,
                              const unsigned char **ret)
{
    struct module_image image;
    if (!module_read_image(core, base, &image))
        return 0;
    size_t found = 0;
    for (size_t i = 0; !found && i < image.header.e_phnum; i++) {
        const Elf64_Phdr *program = &image.programs[i];
        if (program->p_type != PT_NOTE || program->p_memsz > MODULE_NOTES_MAX)
            continue;
        size_t size = program->p_memsz;
        _cleanup_free_ unsigned char *notes = xmalloc(size);
        if (core_read(core, image.bias + program->p_vaddr, notes, size) == size)
            found = module_find_build_id(notes, size, arena, ret);
    }
    free(image.programs);
    return found;
}

/* --- comparing --- */

static enum module_match module_compare_headers(const struct module *module,
                                                const struct core *core, uint64_t base)
{
    Elf64_Ehdr mine, theirs;
    if (module->file_size < sizeof(mine) ||
        core_read(core, base, &theirs, sizeof(theirs)) != sizeof(theirs))
        return MODULE_UNTOLD;
    memcpy(&mine, module->file, sizeof(mine));
    // Section headers may have been stripped since; they are not used by a running program.
    mine.e_shoff = theirs.e_shoff;
    mine.e_shnum = theirs.e_shnum;
    mine.e_shstrndx = theirs.e_shstrndx;
    mine.e_shentsize = theirs.e_shentsize;
    if (memcmp(&mine, &theirs, sizeof(mine)) != 0)
        return MODULE_DIFFERENT;
    size_t size = (size_t)mine.e_phnum * sizeof(Elf64_Phdr);
    if (mine.e_phoff > module->file_size || size > module->file_size - mine.e_phoff)
        return MODULE_UNTOLD;
    _cleanup_free_ unsigned char *programs = xmalloc(size);
    if (core_read(core, base + mine.e_phoff, programs, size) != size)
        return MODULE_UNTOLD;
    // Equal headers are no proof: a small change of the source leaves them as they are.
    return memcmp(programs, module->file + mine.e_phoff, size) == 0 ? MODULE_UNTOLD
                                                                    : MODULE_DIFFERENT;
}

enum module_match module_compare(const struct module *module, const struct core *core,
                                 uint64_t base)
{
    const unsigned char *id;
    size_t size = module_memory_build_id(core, base, &module->set->arena, &id);
    if (size && module->info.build_id)
        return size == module->info.build_id_size && memcmp(id, module->info.build_id, size) == 0
                   ? MODULE_SAME
                   : MODULE_DIFFERENT;
    return module_compare_headers(module, core, base);
}

/* --- placing --- */

/* The bias under which the page of the file's start is at base. */
static uint64_t module_bias_at(const struct module *module, uint64_t base)
{
    for (size_t i = 0; i < module->loads.length; i++) {
        const struct module_load *load = &module->loads.data[i];
        if (load->offset < MODULES_PAGE)
            return base - (load->start & ~(MODULES_PAGE - 1));
    }
    return base;
}

static void module_place(struct module *module, uint64_t base)
{
    module->info.bias = module_bias_at(module, base);
    module->info.start += module->info.bias;
    module->info.end += module->info.bias;
}

static const struct core_mapping *modules_mapping_of(const struct core *core, uint64_t address)
{
    for (size_t i = 0; i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (address >= mapping->start && address < mapping->end)
            return mapping;
    }
    return NULL;
}

/* Where the image that holds address starts: the last mapping of offset 0 of the same path before.
 */
static bool modules_image_base(const struct core *core, uint64_t address, uint64_t *ret)
{
    const struct core_mapping *holder = modules_mapping_of(core, address);
    bool found = false;
    for (size_t i = 0; holder && i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (mapping->start > address)
            break;
        if (mapping->offset == 0 && strcmp(mapping->path, holder->path) == 0) {
            *ret = mapping->start;
            found = true;
        }
    }
    return found;
}

static bool modules_executable_base(const struct core *core, const struct module *module,
                                    uint64_t *ret)
{
    uint64_t programs;
    if (!core_auxv(core, AT_PHDR, &programs))
        return false;
    if (modules_image_base(core, programs, ret))
        return true;
    Elf64_Ehdr header; // no NT_FILE: the program headers stand where the file says
    if (module->file_size < sizeof(header))
        return false;
    memcpy(&header, module->file, sizeof(header));
    if (programs < header.e_phoff || (programs - header.e_phoff) % MODULES_PAGE)
        return false;
    *ret = programs - header.e_phoff;
    return true;
}

/* --- the executable --- */

static char *module_id_text(const unsigned char *id, size_t size)
{
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < size && i < 64; i++)
        strbuf_printf(&text, "%02x", id[i]);
    if (size == 0)
        strbuf_append(&text, "none");
    return strbuf_steal(&text);
}

static struct error *modules_mismatch(const struct module *module, const struct core *core,
                                      uint64_t base, const char *what)
{
    const unsigned char *id = NULL;
    size_t size = module_memory_build_id(core, base, &module->set->arena, &id);
    _cleanup_free_ char *theirs = module_id_text(id, size);
    _cleanup_free_ char *mine = module_id_text(module->info.build_id, module->info.build_id_size);
    return error_create_file(ERROR_MISMATCH, module->info.file,
                             "%s: build-id %s in the core, %s in the file", what, theirs, mine);
}

/* Any other image that is certainly EXE. */
static bool modules_find_same(const struct module *module, const struct core *core, uint64_t *ret)
{
    for (size_t i = 0; i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (mapping->offset == 0 && module_compare(module, core, mapping->start) == MODULE_SAME) {
            *ret = mapping->start;
            return true;
        }
    }
    return false;
}

/* Nothing in memory to compare with: at least the auxiliary vector has to fit. */
static bool modules_fits_auxv(const struct module *module, const struct core *core, uint64_t base)
{
    Elf64_Ehdr header;
    uint64_t value, bias = module_bias_at(module, base);
    if (module->file_size < sizeof(header))
        return false;
    memcpy(&header, module->file, sizeof(header));
    if (core_auxv(core, AT_ENTRY, &value) && value != header.e_entry + bias)
        return false;
    if (core_auxv(core, AT_PHNUM, &value) && value != header.e_phnum)
        return false;
    return header.e_type != ET_EXEC || bias == 0;
}

static struct error *modules_place_executable(struct modules *set, struct module *module)
{
    uint64_t base = 0;
    bool has_base = modules_executable_base(set->core, module, &base);
    enum module_match match = has_base ? module_compare(module, set->core, base) : MODULE_UNTOLD;
    if (match != MODULE_SAME && modules_find_same(module, set->core, &base)) {
        match = MODULE_SAME;
        has_base = true;
    }
    if (match == MODULE_DIFFERENT)
        return modules_mismatch(module, set->core, base, "core of another build");
    if (!has_base)
        return error_create_file(ERROR_FORMAT, core_path(set->core),
                                 "the core does not say where the executable was mapped");
    if (match == MODULE_UNTOLD) {
        if (!modules_fits_auxv(module, set->core, base))
            return modules_mismatch(module, set->core, base, "core of another build");
        modules_error_vec_push(
            &set->warnings,
            error_create_file(ERROR_MISMATCH, module->info.file,
                              module->info.build_id
                                  ? "the core lacks what would tell its build: taken on trust"
                                  : "no build-id tells whether the core is of this program: taken "
                                    "on trust (link with -Wl,--build-id)"));
    }
    module->info.verified = match == MODULE_SAME;
    module_place(module, base);
    const struct core_mapping *mapping = modules_mapping_of(set->core, base);
    if (mapping)
        module->info.path = arena_strdup(&set->arena, mapping->path);
    return NULL;
}

struct error *modules_add_executable(struct modules *set, const char *path)
{
    struct module *module;
    struct error *err = module_create(set, path, &module);
    if (err)
        return err;
    module->info.is_executable = true;
    module_vec_push(&set->all, module);
    return modules_place_executable(set, module);
}

/* --- libraries --- */

/* Whether the mappings from index on are those of a loaded library: one of them has code, or may
 * have it (gdb's gcore leaves out what it does not dump). */
static bool modules_is_loaded(const struct core *core, size_t index, uint64_t *ret_end)
{
    const struct core_mapping *first = core_mapping_at(core, index);
    bool has_code = false;
    uint64_t end = first->end;
    for (size_t i = index; i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (strcmp(mapping->path, first->path) != 0 || (i > index && mapping->offset == 0))
            break;
        const struct core_segment *segment = core_segment_of(core, mapping->start);
        has_code |= !segment || segment->executable;
        end = mapping->end;
    }
    *ret_end = end;
    return has_code;
}

/* What the core says of the first bytes of a mapping: MODULE_SAME is an ELF file. */
static enum module_match modules_looks_like_elf(const struct core *core, uint64_t base)
{
    char magic[SELFMAG];
    if (core_read(core, base, magic, sizeof(magic)) < sizeof(magic))
        return MODULE_UNTOLD;
    return memcmp(magic, ELFMAG, SELFMAG) == 0 ? MODULE_SAME : MODULE_DIFFERENT;
}

/* NULL with a warning, unless that would only say that some mapped file is not a library. */
static struct module *modules_open_library(struct modules *set, const struct core_mapping *mapping,
                                           bool is_elf)
{
    const char *path = mapping->path;
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path), suffix = sizeof(deleted) - 1;
    bool is_deleted = length > suffix && strcmp(path + length - suffix, deleted) == 0;
    _cleanup_free_ char *plain = xstrndup(path, is_deleted ? length - suffix : length);
    _cleanup_free_ char *file = xasprintf("%s%s", set->sysroot ? set->sysroot : "", plain);
    struct module *module;
    struct error *err = module_create(set, file, &module);
    if (err && err->code == ERROR_FORMAT && !is_elf) {
        error_destroy(err);
        return NULL;
    }
    if (err) {
        modules_error_vec_push(&set->warnings, error_prefix(err, "library is not read"));
        return NULL;
    }
    module->info.path = path;
    enum module_match match = module_compare(module, set->core, mapping->start);
    module->info.verified = match == MODULE_SAME;
    if (match == MODULE_SAME || (match == MODULE_UNTOLD && !is_deleted))
        return module;
    modules_error_vec_push(&set->warnings, modules_mismatch(module, set->core, mapping->start,
                                                            "library of another build is not "
                                                            "read"));
    module_destroy(module);
    return NULL;
}

static void modules_add_library(struct modules *set, size_t index)
{
    const struct core_mapping *mapping = core_mapping_at(set->core, index);
    uint64_t end;
    if (mapping->offset != 0 || !modules_is_loaded(set->core, index, &end))
        return;
    enum module_match is_elf = modules_looks_like_elf(set->core, mapping->start);
    if (is_elf == MODULE_DIFFERENT)
        return;
    struct module *module = modules_open_library(set, mapping, is_elf == MODULE_SAME);
    if (module) {
        module_place(module, mapping->start);
    } else {
        module = module_create_unread(set, mapping->path);
        module->info.start = module->info.bias = mapping->start;
        module->info.end = end;
        module->info.build_id_size =
            module_memory_build_id(set->core, mapping->start, &set->arena, &module->info.build_id);
    }
    module_vec_push(&set->all, module);
}

void modules_add_libraries(struct modules *set)
{
    const struct module *executable = set->all.data[0];
    for (size_t i = 0; i < core_mapping_count(set->core); i++) {
        uint64_t start = core_mapping_at(set->core, i)->start;
        if (start < executable->info.start || start >= executable->info.end)
            modules_add_library(set, i);
    }
}

void modules_add_vdso(struct modules *set)
{
    uint64_t base;
    if (!core_auxv(set->core, AT_SYSINFO_EHDR, &base))
        return;
    const struct core_segment *segment = core_segment_of(set->core, base);
    if (!segment || segment->start != base || segment->dumped > MODULE_VDSO_MAX)
        return;
    size_t size = segment->dumped;
    unsigned char *image = arena_alloc(&set->arena, size);
    if (size < sizeof(Elf64_Ehdr) || core_read(set->core, base, image, size) != size)
        return;
    struct module *module;
    struct error *err = module_create_image(set, "[vdso]", image, size, &module);
    if (err) {
        modules_error_vec_push(&set->warnings, err);
        return;
    }
    module->info.is_vdso = true;
    module->info.verified = true;
    module_place(module, base);
    module_vec_push(&set->all, module);
}

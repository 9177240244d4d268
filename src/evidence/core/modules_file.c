// SPDX-License-Identifier: Apache-2.0
/* One ELF file: opened, checked, its segments, sections and symbols. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "evidence/core/modules_internal.h"

/* How much larger than its compressed form a section may claim to be. */
#define MODULE_INFLATION_MAX 4096u

static struct error *module_check_elf(const char *path, Elf *elf)
{
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return error_create_file(ERROR_FORMAT, path, "not an ELF file");
    if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
        return error_create_file(ERROR_UNSUPPORTED, path,
                                 "ELF file of another architecture, only x86-64 is read");
    return NULL;
}

struct error *module_open_elf(const char *path, int *ret_descriptor, Elf **ret)
{
    elf_version(EV_CURRENT);
    // Paths come out of cores: never wait for a pipe, never read a device.
    _cleanup_close_ int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return error_errno(errno, path, "cannot open");
    struct stat status;
    if (fstat(descriptor, &status) < 0)
        return error_errno(errno, path, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return error_create_file(ERROR_FORMAT, path, "not a regular file");
    Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (!elf)
        return error_create_file(ERROR_FORMAT, path, "cannot read as ELF: %s", elf_errmsg(-1));
    struct error *err = module_check_elf(path, elf);
    if (err) {
        elf_end(elf);
        return err;
    }
    *ret_descriptor = no_cleanup_fd(descriptor);
    *ret = elf;
    return NULL;
}

static void module_read_load(struct module *module, const GElf_Phdr *header)
{
    uint64_t end, file_size = header->p_filesz;
    if (header->p_memsz == 0 || __builtin_add_overflow(header->p_vaddr, header->p_memsz, &end))
        return;
    if (file_size > header->p_memsz)
        file_size = header->p_memsz;
    if (header->p_offset > module->file_size)
        file_size = 0;
    else if (file_size > module->file_size - header->p_offset)
        file_size = module->file_size - header->p_offset;
    module_load_vec_push(&module->loads, (struct module_load){
                                             .start = header->p_vaddr,
                                             .end = end,
                                             .file_end = header->p_vaddr + file_size,
                                             .offset = header->p_offset,
                                             .is_writable = header->p_flags & PF_W,
                                             .is_executable = header->p_flags & PF_X,
                                         });
}

static void module_read_dynamic(struct module *module, const GElf_Phdr *header)
{
    if (header->p_offset > module->file_size ||
        header->p_filesz > module->file_size - header->p_offset)
        return;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= header->p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, module->file + header->p_offset + at, sizeof(entry));
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && entry.d_un.d_val & DF_TEXTREL))
            module->has_text_relocations = true;
    }
}

static void module_read_segments(struct module *module)
{
    size_t count = 0;
    if (elf_getphdrnum(module->elf, &count) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(module->elf, (int)i, &header))
            break;
        if (header.p_type == PT_LOAD)
            module_read_load(module, &header);
        if (header.p_type == PT_DYNAMIC)
            module_read_dynamic(module, &header);
    }
}

static int module_compare_code(const void *a, const void *b)
{
    const struct module_code *x = a;
    const struct module_code *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Sections say more exactly than segments what is code: an ELF header may share the segment. */
static void module_read_code(struct module *module)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(module->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
            !(header.sh_flags & SHF_EXECINSTR) || header.sh_addr > UINT64_MAX - header.sh_size ||
            header.sh_size == 0)
            continue;
        struct module_code code = {header.sh_addr, header.sh_addr + header.sh_size};
        module_code_vec_push(&module->code, code);
    }
    for (size_t i = 0; module->code.length == 0 && i < module->loads.length; i++) {
        const struct module_load *load = &module->loads.data[i];
        if (load->is_executable)
            module_code_vec_push(&module->code, (struct module_code){load->start, load->end});
    }
    if (module->code.length)
        qsort(module->code.data, module->code.length, sizeof(module->code.data[0]),
              module_compare_code);
}

static void module_read_build_id(struct module *module)
{
    const void *id;
    ssize_t size = dwelf_elf_gnu_build_id(module->elf, &id);
    if (size <= 0)
        return;
    module->info.build_id = arena_memdup(&module->set->arena, id, (size_t)size);
    module->info.build_id_size = (size_t)size;
}

static void module_set_range(struct module *module)
{
    uint64_t start = UINT64_MAX, end = 0;
    for (size_t i = 0; i < module->loads.length; i++) {
        const struct module_load *load = &module->loads.data[i];
        start = load->start < start ? load->start : start;
        end = load->end > end ? load->end : end;
    }
    module->info.start = start < end ? start & ~(MODULES_PAGE - 1) : 0;
    module->info.end = end > UINT64_MAX - MODULES_PAGE ? end : (end + 4095) & ~(MODULES_PAGE - 1);
}

struct module *module_create_unread(struct modules *set, const char *path)
{
    struct module *module = xcalloc(1, sizeof(*module));
    module->set = set;
    module->descriptor = -1;
    module->debug_descriptor = -1;
    module->info.path = arena_strdup(&set->arena, path);
    return module;
}

static struct error *module_read(struct module *module)
{
    size_t size = 0;
    module->file = (const unsigned char *)elf_rawfile(module->elf, &size);
    module->file_size = module->file ? size : 0;
    module_read_segments(module);
    if (module->loads.length == 0)
        return error_create_file(ERROR_FORMAT, module->info.path,
                                 "not an executable or library: it has no segments to load");
    module_read_code(module);
    module_read_build_id(module);
    module_set_range(module);
    return NULL;
}

struct error *module_create(struct modules *set, const char *path, struct module **ret)
{
    struct module *module = module_create_unread(set, path);
    struct error *err = module_open_elf(path, &module->descriptor, &module->elf);
    if (!err)
        err = module_read(module);
    if (err) {
        module_destroy(module);
        return err;
    }
    module->info.file = module->info.path;
    *ret = module;
    return NULL;
}

struct error *module_create_image(struct modules *set, const char *path, unsigned char *image,
                                  size_t size, struct module **ret)
{
    elf_version(EV_CURRENT);
    struct module *module = module_create_unread(set, path);
    struct error *err = NULL;
    module->elf = elf_memory((char *)image, size);
    if (!module->elf)
        err = error_create_file(ERROR_FORMAT, path, "not an ELF file");
    if (!err)
        err = module_check_elf(path, module->elf);
    if (!err)
        err = module_read(module);
    if (err) {
        module_destroy(module);
        return err;
    }
    *ret = module;
    return NULL;
}

void module_drop_file(struct module *module)
{
    debug_info_destroy(module->debug_info);
    module->debug_info = NULL;
    if (module->debug_elf)
        elf_end(module->debug_elf);
    if (module->elf)
        elf_end(module->elf);
    cleanup_close(&module->debug_descriptor);
    cleanup_close(&module->descriptor);
    module->debug_elf = module->elf = NULL;
    module->debug_descriptor = module->descriptor = -1;
    module->file = NULL;
    module->file_size = 0;
    module->info.file = NULL;
    module->info.debug = NULL;
    module_load_vec_deinit(&module->loads);
    module_code_vec_deinit(&module->code);
    module_symbol_vec_deinit(&module->symbols);
    module->symbols_were_read = false;
}

void module_destroy(struct module *module)
{
    if (!module)
        return;
    module_drop_file(module);
    free(module);
}

bool module_has_code(const struct module *module, uint64_t start, uint64_t end)
{
    size_t low = 0, high = module->code.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->code.data[middle].start <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && start < end && end <= module->code.data[low - 1].end;
}

/* --- sections --- */

static bool module_inflate(Elf_Scn *section, const GElf_Shdr *header)
{
    if (!(header->sh_flags & SHF_COMPRESSED))
        return true;
    GElf_Chdr compressed;
    if (!gelf_getchdr(section, &compressed) ||
        compressed.ch_size / MODULE_INFLATION_MAX > header->sh_size)
        return false;
    return elf_compress(section, 0, 0) >= 0;
}

static bool module_read_section(const struct module *module, Elf_Scn *section,
                                struct module_section *ret)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || !module_inflate(section, &header) ||
        !gelf_getshdr(section, &header))
        return false;
    struct module_section result = {
        .size = header.sh_size,
        .is_loaded = header.sh_flags & SHF_ALLOC,
        .address = header.sh_flags & SHF_ALLOC ? header.sh_addr + module->info.bias : 0,
    };
    if (header.sh_type != SHT_NOBITS) {
        Elf_Data *data = elf_rawdata(section, NULL);
        if (!data || (!data->d_buf && data->d_size))
            return false;
        result.data = data->d_buf ? data->d_buf : (const unsigned char *)"";
        result.size = data->d_size;
    }
    *ret = result;
    return true;
}

static Elf_Scn *module_find_section(Elf *elf, const char *name)
{
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) < 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (found && strcmp(found, name) == 0)
            return section;
    }
    return NULL;
}

bool module_section(struct module *module, const char *name, struct module_section *ret)
{
    Elf_Scn *section = module_find_section(module->elf, name);
    if (section)
        return module_read_section(module, section, ret);
    if (!module->elf)
        return false;
    module_find_debug_file(module);
    section = module_find_section(module->debug_elf, name);
    return section && module_read_section(module, section, ret);
}

/* --- symbols --- */

static unsigned module_symbol_rank(const GElf_Sym *symbol)
{
    static const unsigned by_binding[] = {[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
    unsigned binding = GELF_ST_BIND(symbol->st_info);
    unsigned rank = binding < 3 ? by_binding[binding] : 3;
    if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
        rank += 8;
    return symbol->st_size ? rank : rank + 4;
}

// Where the section ends that the symbol is in: a symbol without a size goes no further.
static uint64_t module_symbol_limit(Elf *elf, const GElf_Sym *symbol)
{
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
    GElf_Shdr header;

    return section && gelf_getshdr(section, &header) ? header.sh_addr + header.sh_size : UINT64_MAX;
}

static void module_add_symbol(struct module *module, Elf *elf, size_t names, const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return;
    if (symbol->st_shndx == SHN_UNDEF ||
        !module_has_code(module, symbol->st_value, symbol->st_value + 1))
        return;
    const char *name = elf_strptr(elf, names, symbol->st_name);
    if (!name || !*name)
        return;
    struct module_symbol_entry entry = {symbol->st_value, symbol->st_size,
                                        module_symbol_limit(elf, symbol), name,
                                        module_symbol_rank(symbol)};
    module_symbol_vec_push(&module->symbols, entry);
}

static bool module_read_symbol_table(struct module *module, Elf *elf, unsigned type)
{
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != type)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data)
            continue;
        size_t count = data->d_size / sizeof(Elf64_Sym);
        for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol))
                module_add_symbol(module, elf, header.sh_link, &symbol);
        }
        return true;
    }
    return false;
}

static int module_compare_symbols(const void *a, const void *b)
{
    const struct module_symbol_entry *x = a;
    const struct module_symbol_entry *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1; // the best one last, where the search ends
    return strcmp(y->name, x->name);
}

static void module_read_symbols(struct module *module)
{
    if (module->symbols_were_read || !module->elf)
        return;
    module->symbols_were_read = true;
    if (!module_read_symbol_table(module, module->elf, SHT_SYMTAB)) {
        module_find_debug_file(module);
        if (!module_read_symbol_table(module, module->debug_elf, SHT_SYMTAB))
            module_read_symbol_table(module, module->elf, SHT_DYNSYM);
    }
    if (module->symbols.length)
        qsort(module->symbols.data, module->symbols.length, sizeof(module->symbols.data[0]),
              module_compare_symbols);
}

static const struct module_symbol_entry *module_find_symbol(const struct module *module,
                                                            uint64_t address)
{
    const struct module_symbol_entry *symbols = module->symbols.data;
    size_t low = 0, high = module->symbols.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct module_symbol_entry *unsized = NULL;
    for (size_t i = low, looked = 0; i > 0 && looked < 64; i--, looked++) {
        const struct module_symbol_entry *symbol = &symbols[i - 1];
        if (address - symbol->start < symbol->size)
            return symbol;
        if (symbol->size == 0 && !unsized && i == low && address < symbol->limit)
            unsized = symbol;
    }
    return unsized;
}

bool module_symbol_at(struct module *module, uint64_t address, struct module_symbol *ret)
{
    module_read_symbols(module);
    uint64_t at = address - module->info.bias;
    if (!module_has_code(module, at, at + 1))
        return false;
    const struct module_symbol_entry *symbol = module_find_symbol(module, at);
    if (!symbol)
        return false;
    *ret = (struct module_symbol){symbol->name, symbol->start + module->info.bias, symbol->size};
    return true;
}

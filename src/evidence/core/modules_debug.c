// SPDX-License-Identifier: Apache-2.0
/*
 * Separate debug files, found as gdb does: by build-id under .build-id/ of each directory, then by
 * .gnu_debuglink beside the file, in its .debug and under each directory. Taken only when the
 * build-id (or, without one, the checksum in .gnu_debuglink) is the same.
 */
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "evidence/core/modules_internal.h"

static bool module_elf_has_section(Elf *elf, const char *const *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) < 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        for (size_t i = 0; name && wanted[i]; i++) {
            if (strcmp(name, wanted[i]) == 0)
                return true;
        }
    }
    return false;
}

/* The checksum of .gnu_debuglink: CRC-32 as of IEEE 802.3. */
static uint32_t module_crc32(const unsigned char *data, size_t size)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
        table[i] = value;
    }
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    return ~crc;
}

static bool module_debug_matches(const struct module *module, Elf *elf, const uint32_t *crc)
{
    const void *id;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    if (size > 0 && module->info.build_id)
        return (size_t)size == module->info.build_id_size &&
               memcmp(id, module->info.build_id, (size_t)size) == 0;
    size_t file_size;
    const char *file = crc ? elf_rawfile(elf, &file_size) : NULL;
    return file && module_crc32((const unsigned char *)file, file_size) == *crc;
}

static bool module_try_debug_file(struct module *module, const char *path, const uint32_t *crc)
{
    int descriptor;
    Elf *elf;
    if (access(path, R_OK) != 0)
        return false;
    struct error *err = module_open_elf(path, &descriptor, &elf);
    if (err) {
        modules_error_vec_push(&module->set->warnings, err);
        return false;
    }
    if (!module_debug_matches(module, elf, crc)) {
        elf_end(elf);
        close(descriptor);
        return false;
    }
    module->debug_descriptor = descriptor;
    module->debug_elf = elf;
    module->info.debug = arena_strdup(&module->set->arena, path);
    return true;
}

static bool module_find_by_build_id(struct module *module)
{
    if (module->info.build_id_size < 2)
        return false;
    _cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
    strbuf_printf(&name, ".build-id/%02x/", module->info.build_id[0]);
    for (size_t i = 1; i < module->info.build_id_size; i++)
        strbuf_printf(&name, "%02x", module->info.build_id[i]);
    strbuf_append(&name, ".debug");
    for (const char **directory = module->set->directories; *directory; directory++) {
        _cleanup_free_ char *path = file_join(*directory, name.data);
        if (module_try_debug_file(module, path, NULL))
            return true;
    }
    return false;
}

/* The link is a file name; one with a path in it is not followed out of the directory. */
static bool module_find_by_link(struct module *module, const char *link, const uint32_t *crc)
{
    const char *slash = strrchr(module->info.file, '/');
    size_t length = slash ? (size_t)(slash - module->info.file) : 1;
    _cleanup_free_ char *own = xstrndup(slash ? module->info.file : ".", length);
    _cleanup_free_ char *beside = file_join(own, link);
    if (strcmp(beside, module->info.file) != 0 && module_try_debug_file(module, beside, crc))
        return true;
    _cleanup_free_ char *hidden = xasprintf("%s/.debug/%s", own, link);
    if (module_try_debug_file(module, hidden, crc))
        return true;
    for (const char **directory = module->set->directories; *directory; directory++) {
        _cleanup_free_ char *flat = file_join(*directory, link);
        _cleanup_free_ char *deep = xasprintf("%s/%s/%s", *directory, own, link);
        if (module_try_debug_file(module, flat, crc) || module_try_debug_file(module, deep, crc))
            return true;
    }
    return false;
}

void module_find_debug_file(struct module *module)
{
    static const char *const debug_info[] = {".debug_info", ".zdebug_info", NULL};
    if (module->debug_was_sought || !module->elf || !module->info.file)
        return;
    module->debug_was_sought = true;
    if (module_elf_has_section(module->elf, debug_info) || module_find_by_build_id(module))
        return;
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(module->elf, &crc);
    if (link && *link && !strchr(link, '/') && module_find_by_link(module, link, &crc))
        return;
    const char *slash = strrchr(module->info.file, '/');
    _cleanup_free_ char *usual = xasprintf("%s.debug", slash ? slash + 1 : module->info.file);
    module_find_by_link(module, usual, NULL);
}

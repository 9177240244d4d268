// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/flag_bytes.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/vec.h"
#include "layout/frame.h"

VEC_DEFINE(flag_bytes_vec, struct flag_bytes);

struct section {
    uint64_t address, offset, size;
};

static void elf_cleanup(Elf **elf)
{
    elf_end(*elf);
}

// The section of that name, with bytes in the file.
static bool find_section(Elf *elf, size_t size, const char *name, struct section *ret)
{
    size_t names;
    Elf_Scn *at = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((at = elf_nextscn(elf, at))) {
        const char *found;
        if (!gelf_getshdr(at, &header) || header.sh_type == SHT_NOBITS ||
            !(found = elf_strptr(elf, names, header.sh_name)) || strcmp(found, name) != 0)
            continue;
        if (header.sh_offset > size || header.sh_size > size - header.sh_offset)
            return false;
        *ret = (struct section){header.sh_addr, header.sh_offset, header.sh_size};
        return true;
    }
    return false;
}

// The flag bytes that the descriptor at `address` speaks of.
static struct error *resolve(const char *path, const struct layout_descriptor *descriptor,
                             uint64_t address, const struct section *flags, struct flag_bytes *ret)
{
    uint64_t start = address + (uint64_t)(int64_t)descriptor->flags_offset - flags->address;
    if (descriptor->version != LAYOUT_VERSION)
        return error_create_file(ERROR_MISMATCH, path,
                                 "layout version %" PRIu32 " of module 0x%" PRIx64 ", not %u",
                                 descriptor->version, descriptor->module_id, LAYOUT_VERSION);
    if (!layout_descriptor_is_sound(descriptor))
        return error_create_file(ERROR_FORMAT, path,
                                 "the descriptor of module 0x%" PRIx64 " is damaged",
                                 descriptor->module_id);
    if (start > flags->size || descriptor->function_count > flags->size - start)
        return error_create_file(ERROR_FORMAT, path,
                                 "the flags of module 0x%" PRIx64 " lie outside of section '%s'",
                                 descriptor->module_id, LAYOUT_FLAGS_SECTION);
    *ret = (struct flag_bytes){descriptor->module_id, flags->offset + start,
                               descriptor->function_count, descriptor->level};
    return NULL;
}

// Descriptors are aligned to 8 with perhaps zeros between them.
static struct error *walk(const char *path, const unsigned char *data,
                          const struct section *section, const struct section *flags,
                          struct flag_bytes_vec *found)
{
    struct layout_descriptor descriptor;
    for (uint64_t at = 0; at + sizeof(descriptor) <= section->size;) {
        memcpy(&descriptor, data + section->offset + at, sizeof(descriptor));
        if (descriptor.magic != LAYOUT_DESCRIPTOR_MAGIC) {
            if (descriptor.magic != 0)
                return error_create_at_offset(ERROR_FORMAT, path, section->offset + at,
                                              "section '%s' is damaged", LAYOUT_DESCRIPTOR_SECTION);
            at += 8;
            continue;
        }
        struct flag_bytes bytes;
        struct error *err = resolve(path, &descriptor, section->address + at, flags, &bytes);
        if (err)
            return err;
        flag_bytes_vec_push(found, bytes);
        at += sizeof(descriptor);
    }
    return NULL;
}

struct error *flag_bytes_find(const char *path, unsigned char *data, size_t size,
                              struct flag_bytes **ret, size_t *ret_count)
{
    struct section descriptors, flags;
    GElf_Ehdr header;
    elf_version(EV_CURRENT);
    __attribute__((__cleanup__(elf_cleanup))) Elf *elf = elf_memory((char *)data, size);
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return error_create_file(ERROR_FORMAT, path, "not an ELF file");
    if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return error_create_file(ERROR_UNSUPPORTED, path, "made for another architecture");
    if (header.e_shoff > size ||
        (uint64_t)header.e_shnum * header.e_shentsize > size - header.e_shoff)
        return error_create_file(ERROR_FORMAT, path, "truncated: section headers are missing");
    if (!find_section(elf, size, LAYOUT_DESCRIPTOR_SECTION, &descriptors) ||
        !find_section(elf, size, LAYOUT_FLAGS_SECTION, &flags))
        return error_create_file(ERROR_NOT_FOUND, path,
                                 "no flags to tune: not built with inquest-cc, or with "
                                 "-fno-inquest-tunable");
    struct flag_bytes_vec found = VEC_INIT;
    struct error *err = walk(path, data, &descriptors, &flags, &found);
    if (err) {
        flag_bytes_vec_deinit(&found);
        return err;
    }
    *ret_count = found.length;
    *ret = flag_bytes_vec_steal(&found);
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "program/image_build_id.h"

#include <gelf.h>
#include <string.h>

#include "common/strbuf.h"

size_t elf_build_id(Elf *elf, const unsigned char **ret)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        GElf_Nhdr note;
        size_t name, description;

        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description));) {
            const unsigned char *bytes = data->d_buf;
            if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
                memcmp(bytes + name, "GNU", 4) != 0 || note.n_descsz == 0)
                continue;
            *ret = bytes + description;
            return note.n_descsz;
        }
    }
    return 0;
}

char *elf_build_id_text(Elf *elf)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    const unsigned char *bytes = NULL;
    size_t size = elf_build_id(elf, &bytes);

    for (size_t i = 0; i < size; i++)
        strbuf_printf(&text, "%02x", bytes[i]);
    return size ? strbuf_steal(&text) : NULL;
}

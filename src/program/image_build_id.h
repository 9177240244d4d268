// SPDX-License-Identifier: Apache-2.0
/*
 * The build-id of an ELF file, from its sections.
 *
 *     const unsigned char *bytes;
 *     size_t size = elf_build_id(elf, &bytes);        // 0: it has none
 *     char *text = elf_build_id_text(elf);            // in hexadecimal
 */
#ifndef PROGRAM_IMAGE_BUILD_ID_H
#define PROGRAM_IMAGE_BUILD_ID_H

#include <libelf.h>
#include <stddef.h>

// Its size; the bytes are borrowed.
size_t elf_build_id(Elf *elf, const unsigned char **ret);
// To be freed; NULL: it has none.
char *elf_build_id_text(Elf *elf);

#endif

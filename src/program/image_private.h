// SPDX-License-Identifier: Apache-2.0
// What image.c, image_frames.c and image_link.c share. Only they include it.
#ifndef PROGRAM_IMAGE_PRIVATE_H
#define PROGRAM_IMAGE_PRIVATE_H

#include <errno.h>
#include <gelf.h>
#include <libelf.h>

#include "common/arena.h"
#include "common/file.h"
#include "program/image.h"
#include "program/image_build_id.h"

struct elf_file {
    Elf *elf;
    int descriptor;
};

#define ELF_FILE_INIT ((struct elf_file){NULL, -1})

struct image_private {
    struct elf_file main;
    struct elf_file debug; // the separate debug file, when it holds the model or the symbols
    struct arena arena;
};

// An ELF for x86-64.
struct error *elf_file_open(const char *path, struct elf_file *ret);
void elf_file_close(struct elf_file *file);
// The section of this name that has bytes in the file; NULL when there is none.
Elf_Scn *elf_file_section(Elf *elf, const char *name, GElf_Shdr *ret);

// Finds our sections, in the debug file if need be, and fills image->frames.
struct error *image_read_frames(struct image *image, const char *const *debug_directories,
                                size_t debug_directory_count);
// Parses the records among the frames into image->links.
struct error *image_read_links(struct image *image);
void image_close_links(struct image *image);

#endif

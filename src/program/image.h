// SPDX-License-Identifier: Apache-2.0
/*
 * An executable or shared library as a file: our sections, its symbols, what it needs, and what the
 * dynamic linker will call in it.
 *
 *     struct image *image;
 *     struct error *err = image_open("prog", NULL, 0, &image);
 *     for (uint32_t i = 0; !err && i < image->frame_count; i++)
 *             use(&image->frames[i]);
 *     image_destroy(image);
 *
 * Where the file itself has no model, its separate debug file is looked for: by build-id in
 * DIRECTORY/.build-id/xx/yyyy.debug, then by .gnu_debuglink beside the file, in its .debug folder
 * and under DIRECTORY, for every directory given and the system's. x86-64 only.
 *
 * Bad input (not an ELF, another architecture, truncated) is an error with the offset. Frames are
 * checked for magic, version, length and hash when the image is opened, and records of links for
 * all that link_record.h promises. Everything is borrowed from the image.
 */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/link_record.h"

struct error;

struct image_frame {
    uint32_t kind;                // enum section_kind
    uint64_t offset;              // of its header in the file
    uint64_t hash;                // of the payload, as its header has it
    const unsigned char *payload; // aligned to 8 when the section is
    size_t length;
};

// The record of a link: of the one that made the file, or of one that made an object that it took.
struct image_link {
    uint64_t id; // hash of its frame, by which records name each other
    struct link_record record;
};

enum image_symbol_flag {
    IMAGE_SYMBOL_DEFINED = 1u << 0,
    IMAGE_SYMBOL_FUNCTION = 1u << 1, // or an ifunc
    IMAGE_SYMBOL_WEAK = 1u << 2,
    IMAGE_SYMBOL_LOCAL = 1u << 3,
    IMAGE_SYMBOL_IFUNC = 1u << 4,
};

struct image_symbol {
    const char *name;
    uint64_t address;
    uint64_t size;
    uint32_t flags; // enum image_symbol_flag
};

enum image_entry_kind {
    IMAGE_ENTRY_START,       // the entry point
    IMAGE_ENTRY_CONSTRUCTOR, // .preinit_array, .init_array, DT_INIT
    IMAGE_ENTRY_DESTRUCTOR,  // .fini_array, DT_FINI
    IMAGE_ENTRY_RESOLVER,    // of an IRELATIVE relocation
};

// An address that is called by something other than code of the program.
struct image_entry {
    uint64_t address;
    enum image_entry_kind kind;
};

struct image {
    char *path;
    char *model_path;   // where the frames are: path, or the debug file
    bool is_static;     // needs no dynamic linker's libraries
    bool is_executable; // may be started: has an interpreter, or a fixed address
    unsigned char *build_id;
    size_t build_id_size; // 0: none

    struct image_frame *frames;
    uint32_t frame_count;
    struct image_link *links;
    uint32_t link_count;
    struct image_symbol *dynamic; // .dynsym, sorted by name
    uint32_t dynamic_count;
    struct image_symbol *symbols; // .symtab, of the debug file too, sorted by address
    uint32_t symbol_count;
    struct image_entry *entries;
    uint32_t entry_count;
    const char **needed; // DT_NEEDED
    uint32_t needed_count;
    const char *soname;  // or NULL
    const char **search; // DT_RUNPATH and DT_RPATH, as written
    uint32_t search_count;

    struct image_private *private;
};

struct error *image_open(const char *path, const char *const *debug_directories,
                         size_t debug_directory_count, struct image **ret);
void image_destroy(struct image *image); // NULL is fine

// The frames of a section's bytes, to be freed; payloads are borrowed from the bytes.
struct error *image_parse_frames(const char *path, const void *bytes, size_t size,
                                 struct image_frame **ret, uint32_t *ret_count);

// The link that made the file; NULL: something other than inquest-cc did, and nothing is known of
// it.
const struct image_link *image_final_link(const struct image *image);

// The embedded file of this hash, to be freed. ERROR_NOT_FOUND: it is not there; ERROR_FORMAT: what
// is there is something else.
struct error *image_read_object(const struct image *image, const struct sha256 *hash,
                                unsigned char **ret, size_t *ret_size);
bool image_has_object(const struct image *image, const struct sha256 *hash);

// The .dynsym entry of this name, or NULL. Of several versions of a name a defined one is given.
const struct image_symbol *image_dynamic(const struct image *image, const char *name);
// Symbols of functions at exactly this address: *ret is the first of so many.
uint32_t image_symbols_at(const struct image *image, uint64_t address,
                          const struct image_symbol **ret);
// The build-id of a program or library in hexadecimal, to be freed; NULL: it has none, or is none.
char *image_build_id_of(const char *path);
// The file that a needed library's name stands for, as the dynamic linker would find it; to be
// freed. NULL: not found.
char *image_find_needed(const struct image *image, const char *name);

#endif

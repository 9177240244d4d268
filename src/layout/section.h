// SPDX-License-Identifier: Apache-2.0
/*
 * How Inquest's sections are framed in object files and executables.
 *
 * `.inquest.model` (one frame a compiled module), `.inquest.link` (one frame a link) and
 * `.inquest.objects` (one frame an embedded file) are not loaded. The linker concatenates them; a
 * reader walks the frames one by one:
 *
 *     header, payload, zeros up to the next multiple of 8; then perhaps more zeros (alignment)
 *
 * Everything is little-endian. A frame is trusted only when magic and version match, the payload
 * lies within the section and its hash is right; a reader says which of these failed.
 *
 * Shared by the compiler plugin, inquest-cc and the reader. No libc.
 */
#ifndef LAYOUT_SECTION_H
#define LAYOUT_SECTION_H

#include <stdint.h>

#define SECTION_MODEL   ".inquest.model"
#define SECTION_LINK    ".inquest.link"
#define SECTION_OBJECTS ".inquest.objects"
#define SECTION_MAGIC   "INQUEST\n" // 8 bytes, no terminator
#define SECTION_VERSION 2u
#define SECTION_ALIGN   8u

enum section_kind {
    // payload: struct section_module, function_count times struct section_function, then the
    // zstd-compressed bitcode
    SECTION_KIND_MODULE = 1,
    SECTION_KIND_LINK = 2,     // payload: UTF-8 lines, see docs/formats/sections.md
    SECTION_KIND_SUSPECTS = 3, // payload: layout/suspects.h
    SECTION_KIND_OBJECT = 4,   // payload: struct section_object, then the zstd-compressed file
};

struct section_header {
    char magic[8];
    uint32_t version;
    uint32_t kind; // enum section_kind
    uint64_t payload_length;
    uint64_t payload_hash; // hash64() of the payload, common/hash.h
};

// How much a module records at run time. The order matters: each level includes those before it.
enum section_level {
    SECTION_LEVEL_NONE = 0,  // the model only
    SECTION_LEVEL_CALLS = 1, // call coverage
    SECTION_LEVEL_PATHS = 2, // + paths; call-free innermost loops are one unit
    SECTION_LEVEL_FULL = 3,  // + paths inside every loop
};

enum section_module_flag {
    SECTION_MODULE_TUNABLE = 1u << 0,   // functions have plain copies
    SECTION_MODULE_OPTIMIZED = 1u << 1, // compiled with optimisation: code may have moved
    SECTION_MODULE_LTO = 1u << 2,       // and, when it was linked, together with other such modules
};

struct section_module {
    uint64_t module_id; // hash64() of the bitcode: names the module everywhere
    uint64_t bitcode_length;
    uint32_t level;          // enum section_level
    uint32_t flags;          // enum section_module_flag
    uint32_t function_count; // functions with a body in the bitcode
    uint32_t site_count;     // call sites in all of them
};

// A file that a link took and that cannot be made from bitcode: an object, a member of an archive,
// a linker script. Records of links name it by its hash.
struct section_object {
    unsigned char hash[32]; // SHA-256
    uint64_t length;        // uncompressed
};

// One a function with a body, in the bitcode's order.
struct section_function {
    uint64_t checksum; // path_graph_checksum(), program/path_number.h
    uint32_t level;    // enum section_level: that of the module, or less where it was left out
    uint32_t flags;    // enum section_function_flag
};

enum section_function_flag {
    SECTION_FUNCTION_TUNABLE = 1u << 0,    // has a plain copy
    SECTION_FUNCTION_NO_RECORD = 1u << 1,  // no debug info to find frame words by, or naked: none
    SECTION_FUNCTION_TAIL_CALLS = 1u << 2, // may end with a call that takes over its frame
    SECTION_FUNCTION_RECURSIVE = 1u << 3,  // what it calls may call it
    // loads that may fault are not joined with what uses them in other nodes, in its own code
    SECTION_FUNCTION_LOADS_APART = 1u << 4,
};

// May a function keep frame words?
static inline int section_function_has_words(uint32_t level, uint32_t flags)
{
    return level >= SECTION_LEVEL_PATHS && !(flags & SECTION_FUNCTION_NO_RECORD);
}

// Does a function store each change of its sums (layout/frame.h)? Not where calls may take over its
// frame: nothing can come behind those. `optimized`: not optnone.
static inline int section_function_is_eager(uint32_t level, uint32_t flags, int optimized)
{
    return !optimized || (level == SECTION_LEVEL_FULL && !(flags & SECTION_FUNCTION_TAIL_CALLS));
}

#endif

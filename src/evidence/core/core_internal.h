// SPDX-License-Identifier: Apache-2.0
/* The body of struct core, for the files that fill it. */
#ifndef INQUEST_EVIDENCE_CORE_CORE_INTERNAL_H
#define INQUEST_EVIDENCE_CORE_CORE_INTERNAL_H

#include "common/arena.h"
#include "common/file.h"
#include "common/vec.h"
#include "evidence/core/core.h"

struct core_auxv_entry {
    uint64_t type, value;
};

VEC_DEFINE(core_segment_vec, struct core_segment);
VEC_DEFINE(core_thread_vec, struct core_thread);
VEC_DEFINE(core_mapping_vec, struct core_mapping);
VEC_DEFINE(core_auxv_vec, struct core_auxv_entry);

struct core {
    struct arena arena;
    char *path;
    struct file_bytes owned; // what data points into, unless it is borrowed
    const unsigned char *data;
    uint64_t size;
    struct core_segment_vec segments;
    struct core_thread_vec threads;
    struct core_mapping_vec mappings;
    struct core_auxv_vec auxv;
    struct core_signal signal;
    uint32_t pid;
    char program_name[17];
    char command_line[81];
    bool has_private_memory;
};

/* core_note.c: reads the notes in [offset, offset + size) of the file, which is inside of it. */
struct error *core_read_notes(struct core *core, uint64_t offset, uint64_t size);

/* core_zstd.c */
#define CORE_ZSTD_MAGIC "\x28\xb5\x2f\xfd"
bool core_is_zstd(const unsigned char *data, size_t size);
/* Decompressed into an unlinked temporary file, mapped; ERROR_FORMAT when the data is cut or
 * broken, ERROR_LIMIT when more than limit bytes come out. */
struct error *core_decompress(const char *path, const unsigned char *data, size_t size,
                              uint64_t limit, struct file_bytes *ret);

#endif

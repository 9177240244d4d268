// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the core writer share: the mappings of the process, its notes, and a sink that
 * takes bytes and holes in order, plain or compressed.
 */
#ifndef INQUEST_TRACE_CORE_WRITE_INTERNAL_H
#define INQUEST_TRACE_CORE_WRITE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/vec.h"

struct core_request;
struct error;
struct strbuf;

#define CORE_PAGE UINT64_C(4096)

struct core_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset; /* in the file */
    uint64_t inode;  /* 0: not a file */
    char *name;      /* as the kernel gives it, or "" */
    uint32_t flags;  /* PF_R, PF_W, PF_X */
    bool shared;
    bool written;   /* has private pages of its own: written to */
    bool dont_dump; /* madvise(MADV_DONTDUMP) */
    bool io;
    bool huge;
    uint64_t dumped; /* how many bytes from its start go into the core */
};

VEC_DEFINE(core_mapping_vec, struct core_mapping);

/* The mappings in order of address, each with the size that the coredump_filter gives it. */
struct error *core_mappings_read(pid_t pid, int memory, struct core_mapping_vec *mappings);
void core_mappings_deinit(struct core_mapping_vec *mappings);
/* Text as in /proc/PID/smaps, appended; for core_mappings_read and tests. */
struct error *core_mappings_parse(const char *text, struct core_mapping_vec *mappings);
/* vma_dump_size() of the kernel, but for the ELF header test, which needs the memory. */
uint64_t core_mapping_dump_size(const struct core_mapping *mapping, uint64_t filter,
                                bool *ret_if_elf);

/* The contents of PT_NOTE. */
struct error *core_notes_build(const struct core_request *request,
                               const struct core_mapping_vec *mappings, struct strbuf *notes);

struct core_sink;
/* Takes no ownership of the stream, which must be at its start. */
struct core_sink *core_sink_create(FILE *stream, bool zstd);
void core_sink_destroy(struct core_sink *sink);
struct error *core_sink_write(struct core_sink *sink, const void *data, size_t size);
/* size zero bytes: a hole, where the file system has them. */
struct error *core_sink_skip(struct core_sink *sink, uint64_t size);
struct error *core_sink_finish(struct core_sink *sink);
uint64_t core_sink_position(const struct core_sink *sink);
uint64_t core_sink_stored(const struct core_sink *sink);

#endif

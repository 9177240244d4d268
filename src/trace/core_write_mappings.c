// SPDX-License-Identifier: Apache-2.0
/*
 * The mappings of a process, from /proc/PID/smaps, and how much of each a core holds.
 *
 * The rules are vma_dump_size() of the kernel's fs/coredump.c. It asks whether a mapping has an
 * anon_vma, that is, whether private pages were ever made in it; smaps shows whether there are
 * some.
 */
#include "trace/core_write_internal.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"

/* core(5) */
enum coredump_filter {
    FILTER_ANON_PRIVATE = 1 << 0,
    FILTER_ANON_SHARED = 1 << 1,
    FILTER_MAPPED_PRIVATE = 1 << 2,
    FILTER_MAPPED_SHARED = 1 << 3,
    FILTER_ELF_HEADERS = 1 << 4,
    FILTER_HUGETLB_PRIVATE = 1 << 5,
    FILTER_HUGETLB_SHARED = 1 << 6,
    FILTER_DEFAULT = 0x33,
};

void core_mappings_deinit(struct core_mapping_vec *mappings)
{
    for (size_t i = 0; i < mappings->length; i++)
        free(mappings->data[i].name);
    core_mapping_vec_deinit(mappings);
}

/* seq_path() writes a newline in a name as \012, and nothing else that way. */
static char *mapping_name(const char *text, size_t length)
{
    char *name = xmalloc(length + 1);
    size_t end = 0;
    for (size_t i = 0; i < length; i++) {
        if (length - i >= 4 && memcmp(text + i, "\\012", 4) == 0) {
            name[end++] = '\n';
            i += 3;
        } else {
            name[end++] = text[i];
        }
    }
    name[end] = '\0';
    return name;
}

/* "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon" */
static bool mapping_parse_head(const char *line, size_t length, struct core_mapping *ret)
{
    struct core_mapping mapping = {0};
    char permissions[5];
    int name_at = 0;
    /* sscanf() takes the length of its whole input, so it is given no more than the fields. */
    char fields[128];
    snprintf(fields, sizeof(fields), "%.*s", (int)(length < 127 ? length : 127), line);
    if (sscanf(fields, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
               &mapping.start, &mapping.end, permissions, &mapping.offset, &mapping.inode,
               &name_at) < 5)
        return false;
    if (mapping.start >= mapping.end || (mapping.start | mapping.end) % CORE_PAGE != 0)
        return false;
    mapping.flags = (permissions[0] == 'r' ? PF_R : 0) | (permissions[1] == 'w' ? PF_W : 0) |
                    (permissions[2] == 'x' ? PF_X : 0);
    mapping.shared = permissions[3] == 's';
    mapping.name = mapping_name(line + name_at, length - (size_t)name_at);
    *ret = mapping;
    return true;
}

static void mapping_parse_flags(const char *line, size_t length, struct core_mapping *mapping)
{
    for (size_t i = strlen("VmFlags:"); i + 2 < length; i += 3) {
        const char *flag = line + i + 1;
        mapping->dont_dump |= memcmp(flag, "dd", 2) == 0;
        mapping->io |= memcmp(flag, "io", 2) == 0;
        mapping->huge |= memcmp(flag, "ht", 2) == 0;
        mapping->shared |= memcmp(flag, "sh", 2) == 0;
    }
}

static bool line_starts(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

struct error *core_mappings_parse(const char *text, struct core_mapping_vec *mappings)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        struct core_mapping *last = mappings->length ? core_mapping_vec_last(mappings) : NULL;
        /* Fields begin with a capital, addresses do not. */
        if (*line < 'A' || *line > 'Z') {
            struct core_mapping mapping;
            if (!mapping_parse_head(line, length, &mapping))
                return error_create(ERROR_FORMAT, "cannot understand the mapping '%.*s'",
                                    (int)(length < 200 ? length : 200), line);
            core_mapping_vec_push(mappings, mapping);
        } else if (last && (line_starts(line, "Anonymous:") || line_starts(line, "Swap:"))) {
            last->written |= strtoull(strchr(line, ':') + 1, NULL, 10) > 0;
        } else if (last && line_starts(line, "VmFlags:")) {
            mapping_parse_flags(line, length, last);
        }
        line += length + (line[length] == '\n');
    }
    return NULL;
}

static bool mapping_is_deleted(const struct core_mapping *mapping)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(mapping->name);
    return length >= sizeof(mark) - 1 &&
           strcmp(mapping->name + length - (sizeof(mark) - 1), mark) == 0;
}

/* The kernel asks for any execute bit first, which saves it the look into memory. */
uint64_t core_mapping_dump_size(const struct core_mapping *mapping, uint64_t filter,
                                bool *ret_if_elf)
{
    uint64_t whole = mapping->end - mapping->start;
    *ret_if_elf = false;
    if (strcmp(mapping->name, "[vdso]") == 0)
        return whole;
    if (mapping->dont_dump)
        return 0;
    if (mapping->huge)
        return filter & (mapping->shared ? FILTER_HUGETLB_SHARED : FILTER_HUGETLB_PRIVATE) ? whole
                                                                                           : 0;
    if (mapping->io)
        return 0;
    if (mapping->shared)
        return filter & (mapping_is_deleted(mapping) ? FILTER_ANON_SHARED : FILTER_MAPPED_SHARED)
                   ? whole
                   : 0;
    if (mapping->written && (filter & FILTER_ANON_PRIVATE))
        return whole;
    if (mapping->inode == 0)
        return 0;
    if (filter & FILTER_MAPPED_PRIVATE)
        return whole;
    if ((filter & FILTER_ELF_HEADERS) && mapping->offset == 0 && (mapping->flags & PF_R)) {
        *ret_if_elf = true;
        return CORE_PAGE;
    }
    return 0;
}

static uint64_t coredump_filter_read(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/coredump_filter", pid);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    _cleanup_error_ struct error *err = file_read(path, &bytes);
    return err || bytes.size == 0 ? FILTER_DEFAULT : strtoull((const char *)bytes.data, NULL, 16);
}

static bool memory_is_elf(int memory, uint64_t address)
{
    char magic[SELFMAG];
    return pread(memory, magic, sizeof(magic), (off_t)address) == (ssize_t)sizeof(magic) &&
           memcmp(magic, ELFMAG, SELFMAG) == 0;
}

struct error *core_mappings_read(pid_t pid, int memory, struct core_mapping_vec *mappings)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (!err)
        err = core_mappings_parse((const char *)bytes.data, mappings);
    if (err)
        return error_prefix(err, "cannot read the mappings of process %d", pid);
    if (mappings->length == 0)
        return error_create(ERROR_NOT_FOUND, "process %d has no memory left", pid);
    uint64_t filter = coredump_filter_read(pid);
    for (size_t i = 0; i < mappings->length; i++) {
        struct core_mapping *mapping = &mappings->data[i];
        bool if_elf;
        mapping->dumped = core_mapping_dump_size(mapping, filter, &if_elf);
        if (if_elf && !memory_is_elf(memory, mapping->start))
            mapping->dumped = 0;
    }
    return NULL;
}

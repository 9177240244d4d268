// SPDX-License-Identifier: Apache-2.0
#include "dep_trace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dep_table.h"

const struct dep_header *dep_trace_map(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (file < 0 || fstat(file, &status) != 0 || (size_t)status.st_size < sizeof(struct dep_header))
        dep_fail("cannot read", path);
    struct dep_header *header = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (header == MAP_FAILED || header->magic != DEP_MAGIC)
        dep_fail("is no trace:", path);
    if (header->length > header->capacity)
        dep_fail("is full:", path);
    if (header->threads)
        dep_fail("has several threads:", path);
    return header;
}

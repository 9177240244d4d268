// SPDX-License-Identifier: Apache-2.0
/*
 * Where the flag bytes (layout/frame.h) of an executable or library are in its file, for `inquest
 * tune`: one byte a function, found through the descriptors, so in stripped files too.
 *
 *     err = flag_bytes_find(path, data, size, &modules, &count);
 *     data[modules[0].offset + function] = LAYOUT_FLAG_OFF;
 *     free(modules);
 */
#ifndef EVIDENCE_CORE_FLAG_BYTES_H
#define EVIDENCE_CORE_FLAG_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct error;

struct flag_bytes {
    uint64_t module_id;
    uint64_t offset; // in the file, of function 0
    uint32_t function_count;
    uint32_t level; // enum section_level
};

// `data` is the whole file; every range given lies in it. ERROR_NOT_FOUND: the file has none.
struct error *flag_bytes_find(const char *path, unsigned char *data, size_t size,
                              struct flag_bytes **ret, size_t *ret_count);

#endif

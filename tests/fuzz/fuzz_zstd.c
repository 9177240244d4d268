// SPDX-License-Identifier: Apache-2.0
// cost: 10
// Compressed cores: any bytes behind zstd's magic number; or, when the first byte is odd, a core
// that was edited and then compressed well, in as many frames and with as much garbage as the rest
// says.
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "evidence/core/core.h"
#include "subject.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct subject *plain;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    plain = subject_open(**argv, "plain.core");
    return 0;
}

static unsigned char *compress(const uint8_t *data, size_t size, size_t *ret_size)
{
    size_t length;
    unsigned char *core = subject_edit(plain, data, size, &length);
    size_t part = length / (1 + data[0] % 4) + 1, at = 0, used = 0;
    size_t room = ZSTD_compressBound(length) + 4096;
    unsigned char *bytes = xmalloc(room);
    for (; at < length; at += part) {
        size_t this = length - at < part ? length - at : part;
        size_t got = ZSTD_compress(bytes + used, room - used, core + at, this, 1);
        if (ZSTD_isError(got))
            break;
        used += got;
    }
    if (data[0] & 64 && used)
        bytes[(size_t)data[1] * used / 256] ^= data[2];
    *ret_size = data[0] & 128 && used > data[1] ? used - data[1] : used;
    free(core);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct core *core;
    unsigned char *bytes;
    if (size < 4)
        return 0;
    if (data[0] & 1) {
        bytes = compress(data + 1, size - 1, &size);
    } else {
        bytes = xmemdup(data, size);
        memcpy(bytes, "\x28\xb5\x2f\xfd", 4);
    }
    struct error *err = core_open_memory(bytes, size, "core.zst", &core);
    if (!err)
        core_destroy(core);
    error_destroy(err);
    free(bytes);
    return 0;
}

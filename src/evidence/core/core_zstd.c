// SPDX-License-Identifier: Apache-2.0
/*
 * Compressed cores, as systemd-coredump and `zstd core` leave them. They are decompressed once,
 * into a file without a name: a core may be larger than memory, and is mostly holes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "evidence/core/core_internal.h"

struct core_output {
    int descriptor;
    uint64_t size;
    uint64_t limit;
};

static void core_free_stream(ZSTD_DCtx **stream)
{
    ZSTD_freeDCtx(*stream);
}

bool core_is_zstd(const unsigned char *data, size_t size)
{
    return size >= 4 && memcmp(data, CORE_ZSTD_MAGIC, 4) == 0;
}

static struct error *core_create_temporary(int *ret)
{
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory)
        directory = "/tmp";
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
        *ret = descriptor;
        return NULL;
    }
    _cleanup_free_ char *name = file_join(directory, "inquest-core-XXXXXX");
    descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor < 0)
        return error_errno(errno, directory, "cannot create a temporary file in");
    unlink(name);
    *ret = descriptor;
    return NULL;
}

static bool core_is_zero(const unsigned char *data, size_t size)
{
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

/* Zeros become holes. */
static struct error *core_write_output(struct core_output *output, const char *path,
                                       const unsigned char *data, size_t size)
{
    if (size > output->limit - output->size)
        return error_create_file(ERROR_LIMIT, path,
                                 "core is larger than %" PRIu64 " bytes when decompressed",
                                 output->limit);
    size_t done = core_is_zero(data, size) ? size : 0;
    while (done < size) {
        ssize_t written =
            pwrite(output->descriptor, data + done, size - done, (off_t)(output->size + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_errno(written ? errno : EIO, path,
                               "cannot write a temporary file while decompressing");
        done += (size_t)written;
    }
    output->size += size;
    return NULL;
}

static struct error *core_decompress_all(ZSTD_DCtx *stream, const char *path,
                                         const unsigned char *data, size_t size,
                                         struct core_output *output)
{
    size_t capacity = ZSTD_DStreamOutSize();
    _cleanup_free_ unsigned char *buffer = xmalloc(capacity);
    ZSTD_inBuffer in = {data, size, 0};
    size_t state = 1; // 0 at the end of a frame
    for (;;) {
        ZSTD_outBuffer out = {buffer, capacity, 0};
        size_t before = in.pos;
        state = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(state))
            return error_create_at_offset(ERROR_FORMAT, path, in.pos,
                                          "broken zstd data in the core: %s",
                                          ZSTD_getErrorName(state));
        struct error *err = core_write_output(output, path, buffer, out.pos);
        if (err)
            return err;
        if (state == 0 && in.pos == in.size)
            return NULL;
        if (out.pos == 0 && in.pos == before)
            return error_create_file(
                ERROR_FORMAT, path,
                "truncated core: its compressed data ends early, after %" PRIu64 " bytes of core",
                output->size);
    }
}

static struct error *core_map_output(const struct core_output *output, const char *path,
                                     struct file_bytes *ret)
{
    if (ftruncate(output->descriptor, (off_t)output->size) < 0)
        return error_errno(errno, path, "cannot write a temporary file while decompressing");
    if (output->size == 0) {
        *ret = (struct file_bytes){xmalloc(1), 0, false};
        return NULL;
    }
    void *data = mmap(NULL, output->size, PROT_READ, MAP_PRIVATE, output->descriptor, 0);
    if (data == MAP_FAILED)
        return error_errno(errno, path, "cannot map the decompressed core");
    *ret = (struct file_bytes){data, output->size, true};
    return NULL;
}

struct error *core_decompress(const char *path, const unsigned char *data, size_t size,
                              uint64_t limit, struct file_bytes *ret)
{
    _cleanup_close_ int descriptor = -1;
    struct error *err = core_create_temporary(&descriptor);
    if (err)
        return err;
    _cleanup_(core_free_stream) ZSTD_DCtx *stream = ZSTD_createDCtx();
    if (!stream)
        alloc_fail(0);
    struct core_output output = {descriptor, 0, limit};
    err = core_decompress_all(stream, path, data, size, &output);
    if (err)
        return err;
    return core_map_output(&output, path, ret);
}

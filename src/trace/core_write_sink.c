// SPDX-License-Identifier: Apache-2.0
/* Where the bytes of a core go: a file with holes, or a zstd frame. */
#include "trace/core_write_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "common/alloc.h"
#include "common/error.h"

struct core_sink {
    FILE *stream;
    int descriptor;
    uint64_t position;
    uint64_t stored;
    ZSTD_CCtx *zstd; /* NULL: plain */
    void *buffer;    /* compressed output */
    size_t buffer_size;
};

static const unsigned char core_zeros[65536];

struct core_sink *core_sink_create(FILE *stream, bool zstd)
{
    struct core_sink *sink = xcalloc(1, sizeof(*sink));
    sink->stream = stream;
    sink->descriptor = fileno(stream);
    if (zstd) {
        sink->zstd = ZSTD_createCCtx();
        if (!sink->zstd)
            alloc_fail(0);
        /* Fast: the process is waiting. */
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, 1);
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1);
        sink->buffer_size = ZSTD_CStreamOutSize();
        sink->buffer = xmalloc(sink->buffer_size);
    }
    return sink;
}

void core_sink_destroy(struct core_sink *sink)
{
    if (!sink)
        return;
    ZSTD_freeCCtx(sink->zstd);
    free(sink->buffer);
    free(sink);
}

static struct error *sink_compress(struct core_sink *sink, const void *data, size_t size,
                                   ZSTD_EndDirective end)
{
    ZSTD_inBuffer input = {data, size, 0};
    size_t left;
    do {
        ZSTD_outBuffer output = {sink->buffer, sink->buffer_size, 0};
        left = ZSTD_compressStream2(sink->zstd, &output, &input, end);
        if (ZSTD_isError(left))
            return error_create(ERROR_OTHER, "cannot compress: %s", ZSTD_getErrorName(left));
        if (fwrite(sink->buffer, 1, output.pos, sink->stream) != output.pos)
            return error_errno(errno, NULL, "cannot write the core");
    } while (end == ZSTD_e_end ? left > 0 : input.pos < input.size);
    return NULL;
}

static struct error *sink_store(struct core_sink *sink, const char *data, size_t size)
{
    off_t at = (off_t)sink->position;
    while (size > 0) {
        ssize_t length = pwrite(sink->descriptor, data, size, at);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return error_errno(length < 0 ? errno : EIO, NULL, "cannot write the core");
        data += length;
        size -= (size_t)length;
        at += length;
    }
    return NULL;
}

struct error *core_sink_write(struct core_sink *sink, const void *data, size_t size)
{
    struct error *err = sink->zstd ? sink_compress(sink, data, size, ZSTD_e_continue)
                                   : sink_store(sink, data, size);
    if (err)
        return err;
    sink->position += size;
    sink->stored += size;
    return NULL;
}

struct error *core_sink_skip(struct core_sink *sink, uint64_t size)
{
    for (uint64_t left = sink->zstd ? size : 0; left > 0;) {
        size_t part = left < sizeof(core_zeros) ? (size_t)left : sizeof(core_zeros);
        struct error *err = sink_compress(sink, core_zeros, part, ZSTD_e_continue);
        if (err)
            return err;
        left -= part;
    }
    sink->position += size;
    return NULL;
}

struct error *core_sink_finish(struct core_sink *sink)
{
    if (sink->zstd)
        return sink_compress(sink, NULL, 0, ZSTD_e_end);
    /* A hole at the end has not made the file longer. */
    if (ftruncate(sink->descriptor, (off_t)sink->position) < 0)
        return error_errno(errno, NULL, "cannot write the core");
    return NULL;
}

uint64_t core_sink_position(const struct core_sink *sink)
{
    return sink->position;
}

uint64_t core_sink_stored(const struct core_sink *sink)
{
    return sink->stored;
}

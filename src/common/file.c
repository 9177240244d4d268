// SPDX-License-Identifier: Apache-2.0
#include "common/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"

#define DEVICE_LIMIT ((size_t)1 << 26) // what is read of /dev/zero before giving up

static struct error *file_open(const char *path, int *ret)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return error_errno(errno, path, "cannot open");
    *ret = descriptor;
    return NULL;
}

static struct error *file_read_descriptor(const char *path, int descriptor, struct file_bytes *ret)
{
    struct stat status;
    size_t capacity = 4096;
    bool has_status = fstat(descriptor, &status) == 0;
    if (has_status && S_ISREG(status.st_mode) && status.st_size > 0)
        capacity = (size_t)status.st_size + 2;
    bool is_device = has_status && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
    size_t size = 0;
    _cleanup_free_ unsigned char *data = xmalloc(capacity);
    for (;;) {
        if (size + 1 >= capacity) {
            capacity *= 2;
            data = xrealloc(data, capacity);
        }
        ssize_t got = read(descriptor, data + size, capacity - size - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(errno, path, "cannot read");
        if (got == 0)
            break;
        size += (size_t)got;
        if (is_device && size > DEVICE_LIMIT)
            return error_create_file(ERROR_LIMIT, path, "a device without an end");
    }
    data[size] = '\0';
    *ret = (struct file_bytes){no_cleanup_ptr(data), size, false};
    return NULL;
}

struct error *file_read(const char *path, struct file_bytes *ret)
{
    _cleanup_close_ int descriptor = -1;
    struct error *err = file_open(path, &descriptor);
    if (err)
        return err;
    return file_read_descriptor(path, descriptor, ret);
}

struct error *file_map(const char *path, struct file_bytes *ret)
{
    _cleanup_close_ int descriptor = -1;
    struct error *err = file_open(path, &descriptor);
    if (err)
        return err;
    struct stat status;
    if (fstat(descriptor, &status) < 0)
        return error_errno(errno, path, "cannot stat");
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return file_read_descriptor(path, descriptor, ret);
    size_t size = (size_t)status.st_size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return error_errno(errno, path, "cannot map");
    *ret = (struct file_bytes){data, size, true};
    return NULL;
}

void file_bytes_deinit(struct file_bytes *bytes)
{
    if (bytes->mapped)
        munmap((void *)bytes->data, bytes->size);
    else
        free((void *)bytes->data);
    *bytes = (struct file_bytes)FILE_BYTES_INIT;
}

/*
 * A new file beside path. Not mkstemp(), whose mode is always 0600, and umask() cannot be read
 * without being changed for all threads.
 */
static struct error *file_create_temporary(const char *path, unsigned mode, int *ret_descriptor,
                                           char **ret_name)
{
    static atomic_uint counter;
    for (int attempt = 0;; attempt++) {
        unsigned count = atomic_fetch_add(&counter, 1);
        uint64_t tag = hash_u64(hash_u64(HASH_SEED, (uint64_t)getpid()), count);
        _cleanup_free_ char *name = xasprintf("%s.%08x.tmp", path, (unsigned)hash_mix(tag));
        int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (descriptor >= 0) {
            *ret_descriptor = descriptor;
            *ret_name = no_cleanup_ptr(name);
            return NULL;
        }
        if (errno != EEXIST || attempt == 100)
            return error_errno(errno, path, "cannot create");
    }
}

struct error *file_writer_init(struct file_writer *writer, const char *path, unsigned mode)
{
    int descriptor;
    char *temporary;
    struct error *err = file_create_temporary(path, mode, &descriptor, &temporary);
    if (err)
        return err;
    FILE *stream = fdopen(descriptor, "w");
    if (!stream)
        alloc_fail(0);
    *writer = (struct file_writer){stream, xstrdup(path), temporary};
    return NULL;
}

struct error *file_writer_commit(struct file_writer *writer)
{
    assert(writer->stream && writer->temporary);
    /* What an earlier write failed of is no longer known; that of the last one is. */
    int errnum = ferror(writer->stream) ? EIO : 0;
    if (fclose(writer->stream) != 0)
        errnum = errno;
    writer->stream = NULL;
    if (errnum)
        return error_errno(errnum, writer->path, "cannot write");
    if (rename(writer->temporary, writer->path) < 0)
        return error_errno(errno, writer->path, "cannot write");
    free(writer->temporary);
    writer->temporary = NULL;
    return NULL;
}

void file_writer_deinit(struct file_writer *writer)
{
    if (writer->stream)
        fclose(writer->stream);
    if (writer->temporary)
        unlink(writer->temporary);
    free(writer->temporary);
    free(writer->path);
    *writer = (struct file_writer){NULL, NULL, NULL};
}

struct error *file_write(const char *path, const void *data, size_t size, unsigned mode)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};
    struct error *err = file_writer_init(&writer, path, mode);
    if (err)
        return err;
    /* A short write leaves the stream's error flag set, which the commit finds. */
    if (size)
        (void)!fwrite(data, 1, size, writer.stream);
    return file_writer_commit(&writer);
}

struct error *file_make_directories(const char *path)
{
    _cleanup_free_ char *partial = xstrdup(path);
    for (char *at = partial + 1; *partial; at++) {
        bool last = *at == '\0';
        if (!last && *at != '/')
            continue;
        *at = '\0';
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return error_errno(errno, partial, "cannot create directory");
        if (last)
            break;
        *at = '/';
    }
    struct stat status;
    if (stat(path, &status) < 0)
        return error_errno(errno, path, "cannot create directory");
    if (!S_ISDIR(status.st_mode))
        return error_errno(ENOTDIR, path, "cannot create directory");
    return NULL;
}

char *file_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *separator = length > 0 && directory[length - 1] == '/' ? "" : "/";
    return xasprintf("%s%s%s", directory, separator, name);
}

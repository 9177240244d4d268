// SPDX-License-Identifier: Apache-2.0
/*
 * Whole files: read, mapped, or written so that a reader sees the old one or the new one.
 *
 *     struct file_bytes bytes = FILE_BYTES_INIT;
 *     struct error *err = file_map(path, &bytes);
 *     if (err)
 *             return err;
 *     parse(bytes.data, bytes.size);
 *     file_bytes_deinit(&bytes);
 */
#ifndef INQUEST_COMMON_FILE_H
#define INQUEST_COMMON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;

/* A file's contents. data is not NULL once read or mapped; an empty file has size 0. */
struct file_bytes {
    const unsigned char *data;
    size_t size;
    bool mapped;
};

#define FILE_BYTES_INIT {NULL, 0, false}

/* Read into memory, pipes and /proc files too. One NUL that does not count follows the data. */
struct error *file_read(const char *path, struct file_bytes *ret);
/*
 * Mapped read-only and private; for large files. No NUL follows. Should another process cut the
 * file meanwhile, reading behind its new end is SIGBUS: map what is not being written to. What is
 * not a regular file is read instead.
 */
struct error *file_map(const char *path, struct file_bytes *ret);
void file_bytes_deinit(struct file_bytes *bytes);

/*
 * Writes path as a whole, through a temporary file in the same directory and rename(). mode is as
 * for open() (subject to umask). On failure nothing of path has changed and nothing is left.
 */
struct error *file_write(const char *path, const void *data, size_t size, unsigned mode);

/*
 * The same by pieces: write to stream, then commit. file_writer_deinit without a commit
 * leaves path as it was.
 *
 *     struct file_writer writer;
 *     err = file_writer_init(&writer, path, 0666);
 *     if (!err) {
 *             fprintf(writer.stream, ...);
 *             err = file_writer_commit(&writer);
 *             file_writer_deinit(&writer);
 *     }
 */
struct file_writer {
    FILE *stream; /* NULL after the commit */
    char *path;
    char *temporary; /* NULL after the commit */
};
struct error *file_writer_init(struct file_writer *writer, const char *path, unsigned mode);
/* Every write error up to here is found. */
struct error *file_writer_commit(struct file_writer *writer);
void file_writer_deinit(struct file_writer *writer);

/* mkdir -p; a directory that is there is fine. */
struct error *file_make_directories(const char *path);

/* directory/name, to be freed. */
char *file_join(const char *directory, const char *name) __attribute__((__returns_nonnull__));

#define _cleanup_file_bytes_  __attribute__((__cleanup__(file_bytes_deinit)))
#define _cleanup_file_writer_ __attribute__((__cleanup__(file_writer_deinit)))

#endif

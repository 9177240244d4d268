/*
 * Running clang, or one of its jobs.
 *
 * The driver makes no files: what has to be a file for another program is held in memory (memfd)
 * and named through /proc/PID/fd. The process keeps its number, and the descriptors that it is told
 * to keep, when it becomes clang, so the name holds for whatever clang runs, linker wrappers that
 * close what they inherit included. And there is nothing to remove, whatever ends us.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_PROCESS_H
#define INQUEST_INSTRUMENT_DRIVER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "instrument/driver/arguments.h"

struct arena;
struct error;

/* The program's path, in the arena. This very driver under another name is passed over. */
struct error *process_find(struct arena *arena, const char *name, const char **ret_path);

/* Whether path is this very program, under whatever name. */
bool process_is_self(const char *path);

/* An empty file in memory, to be closed. */
struct error *memory_file_create(const char *name, int *ret_fd);
/* It stays open when we become another program. */
void memory_file_keep(int fd);
struct error *memory_file_write(int fd, const void *data, size_t size);
/* All that is in it, in the arena, NUL-terminated; *ret_size does not count the NUL. */
struct error *memory_file_read(struct arena *arena, int fd, const char **ret_data,
                               size_t *ret_size);
/* Its path, in the arena; good for every process as long as this one lives. */
const char *memory_file_path(struct arena *arena, int fd);

/* Becomes the program; comes back only to say why it could not. arguments are without the name. */
struct error *process_become(struct arena *arena, const char *path,
                             const struct arguments *arguments);

/*
 * Runs the program and waits for it; *ret_status is as wait(2) has it. Each descriptor that is not
 * -1 stands for that of the program; -2 for /dev/null.
 */
struct process_streams {
    int input, output, errors;
};
#define PROCESS_INHERIT (-1)
#define PROCESS_NULL    (-2)
struct error *process_run(struct arena *arena, const char *path, const struct arguments *arguments,
                          struct process_streams streams, int *ret_status);

/* Ends as the program of this status did: with its exit code, or by its signal. */
void process_end_like(int status) __attribute__((__noreturn__));

#endif

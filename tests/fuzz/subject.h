// SPDX-License-Identifier: Apache-2.0
/*
 * A real ELF file that a fuzz target edits: an input is a short list of edits, each at a place that
 * means something (a header, a note, a section, the top of the stack), so that most of the file
 * stays good and the reader gets far.
 *
 *     struct subject *subject = subject_open(argv0, "core");
 *     unsigned char *edited = subject_edit(subject, data, size, &edited_size);
 *     const char *path = subject_file("core", edited, edited_size);     // in memory, for readers
 * of files free(edited);
 *
 * The files are made by tests/fuzz/make-seeds, beside the target in seeds/. An edit takes
 * SUBJECT_EDIT bytes: region, where in it (16 bits), how, and a value.
 */
#ifndef TESTS_FUZZ_SUBJECT_H
#define TESTS_FUZZ_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#define SUBJECT_EDIT 5

struct subject_region {
    size_t start, size;
};

struct subject {
    char *path;
    unsigned char *data;
    size_t size;
    struct subject_region regions[256];
    size_t region_count;
};

// Aborts when the seeds are not there. Lives as long as the process.
struct subject *subject_open(const char *argv0, const char *name);
// A copy with the edits made, to be freed.
unsigned char *subject_edit(const struct subject *subject, const uint8_t *data, size_t size,
                            size_t *ret_size);
// A region that is edited more often than others: the target knows why.
void subject_add_region(struct subject *subject, size_t start, size_t size);

// The path of a file in memory with these contents; name tells the few files of a target apart and
// is a string literal. The next call with the same name replaces it.
const char *subject_file(const char *name, const void *data, size_t size);

#endif

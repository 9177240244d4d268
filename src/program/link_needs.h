// SPDX-License-Identifier: Apache-2.0
/*
 * What it takes to link a program again, and what of it is here.
 *
 *     struct link_needs needs;
 *     struct error *err = link_needs_find(image, NULL, &needs);
 *     for (size_t i = 0; !err && i < needs.length; i++)
 *             if (needs.data[i].status >= LINK_STATUS_DIFFERS)
 *                     puts(needs.data[i].name);
 *     link_needs_destroy(&needs);
 *
 * Modules of the model can be made from their bitcode. Everything else has to be had: embedded in
 * the program, or as a file with the hash or build-id that the record has. Members of archives that
 * the linker is known not to have taken are not needed.
 */
#ifndef PROGRAM_LINK_NEEDS_H
#define PROGRAM_LINK_NEEDS_H

#include "common/vec.h"
#include "program/link_record.h"

struct error;
struct image;

// The better ones first.
enum link_status {
    LINK_STATUS_MODEL,    // its bitcode is in the program
    LINK_STATUS_EMBEDDED, // it is in the program as a whole
    LINK_STATUS_SAME,     // a file of the same contents is there
    LINK_STATUS_DIFFERS,  // a file is there, and is another
    LINK_STATUS_MISSING,  // nothing is there
};
#define LINK_STATUS_COUNT 5

struct link_need {
    const struct link_record *record; // borrowed from the image
    uint32_t input;                   // its number there; LINK_NONE: the linker itself
    const struct link_member *member; // of an archive, or NULL
    enum link_status status;
    char *name; // "libx.a(y.o)"
    char *path; // where it was looked for, and found if status is SAME or DIFFERS; NULL: nowhere
};
VEC_DEFINE(link_needs, struct link_need);

// `directory` is where the directory of the link is now; NULL: where it was. The links that made
// objects of the program come behind the one that made the program. ERROR_NOT_FOUND: it was not
// linked by inquest-cc.
struct error *link_needs_find(const struct image *image, const char *directory,
                              struct link_needs *ret);
void link_needs_destroy(struct link_needs *needs);

const char *link_status_name(enum link_status status);
// What to do about one that DIFFERS or is MISSING; a sentence without its full stop.
const char *link_need_advice(const struct link_need *need);

#endif

/*
 * Modules of ours in LLVM bitcode (the objects of -flto), found without LLVM: the driver is run for
 * every file, and LLVM takes longer to start than all else that the driver does.
 *
 * A module's section is text of its inline assembly there (instrument/embed.c). Bitcode stores that
 * as a record without abbreviation: every character as a number in chunks of six bits, the lowest
 * first, of which the sixth says that more follow; and it may begin at any bit of the file.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_OBJECT_BITCODE_H
#define INQUEST_INSTRUMENT_DRIVER_OBJECT_BITCODE_H

#include <stdbool.h>
#include <stddef.h>

struct link_ids;

bool bitcode_is(const unsigned char *data, size_t size);

/* Appends the ids of all modules whose section is in it. */
void bitcode_read_modules(const unsigned char *data, size_t size, struct link_ids *ret,
                          bool *ret_outdated);

#endif

/*
 * Which members of archives the linker took, by the map that it wrote (-Map, or lld's
 * --why-extract).
 *
 *     taken_read(&record, &arena, map, size);
 *
 * GNU ld and gold list the members that they took, and so does --why-extract; lld's map has the
 * sections of those that have any in the output: LIBRARY.a(MEMBER.o), in every language. Members of
 * a thin archive GNU ld calls by their own path. What is not mentioned was not taken, or nothing of
 * it is in the output. Where the map cannot tell, LINK_TAKEN_UNKNOWN stays: bitcode, names with
 * blanks in them, members of the same name.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_TAKEN_H
#define INQUEST_INSTRUMENT_DRIVER_TAKEN_H

#include <stddef.h>

struct arena;
struct link_record;

/* The map ends with a NUL, which size does not count. */
void taken_read(struct link_record *record, struct arena *arena, const char *map, size_t size);

#endif

/*
 * The object file that carries the record of a link, and the files that are embedded, into the
 * output; and what is changed there when the link is done.
 *
 *     link_object_frame(&record, &frame);
 *     err = link_object_write(&frame, &bodies, false, true, fd);        // to an empty file
 *     ... the link ...
 *     link_object_frame(&record, &changed);
 *     err = link_object_replace("prog", &frame, &changed);
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINK_OBJECT_H
#define INQUEST_INSTRUMENT_DRIVER_LINK_OBJECT_H

#include <stdbool.h>

struct error;
struct link_bodies;
struct link_record;
struct strbuf;

/* Appends the record as the section has it. */
void link_object_frame(const struct link_record *record, struct strbuf *ret);

/* For x86-64, with SECTION_LINK and, where there are bodies to embed, SECTION_OBJECTS. `all`: those
 * that have to be asked for, too. `pages`: coverage begins and ends with a page. */
struct error *link_object_write(const struct strbuf *frame, const struct link_bodies *bodies,
                                bool all, bool pages, int fd);

/*
 * Puts a frame in the place of one that was written and is as long. A file without that one
 * (/dev/null, what some tool has made of the output) is left as it is.
 */
struct error *link_object_replace(const char *path, const struct strbuf *old,
                                  const struct strbuf *frame);

#endif

/*
 * What `.inquest.link` says of one link: the command, and the inputs that carry no model with the
 * symbols that they refer to. A function that such an input refers to may be called from code that
 * nobody can look into, so the reader takes it for a root.
 *
 *     struct link_record record;
 *     link_record_init(&record, "inquest-cc", &arguments);
 *     link_record_add_input(&record, LINK_INPUT_MODELLESS, "crc32.o");
 *     link_record_add_undefined(&record, "crc_table");
 *     err = link_record_write(&record, fd);    // an object file for the linker
 *     link_record_deinit(&record);
 *
 * The payload is lines of KEYWORD, tab, VALUE, newline, in which control characters, backslashes
 * and bytes that are not UTF-8 are written as \t, \n, \\ or \xNN (strbuf_append_escaped):
 *
 *     command    the arguments, response files expanded, quoted for a shell; the first line
 *     modelless  an input that the user named and that has no model (an archive: some members)
 *     toolchain  the same, added by clang: start-up files, libgcc, with -static libc
 *     opaque     an input that has no model and whose references could not be read: any
 *                function may be called from it
 *     undefined  a symbol that the input named last refers to and does not define
 *
 * Inputs that have a model, and shared libraries, are not mentioned.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINK_RECORD_H
#define INQUEST_INSTRUMENT_DRIVER_LINK_RECORD_H

#include <stdbool.h>

#include "common/strbuf.h"

struct arguments;
struct error;

enum link_input {
    LINK_INPUT_MODELLESS,
    LINK_INPUT_TOOLCHAIN,
    LINK_INPUT_OPAQUE,
};

struct link_record {
    struct strbuf text;
    bool has_user_input; /* some input is modelless or opaque */
};

/* program is the driver's name, arguments are the user's. */
void link_record_init(struct link_record *record, const char *program,
                      const struct arguments *arguments);
void link_record_deinit(struct link_record *record);

void link_record_add_input(struct link_record *record, enum link_input kind, const char *path);
/* Of the input added last. */
void link_record_add_undefined(struct link_record *record, const char *symbol);

/* An x86-64 object file with the record in SECTION_LINK and nothing else, to an empty file. */
struct error *link_record_write(const struct link_record *record, int fd);

#endif

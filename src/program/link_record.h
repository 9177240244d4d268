// SPDX-License-Identifier: Apache-2.0
/*
 * What `.inquest.link` says of one link: the linker and its arguments, and every input: what it is,
 * where it was, which modules of the model came from it, and of code without a model its hash and
 * the symbols that it refers to. From this and the bitcode in the executable a program can be
 * linked again (link_needs.h says what else that takes); and functions that code without a model
 * refers to may be called from there (resolve.h).
 *
 *     struct link_record record;
 *     struct error *err = link_record_parse("prog", offset, payload, length, &record);
 *     for (size_t i = 0; !err && i < record.inputs.length; i++)
 *             use(&record.inputs.data[i]);
 *     link_record_deinit(&record);
 *
 * inquest-cc fills a record and writes it (link_record_write), `inquest` reads it; this is the one
 * place that knows the lines (docs/formats/sections.md). Writing what was parsed gives the same
 * bytes. After link_record_parse all of this holds, whatever the bytes were: numbers of inputs are
 * below inputs.length, `within` and members are in order, every string is free of NULs, kinds and
 * origins are known ones. Strings are never NULL where the comment does not say so.
 */
#ifndef PROGRAM_LINK_RECORD_H
#define PROGRAM_LINK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/sha256.h"
#include "common/vec.h"

struct error;
struct strbuf;

#define LINK_RECORD_VERSION 1u
#define LINK_NONE           UINT32_MAX

enum link_kind {
    LINK_OBJECT,    // ELF, relocatable
    LINK_BITCODE,   // LLVM's, for -flto
    LINK_ARCHIVE,   // of objects
    LINK_THIN,      // an archive whose members are files outside of it
    LINK_SHARED,    // a shared library
    LINK_SCRIPT,    // text for the linker: scripts, versions of symbols, lists of symbols
    LINK_DATA,      // anything, taken as it is (--format=binary)
    LINK_PLUGIN,    // of the linker
    LINK_SOURCE,    // compiled by the same command
    LINK_ASSEMBLER, // assembled by the same command
    LINK_UNREAD,    // was not there, or could not be looked into
};
#define LINK_KIND_COUNT 11

enum link_origin {
    LINK_USER,      // named by the user
    LINK_TOOLCHAIN, // added by the compiler: start-up files, libgcc, libc, and our own run time
};
#define LINK_ORIGIN_COUNT 2

// Whether the linker took a member of an archive.
enum link_taken {
    LINK_TAKEN_UNKNOWN,
    LINK_TAKEN_YES,
    LINK_TAKEN_NO,
};

VEC_DEFINE(link_ids, uint64_t);
VEC_DEFINE(link_names, const char *);

/*
 * What a file, or a member of an archive, holds. Its contents count, and `hash` names them, unless
 * all code in it is in the model: then the bitcode is what it can be made from.
 */
struct link_content {
    bool has_hash;
    struct sha256 hash;
    uint64_t size;
    struct link_ids models;  // ids of modules, in order
    struct link_ids records; // of the relocatable links that made it: payload_hash of their frames
    bool has_symbols;
    uint64_t symbols; // hash_string() of each strong global that it defines and a newline, sorted
};

struct link_member {
    enum link_kind kind; // LINK_OBJECT or LINK_BITCODE
    const char *name;    // of a thin archive a path, as the archive has it
    uint32_t number;     // among all members of the archive, tables not counted; ascending
    enum link_taken taken;
    struct link_content content;
};
VEC_DEFINE(link_members, struct link_member);

struct link_input {
    enum link_kind kind;
    enum link_origin origin;
    const char *path;     // as the linker opens it, prefixes mapped
    const char *resolved; // where symbolic links lead; NULL: path is none
    uint32_t within;      // the script that names it, or the library that needs it, which comes
                          // before; LINK_NONE: an argument does
    const char *soname;   // of a shared library; or NULL
    const char *build_id; // in hexadecimal; or NULL
    struct link_content content;
    bool modelless; // holds code without a model
    bool opaque;    // and what that refers to is not known: anything
    struct link_names undefined;
    struct link_members members; // of an archive: those that the linker may have taken
};
VEC_DEFINE(link_inputs_vec, struct link_input);

// One argument of the linker, as it was given; where it names an input, `before` and the path of
// that input stand for the same.
struct link_argument {
    const char *text;
    uint32_t input;     // or LINK_NONE
    const char *before; // "" where input is LINK_NONE
};
VEC_DEFINE(link_arguments_vec, struct link_argument);

struct link_variable {
    const char *name, *value;
};
VEC_DEFINE(link_variables, struct link_variable);

struct link_record {
    const char *directory;                        // where the linker ran, prefixes mapped
    const char *command;                          // the user's, quoted for a shell
    const char *compiler;                         // as clang names itself; "" when not known
    const char *linker;                           // path
    const char *linker_build_id, *linker_version; // "" when not known
    struct link_variables environment;            // what of it the linker heeds
    bool relocatable;                             // the output is one more object (`ld -r`)
    const char *output;
    struct link_inputs_vec inputs; // in the order in which the linker meets them first
    struct link_arguments_vec arguments;
    struct arena arena; // of all strings that link_record_parse made
};

// Empty, every string "".
void link_record_init(struct link_record *record);
void link_record_deinit(struct link_record *record);

// An input or member is added empty; the pointer lives until the next is added.
struct link_input *link_record_add_input(struct link_record *record, enum link_kind kind,
                                         enum link_origin origin, const char *path);
struct link_member *link_input_add_member(struct link_input *input, uint32_t number,
                                          enum link_kind kind, const char *name);

// Appends the lines.
void link_record_write(const struct link_record *record, struct strbuf *ret);
// path and offset of the payload are for messages: ERROR_FORMAT, or ERROR_MISMATCH for another
// version.
struct error *link_record_parse(const char *path, uint64_t offset, const void *payload,
                                size_t length, struct link_record *ret);

static inline bool link_is_archive(const struct link_input *input)
{
    return input->kind == LINK_ARCHIVE || input->kind == LINK_THIN;
}

const char *link_kind_name(enum link_kind kind);
const char *link_origin_name(enum link_origin origin);
const char *link_taken_name(enum link_taken taken); // "yes", "no", "unknown"

#endif

/*
 * What an object file holds, as far as a link and its record go.
 *
 *     struct object object = OBJECT_INIT;
 *     object_read(&object, &arena, data, size);
 *     if (object.kind == OBJECT_CODE && object.modelless)
 *             ... object.undefined ...
 *     object_deinit(&object);
 *
 * Reads ELF (objects and shared libraries) and LLVM bitcode. Strings are in the arena.
 *
 * An object with a model may hold code without one: `ld -r` puts both into one file. Clang's own
 * assembler writes the table of strings first, which nobody else does, so that what it wrote is
 * known to be one module and nothing but that. Any other object with a model is `altered` (merged,
 * stripped, changed by objcopy, from an outside assembler), unless the record of a relocatable link
 * of ours is in it: then it may refer to any of its symbols from code without a model.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_OBJECT_H
#define INQUEST_INSTRUMENT_DRIVER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/map.h"
#include "instrument/driver/arguments.h"
#include "program/link_record.h"

struct arena;

MAP_DEFINE_STRING(name_set, bool);

enum object_kind {
    OBJECT_CODE,    /* ELF, relocatable */
    OBJECT_SHARED,  /* a shared library, or any ELF that is linked already */
    OBJECT_BITCODE, /* of -flto */
    OBJECT_OTHER,   /* something else: perhaps a linker script */
};

struct object {
    enum object_kind kind;
    bool modelless; /* some code has no model */
    bool opaque;    /* and what it refers to could not be found out */
    bool altered;   /* has a model, and may not be what the compiler made */
    bool outdated;  /* its model is of another version */
    struct link_content content;
    struct arguments undefined; /* what code without a model may refer to; each once */
    /* For the choice of members of archives. */
    struct arguments defined; /* global */
    struct arguments wanted;  /* undefined and not weak, or common */
    /* Of a shared library. */
    const char *soname;      /* or NULL */
    struct arguments needed; /* names of libraries */
    struct arguments search; /* DT_RUNPATH or DT_RPATH, directory by directory */
    const char *build_id;    /* in hexadecimal, or NULL */
};

#define OBJECT_INIT {.kind = OBJECT_OTHER}

void object_deinit(struct object *object);

/* What cannot be read is opaque. */
void object_read(struct object *object, struct arena *arena, const unsigned char *data,
                 size_t size);

/* The build-id of a program or library, in the arena; NULL when it has none. */
const char *object_build_id(struct arena *arena, const unsigned char *data, size_t size);

/* Whether the contents themselves are needed to link again; the bitcode is not enough. */
static inline bool object_is_needed(const struct object *object)
{
    switch (object->kind) {
    case OBJECT_SHARED:
        return !object->build_id;
    case OBJECT_OTHER:
        return true;
    default:
        return object->modelless;
    }
}

#endif

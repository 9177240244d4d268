/*
 * What object files refer to, for those that carry no model.
 *
 *     struct references references = REFERENCES_INIT;
 *     references_read(&references, &arena, "libz.a");
 *     if (references.modelless)
 *             ... references.symbols ...
 *     references_deinit(&references);
 *
 * Reads ELF objects, archives (thin ones too) and LLVM bitcode. Of an archive all members count,
 * since which of them the linker takes is not known beforehand.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_REFERENCES_H
#define INQUEST_INSTRUMENT_DRIVER_REFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/map.h"
#include "instrument/driver/arguments.h"

struct arena;

MAP_DEFINE_STRING(name_set, bool);

struct references {
    bool modelless;           /* some code has no model */
    bool opaque;              /* and what it refers to could not be found out */
    bool text;                /* the file is neither object nor archive: perhaps a linker script */
    struct arguments symbols; /* undefined in code without model; each once, in the arena */
    struct name_set known;
};

#define REFERENCES_INIT {false, false, false, VEC_INIT, MAP_INIT}

void references_deinit(struct references *references);

/* What cannot be read is opaque; a file that is not there is nothing. */
void references_read(struct references *references, struct arena *arena, const char *path);

/* The same for an object in memory. */
void references_read_bytes(struct references *references, struct arena *arena,
                           const unsigned char *data, size_t size);

#endif

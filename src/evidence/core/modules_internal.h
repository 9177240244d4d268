// SPDX-License-Identifier: Apache-2.0
/* The bodies of struct modules and struct module, for the files of this folder. */
#ifndef INQUEST_EVIDENCE_CORE_MODULES_INTERNAL_H
#define INQUEST_EVIDENCE_CORE_MODULES_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/vec.h"
#include "evidence/core/core.h"
#include "evidence/core/modules.h"

#define MODULES_PAGE UINT64_C(4096)

/* A PT_LOAD; addresses as in the file. */
struct module_load {
    uint64_t start, end; // in memory
    uint64_t file_end;   // the end of what comes from the file
    uint64_t offset;     // of start in the file
    bool is_writable, is_executable;
};

/* Executable code; addresses as in the file. */
struct module_code {
    uint64_t start, end;
};

struct module_symbol_entry {
    uint64_t start, size; // as in the file
    uint64_t limit;       // of one without a size: where its section ends
    const char *name;
    unsigned rank; // smaller is better, among those of one address
};

VEC_DEFINE(module_load_vec, struct module_load);
VEC_DEFINE(module_code_vec, struct module_code);
VEC_DEFINE(module_symbol_vec, struct module_symbol_entry);
VEC_DEFINE(module_vec, struct module *);
VEC_DEFINE(modules_error_vec, struct error *);

struct module {
    struct module_info info;
    struct modules *set;
    int descriptor;
    Elf *elf;                  // NULL when no file is used
    const unsigned char *file; // the whole file
    size_t file_size;
    int debug_descriptor;
    Elf *debug_elf; // NULL when there is no separate debug file
    bool debug_was_sought;
    bool has_text_relocations;
    bool came_with_program; // needed by the executable: modules_loading.c
    struct module_load_vec loads;
    struct module_code_vec code; // in order of address
    struct module_symbol_vec symbols;
    bool symbols_were_read;
    struct debug_info *debug_info; // dwarf.c; NULL until asked for
};

struct modules {
    struct arena arena;
    const struct core *core; // NULL for a file alone
    struct module_vec all;   // the executable first
    struct module_vec sorted;
    struct modules_error_vec warnings;
    const char **directories; // NULL-terminated
    const char *sysroot;      // or NULL
    bool knows_loading;       // what follows is known: modules_loading.c
    bool can_unload;          // somebody can call dlclose()
    bool can_copy;            // somebody can call dlmopen()
};

/* modules_file.c: opens and checks path. The module is usable as if at bias 0. */
struct error *module_create(struct modules *set, const char *path, struct module **ret);
/* One without a file. */
struct module *module_create_unread(struct modules *set, const char *path);
/* From an image in the arena of the set. */
struct error *module_create_image(struct modules *set, const char *path, unsigned char *image,
                                  size_t size, struct module **ret);
void module_destroy(struct module *module);
/* Forget the file: it is not the one that was mapped. */
void module_drop_file(struct module *module);
/* Whether [start, end), addresses as in the file, is code that was linked. */
bool module_has_code(const struct module *module, uint64_t start, uint64_t end);
struct error *module_open_elf(const char *path, int *ret_descriptor, Elf **ret);

/* modules_match.c */
enum module_match {
    MODULE_SAME,
    MODULE_DIFFERENT,
    MODULE_UNTOLD, // the core lacks what could be compared
};
/* Compares the file with the image whose ELF header is at base in the core's memory. */
enum module_match module_compare(const struct module *module, const struct core *core,
                                 uint64_t base);
/* The build-id in the core's memory, in the arena; its size, 0 where there is none. */
size_t module_memory_build_id(const struct core *core, uint64_t base, struct arena *arena,
                              const unsigned char **ret);
struct error *modules_add_executable(struct modules *set, const char *path);
void modules_add_libraries(struct modules *set);
void modules_add_vdso(struct modules *set);

/* modules_debug.c: the separate debug file; looked for once. debug_elf stays NULL when none is
 * found. */
void module_find_debug_file(struct module *module);

/* dwarf.c; NULL is fine. */
void debug_info_destroy(struct debug_info *info);

#endif

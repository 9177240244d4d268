// SPDX-License-Identifier: Apache-2.0
/*
 * The ELF files of a failed run: the executable, its libraries and the vdso, each with where it was
 * mapped, and memory as core and files together give it.
 *
 *     struct modules_options options = {.executable = exe};
 *     struct modules *modules;
 *     struct error *err = modules_open(core, &options, &modules);      // ERROR_MISMATCH: other
 * build struct module *module = modules_find(modules, pc); size_t got = modules_read(modules,
 * address, buffer, size); modules_destroy(modules);                                        // then
 * the core
 *
 * A file is used only when it is the one that was mapped: build-ids in the core's memory and in the
 * file are compared. For the executable a difference is an error, for libraries a warning, and the
 * library's file is then not used. Where the core does not hold the pages with the build-id,
 * program headers, entry point and size are all that can be compared; `verified` is then false.
 *
 * Addresses are those of the failed process everywhere, never those of the file.
 */
#ifndef INQUEST_EVIDENCE_CORE_MODULES_H
#define INQUEST_EVIDENCE_CORE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct error;
struct module;
struct modules;

struct modules_options {
    const char *executable; // EXE: read in place of the file at the recorded path
    const char *const
        *directories;    // NULL-terminated, searched for separate debug files; may be NULL.
                         // Also searched: the file's own directory, its .debug, /usr/lib/debug
    const char *sysroot; // put before the recorded paths of libraries; may be NULL
};

struct error *modules_open(const struct core *core, const struct modules_options *options,
                           struct modules **ret);
/* NULL is fine. */
void modules_destroy(struct modules *modules);

const struct core *modules_core(const struct modules *modules);

/* Number 0 is the executable; the others are in order of address. */
size_t modules_count(const struct modules *modules);
struct module *modules_at(const struct modules *modules, size_t index);
struct module *modules_executable(const struct modules *modules);
/* The module whose mapping holds address, or NULL. */
struct module *modules_find(const struct modules *modules, uint64_t address);
/* Whether address is in an executable mapping (of a module or not). */
bool modules_is_code(const struct modules *modules, uint64_t address);

/* What was said and skipped while opening (libraries not found, of another build, ...). Borrowed.
 */
size_t modules_warning_count(const struct modules *modules);
const struct error *modules_warning_at(const struct modules *modules, size_t index);

/*
 * Copies memory from address on; the number of bytes copied, the rest is absent as in core_read.
 * Where the core lacks a page the file serves, when that is sound:
 *   - the page belongs to a PT_LOAD of a module whose file is used, that PT_LOAD is not writable:
 * its pages are the file's (text relocations are not; such modules are never read from the file);
 *   - it is writable, but the core holds private memory that was written to: a mapping of which any
 *     page was written is dumped whole (Linux, vma_dump_size), so this one is as in the file, and
 *     zero behind the file's part (.bss).
 * Memory that was excluded by madvise(MADV_DONTDUMP) looks the same as never written; nobody does
 * that to the data of an ELF file.
 */
size_t modules_read(const struct modules *modules, uint64_t address, void *buffer, size_t size);
bool modules_read_u64(const struct modules *modules, uint64_t address, uint64_t *ret);

/* One ELF file. */
struct module_info {
    const char *path;              // as the process had it mapped; "[vdso]"
    const char *file;              // what was read: EXE, the path; NULL when no file is used
    const char *debug;             // the separate debug file in use, or NULL
    uint64_t start, end;           // of its mappings
    uint64_t bias;                 // address in the process minus address in the file
    const unsigned char *build_id; // of the file, or else of the core's memory; NULL when none
    size_t build_id_size;
    bool is_executable; // EXE
    bool is_vdso;
    bool verified; // the build-id was compared and is the same
};
const struct module_info *module_info(const struct module *module);

/*
 * The same for a file without any core: an executable or a library at bias 0. The module is in a
 * set of its own: modules_at(*ret, 0). Of its memory what is not writable can be read.
 */
struct error *modules_open_file(const char *path, const char *const *directories,
                                struct modules **ret);

/* A section of the file or, where it is not there, of the separate debug file. */
struct module_section {
    const unsigned char *data; // as in the file, decompressed; NULL where it has none (.bss)
    uint64_t size;
    bool is_loaded;
    uint64_t address; // in the process, when is_loaded
};
/* Whether there is a section of that name; the first, where there are several. */
bool module_section(struct module *module, const char *name, struct module_section *ret);

/* Whether the process may have had this library in memory before, or twice, and unloaded it: what
 * is in memory is then not all that it did. */
bool module_may_be_reloaded(struct module *module);

/* A function (or other code label) from .symtab or .dynsym. */
struct module_symbol {
    const char *name;
    uint64_t address;
    uint64_t size; // 0: not said by the symbol; then it is the nearest one before the address
};
bool module_symbol_at(struct module *module, uint64_t address, struct module_symbol *ret);

#endif

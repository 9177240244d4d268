// SPDX-License-Identifier: Apache-2.0
/*
 * What debug information says of code and variables: DWARF 4 and 5, through libdw.
 *
 *     struct debug_info *info;
 *     struct error *err = debug_info_open(module, &info);      // ERROR_NOT_FOUND: there is none
 *     uint64_t at = unwind_frame_lookup(frame);
 *     for (const struct debug_scope *s = debug_scope_at(info, at); s; s = s->parent)
 *             use(s);            // virtual frames, innermost first; the last is not inlined
 *     struct debug_row row;
 *     bool known = debug_row_at(info, at, &row);               // row.line may be 0: explicitly
 * none const struct debug_variable *v = debug_scope_variable(s, "__inquest_frame"); size_t got =
 * debug_variable_read(v, modules, frame, 0, buffer, size, present);
 *
 * The prefix is debug_, since libdw has taken dwarf_. Addresses are those of the failed process.
 * Everything is built when first asked for, cached, and lives as long as the modules. Code that the
 * linker dropped (--gc-sections, the other copies of a COMDAT group) is left out: a range counts
 * only where the file has executable code. File names are absolute (DW_AT_comp_dir is put before).
 */
#ifndef INQUEST_EVIDENCE_CORE_DWARF_H
#define INQUEST_EVIDENCE_CORE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_function;
struct debug_info;
struct debug_unit;
struct debug_variable;
struct error;
struct module;
struct modules;
struct unwind_frame;

struct debug_range {
    uint64_t start, end;
};

/* ERROR_NOT_FOUND: the module has no debug information (or no file). Borrowed from the module. */
struct error *debug_info_open(struct module *module, struct debug_info **ret);
/* What was skipped so far: units whose split debug file is missing, broken units. Borrowed. */
size_t debug_info_warning_count(const struct debug_info *info);
const struct error *debug_info_warning_at(const struct debug_info *info, size_t index);

/* --- compile units --- */

size_t debug_info_unit_count(const struct debug_info *info);
struct debug_unit *debug_info_unit_at(const struct debug_info *info, size_t index);
/* The unit that has code at address, or NULL. */
struct debug_unit *debug_unit_at(struct debug_info *info, uint64_t address);
const char *debug_unit_name(const struct debug_unit *unit);      // of the source file, absolute
const char *debug_unit_directory(const struct debug_unit *unit); // DW_AT_comp_dir or ""
/* The hex digits behind LAYOUT_MODULE_VARIABLE, if the unit has such a variable. */
bool debug_unit_module_id(struct debug_unit *unit, uint64_t *ret);
/* The first unit from *index on with that module id, *index moves behind it; NULL at the end. */
struct debug_unit *debug_info_next_unit(struct debug_info *info, uint64_t module_id, size_t *index);

/* --- functions: those with code --- */

size_t debug_unit_function_count(struct debug_unit *unit);
struct debug_function *debug_unit_function_at(struct debug_unit *unit, size_t index);
/* By name or linkage name; NULL when the unit has no code of it (never emitted, or the copy of
 * another unit was linked). */
struct debug_function *debug_unit_function(struct debug_unit *unit, const char *name);
/* The physical function at address, or NULL. */
struct debug_function *debug_function_at(struct debug_info *info, uint64_t address);
struct debug_unit *debug_function_unit(const struct debug_function *function);

/*
 * A function as source has it: the physical function itself, or an inlined instance in it.
 */
struct debug_scope {
    struct debug_function *function;
    const struct debug_scope *parent; // what it was inlined into; NULL for the function itself
    struct debug_unit *origin; // the unit that defines its source function (differs with LTO)
    uint64_t die;              // offset of its DIE, and of the DIE that declares it
    uint64_t origin_die;
    const char *name;         // "" where there is none
    const char *linkage_name; // or NULL
    const char *file;         // of the declaration; NULL where unknown
    uint32_t line;            // of the declaration; 0 where unknown
    const char *call_file;    // where it was inlined, in parent; NULL where unknown
    uint32_t call_line, call_column;
    uint32_t call_discriminator; // DW_AT_GNU_discriminator; 0 where absent
    const struct debug_range *ranges;
    uint32_t range_count;
};

/* The innermost scope at address; NULL when no function of the unit has code there. */
const struct debug_scope *debug_scope_at(struct debug_info *info, uint64_t address);
/* The function itself (scopes[0]) and every inlined instance, a parent before its children. */
const struct debug_scope *debug_function_scopes(struct debug_function *function, size_t *ret_count);
bool debug_scope_has(const struct debug_scope *scope, uint64_t address);

/* --- lines --- */

struct debug_row {
    uint64_t start, end; // the code that the row stands for
    const char *file;    // NULL where unknown
    uint32_t line;       // 0: the compiler says that it has none
    uint32_t column;
    uint32_t discriminator;
    bool is_statement;
    bool is_prologue_end;
};

/* Whether the line table has a row for address. */
bool debug_row_at(struct debug_info *info, uint64_t address, struct debug_row *ret);
/* All rows that overlap [start, end), in order of address, to be freed. */
struct debug_row *debug_rows_in(struct debug_info *info, uint64_t start, uint64_t end,
                                size_t *ret_count);

/* --- calls --- */

/* DW_TAG_call_site: a call as the compiler emitted it. At -O0 clang emits none. */
struct debug_call_site {
    uint64_t address;           // the return address, or for a tail call the address of the jump
    bool is_return;             // address is a return address
    bool is_tail;               // a jump: the caller's frame is gone when the callee runs
    const char *target;         // name of the callee, or NULL (indirect, or not said)
    const char *target_linkage; // or NULL
};
const struct debug_call_site *debug_function_call_sites(struct debug_function *function,
                                                        size_t *ret_count);
/* Whether those are all the calls that the function makes; without it no conclusion from absence.
 */
bool debug_function_has_all_calls(struct debug_function *function);
/* Whether those that are tail calls are all of them. */
bool debug_function_has_all_tail_calls(struct debug_function *function);
/* The call site that returns to address, or NULL. */
const struct debug_call_site *debug_call_site_at(struct debug_info *info, uint64_t return_address);

/* --- variables --- */

/* The variable of that name declared in the scope itself (its lexical blocks included, but not what
 * is inlined into it), or NULL. */
const struct debug_variable *debug_scope_variable(const struct debug_scope *scope,
                                                  const char *name);
/* In bytes; 0 where unknown. */
uint64_t debug_variable_size(const struct debug_variable *variable);

enum debug_piece_kind {
    DEBUG_PIECE_ABSENT, // optimised out, or in a register or memory that is not known
    DEBUG_PIECE_MEMORY, // at address
    DEBUG_PIECE_VALUE,  // bytes, in value (of registers, computed, or implicit), little-endian
    DEBUG_PIECE_BYTES,  // bytes in the debug information: data
};

struct debug_piece {
    enum debug_piece_kind kind;
    uint64_t size; // UINT64_MAX: the whole variable
    uint64_t address;
    uint64_t value;
    const unsigned char *data; // size of it: data_size
    uint64_t data_size;
};

#define DEBUG_PIECES_MAX 64u

/* Where a variable is, for one activation; pieces in order of offset. */
struct debug_location {
    struct debug_piece pieces[DEBUG_PIECES_MAX];
    uint32_t count; // 0: nowhere
};

/* The scope has to be one of the frame's: debug_scope_at(its lookup address), or a parent. */
void debug_variable_locate(const struct debug_variable *variable, const struct modules *modules,
                           const struct unwind_frame *frame, struct debug_location *ret);

/*
 * Bytes [offset, offset + size) of the variable; the number of bytes known. present[i] says for
 * each of them whether it is; others are 0 in the buffer. present may be NULL: the result then
 * tells enough only when it is size.
 */
size_t debug_variable_read(const struct debug_variable *variable, const struct modules *modules,
                           const struct unwind_frame *frame, uint64_t offset, void *buffer,
                           size_t size, bool *present);

#endif

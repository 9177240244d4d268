// SPDX-License-Identifier: Apache-2.0
/* The bodies behind dwarf.h. Addresses in here are those of the file, without the bias. */
#ifndef INQUEST_EVIDENCE_CORE_DWARF_INTERNAL_H
#define INQUEST_EVIDENCE_CORE_DWARF_INTERNAL_H

#include <elfutils/libdw.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/map.h"
#include "common/vec.h"
#include "evidence/core/dwarf.h"

/* Ranges that may overlap, in order of start; max_end is the largest end up to here. */
struct debug_interval {
    uint64_t start, end, max_end;
    uint32_t index; // of what has the range
};

/* A row of the line table; as in struct debug_row. */
struct debug_line {
    uint64_t start, end;
    const char *file;
    uint32_t line, column, discriminator;
    bool is_statement, is_prologue_end;
};

VEC_DEFINE(debug_interval_vec, struct debug_interval);
VEC_DEFINE(debug_line_vec, struct debug_line);
VEC_DEFINE(debug_range_vec, struct debug_range);
VEC_DEFINE(debug_die_vec, Dwarf_Die);
VEC_DEFINE(debug_scope_vec, struct debug_scope);
VEC_DEFINE(debug_site_vec, struct debug_call_site);
VEC_DEFINE(debug_function_vec, struct debug_function *);
VEC_DEFINE(debug_unit_vec, struct debug_unit *);
VEC_DEFINE(debug_index_vec, uint32_t);
VEC_DEFINE(debug_error_vec, struct error *);
MAP_DEFINE_U64(debug_unit_map, struct debug_unit *);
MAP_DEFINE_U64(debug_name_map, const char *);
MAP_DEFINE_U64(debug_scope_map, const struct debug_scope *);
MAP_DEFINE_U64(debug_variable_map, struct debug_variable *);
MAP_DEFINE_STRING(debug_function_map, struct debug_function *);

struct debug_function {
    struct debug_unit *unit;
    Dwarf_Die die;
    const struct debug_range *ranges; // with the bias, as the public structs have them
    uint32_t range_count;
    bool was_read; // the rest
    const struct debug_scope *scopes;
    const Dwarf_Die *dies; // of the scopes
    size_t scope_count;
    const struct debug_call_site *sites;
    size_t site_count;
    bool has_frame_base;
    Dwarf_Op *frame_base; // where it is one expression
    size_t frame_base_count;
};

struct debug_variable {
    const struct debug_scope *scope;
    const char *name;
    Dwarf_Die die;
    uint64_t size;
    bool has_location;
    Dwarf_Attribute location;
    Dwarf_Op *ops; // where it is one expression for all addresses; else NULL
    size_t op_count;
};

struct debug_unit {
    struct debug_info *info;
    Dwarf_Die die;   // has the ranges and the line table
    Dwarf_Die code;  // has the functions: the same, or that of the split unit
    bool is_missing; // the split unit was not found
    const char *name, *directory;
    bool module_was_sought, has_module;
    uint64_t module_id;
    bool functions_were_read;
    struct debug_function_vec functions;
    struct debug_interval_vec function_ranges;
    struct debug_function_map function_names;
    bool names_were_read;
    bool lines_were_read;
    struct debug_line_vec lines; // in order of address, without overlaps
};

struct debug_info {
    struct module *module;
    Dwarf *dwarf;
    struct arena arena;
    struct debug_unit_vec units;
    struct debug_unit_map by_cu;         // by the pointer to libdw's unit
    struct debug_interval_vec ranges;    // of units
    struct debug_name_map names;         // absolute file names, by the pointer to libdw's
    struct debug_scope_map scopes;       // innermost ones, by address
    struct debug_variable_map variables; // by scope and name
    struct debug_error_vec warnings;
    bool module_strings_were_sought, may_have_module_ids;
    bool is_indexed;   // ranges is complete
    const char *error; // why there is none; everything above is empty then
};

/* libdw's handle, for call frame information. */
Dwarf *debug_info_handle(struct debug_info *info);

/* dwarf.c */
void debug_warn(struct debug_info *info, struct error *err);
void debug_intervals_sort(struct debug_interval_vec *intervals);
/* The one that starts last among those that hold address; NULL when none does. */
const struct debug_interval *debug_intervals_find(const struct debug_interval_vec *intervals,
                                                  uint64_t address);
/* The ranges of a DIE in which there is code. */
void debug_read_ranges(const struct debug_info *info, Dwarf_Die *die, struct debug_range_vec *ret);
struct debug_unit *debug_unit_of(const struct debug_info *info, const Dwarf_Die *die);
/* The unit whose code is at an address. */
struct debug_unit *debug_owner_of(const struct debug_info *info, uint64_t at);
/* Absolute; NULL stays NULL. */
const char *debug_file_name(struct debug_unit *unit, const char *name);
/* name is of the form of LAYOUT_MODULE_VARIABLE. */
bool debug_parse_module_id(const char *name, uint64_t *ret);

/* dwarf_function.c */
void debug_read_functions(struct debug_unit *unit);
void debug_read_function(struct debug_function *function);
/* dwarf_line.c */
void debug_read_lines(struct debug_unit *unit);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Functions with code, what is inlined into them, and their call sites. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/core/dwarf_internal.h"
#include "evidence/core/modules_internal.h"

#define DEBUG_DEPTH_MAX 512u
#define DEBUG_CHAIN_MAX 16u

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

/* --- the functions of a unit --- */

static const struct debug_range *
debug_keep_ranges(struct arena *arena, const struct debug_range_vec *ranges, uint64_t bias)
{
    struct debug_range *kept = arena_alloc_array(arena, ranges->length, struct debug_range);
    for (size_t i = 0; i < ranges->length; i++)
        kept[i] = (struct debug_range){ranges->data[i].start + bias, ranges->data[i].end + bias};
    return kept;
}

static void debug_add_function(struct debug_unit *unit, Dwarf_Die *die)
{
    struct debug_info *info = unit->info;
    struct debug_range_vec ranges = VEC_INIT;
    debug_read_ranges(info, die, &ranges);
    bool is_linked = ranges.length > 0 &&
                     (!info->is_indexed || debug_owner_of(info, ranges.data[0].start) == unit);
    if (is_linked) {
        struct debug_function *function = arena_alloc_one(&info->arena, struct debug_function);
        function->unit = unit;
        function->die = *die;
        function->ranges = debug_keep_ranges(&info->arena, &ranges, info->module->info.bias);
        function->range_count = (uint32_t)ranges.length;
        for (size_t i = 0; i < ranges.length; i++)
            debug_interval_vec_push(
                &unit->function_ranges,
                (struct debug_interval){.start = ranges.data[i].start,
                                        .end = ranges.data[i].end,
                                        .index = (uint32_t)unit->functions.length});
        debug_function_vec_push(&unit->functions, function);
    }
    debug_range_vec_deinit(&ranges);
}

static void debug_walk_functions(struct debug_unit *unit, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    if (depth == DEBUG_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            debug_add_function(unit, &die);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
            debug_walk_functions(unit, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void debug_read_functions(struct debug_unit *unit)
{
    if (unit->functions_were_read)
        return;
    unit->functions_were_read = true;
    debug_walk_functions(unit, &unit->code, 0);
    debug_intervals_sort(&unit->function_ranges);
}

size_t debug_unit_function_count(struct debug_unit *unit)
{
    debug_read_functions(unit);
    return unit->functions.length;
}

struct debug_function *debug_unit_function_at(struct debug_unit *unit, size_t index)
{
    debug_read_functions(unit);
    return *debug_function_vec_at(&unit->functions, index);
}

struct debug_unit *debug_function_unit(const struct debug_function *function)
{
    return function->unit;
}

struct debug_function *debug_function_at(struct debug_info *info, uint64_t address)
{
    struct debug_unit *unit = debug_unit_at(info, address);
    if (!unit)
        return NULL;
    debug_read_functions(unit);
    const struct debug_interval *found =
        debug_intervals_find(&unit->function_ranges, address - info->module->info.bias);
    return found ? unit->functions.data[found->index] : NULL;
}

/* --- names --- */

/* The DIE that declares the function: behind all abstract origins and specifications. */
static Dwarf_Die debug_origin(Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < DEBUG_CHAIN_MAX; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr(&at, DW_AT_abstract_origin, &attribute) &&
            !dwarf_attr(&at, DW_AT_specification, &attribute))
            break;
        if (!dwarf_formref_die(&attribute, &next))
            break;
        at = next;
    }
    return at;
}

static const char *debug_linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
        !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return NULL;
    return dwarf_formstring(&attribute);
}

static void debug_add_name(struct debug_unit *unit, const char *name,
                           struct debug_function *function)
{
    if (!name)
        return;
    bool is_new;
    struct debug_function **found =
        debug_function_map_put_new(&unit->function_names, name, &is_new);
    if (is_new)
        *found = function;
}

struct debug_function *debug_unit_function(struct debug_unit *unit, const char *name)
{
    debug_read_functions(unit);
    if (!unit->names_were_read) {
        unit->names_were_read = true;
        for (size_t i = 0; i < unit->functions.length; i++) {
            struct debug_function *function = unit->functions.data[i];
            debug_add_name(unit, debug_linkage_name(&function->die), function);
            debug_add_name(unit, dwarf_diename(&function->die), function);
        }
    }
    struct debug_function **found = debug_function_map_get(&unit->function_names, name);
    return found ? *found : NULL;
}

/* --- scopes --- */

/* What is being collected of one function. Parents are indices until all are there. */
struct debug_reading {
    struct debug_function *function;
    struct debug_scope_vec scopes;
    struct debug_die_vec dies;
    struct debug_index_vec parents;
    struct debug_site_vec sites;
};

static uint32_t debug_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Of an attribute that holds a number of the unit's file table. Not dwarf_decl_file(), which
 * asserts that there is such a table. */
static const char *debug_file_of(struct debug_unit *unit, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die cu;
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t count;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&cu, &files, &count) != 0 || number >= count)
        return NULL;
    return debug_file_name(unit, dwarf_filesrc(files, number, NULL, NULL));
}

static void debug_describe_scope(struct debug_scope *scope, Dwarf_Die *die)
{
    struct debug_unit *unit = scope->function->unit;
    Dwarf_Die origin = debug_origin(die);
    struct debug_unit *origin_unit = debug_unit_of(unit->info, &origin);
    int line;
    scope->origin = origin_unit ? origin_unit : unit;
    scope->die = dwarf_dieoffset(die);
    scope->origin_die = dwarf_dieoffset(&origin);
    scope->name = dwarf_diename(die);
    if (!scope->name)
        scope->name = "";
    scope->linkage_name = debug_linkage_name(die);
    scope->file = debug_file_of(scope->origin, die, DW_AT_decl_file);
    scope->line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
}

static void debug_add_scope(struct debug_reading *reading, Dwarf_Die *die, uint32_t parent,
                            const struct debug_range *ranges, uint32_t range_count)
{
    struct debug_scope scope = {
        .function = reading->function, .ranges = ranges, .range_count = range_count};
    debug_describe_scope(&scope, die);
    if (reading->scopes.length > 0) {
        scope.call_file = debug_file_of(reading->function->unit, die, DW_AT_call_file);
        scope.call_line = debug_number(die, DW_AT_call_line);
        scope.call_column = debug_number(die, DW_AT_call_column);
        scope.call_discriminator = debug_number(die, DW_AT_GNU_discriminator);
    }
    debug_scope_vec_push(&reading->scopes, scope);
    debug_die_vec_push(&reading->dies, *die);
    debug_index_vec_push(&reading->parents, parent);
}

static bool debug_address(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr value;
    if (dwarf_formaddr(dwarf_attr(die, name, &attribute), &value) != 0)
        return false;
    *ret = value;
    return true;
}

static bool debug_flag(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool value;
    return dwarf_formflag(dwarf_attr(die, name, &attribute), &value) == 0 && value;
}

/* DWARF 5, and what GNU had before (clang and gcc with -gdwarf-4). */
static void debug_add_call_site(struct debug_reading *reading, Dwarf_Die *die)
{
    uint64_t address, bias = reading->function->unit->info->module->info.bias;
    bool is_return = debug_address(die, DW_AT_call_return_pc, &address) ||
                     debug_address(die, DW_AT_low_pc, &address);
    struct debug_call_site site = {
        .is_tail = debug_flag(die, DW_AT_call_tail_call) || debug_flag(die, DW_AT_GNU_tail_call),
    };
    uint64_t jump;
    if (debug_address(die, DW_AT_call_pc, &jump) && (site.is_tail || !is_return)) {
        address = jump;
        is_return = false;
    } else if (!is_return) {
        return; // it says nothing
    }
    site.address = address + bias;
    site.is_return = is_return && !site.is_tail;
    Dwarf_Attribute attribute;
    Dwarf_Die target;
    if ((dwarf_attr(die, DW_AT_call_origin, &attribute) ||
         dwarf_attr(die, DW_AT_abstract_origin, &attribute)) &&
        dwarf_formref_die(&attribute, &target)) {
        site.target = dwarf_diename(&target);
        site.target_linkage = debug_linkage_name(&target);
    }
    debug_site_vec_push(&reading->sites, site);
}

static void debug_walk_scopes(struct debug_reading *reading, Dwarf_Die *parent, uint32_t scope,
                              unsigned depth);

static void debug_walk_inlined(struct debug_reading *reading, Dwarf_Die *die, uint32_t parent,
                               unsigned depth)
{
    struct debug_info *info = reading->function->unit->info;
    struct debug_range_vec ranges = VEC_INIT;
    debug_read_ranges(info, die, &ranges);
    if (ranges.length) {
        debug_add_scope(reading, die, parent,
                        debug_keep_ranges(&info->arena, &ranges, info->module->info.bias),
                        (uint32_t)ranges.length);
        debug_walk_scopes(reading, die, (uint32_t)reading->scopes.length - 1, depth + 1);
    }
    debug_range_vec_deinit(&ranges);
}

static void debug_walk_scopes(struct debug_reading *reading, Dwarf_Die *parent, uint32_t scope,
                              unsigned depth)
{
    Dwarf_Die die;
    if (depth == DEBUG_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
            debug_walk_inlined(reading, &die, scope, depth);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            debug_walk_scopes(reading, &die, scope, depth + 1);
            break;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
            debug_add_call_site(reading, &die);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Into the arena, with pointers in place of indices. */
static void debug_keep_reading(struct debug_reading *reading)
{
    struct debug_function *function = reading->function;
    struct arena *arena = &function->unit->info->arena;
    size_t count = reading->scopes.length;
    struct debug_scope *scopes = arena_memdup(arena, reading->scopes.data, count * sizeof(*scopes));
    for (size_t i = 1; i < count; i++)
        scopes[i].parent = &scopes[reading->parents.data[i]];
    function->scopes = scopes;
    function->scope_count = count;
    function->dies = arena_memdup(arena, reading->dies.data, count * sizeof(Dwarf_Die));
    function->sites = arena_memdup(arena, reading->sites.data,
                                   reading->sites.length * sizeof(*reading->sites.data));
    function->site_count = reading->sites.length;
}

void debug_read_function(struct debug_function *function)
{
    if (function->was_read)
        return;
    function->was_read = true;
    struct debug_reading reading = {.function = function};
    debug_add_scope(&reading, &function->die, 0, function->ranges, function->range_count);
    debug_walk_scopes(&reading, &function->die, 0, 0);
    debug_keep_reading(&reading);
    debug_scope_vec_deinit(&reading.scopes);
    debug_die_vec_deinit(&reading.dies);
    debug_site_vec_deinit(&reading.sites);
    debug_index_vec_deinit(&reading.parents);
}

const struct debug_scope *debug_function_scopes(struct debug_function *function, size_t *ret_count)
{
    debug_read_function(function);
    *ret_count = function->scope_count;
    return function->scopes;
}

bool debug_scope_has(const struct debug_scope *scope, uint64_t address)
{
    for (uint32_t i = 0; i < scope->range_count; i++) {
        if (address >= scope->ranges[i].start && address < scope->ranges[i].end)
            return true;
    }
    return false;
}

static const struct debug_scope *debug_find_scope(struct debug_info *info, uint64_t address)
{
    struct debug_function *function = debug_function_at(info, address);
    if (!function)
        return NULL;
    debug_read_function(function);
    const struct debug_scope *innermost = &function->scopes[0];
    // A parent stands before its children.
    for (size_t i = 1; i < function->scope_count; i++) {
        const struct debug_scope *scope = &function->scopes[i];
        if (scope->parent == innermost && debug_scope_has(scope, address))
            innermost = scope;
    }
    return innermost;
}

const struct debug_scope *debug_scope_at(struct debug_info *info, uint64_t address)
{
    bool is_new;
    const struct debug_scope **cached = debug_scope_map_put_new(&info->scopes, address, &is_new);
    if (is_new)
        *cached = debug_find_scope(info, address);
    return *cached;
}

/* --- call sites --- */

const struct debug_call_site *debug_function_call_sites(struct debug_function *function,
                                                        size_t *ret_count)
{
    debug_read_function(function);
    *ret_count = function->site_count;
    return function->sites;
}

bool debug_function_has_all_calls(struct debug_function *function)
{
    return debug_flag(&function->die, DW_AT_call_all_calls) ||
           debug_flag(&function->die, DW_AT_GNU_all_call_sites);
}

bool debug_function_has_all_tail_calls(struct debug_function *function)
{
    return debug_function_has_all_calls(function) ||
           debug_flag(&function->die, DW_AT_call_all_tail_calls) ||
           debug_flag(&function->die, DW_AT_GNU_all_tail_call_sites);
}

const struct debug_call_site *debug_call_site_at(struct debug_info *info, uint64_t return_address)
{
    struct debug_function *function = debug_function_at(info, return_address - 1);
    if (!function)
        return NULL;
    debug_read_function(function);
    for (size_t i = 0; i < function->site_count; i++) {
        if (function->sites[i].is_return && function->sites[i].address == return_address)
            return &function->sites[i];
    }
    return NULL;
}

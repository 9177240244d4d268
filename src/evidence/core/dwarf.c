// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "evidence/core/dwarf_internal.h"
#include "evidence/core/modules_internal.h"
#include "layout/frame.h"

Dwarf *debug_info_handle(struct debug_info *info)
{
    return info->dwarf;
}

void debug_warn(struct debug_info *info, struct error *err)
{
    debug_error_vec_push(&info->warnings, error_in_file(err, info->module->info.path));
}

/* --- ranges --- */

static int debug_compare_intervals(const void *a, const void *b)
{
    const struct debug_interval *x = a;
    const struct debug_interval *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void debug_intervals_sort(struct debug_interval_vec *intervals)
{
    if (intervals->length == 0)
        return;
    qsort(intervals->data, intervals->length, sizeof(intervals->data[0]), debug_compare_intervals);
    uint64_t max_end = 0;
    for (size_t i = 0; i < intervals->length; i++) {
        if (intervals->data[i].end > max_end)
            max_end = intervals->data[i].end;
        intervals->data[i].max_end = max_end;
    }
}

const struct debug_interval *debug_intervals_find(const struct debug_interval_vec *intervals,
                                                  uint64_t address)
{
    size_t low = 0, high = intervals->length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (intervals->data[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && intervals->data[low - 1].max_end > address) {
        if (intervals->data[low - 1].end > address)
            return &intervals->data[low - 1];
        low--;
    }
    return NULL;
}

void debug_read_ranges(const struct debug_info *info, Dwarf_Die *die, struct debug_range_vec *ret)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (module_has_code(info->module, start, end))
            debug_range_vec_push(ret, (struct debug_range){start, end});
    }
}

/* --- units --- */

static const char *debug_string(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    const char *text = dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
    return text ? text : "";
}

/* libdw puts the directory before some names already, which shows only where it is absolute. */
static const char *debug_join(struct arena *arena, const char *directory, const char *name)
{
    size_t length = strlen(directory);
    bool has_it = strncmp(name, directory, length) == 0 && name[length] == '/';
    if (name[0] == '/' || length == 0 || (directory[0] != '/' && has_it))
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s/%s", directory, name);
}

static void debug_unit_add_ranges(struct debug_unit *unit, uint32_t index)
{
    struct debug_info *info = unit->info;
    struct debug_range_vec ranges = VEC_INIT;
    debug_read_ranges(info, &unit->die, &ranges);
    for (size_t i = 0; i < ranges.length; i++)
        debug_interval_vec_push(
            &info->ranges,
            (struct debug_interval){
                .start = ranges.data[i].start, .end = ranges.data[i].end, .index = index});
    Dwarf_Addr low;
    bool says_ranges =
        dwarf_hasattr(&unit->die, DW_AT_ranges) || dwarf_lowpc(&unit->die, &low) == 0;
    debug_range_vec_deinit(&ranges);
    if (says_ranges)
        return;
    // The unit does not say: its functions do.
    debug_read_functions(unit);
    for (size_t i = 0; i < unit->function_ranges.length; i++) {
        struct debug_interval interval = unit->function_ranges.data[i];
        interval.index = index;
        debug_interval_vec_push(&info->ranges, interval);
    }
}

static void debug_unit_add(struct debug_info *info, Dwarf_Die *die, Dwarf_Die *split, bool is_split)
{
    struct debug_unit *unit = arena_alloc_one(&info->arena, struct debug_unit);
    unit->info = info;
    unit->die = *die;
    unit->code = *die;
    unit->is_missing = is_split && split->cu == NULL;
    if (is_split && split->cu)
        unit->code = *split;
    unit->directory = debug_string(&unit->code, DW_AT_comp_dir);
    unit->name = debug_join(&info->arena, unit->directory, debug_string(&unit->code, DW_AT_name));
    *debug_unit_map_put(&info->by_cu, (uintptr_t)unit->die.cu) = unit;
    *debug_unit_map_put(&info->by_cu, (uintptr_t)unit->code.cu) = unit;
    debug_unit_vec_push(&info->units, unit);
    if (unit->is_missing)
        debug_warn(info,
                   error_create(ERROR_NOT_FOUND,
                                "the split debug file '%s' is not found, or not of this build",
                                *debug_string(die, DW_AT_dwo_name)
                                    ? debug_string(die, DW_AT_dwo_name)
                                    : debug_string(die, DW_AT_GNU_dwo_name)));
}

static void debug_read_units(struct debug_info *info)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    int found;
    while ((found = dwarf_get_units(info->dwarf, cu, &cu, NULL, &type, &die, &split)) == 0) {
        if (dwarf_tag(&die) != DW_TAG_compile_unit && dwarf_tag(&die) != DW_TAG_skeleton_unit)
            continue; // type units and partial units have no code
        bool is_split = type == DW_UT_skeleton;
        if (is_split && dwarf_tag(&split) != DW_TAG_compile_unit)
            memset(&split, 0, sizeof(split));
        debug_unit_add(info, &die, &split, is_split);
    }
    if (found < 0)
        debug_warn(info,
                   error_create(ERROR_FORMAT, "broken debug information: %s", dwarf_errmsg(-1)));
    for (size_t i = 0; i < info->units.length; i++)
        debug_unit_add_ranges(info->units.data[i], (uint32_t)i);
    debug_intervals_sort(&info->ranges);
    info->is_indexed = true;
}

/* Whether any string of the module can be a LAYOUT_MODULE_VARIABLE; saves walks over all units. */
static bool debug_has_module_strings(struct module *module)
{
    struct module_section strings;
    if (!module_section(module, ".debug_str", &strings) || !strings.data)
        return true;
    return memmem(strings.data, strings.size, LAYOUT_MODULE_VARIABLE,
                  strlen(LAYOUT_MODULE_VARIABLE)) != NULL;
}

/* --- opening --- */

static Dwarf *debug_begin(struct module *module)
{
    struct module_section section;
    if (!module->elf)
        return NULL;
    module_find_debug_file(module);
    Elf *elf = module->debug_elf ? module->debug_elf : module->elf;
    return module_section(module, ".debug_info", &section) ||
                   module_section(module, ".zdebug_info", &section) ||
                   module_section(module, ".debug_frame", &section)
               ? dwarf_begin_elf(elf, DWARF_C_READ, NULL)
               : NULL;
}

static struct debug_info *debug_info_create(struct module *module)
{
    struct debug_info *info = xcalloc(1, sizeof(*info));
    info->module = module;
    if (!module->elf) {
        info->error = "no debug information: the file is not read";
        return info;
    }
    info->dwarf = debug_begin(module);
    if (info->dwarf)
        debug_read_units(info);
    if (info->units.length == 0)
        info->error = "no debug information (build with -g, or give the separate debug file)";
    return info;
}

struct error *debug_info_open(struct module *module, struct debug_info **ret)
{
    if (!module->debug_info)
        module->debug_info = debug_info_create(module);
    if (module->debug_info->error)
        return error_create_file(ERROR_NOT_FOUND,
                                 module->info.file ? module->info.file : module->info.path, "%s",
                                 module->debug_info->error);
    *ret = module->debug_info;
    return NULL;
}

static void debug_unit_deinit(struct debug_unit *unit)
{
    debug_function_vec_deinit(&unit->functions);
    debug_interval_vec_deinit(&unit->function_ranges);
    debug_function_map_deinit(&unit->function_names);
    debug_line_vec_deinit(&unit->lines);
}

void debug_info_destroy(struct debug_info *info)
{
    if (!info)
        return;
    for (size_t i = 0; i < info->units.length; i++)
        debug_unit_deinit(info->units.data[i]);
    for (size_t i = 0; i < info->warnings.length; i++)
        error_destroy(info->warnings.data[i]);
    debug_unit_vec_deinit(&info->units);
    debug_unit_map_deinit(&info->by_cu);
    debug_interval_vec_deinit(&info->ranges);
    debug_name_map_deinit(&info->names);
    debug_scope_map_deinit(&info->scopes);
    debug_variable_map_deinit(&info->variables);
    debug_error_vec_deinit(&info->warnings);
    arena_deinit(&info->arena);
    if (info->dwarf)
        dwarf_end(info->dwarf);
    free(info);
}

size_t debug_info_warning_count(const struct debug_info *info)
{
    return info->warnings.length;
}

const struct error *debug_info_warning_at(const struct debug_info *info, size_t index)
{
    return *debug_error_vec_at(&info->warnings, index);
}

/* --- asking for units --- */

size_t debug_info_unit_count(const struct debug_info *info)
{
    return info->units.length;
}

struct debug_unit *debug_info_unit_at(const struct debug_info *info, size_t index)
{
    return *debug_unit_vec_at(&info->units, index);
}

/*
 * Of several units that claim an address the first one owns it: GNU ld lets the debug information
 * of COMDAT copies that it dropped point to the copy that it kept, if they have the same size, and
 * it keeps the first copy of the link order, which is the order of units.
 */
struct debug_unit *debug_owner_of(const struct debug_info *info, uint64_t at)
{
    const struct debug_interval *first = info->ranges.data;
    const struct debug_interval *found = debug_intervals_find(&info->ranges, at);
    if (!found)
        return NULL;
    uint32_t index = found->index;
    for (; found > first && found[-1].max_end > at; found--) {
        if (found[-1].end > at && found[-1].index < index)
            index = found[-1].index;
    }
    return info->units.data[index];
}

struct debug_unit *debug_unit_at(struct debug_info *info, uint64_t address)
{
    return debug_owner_of(info, address - info->module->info.bias);
}

const char *debug_unit_name(const struct debug_unit *unit)
{
    return unit->name;
}

const char *debug_unit_directory(const struct debug_unit *unit)
{
    return unit->directory;
}

struct debug_unit *debug_unit_of(const struct debug_info *info, const Dwarf_Die *die)
{
    struct debug_unit **found = debug_unit_map_get(&info->by_cu, (uintptr_t)die->cu);
    return found ? *found : NULL;
}

const char *debug_file_name(struct debug_unit *unit, const char *name)
{
    if (!name)
        return NULL;
    bool is_new;
    const char **known = debug_name_map_put_new(&unit->info->names, (uintptr_t)name, &is_new);
    if (is_new)
        *known = debug_join(&unit->info->arena, unit->directory, name);
    return *known;
}

/* --- module ids --- */

bool debug_parse_module_id(const char *name, uint64_t *ret)
{
    size_t prefix = strlen(LAYOUT_MODULE_VARIABLE);
    if (!name || strncmp(name, LAYOUT_MODULE_VARIABLE, prefix) != 0 ||
        strlen(name) != prefix + 16 || strspn(name + prefix, "0123456789abcdefABCDEF") != 16)
        return false;
    *ret = strtoull(name + prefix, NULL, 16);
    return true;
}

static void debug_find_module_id(struct debug_unit *unit)
{
    Dwarf_Die die;
    if (dwarf_child(&unit->code, &die) != 0)
        return;
    do {
        if (dwarf_tag(&die) != DW_TAG_variable)
            continue;
        if (debug_parse_module_id(dwarf_diename(&die), &unit->module_id)) {
            unit->has_module = true;
            return;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

bool debug_unit_module_id(struct debug_unit *unit, uint64_t *ret)
{
    if (!unit->module_was_sought) {
        struct debug_info *info = unit->info;
        bool is_split = unit->code.cu != unit->die.cu;
        if (!info->module_strings_were_sought) {
            info->may_have_module_ids = debug_has_module_strings(info->module);
            info->module_strings_were_sought = true;
        }
        unit->module_was_sought = true;
        if (is_split || info->may_have_module_ids)
            debug_find_module_id(unit);
    }
    if (unit->has_module)
        *ret = unit->module_id;
    return unit->has_module;
}

struct debug_unit *debug_info_next_unit(struct debug_info *info, uint64_t module_id, size_t *index)
{
    while (*index < info->units.length) {
        struct debug_unit *unit = info->units.data[(*index)++];
        uint64_t id;
        if (debug_unit_module_id(unit, &id) && id == module_id)
            return unit;
    }
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/modules.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "evidence/core/modules_internal.h"

#define MODULES_DEBUG_DIRECTORY "/usr/lib/debug"

static struct modules *modules_create(const struct core *core, const char *const *directories,
                                      const char *sysroot)
{
    struct modules *set = xcalloc(1, sizeof(*set));
    set->core = core;
    size_t count = 0;
    while (directories && directories[count])
        count++;
    set->directories = arena_alloc_array(&set->arena, count + 2, const char *);
    for (size_t i = 0; i < count; i++)
        set->directories[i] = arena_strdup(&set->arena, directories[i]);
    set->directories[count] = MODULES_DEBUG_DIRECTORY;
    set->sysroot = sysroot ? arena_strdup(&set->arena, sysroot) : NULL;
    return set;
}

static int modules_compare(const void *a, const void *b)
{
    const struct module *x = *(struct module *const *)a;
    const struct module *y = *(struct module *const *)b;
    if (x->info.start != y->info.start)
        return x->info.start < y->info.start ? -1 : 1;
    return y->info.is_executable - x->info.is_executable;
}

static void modules_sort(struct modules *set)
{
    // Number 0 stays the executable.
    if (set->all.length > 2)
        qsort(set->all.data + 1, set->all.length - 1, sizeof(set->all.data[0]), modules_compare);
    module_vec_append(&set->sorted, set->all.data, set->all.length);
    if (set->sorted.length > 1)
        qsort(set->sorted.data, set->sorted.length, sizeof(set->sorted.data[0]), modules_compare);
}

struct error *modules_open(const struct core *core, const struct modules_options *options,
                           struct modules **ret)
{
    struct modules *set = modules_create(core, options->directories, options->sysroot);
    struct error *err = modules_add_executable(set, options->executable);
    if (err) {
        modules_destroy(set);
        return err;
    }
    modules_add_libraries(set);
    modules_add_vdso(set);
    modules_sort(set);
    *ret = set;
    return NULL;
}

struct error *modules_open_file(const char *path, const char *const *directories,
                                struct modules **ret)
{
    struct modules *set = modules_create(NULL, directories, NULL);
    struct module *module;
    struct error *err = module_create(set, path, &module);
    if (err) {
        modules_destroy(set);
        return err;
    }
    module->info.is_executable = true;
    module_vec_push(&set->all, module);
    modules_sort(set);
    *ret = set;
    return NULL;
}

void modules_destroy(struct modules *modules)
{
    if (!modules)
        return;
    for (size_t i = 0; i < modules->all.length; i++)
        module_destroy(modules->all.data[i]);
    for (size_t i = 0; i < modules->warnings.length; i++)
        error_destroy(modules->warnings.data[i]);
    module_vec_deinit(&modules->all);
    module_vec_deinit(&modules->sorted);
    modules_error_vec_deinit(&modules->warnings);
    arena_deinit(&modules->arena);
    free(modules);
}

const struct core *modules_core(const struct modules *modules)
{
    return modules->core;
}

size_t modules_count(const struct modules *modules)
{
    return modules->all.length;
}

struct module *modules_at(const struct modules *modules, size_t index)
{
    return *module_vec_at(&modules->all, index);
}

struct module *modules_executable(const struct modules *modules)
{
    return *module_vec_at(&modules->all, 0);
}

struct module *modules_find(const struct modules *modules, uint64_t address)
{
    size_t low = 0, high = modules->sorted.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (modules->sorted.data[middle]->info.start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= modules->sorted.data[low - 1]->info.end)
        return NULL;
    return modules->sorted.data[low - 1];
}

size_t modules_warning_count(const struct modules *modules)
{
    return modules->warnings.length;
}

const struct error *modules_warning_at(const struct modules *modules, size_t index)
{
    return *modules_error_vec_at(&modules->warnings, index);
}

const struct module_info *module_info(const struct module *module)
{
    return &module->info;
}

/* --- memory --- */

static const struct module_load *module_load_of(const struct module *module, uint64_t at)
{
    for (size_t i = 0; i < module->loads.length; i++) {
        const struct module_load *load = &module->loads.data[i];
        if (at >= (load->start & ~(MODULES_PAGE - 1)) && at < load->end)
            return load;
    }
    return NULL;
}

/* Whether the core's list of mapped files says that offset of the file is mapped at address. */
static bool modules_is_mapped(const struct core *core, uint64_t address, uint64_t offset,
                              uint64_t *ret_end)
{
    for (size_t i = 0; i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (address < mapping->start || address >= mapping->end)
            continue;
        *ret_end = mapping->end;
        return mapping->offset + (address - mapping->start) == offset;
    }
    return false;
}

static bool modules_is_any_mapped(const struct core *core, uint64_t address)
{
    for (size_t i = 0; i < core_mapping_count(core); i++) {
        const struct core_mapping *mapping = core_mapping_at(core, i);
        if (address >= mapping->start && address < mapping->end)
            return true;
    }
    return false;
}

/* gdb's gcore leaves out segments that it does not dump: the list of mapped files has them still.
 */
bool modules_is_code(const struct modules *modules, uint64_t address)
{
    if (!modules->core)
        return false;
    const struct core_segment *segment = core_segment_of(modules->core, address);
    if (segment)
        return segment->executable;
    const struct module *module = modules_find(modules, address);
    uint64_t at = module ? address - module->info.bias : 0, end;
    const struct module_load *load = module ? module_load_of(module, at) : NULL;
    return load && load->is_executable && at >= load->start && at < load->file_end &&
           modules_is_mapped(modules->core, address, load->offset + (at - load->start), &end);
}

/* .bss: pages of its own, that no file backs. Not dumped at all: never written. */
static size_t modules_read_zeros(const struct core *core, const struct module_load *load,
                                 uint64_t at, uint64_t address, unsigned char *buffer, size_t size)
{
    const struct core_segment *segment = core_segment_of(core, address);
    if (!load->is_writable || !segment || segment->dumped || modules_is_any_mapped(core, address))
        return 0;
    uint64_t left = segment->end - address;
    left = load->end - at < left ? load->end - at : left;
    size_t part = left < size ? (size_t)left : size;
    memset(buffer, 0, part);
    return part;
}

/* Of a file alone, at bias 0: what no process can have changed. */
static size_t modules_read_alone(const struct modules *set, uint64_t address, unsigned char *buffer,
                                 size_t size)
{
    const struct module *module = modules_find(set, address);
    const struct module_load *load = module ? module_load_of(module, address) : NULL;
    if (!load || load->is_writable || module->has_text_relocations || address < load->start ||
        address >= load->file_end)
        return 0;
    uint64_t left = load->file_end - address;
    size_t part = left < size ? (size_t)left : size;
    memcpy(buffer, module->file + load->offset + (address - load->start), part);
    return part;
}

/* What the core lacks at address, from the file; how many bytes, 0 when that is not sound. */
static size_t modules_read_file(const struct modules *set, uint64_t address, unsigned char *buffer,
                                size_t size)
{
    const struct core *core = set->core;
    const struct module *module = modules_find(set, address);
    if (!core || !module || !module->file || module->info.is_vdso || module->has_text_relocations)
        return 0;
    uint64_t at = address - module->info.bias, mapped_end;
    const struct module_load *load = module_load_of(module, at);
    if (!load || at < load->start || (load->is_writable && !core_has_private_memory(core)))
        return 0;
    if (at >= load->file_end)
        return modules_read_zeros(core, load, at, address, buffer, size);
    uint64_t offset = load->offset + (at - load->start);
    if (!modules_is_mapped(core, address, offset, &mapped_end))
        return 0;
    const struct core_segment *segment = core_segment_of(core, address);
    uint64_t left = load->file_end - at;
    left = mapped_end - address < left ? mapped_end - address : left;
    if (segment && segment->end - address < left)
        left = segment->end - address; // the next one may be in the core
    else if (!segment)
        left = MODULES_PAGE - address % MODULES_PAGE < left ? MODULES_PAGE - address % MODULES_PAGE
                                                            : left;
    size_t part = left < size ? (size_t)left : size;
    memcpy(buffer, module->file + offset, part);
    return part;
}

size_t modules_read(const struct modules *modules, uint64_t address, void *buffer, size_t size)
{
    unsigned char *bytes = buffer;
    size_t done = 0;
    while (done < size) {
        size_t got = 0;
        if (modules->core)
            got = core_read(modules->core, address + done, bytes + done, size - done);
        else
            got = modules_read_alone(modules, address + done, bytes + done, size - done);
        if (got == 0)
            got = modules_read_file(modules, address + done, bytes + done, size - done);
        if (got == 0 || address + done + got < address)
            return done + got;
        done += got;
    }
    return done;
}

bool modules_read_u64(const struct modules *modules, uint64_t address, uint64_t *ret)
{
    unsigned char bytes[8];
    if (modules_read(modules, address, bytes, sizeof(bytes)) != sizeof(bytes))
        return false;
    uint64_t value = 0;
    for (size_t i = sizeof(bytes); i-- > 0;)
        value = value << 8 | bytes[i];
    *ret = value;
    return true;
}

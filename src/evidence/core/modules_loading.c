// SPDX-License-Identifier: Apache-2.0
/*
 * Which libraries were loaded with the program, and whether others may have been in memory before.
 *
 * What the executable needs, directly or by what it needs, stays until the process ends. Another
 * library was loaded with dlopen(): it may have been unloaded and loaded again, as long as somebody
 * can call dlclose(), by its name or by a pointer from dlsym(). With dlmopen() any library may have
 * had a second copy, which is gone. Preloaded libraries count as loaded with dlopen(), since
 * nothing in a file tells them apart.
 */
#include <string.h>

#include "evidence/core/modules.h"
#include "evidence/core/modules_internal.h"

/* The nth string that the dynamic section has for a tag; NULL behind the last. */
static const char *module_dynamic_string(const struct module *module, int64_t tag, size_t nth)
{
    for (Elf_Scn *section = NULL; module->elf && (section = elf_nextscn(module->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / sizeof(Elf64_Dyn) : 0;
        for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
            GElf_Dyn entry;
            if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == tag && nth-- == 0)
                return elf_strptr(module->elf, header.sh_link, entry.d_un.d_val);
        }
        return NULL;
    }
    return NULL;
}

/* Whether the module has one of the names, NULL-terminated, from others; also where that is not
 * known. */
static bool module_imports(const struct module *module, const char *const *names)
{
    for (Elf_Scn *section = NULL; module->elf && (section = elf_nextscn(module->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
        for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
            GElf_Sym symbol;
            const char *name = gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx == SHN_UNDEF
                                   ? elf_strptr(module->elf, header.sh_link, symbol.st_name)
                                   : NULL;
            for (const char *const *n = names; name && *n; n++)
                if (strcmp(name, *n) == 0)
                    return true;
        }
        return data == NULL;
    }
    return !module->info.is_vdso;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool module_is_needed_as(const struct module *module, const char *needed)
{
    const char *name = module_dynamic_string(module, DT_SONAME, 0);
    return (name && strcmp(name, needed) == 0) ||
           strcmp(base_name(module->info.path), base_name(needed)) == 0;
}

/* The only library that goes by this name; NULL where there are several, or none. */
static struct module *modules_find_needed(const struct modules *set, const char *needed)
{
    struct module *found = NULL;
    for (size_t i = 1; i < set->all.length; i++) {
        struct module *module = set->all.data[i];
        if (!module_is_needed_as(module, needed))
            continue;
        if (found)
            return NULL;
        found = module;
    }
    return found;
}

static void modules_mark_needed(struct modules *set)
{
    struct module_vec pending = VEC_INIT;
    module_vec_push(&pending, set->all.data[0]);
    while (pending.length) {
        const struct module *module = module_vec_pop(&pending);
        const char *needed;
        for (size_t n = 0; (needed = module_dynamic_string(module, DT_NEEDED, n)); n++) {
            struct module *other = modules_find_needed(set, needed);
            if (!other || other->came_with_program)
                continue;
            other->came_with_program = true;
            module_vec_push(&pending, other);
        }
    }
    module_vec_deinit(&pending);
}

static void modules_learn_loading(struct modules *set)
{
    static const char *const unload[] = {"dlclose", "dlsym", "dlvsym", "dlmopen", NULL};
    static const char *const copy[] = {"dlmopen", NULL};
    set->knows_loading = true;
    modules_mark_needed(set);
    // linked statically: what others import is inside
    set->can_unload = !module_dynamic_string(set->all.data[0], DT_NEEDED, 0);
    for (size_t i = 0; i < set->all.length; i++) {
        set->can_unload = set->can_unload || module_imports(set->all.data[i], unload);
        set->can_copy =
            set->can_copy || (set->all.data[i]->elf && module_imports(set->all.data[i], copy));
    }
}

bool module_may_be_reloaded(struct module *module)
{
    struct modules *set = module->set;
    if (module->info.is_executable || module->info.is_vdso)
        return false;
    if (!set->knows_loading)
        modules_learn_loading(set);
    return set->can_copy || (set->can_unload && !module->came_with_program);
}

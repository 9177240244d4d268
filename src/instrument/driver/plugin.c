#include "instrument/driver/plugin.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"

#define PLUGIN_FROM_DRIVER  "../lib/inquest/inquest-plugin.so"
#define RUNTIME_FROM_DRIVER "../lib/inquest/libinquest-runtime.a"
#define LINKERS_FROM_DRIVER "../lib/inquest"
#define HEADERS_FROM_DRIVER "../include"
#define PLUGIN_ENTRY        "llvmGetPassPluginInfo"

static bool section_defines(Elf *elf, Elf_Scn *section, const char *name)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !data)
        return false;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (found && symbol.st_shndx != SHN_UNDEF && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* As much as can be told without loading it, which would take LLVM into the driver. */
static bool is_pass_plugin(Elf *elf)
{
    GElf_Ehdr header;
    if (!elf || !gelf_getehdr(elf, &header) || header.e_type != ET_DYN ||
        header.e_machine != EM_X86_64)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (section_defines(elf, section, PLUGIN_ENTRY))
            return true;
    }
    return false;
}

static struct error *plugin_check(const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);
    if (err)
        return err;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)bytes.data, bytes.size);
    bool good = is_pass_plugin(elf);
    elf_end(elf);
    return good ? NULL : error_create_file(ERROR_FORMAT, path, "not a compiler plugin");
}

/* A path from the driver's own directory. */
static struct error *from_driver(struct arena *arena, const char *relative, const char **ret_path)
{
    char driver[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", driver, sizeof(driver) - 1);
    if (length < 0)
        return error_errno(errno, "/proc/self/exe", "cannot read");
    driver[length] = '\0';
    char *slash = strrchr(driver, '/');
    *ret_path = arena_printf(arena, "%.*s/%s", (int)(slash ? slash - driver : 0), driver, relative);
    return NULL;
}

struct error *plugin_find(struct arena *arena, const char **ret_path)
{
    const char *path = NULL;
    struct error *err = from_driver(arena, PLUGIN_FROM_DRIVER, &path);
    if (!err)
        err = plugin_check(path);
    if (err)
        return err;
    *ret_path = path;
    return NULL;
}

/* The same, of a file that has to be there. */
static struct error *find_file(struct arena *arena, const char *relative, int mode,
                               const char **ret_path)
{
    const char *path = NULL;
    struct error *err = from_driver(arena, relative, &path);
    if (err)
        return err;
    if (access(path, mode) != 0)
        return error_errno(errno, path, "cannot use");
    *ret_path = path;
    return NULL;
}

struct error *plugin_find_runtime(struct arena *arena, const char **ret_path)
{
    return find_file(arena, RUNTIME_FROM_DRIVER, R_OK, ret_path);
}

struct error *plugin_find_linker(struct arena *arena, const char *name, const char **ret_path)
{
    return find_file(arena, arena_printf(arena, "%s/%s", LINKERS_FROM_DRIVER, name), X_OK,
                     ret_path);
}

struct error *plugin_find_headers(struct arena *arena, const char **ret_path)
{
    return from_driver(arena, HEADERS_FROM_DRIVER, ret_path);
}

struct error *plugin_hash(const char *path, uint64_t *ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);
    if (err)
        return err;
    *ret = hash_bytes(HASH_SEED, bytes.data, bytes.size);
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of a module: from the cache when they are there, else from its bitcode, which then
 * fills the cache. A file a module, $XDG_CACHE_HOME/inquest/model/BUILD-ID/MODULE-ID; it is written
 * whole or not at all, and one that is damaged or of another version is as good as none. A cache
 * that cannot be written is not an error.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "program/from_bitcode.h"
#include "program/image.h"
#include "program/model_private.h"

// The folder for an image's modules, to be freed; NULL when there is no place for a cache.
static char *cache_folder(const struct image *image)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct strbuf path = STRBUF_INIT;

    if (cache && cache[0] == '/')
        strbuf_append(&path, cache);
    else if (home && home[0] == '/')
        strbuf_printf(&path, "%s/.cache", home);
    else
        return NULL;
    strbuf_append(&path, "/inquest/model/");
    for (size_t i = 0; i < image->build_id_size; i++)
        strbuf_printf(&path, "%02x", image->build_id[i]);
    if (image->build_id_size == 0)
        strbuf_append(&path, "no-build-id");
    return strbuf_steal(&path);
}

static struct error *decompress(const char *path, const struct model_module *module,
                                unsigned char **ret)
{
    unsigned long long told = ZSTD_getFrameContentSize(module->bitcode, module->compressed_length);

    if (told == ZSTD_CONTENTSIZE_ERROR ||
        (told != ZSTD_CONTENTSIZE_UNKNOWN && told != module->bitcode_length))
        return error_create_at_offset(ERROR_FORMAT, path, module->offset,
                                      "damaged model: bitcode of another length");
    unsigned char *bitcode = xmalloc(module->bitcode_length);
    size_t length = ZSTD_decompress(bitcode, module->bitcode_length, module->bitcode,
                                    module->compressed_length);
    if (ZSTD_isError(length) || length != module->bitcode_length ||
        hash_bytes(HASH_SEED, bitcode, length) != module->id) {
        free(bitcode);
        return error_create_at_offset(ERROR_FORMAT, path, module->offset,
                                      "damaged model: bitcode cannot be decompressed");
    }
    *ret = bitcode;
    return NULL;
}

static struct error *decode(const char *path, const struct model_module *module, struct code **ret)
{
    _cleanup_free_ unsigned char *bitcode = NULL;
    struct error *err = decompress(path, module, &bitcode);

    if (err)
        return err;
    err = from_bitcode_apart(bitcode, module->bitcode_length, ret);
    if (err && err->place_kind == ERROR_PLACE_NONE) {
        struct error *placed =
            error_create_at_offset(err->code, path, module->offset, "%s", err->message);
        error_destroy(err);
        return placed;
    }
    return err;
}

struct error *model_module_code(const struct model *model, const struct model_module *module,
                                struct code **ret)
{
    const struct image *image = model->images[module->image.value].image;
    _cleanup_free_ char *folder = model->private->no_cache ? NULL : cache_folder(image);

    if (!folder)
        return decode(image->model_path, module, ret);
    _cleanup_free_ char *path = xasprintf("%s/%016llx", folder, (unsigned long long)module->id);
    struct error *err = code_read(path, ret);
    if (!err)
        return NULL;
    error_destroy(err);
    err = decode(image->model_path, module, ret);
    if (err)
        return err;
    err = file_make_directories(folder);
    if (!err)
        err = code_write(*ret, path);
    error_destroy(err);
    return NULL;
}

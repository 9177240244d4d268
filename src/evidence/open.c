// SPDX-License-Identifier: Apache-2.0
#include "evidence/open.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "program/model.h"

enum content {
    CONTENT_EMPTY,
    CONTENT_ELF,
    CONTENT_ZSTD,
    CONTENT_COMPRESSED, // in a way that is not read
    CONTENT_JSON,
    CONTENT_OTHER,
};

static enum content content_of(const unsigned char *data, size_t size)
{
    if (size == 0)
        return CONTENT_EMPTY;
    if (size >= 4 && memcmp(data, "\177ELF", 4) == 0)
        return CONTENT_ELF;
    if (size >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0)
        return CONTENT_ZSTD;
    if (size >= 4 && (memcmp(data, "\x1f\x8b", 2) == 0 ||
                      memcmp(data,
                             "\xfd"
                             "7zX",
                             4) == 0 ||
                      memcmp(data, "\x04\x22\x4d\x18", 4) == 0 || memcmp(data, "BZh", 3) == 0))
        return CONTENT_COMPRESSED;
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    return at < size && (data[at] == '{' || data[at] == '[') ? CONTENT_JSON : CONTENT_OTHER;
}

static struct error *read_json(const char *path, const struct file_bytes *bytes,
                               struct evidence **ret)
{
    struct evidence *evidence;
    struct error *err = evidence_read_json((const char *)bytes->data, bytes->size, path, &evidence);
    if (err)
        return err;
    if (!evidence->source)
        evidence->source = arena_strdup(&evidence->arena, path);
    *ret = evidence;
    return NULL;
}

static bool has_image(const struct model *model, const char *path)
{
    for (uint32_t i = 0; i < model->image_count; i++) {
        if (strcmp(model->images[i].path, path) == 0)
            return true;
    }
    return false;
}

// The instrumented libraries that the evidence names, where they still are. Modules are named by a
// hash of their contents, so that another build's are simply not found; what cannot be read is left
// out, and nothing is claimed of it.
static void add_libraries(struct model *model, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < evidence->image_count; i++) {
        const struct evidence_image *image = &evidence->images[i];
        if (image->executable || !image->module_count || !image->path ||
            access(image->path, R_OK) != 0 || has_image(model, image->path))
            continue;
        error_destroy(model_add_image(model, image->path, false, NULL));
    }
}

static struct error *open_executable(const char *executable, const struct decode_options *options,
                                     const struct evidence *evidence, struct model **ret)
{
    size_t count = 0;
    while (options->debug_directories && options->debug_directories[count])
        count++;
    struct model_options model_options = {options->debug_directories, count, options->no_cache};
    struct error *err = model_open(executable, &model_options, ret);
    if (!err)
        add_libraries(*ret, evidence);
    return err;
}

// EXE beside evidence JSON: an ELF file or a model as text.
static struct error *open_model(const char *executable, const struct decode_options *options,
                                const struct evidence *evidence, struct model **ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(executable, &bytes);
    if (err)
        return err;
    static const char magic[] = "inquest-model";
    if (bytes.size > sizeof(magic) && memcmp(bytes.data, magic, sizeof(magic) - 1) == 0)
        return model_read_text(executable, (const char *)bytes.data, bytes.size, ret);
    return open_executable(executable, options, evidence, ret);
}

static struct error *open_json(const char *executable, const char *path,
                               const struct file_bytes *bytes, const struct decode_options *options,
                               struct model **ret_model, struct evidence **ret)
{
    struct evidence *evidence = NULL;
    struct model *model = NULL;
    struct error *err = read_json(path, bytes, &evidence);
    if (!err)
        err = open_model(executable, options, evidence, &model);
    if (!err)
        err = error_in_file(evidence_fit(evidence, model), path);
    if (err) {
        evidence_destroy(evidence);
        model_destroy(model);
        return err;
    }
    *ret_model = model;
    *ret = evidence;
    return NULL;
}

// `inquest CORE EXE`: a core where the program belongs.
static struct error *check_order(const char *executable, const char *path,
                                 const struct file_bytes *evidence)
{
    _cleanup_file_bytes_ struct file_bytes program = FILE_BYTES_INIT;
    Elf64_Ehdr first, second;
    struct stat status;
    if (evidence->size < sizeof(second) || stat(executable, &status) != 0 ||
        !S_ISREG(status.st_mode) || (size_t)status.st_size < sizeof(first))
        return NULL;
    struct error *err = file_map(executable, &program);
    if (err)
        return err;
    memcpy(&first, program.data, sizeof(first));
    memcpy(&second, evidence->data, sizeof(second));
    if (content_of(program.data, program.size) != CONTENT_ELF || first.e_type != ET_CORE ||
        second.e_type == ET_CORE)
        return NULL;
    return error_create_file(
        ERROR_USAGE, path, "'%s' is a core and this is none: give the program first, then its core",
        executable);
}

struct error *evidence_open(const char *executable, const char *path,
                            const struct decode_options *options, struct model **ret_model,
                            struct evidence **ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_errno(EISDIR, path, "cannot read");
    struct error *err = file_map(path, &bytes);
    if (err)
        return err;
    switch (content_of(bytes.data, bytes.size)) {
    case CONTENT_ELF:
        err = check_order(executable, path, &bytes);
        if (err)
            return err;
        // fall through
    case CONTENT_ZSTD:
    case CONTENT_COMPRESSED:
        if (!bytes.mapped)
            return error_create_file(ERROR_UNSUPPORTED, path,
                                     "a core is read from a regular file only, save it first");
        return decode_core(executable, path, options, ret_model, ret);
    case CONTENT_JSON:
        return open_json(executable, path, &bytes, options, ret_model, ret);
    case CONTENT_EMPTY:
        return error_create_file(ERROR_FORMAT, path, "empty file");
    case CONTENT_OTHER:
        break;
    }
    return error_create_file(ERROR_FORMAT, path, "neither a core dump nor evidence JSON");
}

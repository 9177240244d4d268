// SPDX-License-Identifier: Apache-2.0
#include "evidence/open.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "evidence/backtrace.h"
#include "evidence/backtrace_evidence.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "evidence/failure_json.h"
#include "evidence/merge.h"
#include "program/from_graphml.h"
#include "program/model.h"

enum content {
    CONTENT_EMPTY,
    CONTENT_ELF,
    CONTENT_ZSTD,
    CONTENT_COMPRESSED, // in a way that is not read
    CONTENT_JSON,
    CONTENT_TEXT, // with a stack in it
    CONTENT_OTHER,
};

// Behind white space; 0 when there is nothing else.
static char first_character(const unsigned char *data, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    return at < size ? (char)data[at] : '\0';
}

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
    char first = first_character(data, size);
    return first == '{' || first == '[' ? CONTENT_JSON : CONTENT_OTHER;
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

static struct error *open_elf(const char *executable, const struct decode_options *options,
                              struct model **ret)
{
    size_t count = 0;
    while (options->debug_directories && options->debug_directories[count])
        count++;
    struct model_options model_options = {options->debug_directories, count, options->no_cache};
    return model_open(executable, &model_options, ret);
}

// EXE beside anything but a core: an ELF file, a model as text, or GraphML.
static struct error *open_model(const char *executable, const struct decode_options *options,
                                struct model **ret)
{
    if (path_is_graphml(executable))
        return model_from_graphml(executable, ret);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(executable, &bytes);
    if (err)
        return err;
    static const char magic[] = "inquest-model";
    if (bytes.size > sizeof(magic) && memcmp(bytes.data, magic, sizeof(magic) - 1) == 0)
        return model_read_text(executable, (const char *)bytes.data, bytes.size, ret);
    return open_elf(executable, options, ret);
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

// One file of evidence, open until all are read.
struct input_file {
    const char *path;
    struct file_bytes bytes;
    enum content content;
    struct backtrace *backtrace; // of CONTENT_TEXT
};

static struct error *open_text(struct input_file *file)
{
    struct error *err = backtrace_read((const char *)file->bytes.data, file->bytes.size, file->path,
                                       &file->backtrace);
    // "[" begins what gdb says, and JSON that is no evidence: its reader has the better message
    if (err && file->content == CONTENT_JSON) {
        error_destroy(err);
        return NULL;
    }
    if (err && err->code == ERROR_NOT_FOUND && err->place_kind == ERROR_PLACE_NONE) {
        error_destroy(err);
        return error_create_file(ERROR_FORMAT, file->path,
                                 "neither a core dump nor evidence JSON nor a text with a stack");
    }
    if (!err)
        file->content = CONTENT_TEXT;
    return err;
}

static struct error *open_file(const char *executable, struct input_file *file)
{
    struct stat status;
    if (stat(file->path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_errno(EISDIR, file->path, "cannot read");
    struct error *err = file_map(file->path, &file->bytes);
    if (err)
        return err;
    file->content = content_of(file->bytes.data, file->bytes.size);
    switch (file->content) {
    case CONTENT_ELF:
        err = check_order(executable, file->path, &file->bytes);
        if (err)
            return err;
        // fall through
    case CONTENT_ZSTD:
    case CONTENT_COMPRESSED:
        if (!file->bytes.mapped)
            return error_create_file(ERROR_UNSUPPORTED, file->path,
                                     "a core is read from a regular file only, save it first");
        return NULL;
    case CONTENT_JSON:
        return first_character(file->bytes.data, file->bytes.size) == '[' ? open_text(file) : NULL;
    case CONTENT_EMPTY:
        return error_create_file(ERROR_FORMAT, file->path, "empty file");
    case CONTENT_OTHER:
    case CONTENT_TEXT:
        break;
    }
    return open_text(file);
}

static bool is_core(const struct input_file *file)
{
    return file->content == CONTENT_ELF || file->content == CONTENT_ZSTD ||
           file->content == CONTENT_COMPRESSED;
}

// A failure report of the authors of paper 000: no schema, and one of its keys.
static bool is_failure_report(const char *text, size_t size)
{
    static const char *const keys[] = {"crash", "stack", "obsYes", "obsNo"};
    json_t *document = NULL;
    bool is_one = false;
    error_destroy(json_read_bytes("", text, size, &document));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        is_one |= document && json_object_get(document, keys[i]);
    is_one &= document && !json_object_get(document, "schema");
    json_decref(document);
    return is_one;
}

static struct error *read_json(const struct input_file *file, struct model *model,
                               struct evidence **ret)
{
    const char *text = (const char *)file->bytes.data;
    if (model->node_names && is_failure_report(text, file->bytes.size))
        return failure_json_read(text, file->bytes.size, file->path, model, ret);
    struct evidence *evidence;
    struct error *err = evidence_read_json(text, file->bytes.size, file->path, &evidence);
    if (err)
        return err;
    add_libraries(model, evidence);
    err = error_in_file(evidence_fit(evidence, model), file->path);
    if (err) {
        evidence_destroy(evidence);
        return err;
    }
    *ret = evidence;
    return NULL;
}

// With the model at hand; *model is opened with the core when it is not.
static struct error *read_file(const char *executable, const struct input_file *file,
                               const struct decode_options *options, struct model **model,
                               struct evidence **ret)
{
    struct evidence *evidence = NULL;
    struct error *err;
    if (is_core(file))
        err = decode_core(executable, file->path, options, model, &evidence);
    else if (file->content == CONTENT_JSON)
        err = read_json(file, *model, &evidence);
    else
        err =
            backtrace_evidence(file->backtrace, file->path, executable, options, *model, &evidence);
    if (err)
        return err;
    if (!evidence->source)
        evidence->source = arena_strdup(&evidence->arena, file->path);
    *ret = evidence;
    return NULL;
}

// The core first, which tells the libraries that the model is made of, too.
static struct error *read_all(const char *executable, struct input_file *files, size_t count,
                              const struct decode_options *options, struct model **model,
                              struct evidence **ret)
{
    const struct input_file *core = NULL;
    struct error *err = NULL;
    for (size_t i = 0; !err && i < count; i++) {
        if (!is_core(&files[i]))
            continue;
        if (core)
            return error_create(ERROR_USAGE, "'%s' and '%s' are both cores, of which a run has one",
                                core->path, files[i].path);
        core = &files[i];
    }
    err = core ? read_file(executable, core, options, model, ret)
               : open_model(executable, options, model);
    for (size_t i = 0; !err && i < count; i++) {
        struct evidence *evidence;
        if (&files[i] == core)
            continue;
        err = read_file(executable, &files[i], options, model, &evidence);
        if (!err && !*ret)
            *ret = evidence;
        else if (!err)
            err = evidence_merge(ret, evidence);
    }
    return err;
}

struct error *evidence_open_all(const char *executable, const char *const *paths, size_t count,
                                const struct decode_options *options, struct model **ret_model,
                                struct evidence **ret)
{
    struct input_file *files = xcalloc(count + 1, sizeof(*files));
    struct model *model = NULL;
    struct evidence *evidence = NULL;
    struct error *err = NULL;
    assert(count > 0);
    for (size_t i = 0; !err && i < count; i++) {
        files[i].path = paths[i];
        err = open_file(executable, &files[i]);
    }
    if (!err)
        err = read_all(executable, files, count, options, &model, &evidence);
    for (size_t i = 0; i < count; i++) {
        backtrace_destroy(files[i].backtrace);
        file_bytes_deinit(&files[i].bytes);
    }
    free(files);
    if (err) {
        evidence_destroy(evidence);
        model_destroy(model);
        return err;
    }
    *ret_model = model;
    *ret = evidence;
    return NULL;
}

struct error *evidence_open(const char *executable, const char *path,
                            const struct decode_options *options, struct model **ret_model,
                            struct evidence **ret)
{
    return evidence_open_all(executable, &path, 1, options, ret_model, ret);
}

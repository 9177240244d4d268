// SPDX-License-Identifier: Apache-2.0
// Our own sections: finding the file that holds them, and walking the frames (layout/section.h).
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "layout/section.h"
#include "layout/suspects.h"
#include "program/image_private.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

VEC_DEFINE(frame_vec, struct image_frame);

// ---- Frames

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static struct error *check_header(const char *path, uint64_t offset,
                                  const struct section_header *header, size_t left)
{
    if (memcmp(header->magic, SECTION_MAGIC, sizeof(header->magic)) != 0)
        return error_create_at_offset(ERROR_FORMAT, path, offset,
                                      "damaged model: no frame begins here");
    if (header->version != SECTION_VERSION)
        return error_create_at_offset(
            ERROR_MISMATCH, path, offset,
            "model of version %u; this inquest reads version %u: build the program again with the "
            "inquest-cc that belongs to it",
            header->version, SECTION_VERSION);
    if (header->kind < SECTION_KIND_MODULE || header->kind > SECTION_KIND_OBJECT)
        return error_create_at_offset(ERROR_FORMAT, path, offset,
                                      "damaged model: no frame is of kind %u", header->kind);
    if (header->payload_length > left)
        return error_create_at_offset(ERROR_FORMAT, path, offset,
                                      "truncated model: a frame is longer than its section");
    return NULL;
}

// One frame at bytes; *ret_size is what it takes up.
static struct error *read_frame(const char *path, uint64_t offset, const unsigned char *bytes,
                                size_t size, struct frame_vec *frames, size_t *ret_size)
{
    struct section_header header;

    if (size < sizeof(header))
        return error_create_at_offset(ERROR_FORMAT, path, offset,
                                      "truncated model: a frame's header is cut off");
    memcpy(&header, bytes, sizeof(header));
    struct error *err = check_header(path, offset, &header, size - sizeof(header));
    if (err)
        return err;
    const unsigned char *payload = bytes + sizeof(header);
    if (hash_bytes(HASH_SEED, payload, header.payload_length) != header.payload_hash)
        return error_create_at_offset(ERROR_FORMAT, path, offset,
                                      "damaged model: a frame's hash is wrong");
    frame_vec_push(frames, (struct image_frame){.kind = header.kind,
                                                .offset = offset,
                                                .hash = header.payload_hash,
                                                .payload = payload,
                                                .length = header.payload_length});
    *ret_size = sizeof(header) + header.payload_length;
    return NULL;
}

// Between frames there may be zeros, in steps of SECTION_ALIGN.
static struct error *read_frames(const char *path, uint64_t offset, const unsigned char *bytes,
                                 size_t size, struct frame_vec *frames)
{
    for (size_t at = 0; at < size;) {
        size_t step = size - at < SECTION_ALIGN ? size - at : SECTION_ALIGN;
        if (all_zero(bytes + at, step)) {
            at += step;
            continue;
        }
        size_t length;
        struct error *err = read_frame(path, offset + at, bytes + at, size - at, frames, &length);
        if (err)
            return err;
        size_t padding = -(at + length) % SECTION_ALIGN;
        at += length;
        if (padding > size - at)
            padding = size - at;
        if (!all_zero(bytes + at, padding))
            return error_create_at_offset(ERROR_FORMAT, path, offset + at,
                                          "damaged model: no zeros behind a frame");
        at += padding;
    }
    return NULL;
}

struct error *image_parse_frames(const char *path, const void *bytes, size_t size,
                                 struct image_frame **ret, uint32_t *ret_count)
{
    struct frame_vec frames = VEC_INIT;
    struct error *err = read_frames(path, 0, bytes, size, &frames);

    if (err) {
        frame_vec_deinit(&frames);
        return err;
    }
    *ret_count = (uint32_t)frames.length;
    *ret = frame_vec_steal(&frames);
    return NULL;
}

static struct error *read_section(const char *path, Elf *elf, const char *name,
                                  struct frame_vec *frames)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_file_section(elf, name, &header);

    if (!section)
        return NULL;
    if (header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
        return error_create_at_offset(ERROR_FORMAT, path, header.sh_offset,
                                      "section '%s' cannot be decompressed", name);
    Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf)
        return error_create_at_offset(ERROR_FORMAT, path, header.sh_offset,
                                      "section '%s' cannot be read", name);
    return read_frames(path, header.sh_offset, data->d_buf, data->d_size, frames);
}

// ---- The separate debug file

static bool has_model(Elf *elf)
{
    GElf_Shdr header;

    return elf_file_section(elf, SECTION_MODEL, &header) != NULL;
}

static bool same_build_id(const struct image *image, Elf *elf)
{
    const unsigned char *bytes = NULL;
    size_t size = elf_build_id(elf, &bytes);

    return image->build_id_size == 0 ||
           (size == image->build_id_size && memcmp(bytes, image->build_id, size) == 0);
}

static bool has_symbols(Elf *elf)
{
    GElf_Shdr header;

    return elf_file_section(elf, ".symtab", &header) != NULL;
}

// Takes the file when it belongs to the image and holds what that lacks. Any other is passed over.
static bool try_debug_file(struct image *image, const char *path)
{
    bool wants_model = !has_model(image->private->main.elf);
    struct elf_file file = ELF_FILE_INIT;

    if (access(path, R_OK) != 0)
        return false;
    struct error *err = elf_file_open(path, &file);
    if (err || !(wants_model ? has_model(file.elf) : has_symbols(file.elf)) ||
        !same_build_id(image, file.elf)) {
        error_destroy(err);
        elf_file_close(&file);
        return false;
    }
    image->private->debug = file;
    if (wants_model) {
        free(image->model_path);
        image->model_path = xstrdup(path);
    }
    return true;
}

static bool try_build_id(struct image *image, const char *directory)
{
    _cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

    if (image->build_id_size < 2)
        return false;
    strbuf_printf(&path, "%s/.build-id/%02x/", directory, image->build_id[0]);
    for (size_t i = 1; i < image->build_id_size; i++)
        strbuf_printf(&path, "%02x", image->build_id[i]);
    strbuf_append(&path, ".debug");
    return try_debug_file(image, path.data);
}

// The name in .gnu_debuglink; NULL when there is none.
static const char *debug_link(Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_file_section(elf, ".gnu_debuglink", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

    if (!data || !data->d_buf || !memchr(data->d_buf, '\0', data->d_size))
        return NULL;
    return data->d_buf;
}

static bool try_link(struct image *image, const char *format_directory, const char *folder,
                     const char *name)
{
    _cleanup_free_ char *path = xasprintf("%s%s/%s", format_directory, folder, name);

    return try_debug_file(image, path);
}

static bool try_links(struct image *image, const char *const *directories, size_t count)
{
    const char *name = debug_link(image->private->main.elf);
    const char *slash = strrchr(image->path, '/');

    if (!name || strchr(name, '/'))
        return false;
    _cleanup_free_ char *folder =
        slash ? xstrndup(image->path, (size_t)(slash - image->path)) : xstrdup(".");
    _cleanup_free_ char *beside = file_join(folder, ".debug");
    if (try_link(image, "", folder, name) || try_link(image, "", beside, name))
        return true;
    for (size_t i = 0; i < count; i++)
        if (try_link(image, directories[i], "", name) ||
            try_link(image, directories[i], folder, name))
            return true;
    return folder[0] == '/' && try_link(image, DEBUG_DIRECTORY, folder, name);
}

static void find_debug_file(struct image *image, const char *const *directories, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (try_build_id(image, directories[i]))
            return;
    if (!try_build_id(image, DEBUG_DIRECTORY))
        try_links(image, directories, count);
}

struct error *image_read_frames(struct image *image, const char *const *debug_directories,
                                size_t debug_directory_count)
{
    struct frame_vec frames = VEC_INIT;
    Elf *elf = image->private->main.elf;

    bool wants_model = !has_model(elf);

    if (wants_model || !has_symbols(elf))
        find_debug_file(image, debug_directories, debug_directory_count);
    if (wants_model && image->private->debug.elf)
        elf = image->private->debug.elf;
    struct error *err = read_section(image->model_path, elf, SECTION_MODEL, &frames);
    if (!err)
        err = read_section(image->model_path, elf, SECTION_LINK, &frames);
    if (!err)
        err = read_section(image->model_path, elf, SECTION_SUSPECTS, &frames);
    if (!err)
        err = read_section(image->model_path, elf, SECTION_OBJECTS, &frames);
    if (err) {
        frame_vec_deinit(&frames);
        return err;
    }
    image->frame_count = (uint32_t)frames.length;
    image->frames = frame_vec_steal(&frames);
    return NULL;
}

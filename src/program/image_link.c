// SPDX-License-Identifier: Apache-2.0
// Records of links in an image, and the files that a link put into it.
#include <string.h>
#include <zstd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "layout/section.h"
#include "program/image_private.h"

#define OBJECT_MOST ((uint64_t)1 << 30) // nobody embeds more; what claims to be is not believed

VEC_DEFINE(image_link_vec, struct image_link);

// lld leaves its version in the output, and inquest-cc does not ask it then.
static void read_linker_comment(const struct image *image, struct link_record *record)
{
    static const char word[] = "Linker: ";
    GElf_Shdr header;
    Elf *elf = image->private->main.elf;
    Elf_Scn *section = elf_file_section(elf, ".comment", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    const char *text = data ? data->d_buf : NULL, *end = text ? text + data->d_size : NULL;

    for (size_t length; text && text < end; text += length + 1) {
        length = strnlen(text, (size_t)(end - text));
        if (length > strlen(word) && strncmp(text, word, strlen(word)) == 0)
            record->linker_version =
                arena_strndup(&record->arena, text + strlen(word), length - strlen(word));
    }
}

struct error *image_read_links(struct image *image)
{
    struct image_link_vec links = VEC_INIT;
    struct error *err = NULL;

    for (uint32_t f = 0; f < image->frame_count && !err; f++) {
        const struct image_frame *frame = &image->frames[f];
        struct image_link link = {.id = frame->hash};
        if (frame->kind != SECTION_KIND_LINK)
            continue;
        err = link_record_parse(image->model_path, frame->offset + sizeof(struct section_header),
                                frame->payload, frame->length, &link.record);
        if (!err)
            image_link_vec_push(&links, link);
    }
    image->link_count = (uint32_t)links.length;
    image->links = image_link_vec_steal(&links);
    for (uint32_t l = 0; l < image->link_count; l++)
        if (!image->links[l].record.relocatable && !*image->links[l].record.linker_version)
            read_linker_comment(image, &image->links[l].record);
    return err;
}

void image_close_links(struct image *image)
{
    for (uint32_t l = 0; l < image->link_count; l++)
        link_record_deinit(&image->links[l].record);
    free(image->links);
}

const struct image_link *image_final_link(const struct image *image)
{
    for (uint32_t l = 0; l < image->link_count; l++)
        if (!image->links[l].record.relocatable)
            return &image->links[l];
    return NULL;
}

char *image_build_id_of(const char *path)
{
    struct elf_file file = ELF_FILE_INIT;
    struct error *err = elf_file_open(path, &file);
    char *text = err ? NULL : elf_build_id_text(file.elf);

    error_destroy(err);
    elf_file_close(&file);
    return text;
}

static const struct image_frame *find_object(const struct image *image, const struct sha256 *hash)
{
    for (uint32_t f = 0; f < image->frame_count; f++) {
        const struct image_frame *frame = &image->frames[f];
        if (frame->kind == SECTION_KIND_OBJECT && frame->length >= sizeof(struct section_object) &&
            memcmp(frame->payload, hash->bytes, sizeof(hash->bytes)) == 0)
            return frame;
    }
    return NULL;
}

bool image_has_object(const struct image *image, const struct sha256 *hash)
{
    return find_object(image, hash) != NULL;
}

struct error *image_read_object(const struct image *image, const struct sha256 *hash,
                                unsigned char **ret, size_t *ret_size)
{
    const struct image_frame *frame = find_object(image, hash);
    struct section_object object;

    if (!frame)
        return error_create_file(ERROR_NOT_FOUND, image->model_path, "no such file is embedded");
    memcpy(&object, frame->payload, sizeof(object));
    if (object.length > OBJECT_MOST)
        return error_create_at_offset(ERROR_LIMIT, image->model_path, frame->offset,
                                      "an embedded file is too large");
    _cleanup_free_ unsigned char *bytes = xmalloc(object.length + 1);
    size_t size = ZSTD_decompress(bytes, object.length, frame->payload + sizeof(object),
                                  frame->length - sizeof(object));
    struct sha256 found = sha256_of(bytes, ZSTD_isError(size) ? 0 : size);
    if (size != object.length || !sha256_equal(&found, hash))
        return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                      "damaged model: an embedded file is not what it should be");
    *ret = no_cleanup_ptr(bytes);
    *ret_size = size;
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// cost: 20
/*
 * Our sections behind right hashes: a program whose `.inquest.model` or `.inquest.link` was
 * replaced. The first byte of an input says by what: even, a frame that was edited; odd, a link
 * frame of this text, but 3, the one that was there, edited; 2, bitcode that was edited. Anything
 * read must go out as text and come back.
 */
#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "layout/section.h"
#include "program/model.h"
#include "subject.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct subject *program;
static size_t model_header, link_header; // offsets of the sections' headers
static struct subject frame, bitcode;    // the model's only frame, its bitcode as it was
static struct subject record;            // the payload of the link's frame

static size_t find_header(const char *name, Elf64_Shdr *ret)
{
    Elf64_Ehdr file;
    Elf64_Shdr names;
    memcpy(&file, program->data, sizeof(file));
    memcpy(&names, program->data + file.e_shoff + file.e_shstrndx * sizeof(names), sizeof(names));
    for (size_t i = 1; i < file.e_shnum; i++) {
        size_t at = file.e_shoff + i * sizeof(*ret);
        memcpy(ret, program->data + at, sizeof(*ret));
        if (!strcmp((const char *)program->data + names.sh_offset + ret->sh_name, name))
            return at;
    }
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    Elf64_Shdr header;
    struct section_module module;
    program = subject_open(**argv, "plain");
    link_header = find_header(SECTION_LINK, &header);
    struct section_header link;
    memcpy(&link, program->data + header.sh_offset, sizeof(link));
    record = (struct subject){.data = program->data + header.sh_offset + sizeof(link),
                              .size = link.payload_length};
    subject_add_region(&record, 0, record.size);
    model_header = find_header(SECTION_MODEL, &header);
    frame = (struct subject){.data = program->data + header.sh_offset, .size = header.sh_size};
    memcpy(&module, frame.data + sizeof(struct section_header), sizeof(module));
    size_t head = sizeof(struct section_header) + sizeof(module);
    size_t entries = head + module.function_count * sizeof(struct section_function);
    subject_add_region(&frame, 0, frame.size);
    subject_add_region(&frame, 0, head);
    subject_add_region(&frame, head, entries - head);
    bitcode =
        (struct subject){.data = xmalloc(module.bitcode_length), .size = module.bitcode_length};
    size_t got =
        ZSTD_decompress(bitcode.data, bitcode.size, frame.data + entries, frame.size - entries);
    if (ZSTD_isError(got)) { // the section ends with zeros
        size_t length = ZSTD_findFrameCompressedSize(frame.data + entries, frame.size - entries);
        got = ZSTD_decompress(bitcode.data, bitcode.size, frame.data + entries, length);
    }
    assert(got == bitcode.size);
    subject_add_region(&bitcode, 0, bitcode.size);
    return 0;
}

// The program with other bytes for a section: behind its end, and its header says so.
static const char *replace_section(size_t at, const void *bytes, size_t size)
{
    size_t end = (program->size + 7) & ~(size_t)7;
    unsigned char *copy = xcalloc(1, end + size);
    memcpy(copy, program->data, program->size);
    memcpy(copy + end, bytes, size);
    Elf64_Shdr header;
    memcpy(&header, copy + at, sizeof(header));
    header.sh_offset = end;
    header.sh_size = size;
    memcpy(copy + at, &header, sizeof(header));
    const char *path = subject_file("program", copy, end + size);
    free(copy);
    return path;
}

static const char *framed(size_t at, uint32_t kind, const void *payload, size_t size)
{
    struct section_header header = {.version = SECTION_VERSION,
                                    .kind = kind,
                                    .payload_length = size,
                                    .payload_hash = hash_bytes(HASH_SEED, payload, size)};
    memcpy(header.magic, SECTION_MAGIC, sizeof(header.magic));
    unsigned char *bytes = xmalloc(sizeof(header) + size);
    memcpy(bytes, &header, sizeof(header));
    if (size)
        memcpy(bytes + sizeof(header), payload, size);
    const char *path = replace_section(at, bytes, sizeof(header) + size);
    free(bytes);
    return path;
}

// An edited frame; its hash is made right where its length still is.
static const char *edited_frame(const uint8_t *data, size_t size)
{
    size_t length;
    unsigned char *bytes = subject_edit(&frame, data, size, &length);
    struct section_header header;
    if (length >= sizeof(header)) {
        memcpy(&header, bytes, sizeof(header));
        if (header.payload_length <= length - sizeof(header)) {
            header.payload_hash =
                hash_bytes(HASH_SEED, bytes + sizeof(header), header.payload_length);
            memcpy(bytes, &header, sizeof(header));
        }
    }
    const char *path = replace_section(model_header, bytes, length);
    free(bytes);
    return path;
}

// Edited bitcode, in a frame that is right in every other way.
static const char *edited_bitcode(const uint8_t *data, size_t size)
{
    size_t length;
    struct section_module module;
    unsigned char *bytes = subject_edit(&bitcode, data, size, &length);
    memcpy(&module, frame.data + sizeof(struct section_header), sizeof(module));
    module.module_id = hash_bytes(HASH_SEED, bytes, length);
    module.bitcode_length = length;
    size_t entries = module.function_count * sizeof(struct section_function);
    size_t room = ZSTD_compressBound(length);
    unsigned char *payload = xmalloc(sizeof(module) + entries + room);
    memcpy(payload, &module, sizeof(module));
    memcpy(payload + sizeof(module), frame.data + sizeof(struct section_header) + sizeof(module),
           entries);
    room = ZSTD_compress(payload + sizeof(module) + entries, room, bytes, length, 1);
    const char *path =
        framed(model_header, SECTION_KIND_MODULE, payload, sizeof(module) + entries + room);
    free(bytes);
    free(payload);
    return path;
}

static const char *edited_record(const uint8_t *data, size_t size)
{
    size_t length;
    unsigned char *bytes = subject_edit(&record, data, size, &length);
    const char *path = framed(link_header, SECTION_KIND_LINK, bytes, length);
    free(bytes);
    return path;
}

static void write_and_read(struct model *model)
{
    char *text;
    size_t length;
    struct model *again;
    FILE *stream = open_memstream(&text, &length);
    assert(stream);
    model_write_text(model, (struct function_id){MODEL_NONE}, false, stream);
    fclose(stream);
    struct error *err = model_read_text("fuzz", text, length, &again);
    if (err)
        error_print(err);
    assert(!err);
    model_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model *model;
    if (size == 0)
        return 0;
    // a cache of modules that are met once would only grow
    struct model_options options = {.no_cache = data[0] == 2};
    const char *path = data[0] == 2   ? edited_bitcode(data + 1, size - 1)
                       : data[0] == 3 ? edited_record(data + 1, size - 1)
                       : data[0] & 1  ? framed(link_header, SECTION_KIND_LINK, data + 1, size - 1)
                                      : edited_frame(data + 1, size - 1);
    struct error *err = model_open(path, &options, &model);
    if (!err) {
        err = model_complete(model);
        if (!err)
            write_and_read(model);
        model_destroy(model);
    }
    error_destroy(err);
    return 0;
}

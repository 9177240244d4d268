// SPDX-License-Identifier: Apache-2.0
/*
 * The model section: the module's bitcode, compressed, in a section that is not loaded.
 *
 * Only module-level assembly makes a section without SHF_ALLOC that linkers concatenate and
 * `strip` keeps; .octa is the densest directive that both assemblers know.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { COMPRESSION_LEVEL = 3, OCTA = EMBED_UNIT };

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// The whole frame, zero-padded to a multiple of OCTA; free().
static unsigned char *make_frame(const struct instrumented_module *module,
                                 LLVMMemoryBufferRef bitcode, size_t *size)
{
    size_t bitcode_size = LLVMGetBufferSize(bitcode);
    size_t tables = module->function_count * sizeof(struct section_function);
    size_t head = sizeof(struct section_header) + sizeof(struct section_module) + tables;
    size_t room = head + ZSTD_compressBound(bitcode_size) + OCTA;
    unsigned char *frame = xcalloc(room, 1);
    size_t packed = ZSTD_compress(frame + head, room - head, LLVMGetBufferStart(bitcode),
                                  bitcode_size, COMPRESSION_LEVEL);

    if (ZSTD_isError(packed)) {
        free(frame);
        return NULL;
    }
    struct section_header header = {.version = SECTION_VERSION, .kind = SECTION_KIND_MODULE};
    struct section_module info = {.module_id = module->module_id,
                                  .bitcode_length = bitcode_size,
                                  .level = module->options.level,
                                  .flags = module->options.tunable ? SECTION_MODULE_TUNABLE : 0,
                                  .function_count = module->function_count,
                                  .site_count = module->site_count};
    unsigned char *at = frame + sizeof(header) + sizeof(info);
    for (uint32_t f = 0; f < module->function_count; f++, at += sizeof(struct section_function)) {
        const struct instrumented_function *function = &module->functions[f];
        struct section_function entry = {function->checksum, function->level, function->flags};

        if (function->optimized)
            info.flags |= SECTION_MODULE_OPTIMIZED;
        memcpy(at, &entry, sizeof(entry));
    }
    if (module->is_for_lto)
        info.flags |= SECTION_MODULE_LTO;
    memcpy(frame + sizeof(header), &info, sizeof(info));
    memcpy(header.magic, SECTION_MAGIC, sizeof(header.magic));
    header.payload_length = head - sizeof(header) + packed;
    header.payload_hash =
        hash_bytes(HASH_SEED, frame + sizeof(header), (size_t)header.payload_length);
    memcpy(frame, &header, sizeof(header));
    *size = round_up(head + packed, OCTA);
    return frame;
}

static char *append_octa(char *at, const unsigned char *bytes)
{
    static const char digits[] = "0123456789abcdef";

    memcpy(at, ".octa 0x", 8);
    at += 8;
    for (int i = OCTA - 1; i >= 0; i--) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    *at++ = '\n';
    return at;
}

void embed_section(const struct instrumented_module *module, const char *section,
                   const unsigned char *frame, size_t size)
{
    static const char tail[] = ".popsection\n";
    char head[128];
    int length =
        snprintf(head, sizeof(head), "\n.pushsection %s,\"\",@progbits\n.p2align 3\n", section);
    char *text = xmalloc((size_t)length + sizeof(tail) + size / OCTA * (8 + 2 * OCTA + 1));
    char *at = text;

    memcpy(at, head, (size_t)length);
    at += length;
    for (size_t i = 0; i < size; i += OCTA)
        at = append_octa(at, frame + i);
    memcpy(at, tail, sizeof(tail) - 1);
    at += sizeof(tail) - 1;
    LLVMAppendModuleInlineAsm(module->module, text, (size_t)(at - text));
    free(text);
}

void embed_model(struct instrumented_module *module, LLVMMemoryBufferRef bitcode)
{
    size_t size;
    unsigned char *frame = make_frame(module, bitcode, &size);

    if (!frame)
        return;
    embed_section(module, SECTION_MODEL, frame, size);
    free(frame);
}

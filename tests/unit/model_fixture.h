// SPDX-License-Identifier: Apache-2.0
/*
 * Executables for tests of the model, made without a compiler: LLVM assembly becomes bitcode, the
 * bitcode a frame, frames a section of an ELF file that holds nothing else.
 *
 *     struct fixture_bytes frames = fixture_module("define i32 @main() {\n ret i32 0\n}\n", LEVEL);
 *     fixture_append_link(&frames_of_link, FIXTURE_CRT);
 *     fixture_write_elf(path, &elf_options, &frames, &frames_of_link);
 */
#ifndef TESTS_UNIT_MODEL_FIXTURE_H
#define TESTS_UNIT_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "layout/section.h"
#include "program/split.h"

#define FIXTURE_FUNCTION static __attribute__((__unused__))

struct fixture_bytes {
    unsigned char *data;
    size_t size;
};

FIXTURE_FUNCTION void fixture_bytes_append(struct fixture_bytes *bytes, const void *data,
                                           size_t size)
{
    bytes->data = xrealloc(bytes->data, bytes->size + size + 1);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

// Bitcode of an assembly text; *ret_entries and *ret_module are what the plugin would write of it.
FIXTURE_FUNCTION struct fixture_bytes fixture_bitcode(const char *assembly,
                                                      struct section_module *ret_module,
                                                      struct section_function **ret_entries)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(assembly, strlen(assembly), "test.ll");
    LLVMModuleRef module;
    char *message = NULL;
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        fail_msg("%s", message);
    LLVMMemoryBufferRef written = LLVMWriteBitcodeToMemoryBuffer(module);
    struct fixture_bytes bytes = {0};
    fixture_bytes_append(&bytes, LLVMGetBufferStart(written), LLVMGetBufferSize(written));
    *ret_module =
        (struct section_module){.module_id = hash_bytes(HASH_SEED, bytes.data, bytes.size),
                                .bitcode_length = bytes.size,
                                .level = SECTION_LEVEL_PATHS};
    size_t defined = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        defined += !LLVMIsDeclaration(f);
    *ret_entries = xcalloc(defined + 1, sizeof(**ret_entries));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        struct split split;
        if (LLVMIsDeclaration(f))
            continue;
        split_init(&split, f);
        (*ret_entries)[ret_module->function_count++] = (struct section_function){
            .checksum = path_graph_checksum(&split.graph), .level = SECTION_LEVEL_PATHS};
        ret_module->site_count += split.site_count;
        split_deinit(&split);
    }
    LLVMDisposeMemoryBuffer(written);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return bytes;
}

FIXTURE_FUNCTION void fixture_append_frame(struct fixture_bytes *frames, uint32_t kind,
                                           const struct fixture_bytes *payload)
{
    static const unsigned char zeros[8];
    struct section_header header = {
        .version = SECTION_VERSION,
        .kind = kind,
        .payload_length = payload->size,
        .payload_hash = hash_bytes(HASH_SEED, payload->data, payload->size)};

    memcpy(header.magic, SECTION_MAGIC, sizeof(header.magic));
    fixture_bytes_append(frames, &header, sizeof(header));
    fixture_bytes_append(frames, payload->data, payload->size);
    fixture_bytes_append(frames, zeros, (8 - frames->size % 8) % 8);
}

FIXTURE_FUNCTION void fixture_append_parts(struct fixture_bytes *frames,
                                           const struct section_module *module,
                                           const struct section_function *entries,
                                           const struct fixture_bytes *bitcode)
{
    struct fixture_bytes payload = {0};
    size_t room = ZSTD_compressBound(bitcode->size);
    void *packed = xmalloc(room);
    size_t size = ZSTD_compress(packed, room, bitcode->data, bitcode->size, 3);

    assert_false(ZSTD_isError(size));
    fixture_bytes_append(&payload, module, sizeof(*module));
    fixture_bytes_append(&payload, entries, module->function_count * sizeof(*entries));
    fixture_bytes_append(&payload, packed, size);
    fixture_append_frame(frames, SECTION_KIND_MODULE, &payload);
    free(packed);
    free(payload.data);
}

// One more module of this assembly.
FIXTURE_FUNCTION void fixture_append_module(struct fixture_bytes *frames, const char *assembly)
{
    struct section_module module;
    struct section_function *entries;
    struct fixture_bytes bitcode = fixture_bitcode(assembly, &module, &entries);

    fixture_append_parts(frames, &module, entries, &bitcode);
    free(entries);
    free(bitcode.data);
}

// The lines of a start-up file.
#define FIXTURE_CRT "input\tobject\ttoolchain\tcrt1.o\nmodelless\nundefined\tmain\n"

// One more link, with these lines of inputs.
FIXTURE_FUNCTION void fixture_append_link(struct fixture_bytes *frames, const char *lines)
{
    static const char head[] = "link\t1\ndirectory\t\ncommand\t\ncompiler\t\nlinker\t\t\t\n"
                               "output\tfinal\tprog\n";
    struct fixture_bytes payload = {0};

    fixture_bytes_append(&payload, head, strlen(head));
    fixture_bytes_append(&payload, lines, strlen(lines));
    fixture_append_frame(frames, SECTION_KIND_LINK, &payload);
    free(payload.data);
}

struct fixture_elf {
    uint16_t machine;     // EM_X86_64 when 0
    uint16_t type;        // ET_EXEC when 0
    const char *build_id; // bytes of a build-id; NULL: none
};

static const char fixture_names[] =
    "\0.shstrtab\0.inquest.model\0.inquest.link\0.note.gnu.build-id";
enum { NAME_SHSTRTAB = 1, NAME_MODEL = 11, NAME_LINK = 26, NAME_NOTE = 40 };

FIXTURE_FUNCTION void fixture_section(Elf *elf, uint32_t name, uint32_t type, const void *data,
                                      size_t size)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf_Data *contents = elf_newdata(section);
    GElf_Shdr header;

    contents->d_buf = (void *)data;
    contents->d_size = size;
    contents->d_align = type == SHT_NOTE ? 4 : 8;
    contents->d_type = type == SHT_NOTE ? ELF_T_NHDR : ELF_T_BYTE;
    gelf_getshdr(section, &header);
    header.sh_name = name;
    header.sh_type = type;
    gelf_update_shdr(section, &header);
}

// model and link may be NULL.
FIXTURE_FUNCTION void fixture_write_elf(const char *path, const struct fixture_elf *options,
                                        const struct fixture_bytes *model,
                                        const struct fixture_bytes *link)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    GElf_Ehdr header;
    unsigned char note[64] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};

    assert_true(descriptor >= 0);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(descriptor, ELF_C_WRITE, NULL);
    assert_non_null(elf);
    assert_non_null(gelf_newehdr(elf, ELFCLASS64));
    gelf_getehdr(elf, &header);
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = options->machine ? options->machine : EM_X86_64;
    header.e_type = options->type ? options->type : ET_EXEC;
    header.e_version = EV_CURRENT;
    if (model)
        fixture_section(elf, NAME_MODEL, SHT_PROGBITS, model->data, model->size);
    if (link)
        fixture_section(elf, NAME_LINK, SHT_PROGBITS, link->data, link->size);
    if (options->build_id) {
        memcpy(note + 16, options->build_id, 20);
        fixture_section(elf, NAME_NOTE, SHT_NOTE, note, 36);
    }
    fixture_section(elf, NAME_SHSTRTAB, SHT_STRTAB, fixture_names, sizeof(fixture_names));
    size_t count;
    elf_getshdrnum(elf, &count);
    header.e_shstrndx = (uint16_t)(count - 1);
    gelf_update_ehdr(elf, &header);
    assert_true(elf_update(elf, ELF_C_WRITE) > 0);
    elf_end(elf);
    close(descriptor);
}

// A fresh directory; fixture_remove_directory takes it away with all in it.
FIXTURE_FUNCTION char *fixture_directory(void)
{
    const char *base = getenv("TMPDIR");
    char *path = xasprintf("%s/inquest-test.XXXXXX", base ? base : "/tmp");

    assert_non_null(mkdtemp(path));
    return path;
}

FIXTURE_FUNCTION void fixture_remove_directory(char *path)
{
    char *command = xasprintf("rm -rf '%s'", path);

    assert_int_equal(system(command), 0);
    free(command);
    free(path);
}

FIXTURE_FUNCTION void fixture_check(struct error *err)
{
    if (err) {
        char *text = error_text(err);
        fail_msg("%s", text);
    }
}

// The error is there, of this code, and says this.
FIXTURE_FUNCTION void fixture_expect(struct error *err, enum error_code code, const char *part)
{
    assert_non_null(err);
    char *text = error_text(err);
    if (err->code != code || !strstr(text, part))
        fail_msg("expected code %d and '%s', got code %d: %s", (int)code, part, (int)err->code,
                 text);
    free(text);
    error_destroy(err);
}

#endif

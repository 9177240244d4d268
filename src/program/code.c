// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of a module's code as one block, in memory and in a file: a header that says where each
 * table lies, then the tables, each aligned to 16 bytes.
 */
#include "program/code_build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"

#define BLOCK_MAGIC     "INQCODE\n"
#define BLOCK_FORMAT    3u // counts changes of meaning that change no size
#define BLOCK_ALIGNMENT 16u

enum {
#define X(name, type) TABLE_##name,
    CODE_TABLES(X)
#undef X
        TABLE_COUNT
};

struct block_header {
    char magic[8];
    uint64_t version;
    uint64_t size; // of the whole block
    uint64_t hash; // of what follows this member
    uint32_t source;
    uint32_t module_asm;
    struct {
        uint64_t offset;
        uint64_t count;
    } tables[TABLE_COUNT];
};

// Changes with every size of an entry, so that no other version's file is misread.
static uint64_t block_version(void)
{
    uint64_t version = hash_u64(HASH_SEED, BLOCK_FORMAT);

    version = hash_u64(version, INSN_OPCODE_COUNT);
#define X(name, type) version = hash_u64(version, sizeof(type));
    CODE_TABLES(X)
#undef X
    return version;
}

// Eight bytes at a time: this one is read on every start, and never leaves the cache.
static uint64_t block_hash(const struct block_header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    size_t start = offsetof(struct block_header, hash) + sizeof(header->hash);
    uint64_t hash = HASH_SEED;

    for (size_t i = start; i + 8 <= header->size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * HASH_PRIME;
        hash ^= hash >> 29;
    }
    return hash;
}

void code_builder_init(struct code_builder *builder)
{
    *builder = (struct code_builder){.arena = ARENA_INIT};
    code_strings_push(&builder->strings, '\0');
    code_types_push(&builder->types, (struct type){.kind = TYPE_VOID});
    code_places_push(&builder->places, (struct place){.file = CODE_NONE});
    code_debug_types_push(&builder->debug_types, (struct debug_type){.kind = DEBUG_TYPE_VOID});
}

void code_builder_deinit(struct code_builder *builder)
{
#define X(name, type) code_##name##_deinit(&builder->name);
    CODE_TABLES(X)
#undef X
    code_string_map_deinit(&builder->interned);
    arena_deinit(&builder->arena);
}

struct string_id code_builder_string_n(struct code_builder *builder, const char *string,
                                       size_t length)
{
    if (length == 0)
        return (struct string_id){0};
    const char *key = arena_strndup(&builder->arena, string, length);
    bool is_new;
    uint32_t *offset = code_string_map_put_new(&builder->interned, key, &is_new);
    if (is_new) {
        *offset = (uint32_t)builder->strings.length;
        code_strings_append(&builder->strings, key, strlen(key) + 1);
    }
    return (struct string_id){*offset};
}

struct string_id code_builder_string(struct code_builder *builder, const char *string)
{
    return code_builder_string_n(builder, string, string ? strlen(string) : 0);
}

static size_t block_align(size_t size)
{
    return (size + BLOCK_ALIGNMENT - 1) & ~(size_t)(BLOCK_ALIGNMENT - 1);
}

static const void *block_at(const struct block_header *header, uint64_t offset)
{
    return (const unsigned char *)header + offset;
}

// Points the table heads into the block.
static struct code *code_of_block(const struct block_header *header, bool mapped)
{
    struct code *code = xcalloc(1, sizeof(*code));

#define X(name, type)                                                                              \
    code->name = block_at(header, header->tables[TABLE_##name].offset);                            \
    code->name##_count = (uint32_t)header->tables[TABLE_##name].count;
    CODE_TABLES(X)
#undef X
    code->source.value = header->source;
    code->module_asm.value = header->module_asm;
    code->block = header;
    code->block_size = header->size;
    code->mapped = mapped;
    return code;
}

struct code *code_builder_finish(struct code_builder *builder)
{
    size_t size = block_align(sizeof(struct block_header));

#define X(name, type)                                                                              \
    size_t at_##name = size;                                                                       \
    size += block_align(builder->name.length * sizeof(type));
    CODE_TABLES(X)
#undef X
    struct block_header *header = xcalloc(1, size);
    memcpy(header->magic, BLOCK_MAGIC, sizeof(header->magic));
    header->version = block_version();
    header->size = size;
    header->source = builder->source.value;
    header->module_asm = builder->module_asm.value;
#define X(name, type)                                                                              \
    assert(builder->name.length < UINT32_MAX);                                                     \
    header->tables[TABLE_##name].offset = at_##name;                                               \
    header->tables[TABLE_##name].count = builder->name.length;                                     \
    if (builder->name.length)                                                                      \
        memcpy((unsigned char *)header + at_##name, builder->name.data,                            \
               builder->name.length * sizeof(type));
    CODE_TABLES(X)
#undef X
    header->hash = block_hash(header);
    code_builder_deinit(builder);
    return code_of_block(header, false);
}

void code_destroy(struct code *code)
{
    if (!code)
        return;
    struct file_bytes bytes = {code->block, code->block_size, code->mapped};
    file_bytes_deinit(&bytes);
    free(code);
}

struct error *code_write(const struct code *code, const char *path)
{
    return file_write(path, code->block, code->block_size, 0666);
}

static struct error *block_check(const char *path, const struct file_bytes *bytes)
{
    const void *data = bytes->data;
    const struct block_header *header = data;

    if (bytes->size < sizeof(*header) || memcmp(header->magic, BLOCK_MAGIC, 8) != 0)
        return error_create_file(ERROR_FORMAT, path, "not a cached module");
    if (header->version != block_version())
        return error_create_file(ERROR_MISMATCH, path, "cached by another version");
    if (header->size != bytes->size || header->hash != block_hash(header))
        return error_create_file(ERROR_FORMAT, path, "damaged cached module");
#define X(name, type)                                                                              \
    if (header->tables[TABLE_##name].count > bytes->size / sizeof(type) ||                         \
        header->tables[TABLE_##name].offset >                                                      \
            bytes->size - header->tables[TABLE_##name].count * sizeof(type))                       \
        return error_create_file(ERROR_FORMAT, path, "damaged cached module");
    CODE_TABLES(X)
#undef X
    return NULL;
}

struct error *code_read(const char *path, struct code **ret)
{
    struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);

    if (err)
        return err;
    err = block_check(path, &bytes);
    if (err) {
        file_bytes_deinit(&bytes);
        return err;
    }
    const void *data = bytes.data;
    *ret = code_of_block(data, bytes.mapped);
    return NULL;
}

struct type_id code_operand_type(const struct code *code, struct operand operand)
{
    uint32_t index = operand_index(operand);

    switch (operand_kind(operand)) {
    case OPERAND_INSN:
        return code->insns[index].type;
    case OPERAND_ARGUMENT:
        return code->arguments[index].type;
    case OPERAND_CONSTANT:
        return code->constants[index].type;
    case OPERAND_GLOBAL: // the address of it: any pointer type will do
        for (uint32_t t = 0; t < code->types_count; t++)
            if (code->types[t].kind == TYPE_POINTER)
                return (struct type_id){t};
        return (struct type_id){0};
    case OPERAND_NONE:
    case OPERAND_NODE:
    case OPERAND_ASM:
    case OPERAND_METADATA:
        break;
    }
    return (struct type_id){0};
}

// The name of the intrinsic that is called, or NULL.
static const char *intrinsic_name(const struct code *code, const struct insn *insn)
{
    struct operand callee = code_callee(code, insn);

    if (!(code_call(code, insn)->flags & CALL_INTRINSIC) || operand_kind(callee) != OPERAND_GLOBAL)
        return NULL;
    return code_string(code, code->globals[operand_index(callee)].name);
}

bool code_is_trap(const struct code *code, const struct insn *insn)
{
    const char *name = intrinsic_name(code, insn);

    return name && (!strcmp(name, "llvm.trap") || !strcmp(name, "llvm.ubsantrap") ||
                    !strcmp(name, "llvm.debugtrap"));
}

bool code_is_memory_intrinsic(const struct code *code, const struct insn *insn)
{
    static const char *const starts[] = {"llvm.memcpy.",   "llvm.memmove.",   "llvm.memset.",
                                         "llvm.lifetime.", "llvm.va_start",   "llvm.va_end",
                                         "llvm.va_copy",   "llvm.objectsize."};
    const char *name = intrinsic_name(code, insn);

    for (size_t i = 0; name && i < sizeof(starts) / sizeof(*starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

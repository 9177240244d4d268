// SPDX-License-Identifier: Apache-2.0
// Debug info: places, names of functions, variables and their types.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "program/from_bitcode_reader.h"

// Tags of DWARF that matter here.
enum {
    TAG_ARRAY = 0x01,
    TAG_ENUMERATION = 0x04,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_REFERENCE = 0x10,
    TAG_STRUCTURE = 0x13,
    TAG_CLASS = 0x02,
    TAG_SUBROUTINE = 0x15,
    TAG_TYPEDEF = 0x16,
    TAG_UNION = 0x17,
    TAG_INHERITANCE = 0x1c,
    TAG_BASE = 0x24,
    TAG_CONST = 0x26,
    TAG_VOLATILE = 0x35,
    TAG_RESTRICT = 0x37,
    TAG_RVALUE_REFERENCE = 0x42,
    TAG_ATOMIC = 0x47,
};

// Operands of debug nodes (DebugInfoMetadata.h).
enum {
    SUBPROGRAM_NAME = 2,
    SUBPROGRAM_LINKAGE_NAME = 3,
    VARIABLE_NAME = 1,
    VARIABLE_TYPE = 3,
    TYPE_BASE = 3,
    TYPE_ELEMENTS = 4,
};

// Operand `index` of a metadata node; NULL when it has none.
static LLVMValueRef node_operand(LLVMValueRef node, unsigned index)
{
    if (!node || !LLVMIsAMDNode(node))
        return NULL;
    unsigned count = LLVMGetMDNodeNumOperands(node);
    if (index >= count)
        return NULL;
    LLVMValueRef *operands = xmalloc_array(count, sizeof(*operands));
    LLVMGetMDNodeOperands(node, operands);
    LLVMValueRef operand = operands[index];
    free(operands);
    return operand;
}

static struct string_id node_string(struct reader *reader, LLVMValueRef node, unsigned index)
{
    LLVMValueRef operand = node_operand(node, index);
    unsigned length;

    if (!operand || !LLVMIsAMDString(operand))
        return (struct string_id){0};
    const char *text = LLVMGetMDString(operand, &length);
    return code_builder_string_n(reader->builder, text, length);
}

// ---- Places

static uint32_t read_file(struct reader *reader, LLVMMetadataRef file)
{
    bool is_new;
    uint32_t *known = pointer_map_put_new(&reader->files, reader_key(file), &is_new);
    unsigned length;

    if (!is_new)
        return *known;
    uint32_t index = *known = (uint32_t)reader->builder->files.length;
    struct code_file entry;
    const char *text = LLVMDIFileGetDirectory(file, &length);
    entry.directory = code_builder_string_n(reader->builder, text, length);
    text = LLVMDIFileGetFilename(file, &length);
    entry.name = code_builder_string_n(reader->builder, text, length);
    code_files_push(&reader->builder->files, entry);
    return index;
}

static uint32_t file_of_scope(struct reader *reader, LLVMMetadataRef scope)
{
    bool is_new;
    uint32_t *known = pointer_map_put_new(&reader->scopes, reader_key(scope), &is_new);

    if (is_new) {
        LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
        *known = file ? read_file(reader, file) : CODE_NONE;
    }
    return *known;
}

struct place_id reader_place_of(struct reader *reader, LLVMMetadataRef file, unsigned line,
                                unsigned column)
{
    if (!file || !line)
        return (struct place_id){0};
    struct place place = {.file = read_file(reader, file), .line = line, .column = column};
    code_places_push(&reader->builder->places, place);
    return (struct place_id){(uint32_t)reader->builder->places.length - 1};
}

// A location of line 0 is none.
struct place_id reader_place(struct reader *reader, LLVMMetadataRef location)
{
    bool is_new;

    if (!location)
        return (struct place_id){0};
    uint32_t *known = pointer_map_put_new(&reader->places, reader_key(location), &is_new);
    if (!is_new)
        return (struct place_id){*known};
    struct place place = {.line = LLVMDILocationGetLine(location),
                          .column = LLVMDILocationGetColumn(location),
                          .file = file_of_scope(reader, LLVMDILocationGetScope(location))};
    if (place.line == 0 || place.file == CODE_NONE)
        return (struct place_id){0}; // the map says 0 as well
    *known = (uint32_t)reader->builder->places.length;
    code_places_push(&reader->builder->places, place);
    return (struct place_id){*known};
}

// ---- Functions and global variables

void reader_name_function(struct reader *reader, LLVMValueRef function, struct code_function *entry)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

    if (!subprogram)
        return;
    LLVMValueRef node = LLVMMetadataAsValue(reader->context, subprogram);
    entry->source_name = node_string(reader, node, SUBPROGRAM_NAME);
    entry->debug_name = node_string(reader, node, SUBPROGRAM_LINKAGE_NAME);
    if (entry->debug_name.value == 0)
        entry->debug_name = entry->source_name;
    entry->place = reader_place_of(reader, LLVMDIScopeGetFile(subprogram),
                                   LLVMDISubprogramGetLine(subprogram), 0);
}

void reader_name_global(struct reader *reader, LLVMValueRef variable, struct global *entry)
{
    size_t count;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(variable, &count);

    for (unsigned i = 0; i < count; i++) {
        if (LLVMValueMetadataEntriesGetKind(entries, i) != reader->names.dbg_kind)
            continue;
        LLVMMetadataRef described = LLVMDIGlobalVariableExpressionGetVariable(
            LLVMValueMetadataEntriesGetMetadata(entries, i));
        LLVMValueRef node = LLVMMetadataAsValue(reader->context, described);
        entry->debug_name = node_string(reader, node, VARIABLE_NAME);
        entry->debug_type = reader_debug_type(reader, node_operand(node, VARIABLE_TYPE));
        entry->place = reader_place_of(reader, LLVMDIVariableGetFile(described),
                                       LLVMDIVariableGetLine(described), 0);
        break;
    }
    LLVMDisposeValueMetadataEntries(entries);
}

// ---- Types

static enum debug_type_kind type_kind_of_tag(uint16_t tag)
{
    switch (tag) {
    case TAG_BASE:
        return DEBUG_TYPE_BASIC;
    case TAG_POINTER:
    case TAG_REFERENCE:
    case TAG_RVALUE_REFERENCE:
        return DEBUG_TYPE_POINTER;
    case TAG_STRUCTURE:
    case TAG_CLASS:
        return DEBUG_TYPE_STRUCT;
    case TAG_UNION:
        return DEBUG_TYPE_UNION;
    case TAG_ARRAY:
        return DEBUG_TYPE_ARRAY;
    case TAG_ENUMERATION:
        return DEBUG_TYPE_ENUM;
    case TAG_TYPEDEF:
    case TAG_RESTRICT:
    case TAG_ATOMIC:
        return DEBUG_TYPE_TYPEDEF;
    case TAG_CONST:
        return DEBUG_TYPE_CONST;
    case TAG_VOLATILE:
        return DEBUG_TYPE_VOLATILE;
    case TAG_SUBROUTINE:
        return DEBUG_TYPE_FUNCTION;
    default:
        return DEBUG_TYPE_OTHER;
    }
}

static void read_members(struct reader *reader, LLVMValueRef elements, uint32_t index)
{
    struct code_debug_members members = VEC_INIT;
    unsigned count = elements && LLVMIsAMDNode(elements) ? LLVMGetMDNodeNumOperands(elements) : 0;
    LLVMValueRef *operands = xmalloc_array(count + 1u, sizeof(*operands));

    if (count)
        LLVMGetMDNodeOperands(elements, operands);
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef md = operands[i] ? LLVMValueAsMetadata(operands[i]) : NULL;
        uint16_t tag = md ? LLVMGetDINodeTag(md) : 0;
        if (tag != TAG_MEMBER && tag != TAG_INHERITANCE)
            continue;
        struct debug_member member = {
            .name = node_string(reader, operands[i], SUBPROGRAM_NAME),
            .type = reader_debug_type(reader, node_operand(operands[i], TYPE_BASE)),
            .bit_offset = LLVMDITypeGetOffsetInBits(md),
            .bits = LLVMDITypeGetSizeInBits(md),
        };
        code_debug_members_push(&members, member);
    }
    struct debug_type *type = &reader->builder->debug_types.data[index];
    type->first_member = (uint32_t)reader->builder->debug_members.length;
    type->member_count = (uint32_t)members.length;
    code_debug_members_append(&reader->builder->debug_members, members.data, members.length);
    code_debug_members_deinit(&members);
    free(operands);
}

// Types may contain themselves: the number is given before the parts are read.
struct debug_type_id reader_debug_type(struct reader *reader, LLVMValueRef node)
{
    if (!node || !LLVMIsAMDNode(node))
        return (struct debug_type_id){0};
    LLVMMetadataRef md = LLVMValueAsMetadata(node);
    LLVMMetadataKind kind = LLVMGetMetadataKind(md);
    if (kind != LLVMDIBasicTypeMetadataKind && kind != LLVMDIDerivedTypeMetadataKind &&
        kind != LLVMDICompositeTypeMetadataKind && kind != LLVMDISubroutineTypeMetadataKind)
        return (struct debug_type_id){0};
    bool is_new;
    uint32_t *known = pointer_map_put_new(&reader->debug_types, reader_key(md), &is_new);
    if (!is_new)
        return (struct debug_type_id){*known};
    uint32_t index = *known = (uint32_t)reader->builder->debug_types.length;
    struct debug_type type = {.kind = (uint8_t)type_kind_of_tag(LLVMGetDINodeTag(md)),
                              .name = node_string(reader, node, SUBPROGRAM_NAME),
                              .bits = LLVMDITypeGetSizeInBits(md)};
    code_debug_types_push(&reader->builder->debug_types, type);
    if (kind == LLVMDIDerivedTypeMetadataKind || kind == LLVMDICompositeTypeMetadataKind) {
        struct debug_type_id base = reader_debug_type(reader, node_operand(node, TYPE_BASE));
        reader->builder->debug_types.data[index].base = base;
    }
    if (type.kind == DEBUG_TYPE_STRUCT || type.kind == DEBUG_TYPE_UNION)
        read_members(reader, node_operand(node, TYPE_ELEMENTS), index);
    return (struct debug_type_id){index};
}

// ---- Local variables

bool reader_is_debug(const struct reader *reader, LLVMValueRef instruction)
{
    if (LLVMGetInstructionOpcode(instruction) != LLVMCall)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    unsigned id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0;
    return id && (id == reader->names.dbg_declare || id == reader->names.dbg_value ||
                  id == reader->names.dbg_assign || id == reader->names.dbg_label);
}

// dbg.declare and dbg.value: what is described, the variable, an expression that front ends leave
// empty.
void reader_variable(struct reader *reader, uint32_t function, LLVMValueRef intrinsic,
                     uint32_t next_insn)
{
    unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(intrinsic));

    if (id != reader->names.dbg_declare && id != reader->names.dbg_value)
        return;
    LLVMValueRef wrapped = LLVMGetOperand(intrinsic, 0), node = LLVMGetOperand(intrinsic, 1);
    if (!LLVMIsAValueAsMetadata(wrapped)) // an empty node: nothing is known, or a list
        return;
    LLVMValueRef storage;
    LLVMGetMDNodeOperands(wrapped, &storage);
    LLVMMetadataRef described = LLVMValueAsMetadata(node);
    struct variable variable = {
        .name = node_string(reader, node, VARIABLE_NAME),
        .function = function,
        .kind = id == reader->names.dbg_declare ? VARIABLE_DECLARED : VARIABLE_VALUE,
        .insn = next_insn,
        .storage = reader_operand(reader, storage),
        .type = reader_debug_type(reader, node_operand(node, VARIABLE_TYPE)),
        .place = reader_place_of(reader, LLVMDIVariableGetFile(described),
                                 LLVMDIVariableGetLine(described), 0),
    };
    code_variables_push(&reader->builder->variables, variable);
}

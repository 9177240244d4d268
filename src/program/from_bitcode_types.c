// SPDX-License-Identifier: Apache-2.0
// Types, with sizes and offsets as the module's data layout gives them.
#include "program/from_bitcode_reader.h"

static void type_scalar(struct type *type, enum type_kind kind, uint32_t bits)
{
    type->kind = (uint8_t)kind;
    type->bits = bits;
}

static void type_simple(struct reader *reader, LLVMTypeRef llvm, struct type *type)
{
    switch (LLVMGetTypeKind(llvm)) {
    case LLVMVoidTypeKind:
        type->kind = TYPE_VOID;
        break;
    case LLVMIntegerTypeKind:
        type_scalar(type, TYPE_INT, LLVMGetIntTypeWidth(llvm));
        break;
    case LLVMHalfTypeKind:
        type_scalar(type, TYPE_FLOAT, 16);
        break;
    case LLVMBFloatTypeKind:
        type_scalar(type, TYPE_FLOAT, 16);
        type->flags |= TYPE_FLAG_BRAIN;
        break;
    case LLVMFloatTypeKind:
        type_scalar(type, TYPE_FLOAT, 32);
        break;
    case LLVMDoubleTypeKind:
        type_scalar(type, TYPE_FLOAT, 64);
        break;
    case LLVMX86_FP80TypeKind:
        type_scalar(type, TYPE_FLOAT, 80);
        break;
    case LLVMFP128TypeKind:
    case LLVMPPC_FP128TypeKind:
        type_scalar(type, TYPE_FLOAT, 128);
        break;
    case LLVMPointerTypeKind:
        type_scalar(type, TYPE_POINTER, (uint32_t)LLVMSizeOfTypeInBits(reader->layout, llvm));
        break;
    case LLVMLabelTypeKind:
        type->kind = TYPE_LABEL;
        break;
    case LLVMMetadataTypeKind:
        type->kind = TYPE_METADATA;
        break;
    default:
        type->kind = TYPE_OTHER;
        break;
    }
}

static void type_push_members(struct reader *reader, struct type *type,
                              const struct type_member *members, uint32_t count)
{
    type->first_member = (uint32_t)reader->builder->type_members.length;
    type->member_count = count;
    code_type_members_append(&reader->builder->type_members, members, count);
}

static void type_sequence(struct reader *reader, LLVMTypeRef llvm, struct type *type)
{
    bool is_array = LLVMGetTypeKind(llvm) == LLVMArrayTypeKind;
    struct type_member element = {.type = reader_type(reader, LLVMGetElementType(llvm))};

    type->kind = is_array ? TYPE_ARRAY : TYPE_VECTOR;
    type->count = is_array ? LLVMGetArrayLength2(llvm) : LLVMGetVectorSize(llvm);
    type_push_members(reader, type, &element, 1);
}

static void type_struct(struct reader *reader, LLVMTypeRef llvm, struct type *type)
{
    const char *name = LLVMGetStructName(llvm);
    bool opaque = LLVMIsOpaqueStruct(llvm);
    unsigned count = opaque ? 0 : LLVMCountStructElementTypes(llvm);
    struct type_member *members = xcalloc(count + 1u, sizeof(*members));

    type->kind = TYPE_STRUCT;
    type->name = code_builder_string(reader->builder, name);
    if (opaque)
        type->flags |= TYPE_FLAG_OPAQUE;
    else if (LLVMIsPackedStruct(llvm))
        type->flags |= TYPE_FLAG_PACKED;
    for (unsigned i = 0; i < count; i++) {
        members[i].type = reader_type(reader, LLVMStructGetTypeAtIndex(llvm, i));
        if (LLVMTypeIsSized(llvm))
            members[i].offset = LLVMOffsetOfElement(reader->layout, llvm, i);
    }
    type_push_members(reader, type, members, count);
    free(members);
}

static void type_function(struct reader *reader, LLVMTypeRef llvm, struct type *type)
{
    unsigned count = LLVMCountParamTypes(llvm);
    LLVMTypeRef *parameters = xmalloc_array(count + 1u, sizeof(*parameters));
    struct type_member *members = xcalloc(count + 1u, sizeof(*members));

    LLVMGetParamTypes(llvm, parameters);
    type->kind = TYPE_FUNCTION;
    if (LLVMIsFunctionVarArg(llvm))
        type->flags |= TYPE_FLAG_VARARGS;
    members[0].type = reader_type(reader, LLVMGetReturnType(llvm));
    for (unsigned i = 0; i < count; i++)
        members[i + 1].type = reader_type(reader, parameters[i]);
    type_push_members(reader, type, members, count + 1);
    free(parameters);
    free(members);
}

// Pointers are opaque, so a type never contains itself.
struct type_id reader_type(struct reader *reader, LLVMTypeRef llvm)
{
    LLVMTypeKind kind = LLVMGetTypeKind(llvm);
    struct type type = {0};

    if (kind == LLVMVoidTypeKind)
        return (struct type_id){0};
    const uint32_t *known = pointer_map_get(&reader->types, reader_key(llvm));
    if (known)
        return (struct type_id){*known};
    if (kind == LLVMArrayTypeKind || kind == LLVMVectorTypeKind)
        type_sequence(reader, llvm, &type);
    else if (kind == LLVMStructTypeKind)
        type_struct(reader, llvm, &type);
    else if (kind == LLVMFunctionTypeKind)
        type_function(reader, llvm, &type);
    else
        type_simple(reader, llvm, &type);
    if (kind != LLVMFunctionTypeKind && kind != LLVMScalableVectorTypeKind &&
        type.kind != TYPE_OTHER && type.kind != TYPE_LABEL && type.kind != TYPE_METADATA &&
        LLVMTypeIsSized(llvm)) {
        type.flags |= TYPE_FLAG_SIZED;
        type.size = LLVMABISizeOfType(reader->layout, llvm);
        type.store = LLVMStoreSizeOfType(reader->layout, llvm);
        type.alignment = reader_log2(LLVMABIAlignmentOfType(reader->layout, llvm));
    }
    uint32_t id = (uint32_t)reader->builder->types.length;
    code_types_push(&reader->builder->types, type);
    *pointer_map_put(&reader->types, reader_key(llvm)) = id;
    return (struct type_id){id};
}

static void count_up(uint8_t *counter, uint64_t by)
{
    *counter = (uint8_t)(*counter + by > UINT8_MAX ? UINT8_MAX : *counter + by);
}

// How an argument of this type is passed, near enough: calls and callees are counted alike.
void reader_count_argument(const struct reader *reader, LLVMTypeRef type, bool byval,
                           struct signature *signature)
{
    if (byval) {
        count_up(&signature->memory, 1);
        return;
    }
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        count_up(&signature->integers, (LLVMGetIntTypeWidth(type) + 63) / 64);
        break;
    case LLVMPointerTypeKind:
        count_up(&signature->integers, 1);
        break;
    case LLVMX86_FP80TypeKind:
        count_up(&signature->memory, 1);
        break;
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            reader_count_argument(reader, LLVMStructGetTypeAtIndex(type, i), false, signature);
        break;
    case LLVMArrayTypeKind:
        for (uint64_t i = 0; i < LLVMGetArrayLength2(type) && i < UINT8_MAX; i++)
            reader_count_argument(reader, LLVMGetElementType(type), false, signature);
        break;
    case LLVMMetadataTypeKind:
    case LLVMTokenTypeKind:
        break;
    default:
        count_up(&signature->floats, 1);
        break;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Operands, constants and the numbers of globals.
#include <stdio.h>
#include <string.h>

#include "program/from_bitcode_reader.h"

uint8_t reader_log2(uint64_t alignment)
{
    return alignment ? (uint8_t)__builtin_ctzll(alignment) : 0;
}

enum insn_opcode reader_opcode(LLVMOpcode opcode)
{
    switch (opcode) {
#define SAME(llvm, ours)                                                                           \
    case LLVM##llvm:                                                                               \
        return INSN_##ours
        SAME(Ret, RET);
        SAME(Br, BR);
        SAME(Switch, SWITCH);
        SAME(IndirectBr, INDIRECTBR);
        SAME(Invoke, INVOKE);
        SAME(Unreachable, UNREACHABLE);
        SAME(CallBr, CALLBR);
        SAME(FNeg, FNEG);
        SAME(Add, ADD);
        SAME(FAdd, FADD);
        SAME(Sub, SUB);
        SAME(FSub, FSUB);
        SAME(Mul, MUL);
        SAME(FMul, FMUL);
        SAME(UDiv, UDIV);
        SAME(SDiv, SDIV);
        SAME(FDiv, FDIV);
        SAME(URem, UREM);
        SAME(SRem, SREM);
        SAME(FRem, FREM);
        SAME(Shl, SHL);
        SAME(LShr, LSHR);
        SAME(AShr, ASHR);
        SAME(And, AND);
        SAME(Or, OR);
        SAME(Xor, XOR);
        SAME(Alloca, ALLOCA);
        SAME(Load, LOAD);
        SAME(Store, STORE);
        SAME(GetElementPtr, GEP);
        SAME(Trunc, TRUNC);
        SAME(ZExt, ZEXT);
        SAME(SExt, SEXT);
        SAME(FPToUI, FPTOUI);
        SAME(FPToSI, FPTOSI);
        SAME(UIToFP, UITOFP);
        SAME(SIToFP, SITOFP);
        SAME(FPTrunc, FPTRUNC);
        SAME(FPExt, FPEXT);
        SAME(PtrToInt, PTRTOINT);
        SAME(IntToPtr, INTTOPTR);
        SAME(BitCast, BITCAST);
        SAME(AddrSpaceCast, ADDRSPACECAST);
        SAME(ICmp, ICMP);
        SAME(FCmp, FCMP);
        SAME(PHI, PHI);
        SAME(Call, CALL);
        SAME(Select, SELECT);
        SAME(VAArg, VAARG);
        SAME(ExtractElement, EXTRACTELEMENT);
        SAME(InsertElement, INSERTELEMENT);
        SAME(ShuffleVector, SHUFFLEVECTOR);
        SAME(ExtractValue, EXTRACTVALUE);
        SAME(InsertValue, INSERTVALUE);
        SAME(Freeze, FREEZE);
        SAME(Fence, FENCE);
        SAME(AtomicCmpXchg, CMPXCHG);
        SAME(AtomicRMW, RMW);
        SAME(Resume, RESUME);
        SAME(LandingPad, LANDINGPAD);
        SAME(CleanupRet, CLEANUPRET);
        SAME(CatchRet, CATCHRET);
        SAME(CatchPad, CATCHPAD);
        SAME(CleanupPad, CLEANUPPAD);
        SAME(CatchSwitch, CATCHSWITCH);
#undef SAME
    default:
        return INSN_OTHER;
    }
}

// ---- Constants

static struct operand push_constant(struct reader *reader, struct constant constant)
{
    uint32_t index = (uint32_t)reader->builder->constants.length;

    code_constants_push(&reader->builder->constants, constant);
    return operand_make(OPERAND_CONSTANT, index);
}

static void constant_bytes(struct reader *reader, struct constant *constant, const uint8_t *bytes,
                           size_t count)
{
    constant->first_byte = (uint32_t)reader->builder->bytes.length;
    constant->byte_count = (uint32_t)count;
    code_bytes_append(&reader->builder->bytes, bytes, count);
}

// The text after the type: "i128 -5" gives "-5". LLVM-C has no other way to the bits of wide
// numbers.
static char *printed_number(LLVMValueRef value, char **ret_number)
{
    char *text = LLVMPrintValueToString(value);
    char *space = strrchr(text, ' ');

    *ret_number = space ? space + 1 : text;
    return text;
}

static void wide_integer(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    size_t count = (LLVMGetIntTypeWidth(LLVMTypeOf(value)) + 7) / 8;
    uint8_t *bytes = xcalloc(count + 1, 1);
    char *number, *text = printed_number(value, &number);
    bool negative = *number == '-';

    for (const char *digit = number + negative; *digit >= '0' && *digit <= '9'; digit++) {
        unsigned carry = (unsigned)(*digit - '0');
        for (size_t i = 0; i < count; i++) {
            carry += bytes[i] * 10u;
            bytes[i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    for (size_t i = 0, carry = 1; negative && i < count; i++) {
        carry += (uint8_t)~bytes[i];
        bytes[i] = (uint8_t)carry;
        carry >>= 8;
    }
    constant_bytes(reader, constant, bytes, count);
    LLVMDisposeMessage(text);
    free(bytes);
}

// Sixteen hexadecimal digits at most.
static uint64_t parse_hex(const char *digits, size_t count)
{
    uint64_t value = 0;

    for (size_t i = 0; i < count && digits[i]; i++) {
        char c = digits[i];
        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

// 0xK: x87, sign and exponent first; 0xL: quad, low half first; 0xH and 0xR: 16 bits.
static void odd_float(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    char *number, *text = printed_number(value, &number);
    const char *digits = number + 3;
    uint64_t low, high;

    if (strncmp(number, "0xK", 3) == 0) {
        high = parse_hex(digits, 4);
        low = parse_hex(digits + 4, 16);
    } else if (strncmp(number, "0xL", 3) == 0) {
        low = parse_hex(digits, 16);
        high = parse_hex(digits + 16, 16);
    } else {
        low = parse_hex(digits, 16);
        high = 0;
    }
    uint8_t bytes[16];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(low >> (8 * i));
        bytes[i + 8] = (uint8_t)(high >> (8 * i));
    }
    constant->value = low;
    if (strncmp(number, "0xK", 3) == 0 || strncmp(number, "0xL", 3) == 0)
        constant_bytes(reader, constant, bytes, number[2] == 'K' ? 10 : 16);
    LLVMDisposeMessage(text);
}

static uint64_t float_bits(LLVMValueRef value, LLVMTypeKind kind)
{
    LLVMBool loses;
    double real = LLVMConstRealGetDouble(value, &loses);
    uint64_t bits = 0;

    if (kind == LLVMFloatTypeKind) {
        float narrow = (float)real;
        memcpy(&bits, &narrow, sizeof(narrow));
    } else {
        memcpy(&bits, &real, sizeof(real));
    }
    return bits;
}

static void constant_float(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));

    constant->kind = CONSTANT_FLOAT;
    if (kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind)
        constant->value = float_bits(value, kind);
    else
        odd_float(reader, value, constant);
}

static void constant_integer(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    constant->kind = CONSTANT_INT;
    if (LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64)
        constant->value = LLVMConstIntGetZExtValue(value);
    else
        wide_integer(reader, value, constant);
}

// Numbers only, of at most 64 bits each (ConstantDataSequential).
static void constant_data(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    LLVMTypeRef type = LLVMTypeOf(value), element = LLVMGetElementType(type);
    bool is_array = LLVMGetTypeKind(type) == LLVMArrayTypeKind;
    uint64_t count = is_array ? LLVMGetArrayLength2(type) : LLVMGetVectorSize(type);

    constant->kind = CONSTANT_BYTES;
    if (is_array && LLVMIsConstantString(value)) {
        size_t length;
        const char *bytes = LLVMGetAsString(value, &length);
        constant_bytes(reader, constant, (const uint8_t *)bytes, length);
        return;
    }
    size_t width = (size_t)LLVMStoreSizeOfType(reader->layout, element);
    uint8_t *bytes = xcalloc(count + 1, width);
    for (uint64_t i = 0; i < count; i++) {
        LLVMValueRef one = LLVMGetAggregateElement(value, (unsigned)i);
        struct constant number = {0};
        if (LLVMIsAConstantInt(one))
            constant_integer(reader, one, &number);
        else
            constant_float(reader, one, &number);
        memcpy(bytes + i * width, &number.value, width < 8 ? width : 8);
    }
    constant_bytes(reader, constant, bytes, count * width);
    free(bytes);
}

static void push_operands(struct reader *reader, const struct operand *operands, uint32_t count,
                          struct constant *constant)
{
    constant->first_operand = (uint32_t)reader->builder->operands.length;
    constant->operand_count = count;
    code_operands_append(&reader->builder->operands, operands, count);
}

static void constant_operands(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    int count = LLVMGetNumOperands(value);
    struct operand *operands = xmalloc_array((size_t)count + 1, sizeof(*operands));

    for (int i = 0; i < count; i++)
        operands[i] = reader_operand(reader, LLVMGetOperand(value, (unsigned)i));
    push_operands(reader, operands, (uint32_t)count, constant);
    free(operands);
}

static void constant_expression(struct reader *reader, LLVMValueRef value,
                                struct constant *constant)
{
    constant->kind = CONSTANT_EXPRESSION;
    constant->opcode = (uint8_t)reader_opcode(LLVMGetConstOpcode(value));
    constant->detail = CODE_NONE;
    if (constant->opcode == INSN_GEP) {
        constant->detail = reader_gep(reader, value);
        if (LLVMIsInBounds(value))
            constant->flags |= INSN_INBOUNDS;
    }
    constant_operands(reader, value, constant);
}

static void constant_block(struct reader *reader, LLVMValueRef value, struct constant *constant)
{
    LLVMValueRef function = LLVMGetBlockAddressFunction(value);
    const uint32_t *node =
        pointer_map_get(&reader->blocks, reader_key(LLVMGetBlockAddressBasicBlock(value)));
    struct operand operands[2] = {reader_operand(reader, function),
                                  node ? operand_make(OPERAND_NODE, *node) : (struct operand){0}};

    constant->kind = CONSTANT_BLOCK;
    push_operands(reader, operands, 2, constant);
    if (node)
        reader->builder->nodes.data[*node].flags |= NODE_BLOCK_ADDRESS;
    const uint32_t *index = pointer_map_get(&reader->functions, reader_key(function));
    if (index)
        reader->builder->functions.data[*index].flags |= FUNCTION_BLOCK_ADDRESS;
}

static struct operand read_constant(struct reader *reader, LLVMValueRef value)
{
    struct constant constant = {.kind = CONSTANT_OTHER,
                                .detail = CODE_NONE,
                                .type = reader_type(reader, LLVMTypeOf(value))};

    switch (LLVMGetValueKind(value)) {
    case LLVMConstantIntValueKind:
        // a splat may be an integer of vector type
        if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind)
            constant_integer(reader, value, &constant);
        break;
    case LLVMConstantFPValueKind:
        if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind)
            constant_float(reader, value, &constant);
        break;
    case LLVMConstantPointerNullValueKind:
        constant.kind = CONSTANT_NULL;
        break;
    case LLVMUndefValueValueKind:
        constant.kind = CONSTANT_UNDEF;
        break;
    case LLVMPoisonValueValueKind:
        constant.kind = CONSTANT_POISON;
        break;
    case LLVMConstantAggregateZeroValueKind:
        constant.kind = CONSTANT_ZERO;
        break;
    case LLVMConstantArrayValueKind:
    case LLVMConstantStructValueKind:
    case LLVMConstantVectorValueKind:
        constant.kind = CONSTANT_AGGREGATE;
        constant_operands(reader, value, &constant);
        break;
    case LLVMConstantDataArrayValueKind:
    case LLVMConstantDataVectorValueKind:
        constant_data(reader, value, &constant);
        break;
    case LLVMConstantExprValueKind:
        constant_expression(reader, value, &constant);
        break;
    case LLVMBlockAddressValueKind:
        constant_block(reader, value, &constant);
        break;
    default: // dso_local_equivalent, no_cfi and whatever else stands for its operand
        if (LLVMIsConstant(value) && LLVMGetNumOperands(value) == 1) {
            constant.kind = CONSTANT_ALIAS_OF;
            constant_operands(reader, value, &constant);
        }
        break;
    }
    return push_constant(reader, constant);
}

struct operand reader_integer(struct reader *reader, uint64_t value)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(reader->context);

    return reader_operand(reader, LLVMConstInt(type, value, false));
}

static struct operand read_asm(struct reader *reader, LLVMValueRef value)
{
    uint32_t *known = pointer_map_get(&reader->asms, reader_key(value));
    size_t text_length, constraint_length;

    if (known)
        return operand_make(OPERAND_ASM, *known);
    const char *text = LLVMGetInlineAsmAsmString(value, &text_length);
    const char *constraints = LLVMGetInlineAsmConstraintString(value, &constraint_length);
    struct asm_text entry = {
        .text = code_builder_string_n(reader->builder, text, text_length),
        .constraints = code_builder_string_n(reader->builder, constraints, constraint_length),
        .flags = (LLVMGetInlineAsmHasSideEffects(value) ? 1u : 0) |
                 (LLVMGetInlineAsmNeedsAlignedStack(value) ? 2u : 0) |
                 (LLVMGetInlineAsmDialect(value) == LLVMInlineAsmDialectIntel ? 4u : 0) |
                 (LLVMGetInlineAsmCanUnwind(value) ? 8u : 0)};
    uint32_t index = (uint32_t)reader->builder->asms.length;
    code_asms_push(&reader->builder->asms, entry);
    *pointer_map_put(&reader->asms, reader_key(value)) = index;
    return operand_make(OPERAND_ASM, index);
}

static struct operand found(const uint32_t *index, enum operand_kind kind)
{
    assert(index);
    return operand_make(kind, *index);
}

struct operand reader_operand(struct reader *reader, LLVMValueRef value)
{
    uint64_t key = reader_key(value);

    if (!value)
        return (struct operand){0};
    switch (LLVMGetValueKind(value)) {
    case LLVMInstructionValueKind:
    case LLVMArgumentValueKind: {
        const uint32_t *bits = pointer_map_get(&reader->values, key);
        assert(bits);
        return (struct operand){*bits};
    }
    case LLVMBasicBlockValueKind:
        return found(pointer_map_get(&reader->blocks, reader_key(LLVMValueAsBasicBlock(value))),
                     OPERAND_NODE);
    case LLVMFunctionValueKind:
    case LLVMGlobalVariableValueKind:
    case LLVMGlobalAliasValueKind:
    case LLVMGlobalIFuncValueKind:
        return found(pointer_map_get(&reader->globals, key), OPERAND_GLOBAL);
    case LLVMInlineAsmValueKind:
        return read_asm(reader, value);
    case LLVMMetadataAsValueValueKind:
        return operand_make(OPERAND_METADATA, 0);
    default:
        break;
    }
    const uint32_t *known = pointer_map_get(&reader->constants, key);
    if (known)
        return (struct operand){*known};
    struct operand operand = read_constant(reader, value);
    *pointer_map_put(&reader->constants, key) = operand.bits;
    return operand;
}

// ---- Address arithmetic

static bool small_constant(LLVMValueRef value, int64_t *ret)
{
    if (!LLVMIsAConstantInt(value) || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *ret = LLVMConstIntGetSExtValue(value);
    return true;
}

static int64_t stride_of(const struct reader *reader, LLVMTypeRef type)
{
    return (int64_t)LLVMABISizeOfType(reader->layout, type);
}

// One step: what is stepped into, by how much; *type becomes what is reached.
static struct gep_step gep_step(struct reader *reader, LLVMValueRef index, LLVMTypeRef *type,
                                bool first)
{
    struct gep_step step = {.field = CODE_NONE, .container = reader_type(reader, *type)};
    int64_t field;

    if (first) {
        step.stride = stride_of(reader, *type);
    } else if (LLVMGetTypeKind(*type) == LLVMStructTypeKind && small_constant(index, &field)) {
        step.field = (uint32_t)field;
        step.stride = (int64_t)LLVMOffsetOfElement(reader->layout, *type, (unsigned)field);
        *type = LLVMStructGetTypeAtIndex(*type, (unsigned)field);
    } else {
        *type = LLVMGetElementType(*type);
        step.stride = stride_of(reader, *type);
    }
    step.index = reader_operand(reader, index);
    return step;
}

uint32_t reader_gep(struct reader *reader, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(value);
    uint32_t count = (uint32_t)LLVMGetNumOperands(value) - 1;
    struct gep gep = {.source = reader_type(reader, type), .step_count = count};
    struct gep_step *steps = xmalloc_array(count + 1u, sizeof(*steps));

    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef index = LLVMGetOperand(value, i + 1);
        int64_t number;

        steps[i] = gep_step(reader, index, &type, i == 0);
        if (steps[i].field != CODE_NONE)
            gep.offset += steps[i].stride;
        else if (small_constant(index, &number)) // wraps as the machine does
            gep.offset =
                (int64_t)((uint64_t)gep.offset + (uint64_t)steps[i].stride * (uint64_t)number);
    }
    gep.first_step = (uint32_t)reader->builder->gep_steps.length;
    code_gep_steps_append(&reader->builder->gep_steps, steps, count);
    free(steps);
    uint32_t id = (uint32_t)reader->builder->geps.length;
    code_geps_push(&reader->builder->geps, gep);
    return id;
}

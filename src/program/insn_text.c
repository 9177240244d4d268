// SPDX-License-Identifier: Apache-2.0
// Instructions as text, for people: close to LLVM's assembly, with %N for insns[N] and nN for
// nodes[N].
#include <stdlib.h>

#include "common/strbuf.h"
#include "program/insn.h"

const char *insn_opcode_name(enum insn_opcode opcode)
{
    static const char *const names[] = {
#define X(name, text) text,
        INSN_OPCODES(X)
#undef X
    };

    return opcode < INSN_OPCODE_COUNT ? names[opcode] : "?";
}

const char *insn_predicate_name(enum insn_predicate predicate)
{
    static const char *const names[] = {"eq",  "ne",  "ugt", "uge",   "ult", "ule", "sgt",
                                        "sge", "slt", "sle", "false", "oeq", "ogt", "oge",
                                        "olt", "ole", "one", "ord",   "uno", "ueq", "ugt",
                                        "uge", "ult", "ule", "une",   "true"};

    return predicate <= PREDICATE_TRUE ? names[predicate] : "?";
}

static void append_type(struct strbuf *text, const struct code *code, struct type_id id)
{
    const struct type *type = code_type(code, id);

    switch ((enum type_kind)type->kind) {
    case TYPE_VOID:
        strbuf_append(text, "void");
        break;
    case TYPE_INT:
        strbuf_printf(text, "i%u", type->bits);
        break;
    case TYPE_FLOAT:
        strbuf_printf(text, "f%u", type->bits);
        break;
    case TYPE_POINTER:
        strbuf_append(text, "ptr");
        break;
    case TYPE_ARRAY:
    case TYPE_VECTOR:
        strbuf_printf(text, "%c%llu x ", type->kind == TYPE_ARRAY ? '[' : '<',
                      (unsigned long long)type->count);
        append_type(text, code, code_type_member(code, id, 0));
        strbuf_append_char(text, type->kind == TYPE_ARRAY ? ']' : '>');
        break;
    case TYPE_STRUCT:
        if (type->name.value) {
            strbuf_append_char(text, '%');
            strbuf_append_escaped(text, code_string(code, type->name));
        } else {
            strbuf_printf(text, "{%u fields}", type->member_count);
        }
        break;
    case TYPE_FUNCTION:
        strbuf_append(text, "function");
        break;
    case TYPE_LABEL:
    case TYPE_METADATA:
    case TYPE_OTHER:
        strbuf_append(text, "other");
        break;
    }
}

static void append_operand(struct strbuf *text, const struct code *code, struct operand operand);

static void append_integer(struct strbuf *text, const struct code *code,
                           const struct constant *constant)
{
    uint32_t bits = code_type(code, constant->type)->bits;

    if (bits > 64) {
        strbuf_append(text, "0x");
        for (uint32_t i = constant->byte_count; i-- > 0;)
            strbuf_printf(text, "%02x", code->bytes[constant->first_byte + i]);
    } else {
        unsigned unused = 64 - bits;
        int64_t value = bits ? (int64_t)(constant->value << unused) >> unused : 0;
        strbuf_printf(text, "%lld", (long long)value);
    }
}

static void append_list(struct strbuf *text, const struct code *code, uint32_t first,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append(text, i ? ", " : "");
        append_operand(text, code, code->operands[first + i]);
    }
}

static void append_constant(struct strbuf *text, const struct code *code, uint32_t index)
{
    const struct constant *constant = &code->constants[index];

    switch ((enum constant_kind)constant->kind) {
    case CONSTANT_INT:
        append_integer(text, code, constant);
        break;
    case CONSTANT_FLOAT:
        strbuf_printf(text, "0x%llx", (unsigned long long)constant->value);
        break;
    case CONSTANT_NULL:
        strbuf_append(text, "null");
        break;
    case CONSTANT_UNDEF:
        strbuf_append(text, "undef");
        break;
    case CONSTANT_POISON:
        strbuf_append(text, "poison");
        break;
    case CONSTANT_ZERO:
        strbuf_append(text, "zero");
        break;
    case CONSTANT_BYTES:
        strbuf_printf(text, "bytes(%u)", constant->byte_count);
        break;
    case CONSTANT_AGGREGATE:
        strbuf_printf(text, "aggregate(%u)", constant->operand_count);
        break;
    case CONSTANT_EXPRESSION:
        strbuf_append(text, insn_opcode_name((enum insn_opcode)constant->opcode));
        strbuf_append_char(text, '(');
        append_list(text, code, constant->first_operand, constant->operand_count);
        strbuf_append_char(text, ')');
        break;
    case CONSTANT_BLOCK:
    case CONSTANT_ALIAS_OF:
        strbuf_append(text, constant->kind == CONSTANT_BLOCK ? "block(" : "same(");
        append_list(text, code, constant->first_operand, constant->operand_count);
        strbuf_append_char(text, ')');
        break;
    case CONSTANT_OTHER:
        strbuf_append(text, "other");
        break;
    }
}

static void append_operand(struct strbuf *text, const struct code *code, struct operand operand)
{
    uint32_t index = operand_index(operand);

    switch (operand_kind(operand)) {
    case OPERAND_NONE:
        strbuf_append(text, "none");
        break;
    case OPERAND_INSN:
        strbuf_printf(text, "%%%u", index);
        break;
    case OPERAND_ARGUMENT:
        strbuf_printf(text, "arg%u",
                      index - code->functions[code->arguments[index].function].first_argument);
        break;
    case OPERAND_CONSTANT:
        append_constant(text, code, index);
        break;
    case OPERAND_GLOBAL:
        strbuf_append_char(text, '@');
        strbuf_append_escaped(text, code_string(code, code->globals[index].name));
        break;
    case OPERAND_NODE:
        strbuf_printf(text, "n%u", index - code->functions[code->nodes[index].function].first_node);
        break;
    case OPERAND_ASM:
        strbuf_append(text, "asm \"");
        strbuf_append_escaped(text, code_string(code, code->asms[index].text));
        strbuf_append_char(text, '"');
        break;
    case OPERAND_METADATA:
        strbuf_append(text, "metadata");
        break;
    }
}

char *operand_text(const struct code *code, struct operand operand)
{
    struct strbuf text = STRBUF_INIT;

    append_operand(&text, code, operand);
    return strbuf_steal(&text);
}

static void append_flags(struct strbuf *text, const struct insn *insn)
{
    static const char *const names[] = {"volatile", "nsw",  "nuw",         "exact", "inbounds",
                                        "disjoint", "nneg", "fast",        "tail",  "musttail",
                                        "notail",   "weak", "singlethread"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (insn->flags >> i & 1)
            strbuf_printf(text, " %s", names[i]);
    if (insn->ordering)
        strbuf_printf(text, " ordering%u", insn->ordering);
}

static bool detail_is_type(enum insn_opcode opcode)
{
    return opcode == INSN_ALLOCA || opcode == INSN_LOAD || opcode == INSN_STORE ||
           opcode == INSN_CMPXCHG || opcode == INSN_RMW || opcode == INSN_VAARG;
}

char *insn_text(const struct code *code, uint32_t index)
{
    struct strbuf text = STRBUF_INIT;
    const struct insn *insn = &code->insns[index];
    enum insn_opcode opcode = (enum insn_opcode)insn->opcode;

    if (code_type(code, insn->type)->kind != TYPE_VOID) {
        strbuf_printf(&text, "%%%u: ", index);
        append_type(&text, code, insn->type);
        strbuf_append(&text, " = ");
    }
    strbuf_append(&text, insn_opcode_name(opcode));
    append_flags(&text, insn);
    if (opcode == INSN_ICMP || opcode == INSN_FCMP)
        strbuf_printf(&text, " %s", insn_predicate_name((enum insn_predicate)insn->subcode));
    if (opcode == INSN_RMW)
        strbuf_printf(&text, " operation%u", insn->subcode);
    if (detail_is_type(opcode)) {
        strbuf_append_char(&text, ' ');
        append_type(&text, code, (struct type_id){insn->detail});
    }
    if (insn->operand_count)
        strbuf_append_char(&text, ' ');
    append_list(&text, code, insn->first_operand, insn->operand_count);
    if (opcode == INSN_GEP)
        strbuf_printf(&text, " (offset %lld)", (long long)code->geps[insn->detail].offset);
    return strbuf_steal(&text);
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/machine.h"

#include "common/alloc.h"
#include "evidence/core/core.h"

#include <capstone.h>
#include <stdlib.h>
#include <string.h>

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (uint8_t g = 0; g < insn->detail->groups_count; g++)
        if (insn->detail->groups[g] == group)
            return true;
    return false;
}

static enum machine_flow flow_of(const cs_insn *insn, uint64_t *target)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;

    if (direct)
        *target = (uint64_t)x86->operands[0].imm;
    if (in_group(insn, CS_GRP_CALL))
        return MACHINE_CALL;
    if (in_group(insn, CS_GRP_RET) || in_group(insn, CS_GRP_IRET))
        return MACHINE_LEAVE;
    if (insn->id == X86_INS_UD2 || insn->id == X86_INS_HLT || insn->id == X86_INS_INT3)
        return MACHINE_STOP;
    if (insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP)
        return direct ? MACHINE_JUMP : MACHINE_INDIRECT;
    if (in_group(insn, CS_GRP_JUMP) || insn->id == X86_INS_LOOP || insn->id == X86_INS_LOOPE ||
        insn->id == X86_INS_LOOPNE || insn->id == X86_INS_XBEGIN)
        return direct ? MACHINE_BRANCH : MACHINE_INDIRECT;
    return MACHINE_NEXT;
}

// Loads and copies, whose row is that of the access itself.
static bool is_plain_access(const cs_insn *insn)
{
    const char *name = insn->mnemonic;

    return !strncmp(name, "mov", 3) || !strncmp(name, "vmov", 4) || !strncmp(name, "rep", 3) ||
           !strncmp(name, "stos", 4) || !strncmp(name, "lods", 4) || insn->id == X86_INS_LEA ||
           insn->id == X86_INS_LDDQU || insn->id == X86_INS_VLDDQU || insn->id == X86_INS_NOP;
}

static void describe_operands(const cs_insn *insn, struct machine_insn *out)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const cs_x86_op *op = x86->operands;

    for (uint8_t i = 0; i < x86->op_count; i++)
        out->folds |=
            op[i].type == X86_OP_MEM && !is_plain_access(insn) && op[i].access != CS_AC_WRITE;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        bool stores = op[i].type == X86_OP_MEM &&
                      ((op[i].access & CS_AC_WRITE) || (i == 0 && insn->id == X86_INS_MOV));

        out->stores |= stores;
        out->stores_off |= stores && op[i].mem.base != X86_REG_RSP;
    }
    if (insn->id != X86_INS_MOV || x86->op_count != 2 || op[0].type != X86_OP_MEM ||
        op[0].size != 1)
        return;
    // -Os keeps a constant that is stored often in a register
    out->byte_told = op[1].type == X86_OP_IMM;
    out->byte = out->byte_told ? (uint8_t)op[1].imm : 0;
    out->byte_somewhere = true;
    if (op[0].mem.index != X86_REG_INVALID || op[0].mem.segment != X86_REG_INVALID)
        return;
    if (op[0].mem.base == X86_REG_RIP)
        out->byte_address = insn->address + insn->size + (uint64_t)op[0].mem.disp;
    else if (op[0].mem.base == X86_REG_INVALID)
        out->byte_address = (uint64_t)op[0].mem.disp;
}

// movsxd rC, dword ptr [rA + 4 * rB]; add rC, rA; jmp rC, with other instructions between them.
struct table_idiom {
    x86_reg table, offset; // of the load
    bool is_added;
};

static bool writes(const cs_insn *insn, x86_reg reg)
{
    const cs_x86 *x86 = &insn->detail->x86;

    return x86->op_count > 0 && x86->operands[0].type == X86_OP_REG && x86->operands[0].reg == reg;
}

// True: this jump is the end of the idiom.
static bool follow_idiom(struct table_idiom *idiom, const cs_insn *insn, enum machine_flow flow)
{
    const cs_x86_op *op = insn->detail->x86.operands;

    if (flow == MACHINE_INDIRECT)
        return idiom->is_added && op[0].type == X86_OP_REG && op[0].reg == idiom->offset;
    if (flow != MACHINE_NEXT)
        *idiom = (struct table_idiom){0};
    else if (insn->id == X86_INS_MOVSXD && op[1].type == X86_OP_MEM && op[1].mem.scale == 4 &&
             op[1].mem.disp == 0 && op[1].size == 4)
        *idiom = (struct table_idiom){op[1].mem.base, op[0].reg, false};
    else if (idiom->offset && insn->id == X86_INS_ADD && writes(insn, idiom->offset) &&
             op[1].type == X86_OP_REG && op[1].reg == idiom->table && !idiom->is_added)
        idiom->is_added = true;
    else if (idiom->offset && writes(insn, idiom->offset))
        *idiom = (struct table_idiom){0};
    else if (idiom->offset && writes(insn, idiom->table) && !idiom->is_added)
        *idiom = (struct table_idiom){0};
    return false;
}

static uint64_t reference_of(const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;

    if (insn->id != X86_INS_LEA || op[1].mem.base != X86_REG_RIP ||
        op[1].mem.index != X86_REG_INVALID)
        return 0;
    return insn->address + insn->size + (uint64_t)op[1].mem.disp;
}

// What the code generator makes of variables that come together, and of constants.
static bool is_copy(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool same = x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
                x86->operands[1].type == X86_OP_REG && x86->operands[0].reg == x86->operands[1].reg;

    if (insn->id == X86_INS_LEA)
        return true;
    for (uint8_t i = 0; i < x86->op_count; i++)
        if (x86->operands[i].type == X86_OP_MEM)
            return false;
    return !strncmp(insn->mnemonic, "mov", 3) || !strncmp(insn->mnemonic, "vmov", 4) ||
           (same && (strstr(insn->mnemonic, "xor") != NULL));
}

static struct machine_insn describe(const cs_insn *insn)
{
    struct machine_insn out = {.address = insn->address, .size = (uint8_t)insn->size};

    out.flow = (uint8_t)flow_of(insn, &out.target);
    out.reference = reference_of(insn);
    out.is_padding = insn->id == X86_INS_NOP;
    out.is_copy = is_copy(insn);
    describe_operands(insn, &out);
    return out;
}

static void append(struct machine_code *code, struct machine_insn insn)
{
    if (code->count == code->capacity) {
        code->capacity = code->capacity ? 2 * code->capacity : 256;
        code->insns = xrealloc_array(code->insns, code->capacity, sizeof(*code->insns));
    }
    code->insns[code->count++] = insn;
}

bool machine_decode(struct machine_code *code, const unsigned char *bytes, size_t size,
                    uint64_t address)
{
    struct table_idiom idiom = {0};
    csh handle;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return false;
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    cs_insn *insn = cs_malloc(handle);
    while (size && cs_disasm_iter(handle, &bytes, &size, &address, insn)) {
        struct machine_insn described = describe(insn);

        if (follow_idiom(&idiom, insn, described.flow))
            described.flow = MACHINE_TABLE;
        append(code, described);
    }
    cs_free(insn, 1);
    cs_close(&handle);
    return size == 0;
}

static int compare_insns(const void *a, const void *b)
{
    const struct machine_insn *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static uint32_t first_from(const struct machine_code *code, uint64_t address)
{
    uint32_t low = 0, high = code->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (code->insns[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t machine_find(const struct machine_code *code, uint64_t address)
{
    uint32_t i = first_from(code, address);

    return i < code->count && code->insns[i].address == address ? i : MACHINE_NONE;
}

static bool is_inside(const struct machine_code *code, uint64_t address)
{
    uint32_t i = first_from(code, address + 1);

    return i > 0 && address - code->insns[i - 1].address < code->insns[i - 1].size;
}

static bool goes_on(const struct machine_insn *insn)
{
    return insn->flow == MACHINE_NEXT || insn->flow == MACHINE_CALL || insn->flow == MACHINE_BRANCH;
}

uint32_t machine_successors(const struct machine_code *code, uint32_t i, uint32_t next[2])
{
    const struct machine_insn *insn = &code->insns[i];
    uint32_t count = 0;

    if (goes_on(insn) && i + 1 < code->count &&
        code->insns[i + 1].address == insn->address + insn->size)
        next[count++] = i + 1;
    if (insn->flow == MACHINE_BRANCH || insn->flow == MACHINE_JUMP) {
        uint32_t target = machine_find(code, insn->target);

        if (target != MACHINE_NONE)
            next[count++] = target;
    }
    return count;
}

bool machine_link(struct machine_code *code)
{
    uint32_t next[2];

    if (code->count)
        qsort(code->insns, code->count, sizeof(*code->insns), compare_insns);
    code->before_start = xcalloc(code->count + 2u, sizeof(*code->before_start));
    code->before = xmalloc_array(2u * (size_t)code->count + 1, sizeof(*code->before));
    for (uint32_t i = 0; i < code->count; i++) {
        struct machine_insn *insn = &code->insns[i];
        bool jumps = insn->flow == MACHINE_BRANCH || insn->flow == MACHINE_JUMP;

        code->has_indirect |= insn->flow == MACHINE_INDIRECT;
        code->has_table |= insn->flow == MACHINE_TABLE;
        if (jumps && machine_find(code, insn->target) == MACHINE_NONE) {
            if (is_inside(code, insn->target))
                return false;
            if (insn->flow == MACHINE_JUMP)
                insn->flow = MACHINE_LEAVE;
        }
        for (uint32_t k = machine_successors(code, i, next); k > 0; k--)
            code->before_start[next[k - 1] + 2]++;
    }
    for (uint32_t i = 0; i < code->count; i++)
        code->before_start[i + 2] += code->before_start[i + 1];
    for (uint32_t i = 0; i < code->count; i++)
        for (uint32_t k = machine_successors(code, i, next); k > 0; k--)
            code->before[code->before_start[next[k - 1] + 1]++] = i;
    return true;
}

void machine_deinit(struct machine_code *code)
{
    free(code->insns);
    free(code->before_start);
    free(code->before);
    *code = (struct machine_code){0};
}

// ---- Calls through pointers

// X86_REG_INVALID counts as 0.
static bool register_value(x86_reg reg, const uint64_t *registers, uint64_t *ret)
{
    static const struct {
        x86_reg reg;
        enum core_register number;
    } known[] = {{X86_REG_RAX, CORE_RAX}, {X86_REG_RDX, CORE_RDX}, {X86_REG_RCX, CORE_RCX},
                 {X86_REG_RBX, CORE_RBX}, {X86_REG_RSI, CORE_RSI}, {X86_REG_RDI, CORE_RDI},
                 {X86_REG_RBP, CORE_RBP}, {X86_REG_RSP, CORE_RSP}, {X86_REG_R8, CORE_R8},
                 {X86_REG_R9, CORE_R9},   {X86_REG_R10, CORE_R10}, {X86_REG_R11, CORE_R11},
                 {X86_REG_R12, CORE_R12}, {X86_REG_R13, CORE_R13}, {X86_REG_R14, CORE_R14},
                 {X86_REG_R15, CORE_R15}, {X86_REG_RIP, CORE_RIP}};

    *ret = 0;
    if (reg == X86_REG_INVALID)
        return true;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].reg == reg) {
            *ret = registers[known[i].number];
            return true;
        }
    return false;
}

static bool operand_value(const cs_x86_op *op, const uint64_t *registers, machine_reader *read,
                          const void *memory, uint64_t *ret)
{
    uint64_t base, index;

    if (op->type == X86_OP_REG)
        return register_value(op->reg, registers, ret);
    if (op->type != X86_OP_MEM || op->size != 8 || op->mem.segment != X86_REG_INVALID ||
        !register_value(op->mem.base, registers, &base) ||
        !register_value(op->mem.index, registers, &index))
        return false;
    return read(memory, base + index * (uint64_t)op->mem.scale + (uint64_t)op->mem.disp, ret);
}

bool machine_call_target(const unsigned char *bytes, size_t size, uint64_t address,
                         const uint64_t *registers, machine_reader *read, const void *memory,
                         uint64_t *ret)
{
    uint64_t values[CORE_REGISTERS];
    csh handle;
    cs_insn *insn = NULL;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return false;
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    memcpy(values, registers, sizeof(values));
    values[CORE_RIP] = address;
    size_t count = cs_disasm(handle, bytes, size, address - size, 1, &insn);
    bool known = count == 1 && insn->size == size && in_group(insn, CS_GRP_CALL) &&
                 insn->detail->x86.op_count == 1 &&
                 operand_value(&insn->detail->x86.operands[0], values, read, memory, ret);
    if (count)
        cs_free(insn, count);
    cs_close(&handle);
    return known;
}

// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_uses.h"

#include <stdlib.h>

#include "program/model.h"

#define DEEPEST 8

struct log_uses {
    uint32_t first_insn, insn_count;
    uint32_t first_argument, argument_count;
    uint32_t *start; // by value: instructions, then arguments
    struct log_use *uses;
};

static uint32_t value_index(const struct log_uses *uses, struct operand value)
{
    uint32_t index = operand_index(value);
    if (operand_kind(value) == OPERAND_INSN && index - uses->first_insn < uses->insn_count)
        return index - uses->first_insn;
    if (operand_kind(value) == OPERAND_ARGUMENT &&
        index - uses->first_argument < uses->argument_count)
        return uses->insn_count + index - uses->first_argument;
    return CODE_NONE;
}

// Counts, or notes, each use; the two passes of a counting sort.
static void scan_uses(const struct code *code, struct log_uses *uses, uint32_t *next)
{
    for (uint32_t i = uses->first_insn; i < uses->first_insn + uses->insn_count; i++) {
        for (uint32_t o = 0; o < code->insns[i].operand_count; o++) {
            uint32_t value = value_index(uses, code_operand(code, &code->insns[i], o));
            if (value == CODE_NONE)
                continue;
            if (next)
                uses->uses[next[value]++] = (struct log_use){i, o};
            else
                uses->start[value + 1]++;
        }
    }
}

const struct log_uses *log_uses_of(struct log_resolver *resolver, struct log_place place)
{
    const struct code *code = log_code(resolver, place);
    const struct code_function *function = &code->functions[place.function];
    struct log_uses **known =
        log_uses_map_put(&resolver->uses, (uint64_t)place.module << 32 | place.function);
    if (*known)
        return *known;
    struct log_uses *uses = arena_alloc_one(&resolver->arena, struct log_uses);
    *known = uses;
    if (function->node_count) {
        const struct code_node *last =
            &code->nodes[function->first_node + function->node_count - 1];
        uses->first_insn = code->nodes[function->first_node].first_insn;
        uses->insn_count = last->first_insn + last->insn_count - uses->first_insn;
    }
    uses->first_argument = function->first_argument;
    uses->argument_count = function->argument_count;
    size_t values = (size_t)uses->insn_count + uses->argument_count;
    uses->start = arena_alloc_array(&resolver->arena, values + 1, uint32_t);
    scan_uses(code, uses, NULL);
    for (size_t v = 0; v < values; v++)
        uses->start[v + 1] += uses->start[v];
    uses->uses = arena_alloc_array(&resolver->arena, uses->start[values], struct log_use);
    uint32_t *next = arena_memdup(&resolver->arena, uses->start, (values + 1) * sizeof(*next));
    scan_uses(code, uses, next);
    return uses;
}

struct log_use_list log_uses_find(const struct log_uses *uses, struct operand value)
{
    uint32_t index = value_index(uses, value);
    if (index == CODE_NONE)
        return (struct log_use_list){NULL, 0};
    return (struct log_use_list){uses->uses + uses->start[index],
                                 uses->start[index + 1] - uses->start[index]};
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// "" when the call is no intrinsic.
static const char *intrinsic_name(const struct code *code, const struct insn *insn)
{
    struct operand callee = code_callee(code, insn);
    if (!(code_call(code, insn)->flags & CALL_INTRINSIC) || operand_kind(callee) != OPERAND_GLOBAL)
        return "";
    return code_string(code, code->globals[operand_index(callee)].name);
}

static bool is_call(const struct insn *insn)
{
    return insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE;
}

static bool is_lifetime(const struct code *code, const struct insn *insn)
{
    return is_call(insn) && starts_with(intrinsic_name(code, insn), "llvm.lifetime.");
}

bool log_stored_values(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                       struct log_operands *out)
{
    const struct code *code = log_code(resolver, place);
    struct log_use_list list =
        log_uses_find(log_uses_of(resolver, place), operand_make(OPERAND_INSN, alloca));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct insn *insn = &code->insns[list.data[i].insn];
        if (insn->opcode == INSN_STORE && list.data[i].operand == 1 &&
            insn->detail == code->insns[alloca].detail)
            log_operands_push(out, code_operand(code, insn, 0));
        else if ((insn->opcode != INSN_LOAD || insn->detail != code->insns[alloca].detail) &&
                 !is_lifetime(code, insn))
            return false;
    }
    return out->length > 0;
}

// ---- Pointers that are only read through

static const char *const reading_names[] = {
    "printf",
    "fprintf",
    "dprintf",
    "snprintf",
    "sprintf",
    "__printf_chk",
    "__fprintf_chk",
    "__dprintf_chk",
    "__snprintf_chk",
    "__sprintf_chk",
    "puts",
    "fputs",
    "fputs_unlocked",
    "fwrite",
    "fwrite_unlocked",
    "write",
    "syslog",
    "__syslog_chk",
    "perror",
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "memcmp",
    "warn",
    "warnx",
    "err",
    "errx",
    "error",
    "error_at_line",
    "strdup",
    "open",
    "open64",
    "fopen",
    "fopen64",
    "unlink",
    "access",
    "stat",
    "free",
};

static bool is_reading(const char *name)
{
    for (size_t i = 0; i < sizeof(reading_names) / sizeof(*reading_names); i++) {
        if (strcmp(reading_names[i], name) == 0)
            return true;
    }
    return false;
}

bool log_is_formatter(const char *name, uint32_t *ret_size, uint32_t *ret_format)
{
    static const struct {
        const char *name;
        uint32_t size, format;
    } known[] = {
        {"snprintf", 1, 2},
        {"vsnprintf", 1, 2},
        {"sprintf", CODE_NONE, 1},
        {"vsprintf", CODE_NONE, 1},
        {"__snprintf_chk", 1, 4},
        {"__vsnprintf_chk", 1, 4},
        {"__sprintf_chk", CODE_NONE, 3},
        {"__vsprintf_chk", CODE_NONE, 3},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(known[i].name, name) == 0) {
            *ret_size = known[i].size;
            *ret_format = known[i].format;
            return true;
        }
    }
    return false;
}

bool log_is_time_formatter(const char *name)
{
    return strcmp(name, "strftime") == 0;
}

static bool reads_only(struct log_resolver *resolver, struct log_place place, struct operand value,
                       unsigned depth);

// Argument `argument` of the one function of the model that the call enters.
static bool callee_reads_only(struct log_resolver *resolver, uint32_t module, uint32_t insn,
                              uint32_t argument, unsigned depth)
{
    const struct model *model = resolver->model;
    const struct code *code = model->modules[module].code;
    const struct call *call = code_call(code, &code->insns[insn]);
    if (call->site == CODE_NONE)
        return false;
    uint32_t site = model->modules[module].first_site + call->site;
    struct function_list callees = model_callees(model, (struct site_id){site});
    if (callees.count != 1 || model->sites[site].flags & (SITE_EXTERNAL | SITE_INDIRECT))
        return false;
    const struct model_function *callee = model_function(model, callees.data[0]);
    struct log_place inside = {callee->module.value, callee->index};
    const struct code_function *function = &log_code(resolver, inside)->functions[callee->index];
    if (argument >= function->argument_count)
        return false;
    return reads_only(resolver, inside,
                      operand_make(OPERAND_ARGUMENT, function->first_argument + argument), depth);
}

static bool call_reads_only(struct log_resolver *resolver, struct log_place place,
                            struct log_use use, unsigned depth)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[use.insn];
    const struct call *call = code_call(code, insn);
    if (use.operand >= call->argument_count)
        return false;
    const char *intrinsic = intrinsic_name(code, insn);
    if (*intrinsic)
        return starts_with(intrinsic, "llvm.lifetime.") ||
               (starts_with(intrinsic, "llvm.memcpy.") && use.operand == 1);
    const char *name = log_library_callee(resolver, place.module, use.insn);
    uint32_t size, format;
    if (name && log_is_formatter(name, &size, &format) && use.operand == 0)
        return false;
    return name ? is_reading(name)
                : callee_reads_only(resolver, place.module, use.insn, use.operand, depth);
}

// A pointer kept in a local variable: what is loaded from there has to be read only as well.
static bool copies_read_only(struct log_resolver *resolver, struct log_place place,
                             const struct insn *store, unsigned depth)
{
    const struct code *code = log_code(resolver, place);
    struct operand variable = code_operand(code, store, 1);
    if (operand_kind(variable) != OPERAND_INSN ||
        code->insns[operand_index(variable)].opcode != INSN_ALLOCA)
        return false;
    struct log_operands values = VEC_INIT;
    bool is_private = log_stored_values(resolver, place, operand_index(variable), &values);
    log_operands_deinit(&values);
    struct log_use_list list = log_uses_find(log_uses_of(resolver, place), variable);
    for (uint32_t i = 0; is_private && i < list.count; i++) {
        if (code->insns[list.data[i].insn].opcode == INSN_LOAD)
            is_private =
                reads_only(resolver, place, operand_make(OPERAND_INSN, list.data[i].insn), depth);
    }
    return is_private;
}

static bool use_reads_only(struct log_resolver *resolver, struct log_place place,
                           struct log_use use, unsigned depth)
{
    const struct insn *insn = &log_code(resolver, place)->insns[use.insn];
    switch (insn->opcode) {
    case INSN_LOAD:
    case INSN_ICMP:
        return true;
    case INSN_STORE:
        return use.operand == 0 && copies_read_only(resolver, place, insn, depth);
    case INSN_GEP:
    case INSN_BITCAST:
    case INSN_PHI:
    case INSN_SELECT:
        return reads_only(resolver, place, operand_make(OPERAND_INSN, use.insn), depth);
    case INSN_CALL:
    case INSN_INVOKE:
        return call_reads_only(resolver, place, use, depth);
    default:
        return false;
    }
}

// Is nothing written through the value, and is it not kept anywhere?
static bool reads_only(struct log_resolver *resolver, struct log_place place, struct operand value,
                       unsigned depth)
{
    if (depth >= DEEPEST)
        return false;
    struct log_use_list list = log_uses_find(log_uses_of(resolver, place), value);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!use_reads_only(resolver, place, list.data[i], depth + 1))
            return false;
    }
    return true;
}

// ---- Buffers

static bool is_start(const struct code *code, const struct insn *insn)
{
    const struct gep *gep;
    if (insn->opcode != INSN_GEP)
        return insn->opcode == INSN_BITCAST;
    gep = &code->geps[insn->detail];
    if (gep->offset != 0)
        return false;
    for (uint32_t i = 0; i < gep->step_count; i++) {
        struct operand index = code->gep_steps[gep->first_step + i].index;
        if (operand_kind(index) != OPERAND_CONSTANT)
            return false;
    }
    return true;
}

// A call that is given the start of the buffer: fills it, clears it, or 0.
static bool notes_writer(struct log_resolver *resolver, struct log_place place, struct log_use use,
                         struct log_buffer *out)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[use.insn];
    uint32_t size, format;
    if (!is_call(insn) || use.operand != 0)
        return false;
    if (starts_with(intrinsic_name(code, insn), "llvm.memset.")) {
        struct operand value = code_operand(code, insn, 1);
        out->is_cleared = true;
        return operand_kind(value) == OPERAND_CONSTANT &&
               code->constants[operand_index(value)].value == 0;
    }
    const char *name = log_library_callee(resolver, place.module, use.insn);
    if (!name || (!log_is_formatter(name, &size, &format) && !log_is_time_formatter(name)))
        return false;
    for (uint32_t i = 1; i < code_call(code, insn)->argument_count; i++) {
        if (code_operand(code, insn, i).bits == code_operand(code, insn, 0).bits)
            return false; // prints the buffer into itself
    }
    log_operands_push(&out->writers, operand_make(OPERAND_INSN, use.insn));
    return true;
}

static bool scan_buffer(struct log_resolver *resolver, struct log_place place,
                        struct operand pointer, struct log_buffer *out, unsigned depth)
{
    const struct code *code = log_code(resolver, place);
    struct log_use_list list = log_uses_find(log_uses_of(resolver, place), pointer);
    if (depth >= DEEPEST)
        return false;
    for (uint32_t i = 0; i < list.count; i++) {
        const struct insn *insn = &code->insns[list.data[i].insn];
        if (is_start(code, insn)) {
            if (!scan_buffer(resolver, place, operand_make(OPERAND_INSN, list.data[i].insn), out,
                             depth + 1))
                return false;
        } else if (!notes_writer(resolver, place, list.data[i], out) &&
                   !use_reads_only(resolver, place, list.data[i], depth + 1)) {
            return false;
        }
    }
    return true;
}

bool log_buffer_writers(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                        struct log_buffer *out)
{
    return scan_buffer(resolver, place, operand_make(OPERAND_INSN, alloca), out, 0) &&
           out->writers.length > 0;
}
